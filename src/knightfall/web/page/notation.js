// Names of cells, and positions as text.  What may be played is not known here: the engine knows.

export const POCKET = 64;

/** A position: `open` is a BigInt with a bit for each open cell; a knight in the pocket is 64. */
export function parseFen(text) {
  const [rows, side] = text.trim().split(/\s+/);
  if (!rows) throw new Error("There is no position to read.");
  if (side !== "w" && side !== "b") {
    throw new Error(`“${shown(text)}” does not say whose turn it is: add w or b after a space.`);
  }
  const parts = /^([^[\]]*)(?:\[([Nn]*)\])?$/.exec(rows);
  if (!parts) throw new Error(`“${shown(text)}”: the pocket must be one [Nn] after the rows.`);
  const lines = parts[1].split("/").map((row) => cellsOf(row, text));
  const width = lines[0].length, height = lines.length;
  if (lines.some((line) => line.length !== width)) {
    throw new Error(`“${shown(text)}”: all rows must be equally wide.`);
  }
  if (width < 3 || height < 3 || width * height > 64) {
    throw new Error(`A ${width}×${height} board is not played here: sides from 3, up to 64 cells.`);
  }
  const all = lines.join(""), pocket = parts[2] ?? "";
  const place = (letter) => {
    const times = [...all, ...pocket].filter((one) => one === letter).length;
    if (times !== 1) throw new Error(`“${shown(text)}” has ${times} knights ${letter}: one is needed.`);
    return pocket.includes(letter) ? POCKET : all.indexOf(letter);
  };
  const white = place("N"), black = place("n");
  if (white === POCKET && black !== POCKET) {
    throw new Error(`“${shown(text)}”: the first player (N) places its knight before n does.`);
  }
  const turn = white === POCKET ? "w" : black === POCKET ? "b" : side;
  if (turn !== side) throw new Error(`“${shown(text)}”: it is ${turn}’s turn to place a knight.`);
  let open = 0n;
  [...all].forEach((letter, cell) => { if (letter === ".") open |= 1n << BigInt(cell); });
  return { width, height, open, white, black, side };
}

function cellsOf(row, text) {
  if (row.length > 64) throw new Error("That is not a position: a row is far too long.");
  let line = "";
  for (const piece of row.match(/\d+|./g) ?? []) {
    if (/^\d+$/.test(piece)) {
      if (Number(piece) > 64) throw new Error(`“${shown(text)}”: ${shown(piece)} open cells do not fit.`);
      line += ".".repeat(Number(piece));
    } else if ("Nn*".includes(piece)) line += piece;
    else throw new Error(`“${shown(text)}”: ${shown(piece)} is no cell; a digit, *, N and n are.`);
  }
  return line;
}

const shown = (text) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

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

export function emptyBoard(width, height) {
  return { width, height, open: (1n << BigInt(width * height)) - 1n, white: POCKET, black: POCKET, side: "w" };
}

export const isIn = (set, cell) => cell < POCKET && ((set >> BigInt(cell)) & 1n) === 1n;

export function cellsIn(set) {
  const found = [];
  for (let cell = 0; set; cell++, set >>= 1n) if (set & 1n) found.push(cell);
  return found;
}

export const nameOf = (board, cell) =>
  String.fromCharCode(97 + (cell % board.width)) + (board.height - Math.floor(cell / board.width));

export function cellNamed(board, name) {
  const found = /^([a-z])(\d{1,2})$/.exec(name.trim().toLowerCase());
  if (!found) return null;
  const column = found[1].charCodeAt(0) - 97, row = board.height - Number(found[2]);
  return column < board.width && row >= 0 && row < board.height ? row * board.width + column : null;
}
