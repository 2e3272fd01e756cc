// What stands on the cells: the truth of each move, and what a heuristic thinks of it.

import { plies } from "./words.js";

export const hasWin = (truth) => Object.values(truth ?? {}).some((one) => one.wins);

/** Marks for a board; "!" where a heuristic prefers a losing move though there is a winning one.
 *
 * `opinions` has for each cell a number of every heuristic that was asked, `names` what they are.
 */
export function marksOf(truth, opinions, names = []) {
  const marks = {}, rows = Object.values(opinions ?? {});
  const best = names.map((_, which) => Math.max(...rows.map((values) => values[which])));
  for (const cell of new Set([...Object.keys(truth ?? {}), ...Object.keys(opinions ?? {})])) {
    const one = truth?.[cell], texts = [], told = [];
    if (one) {
      texts.push(`${one.wins ? "✓" : "✗"}${one.plies ?? ""}`);
      told.push(`${one.wins ? "wins" : "loses"}${one.plies ? ` in ${plies(one.plies)}` : ""}`);
    }
    (opinions?.[cell] ?? []).forEach((value, which) => {
      const liked = value === best[which], wrong = liked && one && !one.wins && hasWin(truth);
      texts.push(`<small>${rounded(value)}${wrong ? " !" : ""}</small>`);
      told.push(`${names[which]} ${rounded(value)}${liked ? ", its choice" : ""}${wrong ? ", against the truth" : ""}`);
    });
    marks[cell] = { text: texts.join(" "), kind: one ? (one.wins ? "won" : "lost") : "valued", told: told.join(", ") };
  }
  return marks;
}

/** Who wins by best play and how soon, as far as the moves of a position are known. */
export function outlook(truth, moves, side) {
  const known = moves.filter((cell) => truth?.[cell]), rows = known.map((cell) => truth[cell]);
  const winning = rows.filter((row) => row.wins), all = known.length === moves.length;
  if (!winning.length && !all) return { winner: null, known: known.length, plies: null };
  const best = winning.length ? winning : rows, exact = all && best.every((row) => row.plies !== null);
  const lengths = best.map((row) => row.plies);
  return {
    winner: winning.length ? side : side === "w" ? "b" : "w", known: known.length,
    plies: exact ? (winning.length ? Math.min(...lengths) : Math.max(...lengths)) : null,
  };
}

function rounded(value) {
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : value > 0 ? "∞" : "−∞";
}
