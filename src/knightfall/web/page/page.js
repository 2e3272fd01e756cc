// The page: creates the store, the engines, the actions and the views, and connects them.

import { Atlas } from "./model/atlas.js";
import { BestLinePreview } from "./model/best_line.js";
import { Engine } from "./model/engine.js";
import { GAMES_KEY, readGames } from "./model/games.js";
import { keep, merged, restore } from "./model/keep.js";
import { nameOf, parseFen } from "./model/notation.js";
import { Play } from "./model/play.js";
import { PUZZLES_KEY, Puzzles, readRecord } from "./model/puzzles.js";
import { Review } from "./model/review.js";
import { initialState, isChoice, Store } from "./model/store.js";
import { addAnalysisView } from "./views/analysis.js";
import { addAtlasView } from "./views/atlas.js";
import { wantsMotion } from "./views/board.js";
import { onClick, part } from "./views/dom.js";
import { addEndingView } from "./views/ending.js";
import { addGamesView } from "./views/games.js";
import { Lesson } from "./views/lesson.js";
import { addMovesView, nodeByKey } from "./views/moves.js";
import { addNewGameDialog } from "./views/new_game.js";
import { addPlayView } from "./views/play.js";
import { addPuzzlesView } from "./views/puzzles.js";
import { Router } from "./views/router.js";
import { addSound } from "./views/sound.js";

/** @typedef {import("./model/agents.js").Agent} Agent */
/** @typedef {import("./model/play.js").EngineLike} EngineLike */

/**
 * The data of the page: the engine, the ladder, and a function that fetches data for views that are opened later.
 * @typedef {object} PageSource
 * @property {string | URL} worker
 * @property {import("./model/engine.js").Load} load
 * @property {import("./model/store.js").Rung[]} ladder
 * @property {(name: string) => Promise<any>} part
 * @property {string} [lab] the token of the server behind the page, if there is one
 */

const REPLY_MS = 250; // shortest time before the opponent's reply, so that your move is seen
const SETTINGS_KEY = "knightfall.settings";
const LESSON_KEY = "knightfall.lesson";
const local = () => localStorage;

export class Page {
  /** @param {PageSource} source */
  constructor(source) {
    this.source = source;
    this.store = new Store(initialState(source.ladder));
    const { heuristics } = source.load.about;
    const engines = {
      rules: new Engine(source),
      solver: new Engine(source),
      guide: new Engine(source),
      opponent: this.opponent(),
    };
    this.play = new Play(this.store, engines, heuristics, {
      show: (address, kept, another) => this.showAddress(address, kept, another),
      kept: () => history.state ?? {},
      pause: () => new Promise((done) => setTimeout(done, wantsMotion() ? REPLY_MS : 0)),
      now: () => Date.now(),
    });
    this.review = new Review(this.play);
    this.puzzles = new Puzzles(
      this.store,
      engines.rules,
      new Engine(source),
      heuristics,
      () => source.part("puzzles"),
      () => new Date(),
    );
    this.atlas = new Atlas(this.store, engines.rules, Object.keys(source.load.atlas));
    this.router = new Router(this.store);
    this.notation = { nameOf, parseFen }; // for the console
  }

  get state() {
    return this.store.state;
  }

  /**
   * Return an object that computes the opponent's moves: by the engine or, for agents of the server, by the provider.
   * @returns {EngineLike}
   */
  opponent() {
    const engine = new Engine(this.source);
    return /** @type {EngineLike} */ ({
      ask: (/** @type {any} */ name, /** @type {any} */ about) =>
        (about.agent.kind === "remote" && this.play.provider ? this.play.provider.player : engine).ask(name, about),
      stop: () => {
        engine.stop();
        this.play.provider?.player.stop();
      },
    });
  }

  async begin() {
    const { store, play, review, router } = this;
    this.restore();
    const preview = new BestLinePreview(play, wantsMotion);
    const copy = async (/** @type {string} */ text, /** @type {string} */ what) => play.say(await copyText(text, what));
    addPlayView(play, review, preview);
    addMovesView(play);
    addAnalysisView(play, review, preview, copy);
    addEndingView(play, review, copy);
    addNewGameDialog(play);
    addSound(store);
    new Lesson(play);
    router.add("play", { title: "Play", show: () => this.showGame(), keys: this.playKeys() });
    router.add("puzzles", addPuzzlesView(store, this.puzzles, copyText));
    router.add("atlas", addAtlasView(store, this.atlas));
    router.add("games", addGamesView(store));
    this.listen();
    if (this.source.lab) await (await import("./lab/lab.js")).open(this); // only a server has it
    await router.follow();
    this.readyAfter = performance.now(); // milliseconds since the page was requested
    store.set({ ready: true });
  }

  /** Show the game of the address, unless it is on the board already; begin a new game if the address has none. */
  async showGame() {
    const text = location.hash.slice(1);
    if (text && !text.startsWith("/")) {
      if (!this.began || text !== this.play.address) await this.play.setup.open(text);
    } else if (!this.began) await this.play.setup.start();
    else this.play.save();
    this.began = true;
  }

  /**
   * Put a game into the address.
   * @param {string} address
   * @param {import("./model/play.js").Kept} kept
   * @param {boolean} another
   */
  showAddress(address, kept, another) {
    this.router.remember("play", `#${address}`);
    if (this.router.now === "play") this.router.write(`#${address}`, kept, another && Boolean(this.began));
  }

  // -- values in the browser's storage -------------------------------------------------------------

  restore() {
    const { state, store } = this;
    const kept = restore(local, SETTINGS_KEY);
    const ids = this.source.load.about.heuristics.filter((row) => row.id !== "sum" && !row.parameter && !row.costly);
    const choice = merged(state.choice, kept?.choice);
    const settings = merged(state.settings, kept?.settings);
    store.set({
      settings: ["none", "after", "teach"].includes(settings.help) ? settings : state.settings,
      choice: isChoice(choice) ? choice : state.choice,
      games: readGames(restore(local, GAMES_KEY)),
      puzzle: { ...state.puzzle, record: readRecord(restore(local, PUZZLES_KEY)) },
      welcome: restore(local, LESSON_KEY) !== "seen",
      heuristics: ids.map(({ id }) => id),
    });
    store.watch(
      (now) => [now.settings, now.choice],
      ({ settings, choice }) => {
        keep(local, SETTINGS_KEY, { settings, choice });
      },
    );
    store.watch(
      (now) => [now.games],
      ({ games }) => keep(local, GAMES_KEY, games),
    );
    store.watch(
      (now) => [now.puzzle.record],
      ({ puzzle }) => keep(local, PUZZLES_KEY, puzzle.record),
    );
    store.watch(
      (now) => [now.welcome],
      ({ welcome }) => !welcome && keep(local, LESSON_KEY, "seen"),
    );
  }

  // -- keys ----------------------------------------------------------------------------------------

  playKeys() {
    const { play } = this;
    const truth = () => {
      const { settings, mode } = this.state;
      const on = mode === "play" || !settings.truth;
      this.store.set({ settings: { ...settings, truth: on } });
      return play.setMode("analyse");
    };
    return { u: () => play.undo(), r: () => play.redo(), t: truth };
  }

  listen() {
    const { store } = this;
    const keys = part("dialog", "shortcuts");
    onClick({ help: () => store.set({ dialog: "keys" }) });
    keys.addEventListener("close", () => this.state.dialog === "keys" && store.set({ dialog: "" }));
    store.watch(
      (state) => [state.dialog],
      ({ dialog }) => {
        if (dialog === "keys" && !keys.open) keys.showModal();
        if (dialog !== "keys" && keys.open) keys.close();
      },
    );
    addEventListener("keydown", (event) => this.onKey(event));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || !(target instanceof Element)) return;
    if (target.matches("input, select, textarea, dialog *")) return;
    if (key === "?") return this.store.set({ dialog: "keys" });
    const onBoard = target.closest("knight-board");
    const column = key.toLowerCase().charCodeAt(0) - 97;
    const isName = key.length === 1 && (/^\d$/.test(key) || (column >= 0 && column < this.play.position.width));
    if (onBoard && isName) return; // part of a cell's name
    if (this.router.now === "play") {
      const node = nodeByKey(this.play.tree, key);
      if (node !== undefined) event.preventDefault();
      if (node) this.play.goTo(node);
    }
    this.router.views.get(this.router.now)?.keys[key]?.();
  }
}

/**
 * Copy a text. Return a message: that it is copied or, if the browser forbids copying, the text itself.
 * @param {string} text
 * @param {string} what
 */
async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    return `${what} is copied.`;
  } catch {
    return `${what}: ${text}`;
  }
}
