// A board in a cell of a notebook: the page's board, game and engine behind anywidget's interface.

import { BestLinePreview } from "../web/page/model/best_line.js";
import { Engine } from "../web/page/model/engine.js";
import { formatFen, parseFen } from "../web/page/model/notation.js";
import { Play } from "../web/page/model/play.js";
import { lineText, statusOf, verdictOf } from "../web/page/model/status.js";
import { initialState, Store } from "../web/page/model/store.js";
import { Tree } from "../web/page/model/tree.js";
import { onCell, wantsMotion } from "../web/page/views/board.js";
import { el } from "../web/page/views/dom.js";
import { boardView } from "../web/page/views/play.js";

/** @typedef {import("../web/page/model/engine.js").Source} Source */
/** @typedef {import("../web/page/model/store.js").Rung} Rung */
/** @typedef {import("../web/page/model/store.js").State} State */
/** @typedef {import("../web/page/views/board.js").KnightBoard} KnightBoard */

/**
 * The model that a widget shares with Python. `fen` is the position, `truth` whether moves are marked.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: () => void) => void} on
 * @property {(event: string, listener: () => void) => void} off
 */

/** @typedef {{source: Source, ladder: Rung[], style: string}} Parts the engine, and the page's ladder and style */

/**
 * Draw a board into an element, and keep it and the model the same. Return a function that removes the board.
 * @param {Parts} parts
 * @param {{model: Model, el: HTMLElement}} place
 */
export function render({ source, ladder, style }, { model, el: place }) {
  const store = new Store(initialState(ladder));
  const engines = [1, 2, 3, 4].map(() => new Engine(source));
  const [rules, solver, guide, opponent] = engines;
  const play = new Play(store, { rules, solver, guide, opponent }, source.load.about.heuristics, {
    show: () => {},
    kept: () => ({}),
    pause: async () => {},
    now: () => Date.now(),
  });
  const preview = new BestLinePreview(play, wantsMotion);

  /** Put the model's position on the board, unless it is there already. */
  const readFen = async () => {
    if (model.get("fen") === formatFen(play.position)) return;
    play.stand({ ...play.game, tree: new Tree(parseFen(model.get("fen"))) });
    await play.refresh();
  };
  const readTruth = async () => {
    store.set({ settings: { ...store.state.settings, truth: model.get("truth") } });
    await play.study.analyse();
  };
  const write = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    if (model.get(name) === value) return;
    model.set(name, value);
    model.save_changes();
  };

  const host = draw(style, play, preview, (marked) => write("truth", marked));
  place.append(host);
  // Notebooks have shortcuts of single letters, which a board takes for names of cells.
  place.setAttribute("data-lm-suppress-shortcuts", "true");
  host.addEventListener("keydown", (event) => event.stopPropagation());

  const { settings } = store.state;
  const tree = new Tree(parseFen(model.get("fen")));
  store.set({ mode: "analyse", settings: { ...settings, truth: model.get("truth") } });
  play.stand({ ...play.game, tree });
  play.refresh();
  store.watch(
    (state) => [state.game.tree.at],
    ({ game }) => write("fen", formatFen(game.tree.at.position)),
  );
  model.on("change:fen", readFen);
  model.on("change:truth", readTruth);
  return () => {
    model.off("change:fen", readFen);
    model.off("change:truth", readTruth);
    preview.pause();
    for (const engine of engines) engine.worker?.terminate();
    host.remove();
  };
}

/**
 * Return an element with the board, the texts around it and its buttons, separate from the style of the notebook.
 * @param {string} style
 * @param {Play} play
 * @param {BestLinePreview} preview
 * @param {(marked: boolean) => void} mark
 */
function draw(style, play, preview, mark) {
  const { store } = play;
  // Another board of the notebook may have defined the element before.
  const board = /** @type {KnightBoard} */ (document.createElement("knight-board"));
  board.setAttribute("aria-label", "Board");
  const verdict = el("p", { id: "verdict", hidden: true });
  const status = el("p", { id: "status", role: "status", "aria-live": "polite" }, "Loading …");
  const undo = el("button", { type: "button", onclick: () => play.undo() }, "Undo");
  const redo = el("button", { type: "button", onclick: () => play.redo() }, "Redo");
  const truth = el("input", { type: "checkbox", onchange: () => mark(truth.checked) });
  const longer = el("button", { type: "button", onclick: () => play.study.analyse(LONGER_MS) }, "Search longer");
  const line = el("span", {});
  const step = (/** @type {1 | -1} */ way, /** @type {string} */ sign, /** @type {string} */ label) =>
    el("button", { type: "button", "aria-label": label, onclick: () => preview.walk(way) }, sign);
  const controls = el("p", { class: "buttons" }, undo, redo, el("label", {}, truth, "Truth"), longer);
  const steps = el(
    "p",
    { class: "line" },
    line,
    step(-1, "−", "One step back in the line"),
    step(1, "+", "One step forward in the line"),
  );
  const host = el("div");
  const root = host.attachShadow({ mode: "open" });
  root.append(el("style", {}, style), el("div", { class: "page side" }, verdict, board, status, controls, steps));

  onCell(board, "cell", (cell) => play.choose(cell).catch((error) => play.fail(error)));
  onCell(board, "preview", (cell) => preview.look(cell));
  board.addEventListener("keydown", ({ key }) => {
    if (key === "+" || key === "-") preview.walk(key === "+" ? 1 : -1);
  });
  const all = (/** @type {State} */ state) => [state.game, state.look, state.line, state.settings, state.message];
  store.watch(all, (state) => {
    const { look, settings, game } = state;
    host.dataset.theme = isOnDark(host) ? "dark" : "light";
    if (look?.node === game.tree.at) board.show(boardView(state));
    undo.disabled = !play.undone;
    redo.disabled = !game.tree.at.children.length;
    truth.checked = settings.truth;
    line.textContent = lineText(state);
    const message = state.message ?? statusOf(state);
    if (message && status.textContent !== message.text) status.textContent = message.text;
    if (message) status.className = message.kind;
    verdict.hidden = longer.hidden = true;
    if (!settings.truth || !look?.seen.moves.length) return;
    const { winner, known, text } = verdictOf(look);
    verdict.hidden = false;
    longer.hidden = !look.unfinished;
    verdict.className = winner ?? "";
    verdict.style.setProperty("--known", String(known));
    verdict.textContent = text;
  });
  return host;
}

const LONGER_MS = 60000;

/**
 * Return whether an element stands on a dark background. Notebooks have themes of their own, so the system's does not
 * tell.
 * @param {Element} element
 */
function isOnDark(element) {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  /** @type {Element | null | undefined} */
  let node = element;
  while (node && canvas) {
    canvas.fillStyle = getComputedStyle(node).backgroundColor;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = canvas.getImageData(0, 0, 1, 1).data;
    if (opacity > 127) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
    node = node.parentElement ?? /** @type {ShadowRoot} */ (node.getRootNode()).host;
  }
  return false;
}
