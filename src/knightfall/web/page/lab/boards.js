// Games on small boards: replayed move by move, or as they ended where the user prefers reduced motion.

import { cellNamed, parseFen } from "../model/notation.js";
import { stillBoard, wantsMotion } from "../views/board.js";
import { el } from "../views/dom.js";
import { agentName, link } from "./make.js";

/** @typedef {import("../model/notation.js").Position} Position */
/** @typedef {import("./server.js").Game} Game */
/** @typedef {import("./server.js").Moves} Moves */

const STEP_MS = 450;
const PAUSE_STEPS = 5; // at the end of a game

/**
 * Return the address of a game in the play view.
 * @param {Moves} game
 */
export function analysisLink(game) {
  const words = new URLSearchParams({ fen: game.opening, moves: game.moves.join(".") });
  return `#${words}`;
}

/**
 * Return each position of a recorded game, with the cells of the move that led to it.
 * @param {Moves} game
 */
export function positionsOf(game) {
  let position = parseFen(game.opening);
  /** @type {{position: Position, last: number[]}[]} */
  const found = [{ position, last: [] }];
  for (const name of game.moves) {
    const cell = cellNamed(position, name);
    if (cell === null) throw new Error(`“${name}” is no cell of the board.`);
    const white = position.side === "w";
    const last = [white ? position.white : position.black, cell];
    const open = position.open & ~(1n << BigInt(cell));
    position = { ...position, ...(white ? { white: cell } : { black: cell }), open, side: white ? "b" : "w" };
    found.push({ position, last });
  }
  return found;
}

/**
 * Return why a game was lost.
 * @param {{reason: string}} game
 */
export const reasonOf = (game) => (game.reason === "no moves" ? "no cell left" : game.reason);

/** Small boards that replay games until `stop` is called. */
export class SmallBoards {
  constructor() {
    this.element = el("div", { class: "small-boards" });
    /** @type {ReturnType<SmallBoards["replay"]>[]} */
    this.shown = [];
    this.ids = "";
    /** @type {Game[] | null} */
    this.waiting = null;
    this.moving = wantsMotion();
    this.timer = this.moving ? setInterval(() => this.step(), STEP_MS) : undefined;
  }

  /**
   * Show some games, once those that are being replayed have come to their end.
   * @param {Game[]} games
   */
  show(games) {
    const ids = games.map((game) => game.id).join();
    if (ids === this.ids) return;
    if (this.shown.length && this.moving && !this.done) {
      this.waiting = games;
      return;
    }
    this.ids = ids;
    this.waiting = null;
    this.shown = games.map((game) => this.replay(game));
    this.element.replaceChildren(...this.shown.map((one) => one.element));
  }

  /** @param {Game} game */
  replay(game) {
    const positions = positionsOf(game);
    /** @param {number} seat */
    const name = (seat) => agentName(game.short[seat], game.names[seat], false);
    const caption = el(
      "figcaption",
      {},
      link(`#/lab/run/${game.run}/game/${game.pair}/${game.game}`, `Game ${game.id}`),
      " ",
      name(0),
      " (first) against ",
      name(1),
      ": ",
      name(game.winner === "w" ? 0 : 1),
      ` won after ${positions.length - 1} plies (${reasonOf(game)}). `,
      link(analysisLink(game), "Analyse"),
    );
    const at = this.moving ? 0 : positions.length - 1;
    const board = stillBoard(positions[at]);
    return { board, positions, at, element: el("figure", {}, board, caption) };
  }

  /** Whether all games have been replayed to their end. */
  get done() {
    return this.shown.every((one) => one.at >= one.positions.length - 1);
  }

  /** Show the next move of each game. A game that has ended begins again after a pause. */
  step() {
    if (document.hidden || !this.element.isConnected) return;
    if (this.waiting && this.done) {
      this.show(this.waiting);
      return;
    }
    for (const one of this.shown) {
      const end = one.positions.length - 1;
      if (this.waiting && one.at >= end) continue; // the others come to their end first
      one.at = one.at + 1 > end + PAUSE_STEPS ? 0 : one.at + 1;
      if (one.at <= end) one.board.show(one.positions[one.at]);
    }
  }

  /** Stop replaying. */
  stop() {
    clearInterval(this.timer);
  }
}
