import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHeuristic, splitAtCommas } from "../../../src/knightfall/web/page/model/heuristics.js";

const HEURISTICS = [
  { id: "sum" },
  { id: "null", parameter: false },
  { id: "open", parameter: false },
  { id: "improved", parameter: false },
  { id: "coded:main", parameter: false },
  { id: "static_reach", parameter: true },
];
const read = (text) => parseHeuristic(text, HEURISTICS);
const factor = { weight: 1, open: 0, filled: 0 };
const part = (id, more = {}) => ({ ...factor, id, parameter: 0, least: 0, below: Infinity, ...more });
const term = (id, more = {}) => ({ ...factor, parts: [part(id)], ...more });

test("sums have weights, signs, fractions and parameters", () => {
  assert.deepEqual(read("improved").terms, [term("improved")]);
  assert.deepEqual(read("-improved").terms, [term("improved", { weight: -1 })]);
  assert.deepEqual(read(" 2 * improved + open - 1/4*null ").terms, [
    term("improved", { weight: 2 }),
    term("open"),
    term("null", { weight: -0.25 }),
  ]);
  assert.deepEqual(read("0.5*static_reach(1/2)+coded:main").terms, [
    { ...factor, weight: 0.5, parts: [part("static_reach", { parameter: 0.5 })] },
    term("coded:main"),
  ]);
  assert.deepEqual(read("static_reach( 0.9 )").terms[0].parts, [part("static_reach", { parameter: 0.9 })]);
});

test("a term may be multiplied by powers of the phase", () => {
  assert.deepEqual(read("phase*open - 2*(1-phase)*phase*phase*improved").terms, [
    term("open", { open: 1 }),
    term("improved", { weight: -2, open: 2, filled: 1 }),
  ]);
});

test("each stage counts for the phases from its threshold up to the one before", () => {
  assert.deepEqual(read("open + 3*phase*stage(0.7: 2*open-(1-phase)*null, 0.2: improved, open)").terms, [
    term("open"),
    {
      weight: 3,
      open: 1,
      filled: 0,
      parts: [
        part("open", { weight: 2, least: 0.7 }),
        part("null", { weight: -1, filled: 1, least: 0.7 }),
        part("improved", { least: 0.2, below: 0.7 }),
        part("open", { below: 0.2 }),
      ],
    },
  ]);
});

const TEXTS = [
  [" 2 * improved + open - 0.25*null ", "2*improved+open-1/4*null"],
  ["1*open - 1.0*improved + 2/4*static_reach( 0.50 )", "open-improved+1/2*static_reach(1/2)"],
  ["-0*open", "0*open"],
  ["( 1 - phase ) * phase * open", "phase*(1-phase)*open"],
  ["2*phase*stage( 0.7:open,1/5 : -improved , 3*null )-open", "2*phase*stage(7/10: open, 1/5: -improved, 3*null)-open"],
];

for (const [text, canonical] of TEXTS) {
  test(`“${text}” is written ${canonical}`, () => {
    assert.equal(read(text).text, canonical);
    assert.deepEqual(read(canonical), read(text));
  });
}

test("a heuristic asks at most 64 others", () => {
  const open = (number) => Array(number).fill("open").join("+");
  assert.equal(read(open(64)).terms.length, 64);
  for (const text of [open(65), `stage(0.5: ${open(33)}, ${open(32)})`]) {
    assert.throws(() => read(text), { message: /A heuristic may have 64 terms/ });
  }
});

const BAD = [
  ["", /A heuristic is missing/],
  ["sum", /“sum” is not a heuristic of the engine/],
  ["improved open", /“open” cannot be read/],
  ["improved +", /A term is missing at the end/],
  ["+improved", /“\+improved” cannot be read/],
  ["2 improved", /“2 improved” cannot be read/],
  ["improved*2", /“\*2” cannot be read/],
  ["phase*2*open", /“2\*open” cannot be read/],
  ["1/0*open", /1\/0 divides by zero/],
  ["toString", /“toString” is not a heuristic/],
  ["static_reach", /static_reach needs its parameter, as in static_reach\(1\/2\)/],
  ["improved(1/2)", /improved takes no parameter/],
  ["static_reach(0)", /The parameter of static_reach is a number between 0 and 1/],
  ["static_reach(1)", /between 0 and 1/],
  ["static_reach(1/0)", /1\/0 divides by zero/],
  ["static_reach(1/2/3)", /between 0 and 1/],
  ["static_reach(.5)", /between 0 and 1/],
  ["static_reach(half)", /between 0 and 1/],
  ["phase", /phase alone is not a heuristic: write phase\*improved/],
  ["open+stage", /stage alone is not a heuristic/],
  ["phase*(open+improved)", /parentheses are allowed only in \(1-phase\)\*/],
  ["(2-phase)*open", /parentheses are allowed only/],
  ["stage(open, improved)", /The first stage needs a threshold/],
  ["stage(0.5: open)", /The last of the stages, which has no threshold, is missing/],
  ["stage(0.5: open, improved", /The closing parenthesis of stage\(…\) is missing/],
  ["stage(0.5: open, improved, 0.2: null)", /“, 0.2: null\)” follows the stage without a threshold/],
  ["stage(0.2: open, 0.7: improved, null)", /The thresholds of stages must fall: 7\/10 comes after 1\/5/],
  ["stage(1: open, improved)", /The threshold of a stage is between 0 and 1, not 1/],
  ["stage(0: open, improved)", /between 0 and 1, not 0/],
  ["stage(0.5: stage(0.7: open, null), improved)", /A stage cannot stand inside a stage/],
  ["stage(0.5: open, improved))", /“\)” cannot be read/],
  ["stage(0.5: , open)", /“, open\)” cannot be read/],
];

for (const [text, message] of BAD) {
  test(`“${text}” is not a heuristic`, () => assert.throws(() => read(text), { message }));
}

test("a list of heuristics is split at the commas outside stages", () => {
  assert.deepEqual(splitAtCommas(" open, stage(0.7: improved, open) ,, static_reach(1/2)"), [
    "open",
    "stage(0.7: improved, open)",
    "static_reach(1/2)",
  ]);
});
