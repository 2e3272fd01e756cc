// Help during a game, if it is switched on: take blunders back, say that a position is lost, judge moves.

import { hasWin, winningCells } from "./marks.js";
import { nameOf } from "./notation.js";
import { placed } from "./status.js";
import { other } from "./words.js";

/** @typedef {import("./play.js").Play} Play */
/** @typedef {import("./tree.js").Node} Node */

const SLOW_MS = 200; // a check that takes longer shows a message

export class Teacher {
  /** @param {Play} play */
  constructor(play) {
    this.play = play;
  }

  /**
   * Take back a move that threw the win away, without showing the move that keeps it.
   * @param {Node} before
   * @param {number} cell
   */
  async takeBack(before, cell) {
    const { play } = this;
    const slow = setTimeout(() => play.say("Checking your move …"), SLOW_MS);
    const truth = await play.study.verdicts(before.position).finally(() => clearTimeout(slow));
    if (play.state.message?.text === "Checking your move …") play.store.set({ message: null });
    if (play.node.parent !== before || !truth[cell] || truth[cell].wins || !hasWin(truth)) return;
    play.tree.at = before;
    play.changed();
    await play.refresh();
    const name = nameOf(before.position, cell);
    play.say(`${name} throws the win away. Try again, or play it anyway with Redo.`, "bad");
  }

  /**
   * At your turn, say that the position is lost, or what your last move was worth, depending on the settings.
   * @param {Node} node
   */
  async advise(node) {
    const { play } = this;
    const { settings, retry, look } = play.state;
    const { agent, you } = play.game;
    const yours =
      agent &&
      play.state.mode === "play" &&
      node.position.side === you &&
      look?.seen.moves.length &&
      !play.game.resigned;
    if (!yours || retry || !placed(node.position)) return;
    if (settings.help === "teach") await this.adviseLost(node);
    else if (settings.help === "after") await this.tellLastMove(node);
  }

  /**
   * If the position is lost, say so, how many replies to your last move win, and what to try.
   * @param {Node} node
   */
  async adviseLost(node) {
    const { play } = this;
    const winner = await play.study.winnerBy(node.position);
    const mine = this.lastOwnMove(node);
    const replies = mine && Object.values(await play.study.verdicts(mine.position));
    if (play.node !== node || play.state.message || winner !== other(play.game.you)) return;
    const winning = replies?.filter((one) => one.wins).length;
    const message =
      mine && replies
        ? `After ${nameOf(node.position, Number(mine.cell))}, ${winning} of ${replies.length} replies win. `
        : "Against best play this is lost, as it is for most runners. ";
    play.say(`${message}Try to hold out, with moves after which only few replies win.`);
  }

  /**
   * Say what your last move was worth.
   * @param {Node} node
   */
  async tellLastMove(node) {
    const { play } = this;
    const mine = this.lastOwnMove(node);
    if (!mine?.parent) return;
    const truth = await play.study.verdicts(mine.parent.position);
    const cell = Number(mine.cell);
    if (play.node !== node || !truth[cell]) return;
    const name = nameOf(node.position, cell);
    const winning = winningCells(truth).map((one) => nameOf(node.position, one));
    const message = truth[cell].wins
      ? `Your ${name} kept the win.`
      : winning.length
        ? `Your ${name} threw the win away: ${winning.join(", ")} won.`
        : `Your ${name} was lost like every other move.`;
    play.say(`${message} You to move.`, truth[cell].wins ? "good" : winning.length ? "bad" : "");
  }

  /**
   * Return the node of your last move before a position.
   * @param {Node} node
   */
  lastOwnMove(node) {
    const { play } = this;
    const own = play.tree
      .line(node)
      .filter(({ parent }) => parent && parent.position.side === play.game.you && placed(parent.position));
    return own[own.length - 1];
  }
}
