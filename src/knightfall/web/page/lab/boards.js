// Games on small boards: shown move by move where motion is welcome, else as they ended.

import { cellNamed, parseFen } from "../notation.js";
import { agentName, el, link } from "./make.js";

const STEP = 450, REST = 5;

/** Where a game leads in the play view: from its opening through all its moves. */
export function analysisLink(game) {
  const words = new URLSearchParams({ fen: game.opening, moves: game.moves.join(".") });
  return `#${words}`;
}

/** Each position of a game, as it was recorded. */
export function positionsOf(game) {
  let position = parseFen(game.opening);
  const found = [{ position, last: null }];
  for (const name of game.moves) {
    const cell = cellNamed(position, name), own = position.side === "w" ? "white" : "black";
    const last = [position[own], cell];
    const open = position.open & ~(1n << BigInt(cell)), side = position.side === "w" ? "b" : "w";
    position = { ...position, [own]: cell, open, side };
    found.push({ position, last });
  }
  return found;
}

export const reasonOf = (game) => (game.reason === "no moves" ? "no cell left" : game.reason);

/** Small boards that replay some games; `stop` ends that. */
export class SmallBoards {
  constructor() {
    this.element = el("div", { class: "small-boards" });
    this.shown = [];
    const moving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.timer = moving ? setInterval(() => this.step(), STEP) : null;
    this.moving = moving;
  }

  /** Show some games; those that are being replayed come to their end first. */
  show(games) {
    const ids = games.map((game) => game.id).join();
    if (ids === this.ids) return;
    if (this.shown.length && this.moving && !this.done) {
      this.waiting = games;
      return;
    }
    this.ids = ids;
    this.waiting = null;
    this.shown = games.map((game) => {
      const board = el("knight-board", { inert: true }), positions = positionsOf(game);
      const name = (seat) => agentName(game.short[seat], game.names[seat], false);
      const caption = el("figcaption", {},
        link(`#/lab/run/${game.run}/game/${game.pair}/${game.game}`, `Game ${game.id}`), " ",
        name(0), " (first) against ", name(1), ": ", name(game.winner === "w" ? 0 : 1),
        ` won after ${positions.length - 1} plies (${reasonOf(game)}). `, link(analysisLink(game), "Analyse"));
      const at = this.moving ? 0 : positions.length - 1;
      return { board, positions, at, element: el("figure", {}, board, caption) };
    });
    this.element.replaceChildren(...this.shown.map((one) => one.element));
    for (const one of this.shown) one.board.show(one.positions[one.at]);
  }

  get done() {
    return this.shown.every((one) => one.at >= one.positions.length - 1);
  }

  step() {
    if (document.hidden || !this.element.isConnected) return;
    if (this.waiting && this.done) return this.show(this.waiting);
    for (const one of this.shown) {
      if (this.waiting && one.at >= one.positions.length - 1) continue; // until all are at their end
      one.at = one.at + 1 > one.positions.length - 1 + REST ? 0 : one.at + 1;
      if (one.at < one.positions.length) one.board.show(one.positions[one.at]);
    }
  }

  stop() {
    clearInterval(this.timer);
  }
}
