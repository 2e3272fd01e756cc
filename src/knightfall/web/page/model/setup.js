// Setting up the game on the board: a new one, one from an address, or one that was pasted.

import { fromAddress } from "./address.js";
import { Stopped } from "./engine.js";
import { readPasted } from "./exchange.js";
import { emptyBoard } from "./notation.js";
import { Tree } from "./tree.js";

/** @typedef {import("./agents.js").Agent} Agent */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./play.js").Play} Play */

const randomId = () => Math.floor(Math.random() * 2 ** 52).toString(36);

export class Setup {
  /** @param {Play} play */
  constructor(play) {
    this.play = play;
    this.starting = 0; // counts started games, because one may be started before another is set up
  }

  /**
   * Open the dialog that asks for an opponent.
   * @param {boolean} here whether the game begins at the current position
   */
  ask(here) {
    this.play.store.set({ dialog: here ? "here" : "new", wrong: "" });
  }

  /** Begin the game that the dialog describes; the dialog shows the error of an invalid agent. */
  async start() {
    const { choice, dialog } = this.play.state;
    const { position } = this.play;
    const [width, height] = choice.board.split("x").map(Number);
    let agent = null;
    try {
      if (choice.opponent !== "none") {
        agent = this.play.agentOf(choice.opponent === "own" ? choice.agent : choice.opponent);
      }
    } catch (error) {
      if (dialog) this.play.store.set({ wrong: /** @type {Error} */ (error).message });
      else await this.startUsual(/** @type {Error} */ (error).message);
      return;
    }
    const free = new Tree(emptyBoard(width, height));
    const random = choice.placement === "random";
    await this.begin(agent, async () =>
      dialog === "here" ? new Tree(position) : random ? this.placedAtRandom(width, height) : free,
    );
  }

  /**
   * Begin a game against the usual opponent, because the chosen one is not available, such as an agent of a lab that
   * is not running.
   * @param {string} why
   */
  async startUsual(why) {
    const { ladder, choice } = this.play.state;
    const usual = ladder.find((rung) => rung.usual) ?? ladder[0];
    if (choice.opponent === usual.agent) throw new Error(why);
    this.play.store.set({ choice: { ...choice, opponent: usual.agent } });
    await this.start();
    this.play.say(`${why} You play against ${usual.name}.`, "bad");
  }

  /**
   * Begin a game of the same kind against the same opponent, from a new opening.
   * @param {Side} you
   */
  async rematch(you) {
    this.play.store.set({ choice: { ...this.play.state.choice, seat: you } });
    await this.start();
  }

  /**
   * Begin a game. The Back button of the browser leads to the game before.
   * @param {Agent | null} agent
   * @param {() => Promise<Tree>} makeTree
   */
  async begin(agent, makeTree) {
    this.play.stop();
    const started = ++this.starting;
    this.play.store.set({ dialog: "", wrong: "", busy: true });
    const tree = await makeTree();
    if (started !== this.starting) return;
    const { seat } = this.play.state.choice;
    const you = seat === "any" ? (Math.random() < 0.5 ? "w" : "b") : seat;
    this.play.id = randomId();
    this.play.stand({ tree, agent, you, resigned: null, challenge: false });
    this.play.store.set({ mode: "play" });
    this.play.save(true);
    await this.play.refresh();
    this.play.store.set({ busy: false });
    await this.play.letOpponentMove();
  }

  /**
   * Return a game in which both knights have been placed at random and the first player can move.
   * @param {number} width
   * @param {number} height
   */
  async placedAtRandom(width, height) {
    const { rules } = this.play.engines;
    for (;;) {
      const tree = new Tree(emptyBoard(width, height));
      for (let knight = 0; knight < 2; knight++) {
        const { moves } = await rules.ask("look", { position: tree.at.position });
        const cell = moves[Math.floor(Math.random() * moves.length)];
        const position = await this.play.advance(tree.at.position, cell);
        if (position) tree.play(cell, position);
      }
      if ((await rules.ask("look", { position: tree.at.position })).moves.length) return tree;
    }
  }

  /**
   * Show the game of an address, and continue it if it has an opponent.
   * @param {string} text
   */
  async open(text) {
    this.play.stop();
    const started = ++this.starting;
    this.play.store.set({ busy: true });
    try {
      const { vs, ...found } = await fromAddress(text, (position, cell) => this.play.advance(position, cell));
      if (started !== this.starting) return;
      const agent = vs ? this.play.agentOf(vs) : null;
      const listed = this.play.state.games.find(({ address }) => address === text);
      const kept = this.play.browser.kept();
      this.play.id = kept.game ?? listed?.id ?? (agent ? randomId() : null);
      this.play.stand({ ...found, agent });
      this.play.store.set({ mode: agent ? (kept.mode ?? "play") : "analyse" });
      if (agent) this.chooseAgain(agent.text, found.you);
      this.play.save();
      await this.play.refresh();
    } catch (error) {
      if (error instanceof Stopped) return;
      this.play.id = null;
      const tree = new Tree(emptyBoard(7, 7));
      this.play.stand({ tree, agent: null, you: "w", resigned: null, challenge: false });
      this.play.store.set({ mode: "analyse" });
      await this.play.refresh();
      this.play.say(`This address cannot be read: ${/** @type {Error} */ (error).message}`, "bad");
    } finally {
      if (started === this.starting) this.play.store.set({ busy: false });
    }
    await this.play.letOpponentMove();
  }

  /**
   * Choose the opponent and the side of a game from an address in the dialog, too.
   * @param {string} agent
   * @param {Side} seat
   */
  chooseAgain(agent, seat) {
    const { choice, ladder, offers } = this.play.state;
    const known = [...ladder, ...offers].some((one) => one.agent === agent);
    const changes = known ? { opponent: agent } : { opponent: "own", agent };
    this.play.store.set({ choice: { ...choice, ...changes, seat } });
  }

  /**
   * Set up a position, a game or a link that was pasted.
   * @param {string} text
   */
  async setUp(text) {
    try {
      const tree = await readPasted(text, (position, cell) => this.play.advance(position, cell), fromAddress);
      this.play.stop();
      this.play.id = null;
      this.play.stand({ tree, agent: null, you: "w", resigned: null, challenge: false });
      this.play.save(true);
      await this.play.refresh();
    } catch (error) {
      this.play.fail(error);
    }
  }
}
