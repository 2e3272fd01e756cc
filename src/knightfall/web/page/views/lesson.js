// An interactive lesson in three steps: how a knight moves, that cells vanish, how to trap the opponent.

import { parseFen } from "../model/notation.js";
import { boardById, onCell } from "./board.js";
import { byId, onClick, part } from "./dom.js";

/** @typedef {import("../model/notation.js").Position} Position */
/** @typedef {import("../model/play.js").Play} Play */

/** The position of each step, null to continue from the step before, and its text. */
const STEPS = /** @type {[string | null, string][]} */ ([
  ["5/5/2N2/5/4n w", "You are White. A knight jumps two cells one way and one to the side. Click a dotted cell."],
  [null, "The cell that you left is gone for good, for both of you. Jump once more."],
  ["5/3N1/5/2*2/n4 w", "The player who cannot move loses. Black has one cell left to go to: take it."],
]);

export class Lesson {
  /** @param {Play} play */
  constructor(play) {
    this.play = play;
    this.step = 0;
    this.position = parseFen("5/5/2N2/5/4n w");
    /** @type {number[]} */
    this.moves = [];
    const dialog = part("dialog", "lesson");
    onCell(boardById("lesson-board"), "cell", (cell) => this.choose(cell));
    onClick({
      learn: () => this.open(),
      "learn-keys": () => this.open(),
      skip: () => this.close(),
      "lesson-end": () => this.close(),
    });
    dialog.addEventListener("close", () => this.close());
    play.store.watch(
      (state) => [state.welcome, state.dialog],
      ({ welcome, dialog: shown }) => {
        byId("welcome").hidden = !welcome;
        if (shown === "lesson" && !dialog.open) dialog.showModal();
        if (shown !== "lesson" && dialog.open) dialog.close();
      },
    );
  }

  async open() {
    this.step = 0;
    await this.show(parseFen(String(STEPS[0][0])), []);
    this.play.store.set({ dialog: "lesson" });
  }

  /** Close the lesson, or skip it; it is not offered again. */
  close() {
    const { store } = this.play;
    if (store.state.dialog === "lesson") store.set({ dialog: "" });
    store.set({ welcome: false });
  }

  get done() {
    return this.step >= STEPS.length;
  }

  /**
   * @param {Position} position
   * @param {number[]} last
   */
  async show(position, last) {
    this.position = position;
    this.moves = (await this.play.engines.rules.ask("look", { position })).moves;
    byId("lesson-said").textContent = this.done
      ? "Black cannot move: you won. That is the whole game."
      : `${this.step + 1} of ${STEPS.length}. ${STEPS[this.step][1]}`;
    byId("lesson-end").textContent = this.done ? "Play" : "Skip";
    boardById("lesson-board").show({ position, targets: this.done ? [] : this.moves, last });
  }

  /** @param {number} cell */
  async choose(cell) {
    if (!this.moves.includes(cell) || this.done) return;
    const after = await this.play.advance(this.position, cell);
    if (!after) return;
    const { moves } = await this.play.engines.rules.ask("look", { position: after });
    if (this.step === STEPS.length - 1 && moves.length) {
      byId("lesson-said").textContent = "Black can still move. Jump to the cell that Black needs: it is marked.";
      const needed = await this.play.engines.rules.ask("look", { position: { ...this.position, side: "b" } });
      const mark = { lines: ["!"], kind: "needed", description: "the cell that Black needs" };
      const marks = Object.fromEntries(needed.moves.map((one) => [one, mark]));
      boardById("lesson-board").show({ position: this.position, targets: this.moves, marks });
      return;
    }
    const last = [cell, this.position.white];
    this.step++;
    const next = STEPS[this.step]?.[0];
    if (next) await this.show(parseFen(next), []);
    else await this.show(this.done ? after : { ...after, side: "w" }, last);
  }
}
