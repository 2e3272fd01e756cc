// The moves of a game with their variations, who was winning after each, and the mistakes to learn from.

import { $ } from "./dom.js";
import { Stopped } from "./engine.js";
import { drawGraph } from "./graph.js";
import { hasWin } from "./marks.js";
import { formatFen, nameOf, POCKET } from "./notation.js";
import { NAMES, other, plies } from "./words.js";

export const TRUTH_MS = 8000;

export class Analysis {
  constructor(app) {
    this.app = app;
    this.retrying = null; // the mistakes that are still to be done better
    $("moves").addEventListener("keydown", (event) => this.onKey(event));
  }

  get tree() {
    return this.app.tree;
  }

  // -- the list of moves -----------------------------------------------------------------------

  draw() {
    const rows = [], { tree } = this;
    const add = (node, depth) => {
      const button = document.createElement("button"), here = node === tree.at;
      button.type = "button";
      button.textContent = `${tree.line(node).length}. ${nameOf(node.position, node.cell)}${node.blunder ? " ??" : ""}`;
      button.className = here ? "here" : "";
      button.tabIndex = here || (tree.at === tree.root && !rows.length) ? 0 : -1;
      if (here) button.setAttribute("aria-current", "step");
      if (depth) button.setAttribute("aria-description", "variation");
      button.style.marginInlineStart = `${depth}rem`;
      button.onclick = () => this.app.goTo(node);
      rows.push(button);
      node.children.slice(1).forEach((child) => add(child, depth + 1));
      if (node.children[0]) add(node.children[0], depth);
    };
    tree.root.children.slice(1).forEach((child) => add(child, 1));
    if (tree.root.children[0]) add(tree.root.children[0], 0);
    const focused = $("moves").contains(document.activeElement);
    $("moves").replaceChildren(...rows);
    const here = $("moves").querySelector(".here") ?? rows[0];
    if (here) { // not the page
      $("moves").scrollTop = here.offsetTop - $("moves").offsetTop - 60;
      $("moves").scrollLeft = here.offsetLeft - $("moves").offsetLeft - 120;
    }
    if (focused) here?.focus();
    drawGraph($("graph"), tree.line(this.end()), (node) => this.app.goTo(node), tree.at);
  }

  /** Left and right along the line, up and down between its variations. */
  onKey(event) {
    const { at, root } = this.tree, beside = at.parent?.children ?? [], place = beside.indexOf(at);
    const node = {
      ArrowLeft: at.parent, ArrowRight: at.children[0], ArrowUp: beside[place - 1], ArrowDown: beside[place + 1],
      Home: root, End: this.end(),
    }[event.key];
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    if (node) this.app.goTo(node);
  }

  /** The last node of the line that is looked at. */
  end() {
    let end = this.tree.at;
    while (end.children.length) end = end.children[0];
    return end;
  }

  // -- the truth about a game ------------------------------------------------------------------

  /** Judge every move of the line, draw who was winning, and mark what threw a win away. */
  async review() {
    const line = this.tree.line(this.end());
    try {
      for (const [number, node] of line.entries()) {
        this.app.say(`Judging move ${number + 1} of ${line.length} …`);
        await this.judge(node);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return null;
    }
    const wrong = line.filter((node) => node.blunder);
    this.draw();
    for (const id of ["previous", "next", "retry"]) $(id).disabled = !wrong.length;
    this.app.say(wrong.length ? `${wrong.length} ${wrong.length === 1 ? "move" : "moves"} threw a win away (??).` : "No move threw a win away.");
    return wrong;
  }

  async judge(node) {
    const { position: before } = node.parent;
    if (before.black === POCKET) return;
    const truth = await this.verdicts(before);
    node.winner = !truth[node.cell] ? null : truth[node.cell].wins ? before.side : other(before.side);
    node.blunder = Boolean(truth[node.cell] && !truth[node.cell].wins && hasWin(truth));
  }

  async verdicts(position) {
    return this.app.truths.get(formatFen(position)) ?? this.app.solver.ask("verdicts", { position, ms: TRUTH_MS });
  }

  /** Go to the position before the next, or previous, blunder: there it can be done better. */
  async toMistake(step) {
    const places = this.tree.line(this.end()).filter((node) => node.blunder).map((node) => node.parent);
    const here = this.tree.line().length, depth = (node) => this.tree.line(node).length;
    const found = step > 0 ? places.find((node) => depth(node) > here) : places.reverse().find((node) => depth(node) < here);
    if (!found) return this.app.say("There is no other mistake that way.");
    await this.app.goTo(found);
    this.app.say(`${NAMES[found.position.side]} threw the win away here. What would have kept it?`);
  }

  // -- retry your mistakes ---------------------------------------------------------------------

  /** Go through the mistakes, your own if somebody played against you, and find what was right. */
  async retry() {
    const mine = (node) => node.blunder && (!this.app.agent || node.parent.position.side === this.app.you);
    const places = this.tree.line(this.end()).filter(mine).map((node) => node.parent);
    if (!places.length) return this.app.say("None of these mistakes is yours.");
    this.retrying = places;
    await this.nextRetry("");
  }

  async nextRetry(said) {
    const [place] = this.retrying;
    if (!place) {
      this.retrying = null;
      return this.app.say(`${said} That was the last of them.`, "good");
    }
    await this.app.goTo(place, true);
    this.app.say(`${said} ${NAMES[place.position.side]} threw the win away here. Find the move that keeps it (${this.retrying.length} left).`.trim(), said ? "good" : "");
  }

  /** Judge an answer: on to the next mistake if it wins, the same one again if it does not. */
  async answer(before, cell) {
    const [place] = this.retrying ?? [];
    if (before !== place) {
      this.retrying = null; // gone elsewhere: a game like any other
      return;
    }
    const truth = await this.verdicts(before.position), name = nameOf(before.position, cell);
    if (truth[cell]?.wins) {
      this.retrying.shift();
      return this.nextRetry(`${name} keeps the win.`);
    }
    await this.app.goTo(before, true);
    const length = truth[cell]?.plies ? ` in ${plies(truth[cell].plies)}` : "";
    this.app.say(`${name} loses${length}, too. Try another one.`, "bad");
  }
}
