// Analysis of the current position, and of a game that is over, by the engine.

import { Stopped } from "./engine.js";
import { parseHeuristic, splitAtCommas } from "./heuristics.js";
import { hasWin, winningCells } from "./marks.js";
import { formatFen } from "./notation.js";
import { placed, winnerOf } from "./status.js";
import { other } from "./words.js";

/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./engine.js").Truth} Truth */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./play.js").EngineLike} EngineLike */
/** @typedef {import("./play.js").Play} Play */
/** @typedef {import("./store.js").NodeAnalysis} NodeAnalysis */
/** @typedef {import("./tree.js").Node} Node */

/** Longest time for the truth about one position, in milliseconds. */
export const TRUTH_MS = 8000;
const MAX_OPINIONS = 3; // more do not fit into a cell
const MAX_KEPT_TRUTHS = 500;

/**
 * Return the analysis of a position before anything is computed.
 * @param {Node} node
 * @param {PositionFacts} seen
 * @returns {NodeAnalysis}
 */
export const emptyLook = (node, seen) => ({
  node,
  seen,
  truth: null,
  searching: false,
  unfinished: false,
  names: [],
  opinions: null,
  cluster: null,
  wrong: "",
  walks: null,
  reflections: null,
});

export class Study {
  /** @param {Play} play */
  constructor(play) {
    this.play = play;
    this.store = play.store;
    this.engines = play.engines;
    /** @type {Map<string, Truth>} */
    this.truths = new Map();
    /** @type {Node | null} */
    this.searched = null; // the node whose truth the solver is computing
  }

  /**
   * Add results to the analysis of a node, if it is still the current one. Return whether it is.
   * @param {Node} node
   * @param {Partial<NodeAnalysis>} found
   */
  found(node, found) {
    const { look } = this.play.state;
    if (look?.node !== node || this.play.node !== node) return false;
    this.store.set({ look: { ...look, ...found } });
    return true;
  }

  /** Compute what Analyse shows: values by heuristics, layers, and the truth. Errors appear in the status line. */
  async analyse(ms = TRUTH_MS) {
    try {
      await this.askAll(ms);
    } catch (error) {
      this.play.fail(error);
    }
  }

  /** @param {number} ms longest time for the truth */
  async askAll(ms) {
    const { mode, settings, look } = this.play.state;
    const { node } = this.play;
    if (look?.node !== node) return;
    const { seen } = look;
    if (mode !== "analyse" || !settings.truth) this.engines.solver.stop();
    if (mode !== "analyse") {
      this.store.set({ look: emptyLook(node, seen), line: null });
      return;
    }
    const { position } = node;
    this.found(node, { ...(await this.opinions(position, seen.moves)) });
    const walks = settings.walks && seen.separated ? await this.engines.guide.ask("walks", { position }) : null;
    const reflections =
      settings.mirror && seen.mirrored ? await this.engines.guide.ask("reflections", { position }) : null;
    this.found(node, { walks, reflections });
    const { agent, you } = this.play.game;
    const asked = settings.help === "after" && agent && position.side === you && !this.play.answered.has(node);
    const hidden = asked || this.play.state.retry?.[0] === node;
    if (!settings.truth || hidden || !seen.moves.length) {
      this.found(node, { truth: null, searching: false, unfinished: false });
      return;
    }
    await this.findTruth(node, ms);
  }

  /**
   * Return the value of each move by the heuristics of the settings, and the window of open_cluster if one contains it.
   * @param {Position} position
   * @param {number[]} moves
   */
  async opinions(position, moves) {
    const names = splitAtCommas(this.play.state.settings.heuristic).slice(0, MAX_OPINIONS);
    /** @type {NodeAnalysis["cluster"]} */
    let cluster = null;
    if (!names.length || !moves.length) return { names, opinions: null, cluster, wrong: "" };
    const askEngine = async (/** @type {string[]} */ some) => {
      const sums = some.map((name) => parseHeuristic(name, this.play.heuristics).terms);
      cluster = await this.engines.rules.ask("cluster", { position, sums });
      return this.engines.rules.ask("opinions", { position, sums });
    };
    try {
      const { provider } = this.play;
      const opinions = await (provider && names.some((name) => provider.judges(name))
        ? provider.opinionsOf(position, names, askEngine)
        : askEngine(names));
      return { names, opinions, cluster, wrong: "" };
    } catch (error) {
      if (error instanceof Stopped) throw error;
      return { names, opinions: null, cluster: null, wrong: /** @type {Error} */ (error).message };
    }
  }

  /**
   * Find for each move whether it wins and how soon, and show partial results meanwhile.
   * @param {Node} node
   * @param {number} ms
   */
  async findTruth(node, ms) {
    const fen = formatFen(node.position);
    const known = this.truths.get(fen);
    if (known) {
      this.found(node, { truth: known, searching: false, unfinished: false });
      return;
    }
    this.found(node, { searching: true, unfinished: false });
    if (this.searched === node) return; // the answer is on its way
    const show = (/** @type {Truth} */ truth) => this.found(node, { truth });
    this.searched = node;
    let truth;
    try {
      truth = await this.engines.solver.ask("truth", { position: node.position, ms }, show);
    } finally {
      if (this.searched === node) this.searched = null;
    }
    const moves = this.play.state.look?.seen.moves ?? [];
    if (this.play.node !== node) return;
    const whole = moves.every((cell) => truth[cell] && truth[cell].plies !== null);
    if (whole) this.keepTruth(fen, truth);
    this.found(node, { truth, searching: false, unfinished: !whole });
  }

  /**
   * @param {string} fen
   * @param {Truth} truth
   */
  keepTruth(fen, truth) {
    this.truths.set(fen, truth);
    const [oldest] = this.truths.keys();
    if (this.truths.size > MAX_KEPT_TRUTHS) this.truths.delete(oldest);
  }

  /**
   * Return who wins after each move, but not how soon; this takes only milliseconds. Moves for which time ran out are
   * missing.
   * @param {Position} position
   * @param {EngineLike} engine
   * @returns {Promise<Truth>}
   */
  async verdicts(position, engine = this.engines.guide) {
    return this.truths.get(formatFen(position)) ?? engine.ask("verdicts", { position, ms: TRUTH_MS });
  }

  /**
   * Return who wins a position by best play; null if time ran out.
   * @param {Position} position
   * @returns {Promise<Side | null>}
   */
  async winnerBy(position) {
    const truth = await this.verdicts(position);
    if (hasWin(truth)) return position.side;
    const { moves } = await this.engines.rules.ask("look", { position });
    return moves.every((cell) => truth[cell]) ? other(position.side) : null;
  }

  /**
   * Find the last mistake of either side in a game that is over, and who was winning at its start. Moves are judged
   * from the end, where that is quick, back until time runs out.
   */
  async judgeGame() {
    const { address, tree, game, state } = this.play;
    const won = winnerOf(game, state.look?.seen);
    if (!won) {
      this.store.set({ verdict: null });
      return;
    }
    if (state.verdict?.key === address) return;
    const whose = game.agent ? game.you : other(won);
    const moves = tree.line().filter(({ parent }) => parent && placed(parent.position));
    /** @type {import("./store.js").Verdict} */
    let verdict = { key: address, done: false, left: moves.length, winner: null, mistake: null, theirs: null };
    const found = (/** @type {Partial<typeof verdict>} */ changes) => {
      verdict = { ...verdict, ...changes };
      this.store.set({ verdict });
    };
    found({});
    for (const node of [...moves].reverse()) {
      const { position } = /** @type {Node} */ (node.parent);
      const truth = await this.verdicts(position);
      if (this.play.address !== address) return;
      if (!truth[Number(node.cell)]) break; // time ran out
      const thrown = !truth[Number(node.cell)].wins && hasWin(truth);
      if (thrown && position.side === whose)
        found({ mistake: verdict.mistake ?? { node, better: winningCells(truth) } });
      if (thrown && position.side !== whose) found({ theirs: verdict.theirs ?? node });
      if (verdict.mistake && verdict.theirs) break;
      found({ left: verdict.left - 1 });
    }
    const start = moves[0]?.parent?.position ?? tree.at.position;
    const winner = await this.winnerBy(start);
    if (this.play.address === address) found({ winner, done: true });
  }
}
