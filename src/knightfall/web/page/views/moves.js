// The moves of a game with their variations, and the graph of who was winning.

import { nameOf } from "../model/notation.js";
import { byId, el, onClick, part, svg } from "./dom.js";

/** @typedef {import("../model/play.js").Play} Play */
/** @typedef {import("../model/store.js").State} State */
/** @typedef {import("../model/tree.js").Node} MoveNode */

/** @param {Play} play */
export function addMovesView(play) {
  const { store } = play;
  const comment = part("input", "comment");
  onClick({ promote: () => play.promote(), delete: () => play.removeMove() });
  comment.addEventListener("change", () => play.comment(comment.value));
  store.watch(
    (state) => [state.game, state.mode],
    (state) => {
      drawMoves(state, play);
      drawGraph(state, play);
      const node = state.game.tree.at;
      byId("tree-tools").hidden = state.mode !== "analyse" || !node.parent;
      part("button", "promote").disabled = state.game.tree.line().every((one) => one.parent?.children[0] === one);
      if (document.activeElement !== comment || comment.dataset.of !== nodeKey(state)) comment.value = node.comment;
      comment.dataset.of = nodeKey(state);
    },
  );
}

/** @param {State} state */
const nodeKey = ({ game }) =>
  game.tree
    .line()
    .map(({ cell }) => cell)
    .join(".");

/**
 * Draw the line that is played, or while analysing the whole tree: the main line first, variations indented below.
 * @param {State} state
 * @param {Play} play
 */
function drawMoves({ game, mode }, play) {
  const { tree } = game;
  const place = byId("moves");
  const focused = place.contains(document.activeElement);
  const button = (/** @type {MoveNode} */ node, /** @type {boolean} */ variation) => {
    const here = node === tree.at;
    const text = `${tree.line(node).length}. ${nameOf(node.position, Number(node.cell))}${node.blunder ? " ??" : ""}`;
    return el(
      "button",
      {
        type: "button",
        class: here ? "here" : null,
        "aria-current": here ? "step" : null,
        tabindex: here || (tree.at === tree.root && node === tree.root.children[0]) ? 0 : -1,
        "aria-description": variation ? "variation" : null,
        onclick: () => play.goTo(node),
      },
      text,
    );
  };
  const note = (/** @type {MoveNode} */ node) => node.comment && el("span", { class: "comment" }, node.comment);
  if (mode === "play") {
    place.replaceChildren(...tree.line(tree.end()).map((node) => button(node, false)));
  } else {
    place.replaceChildren(...drawFrom(tree.root, 0, button, note));
  }
  const here = place.querySelector(".here") ?? place.querySelector("button");
  if (!(here instanceof HTMLElement)) return;
  place.scrollTop = here.offsetTop - place.offsetTop - 60; // scrolls the list, not the page
  place.scrollLeft = here.offsetLeft - place.offsetLeft - 120;
  if (focused) here.focus();
}

/**
 * Return the rows of what follows a node: its main line, interrupted below each fork by the variations there.
 * @param {MoveNode} start
 * @param {number} depth
 * @param {(node: MoveNode, variation: boolean) => HTMLElement} button
 * @param {(node: MoveNode) => HTMLElement | ""} note
 * @param {HTMLElement[]} begun elements at the start of the first row
 * @returns {HTMLElement[]}
 */
function drawFrom(start, depth, button, note, begun = []) {
  /** @param {import("./dom.js").Child[]} children */
  const newRow = (...children) => {
    const made = el("div", { class: depth ? "row variation" : "row" }, ...children);
    made.style.setProperty("--depth", String(depth));
    return made;
  };
  const rows = [];
  let row = newRow(begun, note(start));
  for (let node = start; node.children.length; [node] = node.children) {
    const [main, ...variations] = node.children;
    row.append(button(main, depth > 0), ...[note(main)].filter(Boolean));
    if (!variations.length) continue;
    rows.push(row, ...variations.flatMap((one) => drawFrom(one, depth + 1, button, note, [button(one, true)])));
    row = newRow();
  }
  return [...rows, row].filter((one) => one.childNodes.length);
}

const GRAPH_WIDTH = 300;
const BAR_HEIGHT = 16;

/**
 * Draw who was winning after each judged move as bars to click: up for White, down for Black.
 * @param {State} state
 * @param {Play} play
 */
function drawGraph({ game }, play) {
  const { tree } = game;
  const line = tree.line(tree.end());
  const judged = line.filter((node) => node.winner !== undefined);
  const graph = byId("graph");
  graph.toggleAttribute("data-empty", !judged.length);
  const step = Math.min(14, GRAPH_WIDTH / Math.max(1, judged.length));
  graph.replaceChildren(
    ...judged.map((node, number) => {
      const up = node.winner === "w";
      const unknown = node.winner === null;
      const who = unknown ? "not known" : up ? "White wins" : "Black wins";
      const bar = svg(
        "rect",
        {
          x: number * step,
          y: unknown ? 20 : up ? 4 : 22,
          width: Math.max(1, step - 1),
          height: unknown ? 2 : BAR_HEIGHT,
          class: `${node.blunder ? "blunder" : up ? "w" : "b"}${node === tree.at ? " here" : ""}`,
        },
        svg("title", {}, `move ${line.indexOf(node) + 1}: ${who}${node.blunder ? ", a blunder" : ""}`),
      );
      bar.addEventListener("click", () => play.goTo(node));
      if (!node.blunder) return bar;
      const mark = { x: number * step + step / 2, y: up ? 32 : 17, "text-anchor": "middle" };
      return svg("g", {}, bar, svg("text", mark, "??")); // so that a blunder differs not only in colour
    }),
  );
  const wrong = judged.some((node) => node.blunder);
  for (const id of ["previous", "next", "retry"]) part("button", id).disabled = !wrong;
}

/**
 * Return the node that an arrow key leads to: along the line, or to a sibling variation.
 * @param {import("../model/tree.js").Tree} tree
 * @param {string} key
 * @returns {MoveNode | null | undefined}
 */
export function nodeByKey(tree, key) {
  const { at, root } = tree;
  const siblings = at.parent?.children ?? [];
  const place = siblings.indexOf(at);
  switch (key) {
    case "ArrowLeft":
      return at.parent;
    case "ArrowRight":
      return at.children[0];
    case "ArrowUp":
      return siblings[place - 1];
    case "ArrowDown":
      return siblings[place + 1];
    case "Home":
      return root;
    case "End":
      return tree.end();
    default:
      return undefined;
  }
}
