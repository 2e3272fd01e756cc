// Puzzles: positions with one winning move. The engine judges every answer and plays the other side.

import { parseAgent } from "./agents.js";
import { Stopped } from "./engine.js";
import { inPlies, truthMark, winningCells } from "./marks.js";
import { formatFen, nameOf, parseFen } from "./notation.js";
import { NAMES } from "./words.js";

/** @typedef {import("./heuristics.js").Heuristic} Heuristic */
/** @typedef {import("./engine.js").MoveTruth} MoveTruth */
/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./engine.js").Truth} Truth */
/** @typedef {import("./marks.js").Mark} Mark */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./play.js").EngineLike} EngineLike */
/** @typedef {import("./store.js").Message} Message */
/** @typedef {import("./store.js").Store} Store */

/**
 * A puzzle as puzzles.json has it. `grade` is the percentage of the ladder's tries that missed it.
 * @typedef {object} Puzzle
 * @property {string} fen
 * @property {string} solution
 * @property {number} plies
 * @property {number} grade
 * @property {number[]} misses
 * @property {[number, number, number, number]} game its number, first and second player, plies played
 * @property {string[]} themes
 */

/** @typedef {{rungs: string[], tries: number, puzzles: Puzzle[]}} PuzzleData */

/**
 * The solved puzzles. `row` counts those solved in a row at the first try, `longest` is the longest such row, `days`
 * are the days whose daily puzzle was solved.
 * @typedef {{row: number, longest: number, solved: string[], days: string[]}} PuzzleRecord
 */

/**
 * The puzzle on the board, with the moves played so far.
 * @typedef {object} PuzzleNow
 * @property {number} number from 1 on
 * @property {Puzzle} puzzle
 * @property {Position} position
 * @property {PositionFacts} seen
 * @property {number[]} line the moves played
 * @property {Record<number, Mark>} marks
 * @property {number[]} last the cells of the last move
 * @property {boolean} answered whether the first answer has been given
 */

/**
 * @typedef {object} PuzzleState
 * @property {PuzzleData | null} data
 * @property {PuzzleNow | null} now
 * @property {string} band the difficulty that is wanted, "" for all
 * @property {string} theme the theme that is wanted, "" for all
 * @property {Message | null} message
 * @property {PuzzleRecord} record
 */

/** Longest time to judge an answer, in milliseconds. */
const JUDGE_MS = 20000;
const STRIDE = 7919; // prime, so that every puzzle is shown before one is repeated
export const PUZZLES_KEY = "knightfall.puzzles";
const MOST_DAYS = 1000;

/** The difficulties, each with the least percentage of misses. @type {[string, number][]} */
const BANDS = [
  ["easy", 0],
  ["medium", 30],
  ["hard", 60],
];
export const BAND_NAMES = BANDS.map(([name]) => name);

/** The themes, each with a phrase about puzzles that have it. @type {Record<string, string>} */
export const THEMES = {
  hunter: "you are the hunter",
  runner: "you are the runner",
  mirror: "the winning move makes the position its own image",
  separation: "the winning move keeps the knights apart for good",
  race: "the knights can no longer meet: the longer walk wins",
};

/** @param {Puzzle} puzzle */
export function bandOf({ grade }) {
  return BANDS.reduce((found, [name, least]) => (grade >= least ? name : found), BANDS[0][0]);
}

/**
 * Return a date in the local time zone, as in "2026-11-18".
 * @param {Date} date
 */
export function dayOf(date) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @param {string} day */
const dayNumber = (day) => Date.parse(`${day}T00:00:00Z`) / 86400000;

/**
 * Return the number of a day's puzzle. It depends on the date only, so that all users get the same one.
 * @param {string} day
 * @param {number} all how many puzzles there are
 */
export const puzzleOfDay = (day, all) => ((dayNumber(day) * STRIDE) % all) + 1;

/**
 * Return on how many days in a row the daily puzzle was solved, up to today, or to yesterday if today's is still open.
 * @param {string[]} days
 * @param {string} today
 */
export function streak(days, today) {
  const solved = new Set(days.map(dayNumber));
  let day = dayNumber(today);
  if (!solved.has(day)) day--;
  let length = 0;
  while (solved.has(day)) {
    length++;
    day--;
  }
  return length;
}

/**
 * Return the record of solved puzzles in a stored value; invalid parts are ignored.
 * @param {any} stored
 * @returns {PuzzleRecord}
 */
export function readRecord(stored) {
  const number = (/** @type {unknown} */ value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
  const texts = (/** @type {unknown} */ value) =>
    Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  const row = number(stored?.row);
  const days = texts(stored?.days).filter((day) => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(dayNumber(day)));
  return { row, longest: Math.max(row, number(stored?.longest)), solved: texts(stored?.solved), days };
}

export class Puzzles {
  /**
   * @param {Store} store
   * @param {EngineLike} rules
   * @param {EngineLike} engine judges and replies; no other part of the page may stop it
   * @param {Heuristic[]} heuristics
   * @param {() => Promise<PuzzleData>} fetchData
   * @param {() => Date} clock
   */
  constructor(store, rules, engine, heuristics, fetchData, clock) {
    this.store = store;
    this.rules = rules;
    this.engine = engine;
    this.perfect = parseAgent(`perfect(time=${JUDGE_MS}ms)`, heuristics);
    this.fetchData = fetchData;
    this.clock = clock;
    this.busy = false;
    /** @type {Map<string, Promise<Truth>>} */
    this.truths = new Map();
  }

  get state() {
    return this.store.state.puzzle;
  }

  /** @param {Partial<PuzzleState>} changes */
  set(changes) {
    this.store.set({ puzzle: { ...this.state, ...changes } });
  }

  /**
   * @param {string} text
   * @param {"" | "good" | "bad"} kind
   */
  say(text, kind = "") {
    this.set({ message: { text, kind } });
  }

  get today() {
    return dayOf(this.clock());
  }

  // -- choosing a puzzle -------------------------------------------------------------------------

  /**
   * Show the puzzle of an address: its number, or today's.
   * @param {string} word
   */
  async show(word = "today") {
    let { data } = this.state;
    if (!data) {
      try {
        data = await this.fetchData();
      } catch {
        return this.say("The puzzles could not be fetched: reload the page to try again.", "bad");
      }
      this.set({ data });
    }
    const all = data.puzzles.length;
    const todays = puzzleOfDay(this.today, all);
    const number = word === "today" ? todays : /^\d{1,6}$/.test(word) ? Number(word) : 0;
    if (number === this.state.now?.number) return; // it is on the board already
    const known = number >= 1 && number <= all;
    await this.begin(known ? number : todays);
    if (known) return;
    this.say(`There is no puzzle “${word.slice(0, 20)}”: they are numbered from 1 to ${all}. This is today’s.`, "bad");
  }

  /** The numbers of the puzzles with the chosen difficulty and theme. */
  get wanted() {
    const { data, band, theme } = this.state;
    return (data?.puzzles ?? []).flatMap((puzzle, at) =>
      (!band || bandOf(puzzle) === band) && (!theme || puzzle.themes.includes(theme)) ? [at + 1] : [],
    );
  }

  /**
   * Return the number of the next or previous puzzle with the chosen difficulty and theme. After the last comes the
   * first.
   * @param {1 | -1} way
   */
  beside(way) {
    const { now } = this.state;
    const all = way > 0 ? this.wanted : this.wanted.reverse();
    return all.find((number) => way * (number - (now?.number ?? 0)) > 0) ?? all[0];
  }

  /** Return the number of a random puzzle with the chosen difficulty and theme; an unsolved one if there is any. */
  any() {
    const all = this.wanted.filter((number) => number !== this.state.now?.number);
    const open = all.filter((number) => !this.isSolved(number));
    const from = open.length ? open : all;
    return from[Math.floor(Math.random() * from.length)];
  }

  /**
   * Choose a difficulty or a theme. Return the number of a puzzle that fits, if the one on the board does not.
   * @param {{band?: string, theme?: string}} changes
   */
  filter(changes) {
    this.set(changes);
    const all = this.wanted;
    if (!all.length) {
      this.say("No puzzle has this difficulty and theme: change one of them.", "bad");
      return undefined;
    }
    if (this.state.now && all.includes(this.state.now.number)) return undefined;
    return all.find((number) => !this.isSolved(number)) ?? all[0];
  }

  /** @param {number} number */
  isSolved(number) {
    const fen = this.state.data?.puzzles[number - 1]?.fen;
    return fen !== undefined && this.state.record.solved.includes(fen);
  }

  // -- answering ---------------------------------------------------------------------------------

  /**
   * Set a puzzle up.
   * @param {number} number
   * @param {boolean} answered whether it has been answered already
   */
  async begin(number, answered = false) {
    const puzzle = this.state.data?.puzzles[number - 1];
    if (!puzzle) return;
    this.engine.stop();
    this.truths.clear();
    const position = parseFen(puzzle.fen);
    this.loading = number;
    const seen = await this.rules.ask("look", { position });
    if (this.loading !== number) return;
    const now = { number, puzzle, position, seen, line: [], marks: {}, last: [], answered };
    this.set({ now });
    const role = seen.hunter === position.side ? "hunter" : "runner";
    this.say(`You are ${NAMES[position.side]}, the ${role}. One of ${seen.moves.length} moves wins: which?`);
    this.truthOf(now).catch(() => {}); // the engine searches while you think
  }

  async again() {
    const { now } = this.state;
    if (now) await this.begin(now.number, now.answered);
  }

  /**
   * Carry out an action, unless another one is being carried out. It ends if another puzzle is shown.
   * @param {(now: PuzzleNow) => Promise<void>} act
   */
  async once(act) {
    const { now } = this.state;
    if (this.busy || !now) return;
    this.busy = true;
    try {
      await act(now);
    } catch (error) {
      if (!(error instanceof Stopped)) this.say(error instanceof Error ? error.message : String(error), "bad");
    } finally {
      this.busy = false;
    }
  }

  /**
   * Change the puzzle on the board. Throw `Stopped` if another puzzle or move has been shown meanwhile.
   * @param {PuzzleNow} now
   * @param {Partial<PuzzleNow>} changes
   */
  update(now, changes = {}) {
    if (this.state.now?.number !== now.number || this.state.now.line !== now.line) throw new Stopped();
    const next = { ...this.state.now, ...changes };
    this.set({ now: next });
    return next;
  }

  /**
   * Return for each move whether it wins, and how soon.
   * @param {PuzzleNow} now
   */
  async truthOf({ position, seen }) {
    const fen = formatFen(position);
    const asked = this.truths.get(fen) ?? this.engine.ask("truth", { position, ms: JUDGE_MS });
    this.truths.set(fen, asked);
    try {
      const truth = await asked;
      if (seen.moves.every((cell) => truth[cell])) return truth;
    } catch (error) {
      this.truths.delete(fen);
      throw error;
    }
    this.truths.delete(fen); // it may be asked again
    throw new Error("There was not enough time to judge this move. Try again.");
  }

  /**
   * Return the move that wins soonest or, in a lost position, loses latest.
   * @param {Position} position
   */
  async best(position) {
    return Number((await this.engine.ask("choose", { position, agent: this.perfect })).cell);
  }

  /** @param {number} cell */
  answer(cell) {
    return this.once(async (now) => {
      const { position, seen, line } = now;
      const name = nameOf(position, cell);
      if (!seen.moves.length) return;
      if (!seen.moves.includes(cell)) return this.say(`${name} is not a legal move.`, "bad");
      this.say(`Checking ${name} …`);
      const move = (await this.truthOf(now))[cell];
      this.update(now);
      if (!line.length) this.note(now, move.wins);
      if (move.wins) return this.playWinning(now, cell, move);
      const after = await this.rules.ask("advance", { position, cell });
      const reply = after ? nameOf(position, await this.best(after)) : "";
      this.update(now, { marks: { ...now.marks, [cell]: truthMark(move) } });
      this.say(
        `${name} loses${inPlies(move.plies)}: the reply is ${reply}. Try another move, or see the solution.`,
        "bad",
      );
    });
  }

  /**
   * Play the winning move, and the reply that holds out longest.
   * @param {PuzzleNow} now
   * @param {number} cell
   * @param {MoveTruth} move
   */
  async playWinning(now, cell, { plies }) {
    const name = nameOf(now.position, cell);
    const right = `${now.line.length ? "" : "Right: "}${name} wins${inPlies(plies)}.`;
    const after = await this.play(now, cell);
    if (!after.seen.moves.length) {
      return this.say(`${right} The opponent’s knight has no cell left to go to: the game is yours.`, "good");
    }
    this.say(right, "good");
    const reply = await this.best(after.position);
    await this.play(after, reply);
    const message = `${nameOf(now.position, reply)} holds out longest.`;
    this.say(`${right} ${message} Go on and win, or take the next puzzle.`, "good");
  }

  /**
   * Play a move on the board.
   * @param {PuzzleNow} now
   * @param {number} cell
   */
  async play(now, cell) {
    const from = now.position.side === "w" ? now.position.white : now.position.black;
    const position = await this.rules.ask("advance", { position: now.position, cell });
    if (!position) throw new Error(`${nameOf(now.position, cell)} is not a legal move.`);
    const seen = await this.rules.ask("look", { position });
    return this.update(now, { position, seen, line: [...now.line, cell], last: [from, cell], marks: {} });
  }

  solution() {
    return this.once(async (now) => {
      const { position, seen, line } = now;
      if (!seen.moves.length) return;
      const truth = await this.truthOf(now);
      const winning = winningCells(truth);
      if (!line.length) this.note(now, false);
      const marks = Object.fromEntries(seen.moves.map((cell) => [cell, truthMark(truth[cell])]));
      this.update(now, { marks });
      const names = winning.map((cell) => `${nameOf(position, cell)} wins${inPlies(truth[cell].plies)}`);
      const rest = winning.length < seen.moves.length ? "; every other move loses" : "";
      this.say(`${names.join(", ")}${rest}. Play it to see what follows.`);
    });
  }

  /**
   * Record an answer. Only the first one counts for the row, and only if the puzzle was not solved before.
   * @param {PuzzleNow} now
   * @param {boolean} right
   */
  note(now, right) {
    const { fen } = now.puzzle;
    const { record, data } = this.state;
    const known = record.solved.includes(fen);
    const row = known || this.state.now?.answered ? record.row : right ? record.row + 1 : 0;
    const solved = right && !known ? [...record.solved, fen] : record.solved;
    const daily = right && data && now.number === puzzleOfDay(this.today, data.puzzles.length);
    const days =
      daily && !record.days.includes(this.today) ? [...record.days, this.today].slice(-MOST_DAYS) : record.days;
    this.set({ record: { row, longest: Math.max(record.longest, row), solved, days } });
    this.update(now, { answered: true });
  }
}
