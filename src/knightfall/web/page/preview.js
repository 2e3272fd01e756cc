// The line that follows a move by best play, shown one step at a time while its cell is looked at.

import { $ } from "./dom.js";
import { Stopped } from "./engine.js";
import { nameOf } from "./notation.js";

const STEP_MS = 700, LOOK_MS = 4000, STEPS = 16;

export class Preview {
  constructor(app) {
    this.app = app;
    this.line = [];
    $("board").addEventListener("preview", ({ detail }) => this.look(detail.cell));
    $("board").addEventListener("keydown", (event) => {
      const way = { "+": 1, "-": -1 }[event.key];
      if (way) this.walk(way);
    });
    for (const [id, way] of [["line-back", -1], ["line-on", 1]]) $(id).addEventListener("click", () => this.walk(way));
  }

  /** Begin with the line of a cell; only where its truth is shown already. */
  async look(cell) {
    if (cell === null) return this.pause();
    const node = this.app.tree.at, truth = this.app.shownTruth;
    if (this.node === node && this.cell === cell) return this.play();
    this.stop();
    if (!truth?.[cell] || node.position.white === 64 || node.position.black === 64) return;
    Object.assign(this, { node, cell, line: [cell], shown: 1 });
    this.draw();
    this.play();
    try {
      const keep = (line) => { if (this.cell === cell && this.node === node) { this.line = line; this.tell(); } };
      keep(await this.app.guide.ask("line", { position: node.position, cell, ms: LOOK_MS, steps: STEPS }, keep));
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  /** Step by step by itself, if movement is welcome; else by the keys + and − or the buttons. */
  play() {
    this.pause();
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.timer = setInterval(() => this.step(1), STEP_MS);
  }

  pause() {
    clearInterval(this.timer);
  }

  stop() {
    this.pause();
    if (this.node) this.app.guide.stop();
    const drawn = this.node === this.app.tree.at;
    Object.assign(this, { node: null, cell: null, line: [], shown: 0 });
    $("line").textContent = "";
    if (drawn) $("board").trace(this.app.paths ?? []);
  }

  walk(way) {
    this.pause();
    this.step(way);
  }

  step(way) {
    if (!this.node || this.node !== this.app.tree.at) return;
    const next = Math.min(this.line.length, Math.max(1, this.shown + way));
    if (next === this.shown) return;
    this.shown = next;
    this.draw();
  }

  draw() {
    const { position } = this.node, mine = position.side === "w" ? "w" : "b";
    const cells = { w: [position.white], b: [position.black] };
    this.line.slice(0, this.shown).forEach((cell, ply) => cells[(ply % 2 === 0) === (mine === "w") ? "w" : "b"].push(cell));
    $("board").trace(["w", "b"].map((side) => ({ cells: cells[side], kind: `walk-${side}` })));
    this.tell();
  }

  tell() {
    const names = this.line.slice(0, this.shown).map((cell) => nameOf(this.node.position, cell));
    const more = this.line.length - this.shown;
    $("line").textContent = `Best play: ${names.join(" ")}${more ? ` … (${more} more)` : ""}`;
  }
}
