import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAgent } from "../../../src/knightfall/web/page/model/agents.js";
import { parseHeuristic } from "../../../src/knightfall/web/page/model/heuristics.js";

const HEURISTICS = [
  { id: "sum" },
  { id: "null", parameter: false },
  { id: "open", parameter: false },
  { id: "improved", parameter: false },
  { id: "coded:main", parameter: false },
  { id: "static_reach", parameter: true },
];
const agent = (text) => parseAgent(text, HEURISTICS);
const limits = ({ method, depth, nodes, ms, seed }) => ({ method, depth, nodes, ms, seed });

const GOOD = [
  ["random", { method: "any_move", depth: 1, nodes: 0, ms: 0, seed: 0 }],
  ["random(seed=7)", { method: "any_move", depth: 1, nodes: 0, ms: 0, seed: 7 }],
  ["greedy(improved)", { method: "alphabeta", depth: 1, nodes: 0, ms: 0, seed: 0 }],
  ["minimax(open)", { method: "minimax", depth: 3, nodes: 0, ms: 0, seed: 0 }],
  ["minimax(open, depth=4)", { method: "minimax", depth: 4, nodes: 0, ms: 0, seed: 0 }],
  ["alphabeta(improved)", { method: "alphabeta", depth: 5, nodes: 0, ms: 0, seed: 0 }],
  ["alphabeta(depth = 6 , improved)", { method: "alphabeta", depth: 6, nodes: 0, ms: 0, seed: 0 }],
  ["id(improved)", { method: "deepening", depth: 0, nodes: 2500, ms: 0, seed: 0 }],
  ["id(improved, nodes=50000)", { method: "deepening", depth: 0, nodes: 50000, ms: 0, seed: 0 }],
  ["id(improved, time=150ms)", { method: "deepening", depth: 0, nodes: 0, ms: 150, seed: 0 }],
  ["id(improved, time=0.5s)", { method: "deepening", depth: 0, nodes: 0, ms: 500, seed: 0 }],
  ["id(improved, time=2000us)", { method: "deepening", depth: 0, nodes: 0, ms: 2, seed: 0 }],
  ["id(improved, time=60s)", { method: "deepening", depth: 0, nodes: 0, ms: 60000, seed: 0 }],
  ["id(improved, depth=8)", { method: "deepening", depth: 8, nodes: 0, ms: 0, seed: 0 }],
  ["id(improved, plain)", { method: "plain_deepening", depth: 0, nodes: 2500, ms: 0, seed: 0 }],
  ["id(improved, nodes=50000000)", { method: "deepening", depth: 0, nodes: 50000000, ms: 0, seed: 0 }],
  ["alphabeta(improved, depth=64)", { method: "alphabeta", depth: 64, nodes: 0, ms: 0, seed: 0 }],
  ["id(improved, time=1us)", { method: "deepening", depth: 0, nodes: 0, ms: 0.001, seed: 0 }],
  ["  perfect  ", { method: "perfect", depth: 0, nodes: 0, ms: 1500, seed: 0 }],
  ["perfect(time=5s)", { method: "perfect", depth: 0, nodes: 0, ms: 5000, seed: 0 }],
];

for (const [text, expected] of GOOD) {
  test(`${text.trim()} is an agent`, () => {
    const found = agent(text);
    assert.deepEqual(limits(found), expected);
    assert.equal(found.text, text.trim());
    assert.equal(found.kind, /\w+/.exec(text)[0]);
  });
}

test("an agent's heuristic is that of its string", () => {
  for (const heuristic of [
    "2*improved-open",
    "phase*open+(1-phase)*improved",
    "stage(0.7: improved, 0.2: static_reach(1/2), open)",
  ]) {
    const { terms } = parseHeuristic(heuristic, HEURISTICS);
    assert.deepEqual(agent(`id(${heuristic}, nodes=9)`).terms, terms);
    assert.deepEqual(agent(`alphabeta(depth=3, ${heuristic})`).terms, terms);
  }
  assert.deepEqual(agent("random").terms, parseHeuristic("null", HEURISTICS).terms);
  assert.deepEqual(agent("perfect").terms, parseHeuristic("improved", HEURISTICS).terms);
});

test("a heuristic is written in one way in the string of its agent, which reads back as itself", () => {
  for (const [typed, text] of [
    ["id( phase * open + ( 1 - phase ) * improved , nodes=9)", "id( phase*open+(1-phase)*improved , nodes=9)"],
    ["greedy(stage(0.5:open,improved))", "greedy(stage(1/2: open, improved))"],
    ["id(nodes=9, 2 * open)", "id(nodes=9, 2*open)"],
  ]) {
    assert.equal(agent(typed).text, text);
    assert.deepEqual(agent(text), agent(typed));
  }
});

test("every opponent of the ladder plays in a browser", () => {
  const folder = new URL("../../../src/knightfall/web/", import.meta.url);
  const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  const { heuristics, methods } = read("engine/engine.json");
  const rungs = read("ladder.json").filter((rung) => rung.agent);
  assert.ok(rungs.length > 3);
  for (const rung of rungs) {
    const { kind, method } = parseAgent(rung.agent, heuristics);
    assert.ok(kind === "perfect" || methods.includes(method), rung.agent);
  }
});

const BAD = [
  ["", /“” is not an agent: write random, greedy/],
  ["!", /“!” is not an agent/],
  ["id(improved", /is not an agent/],
  ["Random", /is not an agent/],
  ["id improved", /is not an agent/],
  ["mcts(improved)", /“mcts” does not play in a browser/],
  ["constructor", /“constructor” does not play in a browser/],
  ["random(open)", /random takes no heuristic/],
  ["perfect(improved)", /perfect takes no heuristic/],
  ["id", /id needs one heuristic, as in id\(improved\)/],
  ["id()", /id needs one heuristic/],
  ["greedy(open, improved)", /greedy needs one heuristic/],
  ["id(nothing)", /“nothing” is not a heuristic of the engine/],
  ["id(stage(0.5: open), nodes=9)", /The last of the stages, which has no threshold, is missing/],
  ["id(phase, nodes=9)", /phase alone is not a heuristic/],
  ["id(improved, nodes=many)", /“nodes=many” cannot be read/],
  ["id(improved, nodes=-1)", /“nodes=-1” cannot be read/],
  ["id(improved, nodes=1.2.3)", /“nodes=1.2.3” cannot be read/],
  ["id(improved, nodes=100ms)", /“nodes=100ms” cannot be read/],
  ["id(improved, depth=5s)", /“depth=5s” cannot be read/],
  ["id(improved, time=150)", /write time=150ms, up to 60s/],
  ["id(improved, time=0ms)", /write time=150ms/],
  ["id(improved, time=61s)", /write time=150ms, up to 60s/],
  ["alphabeta(improved, plain)", /“plain” cannot be read/],
  ["alphabeta(improved, depth=65)", /At most depth=64/],
  ["id(improved, nodes=50000001)", /At most depth=64/],
];

for (const [text, message] of BAD) {
  test(`“${text}” is not an agent`, () => assert.throws(() => agent(text), { message }));
}
