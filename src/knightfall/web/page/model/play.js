// The actions of a game: start, move, undo, resign, go to a move, and the opponent's replies.

import { toAddress } from "./address.js";
import { parseAgent } from "./agents.js";
import { Stopped } from "./engine.js";
import { withGame } from "./games.js";
import { nameOf } from "./notation.js";
import { opponentName } from "./opponents.js";
import { Setup } from "./setup.js";
import { placed, winnerOf } from "./status.js";
import { emptyLook, Study } from "./study.js";
import { Teacher } from "./teaching.js";
import { Tree } from "./tree.js";
import { other } from "./words.js";

/** @typedef {import("./agents.js").Agent} Agent */
/** @typedef {import("./heuristics.js").Heuristic} Heuristic */
/** @typedef {Pick<import("./engine.js").Engine, "ask" | "stop">} EngineLike an engine, or what answers like one */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./store.js").Game} Game */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./tree.js").Node} Node */

/**
 * The engines of the page, each in its own thread: `rules` answers at once and is never stopped, `solver` finds the
 * truth about the current position, `guide` computes everything else about it, `opponent` the opponent's moves.
 * @typedef {{rules: EngineLike, solver: EngineLike, guide: EngineLike, opponent: EngineLike}} Engines
 */

/**
 * A source of agents and heuristics beside the engine's own: the lab's server.
 * @typedef {object} Provider
 * @property {(text: string) => Agent | null} agentOf the agent of a string, null if the provider does not have it
 * @property {(name: string) => boolean} judges whether it knows a heuristic
 * @property {(position: Position, names: string[], askEngine: (names: string[]) => Promise<Record<number, number[]>>)
 *   => Promise<Record<number, number[]>>} opinionsOf values of heuristics; `askEngine` evaluates those of the engine
 * @property {EngineLike} player computes the moves of its agents
 */

/** @typedef {{game: string | null, mode: "play" | "analyse"}} Kept the game's id in the list of games, and the mode */

/**
 * Functions of the browser that the game needs.
 * @typedef {object} Browser
 * @property {(address: string, kept: Kept, another: boolean) => void} show put a game into the address; `another` adds
 *   an entry to the browser's history
 * @property {() => Partial<Kept>} kept the values that were stored with the current address
 * @property {() => Promise<void>} pause waits for a moment, so that your move is seen before the opponent's
 * @property {() => number} now milliseconds since 1970
 */

export class Play {
  /**
   * @param {Store} store
   * @param {Engines} engines
   * @param {Heuristic[]} heuristics those of the engine
   * @param {Browser} browser
   */
  constructor(store, engines, heuristics, browser) {
    this.store = store;
    this.engines = engines;
    this.heuristics = heuristics;
    this.browser = browser;
    /** @type {Provider | null} */
    this.provider = null;
    /** @type {string | null} */
    this.id = null; // the game's id in the list of games; null for a position that is only analysed
    /** @type {WeakSet<Node>} */
    this.answered = new WeakSet(); // positions in which you have moved, so that their truth may be shown
    this.setup = new Setup(this);
    this.study = new Study(this);
    this.teacher = new Teacher(this);
  }

  get state() {
    return this.store.state;
  }

  get game() {
    return this.state.game;
  }

  get tree() {
    return this.game.tree;
  }

  get node() {
    return this.tree.at;
  }

  get position() {
    return this.node.position;
  }

  /** The game as an address, from which a reload, a link or the Back button restores it. */
  get address() {
    const { tree, agent, you, resigned, challenge } = this.game;
    return toAddress(tree, { vs: agent?.text, you, resigned, challenge });
  }

  /**
   * Show a message in the status line until something else happens.
   * @param {string} text
   * @param {"" | "good" | "bad"} kind
   */
  say(text, kind = "") {
    this.store.set({ message: { text, kind } });
  }

  /** @param {unknown} error */
  fail(error) {
    if (!(error instanceof Stopped)) this.say(error instanceof Error ? error.message : String(error), "bad");
  }

  /**
   * Return the position after a move, null if it is not legal.
   * @param {Position} position
   * @param {number} cell
   * @returns {Promise<Position | null>}
   */
  advance(position, cell) {
    return this.engines.rules.ask("advance", { position, cell });
  }

  /**
   * Return the agent of a string. Throw an error that says what is wrong with it.
   * @param {string} text
   * @returns {Agent}
   */
  agentOf(text) {
    return this.provider?.agentOf(text) ?? parseAgent(text, this.heuristics);
  }

  /**
   * Put a game on the board.
   * @param {Game} game
   */
  stand(game) {
    this.store.set({ game, look: null, retry: null, line: null, verdict: null, message: null });
  }

  // -- moving --------------------------------------------------------------------------------------

  /**
   * Handle a click on a cell: play your move, or step forward if the opponent has moved here already.
   * @param {number} cell
   */
  async choose(cell) {
    if (this.state.busy) return; // a second click must not move for the opponent
    this.store.set({ busy: true });
    try {
      await this.tryCell(cell);
    } finally {
      this.store.set({ busy: false });
    }
    await this.letOpponentMove();
  }

  /** @param {number} cell */
  async tryCell(cell) {
    const { agent, you } = this.game;
    const { mode, look, thinking, ladder } = this.state;
    if (winnerOf(this.game, look?.seen) && !(agent && mode === "analyse")) return;
    if (agent && this.opponentPlays && this.position.side !== you) {
      if (!this.awaitsOpponent) return this.redo();
      if (thinking) this.say(`It is ${opponentName(agent, ladder)}’s turn.`);
      return;
    }
    const before = this.node;
    if (cell === this.ownKnight) {
      // its moves are dotted already
      this.store.set({ message: null });
      return;
    }
    this.answered.add(before);
    if (!(await this.move(cell))) {
      this.say(`${nameOf(this.position, cell)} is not a legal move.`, "bad");
      return;
    }
    if (this.state.settings.help === "teach") await this.teacher.takeBack(before, cell);
  }

  get ownKnight() {
    const { side, white, black } = this.position;
    return side === "w" ? white : black;
  }

  /**
   * Play a move in the current position. Return whether it was legal.
   * @param {number} cell
   */
  async move(cell) {
    const before = this.node;
    const position = await this.advance(before.position, cell);
    if (!position || this.node !== before) return false;
    this.tree.play(cell, position);
    this.changed({ resigned: null });
    await this.refresh();
    return true;
  }

  /**
   * Redraw and save the game, because its tree has changed; `changes` are other changes of the game.
   * @param {Partial<Game>} changes
   */
  changed(changes = {}) {
    this.store.set({ game: { ...this.game, ...changes }, message: null });
    this.save();
  }

  /** Whether an opponent replies to your moves; while analysing you move both knights. */
  get opponentPlays() {
    const { mode, retry } = this.state;
    return Boolean(this.game.agent) && mode === "play" && !retry;
  }

  /** Whether the opponent is to move in the current position and has not moved there before. */
  get awaitsOpponent() {
    const { resigned, you } = this.game;
    return this.opponentPlays && !resigned && this.position.side !== you && !this.node.children.length;
  }

  async letOpponentMove() {
    const { agent } = this.game;
    if (!agent || !this.awaitsOpponent || this.state.thinking) return;
    const before = this.node;
    const { moves } = await this.engines.rules.ask("look", { position: before.position });
    if (!moves.length || this.node !== before || this.state.thinking) return;
    this.store.set({ thinking: true, message: null });
    try {
      const asked = { ...agent, seed: agent.seed || Math.floor(Math.random() * 1e9) };
      const answer = this.engines.opponent.ask("choose", { position: before.position, agent: asked });
      const [{ cell }] = await Promise.all([answer, this.browser.pause()]);
      this.store.set({ thinking: false });
      if (this.node === before && this.game.agent === agent) await this.move(Number(cell));
    } catch (error) {
      if (!(error instanceof Stopped)) {
        const message = error instanceof Error ? error.message : String(error);
        this.say(`${message} Click the board to try again, or go back with Undo.`, "bad");
      }
    } finally {
      this.store.set({ thinking: false });
    }
  }

  /** Stop all computations. */
  stop() {
    this.engines.opponent.stop();
    this.engines.solver.stop();
    this.engines.guide.stop();
    this.store.set({ thinking: false });
  }

  /**
   * Go to another position of the tree.
   * @param {Node} node
   */
  async goTo(node) {
    this.engines.opponent.stop();
    this.tree.at = node;
    this.store.set({ retry: null, thinking: false });
    this.changed();
    await this.refresh();
    await this.letOpponentMove();
  }

  /** Go one move forward; against an opponent, on to your next turn, if the opponent has moved. */
  async redo() {
    const [next] = this.node.children;
    if (!next) return;
    let node = next;
    while (this.opponentPlays && node.children.length && node.position.side !== this.game.you) [node] = node.children;
    await this.goTo(node);
  }

  /**
   * The position that Undo goes back to; null if there is none. Against an opponent it is your turn there, and knights
   * that were placed at random stay on the board.
   */
  get undone() {
    const { resigned, you } = this.game;
    const { opponentPlays } = this;
    let node = resigned && (!opponentPlays || this.position.side === you) ? this.node : this.node.parent;
    while (opponentPlays && node && node.position.side !== you) node = node.parent;
    const fixed = opponentPlays && this.state.choice.placement === "random" && placed(this.position);
    return node && fixed && !placed(node.position) ? null : node;
  }

  async undo() {
    const node = this.undone;
    if (!node) return;
    this.store.set({ game: { ...this.game, resigned: null } });
    await this.goTo(node);
  }

  async resign() {
    if (!this.state.look?.seen.moves.length || this.game.resigned) return;
    this.engines.opponent.stop();
    this.changed({ resigned: this.game.agent ? this.game.you : this.position.side });
    await this.refresh();
  }

  /** Continue the game as the other side, against the same opponent. */
  async swap() {
    this.store.set({ mode: "play" });
    this.changed({ you: other(this.game.you) });
    await this.refresh();
    await this.letOpponentMove();
  }

  /** @param {"play" | "analyse"} mode */
  async setMode(mode) {
    this.engines.opponent.stop();
    this.store.set({ mode, thinking: false, message: null });
    this.save();
    await this.study.analyse();
    await this.letOpponentMove();
  }

  // -- the tree ------------------------------------------------------------------------------------

  promote() {
    if (this.tree.promote(this.node)) this.changed();
    else this.say("This is the main line already.");
  }

  /** Delete the current move with all that follows. */
  async removeMove() {
    const { parent } = this.node;
    if (!parent) return;
    this.tree.remove(this.node);
    await this.goTo(parent);
  }

  /** @param {string} text */
  comment(text) {
    this.tree.comment(this.node, text);
    this.changed();
  }

  // -- the address, and the list of games ----------------------------------------------------------

  save(another = false) {
    this.browser.show(this.address, { game: this.id, mode: this.state.mode }, another);
  }

  /** Put the game into the list of games, once you have moved in it. */
  record() {
    const { agent, you, tree } = this.game;
    const line = tree.line();
    const mine = line.some(
      ({ parent }) => parent && placed(parent.position) && (!agent || parent.position.side === you),
    );
    if (!this.id || !mine || this.state.mode === "analyse") return;
    const winner = winnerOf(this.game, this.state.look?.seen);
    const { id, address } = this;
    const game = { id, address, vs: agent?.text ?? null, you, winner, plies: line.length, time: this.browser.now() };
    this.store.set({ games: withGame(this.state.games, game) });
  }

  /**
   * Return the address of a challenge to win from the start of this game, or from the analysed position; the name of
   * the opponent; and whether that position is lost.
   */
  async challenge() {
    const { agent, you } = this.game;
    const nodes = [this.tree.root, ...this.tree.line()];
    const start = (nodes.find(({ position }) => placed(position)) ?? this.tree.root).position;
    const position = this.state.mode === "analyse" ? this.position : start;
    const vs = agent ?? this.agentOf(this.state.ladder[this.state.ladder.length - 1].agent);
    const side = agent ? you : position.side;
    const winner = await this.study.winnerBy(position);
    const lost = winner === other(side);
    const address = toAddress(new Tree(position), { vs: vs.text, you: side, challenge: true });
    return { address, name: opponentName(vs, this.state.ladder), lost };
  }

  // -- the current position --------------------------------------------------------------------------

  /** Ask the engines for everything that is shown of the current position. */
  async refresh() {
    const { node } = this;
    this.engines.solver.stop();
    this.engines.guide.stop(); // answers about the previous position are of no use any more
    this.store.set({ line: null });
    try {
      const seen = await this.engines.rules.ask("look", { position: node.position });
      if (this.node !== node) return;
      this.store.set({ look: emptyLook(node, seen) });
      this.record();
    } catch (error) {
      this.fail(error);
      return;
    }
    const failed = (/** @type {unknown} */ error) => this.fail(error);
    this.teacher.advise(node).catch(failed);
    this.study.judgeGame().catch(failed);
    this.study.analyse();
  }
}
