// The line of best play that begins with a move, shown step by step while the pointer or the focus is on its cell.

import { Stopped } from "./engine.js";
import { placed } from "./status.js";

/** @typedef {import("./play.js").Play} Play */

const STEP_MS = 700;
const SEARCH_MS = 4000;
const MAX_STEPS = 16;

export class BestLinePreview {
  /**
   * @param {Play} play
   * @param {() => boolean} moves whether to step automatically; false if the user prefers reduced motion
   */
  constructor(play, moves) {
    this.play = play;
    this.moves = moves;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
  }

  /**
   * Show the line that begins with a cell, if the truth of its move is shown already; null pauses.
   * @param {number | null} cell
   */
  async look(cell) {
    const { store, node, state } = this.play;
    if (cell === null) return this.pause();
    if (state.line?.node === node && state.line.cell === cell) return this.run();
    this.stop();
    if (!state.look?.truth?.[cell] || state.look.node !== node || !placed(node.position)) return;
    store.set({ line: { node, cell, cells: [cell], shown: 1 } });
    this.run();
    const keep = (/** @type {number[]} */ cells) => {
      const { line } = this.play.state;
      if (line?.node === node && line.cell === cell) store.set({ line: { ...line, cells } });
    };
    const asked = { position: node.position, cell, ms: SEARCH_MS, steps: MAX_STEPS };
    try {
      keep(await this.play.engines.guide.ask("line", asked, keep));
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
  }

  run() {
    this.pause();
    if (this.moves()) this.timer = setInterval(() => this.step(1), STEP_MS);
  }

  pause() {
    clearInterval(this.timer);
  }

  stop() {
    this.pause();
    if (!this.play.state.line) return;
    this.play.engines.guide.stop();
    this.play.store.set({ line: null });
  }

  /**
   * Go one step forward or back, and stop stepping automatically.
   * @param {1 | -1} way
   */
  walk(way) {
    this.pause();
    this.step(way);
  }

  /** @param {1 | -1} way */
  step(way) {
    const { line } = this.play.state;
    if (!line || line.node !== this.play.node) return this.pause();
    const shown = Math.min(line.cells.length, Math.max(1, line.shown + way));
    if (shown !== line.shown) this.play.store.set({ line: { ...line, shown } });
  }
}
