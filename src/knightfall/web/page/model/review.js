// The mistakes of a game: finding them, going to them, and trying them again.

import { Stopped } from "./engine.js";
import { hasWin, inPlies } from "./marks.js";
import { nameOf } from "./notation.js";
import { placed } from "./status.js";
import { many, NAMES, other } from "./words.js";

/** @typedef {import("./play.js").Play} Play */
/** @typedef {import("./tree.js").Node} Node */

export class Review {
  /** @param {Play} play */
  constructor(play) {
    this.play = play;
  }

  /** The line that is judged: the current one, to its end. */
  get line() {
    const { tree } = this.play;
    return tree.line(tree.end());
  }

  get mistakes() {
    return this.line.filter((node) => node.blunder);
  }

  /** Judge every move of the line and mark those that threw a win away. A second call meanwhile stops the first. */
  async findMistakes() {
    const { play, line } = this;
    const { store, engines, state } = play;
    if (state.reviewing) {
      engines.solver.stop();
      return;
    }
    store.set({ reviewing: true });
    try {
      for (const [number, node] of line.entries()) {
        play.say(`Judging move ${number + 1} of ${line.length} …`);
        await this.judge(node);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      play.changed();
      return;
    } finally {
      store.set({ reviewing: false });
    }
    play.changed();
    const wrong = line.filter((node) => node.blunder).length;
    play.say(wrong ? `${many(wrong, "move")} threw a win away (??).` : "No move threw a win away.");
  }

  /** @param {Node} node */
  async judge(node) {
    if (!node.parent || !placed(node.parent.position)) return;
    const { position } = node.parent;
    const truth = await this.play.study.verdicts(position, this.play.engines.solver);
    const move = truth[Number(node.cell)];
    node.winner = !move ? null : move.wins ? position.side : other(position.side);
    node.blunder = Boolean(move && !move.wins && hasWin(truth));
  }

  /**
   * Go to the position of the next or the previous mistake.
   * @param {1 | -1} way
   */
  async toMistake(way) {
    const { play, mistakes } = this;
    const { tree } = play;
    const depth = (/** @type {Node} */ node) => tree.line(node).length;
    const here = depth(tree.at);
    const places = mistakes.flatMap(({ parent }) => parent ?? []);
    const ahead = (/** @type {Node} */ node) => way * (depth(node) - here) > 0;
    const found = way > 0 ? places.find(ahead) : places.reverse().find(ahead);
    if (!found) return play.say("There is no other mistake in this direction.");
    await play.goTo(found);
    const question = play.state.settings.truth ? "" : " What would have kept it?";
    play.say(`${NAMES[found.position.side]} threw the win away here.${question}`);
  }

  /** Let the user try the mistakes again, one after the other; against an opponent, only the user's own. */
  async retry() {
    const { agent, you } = this.play.game;
    const places = this.mistakes
      .flatMap(({ parent }) => parent ?? [])
      .filter(({ position }) => !agent || position.side === you);
    if (!places.length) return this.play.say("None of these mistakes is yours.");
    await this.showMistake(places, "");
  }

  /**
   * Show the first of the mistakes that are left.
   * @param {Node[]} places
   * @param {string} said a message about the mistake before
   */
  async showMistake(places, said) {
    const { play } = this;
    const [place] = places;
    if (!place) {
      play.store.set({ mode: "analyse" }); // so that the opponent does not move here
      await play.goTo(play.node);
      return play.say(`${said} That was the last mistake.`, "good");
    }
    await this.stand(places);
    const task = `${NAMES[place.position.side]} threw the win away here. Find the move that keeps it`;
    play.say(`${said} ${task} (${places.length} left).`.trim(), said ? "good" : "");
  }

  /** @param {Node[]} places */
  async stand(places) {
    const { play } = this;
    play.engines.opponent.stop();
    play.tree.at = places[0];
    play.store.set({ retry: places, thinking: false });
    play.changed();
    await play.refresh();
  }

  /**
   * Judge a move that is tried at a mistake. If it wins, go to the next mistake.
   * @param {number} cell
   */
  async answer(cell) {
    const { play } = this;
    const places = play.state.retry ?? [];
    const [place] = places;
    if (play.state.busy || !place) return;
    play.store.set({ busy: true });
    try {
      const name = nameOf(place.position, cell);
      const after = await play.advance(place.position, cell);
      if (!after) return play.say(`${name} is not a legal move.`, "bad");
      const truth = await play.study.verdicts(place.position, play.engines.guide);
      if (play.node !== place) return;
      if (truth[cell]?.wins) {
        play.tree.play(cell, after); // kept as a variation
        await this.showMistake(places.slice(1), `${name} keeps the win.`);
      } else {
        play.say(`${name} loses${inPlies(truth[cell]?.plies ?? null)}, too. Try another one.`, "bad");
      }
    } catch (error) {
      play.fail(error);
    } finally {
      play.store.set({ busy: false });
    }
  }
}
