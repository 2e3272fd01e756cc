// The board of the game with the players' strips, the status line and the buttons below.

import { marksOf } from "../model/marks.js";
import { POCKET } from "../model/notation.js";
import { statusOf, stripOf, winnerOf } from "../model/status.js";
import { other } from "../model/words.js";
import { boardById, onCell } from "./board.js";
import { byId, el, onClick, part } from "./dom.js";
import { face } from "./faces.js";

/** @typedef {import("../model/best_line.js").BestLinePreview} BestLinePreview */
/** @typedef {import("../model/notation.js").Side} Side */
/** @typedef {import("../model/play.js").Play} Play */
/** @typedef {import("../model/review.js").Review} Review */
/** @typedef {import("../model/store.js").State} State */
/** @typedef {import("../model/tree.js").Node} Node */
/** @typedef {import("./board.js").Path} Path */

/**
 * @param {Play} play
 * @param {Review} review
 * @param {BestLinePreview} preview
 */
export function addPlayView(play, review, preview) {
  const { store } = play;
  const board = boardById("board");
  onCell(board, "cell", (cell) => (store.state.retry ? review.answer(cell) : play.choose(cell)));
  onCell(board, "preview", (cell) => preview.look(cell));
  board.addEventListener("keydown", ({ key }) => {
    if (key === "+" || key === "-") preview.walk(key === "+" ? 1 : -1);
  });
  onClick({
    new: () => play.setup.ask(false),
    undo: () => play.undo(),
    redo: () => play.redo(),
    resign: () => play.resign(),
    analyse: () => play.setMode(store.state.mode === "analyse" ? "play" : "analyse"),
  });
  store.watch(
    (state) => [state.game, state.look, state.line, state.settings, state.retry, state.mode],
    (state) => {
      if (state.look?.node === state.game.tree.at) board.show(boardView(state));
    },
  );
  store.watch((state) => [state.game, state.look, state.thinking], drawStrips);
  store.watch((state) => [state.game, state.look, state.thinking, state.message], drawStatus);
  store.watch(
    (state) => [state.game, state.look, state.mode, state.retry, state.choice],
    ({ game, look }) => {
      part("button", "redo").hidden = !game.tree.at.children.length;
      part("button", "undo").disabled = !play.undone;
      part("button", "resign").disabled = Boolean(winnerOf(game, look?.seen));
    },
  );
  store.watch(
    (state) => [state.mode],
    ({ mode }) => {
      byId("analysis").hidden = mode !== "analyse";
      part("button", "analyse").setAttribute("aria-pressed", String(mode === "analyse"));
      document.body.dataset.mode = mode;
    },
  );
}

/**
 * Return the content of the board for the current position.
 * @param {State} state
 */
export function boardView({ game, look, line, settings, retry, mode }) {
  const { agent, resigned, tree, you } = game;
  const node = tree.at;
  const { position } = node;
  const theirs = agent && mode === "play" && position.side !== you && !retry;
  const [next] = node.children;
  const known = theirs ? (next ? [Number(next.cell)] : []) : (look?.seen.moves ?? []);
  const shown = mode === "analyse" ? look : null;
  const reach = settings.reach && mode === "analyse" ? look?.seen.reach : undefined;
  const hunter = settings.roles && mode === "analyse" ? look?.seen.hunter : undefined;
  const previewed = line?.node === node ? line : null;
  return {
    position,
    targets: resigned && !(agent && mode === "analyse") ? [] : known,
    marks: marksOf(shown?.truth ?? null, shown?.opinions ?? null, shown?.names),
    last: lastMove(node),
    layers: reach ?? {},
    cluster: shown?.cluster,
    roles: hunter ? { [hunter]: "hunter", [other(hunter)]: "runner" } : null,
    paths: previewed ? linePaths(previewed) : pathsOf(shown),
    previews: Boolean(shown?.truth),
  };
}

/**
 * Return the cells of the move that led to a node: the cell it went to, and the one it came from.
 * @param {Node} node
 */
export function lastMove({ cell, parent, position }) {
  if (cell === null || !parent) return [];
  const from = position.side === "b" ? parent.position.white : parent.position.black;
  return from === POCKET ? [cell] : [cell, from];
}

/**
 * Return the walk of either knight in a line of best play.
 * @param {import("../model/store.js").BestLine} line
 * @returns {Path[]}
 */
function linePaths({ node, cells, shown }) {
  const { position } = node;
  const walks = { w: [position.white], b: [position.black] };
  cells.slice(0, shown).forEach((cell, ply) => {
    walks[ply % 2 ? other(position.side) : position.side].push(cell);
  });
  return [
    { cells: walks.w, kind: "walk-w" },
    { cells: walks.b, kind: "walk-b" },
  ];
}

/**
 * Return the paths of the layers that are shown: longest walks, and the image of each move.
 * @param {import("../model/store.js").NodeAnalysis | null} look
 * @returns {Path[]}
 */
function pathsOf(look) {
  const { walks, reflections } = look ?? {};
  const images = Object.entries(reflections ?? {}).map(([cell, reply]) => ({
    cells: [Number(cell), reply],
    kind: "mirror",
    numbered: false,
  }));
  const longest = walks
    ? [
        { cells: walks.w, kind: "walk-w" },
        { cells: walks.b, kind: "walk-b" },
      ]
    : [];
  return [...longest, ...images];
}

/** @param {State} state */
function drawStrips(state) {
  const { agent, you } = state.game;
  const below = agent ? you : "w"; // your strip is below the board
  for (const [id, side] of /** @type {[string, Side][]} */ ([
    ["strip-below", below],
    ["strip-above", other(below)],
  ])) {
    const { name, turn, doing, facts } = stripOf(state, side);
    const rank = state.ladder.findIndex((rung) => rung.agent === agent?.text);
    const strip = byId(id);
    strip.classList.toggle("turn", turn);
    strip.replaceChildren(
      el("span", { class: `disc ${side}`, "aria-hidden": "true" }),
      ...(agent && side !== you && rank >= 0 ? [face(rank, state.ladder.length)] : []),
      el("strong", {}, name),
      el("span", {}, doing && el("span", { class: "doing" }, doing, facts && " · "), facts),
    );
  }
}

/** @param {State} state */
function drawStatus(state) {
  const message = state.message ?? statusOf(state);
  if (!message) return; // the engine is looking at the position
  const place = byId("status");
  if (place.textContent !== message.text) place.textContent = message.text;
  place.className = message.kind;
}
