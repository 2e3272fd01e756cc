// The texts of the status line below the board, and of the strips with both players.

import { nameOf, POCKET } from "./notation.js";
import { opponentName } from "./opponents.js";
import { many, NAMES, other } from "./words.js";

/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./store.js").Game} Game */
/** @typedef {import("./store.js").Message} Message */
/** @typedef {import("./store.js").Rung} Rung */
/** @typedef {import("./store.js").State} State */

/** @param {Position} position */
export const placed = ({ white, black }) => white !== POCKET && black !== POCKET;

/**
 * Return who has won the game at the current position; null if it is not over.
 * @param {Game} game
 * @param {PositionFacts | undefined} seen
 * @returns {Side | null}
 */
export function winnerOf({ resigned, tree }, seen) {
  if (resigned) return other(resigned);
  return !seen || seen.moves.length ? null : other(tree.at.position.side);
}

/**
 * Return the name of a side: "You", the opponent's, or its colour.
 * @param {Game} game
 * @param {Side} side
 * @param {Rung[]} ladder
 */
export function playerName({ agent, you }, side, ladder) {
  return !agent ? NAMES[side] : side === you ? "You" : opponentName(agent, ladder);
}

/**
 * Return the state of the game in words; null until the engine has sent the facts about the position.
 * @param {State} state
 * @returns {Message | null}
 */
export function statusOf({ game, look, thinking, ladder, mode }) {
  const { agent, you, resigned, tree, challenge } = game;
  const node = tree.at;
  if (look?.node !== node) return null;
  const { side } = node.position;
  const name = (/** @type {Side} */ one) => playerName(game, one, ladder);
  const winner = winnerOf(game, look.seen);
  if (winner) {
    const why = resigned ? `${name(resigned)} resigned` : `${NAMES[other(winner)]}’s knight has no cell left to go to`;
    return { text: `${name(winner)} won: ${why}.`, kind: agent && winner !== you ? "bad" : "good" };
  }
  if (thinking) return { text: `${name(side)} is thinking …`, kind: "" };
  const yours = !agent || side === you;
  const [next] = node.children;
  if (!yours && next && mode === "play") {
    const went = `${name(side)} went to ${nameOf(node.position, Number(next.cell))} here.`;
    return { text: `${went} Click that cell or Redo to continue.`, kind: "" };
  }
  const doing = node.position[side === "w" ? "white" : "black"] === POCKET ? "place a knight" : "move";
  const first =
    agent && yours && mode === "play" && !tree.line(node).some(({ parent }) => parent && placed(parent.position));
  const goal = challenge && first ? `Challenge: beat ${name(other(you))} from here. ` : "";
  const start = `${goal}You to ${doing}. You are ${NAMES[side]}: click a dotted cell.`;
  const turn = first ? start : `${name(side)} to ${doing}, ${many(look.seen.moves.length, "move")}.`;
  return { text: lastMove(game, ladder) + turn, kind: "" };
}

/**
 * Return a sentence on the opponent's last move, for users of screen readers.
 * @param {Game} game
 * @param {Rung[]} ladder
 */
function lastMove({ agent, you, tree }, ladder) {
  const { cell, parent, position } = tree.at;
  if (!agent || cell === null || !parent || parent.position.side === you || !placed(parent.position)) return "";
  return `${opponentName(agent, ladder)} moves to ${nameOf(position, cell)}. `;
}

/**
 * Return the content of a player's strip: the name, whether it is that side's turn, and facts about it.
 * @param {State} state
 * @param {Side} side
 */
export function stripOf({ game, look, thinking, ladder }, side) {
  const { agent, tree, you } = game;
  const { position } = tree.at;
  const seen = look?.node === tree.at ? look.seen : undefined;
  const turn = Boolean(seen) && position.side === side && !winnerOf(game, seen);
  const name = playerName(game, side, ladder);
  const facts = [];
  const doing = !turn ? "" : thinking && agent && side !== you ? "thinking …" : "to move";
  if (seen?.hunter) {
    facts.push(side === seen.hunter ? "hunter" : "runner");
    facts.push(many(side === position.side ? seen.moves.length : (seen.others ?? 0), "move"));
  }
  return { name: agent ? `${name} (${NAMES[side]})` : name, turn, doing, facts: facts.join(" · ") };
}
