import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOf, outlook } from "../../../src/knightfall/web/page/model/marks.js";
import {
  bandOf,
  dayOf,
  Puzzles,
  puzzleOfDay,
  readRecord,
  streak,
} from "../../../src/knightfall/web/page/model/puzzles.js";
import { initialState, Store } from "../../../src/knightfall/web/page/model/store.js";
import { EngineDouble, settled } from "./engine_double.js";

const LADDER = [{ name: "Beginner", agent: "random", elo: 0, error: 9, usual: true }];
const puzzle = (fen, grade, themes) => ({
  fen,
  solution: "",
  plies: 3,
  grade,
  misses: [1],
  game: [1, 0, 0, 3],
  themes,
});
const DATA = {
  rungs: ["Beginner"],
  tries: 20,
  puzzles: [
    puzzle("1Nn1/1*2/4/4 w", 10, ["hunter"]),
    puzzle("2N1/1*n1/4/4 b", 40, ["runner", "race"]),
    puzzle("4/N*1n/4/4 w", 90, ["hunter", "mirror"]),
  ],
};

function room(date = new Date(2026, 10, 18)) {
  const store = new Store(initialState(LADDER));
  const clock = { date };
  const made = new Puzzles(
    store,
    new EngineDouble(),
    new EngineDouble(),
    [],
    async () => DATA,
    () => clock.date,
  );
  return { store, puzzles: made, clock };
}

test("a day is of the calendar on the wall", () => {
  assert.equal(dayOf(new Date(2026, 0, 5, 23, 59)), "2026-01-05");
  assert.equal(dayOf(new Date(2026, 0, 5, 0, 0)), "2026-01-05");
});

test("every puzzle has its day before one comes again", () => {
  const days = Array.from({ length: 300 }, (_, day) => dayOf(new Date(2026, 10, 18 + day, 12)));
  assert.equal(new Set(days.map((day) => puzzleOfDay(day, 300))).size, 300);
});

test("a streak counts days in a row, across months, and waits for today", () => {
  const days = ["2026-10-30", "2026-10-31", "2026-11-01"];
  assert.equal(streak(days, "2026-11-01"), 3);
  assert.equal(streak(days, "2026-11-02"), 3); // today's is still open
  assert.equal(streak(days, "2026-11-03"), 0);
  assert.equal(streak(["2026-10-30", "2026-11-01"], "2026-11-01"), 1);
  assert.equal(streak([], "2026-11-01"), 0);
});

test("difficulties by the percentage of misses", () => {
  assert.deepEqual(
    [0, 29, 30, 59, 60, 100].map((grade) => bandOf({ grade })),
    ["easy", "easy", "medium", "medium", "hard", "hard"],
  );
});

test("a stored record that is not ours is begun anew", () => {
  for (const bad of [null, 3, "x", { row: -1, solved: 3, days: ["yesterday", "2026-99-99"] }]) {
    assert.deepEqual(readRecord(bad), { row: 0, longest: 0, solved: [], days: [] });
  }
  assert.deepEqual(readRecord({ row: 3, longest: 1 }), { row: 3, longest: 3, solved: [], days: [] });
});

test("difficulty and theme choose among the puzzles, and the way goes around", async () => {
  const { puzzles } = room();
  await puzzles.show("1");
  assert.deepEqual(puzzles.wanted, [1, 2, 3]);
  assert.equal(puzzles.beside(-1), 3);
  assert.equal(puzzles.filter({ theme: "hunter" }), undefined); // the puzzle on the board has it
  assert.deepEqual(puzzles.wanted, [1, 3]);
  assert.equal(puzzles.beside(1), 3);
  assert.equal(puzzles.filter({ band: "medium" }), undefined); // no puzzle has it: a message says so
  assert.match(puzzles.state.message.text, /No puzzle has this difficulty and theme/);
  assert.equal(puzzles.filter({ theme: "race" }), 2);
});

/** Answer the puzzle on the board rightly, by brute force. */
async function solve(puzzles) {
  const { position } = puzzles.state.now;
  const truth = await new EngineDouble().answer("verdicts", { position });
  await puzzles.answer(Number(Object.keys(truth).find((cell) => truth[cell].wins)));
  await settled();
}

test("the daily puzzle counts for its day, once, and only if it is solved", async () => {
  const { puzzles, clock } = room();
  await puzzles.show("today");
  const number = puzzleOfDay("2026-11-18", 3);
  assert.equal(puzzles.state.now.number, number);
  await solve(puzzles);
  assert.deepEqual(puzzles.state.record.days, ["2026-11-18"]);
  await puzzles.again();
  await solve(puzzles);
  assert.deepEqual(puzzles.state.record.days, ["2026-11-18"]);
  await puzzles.show(String((number % 3) + 1)); // only the daily puzzle counts
  await solve(puzzles);
  assert.deepEqual(puzzles.state.record.days, ["2026-11-18"]);
  clock.date = new Date(2026, 10, 19);
  await puzzles.show("today");
  assert.equal(puzzles.state.now.number, puzzleOfDay("2026-11-19", 3));
});

test("only the first answer counts for the row", async () => {
  const { puzzles } = room();
  await puzzles.show("1");
  const { position } = puzzles.state.now;
  const truth = await new EngineDouble().answer("verdicts", { position });
  const bad = Number(Object.keys(truth).find((cell) => !truth[cell].wins));
  await puzzles.answer(bad);
  assert.match(puzzles.state.message.text, /loses in 2 plies: the reply is/);
  assert.equal(puzzles.state.now.marks[bad].kind, "lost");
  await solve(puzzles);
  assert.equal(puzzles.state.record.row, 0);
  assert.equal(puzzles.state.record.solved.length, 1);
});

test("an unknown number says so and shows today's", async () => {
  const { puzzles } = room();
  for (const word of ["0", "4", "1e9", "<b>"]) {
    await puzzles.show(word);
    assert.match(puzzles.state.message.text, /There is no puzzle/);
    assert.equal(puzzles.state.now.number, puzzleOfDay("2026-11-18", 3));
    puzzles.set({ now: null });
  }
});

test("the outlook says who wins as soon as that is known, and how soon when all is", () => {
  const [win, loss] = [
    { wins: true, plies: 5 },
    { wins: false, plies: 8 },
  ];
  assert.deepEqual(outlook(null, [1, 2], "w"), { winner: null, known: 0, plies: null });
  assert.deepEqual(outlook({ 1: loss }, [1, 2], "w"), { winner: null, known: 1, plies: null });
  assert.deepEqual(outlook({ 1: win }, [1, 2], "w"), { winner: "w", known: 1, plies: null });
  assert.deepEqual(outlook({ 1: loss, 2: win }, [1, 2], "b"), { winner: "b", known: 2, plies: 5 });
  assert.deepEqual(outlook({ 1: loss, 2: { wins: false, plies: 12 } }, [1, 2], "b"), {
    winner: "w",
    known: 2,
    plies: 12,
  });
  assert.deepEqual(outlook({}, [], "b"), { winner: null, known: 0, plies: null });
});

test("a favourite that loses is marked only where another move wins", () => {
  const opinions = { 1: [3], 2: [7] };
  const marks = marksOf({ 1: { wins: true, plies: 1 }, 2: { wins: false, plies: 2 } }, opinions, ["open"]);
  assert.deepEqual(marks[2].lines, ["✗2", "7 !"]);
  assert.match(marks[2].description, /loses in 2 plies, open 7, its choice, against the truth/);
  const lost = marksOf({ 1: { wins: false, plies: 2 }, 2: { wins: false, plies: 2 } }, opinions, ["open"]);
  assert.deepEqual(lost[2].lines, ["✗2", "7"]);
});
