// Marks on the cells of a board: whether each move wins, and its value by heuristics.

import { plies } from "./words.js";

/** @typedef {import("./engine.js").Truth} Truth */
/** @typedef {import("./engine.js").MoveTruth} MoveTruth */
/** @typedef {import("./notation.js").Side} Side */

/**
 * A mark on a cell: lines of text, the largest first; the class that tints the cell; the same for screen readers;
 * and how strongly the cell is tinted, from 0 to 1.
 * @typedef {{lines: string[], kind: string, description: string, heat?: number}} Mark
 */

/** @param {Truth | null} truth */
export const hasWin = (truth) => Object.values(truth ?? {}).some((one) => one.wins);

/** @param {Truth} truth */
export const winningCells = (truth) =>
  Object.keys(truth)
    .map(Number)
    .filter((cell) => truth[cell].wins);

/** @param {number | null} number */
export const inPlies = (number) => (number ? ` in ${plies(number)}` : "");

/**
 * Return the mark of a move whose result is known: ✓ or ✗ and the plies that the game then lasts.
 * @param {MoveTruth} move
 * @returns {Mark}
 */
export function truthMark({ wins, plies: length }) {
  const text = `${wins ? "✓" : "✗"}${length ?? ""}`;
  return { lines: [text], kind: wins ? "won" : "lost", description: `${wins ? "wins" : "loses"}${inPlies(length)}` };
}

/**
 * Return the marks of all moves. A heuristic that prefers a losing move though another wins gets an exclamation mark.
 * @param {Truth | null} truth
 * @param {Record<number, number[]> | null} opinions for each cell the value of every heuristic
 * @param {string[]} names of the heuristics
 * @returns {Record<number, Mark>}
 */
export function marksOf(truth, opinions, names = []) {
  /** @type {Record<number, Mark>} */
  const marks = {};
  const rows = Object.values(opinions ?? {});
  const best = names.map((_, which) => Math.max(...rows.map((values) => values[which])));
  const cells = new Set([...Object.keys(truth ?? {}), ...Object.keys(opinions ?? {})].map(Number));
  for (const cell of cells) {
    const one = truth?.[cell];
    const mark = one ? truthMark(one) : { lines: [], kind: "valued", description: "" };
    const parts = mark.description ? [mark.description] : [];
    (opinions?.[cell] ?? []).forEach((value, which) => {
      const liked = value === best[which];
      const wrong = liked && one && !one.wins && hasWin(truth);
      mark.lines.push(`${rounded(value)}${wrong ? " !" : ""}`);
      const favourite = `${liked ? ", its choice" : ""}${wrong ? ", against the truth" : ""}`;
      parts.push(`${names[which]} ${rounded(value)}${favourite}`);
    });
    marks[cell] = { ...mark, description: parts.join(", ") };
  }
  return marks;
}

/**
 * Return who wins by best play and in how many plies, as far as the moves of a position are known.
 * @param {Truth | null} truth
 * @param {number[]} moves
 * @param {Side} side the side to move
 * @returns {{winner: Side | null, known: number, plies: number | null}}
 */
export function outlook(truth, moves, side) {
  const rows = moves.flatMap((cell) => truth?.[cell] ?? []);
  const winning = rows.filter((row) => row.wins);
  const all = rows.length === moves.length;
  if (!moves.length || (!winning.length && !all)) return { winner: null, known: rows.length, plies: null };
  const best = winning.length ? winning : rows;
  const lengths = best.map((row) => row.plies ?? 0);
  const exact = all && lengths.every(Boolean);
  const length = winning.length ? Math.min(...lengths) : Math.max(...lengths);
  const winner = winning.length === 0 ? (side === "w" ? "b" : "w") : side;
  return { winner, known: rows.length, plies: exact ? length : null };
}

/** @param {number} value */
function rounded(value) {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : value > 0 ? "∞" : "−∞";
}
