import assert from "node:assert/strict";
import { test } from "node:test";
import { gameText, picture, readPasted } from "../../../src/knightfall/web/page/model/exchange.js";
import { emptyBoard, formatFen, nameOf } from "../../../src/knightfall/web/page/model/notation.js";
import { Tree } from "../../../src/knightfall/web/page/model/tree.js";
import { advance, legalMoves, numbers } from "./rules.js";

const noLink = () => assert.fail("this is no link");
const read = (text) => readPasted(text, advance, noLink);

/** Return the moves of a pasted game, and where it starts. */
async function game(text) {
  const tree = await read(text);
  assert.equal(tree.at, tree.end(), "the end of the game is looked at");
  return { start: formatFen(tree.root.position), moves: movesOf(tree) };
}

const movesOf = (tree) =>
  tree
    .line(tree.end())
    .map(({ cell }) => nameOf(tree.root.position, cell))
    .join(" ");
const EMPTY = "7/7/7/7/7/7/7[Nn] w";
const OPENING = "7/7/1N5/7/7/4n2/7 w";

const GAMES = [
  ["moves alone", "b5 e2 d4 f4", EMPTY, "b5 e2 d4 f4"],
  ["capitals and line breaks", " B5\n\tE2\r\nd4 ", EMPTY, "b5 e2 d4"],
  ["numbered moves", "1. b5 e2 2. d4 f4", EMPTY, "b5 e2 d4 f4"],
  ["numbers without a space", "1.b5 e2 2.d4 2...f4", EMPTY, "b5 e2 d4 f4"],
  ["a result", "b5 e2 d4 1-0", EMPTY, "b5 e2 d4"],
  ["an unfinished game", "b5 e2 d4 ?? *", EMPTY, "b5 e2 d4"],
  ["a position", OPENING, OPENING, ""],
  ["a position of another size", "3/3/3/3/3[Nn] w a1 b3", "3/3/3/3/3[Nn] w", "a1 b3"],
  ["a position with counters", `${OPENING} - - 0 12`, OPENING, ""],
  ["a position and moves", `${OPENING} d4 f4`, OPENING, "d4 f4"],
  ["tags", `[White "a"]\n[Opening "${OPENING}"]\n[Result "1-0"]\n\n1. d4 f4 1-0`, OPENING, "d4 f4"],
  ["tags with brackets and quotes", `[White "id(\\"x\\", {1})"] [Opening "${OPENING}"] d4`, OPENING, "d4"],
  ["tags without an opening", '[White "a"] b5 e2', EMPTY, "b5 e2"],
  ["JSON", '{"moves": ["b5", "e2", "d4"]}', EMPTY, "b5 e2 d4"],
  ["JSON with a start", `{ "start": "${OPENING}", "moves": ["d4"], "winner": null }`, OPENING, "d4"],
  ["JSON without moves", `{"start": "${OPENING}", "moves": []}`, OPENING, ""],
  ["comments", "b5 {the centre} e2 {a1 is bad} d4{!}f4", EMPTY, "b5 e2 d4 f4"],
  ["a comment in front", "{a game of mine} b5 e2", EMPTY, "b5 e2"],
  ["a comment before a position", `{from the atlas} ${OPENING} d4`, OPENING, "d4"],
  ["a comment over several lines", "b5 {one\ntwo} e2", EMPTY, "b5 e2"],
  ["variations", "b5 e2 d4 (c7 f4) f4", EMPTY, "b5 e2 d4 f4"],
  ["variations in variations", "b5 e2 (e3 (e4) (e5 d4)) d4 f4", EMPTY, "b5 e2 d4 f4"],
  ["parentheses in comments", "b5 {:-( } e2 (e3 {:-) } d4) d4", EMPTY, "b5 e2 d4"],
  ["variations without spaces", "1.b5(1.a1)e2 2.d4", EMPTY, "b5 e2 d4"],
  ["a comment that was cut off", "b5 e2 {and now", EMPTY, "b5 e2"],
  ["a variation that was cut off", "b5 e2 (e3 d4", EMPTY, "b5 e2"],
];

for (const [what, text, start, moves] of GAMES) {
  test(`${what} can be pasted`, async () => assert.deepEqual(await game(text), { start, moves }));
}

test("what follows # in a link is read as an address", async () => {
  const tree = new Tree(emptyBoard(5, 5));
  const asked = [];
  const fromAddress = async (...values) => {
    asked.push(values);
    return { tree };
  };
  assert.equal(await readPasted(" http://somewhere/page.html?x=1#moves=a1.b3&lines=a#b ", advance, fromAddress), tree);
  assert.deepEqual(asked, [["moves=a1.b3&lines=a#b", advance]]);
  await assert.rejects(readPasted("b5 #e2", advance, fromAddress), {
    message: /“#e2” is not a legal move after 1 plies/,
  });
});

const BAD = [
  ["  \n ", /nothing to read: paste a position, a game or a link/],
  ["(b5 e2)", /nothing to read/],
  ["x".repeat(20001), /too long to be a game/],
  ["hello", /“hello” is not a position, a game or a link/],
  ["b5 e2 b5", /“b5” is not a legal move after 2 plies/],
  ["b5 e2 d3", /“d3” is not a legal move after 2 plies/],
  ["b5 e2 h9", /“h9” is not a legal move/],
  ["b5 e2) d4", /“e2\)” is not a legal move|“\)” is not a legal move/],
  ["b5 e2} d4", /“e2}” is not a legal move/],
  [`b5 ${"e".repeat(1000)}`, /“e{20}” is not a legal move after 1 plies/],
  ["7/7/7 w", /is needed/],
  [`${OPENING.slice(0, -2)} d4`, /does not say whose turn it is/],
  ['[Opening "nonsense"] d4', /does not say whose turn it is/],
  ['{"moves": ["b5"', /incomplete/],
  ['{"players": {"w": "x"}, "moves": ["b5"', /incomplete/],
  ["{", /incomplete/],
  ["{moves: ['b5']}", /incomplete/],
  ["{}", /no list of moves/],
  ['{"moves": null}', /no list of moves/],
  ['{"moves": "b5 e2"}', /no list of moves/],
  ['{"moves": ["b5", 7]}', /no list of moves/],
  ['{"moves": {"length": 1, "0": "b5"}}', /no list of moves/],
  ['{"moves": ["b5"], "start": "7/7 w"}', /is not supported/],
  ['{"moves": ["<img src=x onerror=alert(1)>"]}', /“<img src=x onerror=a” is not a position, a game or a link/],
];

for (const [text, message] of BAD) {
  test(`“${text.slice(0, 40)}” is refused`, () => assert.rejects(read(text), { message }));
}

test("what is not a text in JSON is not taken for a start", async () => {
  const { start } = await game('{"start": {"toString": 1}, "moves": ["b5"]}');
  assert.equal(start, EMPTY);
});

test("hostile texts are refused in few words", async () => {
  const size = 19990;
  const texts = [
    "/".repeat(size),
    "(".repeat(size),
    ")".repeat(size),
    "{".repeat(size),
    "}".repeat(size),
    "({".repeat(size / 2),
    '[a "'.repeat(size / 4),
    `[a "${"\\".repeat(size - 4)}`,
    `7/7 ${"1 ".repeat(size / 2 - 4)}`,
    `{"moves": ${"[".repeat(size - 20)}`,
    "#".repeat(size),
    "\u0000".repeat(size),
  ];
  for (const text of texts) {
    const link = async () => {
      throw new Error("no game");
    };
    await assert.rejects(readPasted(text, advance, link), ({ message }) => message.length < 200);
  }
});

test("no more than 64 moves are played", async () => {
  let asked = 0;
  const lenient = async (position, cell) => {
    asked++;
    return { ...position, white: cell };
  };
  await readPasted(`${"a1 ".repeat(6666)}a1`, lenient, noLink); // of the greatest length allowed
  assert.equal(asked, 64);
});

// -- written games ---------------------------------------------------------------------------

/** Return a random game from a start to its end. */
async function randomGame(start, seed) {
  const draw = numbers(seed);
  const tree = new Tree(start);
  for (let moves = legalMoves(start); moves.length; moves = legalMoves(tree.at.position)) {
    const cell = moves[draw(moves.length)];
    tree.play(cell, await advance(tree.at.position, cell));
  }
  return tree;
}

test("written games are read as they were played", async () => {
  for (const [width, height] of [
    [3, 3],
    [5, 4],
    [7, 7],
    [8, 8],
  ]) {
    const tree = await randomGame(emptyBoard(width, height), width);
    const loser = tree.at.position.side;
    const winner = loser === "w" ? "b" : "w";
    const text = gameText(tree, { white: 'A "quoted" \\ name', black: "{b} (c)", winner, reason: "no moves left" });
    const again = await read(text);
    assert.equal(formatFen(again.at.position), formatFen(tree.at.position));
    assert.equal(again.line().length, tree.line().length - 2, "the opening stands in a tag");
    assert.match(text, winner === "w" ? /\[Result "1-0"\]/ : /\[Result "0-1"\]/);
    assert.match(text, /\[Reason "no moves left"\]/);
  }
});

test("a written game has tags and numbered moves", async () => {
  const tree = await read("b5 e2 d4 f4 e6");
  const text = gameText(tree, { white: "You", black: "perfect", winner: null, reason: "" });
  const tags = `[White "You"]\n[Black "perfect"]\n[Opening "${OPENING}"]\n[Result "*"]`;
  assert.equal(text, `${tags}\n\n1. d4 f4 2. e6 *\n`);
});

test("a written game goes on to the end of the line that is looked at", async () => {
  const tree = await read("b5 e2 d4 f4");
  tree.at = tree.root.children[0];
  assert.match(gameText(tree, { white: "a", black: "b", winner: null }), /\n1\. d4 f4 \*\n$/);
});

test("a game from a position where Black moves begins with dots", async () => {
  const tree = await read("7/7/1N5/7/7/4n2/7 b f4 d4");
  assert.match(gameText(tree, { white: "a", black: "b", winner: "b" }), /\n1\.\.\. f4 2\. d4 0-1\n$/);
});

test("a game without moves from a position where Black moves has no number", async () => {
  const tree = await read("7/7/1N5/7/7/4n2/7 b");
  assert.match(gameText(tree, { white: "a", black: "b", winner: null }), /"\]\n\n\*\n$/);
});

test("a picture shows every cell, visited ones dark, both knights and the last move", async () => {
  const { at } = await read("b5 e2 d4");
  const drawn = picture(at.position, "M0 0", [29, at.cell]);
  assert.equal(drawn.match(/<rect [^>]*width="40"/g).length, 49);
  const all = (pattern) => [...drawn.matchAll(pattern)].map((found) => found[1]);
  assert.deepEqual(all(/<rect x="(\d+" y="\d+)"[^>]*fill="#5d6470"/g), ['64" y="92'], "b5");
  assert.equal(all(/(fill="#f3ead6")/g).length, 25, "light cells, as many as dark and visited ones, and one");
  assert.deepEqual(all(/translate\(([^)]*)\)[^>]*d="M0 0"/g), ["146 134", "186 214"], "d4 and e2");
  assert.equal(all(/(stroke-width="3")/g).length, 2);
  const labels = [..."7654321", ..."abcdefg"];
  assert.deepEqual(all(/<text [^>]*>([^<]*)</g), labels);
  assert.deepEqual(all(/<text x="(\d+" y="\d+)"/g).slice(6, 8), ['16" y="276', '44" y="308'], "1 and a");
  assert.match(drawn, /viewBox="0 0 316 316" width="632" height="632"/);
  assert.ok(drawn.includes(`<title>${formatFen(at.position)}</title>`));
  assert.equal(picture(emptyBoard(3, 4), "M0 0").match(/<path/g), null);
});
