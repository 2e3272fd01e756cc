import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAgent, parseTerms } from "../../../src/knightfall/web/page/model/agents.js";

const HEURISTICS = [
  { id: "sum" },
  { id: "null", parameter: false },
  { id: "open", parameter: false },
  { id: "improved", parameter: false },
  { id: "coded:main", parameter: false },
  { id: "static_reach", parameter: true },
];
const agent = (text) => parseAgent(text, HEURISTICS);
const terms = (text) => parseTerms(text, HEURISTICS);
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
  assert.deepEqual(agent("id(2*improved-open, nodes=9)").terms, [
    [2, "improved", 0],
    [-1, "open", 0],
  ]);
  assert.deepEqual(agent("random").terms, [[1, "null", 0]]);
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
  ["", /“” is no agent: random, greedy/],
  ["!", /“!” is no agent/],
  ["id(improved", /is no agent/],
  ["Random", /is no agent/],
  ["id improved", /is no agent/],
  ["mcts(improved)", /“mcts” does not play in a browser/],
  ["constructor", /“constructor” does not play in a browser/],
  ["random(open)", /random takes no heuristic/],
  ["perfect(improved)", /perfect takes no heuristic/],
  ["id", /id needs one heuristic, as in id\(improved\)/],
  ["id()", /id needs one heuristic/],
  ["greedy(open, improved)", /greedy needs one heuristic/],
  ["id(nothing)", /“nothing” is no heuristic that the engine has/],
  ["id(improved, nodes=many)", /“nodes=many” cannot be read/],
  ["id(improved, nodes=-1)", /“nodes=-1” cannot be read/],
  ["id(improved, nodes=1.2.3)", /“nodes=1.2.3” cannot be read/],
  ["id(improved, nodes=100ms)", /“nodes=100ms” cannot be read/],
  ["id(improved, depth=5s)", /“depth=5s” cannot be read/],
  ["id(improved, time=150)", /write time=150ms, up to 60s/],
  ["id(improved, time=0ms)", /write time=150ms/],
  ["id(improved, time=61s)", /write time=150ms, up to 60s/],
  ["alphabeta(improved, plain)", /“plain” cannot be read/],
  ["alphabeta(improved, depth=65)", /more than a browser should search/],
  ["id(improved, nodes=50000001)", /more than a browser should search/],
];

for (const [text, message] of BAD) {
  test(`“${text}” is no agent`, () => assert.throws(() => agent(text), { message }));
}

test("sums have weights, signs, fractions and parameters", () => {
  assert.deepEqual(terms("improved"), [[1, "improved", 0]]);
  assert.deepEqual(terms("-improved"), [[-1, "improved", 0]]);
  assert.deepEqual(terms(" 2 * improved + open - 1/4*null "), [
    [2, "improved", 0],
    [1, "open", 0],
    [-0.25, "null", 0],
  ]);
  assert.deepEqual(terms("0.5*static_reach(1/2)+coded:main"), [
    [0.5, "static_reach", 0.5],
    [1, "coded:main", 0],
  ]);
  assert.deepEqual(terms("static_reach( 0.9 )"), [[1, "static_reach", 0.9]]);
});

test("a sum has at most 16 terms", () => {
  assert.equal(terms(Array(16).fill("open").join("+")).length, 16);
  assert.throws(() => terms(Array(17).fill("open").join("+")), { message: /A sum may have 16 terms/ });
});

const BAD_SUMS = [
  ["", /A heuristic is missing/],
  ["sum", /“sum” is no heuristic that the engine has/],
  ["improved open", /“open” cannot be read/],
  ["improved +", /“\+” cannot be read/],
  ["2 improved", /“2 improved” cannot be read/],
  ["improved*2", /“\*2” cannot be read/],
  ["toString", /“toString” is no heuristic/],
  ["static_reach", /static_reach needs its parameter, as in static_reach\(1\/2\)/],
  ["improved(1/2)", /improved takes no parameter/],
  ["static_reach(0)", /static_reach\(0\): from 0 to 1, please/],
  ["static_reach(1)", /from 0 to 1/],
  ["static_reach(1/0)", /from 0 to 1/],
  ["static_reach(1/2/3)", /from 0 to 1/],
  ["static_reach(.5)", /from 0 to 1/],
  ["static_reach(half)", /static_reach needs its parameter/],
];

for (const [text, message] of BAD_SUMS) {
  test(`“${text}” is no sum of heuristics`, () => assert.throws(() => terms(text), { message }));
}
