// The engine behind promises. It runs in a worker thread, which is started by the first question.

/** @typedef {import("./agents.js").Agent} Agent */
/** @typedef {import("./heuristics.js").Heuristic} Heuristic */
/** @typedef {import("./heuristics.js").Term} Term */
/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */

/**
 * The description of the wasm file in engine.json.
 * @typedef {object} About
 * @property {number} memory bytes that the engine needs
 * @property {number} entries the largest size of a search's transposition table
 * @property {string[]} methods names of the searches
 * @property {Heuristic[]} heuristics
 */

/** @typedef {{wasm: ArrayBuffer, about: About, atlas: Record<string, string>}} Load what a worker needs to start */
/** @typedef {{worker: string | URL, load: Load}} Source the address of worker.js, and what it needs */

/**
 * Facts about a position. Only the moves are known before both knights are placed.
 * @typedef {object} PositionFacts
 * @property {number[]} moves the legal moves, as cells
 * @property {Record<Side, bigint>} [reach] the cells that each knight could get to if it were alone
 * @property {boolean} [separated] whether no cell can be reached by both knights
 * @property {Side} [hunter] the side whose win the colour law predicts
 * @property {boolean} [mirrored] whether the side to move loses by reflection
 * @property {number} [others] how many moves the other side would have
 * @property {Record<Side, number>} [walks] steps of each knight's longest walk, once they are separated
 */

/**
 * The least-blocked window of a position, whose centre cell the heuristic open_cluster favours.
 * @typedef {object} Cluster
 * @property {number[]} cells of the window, in ascending order
 * @property {number} center
 * @property {number} blocked how many cells of the window are not open
 * @property {boolean} counts whether enough of the board is blocked for open_cluster to use the window
 */

/** @typedef {{wins: boolean, plies: number | null}} MoveTruth plies to the end of the game; null if not known yet */
/** @typedef {Record<number, MoveTruth>} Truth for each move that is known, whether it wins */

/**
 * The result of the opening after the second knight is placed on a cell, by the atlas.
 * @typedef {object} Opening
 * @property {boolean} wins whether the player who placed the second knight wins
 * @property {number} plies plies to the end of the game
 * @property {boolean} broken whether the runner wins, against the colour law
 * @property {boolean} mirrors whether the runner wins by reflection: at once as the second player, after one move as
 *   the first
 * @property {string} kind names the class of openings that are mirror images of each other
 */

/**
 * The move that an agent chooses. The perfect player adds whether it is proven, a search adds its results.
 * @typedef {object} Choice
 * @property {number} cell
 * @property {boolean} [proven]
 * @property {number} [score]
 * @property {number} [depth]
 * @property {number} [nodes]
 * @property {number[]} [line] the principal variation
 */

/**
 * The questions that the engine answers, and its answers. Times are in milliseconds; 0 means no limit.
 * @typedef {object} Questions
 * @property {{asked: {position: Position, cell: number}, answer: Position | null}} advance the position after a move;
 *   null if the move is not legal
 * @property {{asked: {position: Position, ms: number}, answer: Truth}} truth who wins after each move and how soon;
 *   partial answers come after each step
 * @property {{asked: {position: Position, ms: number}, answer: Truth}} verdicts who wins after each move, not how soon
 * @property {{asked: {position: Position, agent: Agent}, answer: Choice}} choose an agent's move
 * @property {{asked: {position: Position}, answer: PositionFacts}} look
 * @property {{asked: {position: Position, sums: Term[][]}, answer: Record<number, number[]>}} opinions the value of
 *   each move by each heuristic, for the side that moves
 * @property {{asked: {position: Position, sums: Term[][]}, answer: Cluster | null}} cluster the window of open_cluster;
 *   null if none of the heuristics contains open_cluster in this position
 * @property {{asked: {position: Position}, answer: Record<number, Opening>}} openings for each cell where the
 *   second knight can be placed
 * @property {{asked: {position: Position, cell: number, ms: number, steps: number}, answer: number[]}} line best play
 *   that begins with a move; partial answers come after each step
 * @property {{asked: {position: Position}, answer: Record<Side, number[]>}} walks each knight's longest walk
 * @property {{asked: {position: Position}, answer: Record<number, number>}} reflections for each move the reply that
 *   makes the position symmetric again, if there is one
 */

/** @typedef {{resolve: (answer: any) => void, reject: (error: Error) => void, onPart: (part: any) => void}} Waiting */

export class Engine {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
    this.number = 0;
    /** @type {Worker | null} */
    this.worker = null;
  }

  /** Start the worker. */
  start() {
    const worker = new Worker(this.source.worker);
    worker.postMessage({ load: this.source.load });
    worker.onmessage = ({ data }) => {
      const question = this.waiting.get(data.id);
      if (!question) return;
      if (data.part) {
        question.onPart(data.part);
        return;
      }
      this.waiting.delete(data.id);
      if (data.error) question.reject(new Error(data.error));
      else question.resolve(data.answer);
    };
    worker.onerror = (event) => this.fail(new Error(`The engine failed: ${event.message}`));
    this.worker = worker;
    return worker;
  }

  /**
   * Ask the engine. Questions are answered in their order.
   * @template {keyof Questions} Name
   * @param {Name} name
   * @param {Questions[Name]["asked"]} about
   * @param {(part: Questions[Name]["answer"]) => void} onPart called with each partial answer
   * @returns {Promise<Questions[Name]["answer"]>}
   */
  ask(name, about, onPart = () => {}) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onPart });
      (this.worker ?? this.start()).postMessage({ id, ask: name, ...about });
    });
  }

  /** End the worker if it is computing. All open questions are rejected with `Stopped`; the next one restarts it. */
  stop() {
    if (!this.waiting.size) return;
    this.worker?.terminate();
    this.worker = null;
    this.fail(new Stopped());
  }

  /**
   * Reject all open questions.
   * @param {Error} error
   */
  fail(error) {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const question of all) question.reject(error);
  }
}

/** The question was given up because the engine was stopped. */
export class Stopped extends Error {}
