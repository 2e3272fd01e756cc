// The game in three steps, to be tried: how a knight moves, that cells vanish, how to trap the other.

import { $ } from "./dom.js";
import { parseFen } from "./notation.js";

const SEEN_KEY = "knightfall-lesson";
const LESSONS = [
  ["5/5/2N2/5/4n w", "You are White. A knight jumps two cells one way and one to the side. Click a dotted cell."],
  [null, "The cell that you left is gone for good, for both of you. Jump once more."],
  ["5/3N1/5/2*2/n4 w", "Whoever cannot move loses. Black has one cell left to go to: take it."],
];

export class Lesson {
  constructor(app) {
    this.app = app;
    $("lesson-board").addEventListener("cell", ({ detail }) => this.choose(detail.cell));
    for (const id of ["learn", "learn-keys"]) $(id).addEventListener("click", () => this.open());
    for (const id of ["skip", "lesson-end"]) $(id).addEventListener("click", () => this.close());
    $("lesson").addEventListener("close", () => this.close());
    $("welcome").hidden = this.seen;
  }

  /** Whether this browser has seen it, or was told to skip it. */
  get seen() {
    try {
      return localStorage.getItem(SEEN_KEY) === "seen";
    } catch {
      return true; // it cannot be remembered, and need not be offered each time
    }
  }

  async open() {
    $("shortcuts").close();
    this.step = 0;
    await this.show(parseFen(LESSONS[0][0]));
    if (!$("lesson").open) $("lesson").showModal();
  }

  async show(position, last = null) {
    this.position = position;
    this.moves = (await this.app.rules.ask("look", { position })).moves;
    $("lesson-said").textContent = this.step < LESSONS.length ? `${this.step + 1} of ${LESSONS.length}. ${LESSONS[this.step][1]}`
      : "Black cannot move: you won. That is the whole game.";
    $("lesson-end").textContent = this.step < LESSONS.length ? "Skip" : "Play";
    $("lesson-board").show({ position, targets: this.step < LESSONS.length ? this.moves : [], last });
  }

  async choose(cell) {
    if (!this.moves.includes(cell) || this.step >= LESSONS.length) return;
    const after = await this.app.advance(this.position, cell), last = [cell, this.position.white];
    const { moves } = await this.app.rules.ask("look", { position: after });
    if (this.step === LESSONS.length - 1 && moves.length) {
      $("lesson-said").textContent = "Black can still move. Find the jump to the cell that Black needs.";
      return;
    }
    this.step++;
    const next = LESSONS[this.step]?.[0];
    await this.show(next ? parseFen(next) : this.step < LESSONS.length ? { ...after, side: "w" } : after, next ? null : last);
  }

  close() {
    if ($("lesson").open) $("lesson").close();
    $("welcome").hidden = true;
    try {
      localStorage.setItem(SEEN_KEY, "seen");
    } catch {
      // then it is offered no more until the page is loaded anew
    }
  }
}
