// A game with its variations, and how it is written in the address.
//
// Every node is a position and the move that led there; `children[0]` is the main line.

import { emptyBoard, formatFen, nameOf, parseFen, cellNamed } from "./notation.js";

export class Tree {
  constructor(position) {
    this.root = { position, cell: null, parent: null, children: [] };
    this.at = this.root;
  }

  /** Go to the position after a move; it is made if it is not there yet. */
  play(cell, position) {
    let next = this.at.children.find((child) => child.cell === cell);
    if (!next) {
      next = { position, cell, parent: this.at, children: [] };
      this.at.children.push(next);
    }
    this.at = next;
    return next;
  }

  back() {
    if (this.at.parent) this.at = this.at.parent;
  }

  forward() {
    if (this.at.children.length) this.at = this.at.children[0];
  }

  /** The moves from the beginning to a node. */
  line(node = this.at) {
    const found = [];
    for (let one = node; one.parent; one = one.parent) found.unshift(one);
    return found;
  }
}

/** The part of the address behind #: the start, the line that is looked at, all lines in their order,
 *  who is played against (`vs`, an agent string), which side is `you`, and who `resigned`.
 */
export function toAddress(tree, { vs = null, you = "w", resigned = null } = {}) {
  const { position } = tree.root, start = formatFen(position);
  const usual = formatFen(emptyBoard(position.width, position.height)) === start;
  const names = (nodes) => nodes.map((node) => nameOf(position, node.cell)).join(".");
  const lines = [];
  const walk = (node) => {
    if (!node.children.length) lines.push(names(tree.line(node)));
    node.children.forEach(walk);
  };
  walk(tree.root);
  if (lines.length === 1 && !tree.at.children.length) lines.pop(); // the line that is looked at is all
  const words = new URLSearchParams();
  if (!usual) words.set("fen", start);
  else if (position.width !== 7 || position.height !== 7) words.set("board", `${position.width}x${position.height}`);
  words.set("moves", names(tree.line()));
  if (lines.length) words.set("lines", lines.slice(0, 50).join("_"));
  if (vs) {
    words.set("vs", vs);
    words.set("you", you);
  }
  if (resigned) words.set("resigned", resigned);
  return words.toString();
}

/** The tree of an address with the opponent's agent string (`vs`), the sides of `you` and of who `resigned`.
 *
 *  `advance` returns the position after a move, or null if there is no such move.  Throws clear words.
 */
export async function fromAddress(text, advance) {
  if (text.length > 20000) throw new Error("The address is too long to be a game.");
  const words = new URLSearchParams(text);
  const size = /^([3-9]|1\d|2[01])x([3-9]|1\d|2[01])$/.exec(words.get("board") ?? "7x7");
  if (!size) throw new Error(`“${words.get("board").slice(0, 20)}” is no board: write 8x8, say.`);
  const [width, height] = size.slice(1).map(Number);
  if (width * height > 64) throw new Error(`${width}×${height} has more than 64 cells.`);
  const tree = new Tree(words.has("fen") ? parseFen(words.get("fen")) : emptyBoard(width, height));
  const play = async (line) => {
    tree.at = tree.root;
    for (const name of line.split(".").filter(Boolean).slice(0, 64)) {
      const cell = cellNamed(tree.at.position, name);
      const position = cell === null ? null : await advance(tree.at.position, cell);
      if (!position) throw new Error(`“${name.slice(0, 10)}” is no move here.`);
      tree.play(cell, position);
    }
  };
  for (const line of (words.get("lines") ?? "").split("_").filter(Boolean).slice(0, 50)) await play(line);
  await play(words.get("moves") ?? "");
  const resigned = ["w", "b"].includes(words.get("resigned")) ? words.get("resigned") : null;
  return { tree, vs: words.get("vs") || null, you: words.get("you") === "b" ? "b" : "w", resigned };
}
