// worker.js with the shipped wasm file, in node: a browser's worker has the same two functions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { emptyBoard, parseFen } from "../../../src/knightfall/web/page/model/notation.js";
import { advance, legalMoves, numbers } from "./rules.js";

const folder = new URL("../../../src/knightfall/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

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
  const about = JSON.parse(read("web/engine/engine.json"));
  send({ load: { wasm: read("web/engine/engine.wasm"), about, atlas: JSON.parse(read("solver/atlas.json")) } });
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
  const { answer } = await ask("opinions", { position, sums: [[[1, "improved", 0]], [[-2, "open", 0]]] });
  for (const cell of legalMoves(position)) {
    const next = await advance(position, cell);
    const theirs = legalMoves(next).length;
    const mine = legalMoves({ ...next, side: "w" }).length;
    assert.deepEqual(answer[cell], [mine - theirs, -2 * mine], `move ${cell}`);
  }
});

test("a question that cannot be answered is told so", async () => {
  await assert.rejects(ask("nonsense", { position: emptyBoard(7, 7) }));
});
