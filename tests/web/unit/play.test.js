import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { BestLinePreview } from "../../../src/knightfall/web/page/model/best_line.js";
import { readGames, scores, withGame } from "../../../src/knightfall/web/page/model/games.js";
import { merged } from "../../../src/knightfall/web/page/model/keep.js";
import { cellNamed, formatFen } from "../../../src/knightfall/web/page/model/notation.js";
import { Play } from "../../../src/knightfall/web/page/model/play.js";
import { Review } from "../../../src/knightfall/web/page/model/review.js";
import { statusOf, stripOf } from "../../../src/knightfall/web/page/model/status.js";
import { initialState, isChoice, Store } from "../../../src/knightfall/web/page/model/store.js";
import { EngineDouble, settled } from "./engine_double.js";

const LADDER = [
  { name: "Beginner", agent: "random", elo: -100, error: 9, usual: true },
  { name: "Perfect", agent: "perfect", elo: 100, error: 9, usual: false },
];

let store;
let play;
let shown;
let engines;

beforeEach(() => {
  store = new Store(initialState(LADDER));
  engines = {
    rules: new EngineDouble(),
    solver: new EngineDouble(),
    guide: new EngineDouble(),
    opponent: new EngineDouble(),
  };
  shown = [];
  const browser = {
    show: (address, kept, another) => shown.push({ address, kept, another }),
    kept: () => ({}),
    pause: async () => {},
    now: () => 1000 + shown.length,
  };
  play = new Play(store, engines, [], browser);
});

const said = () => (store.state.message ?? statusOf(store.state))?.text;
const moves = () => play.address.match(/moves=([\w.]*)/)[1];
const cell = (name) => cellNamed(play.position, name);
const open = async (address) => {
  await play.setup.open(address);
  await settled();
};

// -- the store ---------------------------------------------------------------------------------------

test("several changes of one task are drawn once, and only by those who watch them", async () => {
  const drawn = [];
  store.watch(
    (state) => [state.mode],
    ({ mode }) => drawn.push(`mode ${mode}`),
  );
  store.watch(
    (state) => [state.busy, state.thinking],
    ({ busy, thinking }) => drawn.push(`${busy} ${thinking}`),
  );
  assert.deepEqual(drawn, ["mode play", "false false"]);
  store.set({ busy: true });
  store.set({ thinking: true });
  await settled();
  assert.deepEqual(drawn.slice(2), ["true true"]);
  store.set({ busy: true });
  await settled();
  assert.equal(drawn.length, 3);
});

test("a change that a listener makes is drawn, too", async () => {
  const drawn = [];
  store.watch(
    (state) => [state.busy],
    ({ busy }) => busy && store.set({ thinking: true }),
  );
  store.watch(
    (state) => [state.thinking],
    ({ thinking }) => drawn.push(thinking),
  );
  store.set({ busy: true });
  await settled();
  assert.deepEqual(drawn, [false, true]);
});

// -- games -------------------------------------------------------------------------------------------

test("the opponent answers, and the address has it all", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  await play.choose(cell("b3"));
  await settled();
  assert.equal(store.state.game.tree.line().length, 4);
  assert.equal(play.position.side, "w");
  const last = shown[shown.length - 1];
  assert.equal(last.address, play.address);
  assert.match(last.address, /vs=random&you=w/);
  assert.match(said(), /^Beginner moves to \w\d\. You to move, \d moves?\.$/);
});

test("an illegal cell changes nothing and is named", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  await play.choose(cell("e5"));
  assert.equal(moves(), "a1.b1");
  assert.equal(said(), "e5 is not a legal move.");
});

test("a second click while the first is carried out does nothing", async () => {
  await open("board=5x5&moves=a1.b1");
  await Promise.all([play.choose(cell("b3")), play.choose(cell("c2"))]);
  assert.equal(moves(), "a1.b1.b3");
});

test("undo while the opponent thinks takes your move back, and its late answer is not played", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  engines.opponent.held = [];
  const moving = play.choose(cell("b3"));
  await settled();
  assert.equal(store.state.thinking, true);
  assert.equal(said(), "Beginner is thinking …");
  await play.undo();
  await moving;
  await settled();
  assert.equal(moves(), "a1.b1");
  assert.equal(store.state.thinking, false);
  engines.opponent.held = null;
  await play.choose(cell("c2")); // the game continues
  await settled();
  assert.equal(store.state.game.tree.line().length, 4);
});

test("undo leaves knights where they were placed at random, and moves them where you placed them", async () => {
  store.set({ choice: { ...store.state.choice, placement: "random" } });
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  assert.equal(play.undone, null);
  store.set({ choice: { ...store.state.choice, placement: "free" } });
  assert.equal(play.undone, play.tree.root);
});

test("redo goes on to your turn, and a click where the opponent's move is known steps on", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  await play.choose(cell("b3"));
  await settled();
  const whole = moves();
  await play.undo();
  assert.equal(moves(), "a1.b1");
  await play.redo();
  assert.equal(moves(), whole);
  await play.goTo(play.tree.line()[2]); // your own move
  await settled();
  assert.equal(store.state.thinking, false); // the reply was played: the opponent is not asked again
  assert.match(said(), /^Beginner went to \w\d here/);
  await play.choose(cell("a1"));
  assert.equal(moves(), whole);
});

test("an opponent that fails can be asked again by a click", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  const { answer } = engines.opponent;
  engines.opponent.answer = async () => {
    throw new Error("The server does not answer.");
  };
  await play.choose(cell("b3"));
  await settled();
  assert.match(said(), /^The server does not answer\. Click the board/);
  engines.opponent.answer = answer;
  await play.choose(cell("e5"));
  await settled();
  assert.equal(store.state.game.tree.line().length, 4);
});

test("resigning ends the game, and undo takes it back", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w");
  await play.resign();
  assert.equal(said(), "Beginner won: You resigned.");
  assert.match(play.address, /resigned=w/);
  await play.undo();
  assert.equal(store.state.game.resigned, null);
  assert.equal(moves(), "a1.b1");
});

test("a broken address says so and leaves an empty board to play on", async () => {
  await open("moves=d4.d4");
  assert.match(said(), /^This address cannot be read: “d4” is not a legal move here\./);
  assert.equal(store.state.busy, false);
  assert.equal(store.state.look.seen.moves.length, 49);
});

test("a later address wins over one that is still being read", async () => {
  const slow = play.setup.open("board=5x5&moves=a1.b1");
  const quick = play.setup.open("board=6x6&moves=a1.b1");
  await Promise.all([slow, quick]);
  assert.equal(play.position.width, 6);
  assert.equal(store.state.busy, false);
});

test("an opponent that cannot be read is named in the dialog, which stays open", async () => {
  play.setup.ask(false);
  store.set({ choice: { ...store.state.choice, opponent: "own", agent: "nobody(1)" } });
  await play.setup.start();
  assert.match(store.state.wrong, /nobody/);
  assert.equal(store.state.dialog, "new");
});

test("a stored opponent that is not here any more is replaced, and that is said", async () => {
  store.set({ choice: { ...store.state.choice, opponent: "id(mine.py:cosy, nodes=2500)" } });
  await play.setup.start();
  await settled();
  assert.equal(store.state.game.agent.text, "random");
  assert.match(said(), /mine.*You play against Beginner\.$/);
  assert.ok(store.state.look);
});

test("a stored choice that the dialog cannot make is recognised", () => {
  const { choice } = store.state;
  assert.equal(isChoice(choice), true);
  for (const changes of [{ board: "99x99" }, { seat: "x" }, { placement: "" }]) {
    assert.equal(isChoice({ ...choice, ...changes }), false);
  }
});

test("play from here begins at the position, and the game before is a step back", async () => {
  await open("board=5x5&moves=a1.b1.b3");
  const fen = formatFen(play.position);
  play.setup.ask(true);
  store.set({ choice: { ...store.state.choice, opponent: "random", seat: "b" } });
  await play.setup.start();
  await settled();
  assert.equal(formatFen(play.tree.root.position), fen);
  assert.equal(shown[shown.length - 1].another, true);
  assert.equal(store.state.mode, "play");
});

test("either side is drawn, and a random opening has a move", async () => {
  const seats = new Set();
  for (let time = 0; time < 20; time++) {
    store.set({ choice: { ...store.state.choice, seat: "any", board: "4x7" } });
    await play.setup.start();
    seats.add(store.state.game.you);
    assert.ok(store.state.look.seen.moves.length);
  }
  assert.deepEqual([...seats].sort(), ["b", "w"]);
});

// -- teaching ----------------------------------------------------------------------------------------

// White to move on 4×4: brute force finds one move that wins and two that lose.
const CHOICE = "fen=2N1/1*2/n3/4+w&moves=";

async function sides() {
  const truth = await engines.guide.answer("verdicts", { position: play.position });
  const named = (wins) =>
    Object.keys(truth)
      .map(Number)
      .find((one) => truth[one].wins === wins);
  return { good: named(true), bad: named(false) };
}

test("teaching takes a blunder back, says so, and does not name the move that keeps the win", async () => {
  store.set({ settings: { ...store.state.settings, help: "teach" } });
  await open(`${CHOICE}&vs=random&you=w`);
  const { good, bad } = await sides();
  assert.notEqual(bad, undefined);
  const start = play.node;
  await play.choose(bad);
  await settled();
  assert.equal(play.node, start);
  assert.match(said(), /throws the win away\. Try again/);
  assert.equal(engines.opponent.asked.length, 0); // the opponent was not asked about the blunder
  await play.redo(); // Redo plays the blunder nevertheless
  await settled();
  assert.equal(play.tree.line()[0].cell, bad);
  await play.goTo(start);
  await play.choose(good);
  assert.equal(play.tree.line()[0].cell, good);
});

test("the mistakes of a game are found, gone to and done better", async () => {
  await open(CHOICE);
  const { good, bad } = await sides();
  const review = new Review(play);
  await play.choose(bad);
  await review.findMistakes();
  assert.equal(said(), "1 move threw a win away (??).");
  const [wrong] = play.tree.line();
  assert.deepEqual([wrong.blunder, wrong.winner], [true, "b"]);
  await review.retry();
  assert.match(said(), /Find the move that keeps it \(1 left\)/);
  await review.answer(bad);
  assert.match(said(), /loses, too\. Try another one/);
  await review.answer(good);
  assert.match(said(), /keeps the win\. That was the last mistake/);
  assert.equal(store.state.retry, null);
  assert.deepEqual(
    play.tree.root.children.map((node) => node.cell),
    [bad, good],
  );
});

test("a game that is over is judged: who was winning, and the last mistake of yours", async () => {
  await open(`${CHOICE}&vs=random&you=w`);
  const { good, bad } = await sides();
  await play.choose(bad);
  await settled();
  while (!store.state.verdict?.done) {
    await play.choose(store.state.look.seen.moves[0]);
    await settled();
  }
  const { winner, mistake } = store.state.verdict;
  assert.equal(winner, "w");
  assert.equal(mistake.node.cell, bad);
  assert.deepEqual(mistake.better, [good]);
});

test("while analysing you move both knights, and the game that is listed stays as it was", async () => {
  await open(`${CHOICE}&vs=random&you=w`);
  await play.choose(store.state.look.seen.moves[0]);
  await settled();
  const listed = store.state.games[0].address;
  await play.setMode("analyse");
  const plies = play.tree.line().length;
  await play.choose(store.state.look.seen.moves[0]);
  await settled();
  assert.equal(play.tree.line().length, plies + 1);
  assert.equal(store.state.thinking, false);
  assert.equal(store.state.games[0].address, listed);
  await play.undo(); // one move back, of either side
  assert.equal(play.tree.line().length, plies);
  await play.redo();
  await play.setMode("play"); // the opponent replies from there
  await settled();
  assert.equal(play.position.side === "w" || store.state.look.seen.moves.length === 0, true);
});

test("the mode is kept with the address, and a reload finds it again", async () => {
  await open(`${CHOICE}&vs=random&you=w`);
  await play.setMode("analyse");
  assert.equal(shown[shown.length - 1].kept.mode, "analyse");
  play.browser.kept = () => shown[shown.length - 1].kept;
  await open(`${CHOICE}&vs=random&you=w`);
  assert.equal(store.state.mode, "analyse");
});

test("a position for which there was no time is neither called won nor lost", async () => {
  await open(CHOICE);
  const { bad } = await sides();
  engines.guide.answer = async () => ({ [bad]: { wins: false, plies: null } });
  assert.equal(await play.study.winnerBy(play.position), null);
});

test("a game that is over says no more about clicks", async () => {
  await open("board=5x5&moves=a1.b1&vs=random&you=w&resigned=w");
  await play.choose(cell("b3"));
  assert.equal(said(), "Beginner won: You resigned.");
  assert.equal(moves(), "a1.b1");
});

test("the answer is hidden while a mistake is tried again, and the right move stands at the end", async () => {
  store.set({ settings: { ...store.state.settings, truth: true } });
  await open(CHOICE);
  const { good, bad } = await sides();
  const review = new Review(play);
  await play.choose(bad);
  await review.findMistakes();
  await review.retry();
  await settled();
  assert.equal(store.state.look.truth, null);
  await review.answer(good);
  await settled();
  assert.equal(play.node.cell, good);
  assert.equal(store.state.look.node, play.node);
});

// -- what is shown -----------------------------------------------------------------------------------

test("the truth is asked only while analysing, and not before your move if you want it after", async () => {
  store.set({ settings: { ...store.state.settings, truth: true } });
  await open(`${CHOICE}&vs=random&you=w`);
  assert.equal(store.state.mode, "play");
  assert.equal(store.state.look.truth, null);
  await play.setMode("analyse");
  assert.equal(Object.keys(store.state.look.truth).length, 3);
  store.set({ settings: { ...store.state.settings, help: "after" } });
  await play.study.analyse();
  assert.equal(store.state.look.truth, null);
});

test("an answer about a position that was left is not shown", async () => {
  store.set({ settings: { ...store.state.settings, truth: true } });
  await open(CHOICE);
  engines.rules.held = [];
  const going = play.goTo(play.tree.root);
  const [first] = engines.rules.held;
  engines.rules.held = null;
  const { good } = await sides();
  await play.move(good);
  first.go();
  await going;
  await settled();
  assert.equal(store.state.look.node, play.node);
});

test("changing a layer does not ask for the same truth twice", async () => {
  store.set({ settings: { ...store.state.settings, truth: true } });
  engines.solver.held = [];
  await open(CHOICE);
  await Promise.all([settled(), play.study.analyse()]);
  assert.equal(engines.solver.asked.filter((name) => name === "truth").length, 1);
});

test("the strips tell names, turn, role and mobility", async () => {
  await open("board=5x5&moves=a1.b1&vs=perfect&you=b");
  assert.deepEqual(stripOf(store.state, "b").name, "You (Black)");
  assert.deepEqual(stripOf(store.state, "w").name, "Perfect (White)");
  assert.equal(stripOf(store.state, "b").doing, "to move");
  assert.match(stripOf(store.state, "b").facts, /^runner · \d moves?$/);
});

test("a line of best play is stepped through, and stops at its ends", async () => {
  store.set({ settings: { ...store.state.settings, truth: true } });
  await open(CHOICE);
  const preview = new BestLinePreview(play, () => false);
  const { good } = await sides();
  engines.guide.answer = async () => [good, 5, 6];
  await preview.look(good);
  assert.deepEqual(store.state.line.cells, [good, 5, 6]);
  for (const [way, step] of [
    [1, 2],
    [1, 3],
    [1, 3],
    [-1, 2],
    [-1, 1],
    [-1, 1],
  ]) {
    preview.walk(way);
    assert.equal(store.state.line.shown, step);
  }
});

test("a challenge starts where the game did, with its opponent, and says if it is lost", async () => {
  await open(`${CHOICE}&vs=perfect&you=w`);
  const { good } = await sides();
  await play.choose(good);
  await settled();
  const { address, name, lost } = await play.challenge();
  assert.equal(name, "Perfect");
  assert.equal(lost, false);
  await open(address);
  assert.equal(play.tree.root.children.length, 0);
  assert.match(said(), /^Challenge: beat Perfect from here\. You to move\. You are White/);
  store.set({ game: { ...store.state.game, you: "b" } });
  assert.equal((await play.challenge()).lost, true);
});

// -- the list of games -------------------------------------------------------------------------------

test("a game is listed once you have moved, and only once", async () => {
  await open(`${CHOICE}&vs=random&you=w`);
  assert.deepEqual(store.state.games, []);
  await play.choose(store.state.look.seen.moves[0]);
  await settled();
  await play.resign();
  assert.equal(store.state.games.length, 1);
  const [game] = store.state.games;
  assert.deepEqual([game.vs, game.you, game.winner], ["random", "w", "b"]);
  assert.equal(game.address, play.address);
});

test("positions that are only looked at are not listed", async () => {
  await open("board=5x5&moves=a1.b1");
  await play.choose(cell("b3"));
  assert.deepEqual(store.state.games, []);
});

test("the list keeps its length, replaces by id, and reads only what it wrote", () => {
  const game = (id) => ({ id, address: "moves=a1", vs: "random", you: "w", winner: "w", plies: 3, time: 1 });
  let games = [];
  for (let number = 0; number < 300; number++) games = withGame(games, game(String(number)));
  assert.equal(games.length, 200);
  games = withGame(games, { ...game("250"), winner: "b" });
  assert.equal(games.length, 200);
  assert.equal(games[0].id, "250");
  assert.deepEqual(scores(games), [{ vs: "random", won: 199, lost: 1 }]);
  assert.deepEqual(readGames(JSON.parse(JSON.stringify(games))), games);
  for (const bad of [null, 7, "x", [7, null, {}], [{ ...game("a"), you: "x" }], [{ ...game("a"), address: "/lab" }]]) {
    assert.deepEqual(readGames(bad), []);
  }
});

test("stored settings of another kind are ignored", () => {
  assert.deepEqual(merged({ a: true, b: "x" }, { a: 1, b: "y", c: 3 }), { a: true, b: "y" });
  assert.deepEqual(merged({ a: true }, null), { a: true });
});
