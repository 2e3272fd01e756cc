// <knight-board>: a board that is drawn, clicked, dragged, touched and walked over by keys.
//
// It shows what it is given and tells which cell was chosen; it does not know the rules.

import { cellNamed, isIn, nameOf, POCKET } from "./notation.js";

const HEAD = "M29 80C29 66 47 63 50 48C44 53 39 54 35 59C32 64 24 65 20 59C17 54 18 50 22 45" +
  "C27 38 29 34 32 28C33 24 33 19 32 12C38 14 42 17 45 20C47 17 48 14 49 10" +
  "C52 13 54 16 55 20C71 28 79 48 77 80Z";
const BASE = "M25 80H81Q84 80 84 84V88Q84 91 81 91H25Q22 91 22 88V84Q22 80 25 80Z";

export const HEAD_AND_BASE = HEAD + BASE;

const knight = (side) =>
  `<svg class="knight ${side}" viewBox="0 0 100 100" aria-hidden="true"><path d="${HEAD_AND_BASE}"/></svg>`;

export class KnightBoard extends HTMLElement {
  constructor() {
    super();
    this.view = null;
    this.cursor = 0;
    this.typed = "";
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.addEventListener("pointerdown", (event) => this.onDown(event));
    this.addEventListener("pointermove", (event) => this.onMove(event));
    this.addEventListener("pointerup", (event) => this.onUp(event));
    this.addEventListener("pointercancel", () => this.drop());
    this.addEventListener("focusin", ({ target }) => this.preview(target));
    this.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.preview(event.target));
    for (const left of ["focusout", "pointerleave"]) this.addEventListener(left, () => this.preview(null));
  }

  connectedCallback() {
    this.setAttribute("role", "grid");
  }

  /** Draw: position, targets, marks by cell ({text, kind, told}), last move, layers by side, paths. */
  show(view) {
    const { position } = view, size = `${position.width}x${position.height}`;
    const before = this.size === size ? this.view?.position : null;
    if (this.size !== size) this.layOut(position, size);
    this.view = view;
    for (const button of this.cells) this.draw(button, Number(button.dataset.cell));
    if (before) for (const knight of ["white", "black"]) this.slide(before[knight], position[knight]);
    this.trace(view.paths ?? []);
    this.rove(this.cursor, false);
  }

  layOut({ width, height }, size) {
    this.size = size;
    this.style.setProperty("--columns", width);
    this.style.setProperty("--rows", height);
    this.replaceChildren();
    this.cells = [];
    for (let row = 0; row < height; row++) {
      const line = document.createElement("div");
      line.setAttribute("role", "row");
      for (let column = 0; column < width; column++) {
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("role", "gridcell");
        button.dataset.cell = row * width + column;
        button.tabIndex = -1;
        line.append(button);
        this.cells.push(button);
      }
      this.append(line);
    }
    this.overlay = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.overlay.setAttribute("aria-hidden", "true"); // what it shows is told in words as well
    this.overlay.setAttribute("class", "overlay");
    const still = document.createElement("div");
    still.setAttribute("role", "presentation");
    still.append(this.overlay);
    this.append(still);
    this.cursor = Math.floor((width * height) / 2);
  }

  draw(button, cell) {
    const { position, targets = [], marks = {}, last, layers = {}, roles } = this.view;
    const side = cell === position.white ? "w" : cell === position.black ? "b" : null;
    const open = isIn(position.open, cell), target = targets.includes(cell), mark = marks[cell];
    const classes = [(Math.floor(cell / position.width) + (cell % position.width)) % 2 ? "dark" : "light"];
    if (!open && !side) classes.push("gone");
    if (target) classes.push("target");
    if (last?.includes(cell)) classes.push("last");
    if (mark) classes.push(mark.kind);
    for (const [name, cells] of Object.entries(layers)) if (isIn(cells, cell)) classes.push(`layer-${name}`);
    button.className = classes.join(" ");
    const name = nameOf(position, cell), column = cell % position.width;
    const corner = (column === 0 ? `<i class="rank">${name.slice(1)}</i>` : "") +
      (cell >= position.width * (position.height - 1) ? `<i class="file">${name[0]}</i>` : "");
    const content = `${corner}${side ? knight(side) : ""}${side && roles?.[side] ? `<em>${roles[side]}</em>` : ""}${mark ? `<b>${mark.text}</b>` : ""}`;
    if (button.content !== content) button.innerHTML = button.content = content; // or a slide would be cut short
    const is = side ? `${side === "w" ? "White" : "Black"}’s knight${roles?.[side] ? `, the ${roles[side]}` : ""}` : open ? "open" : "gone";
    button.setAttribute("aria-label", [name, is, target ? "legal move" : "", mark?.told ?? ""].filter(Boolean).join(", "));
    button.setAttribute("aria-disabled", String(!target));
  }

  /** Let a knight that has moved come from where it was, where movement is welcome. */
  slide(from, to) {
    if (from === to || from === POCKET || to === POCKET) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [start, end] = [this.cells[from], this.cells[to]].map((button) => button.getBoundingClientRect());
    const away = `translate(${start.left - end.left}px, ${start.top - end.top}px)`;
    this.cells[to].querySelector(".knight")?.animate([{ transform: away }, { transform: "none" }], { duration: 160, easing: "ease-out" });
  }

  choose(cell) {
    this.dispatchEvent(new CustomEvent("cell", { detail: { cell }, bubbles: true }));
  }

  /** Tell which cell is looked at, by mouse or focus; null if none is any more. */
  preview(element) {
    const cell = element?.closest("[data-cell]")?.dataset.cell;
    const detail = { cell: cell === undefined ? null : Number(cell) };
    this.dispatchEvent(new CustomEvent("preview", { detail, bubbles: true }));
  }

  /** Draw paths over the cells: [{cells, kind}], each a line with the number of every step. */
  trace(paths) {
    const { width, height } = this.view.position;
    this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const at = (cell) => [cell % width + 0.5, Math.floor(cell / width) + 0.5];
    this.overlay.innerHTML = paths.map(({ cells, kind, numbered = true }) => {
      const points = cells.map(at), steps = numbered ? points.slice(1) : [];
      return `<g class="${kind}"><polyline points="${points.map((point) => point.join(",")).join(" ")}"/>${steps.map(([x, y], step) =>
        `<circle cx="${x + 0.3}" cy="${y - 0.3}" r="0.16"/><text x="${x + 0.3}" y="${y - 0.22}">${step + 1}</text>`).join("")}</g>`;
    }).join("");
  }

  // -- keys: arrows walk, Enter plays, and a cell's name typed out plays as well ----------------

  rove(cell, focus = true) {
    this.cells[this.cursor].tabIndex = -1;
    this.cursor = cell;
    this.cells[cell].tabIndex = 0;
    if (focus) this.cells[cell].focus();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.view) return;
    const { width, height } = this.view.position, at = this.cursor, column = at % width;
    const row = Math.floor(at / width);
    const step = {
      ArrowUp: [Math.max(0, row - 1), column], ArrowDown: [Math.min(height - 1, row + 1), column],
      ArrowLeft: [row, Math.max(0, column - 1)], ArrowRight: [row, Math.min(width - 1, column + 1)],
      Home: [row, 0], End: [row, width - 1], PageUp: [0, column], PageDown: [height - 1, column],
    }[event.key];
    if (step) {
      event.preventDefault();
      this.rove(step[0] * width + step[1]);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.choose(at);
    } else if (/^[a-zA-Z0-9]$/.test(event.key)) {
      this.typed = (/[a-zA-Z]/.test(event.key) ? "" : this.typed) + event.key.toLowerCase();
      const cell = cellNamed(this.view.position, this.typed);
      if (cell !== null) {
        this.typed = "";
        this.rove(cell);
        if (this.view.targets?.includes(cell)) this.choose(cell);
      }
    }
  }

  // -- pointers: a click chooses a cell; a knight may also be dragged there ---------------------

  onDown(event) {
    const cell = this.cellAt(event);
    if (cell === null || event.button) return;
    this.from = cell;
    const { position } = this.view ?? {};
    const own = position && (position.side === "w" ? position.white : position.black);
    if (cell !== own || own === POCKET) return;
    this.classList.add("dragging");
    this.held = { knight: this.cells[own].querySelector(".knight"), x: event.clientX, y: event.clientY };
  }

  /** The knight that is dragged follows the pointer. */
  onMove({ clientX, clientY }) {
    if (!this.held) return;
    const { knight, x, y } = this.held;
    knight.style.transform = `translate(${clientX - x}px, ${clientY - y}px)`;
  }

  drop() {
    if (this.held) this.held.knight.style.transform = "";
    this.held = null;
    this.from = undefined;
    this.classList.remove("dragging");
  }

  onUp(event) {
    const cell = this.cellAt(event), { from } = this;
    this.drop();
    if (cell === null || from === undefined) return;
    this.rove(cell);
    const { position } = this.view;
    const own = position.side === "w" ? position.white : position.black;
    if (cell === from || from === own) this.choose(cell);
  }

  cellAt({ clientX, clientY }) {
    const found = document.elementFromPoint(clientX, clientY)?.closest("[data-cell]");
    return found && this.contains(found) ? Number(found.dataset.cell) : null;
  }
}

customElements.define("knight-board", KnightBoard);
