// The state of the whole page, in one place. Actions (play.js, review.js, …) change it; views draw it.

import { emptyBoard } from "./notation.js";
import { readRecord } from "./puzzles.js";
import { Tree } from "./tree.js";

/** @typedef {import("./agents.js").Agent} Agent */
/** @typedef {import("./engine.js").Cluster} Cluster */
/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./engine.js").Truth} Truth */
/** @typedef {import("./notation.js").Side} Side */
/** @typedef {import("./puzzles.js").PuzzleState} PuzzleState */
/** @typedef {import("./atlas.js").AtlasState} AtlasState */
/** @typedef {import("./games.js").GameRecord} GameRecord */
/** @typedef {import("./tree.js").Node} Node */
/** @typedef {{text: string, kind: "" | "good" | "bad"}} Message */

/**
 * The game on the board. Without an agent, both sides are played by people.
 * @typedef {object} Game
 * @property {Tree} tree
 * @property {Agent | null} agent the opponent
 * @property {Side} you
 * @property {Side | null} resigned
 * @property {boolean} challenge
 */

/**
 * What the engine found out about the current node; fields are null or empty until it has answered.
 * @typedef {object} NodeAnalysis
 * @property {Node} node
 * @property {PositionFacts} seen
 * @property {Truth | null} truth
 * @property {boolean} searching whether more of the truth is being computed
 * @property {boolean} unfinished whether time ran out before all of it was known
 * @property {string[]} names of the heuristics that were evaluated
 * @property {Record<number, number[]> | null} opinions each heuristic's value of each move
 * @property {Cluster | null} cluster the window of open_cluster, if one of the heuristics contains it
 * @property {string} wrong what is wrong with the text that names the heuristics
 * @property {Record<Side, number[]> | null} walks
 * @property {Record<number, number> | null} reflections
 */

/**
 * The user's settings: what the page shows, and how it helps.
 * @typedef {object} Settings
 * @property {boolean} truth mark which moves win and lose
 * @property {string} help "none", "after": tell after each move whether it was right, or "teach": take back moves that
 *   throw a win away
 * @property {boolean} sound
 * @property {string} heuristic ids, separated by commas
 * @property {boolean} roles
 * @property {boolean} reach
 * @property {boolean} walks
 * @property {boolean} mirror
 */

/**
 * The choices in the dialog for a new game.
 * @typedef {object} Choice
 * @property {string} opponent an agent string of the list, "own" for one that is typed, "none" for two people
 * @property {string} agent the agent string that is typed
 * @property {"w" | "b" | "any"} seat
 * @property {string} board
 * @property {"random" | "free"} placement
 */

/**
 * What the solver found out about a game that is over.
 * @typedef {object} Verdict
 * @property {string} key the address of the game it is about
 * @property {boolean} done whether the solver has finished
 * @property {number} left how many moves are still to be judged
 * @property {Side | null} winner who won the start, by best play; null if unknown
 * @property {{node: Node, better: number[]} | null} mistake your last move that threw a win away, or the loser's
 * @property {Node | null} theirs the other side's last move that threw a win away
 */

/** @typedef {{node: Node, cell: number, cells: number[], shown: number}} BestLine */
/** @typedef {{name: string, agent: string, elo: number, error: number, usual: boolean}} Rung */
/** @typedef {{shown: string, agent: string}} Offer an opponent from the user's files */

/**
 * @typedef {object} State
 * @property {boolean} ready
 * @property {{name: string, words: string[]}} view
 * @property {"play" | "analyse"} mode
 * @property {Game} game
 * @property {NodeAnalysis | null} look
 * @property {Message | null} message the last message; without one the status line shows the state of the game
 * @property {boolean} thinking whether the opponent is computing its move
 * @property {boolean} busy whether a click is being carried out, so that others are ignored
 * @property {boolean} reviewing whether the moves of a game are being judged
 * @property {Node[] | null} retry the mistakes that are still to be tried again
 * @property {BestLine | null} line
 * @property {Verdict | null} verdict
 * @property {Settings} settings
 * @property {Choice} choice
 * @property {"" | "new" | "here" | "keys" | "lesson"} dialog
 * @property {string} wrong what is wrong with the dialog's entries
 * @property {boolean} welcome whether the introduction is offered
 * @property {Rung[]} ladder
 * @property {Offer[]} offers
 * @property {string[]} heuristics ids to choose from
 * @property {GameRecord[]} games
 * @property {PuzzleState} puzzle
 * @property {AtlasState} atlas
 */

/** The boards that are offered for a new game. */
export const BOARDS = ["4x7", "5x5", "5x7", "6x6", "7x6", "7x7", "8x7", "8x8"];

/**
 * Return whether a stored choice is one that the dialog can make.
 * @param {Choice} choice
 */
export function isChoice({ seat, board, placement }) {
  return ["w", "b", "any"].includes(seat) && BOARDS.includes(board) && ["random", "free"].includes(placement);
}

/**
 * Return the state of a page that has just been opened.
 * @param {Rung[]} ladder
 * @returns {State}
 */
export function initialState(ladder) {
  return {
    ready: false,
    view: { name: "", words: [] },
    mode: "play",
    game: { tree: new Tree(emptyBoard(7, 7)), agent: null, you: "w", resigned: null, challenge: false },
    look: null,
    message: { text: "Loading …", kind: "" },
    thinking: false,
    busy: false,
    reviewing: false,
    retry: null,
    line: null,
    verdict: null,
    settings: {
      truth: false,
      help: "none",
      sound: false,
      heuristic: "",
      roles: false,
      reach: false,
      walks: false,
      mirror: false,
    },
    choice: {
      opponent: (ladder.find((rung) => rung.usual) ?? ladder[0]).agent,
      agent: "id(bfs_reach, nodes=2500)",
      seat: "w",
      board: "7x7",
      placement: "random",
    },
    dialog: "",
    wrong: "",
    welcome: false,
    ladder,
    offers: [],
    heuristics: [],
    games: [],
    puzzle: { data: null, now: null, band: "", theme: "", message: null, record: readRecord(null) },
    atlas: { board: "7x7", first: null, shares: {}, replies: {}, exceptions: null, wrong: "", click: "w" },
  };
}

export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {((state: State) => void)[]} */
    this.listeners = [];
    this.scheduled = false;
  }

  /**
   * Change parts of the state. Listeners are called once for all changes of the same task.
   * @param {Partial<State>} changes
   */
  set(changes) {
    Object.assign(this.state, changes);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener(this.state);
    });
  }

  /**
   * Call `draw` now and whenever one of the selected values has changed.
   * @param {(state: State) => unknown[]} select
   * @param {(state: State) => void} draw
   */
  watch(select, draw) {
    /** @type {unknown[]} */
    let before = select(this.state);
    draw(this.state);
    this.listeners.push((state) => {
      const now = select(state);
      if (now.length === before.length && now.every((value, place) => Object.is(value, before[place]))) return;
      before = now;
      draw(state);
    });
  }
}
