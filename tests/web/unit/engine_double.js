// An engine for tests: it answers by the plain rules, solves small positions by brute force, and can be held back.

import { Stopped } from "../../../src/knightfall/web/page/model/engine.js";
import { advance, legalMoves } from "./rules.js";

/** Return whether the side to move wins, by trying everything. */
async function moverWins(position) {
  for (const cell of legalMoves(position)) if (!(await moverWins(await advance(position, cell)))) return true;
  return false;
}

async function verdicts({ position }) {
  const found = {};
  for (const cell of legalMoves(position)) {
    found[cell] = { wins: !(await moverWins(await advance(position, cell))), plies: null };
  }
  return found;
}

export class EngineDouble {
  constructor() {
    this.asked = [];
    this.held = null; // while it is a list, answers wait in it
  }

  async answer(name, about) {
    const { position, cell } = about;
    if (name === "advance") return advance(position, cell);
    if (name === "look") return { moves: legalMoves(position), hunter: "w", others: 0 };
    if (name === "verdicts") return verdicts(about);
    if (name === "truth") {
      const truth = await verdicts(about);
      for (const one of Object.values(truth)) one.plies = one.wins ? 1 : 2;
      return truth;
    }
    if (name === "choose") return { cell: legalMoves(position)[0] };
    throw new Error(`the double cannot answer ${name}`);
  }

  ask(name, about) {
    this.asked.push(name);
    if (!this.held) return this.answer(name, about);
    return new Promise((resolve, reject) => {
      this.held.push({ go: () => this.answer(name, about).then(resolve, reject), stop: () => reject(new Stopped()) });
    });
  }

  stop() {
    for (const one of this.held ?? []) one.stop();
    if (this.held) this.held = [];
  }
}

/** Wait until all that follows from settled promises has happened. */
export const settled = () => new Promise((done) => setTimeout(done, 20));
