// The openings of the solved boards: for each cell of the first knight, who wins after each reply.

import { cellNamed, cellsIn, emptyBoard, nameOf } from "./notation.js";

/** @typedef {import("./engine.js").Opening} Opening */
/** @typedef {import("./play.js").EngineLike} EngineLike */
/** @typedef {import("./store.js").Store} Store */

/** A cell of the heat map: how many of `all` replies to a first knight here the first player wins. */
/** @typedef {{won: number, all: number}} Share */
/** @typedef {{first: number, second: number, plies: number, mirrors: boolean}} Exception to the colour law */

/**
 * @typedef {object} AtlasState
 * @property {string} board
 * @property {number | null} first the first knight's cell, null before it is chosen
 * @property {Record<number, Share>} shares for each cell, once they are counted
 * @property {Record<number, Opening>} replies for each cell, once the first knight stands
 * @property {{count: number, found: Exception[]} | null} exceptions how many openings break the colour law, and one of
 *   each class; null until they are counted
 * @property {string} wrong what is wrong with the address
 * @property {"w" | "b" | "analyse"} click what a click on a reply does: play that side, or analyse
 */

export class Atlas {
  /**
   * @param {Store} store
   * @param {EngineLike} rules
   * @param {string[]} solved the boards of the atlas file, each at most as wide as high
   */
  constructor(store, rules, solved) {
    this.store = store;
    this.rules = rules;
    this.boards = [...new Set(solved.flatMap((name) => [name, name.split("x").reverse().join("x")]))];
  }

  get state() {
    return this.store.state.atlas;
  }

  /** @param {Partial<AtlasState>} changes */
  set(changes) {
    this.store.set({ atlas: { ...this.state, ...changes } });
  }

  get empty() {
    const [width, height] = this.state.board.split("x").map(Number);
    return emptyBoard(width, height);
  }

  /**
   * Show the openings of an address: a board, and the first knight's cell if it stands.
   * @param {string} [board]
   * @param {string} [first]
   */
  async show(board, first) {
    const known = !board || this.boards.includes(board);
    this.set({ wrong: known ? "" : `“${board?.slice(0, 20)}” is not a solved board.` });
    if (board && known && board !== this.state.board) {
      this.set({ board, shares: {}, exceptions: null });
    }
    const cell = first ? cellNamed(this.empty, first) : null;
    this.set({ first: cell, replies: {} });
    if (cell !== null) await this.showReplies(cell);
    if (!this.state.exceptions) await this.count();
  }

  /** @param {number} first */
  async showReplies(first) {
    const { board } = this.state;
    const replies = await this.repliesTo(first);
    if (this.state.first === first && this.state.board === board) this.set({ replies });
  }

  /** Count who wins the openings of the board, and those that break the colour law. */
  async count() {
    const { board } = this.state;
    /** @type {Record<number, Share>} */
    const shares = {};
    /** @type {Map<string, Exception>} */
    const kinds = new Map();
    let count = 0;
    for (const cell of cellsIn(this.empty.open)) {
      const replies = await this.repliesTo(cell);
      if (this.state.board !== board) return;
      const rows = Object.values(replies);
      shares[cell] = { won: rows.filter((row) => !row.wins).length, all: rows.length };
      for (const [second, row] of Object.entries(replies)) {
        if (!row.broken) continue;
        count++;
        const exception = { first: cell, second: Number(second), plies: row.plies, mirrors: row.mirrors };
        if (!kinds.has(row.kind)) kinds.set(row.kind, exception);
      }
    }
    this.set({ shares, exceptions: { count, found: [...kinds.values()] } });
  }

  /** @param {number} first */
  async repliesTo(first) {
    const position = await this.rules.ask("advance", { position: this.empty, cell: first });
    return position ? this.rules.ask("openings", { position }) : {};
  }

  /**
   * Return the address of the atlas for a first knight's cell, or none.
   * @param {number | null} first
   */
  address(first, board = this.state.board) {
    return `/atlas/${board}${first === null ? "" : `/${nameOf(this.empty, first)}`}`;
  }

  /**
   * Return the address of a game that begins with an opening.
   * @param {number} first
   * @param {number} second
   * @param {{vs: string, you: string} | null} against the opponent's agent string and your side; null to analyse
   */
  gameAddress(first, second, against = null) {
    const { board, empty } = { board: this.state.board, empty: this.empty };
    const words = new URLSearchParams(board === "7x7" ? {} : { board });
    words.set("moves", `${nameOf(empty, first)}.${nameOf(empty, second)}`);
    if (against) {
      words.set("vs", against.vs);
      words.set("you", against.you);
    }
    return words.toString();
  }
}
