// The view of puzzles: the board with a puzzle, texts about it, and buttons that lead to others.

import { inPlies } from "../model/marks.js";
import { nameOf } from "../model/notation.js";
import { BAND_NAMES, bandOf, puzzleOfDay, streak, THEMES } from "../model/puzzles.js";
import { many } from "../model/words.js";
import { boardById, onCell } from "./board.js";
import { byId, onClick, part } from "./dom.js";

/** @typedef {import("../model/puzzles.js").Puzzle} Puzzle */
/** @typedef {import("../model/puzzles.js").Puzzles} Puzzles */
/** @typedef {import("../model/puzzles.js").PuzzleState} PuzzleState */
/** @typedef {import("../model/store.js").Store} Store */

/**
 * Return the view for the router.
 * @param {Store} store
 * @param {Puzzles} puzzles
 * @param {(text: string, what: string) => Promise<string>} copyText copies a text and returns a message
 */
export function addPuzzlesView(store, puzzles, copyText) {
  const go = (/** @type {number | undefined} */ number) => {
    if (number) location.hash = `/puzzles/${number}`;
  };
  const actions = {
    "puzzle-solution": () => puzzles.solution(),
    "puzzle-again": () => puzzles.again(),
    "puzzle-before": () => go(puzzles.beside(-1)),
    "puzzle-after": () => go(puzzles.beside(1)),
    "puzzle-random": () => go(puzzles.any()),
    "puzzle-today": () => (location.hash = "/puzzles/today"),
    "puzzle-analyse": () => (location.hash = analysisOf(puzzles.state)),
    "puzzle-link": async () => {
      const link = `${location.href.split("#")[0]}#/puzzles/${puzzles.state.now?.number}`;
      puzzles.say(await copyText(link, "The link to this puzzle"));
    },
  };
  onClick(actions);
  onCell(boardById("puzzle"), "cell", (cell) => puzzles.answer(cell));
  const band = part("select", "puzzle-band");
  const theme = part("select", "puzzle-theme");
  band.append(...BAND_NAMES.map((name) => new Option(name, name)));
  theme.append(...Object.keys(THEMES).map((name) => new Option(name, name)));
  band.addEventListener("change", () => go(puzzles.filter({ band: band.value })));
  theme.addEventListener("change", () => go(puzzles.filter({ theme: theme.value })));
  store.watch(
    (state) => [state.puzzle],
    ({ puzzle }) => draw(puzzle, puzzles.today),
  );
  return {
    title: "Puzzles",
    show: (/** @type {string[]} */ [word]) => puzzles.show(word),
    keys: { n: actions["puzzle-after"], p: actions["puzzle-before"], s: actions["puzzle-solution"] },
  };
}

/**
 * Return the address that analyses the puzzle with the moves played so far.
 * @param {PuzzleState} state
 */
function analysisOf({ now }) {
  if (!now) return "";
  const moves = now.line.map((cell) => nameOf(now.position, cell)).join(".");
  return new URLSearchParams({ fen: now.puzzle.fen, moves }).toString();
}

/**
 * @param {PuzzleState} state
 * @param {string} today
 */
function draw({ data, now, message, record }, today) {
  const said = byId("puzzle-said");
  if (message && said.textContent !== message.text) said.textContent = message.text;
  said.className = `said ${message?.kind ?? ""}`;
  if (!data || !now) return;
  const { puzzle, position, seen, marks, last, number } = now;
  const all = data.puzzles.length;
  const daily = number === puzzleOfDay(today, all);
  boardById("puzzle").show({ position, targets: seen.moves, marks, last });
  const words = [bandOf(puzzle), daily ? "today’s" : "", record.solved.includes(puzzle.fen) ? "solved" : ""];
  byId("puzzle-text").textContent = `Puzzle ${number} of ${all}: ${words.filter(Boolean).join(", ")}.`;
  const solved = data.puzzles.filter(({ fen }) => record.solved.includes(fen)).length;
  byId("puzzle-score").textContent =
    `Solved ${solved} of ${all}. In a row at the first try: ${record.row}, at most ${record.longest}.`;
  const days = streak(record.days, today);
  const open = record.days.includes(today) ? "" : " Today’s is still open.";
  byId("puzzle-days").textContent = days ? `Daily puzzles: ${many(days, "day")} in a row.${open}` : "";
  byId("puzzle-misses").textContent = now.answered ? missesText(puzzle, data) : "";
}

/**
 * Return a text on how often agents missed a puzzle, and on its themes. It is shown only after an answer, because it
 * gives hints.
 * @param {Puzzle} puzzle
 * @param {import("../model/puzzles.js").PuzzleData} data
 */
function missesText({ grade, misses, plies, game: [, first, second, played], themes }, { rungs, tries }) {
  const each = rungs.map((name, at) => `${name} ${misses[at]}`);
  const phrases = themes.map((theme) => THEMES[theme]).filter(Boolean);
  return (
    `Missed in ${grade} % of the ladder’s tries; of ${tries} tries each, ${each.join(", ")}. A win${inPlies(plies)}, ` +
    `from a game ${rungs[first]} – ${rungs[second]} after ${played} plies. Here ${phrases.join("; ")}.`
  );
}
