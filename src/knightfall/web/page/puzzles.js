// Puzzles: positions with one winning move, out of the ladder's games.
//
// The file says where they are and who missed them; whether an answer is right, what refutes it and
// how the opponent holds out longest is asked of the engine.

import { parseAgent } from "./agents.js";
import { $ } from "./dom.js";
import { Engine, Stopped } from "./engine.js";
import { formatFen, nameOf, parseFen } from "./notation.js";
import { plies } from "./words.js";

const JUDGE_MS = 20000;
const BANDS = [["easy", 0], ["medium", 30], ["hard", 60]]; // from which percentage of misses on
const STRIDE = 7919; // prime: every puzzle has its day before one comes again
const KEPT = "knightfall.puzzles";
const inPlies = (number) => (number ? ` in ${plies(number)}` : "");
const bandOf = ({ grade }) => BANDS.findLast(([, least]) => grade >= least)[0];

export class Puzzles {
  constructor(app, source) {
    this.app = app;
    this.source = source;
    this.title = "Puzzles";
    this.score = new Score();
    this.perfect = parseAgent(`perfect(time=${JUDGE_MS}ms)`, app.about.heuristics);
    this.listen();
  }

  listen() {
    $("puzzle").addEventListener("cell", ({ detail }) => this.once(() => this.answer(detail.cell)));
    const act = {
      solution: () => this.once(() => this.solution()), again: () => this.begin(this.now, true), link: () => this.copyLink(),
      analyse: () => this.analyse(), before: () => this.step(-1), after: () => this.step(1),
      random: () => this.random(), today: () => (location.hash = "/puzzles/today"),
    };
    for (const [name, doing] of Object.entries(act)) $(`puzzle-${name}`).addEventListener("click", doing);
    $("puzzle-band").append(...BANDS.map(([name]) => new Option(name, name)));
    $("puzzle-band").addEventListener("change", () => this.filter());
    addEventListener("keydown", (event) => {
      const other = event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, dialog *");
      if (!other && this.app.views.now === "puzzles") ({ n: act.after, p: act.before, s: act.solution })[event.key]?.();
    });
  }

  // -- which one -------------------------------------------------------------------------------

  /** The puzzle of an address: its number, or today's. */
  async show([word = "today"]) {
    try {
      this.data ??= await this.source.part("puzzles");
    } catch {
      return this.say("The puzzles could not be fetched: reload the page to try again.", "bad");
    }
    this.engine ??= new Engine(this.source);
    const number = word === "today" ? this.todays() : /^\d{1,6}$/.test(word) ? Number(word) : 0;
    if (number === this.now?.number) return; // it stands there as it was left
    const known = number >= 1 && number <= this.data.puzzles.length;
    await this.begin({ number: known ? number : this.todays() });
    if (!known) {
      this.say(`There is no puzzle “${word.slice(0, 20)}”: they are numbered from 1 to ${this.data.puzzles.length}. This is today’s.`, "bad");
    }
  }

  /** By the calendar on the wall, so that it is the same for everybody and needs no server. */
  todays() {
    const now = new Date(), day = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()) / 86400000;
    return ((day * STRIDE) % this.data.puzzles.length) + 1;
  }

  /** The numbers of those that are as difficult as somebody wants them. */
  get wanted() {
    const band = $("puzzle-band").value;
    return this.data.puzzles.map((_, at) => at + 1).filter((number) => !band || bandOf(this.data.puzzles[number - 1]) === band);
  }

  go(number) {
    if (number) location.hash = `/puzzles/${number}`;
  }

  step(by) {
    const all = by > 0 ? this.wanted : this.wanted.reverse(), beyond = (number) => by * (number - this.now.number) > 0;
    this.go(all.find(beyond) ?? all[0]);
  }

  random() {
    const all = this.wanted.filter((number) => number !== this.now.number);
    const unsolved = all.filter((number) => !this.isSolved(number)), from = unsolved.length ? unsolved : all;
    this.go(from[Math.floor(Math.random() * from.length)]);
  }

  filter() {
    const all = this.wanted;
    if (!all.includes(this.now.number)) this.go(all.find((number) => !this.isSolved(number)) ?? all[0]);
  }

  isSolved(number) {
    return this.score.has(this.data.puzzles[number - 1].fen);
  }

  // -- an answer -------------------------------------------------------------------------------

  /** Set the puzzle up.  Whoever begins again has answered it already. */
  async begin({ number, answered = false }, again = false) {
    this.engine.stop();
    const puzzle = this.data.puzzles[number - 1], position = parseFen(puzzle.fen);
    const now = (this.now = { number, puzzle, position, answered: again && answered, line: [], marks: {}, truths: new Map() });
    now.seen = await this.app.rules.ask("look", { position });
    if (this.now !== now) return;
    this.draw();
    const first = position.side === "w", hunts = now.seen.hunter === position.side;
    this.say(`You are the ${first ? "first player, with the white knight" : "second player, with the black knight"}, and the ${hunts ? "hunter" : "runner"}. One of ${now.seen.moves.length} moves wins: which?`);
    this.truthOf(now).catch(() => {}); // while somebody thinks, the engine does
  }

  /** One answer at a time; another puzzle ends whatever was being asked. */
  async once(doing) {
    if (this.busy || !this.now?.seen) return;
    this.busy = true;
    try {
      await doing();
    } catch (error) {
      if (!(error instanceof Stopped)) this.say(error.message, "bad");
    } finally {
      this.busy = false;
    }
  }

  /** What was found out is of no use once another puzzle is there. */
  still(now) {
    if (this.now !== now) throw new Stopped();
  }

  /** For each move of the position that is looked at whether it wins, and how soon. */
  async truthOf({ position, truths, seen }) {
    const fen = formatFen(position);
    if (!truths.has(fen)) truths.set(fen, this.engine.ask("truth", { position, ms: JUDGE_MS }));
    try {
      const truth = await truths.get(fen);
      if (seen.moves.every((cell) => truth[cell])) return truth;
    } catch (error) {
      truths.delete(fen);
      throw error;
    }
    truths.delete(fen); // it may be asked again
    throw new Error("There was no time to judge that. Try again.");
  }

  /** The quickest win, or the longest resistance. */
  async best(position) {
    const { cell } = await this.engine.ask("choose", { position, agent: this.perfect });
    return Number(cell);
  }

  async answer(cell) {
    const { now } = this, { position } = now, name = nameOf(position, cell);
    if (!now.seen.moves.length) return;
    if (!now.seen.moves.includes(cell)) return this.say(`${name} is not a legal move.`, "bad");
    this.say(`${name}: let me see …`);
    const found = (await this.truthOf(now))[cell];
    this.still(now);
    if (!now.line.length) this.note(now, found.wins);
    if (found.wins) return this.goOn(now, cell, found);
    const reply = await this.best(await this.app.advance(position, cell));
    this.still(now);
    now.marks[cell] = Puzzles.mark(found);
    this.draw();
    this.say(`${name} loses${inPlies(found.plies)}: the reply is ${nameOf(position, reply)}. Try another move, or see the solution.`, "bad");
  }

  /** Play the winning move and the reply that holds out longest; the win may be played to its end. */
  async goOn(now, cell, { plies }) {
    const name = nameOf(now.position, cell), right = now.line.length ? `${name} wins${inPlies(plies)}.` : `Right: ${name} wins${inPlies(plies)}.`;
    await this.play(now, cell);
    if (!now.seen.moves.length) return this.say(`${right} The opponent’s knight has no cell left to go to: the game is yours.`, "good");
    this.say(right, "good");
    const reply = await this.best(now.position);
    await this.play(now, reply);
    this.say(`${right} ${nameOf(now.position, reply)} holds out longest. Go on and win, or take the next puzzle.`, "good");
  }

  async play(now, cell) {
    const { position } = now, from = position.side === "w" ? position.white : position.black;
    now.position = await this.app.advance(position, cell);
    now.seen = await this.app.rules.ask("look", { position: now.position });
    this.still(now);
    now.line.push(cell);
    now.last = [from, cell];
    now.marks = {};
    this.draw();
  }

  async solution() {
    const { now } = this, { position } = now;
    if (!now.seen.moves.length) return;
    const truth = await this.truthOf(now), winning = now.seen.moves.filter((cell) => truth[cell].wins);
    this.still(now);
    if (!now.line.length) this.note(now, false);
    for (const cell of now.seen.moves) now.marks[cell] = Puzzles.mark(truth[cell]);
    this.draw();
    const names = winning.map((cell) => `${nameOf(position, cell)} wins${inPlies(truth[cell].plies)}`);
    this.say(`${names.join(", ")}${winning.length < now.seen.moves.length ? "; every other move loses" : ""}. Play it to see what follows.`);
  }

  /** Only the first answer counts for the row, and only for who has not solved it before. */
  note(now, right) {
    const { fen } = now.puzzle;
    if (!now.answered && !this.score.has(fen)) this.score.first(right);
    if (right) this.score.solved(fen);
    now.answered = true;
  }

  // -- showing ---------------------------------------------------------------------------------

  static mark({ wins, plies }) {
    return { text: `${wins ? "✓" : "✗"}${plies ?? ""}`, kind: wins ? "won" : "lost", told: `${wins ? "wins" : "loses"}${inPlies(plies)}` };
  }

  draw() {
    const { now } = this, { puzzle, position, seen, marks, last } = now, all = this.data.puzzles.length;
    $("puzzle").show({ position, targets: seen.moves, marks, last });
    const words = [bandOf(puzzle), now.number === this.todays() ? "today’s" : "", this.score.has(puzzle.fen) ? "solved" : ""];
    $("puzzle-told").textContent = `Puzzle ${now.number} of ${all}: ${words.filter(Boolean).join(", ")}.`;
    $("puzzle-score").textContent = this.score.told(all, this.data.puzzles);
    $("puzzle-misses").textContent = now.answered ? this.missesTold(puzzle) : "";
  }

  /** Who missed it; not before there was an answer, for it gives something away. */
  missesTold({ grade, misses, plies, game: [, first, second, played] }) {
    const { rungs, tries } = this.data, each = rungs.map((name, at) => `${name} ${misses[at]}`);
    return `Missed in ${grade} % of the ladder’s tries; of ${tries} tries each, ${each.join(", ")}. A win${inPlies(plies)}, ` +
      `out of a game ${rungs[first]} – ${rungs[second]} after ${played} plies.`;
  }

  say(text, kind = "") {
    const place = $("puzzle-said");
    place.textContent = text;
    place.className = `said ${kind}`;
  }

  analyse() {
    const { puzzle, position, line } = this.now;
    location.hash = new URLSearchParams({ fen: puzzle.fen, moves: line.map((cell) => nameOf(position, cell)).join(".") }).toString();
  }

  async copyLink() {
    const link = `${location.href.split("#")[0]}#/puzzles/${this.now.number}`;
    try {
      await navigator.clipboard.writeText(link);
      this.say("The link to this puzzle is copied.");
    } catch {
      this.say(`The link to this puzzle: ${link}`);
    }
  }
}

/** What was solved, and how many in a row at the first try.  Kept if the browser keeps anything. */
class Score {
  constructor() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(KEPT));
    } catch {
      // forbidden, or not what we wrote: begin anew
    }
    const number = (value) => (Number.isSafeInteger(value) && value > 0 ? value : 0);
    this.row = number(kept?.row);
    this.longest = Math.max(this.row, number(kept?.longest));
    this.fens = new Set(Array.isArray(kept?.solved) ? kept.solved : []);
  }

  has(fen) {
    return this.fens.has(fen);
  }

  first(right) {
    this.row = right ? this.row + 1 : 0;
    this.longest = Math.max(this.longest, this.row);
    this.keep();
  }

  solved(fen) {
    this.fens.add(fen);
    this.keep();
  }

  keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify({ row: this.row, longest: this.longest, solved: [...this.fens] }));
    } catch {
      // then it lasts as long as the page is open
    }
  }

  told(all, puzzles) {
    const solved = puzzles.filter(({ fen }) => this.has(fen)).length;
    return `Solved ${solved} of ${all}. In a row at the first try: ${this.row}, at most ${this.longest}.`;
  }
}
