// How a game is written in the part of the address behind #.
//
//   fen=…       the start, unless it is the empty board; board=5x7 for an empty board that is not 7×7
//   moves=d4.a1 the current line
//   lines=…_…   every line of the tree, main line first, if the tree has more than the moves of `moves`
//   note=d4.a1:text  a comment on the move at the end of that line; may be repeated
//   vs=perfect&you=w  the opponent's agent string and your side; without them both sides are yours
//   resigned=w  the side that resigned
//   challenge=1 the game is a challenge to win from the start

import { cellNamed, emptyBoard, formatFen, nameOf, parseFen } from "./notation.js";
import { Tree } from "./tree.js";

/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./tree.js").Node} Node */
/** @typedef {(position: Position, cell: number) => Promise<Position | null>} Advance */

/**
 * @typedef {object} AddressedGame
 * @property {Tree} tree
 * @property {string | null} vs
 * @property {Side} you
 * @property {Side | null} resigned
 * @property {boolean} challenge
 */

const MAX_LENGTH = 20000;
const MAX_LINES = 50;
const MAX_PLIES = 64;

/**
 * Write a game as an address.
 * @param {Tree} tree
 * @param {{vs?: string | null, you?: Side, resigned?: Side | null, challenge?: boolean}} more
 */
export function toAddress(tree, { vs = null, you = "w", resigned = null, challenge = false } = {}) {
  const { position } = tree.root;
  const { width, height } = position;
  /** @param {Node} node */
  const names = (node) =>
    tree
      .line(node)
      .map(({ cell }) => nameOf(position, Number(cell)))
      .join(".");
  const nodes = tree.nodes();
  const lines = nodes.filter((node) => !node.children.length).map(names);
  const words = new URLSearchParams();
  const start = formatFen(position);
  if (start !== formatFen(emptyBoard(width, height))) words.set("fen", start);
  else if (width !== 7 || height !== 7) words.set("board", `${width}x${height}`);
  words.set("moves", names(tree.at));
  if (lines.length > 1 || tree.at.children.length) words.set("lines", lines.slice(0, MAX_LINES).join("_"));
  for (const node of [tree.root, ...nodes]) if (node.comment) words.append("note", `${names(node)}:${node.comment}`);
  if (vs) {
    words.set("vs", vs);
    words.set("you", you);
  }
  if (resigned) words.set("resigned", resigned);
  if (challenge) words.set("challenge", "1");
  return words.toString();
}

/**
 * Read a game from an address. Throw an error that says why if it cannot be read.
 * @param {string} text
 * @param {Advance} advance returns the position after a move, or null if that is not legal
 * @returns {Promise<AddressedGame>}
 */
export async function fromAddress(text, advance) {
  if (text.length > MAX_LENGTH) throw new Error("The address is too long to be a game.");
  const words = new URLSearchParams(text);
  if (!["fen", "board", "moves", "lines", "vs"].some((word) => words.has(word))) throw new Error("it has no game.");
  const tree = new Tree(startOf(words));
  /** @param {string} line */
  const play = async (line) => {
    tree.at = tree.root;
    for (const name of line.split(".").filter(Boolean).slice(0, MAX_PLIES)) {
      const cell = cellNamed(tree.at.position, name);
      const known = tree.at.children.find((child) => child.cell === cell);
      const position = known?.position ?? (cell === null ? null : await advance(tree.at.position, cell));
      if (cell === null || !position) throw new Error(`“${name.slice(0, 10)}” is not a legal move here.`);
      tree.play(cell, position);
    }
  };
  for (const line of (words.get("lines") ?? "").split("_").filter(Boolean).slice(0, MAX_LINES)) await play(line);
  for (const note of words.getAll("note").slice(0, MAX_LINES)) {
    const [line, ...comment] = note.split(":");
    await play(line);
    tree.comment(tree.at, comment.join(":"));
  }
  await play(words.get("moves") ?? "");
  const resigned = words.get("resigned");
  return {
    tree,
    vs: words.get("vs") || null,
    you: words.get("you") === "b" ? "b" : "w",
    resigned: resigned === "w" || resigned === "b" ? resigned : null,
    challenge: words.get("challenge") === "1",
  };
}

/** @param {URLSearchParams} words */
function startOf(words) {
  const fen = words.get("fen");
  if (fen !== null) return parseFen(fen);
  const board = words.get("board") ?? "7x7";
  const size = /^([3-9]|1\d|2[01])x([3-9]|1\d|2[01])$/.exec(board);
  if (!size) throw new Error(`“${board.slice(0, 20)}” is not a board size: write 8x8, for example.`);
  const [width, height] = size.slice(1).map(Number);
  if (width * height > 64) throw new Error(`${width}×${height} has more than 64 cells.`);
  return emptyBoard(width, height);
}
