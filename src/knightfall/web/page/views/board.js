// <knight-board>: a board for mouse, touch and keyboard.
//
// It draws a view and sends an event when a cell is chosen ("cell") or pointed at ("preview"). It knows no rules.

import { cellNamed, isIn, nameOf, POCKET } from "../model/notation.js";
import { el, svg } from "./dom.js";

/** @typedef {import("../model/engine.js").Cluster} Cluster */
/** @typedef {import("../model/marks.js").Mark} Mark */
/** @typedef {import("../model/notation.js").Position} Position */
/** @typedef {import("../model/notation.js").Side} Side */
/** @typedef {{cells: number[], kind: string, numbered?: boolean}} Path a line over the cells, with numbered steps */

/**
 * The content of a board.
 * @typedef {object} BoardView
 * @property {Position} position
 * @property {number[]} [targets] cells that can be chosen
 * @property {Record<number, Mark>} [marks]
 * @property {number[]} [last] the cells of the last move
 * @property {Partial<Record<Side, bigint>>} [layers] cells to tint for either side
 * @property {Partial<Record<Side, string>> | null} [roles] words below the knights
 * @property {Path[]} [paths]
 * @property {Cluster | null} [cluster] a block of cells to frame, and its centre cell to ring
 * @property {boolean} [previews] whether holding a cell on a touch screen shows its line
 */

/** @typedef {{cell: number | null}} CellDetail */

const HEAD =
  "M29 80C29 66 47 63 50 48C44 53 39 54 35 59C32 64 24 65 20 59C17 54 18 50 22 45" +
  "C27 38 29 34 32 28C33 24 33 19 32 12C38 14 42 17 45 20C47 17 48 14 49 10" +
  "C52 13 54 16 55 20C71 28 79 48 77 80Z";
const BASE = "M25 80H81Q84 80 84 84V88Q84 91 81 91H25Q22 91 22 88V84Q22 80 25 80Z";
const HOLD_MS = 450;
const SLIDE_MS = 160;
const DRAG_PIXELS = 6; // a pointer that moves less is a click

/** The outline of a knight, in a square of 100 by 100. */
export const KNIGHT_PATH = HEAD + BASE;

/** @param {Side} side */
export const knight = (side) =>
  svg(
    "svg",
    { class: `knight ${side}`, viewBox: "14 6 74 90", "aria-hidden": "true" },
    svg("path", { d: KNIGHT_PATH }),
  );

export const wantsMotion = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

export class KnightBoard extends HTMLElement {
  constructor() {
    super();
    /** @type {BoardView | null} */
    this.view = null;
    /** @type {HTMLButtonElement[]} */
    this.cells = [];
    this.overlay = svg("svg", { class: "overlay", "aria-hidden": "true" }); // lines, below the knights
    this.frames = svg("svg", { class: "overlay", "aria-hidden": "true" }); // above them
    this.size = "";
    this.cursor = 0;
    this.typed = "";
    this.walking = false; // whether arrow keys move over the cells: if the focus came by a key
    this.pointing = false;
    this.skipSlide = false;
    /** @type {number | null} */
    this.from = null; // where the pointer went down
    /** @type {{knight: SVGElement, x: number, y: number, moved: boolean} | null} */
    this.held = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.holding = undefined;
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.addEventListener("pointerdown", (event) => this.onDown(event));
    this.addEventListener("pointermove", (event) => this.onMove(event));
    this.addEventListener("pointerup", (event) => this.onUp(event));
    this.addEventListener("pointercancel", () => this.drop());
    this.addEventListener("contextmenu", (event) => this.view?.previews && event.preventDefault());
    this.addEventListener("focusin", ({ target }) => {
      this.walking = !this.pointing;
      if (this.walking) this.preview(target);
    });
    this.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.preview(event.target));
    this.addEventListener("focusout", () => this.walking && this.preview(null));
    this.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.preview(null));
  }

  connectedCallback() {
    this.setAttribute("role", "grid");
  }

  /** @param {BoardView} view */
  show(view) {
    const { position } = view;
    const size = `${position.width}x${position.height}`;
    const before = this.size === size ? this.view?.position : null;
    if (this.size !== size) this.layOut(position, size);
    this.view = view;
    for (const [cell, button] of this.cells.entries()) this.drawCell(view, button, cell);
    if (before && !this.skipSlide) {
      this.slide(before.white, position.white);
      this.slide(before.black, position.black);
    }
    if (before && (before.white !== position.white || before.black !== position.black)) this.select(null);
    this.skipSlide = false;
    this.trace(view.paths ?? []);
    this.frame(view.cluster ?? null);
    this.rove(this.cursor, false);
  }

  /**
   * Make the cells of a board, and the names of its rows and columns beside them.
   * @param {Position} position
   * @param {string} size
   */
  layOut({ width, height }, size) {
    this.size = size;
    this.style.setProperty("--columns", String(width));
    this.style.setProperty("--rows", String(height));
    this.cells = [];
    const rows = Array.from({ length: height }, () => el("div", { role: "row" }));
    for (let cell = 0; cell < width * height; cell++) {
      const button = el("button", { type: "button", role: "gridcell", "data-cell": cell, tabindex: -1 });
      rows[Math.floor(cell / width)].append(button);
      this.cells.push(button);
    }
    const ranks = rows.map((_, row) => el("i", { class: "rank" }, String(height - row)));
    const files = Array.from({ length: width }, (_, column) =>
      el("i", { class: "file" }, nameOf({ width, height }, column)[0]),
    );
    const names = el(
      "div",
      { class: "names", role: "presentation", "aria-hidden": "true" },
      el("span", {}, ranks),
      el("span", {}, files),
    );
    const over = el("div", { role: "presentation" }, this.overlay);
    const above = el("div", { role: "presentation", class: "above" }, this.frames);
    this.replaceChildren(...rows, over, names, above);
    this.cursor = Math.floor((width * height) / 2);
  }

  /**
   * @param {BoardView} view
   * @param {HTMLButtonElement} button
   * @param {number} cell
   */
  drawCell({ position, targets = [], marks = {}, last = [], layers = {}, roles, cluster }, button, cell) {
    const side = cell === position.white ? "w" : cell === position.black ? "b" : null;
    const open = isIn(position.open, cell);
    const target = targets.includes(cell);
    const mark = marks[cell];
    const role = side && roles?.[side];
    const classes = [(Math.floor(cell / position.width) + (cell % position.width)) % 2 ? "dark" : "light"];
    if (!open && !side) classes.push("gone");
    if (target) classes.push("target");
    if (last.includes(cell)) classes.push("last");
    if (mark) classes.push(mark.kind);
    if (button.classList.contains("selected")) classes.push("selected");
    for (const [name, cells] of Object.entries(layers)) if (isIn(cells, cell)) classes.push(`layer-${name}`);
    button.className = classes.join(" ");
    button.style.setProperty("--heat", String(mark?.heat ?? 0));
    const content = [side, role, ...(mark?.lines ?? [])].join("|");
    if (button.dataset.content !== content) {
      // redrawing the same content would cut the animation short
      button.dataset.content = content;
      const [large, ...small] = mark?.lines ?? [];
      const isSmall = mark?.kind === "valued";
      const lines =
        mark &&
        el(
          "b",
          {},
          isSmall ? el("small", {}, large) : large,
          small.map((line) => el("small", {}, line)),
        );
      button.replaceChildren(
        ...[side && knight(side), role && el("em", {}, role), lines].flatMap((child) => child || []),
      );
    }
    const owner = side === "w" ? "White" : "Black";
    const is = side ? `${owner}’s knight${role ? `, the ${role}` : ""}` : open ? "open" : "gone";
    const framed =
      cluster?.center === cell
        ? "centre of open_cluster’s window"
        : cluster?.cells.includes(cell)
          ? "in open_cluster’s window"
          : "";
    const words = [nameOf(position, cell), is, target ? "legal move" : "", mark?.description ?? "", framed];
    button.setAttribute("aria-label", words.filter(Boolean).join(", "));
    button.setAttribute("aria-disabled", String(!target));
  }

  /**
   * Animate a knight from its old cell to the new one, unless the user prefers reduced motion.
   * @param {number} from
   * @param {number} to
   */
  slide(from, to) {
    if (from === to || from === POCKET || to === POCKET || !wantsMotion()) return;
    const [start, end] = [this.cells[from], this.cells[to]].map((button) => button.getBoundingClientRect());
    const away = `translate(${start.left - end.left}px, ${start.top - end.top}px)`;
    const timing = { duration: SLIDE_MS, easing: "ease-out" };
    this.cells[to].querySelector(".knight")?.animate([{ transform: away }, { transform: "none" }], timing);
  }

  /** @param {number} cell */
  choose(cell) {
    this.dispatchEvent(new CustomEvent("cell", { detail: { cell }, bubbles: true }));
  }

  /**
   * Send the cell that is pointed at by mouse, focus or a long touch; null if there is none any more.
   * @param {EventTarget | null} target
   */
  preview(target) {
    const button = target instanceof Element ? target.closest("[data-cell]") : null;
    const cell = button instanceof HTMLElement ? Number(button.dataset.cell) : null;
    this.dispatchEvent(new CustomEvent("preview", { detail: { cell }, bubbles: true }));
  }

  /**
   * Highlight the knight that was clicked; null removes the highlight.
   * @param {number | null} cell
   */
  select(cell) {
    for (const [at, button] of this.cells.entries()) button.classList.toggle("selected", at === cell);
  }

  /** @param {Path[]} paths */
  trace(paths) {
    if (!this.view) return;
    const { width, height } = this.view.position;
    this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const at = (/** @type {number} */ cell) => [(cell % width) + 0.5, Math.floor(cell / width) + 0.5];
    this.overlay.replaceChildren(
      ...paths.map(({ cells, kind, numbered = true }) => {
        const points = cells.map(at);
        const steps = numbered ? points.slice(1) : [];
        return svg(
          "g",
          { class: kind },
          svg("polyline", { points: points.map((point) => point.join(",")).join(" ") }),
          steps.map(([x, y], step) => [
            svg("circle", { cx: x + 0.3, cy: y - 0.3, r: 0.16 }),
            svg("text", { x: x + 0.3, y: y - 0.22 }, String(step + 1)),
          ]),
        );
      }),
    );
  }

  /**
   * Frame a block of cells and ring its centre cell; null frames nothing.
   * @param {Cluster | null} cluster
   */
  frame(cluster) {
    this.frames.replaceChildren();
    if (!this.view || !cluster) return;
    const { cells, center } = cluster;
    const { width, height } = this.view.position;
    this.frames.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const at = (/** @type {number} */ cell) => [cell % width, Math.floor(cell / width)];
    const [left, top] = at(cells[0]);
    const [right, bottom] = at(cells[cells.length - 1]);
    const [x, y] = at(center);
    const inset = 0.05; // half of the line's width, which the edge of the board would cut off
    const sides = { width: right - left + 1 - 2 * inset, height: bottom - top + 1 - 2 * inset };
    const drawn = (/** @type {string} */ kind) =>
      svg(
        "g",
        { class: kind },
        svg("rect", { x: left + inset, y: top + inset, ...sides }),
        svg("circle", { cx: x + 0.5, cy: y + 0.5, r: 0.44 }),
      );
    this.frames.append(drawn("cluster halo"), drawn("cluster"));
  }

  // -- keys: arrows move the focus, Enter chooses a cell, and so does typing its name ---------------

  rove(cell = this.cursor, focus = true) {
    this.cells[this.cursor].tabIndex = -1;
    this.cursor = cell;
    this.cells[cell].tabIndex = 0;
    if (focus) this.cells[cell].focus();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.view) return;
    const { width, height } = this.view.position;
    const column = this.cursor % width;
    const row = Math.floor(this.cursor / width);
    /** @type {Record<string, [number, number]>} */
    const steps = {
      ArrowUp: [Math.max(0, row - 1), column],
      ArrowDown: [Math.min(height - 1, row + 1), column],
      ArrowLeft: [row, Math.max(0, column - 1)],
      ArrowRight: [row, Math.min(width - 1, column + 1)],
      Home: [row, 0],
      End: [row, width - 1],
      PageUp: [0, column],
      PageDown: [height - 1, column],
    };
    const step = steps[event.key];
    if (step && this.walking) {
      event.preventDefault();
      event.stopPropagation();
      this.rove(step[0] * width + step[1]);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.walking = true;
      this.choose(this.cursor);
    } else if (event.key === "Escape") {
      this.select(null);
      this.cells[this.cursor].blur();
    } else if (/^[a-zA-Z0-9]$/.test(event.key)) this.type(event.key.toLowerCase());
  }

  /**
   * Add a letter or digit to the name that is being typed, and choose the cell once its name is complete.
   * @param {string} key
   */
  type(key) {
    if (!this.view) return;
    this.typed = (/[a-z]/.test(key) ? "" : this.typed) + key;
    const cell = cellNamed(this.view.position, this.typed);
    if (cell === null) return;
    this.typed = "";
    this.rove(cell);
    if (this.view.targets?.includes(cell)) this.choose(cell);
  }

  // -- pointers: a click chooses a cell, a knight may also be dragged there -------------------------

  /** The cell of the knight that moves next. */
  get own() {
    const position = this.view?.position;
    return !position ? POCKET : position.side === "w" ? position.white : position.black;
  }

  /** @param {PointerEvent} event */
  onDown(event) {
    const cell = this.cellAt(event);
    if (cell === null || event.button) return;
    this.pointing = true;
    this.walking = false;
    this.from = cell;
    if (event.pointerType !== "mouse" && this.view?.previews) {
      this.holding = setTimeout(() => this.hold(cell), HOLD_MS);
    }
    const figure = cell === this.own && cell !== POCKET ? this.cells[cell].querySelector(".knight") : null;
    if (!(figure instanceof SVGElement) || !this.view?.targets?.length) return;
    this.classList.add("dragging");
    this.held = { knight: figure, x: event.clientX, y: event.clientY, moved: false };
  }

  /**
   * Show the line of a cell that is held on a touch screen, instead of choosing the cell.
   * @param {number} cell
   */
  hold(cell) {
    this.drop();
    this.preview(this.cells[cell]);
  }

  /** @param {PointerEvent} event */
  onMove({ clientX, clientY }) {
    if (!this.held) return;
    const { knight: figure, x, y } = this.held;
    if (!this.held.moved && Math.hypot(clientX - x, clientY - y) < DRAG_PIXELS) return;
    clearTimeout(this.holding);
    this.held.moved = true;
    figure.style.transform = `translate(${clientX - x}px, ${clientY - y}px)`;
  }

  /** End dragging and holding. */
  drop() {
    clearTimeout(this.holding);
    if (this.held) this.held.knight.style.transform = "";
    this.held = null;
    this.from = null;
    this.classList.remove("dragging");
    setTimeout(() => (this.pointing = false));
  }

  /** @param {PointerEvent} event */
  onUp(event) {
    const cell = this.cellAt(event);
    const { from, own } = this;
    const dragged = this.held?.moved ?? false;
    this.drop();
    if (cell === null || from === null) return;
    this.rove(cell);
    if (cell === own && from === own) this.select(this.cells[own].classList.contains("selected") ? null : own);
    this.skipSlide = dragged && cell !== own;
    if (cell === from ? !dragged : from === own) this.choose(cell);
  }

  /** @param {PointerEvent} event */
  cellAt({ clientX, clientY }) {
    const root = /** @type {Document | ShadowRoot} */ (this.getRootNode());
    const found = root.elementFromPoint(clientX, clientY)?.closest("[data-cell]");
    return found instanceof HTMLElement && this.contains(found) ? Number(found.dataset.cell) : null;
  }
}

// A notebook loads this file once for each of its boards.
if (!customElements.get("knight-board")) customElements.define("knight-board", KnightBoard);

/**
 * Return the board with an id.
 * @param {string} id
 */
export function boardById(id) {
  const found = document.getElementById(id);
  if (!(found instanceof KnightBoard)) throw new Error(`the page has no board with the id ${id}`);
  return found;
}

/**
 * Call a function when a board sends an event about a cell.
 * @param {KnightBoard} board
 * @param {string} name "cell", or "preview", whose cell may be null
 * @param {(cell: any) => unknown} act
 */
export function onCell(board, name, act) {
  board.addEventListener(name, (event) => act(/** @type {CustomEvent<CellDetail>} */ (event).detail.cell));
}

/**
 * Make a small board that cannot be clicked.
 * @param {BoardView} view
 */
export function stillBoard(view) {
  const board = new KnightBoard();
  board.inert = true;
  board.show(view);
  return board;
}
