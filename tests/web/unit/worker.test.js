// worker.js with the shipped wasm file, in node: a browser's worker has the same two functions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { parseAgent } from "../../../src/knightfall/web/page/model/agents.js";
import { parseHeuristic } from "../../../src/knightfall/web/page/model/heuristics.js";
import { cellNamed, emptyBoard, parseFen } from "../../../src/knightfall/web/page/model/notation.js";
import { advance, legalMoves, numbers } from "./rules.js";

const folder = new URL("../../../src/knightfall/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));
const about = () => JSON.parse(read("web/engine/engine.json"));
const sums = (...texts) => texts.map((text) => parseHeuristic(text, about().heuristics).terms);

let send;
const sent = [];
const waiting = new Map();

before(async () => {
  globalThis.addEventListener = (_, listener) => {
    send = (data) => listener({ data });
  };
  globalThis.postMessage = (message) => {
    sent.push(structuredClone(message));
    if (!("part" in message)) waiting.get(message.id)(message);
  };
  await import("../../../src/knightfall/web/page/worker.js");
  send({
    load: { wasm: read("web/engine/engine.wasm"), about: about(), atlas: JSON.parse(read("solver/atlas.json")) },
  });
});

let id = 0;

/** Ask the worker; return its answer and the parts that came before. */
async function ask(name, about) {
  const own = ++id;
  const { answer, error } = await new Promise((done) => {
    waiting.set(own, done);
    send({ id: own, ask: name, ...about });
  });
  if (error) throw new Error(error);
  return { answer, parts: sent.filter((one) => one.id === own && "part" in one).map(({ part }) => part) };
}

/** Return the plies of best play, odd if the side to move wins. */
async function plies(position) {
  const lengths = [];
  for (const cell of legalMoves(position)) lengths.push(1 + (await plies(await advance(position, cell))));
  const won = lengths.filter((length) => length % 2);
  return won.length ? Math.min(...won) : Math.max(0, ...lengths);
}

/** Return the truth of a position by searching every game. */
async function naiveTruth(position) {
  const found = {};
  for (const cell of legalMoves(position)) {
    const length = await plies(await advance(position, cell));
    found[cell] = { wins: length % 2 === 0, plies: length + 1 };
  }
  return found;
}

test("the engine plays by the rules", async () => {
  const draw = numbers(3);
  for (const [width, height] of [
    [7, 7],
    [3, 9],
    [8, 8],
    [7, 7],
  ]) {
    let position = emptyBoard(width, height);
    for (let moves = legalMoves(position); moves.length; moves = legalMoves(position)) {
      assert.deepEqual((await ask("look", { position })).answer.moves, moves);
      const illegal = draw(width * height);
      if (!moves.includes(illegal)) assert.equal((await ask("advance", { position, cell: illegal })).answer, null);
      const cell = moves[draw(moves.length)];
      const { answer } = await ask("advance", { position, cell });
      position = await advance(position, cell);
      assert.deepEqual(answer, position);
    }
  }
});

for (const fen of ["4/2N1/4/n3 w", "4/2N1/4/n3 b", "*3/1N2/3n/4 w", "3/3/3/2N[n] b", "3/3/3[Nn] w", "3/1*N/3/n2 w"]) {
  test(`the truth of ${fen} is that of every game`, async () => {
    const position = parseFen(fen);
    const expected = await naiveTruth(position);
    assert.deepEqual((await ask("truth", { position, ms: 0 })).answer, expected);
    if (!/\[/.test(fen)) {
      const { answer } = await ask("verdicts", { position, ms: 0 });
      const wins = Object.entries(expected).map(([cell, one]) => [cell, { wins: one.wins, plies: null }]);
      assert.deepEqual(answer, Object.fromEntries(wins));
    }
  });
}

test("the truth is reported after every move", async () => {
  const position = parseFen("5/1N*2/5/3n1/5 w");
  const { answer, parts } = await ask("truth", { position, ms: 0 });
  const moves = legalMoves(position).length;
  assert.ok(moves > 2);
  assert.equal(parts.length, 2 * moves);
  const winners = parts.slice(0, moves).map((part) => Object.keys(part).length);
  assert.deepEqual(
    winners,
    winners.map((_, at) => at + 1),
  );
  const lengths = parts.slice(moves).map((part) => Object.values(part).filter((one) => one.plies !== null).length);
  assert.deepEqual(
    lengths,
    lengths.map((_, at) => at + 1),
  );
  assert.deepEqual(parts.at(-1), answer);
});

test("before the knights stand, a board with visited cells has no truth in the atlas", async () => {
  for (const fen of ["5/2*2/5/5/5[Nn] w", "5/2*2/5/5/4N[n] b", "***/***/**1[Nn] w"]) {
    assert.deepEqual((await ask("truth", { position: parseFen(fen), ms: 0 })).answer, {}, fen);
  }
});

test("the perfect player wins whatever can be won", async () => {
  const start = parseFen("5/1N3/5/3n1/5 w");
  const agent = { kind: "perfect", ms: 0, seed: 1 };
  const winner = (await plies(parseFen("*****/1N3/5/3n1/***** w"))) % 2 ? "w" : "b";
  const draw = numbers(5);
  let position = parseFen("*****/1N3/5/3n1/***** w");
  for (let moves = legalMoves(position); moves.length; moves = legalMoves(position)) {
    const chosen = position.side === winner ? (await ask("choose", { position, agent })).answer.cell : null;
    position = await advance(position, chosen ?? moves[draw(moves.length)]);
  }
  assert.notEqual(position.side, winner);
  assert.ok((await ask("choose", { position: start, agent })).answer.proven);
});

test("heuristics are asked for the side that moves", async () => {
  const position = parseFen("7/7/1N5/7/7/4n2/7 w");
  const { answer } = await ask("opinions", { position, sums: sums("improved", "-2*open") });
  for (const cell of legalMoves(position)) {
    const next = await advance(position, cell);
    const theirs = legalMoves(next).length;
    const mine = legalMoves({ ...next, side: "w" }).length;
    assert.deepEqual(answer[cell], [mine - theirs, -2 * mine], `move ${cell}`);
  }
});

test("a heuristic changes with the phase, which is that after the move", async () => {
  const position = parseFen("7/7/1N5/7/7/4n2/7 w");
  const texts = [
    "phase*phase*open-(1-phase)*improved",
    "3*stage(45/49: open, improved)",
    "stage(0.93: open, 0.9: null, open)",
  ];
  const { answer } = await ask("opinions", { position, sums: sums(...texts) });
  for (const cell of legalMoves(position)) {
    const next = await advance(position, cell);
    const theirs = legalMoves(next).length;
    const mine = legalMoves({ ...next, side: "w" }).length;
    const phase = 46 / 49;
    const [faded, staged, early] = answer[cell];
    assert.ok(Math.abs(faded - (phase * phase * mine - (1 - phase) * (mine - theirs))) < 1e-12, `move ${cell}`);
    assert.deepEqual([staged, early], [3 * mine, mine], `move ${cell}`);
  }
});

test("an agent searches with a heuristic that changes with the phase", async () => {
  const position = parseFen("7/7/1N5/7/7/4n2/7 w");
  const choice = async (text) =>
    (await ask("choose", { position, agent: parseAgent(text, about().heuristics) })).answer;
  const whole = await choice("id(phase*near_edges+(1-phase)*near_center+bfs_reach, nodes=2500)");
  assert.ok(legalMoves(position).includes(whole.cell));
  assert.ok(whole.nodes <= 2500 && whole.depth > 2);
  // The stage that holds all the time is the heuristic itself.
  assert.deepEqual(await choice("id(stage(1/100: bfs_reach, null), nodes=2500)"), await choice("id(bfs_reach)"));
});

test("the window of open_cluster is returned while it is asked for", async () => {
  const position = parseFen("4***/4***/1N2***/4*2/*3*2/4n1*/1*5 w");
  const cells = (...names) => names.map((name) => cellNamed(position, name));
  const found = async (...texts) => (await ask("cluster", { position, sums: sums(...texts) })).answer;
  const window = await found("open_cluster");
  assert.equal(window.cells.length, 16);
  assert.deepEqual([window.cells[0], window.cells[15]], cells("a7", "d4"));
  assert.deepEqual([window.center], cells("c5"));
  assert.equal(window.blocked, 1); // the knight's
  assert.equal(window.counts, true);
  for (const text of [
    "2*open_cluster-open",
    "stage(0.9: open, open_cluster)",
    "phase*stage(0.3: open_cluster, open)",
  ]) {
    assert.deepEqual(await found("improved", text), window, text);
  }
  for (const text of ["improved", "coded:open_cluster", "open+improved", "stage(0.9: open_cluster, open)"]) {
    assert.equal(await found(text), null, text);
  }
  const start = parseFen("7/7/1N5/7/7/4n2/7 w");
  assert.equal((await ask("cluster", { position: start, sums: sums("open_cluster") })).answer.counts, false);
  assert.equal((await ask("cluster", { position: emptyBoard(7, 7), sums: sums("open_cluster") })).answer, null);
});

test("a question that cannot be answered gets an error", async () => {
  await assert.rejects(ask("nonsense", { position: emptyBoard(7, 7) }));
});
