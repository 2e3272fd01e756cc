import assert from "node:assert/strict";
import { test } from "node:test";
import { fromAddress, toAddress } from "../../../src/knightfall/web/page/model/address.js";
import { cellNamed, emptyBoard, formatFen, nameOf, parseFen } from "../../../src/knightfall/web/page/model/notation.js";
import { MAX_COMMENT, Tree } from "../../../src/knightfall/web/page/model/tree.js";
import { advance, legalMoves, numbers } from "./rules.js";

async function played(tree, ...names) {
  for (const name of names) {
    const cell = cellNamed(tree.root.position, name);
    tree.play(cell, await advance(tree.at.position, cell));
  }
  return tree.at;
}

const texts = (nodes, board) => nodes.map((node) => nameOf(board, node.cell)).join(" ");

/** Write a tree with everything that an address keeps, variations in their order. */
function dump(tree) {
  const walk = (node) => ({
    cell: node.cell,
    fen: formatFen(node.position),
    comment: node.comment,
    children: node.children.map(walk),
  });
  return { root: walk(tree.root), at: tree.line().map(({ cell }) => cell) };
}

async function fork() {
  const tree = new Tree(emptyBoard(7, 7));
  const start = await played(tree, "d4", "a1");
  const main = await played(tree, "e6");
  tree.at = start;
  const side = await played(tree, "f5", "b3");
  return { tree, start, main, side };
}

test("a move that is known already is gone to, not added", async () => {
  const { tree, start, main } = await fork();
  tree.at = start;
  assert.equal(await played(tree, "e6"), main);
  assert.equal(start.children.length, 2);
});

test("promote moves the variation to the front of its nearest fork, whole", async () => {
  const { tree, start, side } = await fork();
  assert.equal(tree.promote(side), true);
  assert.equal(texts(tree.line(tree.end(tree.root)), start.position), "d4 a1 f5 b3");
  assert.equal(tree.at, side);
  assert.equal(tree.promote(side), false);
});

test("delete takes what follows with it and leaves the cursor in the tree", async () => {
  const { tree, start, main, side } = await fork();
  tree.remove(side.parent);
  assert.deepEqual(start.children, [main]);
  assert.equal(tree.at, start);
  tree.at = main;
  tree.remove(tree.root); // the root cannot be deleted
  assert.equal(tree.at, main);
});

test("deleting another variation does not move the cursor", async () => {
  const { tree, main, side } = await fork();
  tree.remove(main);
  assert.equal(tree.at, side);
});

test("a comment is one line of limited length", async () => {
  const { tree, side } = await fork();
  tree.comment(side, `  a \n b ${"x".repeat(999)}`);
  assert.equal(side.comment.length, MAX_COMMENT);
  assert.ok(side.comment.startsWith("a b x"));
});

test("an address brings trees back as they were, with comments, cursor and variations in order", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = numbers(seed);
    const [width, height] = [
      [7, 7],
      [5, 6],
      [8, 8],
      [4, 7],
    ][random(4)];
    const tree = new Tree(emptyBoard(width, height));
    for (let step = 0; step < 40; step++) {
      const nodes = [tree.root, ...tree.nodes()];
      if (random(4) === 0) tree.at = nodes[random(nodes.length)];
      const moves = legalMoves(tree.at.position);
      if (!moves.length) continue;
      const cell = moves[random(moves.length)];
      tree.play(cell, await advance(tree.at.position, cell));
      if (random(6) === 0) tree.comment(tree.at, `weak & "odd": 100 % — ?#${step}`);
    }
    const nodes = tree.nodes();
    tree.at = nodes[random(nodes.length)];
    const more = {
      vs: "id(2*open-bfs_reach, nodes=2500)",
      you: "b",
      resigned: seed % 2 ? "w" : null,
      challenge: seed % 3 === 0,
    };
    const text = toAddress(tree, more);
    assert.match(text, /^[\w.*+%=&-]*$/); // no character that an address must escape
    const { tree: again, ...rest } = await fromAddress(text, advance);
    assert.deepEqual(dump(again), dump(tree), `seed ${seed}`);
    assert.deepEqual(rest, more);
    assert.equal(toAddress(again, more), text);
  }
});

test("a start that is not the empty board is kept", async () => {
  const position = parseFen("7/7/1N5/7/7/4n2/7 b");
  const { tree } = await fromAddress(toAddress(new Tree(position)), advance);
  assert.deepEqual(tree.root.position, position);
});

test("an address asks the engine for each move of a common beginning once", async () => {
  const { tree } = await fork();
  let asked = 0;
  await fromAddress(toAddress(tree), (position, cell) => {
    asked++;
    return advance(position, cell);
  });
  assert.equal(asked, tree.nodes().length);
});

for (const [text, words] of [
  ["%", "it has no game"],
  ["__proto__=1", "it has no game"],
  ["board=9x9", "more than 64 cells"],
  ["board=hello", "“hello” is not a board size"],
  ["moves=d4.d4", "“d4” is not a legal move here"],
  ["moves=d4.z9", "“z9” is not a legal move here"],
  ["lines=d4.a1.a2", "“a2” is not a legal move here"],
  ["moves=&note=d4.d4:no", "“d4” is not a legal move here"],
  [`moves=${"a1.".repeat(9000)}`, "too long"],
]) {
  test(`refused: ${text.slice(0, 30)}`, async () => {
    await assert.rejects(fromAddress(text, advance), (error) => error.message.includes(words));
  });
}

test("what is no side or flag is ignored", async () => {
  const { you, resigned, challenge, vs } = await fromAddress("moves=d4&you=x&resigned=z&challenge=2&vs=", advance);
  assert.deepEqual({ you, resigned, challenge, vs }, { you: "w", resigned: null, challenge: false, vs: null });
});
