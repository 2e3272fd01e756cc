// Games and pictures as text, to be pasted, copied and saved.

import { cellNamed, emptyBoard, formatFen, isIn, nameOf, POCKET, parseFen } from "./notation.js";
import { Tree } from "./tree.js";

/** @typedef {import("./address.js").Advance} Advance */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */

const MAX_PASTED = 20000; // characters
const MAX_PASTED_PLIES = 64;

/**
 * Read a position, a game or a link that was pasted. Throw an error that says why if it cannot be read.
 * @param {string} text
 * @param {Advance} advance returns the position after a move, or null if that is not legal
 * @param {(address: string, advance: Advance) => Promise<{tree: Tree}>} fromAddress reads what a link has behind #
 */
export async function readPasted(text, advance, fromAddress) {
  const pasted = text.trim();
  if (!pasted) throw new Error(NOTHING);
  if (pasted.length > MAX_PASTED) throw new Error("That is too long to be a game.");
  const link = /^[^\s#]*#(\S+)$/.exec(pasted);
  if (link) return (await fromAddress(link[1], advance)).tree;
  const { start, moves } = /^\{\s*["}]/.test(pasted) ? fromJson(pasted) : fromText(pasted);
  const tree = new Tree(start);
  for (const name of moves.slice(0, MAX_PASTED_PLIES)) {
    const cell = cellNamed(tree.at.position, name);
    const position = cell === null ? null : await advance(tree.at.position, cell);
    if (cell === null && !tree.root.children.length) {
      throw new Error(`“${name.slice(0, 20)}” is not a position, a game or a link.`);
    }
    if (cell === null || !position) {
      throw new Error(`“${name.slice(0, 20)}” is not a legal move after ${tree.line().length} plies.`);
    }
    tree.play(cell, position);
  }
  return tree;
}

const NOTHING = "There is nothing to read: paste a position, a game or a link.";
const CUT_SHORT = "This looks like a saved game, but it is incomplete.";

/**
 * Read a game that a command of knightfall saved as JSON.
 * @param {string} text
 */
function fromJson(text) {
  let game;
  try {
    game = JSON.parse(text);
  } catch {
    throw new Error(CUT_SHORT);
  }
  /** @type {unknown[] | null} */
  const moves = Array.isArray(game.moves) ? game.moves : null;
  if (!moves?.every((move) => typeof move === "string")) throw new Error("This saved game has no list of moves.");
  return { start: typeof game.start === "string" ? parseFen(game.start) : emptyBoard(7, 7), moves };
}

/**
 * Read a game as text: its moves, and around them tags in brackets, a FEN in front, numbers, comments in braces,
 * variations in parentheses and the result. Comments and variations are skipped.
 * @param {string} text
 */
function fromText(text) {
  const tag = /\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]/g;
  const tags = Object.fromEntries([...text.matchAll(tag)].map(([, name, value]) => [name, value]));
  let rest = withoutComments(text.replace(tag, " ")).trim();
  if (!rest && !Object.keys(tags).length) throw new Error(text.startsWith("{") ? CUT_SHORT : NOTHING);
  let start = tags.Opening ? parseFen(tags.Opening) : null;
  const fen = /^(\S+)\s+(\S+)(?:\s+(?:-|\d+)(?=\s|$))*/.exec(rest);
  if (fen?.[1].includes("/") && !start) {
    start = parseFen(`${fen[1]} ${fen[2]}`);
    rest = rest.slice(fen[0].length);
  }
  const words = rest.split(/\s+/).flatMap((word) => word.replace(/^\d+\.+/, "").split("."));
  const moves = words.filter((word) => word && !["1-0", "0-1", "*", "??"].includes(word));
  return { start: start ?? emptyBoard(7, 7), moves };
}

/**
 * Replace comments in braces and variations in parentheses, which may be nested, by spaces. A comment or variation
 * without an end extends to the end of the text.
 * @param {string} text
 */
function withoutComments(text) {
  let kept = "";
  let depth = 0;
  for (const [piece] of text.matchAll(/\{[^}]*\}?|[()]|[^{()]+/g)) {
    if (piece === "(") depth++;
    else if (piece === ")" && depth > 0) depth--;
    else if (depth === 0) kept += piece.startsWith("{") ? " " : piece;
    if (depth > 0) kept += " ";
  }
  return kept;
}

/**
 * Write a game as `knightfall annotate` reads it: tags, and numbered moves from the opening to the end of the line.
 * @param {Tree} tree
 * @param {{white: string, black: string, winner: Side | null, reason?: string | null}} players
 */
export function gameText(tree, { white, black, winner, reason }) {
  const line = tree.line(tree.end());
  const before = [tree.root, ...line].map(({ position }) => position); // before[i] is the position before move i
  const placements = line.filter((_, place) => before[place].black === POCKET).length;
  const opening = before[placements];
  const result = winner === "w" ? "1-0" : winner === "b" ? "0-1" : "*";
  /** @type {Record<string, string>} */
  const tags = { White: white, Black: black, Opening: formatFen(opening), Result: result };
  if (reason) tags.Reason = reason;
  const words = Object.entries(tags).map(([name, text]) => `[${name} "${text.replace(/[\\"]/g, "\\$&")}"]`);
  let number = 1;
  let moves = opening.side === "b" && line.length > placements ? "1... " : "";
  line.forEach(({ cell }, place) => {
    if (place < placements) return;
    if (before[place].side === "w") moves += `${number}. `;
    moves += `${nameOf(opening, Number(cell))} `;
    if (before[place].side === "b") number++;
  });
  return `${words.join("\n")}\n\n${moves}${result}\n`;
}

/**
 * Draw a position as an SVG file.
 * @param {Position} position
 * @param {string} knight the SVG path of a knight in a square of 100 by 100
 * @param {(number | null)[]} last cells to frame: those of the last move
 */
export function picture(position, knight, last = []) {
  const { width, height, open, white, black } = position;
  const parts = [];
  for (let cell = 0; cell < width * height; cell++) {
    const x = (cell % width) * 40 + 24;
    const y = Math.floor(cell / width) * 40 + 12;
    const taken = !isIn(open, cell) && cell !== white && cell !== black;
    const fill = taken ? "#5d6470" : (x + y - 36) % 80 ? "#e3d2b0" : "#f3ead6";
    const frame = last.includes(cell) ? 'stroke="#f2b632" stroke-width="3"' : 'stroke="#c9b88f" stroke-width="0.5"';
    parts.push(`<rect x="${x}" y="${y}" width="40" height="40" fill="${fill}" ${frame}/>`);
  }
  const knights = [
    { cell: white, fill: "#fff", edge: "#2a2420" },
    { cell: black, fill: "#2b2f3a", edge: "#f7f1e3" },
  ];
  for (const { cell, fill, edge } of knights) {
    if (cell === POCKET) continue;
    const place = `translate(${(cell % width) * 40 + 26} ${Math.floor(cell / width) * 40 + 14}) scale(0.36)`;
    parts.push(`<path transform="${place}" d="${knight}" fill="${fill}" stroke="${edge}" stroke-width="4"/>`);
  }
  /** @param {number} x @param {number} y @param {string | number} text */
  const label = (x, y, text) => parts.push(`<text x="${x}" y="${y}" text-anchor="middle">${text}</text>`);
  for (let row = 0; row < height; row++) label(16, row * 40 + 36, height - row);
  for (let column = 0; column < width; column++) {
    label(column * 40 + 44, height * 40 + 28, String.fromCharCode(97 + column));
  }
  const [across, down] = [width * 40 + 36, height * 40 + 36];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${across} ${down}" width="${across * 2}" ` +
    `height="${down * 2}" font-family="sans-serif" font-size="12" fill="#2a2420">` +
    `<title>${formatFen(position)}</title><rect width="${across}" height="${down}" fill="#fbf7ee"/>` +
    `${parts.join("")}</svg>\n`
  );
}
