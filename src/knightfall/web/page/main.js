// The page: what was clicked becomes a question to the engine, and what it answers is shown.

import { Analysis, TRUTH_MS } from "./analysis.js";
import { parseAgent, parseTerms } from "./agents.js";
import { Atlas } from "./atlas.js";
import { HEAD_AND_BASE } from "./board.js";
import { $ } from "./dom.js";
import { Engine, Stopped } from "./engine.js";
import { gameText, picture, readPasted, save } from "./exchange.js";
import { explain, LAYERS, layersOf } from "./layers.js";
import { marksOf } from "./marks.js";
import { emptyBoard, formatFen, nameOf, parseFen, POCKET } from "./notation.js";
import { Preview } from "./preview.js";
import { Puzzles } from "./puzzles.js";
import { fromAddress, toAddress, Tree } from "./tree.js";
import { Views } from "./views.js";
import { NAMES, other, plies } from "./words.js";


const MOST_OPINIONS = 3; // more do not fit into a cell

export class App {
  constructor(source) {
    this.source = source;
    this.about = source.load.about;
    this.rules = new Engine(source); // answers at once, and is never stopped
    this.solver = new Engine(source); // the truth about what is looked at
    const engine = new Engine(source);
    this.providers = []; // what the lab can do beside the engine: {agentOf, judges, opinionsOf, player}
    this.player = { // who plays against you
      ask: (what, asked) => (this.providers[asked.agent.provider]?.player ?? engine).ask(what, asked),
      stop: () => [engine, ...this.providers.map((one) => one.player)].forEach((one) => one.stop()),
    };
    this.guide = new Engine(source); // lines, walks and images, for those who look at them
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
    this.analysis = new Analysis(this);
    this.preview = new Preview(this);
    this.views = new Views();
    this.views.add("play", { title: "Play", show: () => this.showGame() });
    this.views.add("puzzles", new Puzzles(this, this.source));
    this.views.add("atlas", new Atlas(this, this.source));
    if (this.source.lab) await (await import("./lab/lab.js")).open(this); // only a server has it
    await this.views.follow();
    this.ready = true;
    this.readyAfter = performance.now();
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
        : this.agentOf(form.get("opponent") === "own" ? form.get("agent") : form.get("opponent"));
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

  agentOf(text) {
    const found = this.providers.map((one) => one.agentOf(text)), provider = found.findIndex(Boolean);
    return provider < 0 ? parseAgent(text, this.about.heuristics) : { ...found[provider], provider };
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
    if (!this.agent || this.busy || this.resigned || this.analysis.retrying || this.position.side === this.you) return;
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
    const retrying = this.analysis.retrying;
    if (this.agent && this.position.side !== this.you && !this.resigned && !retrying) {
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
    if (retrying) await this.analysis.answer(before, cell);
    else if (teaching) await this.wasMistake(before, cell, known);
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

  // -- showing ---------------------------------------------------------------------------------

  async refresh(quiet = false) {
    const node = this.tree.at, { position } = node;
    this.solver.stop();
    try {
      const seen = await this.rules.ask("look", { position });
      if (this.tree.at !== node) return;
      this.seen = seen;
      this.shownTruth = null;
      this.preview.stop();
      this.draw({});
      $("fen").value = formatFen(position); // once: somebody may be writing there
      this.analysis.draw();
      if (!quiet) this.status(seen);
      explain(position, seen);
      this.addOpinions(node, seen).catch((error) => this.told(error)); // the truth may take a while
    } catch (error) {
      this.told(error);
    }
  }

  told(error) {
    if (!(error instanceof Stopped)) this.say(error.message, "bad");
  }

  opinionsOf(position, names) {
    const sums = (some) => some.map((name) => parseTerms(name, this.about.heuristics));
    const here = (some) => this.rules.ask("opinions", { position, sums: sums(some) });
    const provider = this.providers.find((one) => names.some((name) => one.judges(name)));
    return provider ? provider.opinionsOf(position, names, here) : here(names);
  }

  async addOpinions(node, seen) {
    const names = $("heuristic").value.split(",").map((name) => name.trim()).filter(Boolean).slice(0, MOST_OPINIONS);
    let opinions = null;
    if (names.length && seen.moves.length) {
      opinions = await this.opinionsOf(node.position, names);
    }
    const drawn = await layersOf(this, node.position, seen);
    if (this.tree.at !== node) return;
    const show = (truth) => {
      if (this.tree.at !== node) return;
      this.shownTruth = truth;
      this.draw(marksOf(truth, opinions, names), drawn);
    };
    show(null);
    const hidden = $("after").checked && this.agent && node.position.side === this.you && !node.answered;
    if ($("truth").checked && seen.moves.length && !hidden) show(await this.truthOf(node.position, show));
  }

  draw(marks, { layers = {}, paths = [], roles = null } = {}) {
    const { position, cell } = this.tree.at, seen = this.seen ?? { moves: [] };
    const waits = this.resigned || (this.agent && position.side !== this.you && !this.analysis.retrying);
    this.paths = paths;
    const targets = waits ? [] : seen.moves;
    $("board").show({ position, marks, layers, roles, targets, paths: this.preview.node ? [] : paths, last: cell === null ? null : this.lastMove() });
    if (this.preview.node === this.tree.at) this.preview.draw();
  }

  /** The cells of the last move: where it went and where it came from. */
  lastMove() {
    const { position, cell, parent } = this.tree.at;
    const from = parent && (position.side === "b" ? parent.position.white : parent.position.black);
    return cell === null ? [] : [cell, ...(from < POCKET ? [from] : [])];
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

  async goTo(node, retrying = false) {
    this.player.stop();
    if (!retrying) this.analysis.retrying = null;
    this.tree.at = node;
    this.saveAddress();
    await this.refresh();
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

  /** A position, a game or a link, whatever was pasted. */
  async setUp(text) {
    try {
      const tree = await readPasted(text, (position, cell) => this.advance(position, cell), fromAddress);
      this.stopAll();
      this.agent = null;
      this.resigned = null;
      this.analysis.retrying = null;
      this.tree = tree;
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
    $("heuristics").append(...names.map((row) => new Option(row.id, row.id)));
  }

  listen() {
    $("board").addEventListener("cell", ({ detail }) => this.onCell(detail.cell));
    $("new-game").addEventListener("submit", (event) => {
      event.preventDefault();
      this.newGame();
    });
    $("opponent").addEventListener("change", () => ($("agent-row").hidden = $("opponent").value !== "own"));
    const act = {
      undo: () => this.undo(), redo: () => this.step("forward"), resign: () => this.resign(), swap: () => this.swap(),
      review: () => this.analysis.review(), previous: () => this.analysis.toMistake(-1), next: () => this.analysis.toMistake(1),
      retry: () => this.analysis.retry(), copy: () => this.copy(location.href, "The link"),
      "copy-fen": () => this.copy(formatFen(this.position), "The position"), "copy-game": () => this.copy(this.gameText(), "The game"),
      "save-game": () => save("game.txt", this.gameText(), "text/plain"),
      "save-svg": () => save("position.svg", picture(this.position, HEAD_AND_BASE, this.lastMove()), "image/svg+xml"),
      help: () => $("shortcuts").showModal(),
    };
    for (const [id, doing] of Object.entries(act)) $(id).addEventListener("click", doing);
    for (const id of ["truth", "after", "heuristic", ...LAYERS.map((layer) => `layer-${layer}`)]) $(id).addEventListener("change", () => this.refresh(true));
    $("set-up").addEventListener("submit", (event) => {
      event.preventDefault();
      this.setUp($("fen").value);
    });
    addEventListener("hashchange", () => this.views.follow());
    addEventListener("keydown", (event) => {
      if (this.views.now !== "play" && event.key !== "?") return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, dialog *")) return;
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

  /** The game as text, with who played and how it ended. */
  gameText() {
    const end = this.analysis.end(), over = this.resigned || (end === this.tree.at && !this.seen.moves.length);
    const winner = !over ? null : other(this.resigned ?? this.position.side);
    const name = (side) => (!this.agent ? NAMES[side] : side === this.you ? "You" : this.agent.text);
    return gameText(this.tree, { white: name("w"), black: name("b"), winner, reason: over ? (this.resigned ? "resigned" : "no moves left") : "" });
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
