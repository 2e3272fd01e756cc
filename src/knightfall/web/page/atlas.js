// Every opening of a solved board: choose the first knight's cell, see who wins for each reply.

import { $ } from "./dom.js";
import { cellNamed, cellsIn, emptyBoard, nameOf, POCKET } from "./notation.js";

export class Atlas {
  constructor(app, source) {
    this.app = app;
    // The atlas has a board once; lying on its side it is another one.
    const solved = Object.keys(source.load.atlas);
    this.boards = [...new Set(solved.flatMap((name) => [name, name.split("x").reverse().join("x")]))];
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
    location.hash = this.address(this.first, cell);
  }

  /** Where an opening is played on. */
  address(first, second) {
    const { width, height } = this.empty, moves = `moves=${nameOf(this.empty, first)}.${nameOf(this.empty, second)}`;
    return `#${width === 7 && height === 7 ? "" : `board=${width}x${height}&`}${moves}`;
  }

  async draw(first) {
    this.first = first;
    const start = this.empty, all = cellsIn(start.open);
    if (first === POCKET) return this.drawAll(start, all);
    const position = await this.app.advance(start, first), known = await this.replies(position);
    if (this.first !== first) return;
    const marks = {};
    for (const [cell, { wins, plies, broken, mirrors }] of Object.entries(known)) {
      const told = `the ${wins ? "second" : "first"} player wins in ${plies} plies` +
        (broken ? `, an exception: the runner wins${mirrors ? " by mirroring" : ""}` : "");
      marks[cell] = { text: `${wins ? "2" : "1"}${broken ? "!" : ""}<small>${plies}</small>`, kind: wins ? "lost" : "won", told };
    }
    $("atlas").show({ position, targets: all, marks });
    const rows = Object.values(known), won = rows.filter((row) => !row.wins).length, odd = rows.filter((row) => row.broken).length;
    $("atlas-told").textContent = `First knight on ${nameOf(start, first)}: the first player, who moves, wins ${won} of ${rows.length} openings (1), the second player ${rows.length - won} (2)` +
      `${odd ? `; ${odd} of them against the law (!)` : ""}.`;
  }

  /** What a board's openings are before a knight stands: how many replies the first player wins. */
  async drawAll(start, all) {
    const board = $("atlas-board").value, marks = {}, kinds = new Map();
    let won = 0, number = 0, odd = 0;
    $("atlas").show({ position: start, targets: all });
    for (const cell of all) {
      const known = await this.replies(await this.app.advance(start, cell));
      if (this.first !== POCKET || $("atlas-board").value !== board) return;
      const rows = Object.entries(known), first = rows.filter(([, row]) => !row.wins).length;
      marks[cell] = { text: `${first}<small>of ${rows.length}</small>`, kind: "valued", told: `the first player wins ${first} of ${rows.length} openings from here` };
      won += first;
      number += rows.length;
      for (const [reply, row] of rows.filter(([, one]) => one.broken)) {
        odd++;
        if (!kinds.has(row.kind)) kinds.set(row.kind, [cell, Number(reply), row]);
      }
    }
    $("atlas").show({ position: start, targets: all, marks });
    $("atlas-told").textContent = `Of ${number} openings the first player wins ${won}, the second ${number - won}. On each cell: how many replies the first player wins.`;
    this.listExceptions(start, odd, [...kinds.values()]);
  }

  listExceptions(start, odd, found) {
    $("atlas-law").textContent = "The colour law says that the hunter wins: the first player if both knights stand on one colour, else the second. " +
      (odd ? `Here it fails in ${odd} openings, which are images of ${found.length === 1 ? "this one" : `these ${found.length}`}:` : "Here it has no exception.");
    $("atlas-exceptions").replaceChildren(...found.map(([first, second, { mirrors, plies }]) => {
      const row = document.createElement("li"), link = document.createElement("a");
      link.href = this.address(first, second);
      link.textContent = `${nameOf(start, first)} ${nameOf(start, second)}`;
      row.append(link, `: ${plies} plies, the runner wins${mirrors ? " by mirroring" : ""}`);
      return row;
    }));
  }

  replies(position) {
    return this.app.rules.ask("openings", { position });
  }
}
