// Names of cells, and positions as FEN text. The rules of the game are in the engine, not here.

/** @typedef {"w" | "b"} Side the first player is "w" */
/** @typedef {{width: number, height: number}} Board */

/**
 * A position. Cells are counted from 0 at the upper left corner, row by row.
 * @typedef {object} Position
 * @property {number} width
 * @property {number} height
 * @property {bigint} open a set of cells: the bit of each open cell is 1
 * @property {number} white the cell of the first player's knight, `POCKET` before it is placed
 * @property {number} black the cell of the second player's knight
 * @property {Side} side the side to move
 */

/** The cell number of a knight that has not been placed yet. */
export const POCKET = 64;

/**
 * Read a position from a FEN. Throw an error that says what is wrong with it.
 * @param {string} text
 * @returns {Position}
 */
export function parseFen(text) {
  const [rows, side] = text.trim().split(/\s+/);
  if (!rows) throw new Error("There is no position to read.");
  if (side !== "w" && side !== "b") {
    throw new Error(`“${shown(text)}” does not say whose turn it is: add w or b after a space.`);
  }
  const parts = /^([^[\]]*)(?:\[([Nn]*)\])?$/.exec(rows);
  if (!parts) throw new Error(`“${shown(text)}”: the pocket must be one [Nn] after the rows.`);
  const lines = parts[1].split("/").map((row) => lettersOf(row, text));
  const width = lines[0].length;
  const height = lines.length;
  if (lines.some((line) => line.length !== width)) {
    throw new Error(`“${shown(text)}”: all rows must be equally wide.`);
  }
  if (width < 3 || height < 3 || width * height > 64) {
    throw new Error(`A ${width}×${height} board is not supported: sides must be at least 3, with at most 64 cells.`);
  }
  const all = lines.join("");
  const pocket = parts[2] ?? "";
  /** @param {string} letter */
  const place = (letter) => {
    const times = [...all, ...pocket].filter((one) => one === letter).length;
    if (times !== 1) throw new Error(`“${shown(text)}” has ${times} knights ${letter}: exactly one is needed.`);
    return pocket.includes(letter) ? POCKET : all.indexOf(letter);
  };
  const white = place("N");
  const black = place("n");
  if (white === POCKET && black !== POCKET) {
    throw new Error(`“${shown(text)}”: the first player (N) places its knight before n does.`);
  }
  const turn = white === POCKET ? "w" : black === POCKET ? "b" : side;
  if (turn !== side) throw new Error(`“${shown(text)}”: it is ${turn}’s turn to place a knight.`);
  let open = 0n;
  [...all].forEach((letter, cell) => {
    if (letter === ".") open |= 1n << BigInt(cell);
  });
  return { width, height, open, white, black, side };
}

/**
 * Return a row of a FEN with one letter for each cell: "." where it is open, "*", "N" or "n".
 * @param {string} row
 * @param {string} text the whole FEN, for the error
 */
function lettersOf(row, text) {
  if (row.length > 64) throw new Error("That is not a position: a row is far too long.");
  let line = "";
  for (const piece of row.match(/\d+|./g) ?? []) {
    if (/^\d+$/.test(piece)) {
      if (Number(piece) > 64) throw new Error(`“${shown(text)}”: ${shown(piece)} open cells do not fit.`);
      line += ".".repeat(Number(piece));
    } else if ("Nn*".includes(piece)) line += piece;
    else throw new Error(`“${shown(text)}”: ${shown(piece)} is not allowed; use digits, *, N and n.`);
  }
  return line;
}

/**
 * Return a text that fits into an error message.
 * @param {string} text
 */
const shown = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

/**
 * Write a position as a FEN.
 * @param {Position} position
 */
export function formatFen({ width, height, open, white, black, side }) {
  const rows = [];
  for (let row = 0; row < height; row++) {
    let line = "";
    for (let column = 0; column < width; column++) {
      const cell = row * width + column;
      line += cell === white ? "N" : cell === black ? "n" : isIn(open, cell) ? "." : "*";
    }
    rows.push(line.replace(/\.+/g, (run) => String(run.length)));
  }
  const pocket = (white === POCKET ? "N" : "") + (black === POCKET ? "n" : "");
  return `${rows.join("/")}${pocket && `[${pocket}]`} ${side}`;
}

/**
 * Return the position before both knights are placed.
 * @param {number} width
 * @param {number} height
 * @returns {Position}
 */
export function emptyBoard(width, height) {
  return { width, height, open: (1n << BigInt(width * height)) - 1n, white: POCKET, black: POCKET, side: "w" };
}

/**
 * Return whether a cell is in a set.
 * @param {bigint} set
 * @param {number} cell
 */
export const isIn = (set, cell) => cell < POCKET && ((set >> BigInt(cell)) & 1n) === 1n;

/**
 * Return the cells of a set in ascending order.
 * @param {bigint} set
 */
export function cellsIn(set) {
  const found = [];
  for (let cell = 0, rest = set; rest; cell++, rest >>= 1n) if (rest & 1n) found.push(cell);
  return found;
}

/**
 * Return the name of a cell, as in "a1" for the lower left corner.
 * @param {Board} board
 * @param {number} cell
 */
export const nameOf = (board, cell) =>
  String.fromCharCode(97 + (cell % board.width)) + (board.height - Math.floor(cell / board.width));

/**
 * Return the cell of a name in either case; null if the board has none of that name.
 * @param {Board} board
 * @param {string} name
 */
export function cellNamed(board, name) {
  const found = /^([a-z])(\d{1,2})$/.exec(name.trim().toLowerCase());
  if (!found) return null;
  const column = found[1].charCodeAt(0) - 97;
  const row = board.height - Number(found[2]);
  return column < board.width && row >= 0 && row < board.height ? row * board.width + column : null;
}
