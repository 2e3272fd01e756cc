// Requests to the server behind the page, and the state that it sends.
//
// The server may be restarted while the page is open. The new one has another token, which the page reads from the
// server's index page as it did at the beginning.

/** @typedef {import("./make.js").JsonNumber} JsonNumber */
/** @typedef {import("../model/notation.js").Side} Side */

/**
 * A run or a grading that the server has started.
 * @typedef {object} Job
 * @property {string} id
 * @property {string} kind
 * @property {string} title
 * @property {string[]} names of the agents, in full
 * @property {"starting" | "playing" | "finished" | "stopped" | "failed"} state
 * @property {number | null} run
 * @property {number | null} grading
 * @property {number} done
 * @property {number} total
 * @property {string} error
 * @property {string[]} notices
 * @property {boolean} stopping
 */

/**
 * A heuristic or an agent of a file.
 * @typedef {object} UserFunction
 * @property {string} id
 * @property {string} summary
 * @property {number | null} line
 * @property {string} error
 * @property {string} note
 */

/**
 * A file of the user, with the heuristics and agents in it.
 * @typedef {object} UserFile
 * @property {string} name
 * @property {string} error
 * @property {boolean} looking whether the server is reading it
 * @property {UserFunction[]} heuristics
 * @property {UserFunction[]} agents
 */

/** @typedef {{server: string, store: number, jobs: Job[], files: UserFile[]}} State the state of the server */

/**
 * A run in the list of runs.
 * @typedef {object} RunSummary
 * @property {number} id
 * @property {string} kind
 * @property {string[]} names
 * @property {string[]} short
 * @property {number} played pairs
 * @property {number} total pairs
 * @property {string} created
 * @property {string | null} finished
 * @property {string} verdict
 */

/**
 * The results of one agent in a report.
 * @typedef {object} Standing
 * @property {string} name
 * @property {number} games
 * @property {number} won
 * @property {number} lost
 * @property {number | null} rate
 * @property {number | null} low
 * @property {number | null} high
 * @property {JsonNumber} elo
 * @property {JsonNumber} elo_error
 * @property {number | null} as_first
 * @property {number | null} as_hunter
 * @property {number | null} as_runner
 * @property {Record<string, number>} losses by reason
 * @property {number | null} mean_depth
 * @property {number | null} mean_nodes
 */

/**
 * @typedef {object} MatchReport
 * @property {[Standing, Standing]} agents
 * @property {[number, number, number]} counts pairs in which A won none, one and both games
 * @property {JsonNumber} elo
 * @property {JsonNumber} elo_error
 * @property {JsonNumber} nelo
 * @property {JsonNumber} nelo_error
 * @property {number | null} los
 * @property {number | null} llr
 * @property {number | null} lower
 * @property {number | null} upper
 * @property {string} words
 */

/** @typedef {{a: string, points: number, low: number, high: number, verdict: string}} Difference */

/**
 * @typedef {object} TournamentReport
 * @property {Standing[]} tests
 * @property {string[]} opponents
 * @property {[won: number, lost: number][][]} table a row for each opponent with a cell for each test agent
 * @property {Difference[]} differences
 */

/**
 * @typedef {object} LeagueReport
 * @property {Standing[]} agents
 * @property {([JsonNumber, JsonNumber] | null)[][]} differences Elo and its error, row less column
 * @property {([won: number, lost: number] | null)[][]} crosstable
 */

/** @typedef {{name: string, short: string, agent: string}} Entrant */

/**
 * The path of a sequential test.
 * @typedef {object} LlrPath
 * @property {[pairs: number, llr: JsonNumber][]} path
 * @property {number} lower
 * @property {number} upper
 * @property {number} elo0
 * @property {number} elo1
 */

/**
 * A run with its report.
 * @typedef {object} Run
 * @property {number} run
 * @property {string} kind
 * @property {any} report a MatchReport, TournamentReport or LeagueReport by its kind; null before the first pair
 * @property {string} text the report as text
 * @property {number} played pairs
 * @property {number} total pairs
 * @property {string} created
 * @property {string | null} finished
 * @property {string} board
 * @property {number} seed
 * @property {Entrant[]} entrants
 * @property {[a: number, b: number][]} matches numbers of entrants
 * @property {LlrPath | null} llr
 * @property {Game[]} recent
 * @property {boolean} resumable
 * @property {string} why_not
 * @property {Job | null} job
 */

/**
 * A game in a list of games. The players are numbers of entrants.
 * @typedef {object} GameSummary
 * @property {string} id
 * @property {number} run
 * @property {number} pair
 * @property {number} game
 * @property {number} first
 * @property {number} second
 * @property {Side} winner
 * @property {string} reason
 * @property {number} plies
 * @property {string} opening a FEN
 * @property {Side | null} opening_winner
 */

/** @typedef {{opening: string, moves: string[]}} Moves a FEN, and names of cells */

/**
 * The fields of a stored game beside its summary. The names are those of the first and the second player.
 * @typedef {object} GameDetails
 * @property {string[]} names
 * @property {string[]} short
 * @property {JsonNumber[]} scores
 * @property {number[]} depths
 * @property {number[]} nodes
 * @property {number[]} microseconds
 * @property {string} detail
 */

/** @typedef {GameSummary & GameDetails & Moves} Game */

/** @typedef {{opening: Side | null, thrown: number[], known_from: number}} GameTruth thrown: plies that lost a win */

/**
 * A grading in the list of gradings.
 * @typedef {object} GradingSummary
 * @property {number} id
 * @property {string} name
 * @property {string} short
 * @property {string} board
 * @property {number} seed
 * @property {number} games
 * @property {number} openings
 * @property {string} created
 * @property {boolean} finished
 * @property {number | null} kept
 */

/** @typedef {{count: number, of: number, rate: number | null, low: number, high: number}} Share */

/**
 * @typedef {object} Grade
 * @property {number} games
 * @property {Record<string, {kept: Share, at_random: number | null}>} keeps
 * @property {{games_without: Share, quartiles: [number, number, number] | null}} first_blunder
 * @property {{auc: {value: number} | null} | null} reliability
 */

/**
 * A grading with its grade, which is null before the first game has ended.
 * @typedef {object} Grading
 * @property {GradingSummary} grading
 * @property {Grade | null} grade
 * @property {(Moves & {blunders: number[]})[]} games
 * @property {boolean} resumable
 * @property {string} why_not
 * @property {Job | null} job
 */

const RECONNECT_MS = 1000;

/** Sends the event "state" when the server's state has changed, "connection" when the connection is lost or back. */
export class Server extends EventTarget {
  /** @param {string} token */
  constructor(token) {
    super();
    this.token = token;
    /** @type {State | null} */
    this.state = null;
    this.connected = false;
    this.tab = sessionStorage.getItem("knightfall-tab") ?? crypto.randomUUID();
    sessionStorage.setItem("knightfall-tab", this.tab); // a page that is reloaded is the same tab
  }

  /** Receive the server's state until the page is closed. */
  connect() {
    const stream = new EventSource(`/api/events?client=${this.tab}`);
    stream.onmessage = ({ data }) => this.receive(JSON.parse(data));
    stream.onerror = () => {
      if (stream.readyState === EventSource.CLOSED) setTimeout(() => this.connect(), RECONNECT_MS);
      this.setConnected(false);
    };
  }

  /** @param {State} state */
  async receive(state) {
    if (this.state && this.state.server !== state.server) await this.renewToken();
    this.state = state;
    this.setConnected(true);
    this.dispatchEvent(new Event("state"));
  }

  /** @param {boolean} connected */
  setConnected(connected) {
    if (this.connected === connected) return;
    this.connected = connected;
    this.dispatchEvent(new Event("connection"));
  }

  /** Read the token of a server that was restarted. */
  async renewToken() {
    try {
      const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
      const meta = page.querySelector("meta[name=knightfall-lab]");
      this.token = meta?.getAttribute("content") ?? this.token;
    } catch {
      // The connection is lost again; the next state comes when it is back.
    }
  }

  /**
   * @param {string} path
   * @returns {Promise<any>}
   */
  get(path) {
    return this.request(path, {});
  }

  /**
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  post(path, body = {}, signal = undefined) {
    const headers = {
      "Content-Type": "application/json",
      "X-Knightfall-Token": this.token,
      "X-Knightfall-Client": this.tab,
    };
    return this.request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  /**
   * Return the server's response. Throw an error with the server's message if it refuses.
   * @param {string} path
   * @param {RequestInit} options
   */
  async request(path, options) {
    const answer = await fetch(path, options).catch((error) => {
      throw error.name === "AbortError" ? error : new Error("The server does not answer.");
    });
    const content = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content.error ?? `The server responded with status ${answer.status}.`);
    return content;
  }
}
