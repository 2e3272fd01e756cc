// What stands on the cells: the truth of each move, and what a heuristic thinks of it.

import { plies } from "./words.js";

export const hasWin = (truth) => Object.values(truth ?? {}).some((one) => one.wins);

/** Marks for a board; "!" where the heuristic prefers a losing move though there is a winning one. */
export function marksOf(truth, opinions) {
  const marks = {};
  const best = opinions && Math.max(...Object.values(opinions).map(([value]) => value));
  for (const cell of new Set([...Object.keys(truth ?? {}), ...Object.keys(opinions ?? {})])) {
    const one = truth?.[cell], value = opinions?.[cell]?.[0];
    const liked = value !== undefined && value === best;
    const texts = [], told = [];
    if (one) {
      texts.push(`${one.wins ? "✓" : "✗"}${one.plies ?? ""}`);
      told.push(`${one.wins ? "wins" : "loses"}${one.plies ? ` in ${plies(one.plies)}` : ""}`);
    }
    if (value !== undefined) {
      const number = Number.isFinite(value) ? String(Math.round(value * 100) / 100) : value > 0 ? "∞" : "−∞";
      const wrong = liked && one && !one.wins && hasWin(truth);
      texts.push(`<small>${number}${wrong ? " !" : ""}</small>`);
      told.push(`heuristic ${number}${liked ? ", its choice" : ""}${wrong ? ", against the truth" : ""}`);
    }
    marks[cell] = { text: texts.join(" "), kind: one ? (one.wins ? "won" : "lost") : "valued", told: told.join(", ") };
  }
  return marks;
}
