// The texts around the board: the status line, the strips with both players, the verdict and the line of best play.

import { outlook } from "./marks.js";
import { nameOf, POCKET } from "./notation.js";
import { opponentName } from "./opponents.js";
import { many, NAMES, other, plies } from "./words.js";

/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./store.js").Game} Game */
/** @typedef {import("./store.js").Message} Message */
/** @typedef {import("./store.js").NodeAnalysis} NodeAnalysis */
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

/**
 * Return who wins a position that has moves, the share of its moves that are known, and a text that says both.
 * @param {NodeAnalysis} look
 */
export function verdictOf({ node, seen, truth, searching }) {
  const { moves } = seen;
  const { winner, known, plies: length } = outlook(truth, moves, node.position.side);
  const found = `${known} of ${moves.length} moves known`;
  const open = searching
    ? `Searching … ${found}`
    : truth
      ? `${found} before time ran out`
      : "Hidden until you have moved";
  const lengths = moves.filter((cell) => truth?.[cell]?.plies).length;
  const soon = searching ? `; how soon: ${lengths} of ${moves.length} known …` : "";
  const more = length === null ? soon : ` in ${plies(length)}`;
  return { winner, known: known / moves.length, text: winner ? `${NAMES[winner]} wins${more}` : open };
}

/**
 * Return the line of best play that is shown, or how to see one if the truth is shown.
 * @param {State} state
 */
export function lineText({ line, look, mode }) {
  const names = line?.cells.slice(0, line.shown).map((cell) => nameOf(line.node.position, cell)) ?? [];
  const more = line ? line.cells.length - line.shown : 0;
  const marked = look?.truth && mode === "analyse";
  const hint = marked ? "Point at a marked cell, or hold it, to see the line of best play." : "";
  return line ? `Best play: ${names.join(" ")}${more ? ` … (${more} more)` : ""}` : hint;
}
