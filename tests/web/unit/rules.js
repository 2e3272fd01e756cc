// The rules, written once more and as plainly as possible: cells are columns and rows, sets are arrays.

/** Return the legal moves of a position as cells, ascending. */
export function legalMoves({ width, height, open, white, black, side }) {
  const cells = Array.from({ length: width * height }, (_, cell) => cell);
  const free = cells.filter((cell) => (open / 2n ** BigInt(cell)) % 2n === 1n);
  const from = side === "w" ? white : black;
  if (from === 64) return free;
  return free.filter((cell) => {
    const across = Math.abs((cell % width) - (from % width));
    const down = Math.abs(Math.floor(cell / width) - Math.floor(from / width));
    return (across === 1 && down === 2) || (across === 2 && down === 1);
  });
}

/** Return the position after a move; null if it is not legal. */
export async function advance(position, cell) {
  if (!legalMoves(position).includes(cell)) return null;
  const open = position.open - 2n ** BigInt(cell);
  return position.side === "w"
    ? { ...position, open, white: cell, side: "b" }
    : { ...position, open, black: cell, side: "w" };
}

/** Return a function that draws whole numbers from 0 up to, not including, a limit; always the same ones. */
export function numbers(seed) {
  let state = seed;
  return (limit) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * limit);
  };
}
