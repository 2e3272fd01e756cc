// The page: what was clicked becomes a question to the engine, and what it answers is shown.

import { parseAgent, parseTerms } from "./agents.js";
import { Atlas } from "./atlas.js";
import "./board.js";
import { $ } from "./dom.js";
import { Engine, Stopped } from "./engine.js";
import { drawGraph } from "./graph.js";
import { emptyBoard, formatFen, nameOf, parseFen, POCKET } from "./notation.js";
import { Puzzles } from "./puzzles.js";
import { fromAddress, toAddress, Tree } from "./tree.js";
import { Views } from "./views.js";

const NAMES = { w: "First player", b: "Second player" };
const TRUTH_MS = 8000;
const other = (side) => (side === "w" ? "b" : "w");
const plies = (number) => `${number} ${number === 1 ? "ply" : "plies"}`;

export class App {
  constructor(source) {
    this.source = source;
    this.about = source.load.about;
    this.rules = new Engine(source); // answers at once, and is never stopped
    this.solver = new Engine(source); // the truth about what is looked at
    this.player = new Engine(source); // who plays against you
    this.tree = new Tree(emptyBoard(7, 7));
    this.you = "w";
    this.agent = null;
    this.resigned = null;
    this.truths = new Map();
    this.busy = false;
    this.parts = { parseAgent, parseFen, nameOf, app: this }; // for the console
  }

  async begin() {
    this.fillForms();
    this.listen();
    this.views = new Views();
    this.views.add("play", { title: "Play", show: () => this.showGame() });
    this.views.add("puzzles", new Puzzles(this, this.source));
    this.views.add("atlas", new Atlas(this, this.source));
    await this.views.follow();
    this.ready = true;
  }

  /** The game of the address, which may be the one that stands; a new one where there is none. */
  async showGame() {
    const text = location.hash.slice(1);
    if (text && !text.startsWith("/")) {
      if (!this.began || text !== toAddress(this.tree)) await this.readAddress();
    } else if (!this.began) await this.newGame();
    else this.saveAddress();
    this.began = true;
  }

  // -- positions -------------------------------------------------------------------------------

  get position() {
    return this.tree.at.position;
  }

  /** The position after a move, null if the engine does not allow it. */
  advance(position, cell) {
    return this.rules.ask("advance", { position, cell });
  }

  async play(cell) {
    const position = await this.advance(this.position, cell);
    if (!position) return false;
    this.resigned = null;
    this.tree.play(cell, position);
    this.saveAddress();
    await this.refresh();
    return true;
  }

  // -- games -----------------------------------------------------------------------------------

  async newGame() {
    const form = new FormData($("new-game"));
    try {
      this.agent = form.get("opponent") === "none" ? null
        : parseAgent(form.get("opponent") === "own" ? form.get("agent") : form.get("opponent"), this.about.heuristics);
    } catch (error) {
      this.say(error.message, "bad");
      return;
    }
    const [width, height] = form.get("board").split("x").map(Number), seat = form.get("seat");
    this.you = seat === "any" ? (Math.random() < 0.5 ? "w" : "b") : seat;
    this.stopAll();
    const game = (this.game = {}); // another one may be begun before this one stands
    this.handling = true;
    const tree = form.get("placement") === "random" ? await this.placedAtRandom(width, height) : new Tree(emptyBoard(width, height));
    if (this.game !== game) return;
    this.resigned = null;
    this.tree = tree;
    this.saveAddress();
    await this.refresh();
    this.handling = false;
    await this.letThemMove();
  }

  async placedAtRandom(width, height) {
    for (;;) {
      const tree = new Tree(emptyBoard(width, height));
      for (let knight = 0; knight < 2; knight++) {
        const { moves } = await this.rules.ask("look", { position: tree.at.position });
        const cell = moves[Math.floor(Math.random() * moves.length)];
        tree.play(cell, await this.advance(tree.at.position, cell));
      }
      if ((await this.rules.ask("look", { position: tree.at.position })).moves.length) return tree;
    }
  }

  async letThemMove() {
    if (!this.agent || this.busy || this.resigned || this.position.side === this.you) return;
    const { moves } = await this.rules.ask("look", { position: this.position });
    if (!moves.length || this.position.side === this.you) return;
    const before = this.tree.at;
    this.busy = true;
    this.say(`${this.agent.text} is thinking …`);
    try {
      const agent = { ...this.agent, seed: this.agent.seed || Math.floor(Math.random() * 1e9) };
      const { cell } = await this.player.ask("choose", { position: before.position, agent });
      this.busy = false;
      if (this.tree.at === before) await this.play(Number(cell));
    } catch (error) {
      if (!(error instanceof Stopped)) this.say(error.message, "bad");
    } finally {
      this.busy = false;
    }
  }

  stopAll() {
    this.player.stop();
    this.solver.stop();
    this.busy = false;
  }

  /** One click at a time: a second one must not move for the opponent. */
  async onCell(cell) {
    if (this.handling) return;
    this.handling = true;
    try {
      await this.tryCell(cell);
    } finally {
      this.handling = false;
    }
    await this.letThemMove();
  }

  async tryCell(cell) {
    if (this.agent && this.position.side !== this.you && !this.resigned) {
      this.say("It is the opponent’s turn.");
      return;
    }
    const before = this.tree.at, teaching = $("teach").checked;
    before.answered = true;
    const known = this.truths.get(formatFen(before.position));
    if (!(await this.play(cell))) {
      this.say(`${nameOf(this.position, cell)} is not a legal move.`, "bad");
      return;
    }
    if (teaching) await this.wasMistake(before, cell, known);
  }

  /** In teaching mode: say what was wrong with a move that threw the win away, and take it back. */
  async wasMistake(before, cell, known) {
    const truth = known ?? (await this.truthOf(before.position));
    if (!truth[cell] || truth[cell].wins) return;
    const better = Object.keys(truth).filter((one) => truth[one].wins);
    if (!better.length) return;
    const names = better.map((one) => `${nameOf(before.position, Number(one))}${truth[one].plies ? ` (${plies(truth[one].plies)})` : ""}`);
    const length = truth[cell].plies ? ` in ${plies(truth[cell].plies)}` : "";
    this.say(`${nameOf(before.position, cell)} loses${length}. ${names.join(", ")} would have won. Try again, or go on with redo.`, "bad");
    this.tree.at = before;
    this.saveAddress();
    await this.refresh(true);
  }

  // -- the truth -------------------------------------------------------------------------------

  async truthOf(position, onPart = () => {}) {
    const fen = formatFen(position), known = this.truths.get(fen);
    if (known) return known;
    const found = await this.solver.ask("truth", { position, ms: TRUTH_MS }, onPart);
    const { moves } = await this.rules.ask("look", { position });
    const whole = moves.every((cell) => found[cell] && found[cell].plies !== null);
    if (whole) this.truths.set(fen, found); // what there was no time for is asked again
    return found;
  }

  marksOf(truth, opinions) {
    const marks = {}, position = this.position;
    const best = opinions && Math.max(...Object.values(opinions).map(([value]) => value));
    for (const cell of new Set([...Object.keys(truth ?? {}), ...Object.keys(opinions ?? {})])) {
      const one = truth?.[cell], value = opinions?.[cell]?.[0];
      const liked = value !== undefined && value === best;
      const texts = [], told = [];
      if (one) {
        texts.push(`${one.wins ? "✓" : "✗"}${one.plies ?? ""}`);
        told.push(`${one.wins ? "wins" : "loses"}${one.plies ? ` in ${plies(one.plies)}` : ""}`);
      }
      if (value !== undefined) {
        const number = Number.isFinite(value) ? String(Math.round(value * 100) / 100) : value > 0 ? "∞" : "−∞";
        texts.push(`<small>${number}${liked && one && !one.wins && this.hasWin(truth) ? " !" : ""}</small>`);
        told.push(`heuristic ${number}${liked ? ", its choice" : ""}`);
      }
      marks[cell] = { text: texts.join(" "), kind: one ? (one.wins ? "won" : "lost") : "valued", told: told.join(", ") };
    }
    return marks;
  }

  hasWin(truth) {
    return Object.values(truth ?? {}).some((one) => one.wins);
  }

  // -- showing ---------------------------------------------------------------------------------

  async refresh(quiet = false) {
    const node = this.tree.at, { position } = node;
    this.solver.stop();
    try {
      const seen = await this.rules.ask("look", { position });
      if (this.tree.at !== node) return;
      this.seen = seen;
      this.draw({});
      $("fen").value = formatFen(position); // once: somebody may be writing there
      this.drawMoves();
      if (!quiet) this.status(seen);
      this.explain(seen);
      this.addOpinions(node, seen).catch((error) => this.told(error)); // the truth may take a while
    } catch (error) {
      this.told(error);
    }
  }

  told(error) {
    if (!(error instanceof Stopped)) this.say(error.message, "bad");
  }

  async addOpinions(node, seen) {
    let opinions = null;
    if ($("heuristic").value && seen.moves.length) {
      const sums = [parseTerms($("heuristic").value, this.about.heuristics)];
      opinions = await this.rules.ask("opinions", { position: node.position, sums });
    }
    const show = (truth) => {
      if (this.tree.at === node) this.draw(this.marksOf(truth, opinions));
    };
    show(null);
    const hidden = $("after").checked && this.agent && node.position.side === this.you && !node.answered;
    if ($("truth").checked && seen.moves.length && !hidden) show(await this.truthOf(node.position, show));
  }

  draw(marks) {
    const { position, cell, parent } = this.tree.at, seen = this.seen ?? { moves: [] };
    const from = parent && (position.side === "b" ? parent.position.white : parent.position.black);
    const layers = {};
    if ($("layer-reach").checked && seen.reach) Object.assign(layers, { w: seen.reach.w, b: seen.reach.b });
    const over = !seen.moves.length || this.resigned;
    $("board").show({
      position, marks, layers,
      targets: over ? [] : seen.moves,
      last: cell === null ? null : [cell, ...(from < POCKET ? [from] : [])],
    });
  }

  status(seen) {
    const { position } = this, side = position.side;
    if (this.resigned) return this.say(`${NAMES[this.resigned]} resigned: ${NAMES[other(this.resigned)].toLowerCase()} won.`, "good");
    if (!seen.moves.length) {
      const won = other(side), who = this.agent ? (won === this.you ? "You won" : `${this.agent.text} won`) : `${NAMES[won]} won`;
      return this.say(`${who}: the ${NAMES[side].toLowerCase()}’s knight has no cell left to go to.`, this.agent && won !== this.you ? "bad" : "good");
    }
    const doing = position[side === "w" ? "white" : "black"] === POCKET ? "place a knight" : "move";
    const who = this.agent ? (side === this.you ? "You" : "The opponent") : NAMES[side];
    this.say(`${who} to ${doing}.`);
  }

  /** The sentences of the layers: why what is shown matters. */
  explain(seen) {
    const { position } = this, rows = [];
    if (position.black === POCKET) rows.push("Both knights are placed first; any open cell will do.");
    else {
      rows.push(`${NAMES[seen.hunter]} is the hunter: only it can ever take a cell that the other was about to go to. That never changes during a game.`);
      if (seen.separated) {
        const { w, b } = seen.walks;
        rows.push(w < 0 || b < 0
          ? "The knights can no longer meet: whoever has the longer walk left wins."
          : `The knights can no longer meet. The first player can still walk ${w} steps, the second ${b}: the side to move needs strictly more than the other.`);
      } else rows.push("The knights can still meet: cells that both can reach are worth fighting for.");
      if (seen.mirrored) rows.push("The position is its own image in the board’s centre: the side to move loses, for each of its moves can be answered by the image.");
    }
    $("why").replaceChildren(...rows.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }

  drawMoves() {
    const list = $("moves"), rows = [];
    const add = (node, depth) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${this.tree.line(node).length}. ${nameOf(node.position, node.cell)}${node.blunder ? " ??" : ""}`;
      button.className = node === this.tree.at ? "here" : "";
      if (node === this.tree.at) button.setAttribute("aria-current", "step");
      button.style.marginInlineStart = `${depth}rem`;
      button.onclick = () => this.goTo(node);
      rows.push(button);
      node.children.slice(1).forEach((child) => add(child, depth + 1));
      if (node.children[0]) add(node.children[0], depth);
    };
    this.tree.root.children.slice(1).forEach((child) => add(child, 1));
    if (this.tree.root.children[0]) add(this.tree.root.children[0], 0);
    list.replaceChildren(...rows);
    list.querySelector(".here")?.scrollIntoView({ block: "nearest" });
  }

  async goTo(node) {
    this.player.stop();
    this.tree.at = node;
    this.saveAddress();
    await this.refresh();
  }

  /** Judge every move of the line, draw who was winning, and mark what threw a win away. */
  async review() {
    const line = this.tree.line();
    try {
      for (const [number, node] of line.entries()) {
        this.say(`Judging move ${number + 1} of ${line.length} …`);
        const { position: before } = node.parent;
        if (before.white === POCKET || before.black === POCKET) continue;
        const truth = this.truths.get(formatFen(before)) ?? (await this.solver.ask("verdicts", { position: before, ms: TRUTH_MS }));
        const known = Object.keys(truth).length;
        node.winner = !truth[node.cell] ? null : truth[node.cell].wins ? before.side : other(before.side);
        node.blunder = Boolean(known && truth[node.cell] && !truth[node.cell].wins && this.hasWin(truth));
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      return;
    }
    const wrong = line.filter((node) => node.blunder).length;
    this.drawMoves();
    drawGraph($("graph"), line, (node) => this.goTo(node));
    for (const id of ["previous", "next"]) $(id).disabled = !wrong;
    this.say(wrong ? `${wrong} ${wrong === 1 ? "move" : "moves"} threw a win away (??).` : "No move threw a win away.");
  }

  /** Go to the position before the next, or previous, blunder: there it can be done better. */
  async toMistake(step) {
    let end = this.tree.at;
    while (end.children.length) end = end.children[0];
    const places = this.tree.line(end).filter((node) => node.blunder).map((node) => node.parent);
    const here = this.tree.line().length, depth = (node) => this.tree.line(node).length;
    const found = step > 0 ? places.find((node) => depth(node) > here) : places.reverse().find((node) => depth(node) < here);
    if (!found) return this.say("There is no other mistake that way.");
    await this.goTo(found);
    this.say(`${NAMES[found.position.side]} threw the win away here. What would have kept it?`);
  }

  say(text, kind = "") {
    const place = $("status");
    place.textContent = text;
    place.className = kind;
  }

  // -- the address -----------------------------------------------------------------------------

  saveAddress() {
    const address = `#${toAddress(this.tree)}`;
    this.views.remember("play", address);
    if (this.views.now === "play") history.replaceState(null, "", address);
  }

  async readAddress() {
    this.stopAll();
    try {
      this.tree = await fromAddress(location.hash.slice(1), (position, cell) => this.advance(position, cell));
      this.agent = null;
      this.resigned = null;
      await this.refresh();
    } catch (error) {
      this.tree = new Tree(emptyBoard(7, 7));
      await this.refresh(true);
      this.say(`This address cannot be read: ${error.message}`, "bad");
    }
  }

  async setUp(text) {
    try {
      const position = parseFen(text);
      this.stopAll();
      this.agent = null;
      this.resigned = null;
      this.tree = new Tree(position);
      this.saveAddress();
      await this.refresh();
    } catch (error) {
      this.say(error.message, "bad");
    }
  }

  // -- forms and keys --------------------------------------------------------------------------

  fillForms() {
    const ladder = this.source.ladder.map((row) => {
      const rating = `${row.elo > 0 ? "+" : ""}${Math.round(row.elo)} ± ${Math.round(row.error)}`;
      return new Option(`${row.name} (${rating})`, row.agent, row.usual, row.usual);
    });
    $("opponent").prepend(...ladder);
    const names = this.about.heuristics.filter((row) => row.id !== "sum" && !row.parameter && !row.costly);
    $("heuristic").append(...names.map((row) => new Option(row.id, row.id)));
  }

  listen() {
    $("board").addEventListener("cell", ({ detail }) => this.onCell(detail.cell));
    $("new-game").addEventListener("submit", (event) => {
      event.preventDefault();
      this.newGame();
    });
    $("opponent").addEventListener("change", () => ($("agent-row").hidden = $("opponent").value !== "own"));
    const act = {
      undo: () => this.undo(), redo: () => this.step("forward"), resign: () => this.resign(),
      swap: () => this.swap(), review: () => this.review(), previous: () => this.toMistake(-1), next: () => this.toMistake(1), copy: () => this.copy(location.href, "The link"),
      "copy-fen": () => this.copy($("fen").value, "The position"), help: () => $("shortcuts").showModal(),
    };
    for (const [id, doing] of Object.entries(act)) $(id).addEventListener("click", doing);
    for (const id of ["truth", "after", "heuristic", "layer-reach"]) $(id).addEventListener("change", () => this.refresh(true));
    $("set-up").addEventListener("submit", (event) => {
      event.preventDefault();
      this.setUp($("fen").value);
    });
    addEventListener("hashchange", () => this.views.follow());
    addEventListener("keydown", (event) => {
      if (this.views.now !== "play" && event.key !== "?") return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, dialog *")) return;
      if (event.target.closest("knight-board") && /^[a-z0-9]$/i.test(event.key)) return;
      const doing = { u: act.undo, r: act.redo, t: () => this.toggle("truth"), "?": act.help }[event.key];
      if (doing) doing();
    });
  }

  toggle(id) {
    $(id).checked = !$(id).checked;
    this.refresh(true);
  }

  async step(which) {
    this.tree[which]();
    this.saveAddress();
    await this.refresh();
  }

  /** Against an opponent, back to where it was your turn. */
  async undo() {
    this.player.stop();
    this.resigned = null;
    this.tree.back();
    while (this.agent && this.tree.at.parent && this.position.side !== this.you) this.tree.back();
    this.saveAddress();
    await this.refresh();
  }

  async resign() {
    if (!this.seen?.moves.length || this.resigned) return;
    this.player.stop();
    this.resigned = this.agent ? this.you : this.position.side;
    await this.refresh();
  }

  async swap() {
    this.you = other(this.you);
    await this.refresh();
    await this.letThemMove();
  }

  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`${what} is copied.`);
    } catch {
      this.say(`${what}: ${text}`);
    }
  }
}
