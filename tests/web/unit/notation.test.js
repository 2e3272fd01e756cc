import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellNamed,
  cellsIn,
  emptyBoard,
  formatFen,
  isIn,
  nameOf,
  POCKET,
  parseFen,
} from "../../../src/knightfall/web/page/model/notation.js";
import { numbers } from "./rules.js";

const SIZES = [];
for (let width = 3; width <= 21; width++) {
  for (let height = 3; width * height <= 64; height++) SIZES.push([width, height]);
}

/** Return a position with some open cells; `placed` knights stand on the board. */
function randomPosition(width, height, placed, draw) {
  const cells = width * height;
  const white = placed > 0 ? draw(cells) : POCKET;
  const black = placed > 1 ? (white + 1 + draw(cells - 1)) % cells : POCKET;
  let open = 0n;
  for (let cell = 0; cell < cells; cell++) {
    if (cell !== white && cell !== black && draw(3)) open |= 1n << BigInt(cell);
  }
  return { width, height, open, white, black, side: placed === 1 || (placed === 2 && draw(2)) ? "b" : "w" };
}

test("positions of every board are read as they were written", () => {
  const draw = numbers(1);
  for (const [width, height] of SIZES) {
    for (let round = 0; round < 12; round++) {
      const position = randomPosition(width, height, round % 3, draw);
      assert.deepEqual(parseFen(formatFen(position)), position, formatFen(position));
    }
  }
});

test("a FEN begins with the highest row", () => {
  const text = "7/7/1N5/7/7/4n2/7 w";
  const position = parseFen(text);
  assert.equal(nameOf(position, position.white), "b5");
  assert.equal(nameOf(position, position.black), "e2");
  assert.equal(position.side, "w");
  assert.equal(cellsIn(position.open).length, 47);
  assert.equal(formatFen(position), text);
});

test("a FEN tells open cells from visited ones", () => {
  const position = parseFen("N*1/1*n/*2 b");
  assert.deepEqual(cellsIn(position.open), [2, 3, 7, 8]);
  assert.deepEqual([position.white, position.black, position.side], [0, 5, "b"]);
});

test("rows may be wider than nine cells, and the pocket is read", () => {
  assert.deepEqual(parseFen("21/21/21[Nn] w"), emptyBoard(21, 3));
  assert.equal(formatFen(emptyBoard(21, 3)), "21/21/21[Nn] w");
  assert.equal(parseFen("12N/13/13[n] b").white, 12);
  assert.equal(parseFen(" 3/3/3[nN]   w  - 1 ").black, POCKET);
});

test("the last cell of the largest board is as good as the others", () => {
  const board = emptyBoard(8, 8);
  assert.equal(board.open, 0xffffffffffffffffn);
  assert.ok(isIn(board.open, 63));
  assert.ok(!isIn((1n << 65n) - 1n, POCKET), "the pocket is in no set");
  assert.deepEqual(cellsIn(1n << 63n), [63]);
  assert.equal(parseFen("8/8/8/8/8/8/8/6nN w").white, 63);
});

const WRONG = [
  ["", /no position to read/],
  ["   ", /no position to read/],
  ["7/7/1N5/7/7/4n2/7", /does not say whose turn it is/],
  ["7/7/1N5/7/7/4n2/7 x", /does not say whose turn it is/],
  ["7/7/1N5/7/7/4n2/7 W", /does not say whose turn it is/],
  ["3/3/3[Nn w", /the pocket must be one \[Nn\] after the rows/],
  ["3/3[N]/3[n] b", /the pocket must be one/],
  ["3/3/3[Nx] w", /the pocket must be one/],
  ["N2/3/2n/ w", /all rows must be equally wide/],
  ["N2/4/2n w", /all rows must be equally wide/],
  ["N1/2/1n w", /A 2×3 board is not supported/],
  ["N2/2n w", /A 3×2 board is not supported/],
  ["9/9/9/9/9/9/9/7Nn w", /A 9×8 board is not supported: sides must be at least 3, with at most 64 cells/],
  ["3/3/2n w", /has 0 knights N: exactly one is needed/],
  ["N1N/3/2n w", /has 2 knights N/],
  ["N2/3/3 w", /has 0 knights n/],
  ["N2/3/2n[n] w", /has 2 knights n/],
  ["3/3/2n[N] w", /the first player \(N\) places its knight before n does/],
  ["3/3/3[Nn] b", /it is w’s turn to place a knight/],
  ["N2/3/3[n] w", /it is b’s turn to place a knight/],
  [`${"1".repeat(65)}/3/3 w`, /a row is far too long/],
  ["N65/3/2n w", /65 open cells do not fit/],
  ["N2/3/2k w", /k is not allowed; use digits, \*, N and n/],
];

for (const [text, message] of WRONG) {
  test(`“${text.slice(0, 40)}” is refused`, () => assert.throws(() => parseFen(text), { message }));
}

test("an error repeats no more than a line of what it is about", () => {
  for (const text of [
    "x".repeat(60),
    `${"N/".repeat(5000)} w`,
    `3/3/3[${"N".repeat(9999)}] w`,
    `3/3/3 ${"w".repeat(9999)}`,
  ]) {
    assert.throws(
      () => parseFen(text),
      ({ message }) => message.length < 160,
    );
  }
});

test("each cell has its own name, from a1 at the lower left", () => {
  for (const [width, height] of SIZES) {
    const board = { width, height };
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const name = `${"abcdefghijklmnopqrstu"[column]}${height - row}`;
        assert.equal(nameOf(board, row * width + column), name);
        assert.equal(cellNamed(board, name), row * width + column);
      }
    }
  }
});

test("names in capitals and with spaces around are understood, others are not", () => {
  const board = { width: 7, height: 5 };
  assert.equal(cellNamed(board, " A1 "), 28);
  for (const name of ["a0", "a6", "h1", "a", "1", "", "aa1", "a1b", "a111", "a-1", "ä1", "a١", "`1", "{1"]) {
    assert.equal(cellNamed(board, name), null, name);
  }
});
