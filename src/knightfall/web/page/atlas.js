// Every opening of a solved board: choose the first knight's cell, see who wins for each reply.

import { $ } from "./dom.js";
import { cellNamed, cellsIn, emptyBoard, nameOf, POCKET } from "./notation.js";

export class Atlas {
  constructor(app, source) {
    this.app = app;
    this.boards = Object.keys(source.load.atlas);
    this.first = POCKET;
    this.title = "Atlas";
    this.begin();
  }

  begin() {
    $("atlas-board").append(...this.boards.map((name) => new Option(name.replace("x", "×"), name, name === "7x7", name === "7x7")));
    $("atlas-board").addEventListener("change", () => this.go());
    $("atlas").addEventListener("cell", ({ detail }) => this.choose(detail.cell));
  }

  /** The address is of a board, and of the first knight's cell if it stands. */
  go(first = POCKET) {
    location.hash = `/atlas/${$("atlas-board").value}${first === POCKET ? "" : `/${nameOf(this.empty, first)}`}`;
  }

  async show([board, first]) {
    if (this.boards.includes(board)) $("atlas-board").value = board;
    await this.draw((first && cellNamed(this.empty, first)) ?? POCKET);
  }

  get empty() {
    return emptyBoard(...$("atlas-board").value.split("x").map(Number));
  }

  async choose(cell) {
    if (this.first === POCKET) return this.go(cell);
    if (cell === this.first) return this.go();
    const { width, height } = this.empty;
    location.hash = `board=${width}x${height}&moves=${nameOf(this.empty, this.first)}.${nameOf(this.empty, cell)}`;
  }

  async draw(first) {
    this.first = first;
    const start = this.empty, all = cellsIn(start.open);
    if (first === POCKET) {
      $("atlas").show({ position: start, targets: all });
      $("atlas-told").textContent = `${all.length} cells for the first knight.`;
      return;
    }
    const position = await this.app.advance(start, first);
    const known = await this.app.rules.ask("openings", { position });
    const marks = {};
    let won = 0;
    for (const [cell, { wins, plies }] of Object.entries(known)) {
      won += !wins;
      const told = `the ${wins ? "second" : "first"} player wins in ${plies} plies`;
      marks[cell] = { text: `${wins ? "2" : "1"}<small>${plies}</small>`, kind: wins ? "lost" : "won", told };
    }
    $("atlas").show({ position, targets: all, marks });
    const rest = Object.keys(known).length;
    $("atlas-told").textContent = `First knight on ${nameOf(start, first)}: the first player, who moves, wins ${won} of ${rest} openings (1), the second player ${rest - won} (2).`;
  }
}
