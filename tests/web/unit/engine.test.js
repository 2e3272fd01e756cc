import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Engine, Stopped } from "../../../src/knightfall/web/page/model/engine.js";

const LOAD = { wasm: new ArrayBuffer(1), about: {}, atlas: {} };
const SOURCE = { worker: "worker.js", load: LOAD };

/** All workers that were started, the last one last. */
let workers = [];

class FakeWorker {
  constructor(address) {
    this.address = address;
    this.received = [];
    this.ended = false;
    workers.push(this);
  }

  postMessage(message) {
    assert.ok(!this.ended, "an ended worker is asked");
    this.received.push(message);
  }

  terminate() {
    this.ended = true;
  }

  /** Answer the question that was asked as number `at`; message 0 is what the worker loads. */
  reply(at, content) {
    this.onmessage({ data: { id: this.received[at].id, ...content } });
  }
}

beforeEach(() => {
  workers = [];
  globalThis.Worker = FakeWorker;
});

test("the worker is started by the first question, and only by that", async () => {
  const engine = new Engine(SOURCE);
  assert.equal(workers.length, 0);
  const first = engine.ask("look", { position: 1 });
  const second = engine.ask("advance", { position: 2, cell: 3 });
  assert.equal(workers.length, 1);
  const [worker] = workers;
  assert.equal(worker.address, "worker.js");
  assert.deepEqual(worker.received[0], { load: LOAD });
  const [, one, two] = worker.received;
  assert.deepEqual({ ...one, id: 0 }, { id: 0, ask: "look", position: 1 });
  assert.deepEqual({ ...two, id: 0 }, { id: 0, ask: "advance", position: 2, cell: 3 });
  worker.reply(2, { answer: "second" });
  worker.reply(1, { answer: "first" });
  assert.deepEqual(await Promise.all([first, second]), ["first", "second"]);
});

test("an answer may be null or empty", async () => {
  const engine = new Engine(SOURCE);
  const answers = [engine.ask("advance", {}), engine.ask("verdicts", {})];
  workers[0].reply(1, { answer: null });
  workers[0].reply(2, { answer: {} });
  assert.deepEqual(await Promise.all(answers), [null, {}]);
});

test("parts are passed on to the question that they belong to, until its answer", async () => {
  const engine = new Engine(SOURCE);
  const parts = [];
  const truth = engine.ask("truth", {}, (part) => parts.push(part));
  const other = engine.ask("line", {}, () => assert.fail("a part of another question"));
  const silent = engine.ask("line", {});
  const [worker] = workers;
  worker.reply(1, { part: { 3: "a" } });
  worker.reply(3, { part: [1] });
  worker.reply(1, { part: { 3: "a", 4: "b" } });
  assert.deepEqual(parts, [{ 3: "a" }, { 3: "a", 4: "b" }]);
  for (const at of [1, 2, 3]) worker.reply(at, { answer: at });
  assert.deepEqual(await Promise.all([truth, other, silent]), [1, 2, 3]);
  worker.reply(1, { part: "late" });
  assert.equal(parts.length, 2);
});

test("an error rejects its question alone", async () => {
  const engine = new Engine(SOURCE);
  const bad = engine.ask("choose", {});
  const good = engine.ask("look", {});
  workers[0].reply(1, { error: "no such heuristic" });
  workers[0].reply(2, { answer: 5 });
  await assert.rejects(bad, (error) => !(error instanceof Stopped) && error.message === "no such heuristic");
  assert.equal(await good, 5);
});

test("stop ends the worker and rejects every open question with Stopped", async () => {
  const engine = new Engine(SOURCE);
  const answered = engine.ask("look", {});
  workers[0].reply(1, { answer: "known" });
  const open = [engine.ask("truth", {}), engine.ask("line", {})];
  const results = Promise.allSettled(open);
  engine.stop();
  assert.ok(workers[0].ended);
  for (const { status, reason } of await results) {
    assert.equal(status, "rejected");
    assert.ok(reason instanceof Stopped);
    assert.ok(reason instanceof Error);
  }
  assert.equal(await answered, "known");
});

test("stop leaves a worker alone that has nothing to do", async () => {
  const engine = new Engine(SOURCE);
  engine.stop();
  const answer = engine.ask("look", {});
  workers[0].reply(1, { answer: 1 });
  await answer;
  engine.stop();
  assert.ok(!workers[0].ended);
  const next = engine.ask("look", {});
  assert.equal(workers.length, 1);
  workers[0].reply(2, { answer: 2 });
  assert.equal(await next, 2);
});

test("the question after stop starts another worker, which loads everything again", async () => {
  const engine = new Engine(SOURCE);
  const given = engine.ask("truth", {});
  engine.stop();
  await assert.rejects(given, Stopped);
  const again = engine.ask("truth", {});
  assert.equal(workers.length, 2);
  assert.deepEqual(workers[1].received[0], { load: LOAD });
  workers[0].reply(1, { answer: "of the old worker" });
  workers[1].reply(1, { answer: "of the new worker" });
  assert.equal(await again, "of the new worker");
});

test("a worker that fails rejects all questions with its words", async () => {
  const engine = new Engine(SOURCE);
  const results = Promise.allSettled([engine.ask("look", {}), engine.ask("truth", {})]);
  workers[0].onerror({ message: "out of memory" });
  for (const { reason } of await results) assert.equal(reason.message, "The engine failed: out of memory");
});
