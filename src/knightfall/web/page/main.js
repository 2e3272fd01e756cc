// The page: what was clicked becomes a question to the engine, and what it answers is shown.

import { Analysis, TRUTH_MS } from "./analysis.js";
import { parseAgent, parseTerms } from "./agents.js";
import { Atlas } from "./atlas.js";
import { HEAD_AND_BASE } from "./board.js";
import { $ } from "./dom.js";
import { Ending } from "./ending.js";
import { Engine, Stopped } from "./engine.js";
import { gameText, picture, readPasted, save } from "./exchange.js";
import { Opponents } from "./faces.js";
import { explain, layersOf } from "./layers.js";
import { Lesson } from "./lesson.js";
import { hasWin, marksOf, outlook } from "./marks.js";
import { emptyBoard, formatFen, nameOf, parseFen, POCKET } from "./notation.js";
import { Preview } from "./preview.js";
import { Puzzles } from "./puzzles.js";
import { keepSettings, restoreSettings, SETTINGS } from "./settings.js";
import { drawStrips } from "./strips.js";
import { fromAddress, toAddress, Tree } from "./tree.js";
import { Views } from "./views.js";
import { NAMES, many, other, plies } from "./words.js";


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
    this.opponents = new Opponents(source.ladder);
    this.busy = false;
    this.parts = { parseAgent, parseFen, nameOf, app: this }; // for the console
  }

  async begin() {
    this.fillForms();
    this.listen();
    this.analysis = new Analysis(this);
    this.preview = new Preview(this);
    this.ending = new Ending(this);
    this.lesson = new Lesson(this);
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
      if (!this.began || text !== this.address) await this.readAddress();
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

  /** Make a move, if it is one; `by` names who made it, for those who hear and do not see it. */
  async play(cell, by = "") {
    const position = await this.advance(this.position, cell);
    if (!position) return false;
    this.resigned = null;
    this.tree.play(cell, position);
    this.told = by && `${by} moves to ${nameOf(position, cell)}. `;
    this.saveAddress();
    await this.refresh();
    return true;
  }

  // -- games -----------------------------------------------------------------------------------

  newGame() {
    const form = new FormData($("new-game")), [width, height] = form.get("board").split("x").map(Number);
    const random = form.get("placement") === "random";
    return this.startGame(form, () => (random ? this.placedAtRandom(width, height) : new Tree(emptyBoard(width, height))));
  }

  /** Ask for an opponent: for a new game, or to play on from the position that is looked at. */
  askForOpponent(here) {
    this.fromHere = here;
    $("h-choose").textContent = here ? "Play from here against …" : "New game";
    $("here-told").hidden = !here;
    for (const row of document.querySelectorAll("#new-game [data-new]")) row.hidden = here;
    $("choose-said").textContent = "";
    $("choose").showModal();
  }

  start() {
    if (!this.fromHere) return this.newGame();
    const { position } = this;
    return this.startGame(new FormData($("new-game")), () => new Tree(position));
  }

  /** The same opponent once more, from a new opening. */
  rematch(you) {
    $("new-game").elements.seat.value = you;
    return this.newGame();
  }

  reviewGame() {
    this.setMode("analyse");
    return this.analysis.review();
  }

  /** Play shows the board and the moves; Analyse adds all that there is to know. */
  setMode(mode) {
    this.mode = mode;
    $("analysis").hidden = mode !== "analyse";
    $("analyse").setAttribute("aria-pressed", String(mode === "analyse"));
    if (this.seen) this.ending.draw(this.seen);
  }

  /** Begin a game against whom the form names; the one before is a step back in the browser's history. */
  async startGame(form, makeTree) {
    const seat = form.get("seat"), chosen = form.get("opponent");
    let agent;
    try {
      agent = chosen === "none" ? null : this.agentOf(chosen === "own" ? form.get("agent") : chosen);
    } catch (error) {
      $("choose-said").textContent = error.message;
      if (!$("choose").open) this.say(error.message, "bad");
      return;
    }
    if ($("choose").open) $("choose").close();
    this.stopAll();
    const game = (this.game = {}); // another one may be begun before this one stands
    this.handling = true;
    const tree = await makeTree();
    if (this.game !== game) return;
    this.stand({ tree, agent, you: seat === "any" ? (Math.random() < 0.5 ? "w" : "b") : seat });
    this.setMode("play");
    this.saveAddress(this.began);
    await this.refresh();
    this.handling = false;
    await this.letThemMove();
  }

  /** Put a game on the board: its tree, its opponent (null: both sides are yours) and your side. */
  stand({ tree, agent, you, resigned = null }) {
    Object.assign(this, { tree, agent, you, resigned });
    this.analysis.retrying = null;
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

  /** Whether the opponent is to move and has not yet: where its move is known, that stands. */
  get awaitsOpponent() {
    const { agent, resigned, tree, analysis } = this;
    return agent && !resigned && !analysis.retrying && this.position.side !== this.you && !tree.at.children.length;
  }

  async letThemMove() {
    if (!this.awaitsOpponent || this.busy) return;
    const { moves } = await this.rules.ask("look", { position: this.position });
    if (!moves.length || this.position.side === this.you) return;
    const before = this.tree.at;
    this.busy = true;
    this.say(`${this.opponents.name(this.agent)} is thinking …`);
    drawStrips(this, this.seen);
    try {
      const agent = { ...this.agent, seed: this.agent.seed || Math.floor(Math.random() * 1e9) };
      const { cell } = await this.player.ask("choose", { position: before.position, agent });
      this.busy = false;
      if (this.tree.at === before) await this.play(Number(cell), this.opponents.name(this.agent));
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
      if (this.awaitsOpponent) this.say("It is the opponent’s turn.");
      else await this.redo();
      return;
    }
    const before = this.tree.at, teaching = $("teach").checked;
    before.answered = true;
    if (!(await this.play(cell))) {
      this.say(`${nameOf(this.position, cell)} is not a legal move.`, "bad");
      return;
    }
    if (retrying) await this.analysis.answer(before, cell);
    else if (teaching) await this.teach(before, cell);
  }

  // -- teaching --------------------------------------------------------------------------------

  /** Take back a move that threw the win away, without telling which one keeps it. */
  async teach(before, cell) {
    const truth = await this.verdicts(before.position), name = nameOf(before.position, cell);
    if (!truth[cell] || truth[cell].wins) return;
    if (hasWin(truth)) {
      this.tree.at = before;
      this.saveAddress();
      await this.refresh(true);
      this.say(`${name} throws the win away. Try again, or go on with it by Redo.`, "bad");
    } else {
      const replies = Object.values(await this.verdicts(this.position)), winning = replies.filter((one) => one.wins).length;
      this.advice = `After ${name}, ${winning} of ${replies.length} replies win.`;
    }
  }

  /** Of a lost position: that it is lost, and what there is to aim for. */
  async lostAdvice(node) {
    const truth = await this.verdicts(node.position);
    if (this.tree.at !== node || !Object.keys(truth).length || hasWin(truth)) return;
    const said = this.advice ? `${this.advice} ` : "Against best play this is lost, as it is for most runners. ";
    this.say(`${said}Aim to last, and for moves that leave the opponent few replies that win.`);
    this.advice = null;
  }

  /** Who wins after each move, without how soon: known in some milliseconds. */
  async verdicts(position) {
    return this.truths.get(formatFen(position)) ?? this.guide.ask("verdicts", { position, ms: TRUTH_MS });
  }

  /** What was true of your last decision, for those who want to know only after they have moved. */
  async tellLastDecision(node) {
    const [mine] = this.tree.line(node).filter(({ parent }) => parent.position.side === this.you && parent.position.black !== POCKET).slice(-1);
    if (!mine || mine === node) return;
    const truth = await this.verdicts(mine.parent.position), name = nameOf(node.position, mine.cell);
    const winning = Object.keys(truth).filter((cell) => truth[cell].wins).map((cell) => nameOf(node.position, Number(cell)));
    if (this.tree.at !== node || !truth[mine.cell]) return;
    const told = truth[mine.cell].wins ? `Your ${name} kept the win.`
      : winning.length ? `Your ${name} threw the win away: ${winning.join(", ")} won.` : `Your ${name} was lost like every other move.`;
    this.say(`${told} You to move.`, truth[mine.cell].wins ? "good" : winning.length ? "bad" : "");
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
      drawStrips(this, seen);
      $("redo").hidden = !node.children.length;
      $("resign").disabled = Boolean(this.resigned) || !seen.moves.length;
      this.ending.draw(seen);
      if (!quiet) this.status(seen, node);
      explain(position, seen);
      this.addOpinions(node, seen).catch((error) => this.failed(error)); // the truth may take a while
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) {
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
    let opinions = null, wrong = "";
    try {
      if (names.length && seen.moves.length) opinions = await this.opinionsOf(node.position, names);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      wrong = error.message; // told where it was typed: the truth does not depend on it
    }
    const drawn = await layersOf(this, node.position, seen);
    if (this.tree.at !== node) return;
    const show = (truth) => {
      if (this.tree.at !== node) return;
      this.shownTruth = truth;
      this.draw(marksOf(truth, opinions, names), drawn);
      this.tellOutlook(truth, seen, node.position.side);
    };
    $("legend").classList.toggle("bad", Boolean(wrong));
    $("legend").textContent = wrong ? wrong : names.length ? `On each cell: ${names.join(", ")} of the position after the move, for the mover. “!” marks a favourite that loses.` : "";
    show(null);
    const hidden = $("after").checked && this.agent && node.position.side === this.you && !node.answered;
    if ($("truth").checked && seen.moves.length && !hidden) show(await this.truthOf(node.position, show));
  }

  /** Who is winning and in how many plies, or how much of it is known so far. */
  tellOutlook(truth, seen, side) {
    const place = $("verdict"), { moves } = seen;
    place.className = "verdict";
    place.textContent = "";
    if (!$("truth").checked || !moves.length) return;
    const { winner, known, plies: length } = outlook(truth, moves, side);
    if (winner) place.classList.add(winner);
    place.textContent = winner ? `${NAMES[winner]} wins${length === null ? "" : ` in ${plies(length)}`}.`
      : `Thinking … ${known} of ${moves.length} known.`;
  }

  draw(marks, { layers = {}, paths = [], roles = null } = {}) {
    const { position, cell } = this.tree.at, seen = this.seen ?? { moves: [] };
    const waits = this.resigned || (this.agent && position.side !== this.you && !this.analysis.retrying);
    this.paths = paths;
    const targets = !waits ? seen.moves : this.resigned ? [] : this.tree.at.children.slice(0, 1).map((next) => next.cell);
    $("board").show({ position, marks, layers, roles, targets, paths: this.preview.node ? [] : paths, last: cell === null ? null : this.lastMove() });
    if (this.preview.node === this.tree.at) this.preview.draw();
  }

  /** The cells of the last move: where it went and where it came from. */
  lastMove() {
    const { position, cell, parent } = this.tree.at;
    const from = parent && (position.side === "b" ? parent.position.white : parent.position.black);
    return cell === null ? [] : [cell, ...(from < POCKET ? [from] : [])];
  }

  async status(seen, node) {
    const { position } = this, side = position.side;
    if (this.resigned) {
      const mine = this.agent && this.resigned === this.you;
      return this.say(`${NAMES[this.resigned]} resigned: ${NAMES[other(this.resigned)]} won.`, mine ? "bad" : "good");
    }
    if (!seen.moves.length) {
      const won = other(side), who = this.agent ? (won === this.you ? "You won" : `${this.opponents.name(this.agent)} won`) : `${NAMES[won]} won`;
      return this.say(`${who}: ${NAMES[side]}’s knight has no cell left to go to.`, this.agent && won !== this.you ? "bad" : "good");
    }
    const doing = position[side === "w" ? "white" : "black"] === POCKET ? "place a knight" : "move";
    const yours = side === this.you, [next] = node.children;
    if (this.agent && !yours && next) {
      return this.say(`${this.opponents.name(this.agent)} went to ${nameOf(position, next.cell)} here. Click it or Redo to go on.`);
    }
    const who = this.agent ? (yours ? "You" : this.opponents.name(this.agent)) : NAMES[side];
    const first = this.tree.line(node).length <= 2 && this.agent && yours ? ` You are ${NAMES[side]}: click a dotted cell.` : ` ${many(seen.moves.length, "move")}.`;
    this.say(`${this.told ?? ""}${who} to ${doing}.${first}`);
    this.told = "";
    if (!this.agent || !yours || this.analysis.retrying || position.black === POCKET) return undefined;
    if ($("teach").checked) return this.lostAdvice(node).catch((error) => this.failed(error));
    return $("after").checked ? this.tellLastDecision(node).catch((error) => this.failed(error)) : undefined;
  }

  async goTo(node, retrying = false) {
    this.player.stop();
    if (!retrying) this.analysis.retrying = null;
    this.tree.at = node;
    this.saveAddress();
    await this.refresh();
    await this.letThemMove();
  }

  say(text, kind = "") {
    const place = $("status");
    place.textContent = text;
    place.className = kind;
  }

  // -- the address -----------------------------------------------------------------------------

  /** The game as it stands, with its opponent: all that a reload, a link or Back needs to go on. */
  get address() {
    return toAddress(this.tree, { vs: this.agent?.text, you: this.you, resigned: this.resigned });
  }

  saveAddress(another = false) {
    const address = `#${this.address}`;
    this.views.remember("play", address);
    if (this.views.now === "play") history[another ? "pushState" : "replaceState"](null, "", address);
  }

  async readAddress() {
    this.stopAll();
    this.handling = true; // a click now would be meant for another position
    try {
      const { vs, ...found } = await fromAddress(location.hash.slice(1), (position, cell) => this.advance(position, cell));
      this.stand({ ...found, agent: vs && this.agentOf(vs) });
      this.setMode(vs ? "play" : "analyse");
      if (vs) this.offerAgain(vs, found.you);
      this.views.remember("play", `#${this.address}`);
      await this.refresh();
    } catch (error) {
      this.stand({ tree: new Tree(emptyBoard(7, 7)), agent: null, you: "w" });
      this.setMode("analyse");
      await this.refresh(true);
      this.say(`This address cannot be read: ${error.message}`, "bad");
      return;
    } finally {
      this.handling = false;
    }
    await this.letThemMove();
  }

  /** A position, a game or a link, whatever was pasted. */
  async setUp(text) {
    try {
      const tree = await readPasted(text, (position, cell) => this.advance(position, cell), fromAddress);
      this.stopAll();
      this.stand({ tree, agent: null, you: "w" });
      this.saveAddress(true);
      await this.refresh();
    } catch (error) {
      this.say(error.message, "bad");
    }
  }

  // -- forms and keys --------------------------------------------------------------------------

  fillForms() {
    this.opponents.offer();
    const names = this.about.heuristics.filter((row) => row.id !== "sum" && !row.parameter && !row.costly);
    $("heuristics").append(...names.map((row) => new Option(row.id, row.id)));
    restoreSettings();
  }

  /** Let the form name the opponent and the side of a game that came from an address. */
  offerAgain(agent, side) {
    const form = $("new-game").elements, known = [...form.opponent.options].some(({ value }) => value === agent);
    if (!known) form.agent.value = agent;
    this.opponents.choose(known ? agent : "own");
    form.seat.value = side;
  }

  listen() {
    $("board").addEventListener("cell", ({ detail }) => this.onCell(detail.cell));
    $("new-game").addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    const act = {
      undo: () => this.undo(), redo: () => this.redo(), resign: () => this.resign(), swap: () => this.swap(),
      new: () => this.askForOpponent(false), "from-here": () => this.askForOpponent(true), cancel: () => $("choose").close(),
      analyse: () => this.setMode(this.mode === "analyse" ? "play" : "analyse"),
      review: () => this.analysis.review(), previous: () => this.analysis.toMistake(-1), next: () => this.analysis.toMistake(1),
      retry: () => this.analysis.retry(), copy: () => this.copy(location.href, "The link"),
      "copy-fen": () => this.copy(formatFen(this.position), "The position"), "copy-game": () => this.copy(this.gameText(), "The game"),
      "save-game": () => save("game.txt", this.gameText(), "text/plain"),
      "save-svg": () => save("position.svg", picture(this.position, HEAD_AND_BASE, this.lastMove()), "image/svg+xml"),
      help: () => $("shortcuts").showModal(),
    };
    for (const [id, doing] of Object.entries(act)) $(id).addEventListener("click", doing);
    for (const id of SETTINGS) {
      $(id).addEventListener("change", () => {
        keepSettings();
        if (id !== "teach") this.refresh(true);
      });
    }
    $("set-up").addEventListener("submit", (event) => {
      event.preventDefault();
      this.setUp($("fen").value);
    });
    addEventListener("hashchange", () => this.views.follow());
    addEventListener("keydown", (event) => {
      if (this.views.now !== "play" && event.key !== "?") return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, dialog *")) return;
      const onBoard = event.target.closest("knight-board"), column = event.key.toLowerCase().charCodeAt(0) - 97;
      if (onBoard && (/^\d$/.test(event.key) || (column >= 0 && column < this.position.width))) return; // a cell's name
      const doing = { u: act.undo, r: act.redo, t: () => this.toggle("truth"), "?": act.help }[event.key];
      if (doing) doing();
    });
  }

  toggle(id) {
    $(id).checked = !$(id).checked;
    $(id).dispatchEvent(new Event("change"));
  }

  /** A move on; against an opponent, on to where it is your turn, if it has moved there. */
  async redo() {
    this.tree.forward();
    while (this.agent && this.tree.at.children.length && this.position.side !== this.you) this.tree.forward();
    this.saveAddress();
    await this.refresh();
    await this.letThemMove();
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
    this.saveAddress();
    await this.refresh();
  }

  async swap() {
    this.you = other(this.you);
    this.saveAddress();
    await this.refresh();
    await this.letThemMove();
  }

  /** The game as text, with who played and how it ended. */
  gameText() {
    const end = this.analysis.end(), over = this.resigned || (end === this.tree.at && !this.seen.moves.length);
    const winner = !over ? null : other(this.resigned ?? this.position.side);
    const name = (side) => (!this.agent ? NAMES[side] : side === this.you ? "You" : this.opponents.name(this.agent));
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
