// The form that starts a match, a tournament, a league or a grading.

import { el } from "../views/dom.js";
import { messageOf } from "./make.js";

/** @typedef {import("./server.js").Job} Job */
/** @typedef {import("./server.js").Server} Server */
/** @typedef {import("./server.js").State} State */
/** @typedef {import("./server.js").UserFile} UserFile */
/** @typedef {"match" | "tournament" | "league" | "grading"} Kind */

const KINDS = { match: "Match", tournament: "Tournament", league: "League", grading: "Grading" };
/** @type {Record<Kind, string>} */
const PATHS = {
  match: "/api/matches",
  tournament: "/api/tournaments",
  league: "/api/leagues",
  grading: "/api/gradings",
};
/** @type {Record<Kind, string>} */
const DESCRIPTIONS = {
  match:
    "Two agents play each opening twice, once from each side: a number of pairs, or until one of two hypotheses " +
    "about A’s strength is accepted.",
  tournament:
    "Each test agent plays each opponent. Without agents it is the course’s tournament: the baseline and the " +
    "recommendations of five studies against the course’s seven opponents.",
  league: "Every agent plays every other agent, and gets a rating.",
  grading: "The agent plays itself, and the exact solver judges every move: how often does it keep a won position won?",
};
/** @type {Record<Kind, number | null>} */
const USUAL_PAIRS = { match: 100, tournament: 5, league: 50, grading: null };
/** The agents of the course, and others that are often played. */
const COURSE = ["AB_Improved", "AB_Open", "AB_Center", "MM_Improved", "MM_Open", "MM_Center", "Random"];
const USUAL = [
  "id(improved, nodes=2500)",
  "id(bfs_reach, nodes=2500)",
  "id(main, nodes=2500)",
  "alphabeta(improved, depth=5)",
  "greedy(improved)",
  "perfect(nodes=3000000)",
  "random",
];

// The kinds that a field belongs to.
const GAMES = "match tournament league";
const ALL = `${GAMES} grading`;

export class StartForm {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    this.agents = el("datalist", { id: "lab-agents" });
    this.description = el("p", { class: "soft" });
    this.message = el("p", { role: "status" });
    this.element = this.make();
    /** @type {Job | null} the job that this form has started and that has not begun yet */
    this.job = null;
    this.suggested = "";
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.input("kind").addEventListener("change", () => this.showFields());
    this.input("sequential").addEventListener("change", () => this.showFields());
    this.showFields();
  }

  make() {
    /** @param {string} label @param {string} kinds @param {HTMLElement} input */
    const field = (label, kinds, input) => el("label", { "data-kinds": kinds }, `${label} `, input);
    /** @param {string} label @param {string} kinds @param {string} name */
    const tick = (label, kinds, name) =>
      el("label", { "data-kinds": kinds }, el("input", { type: "checkbox", name }), ` ${label}`);
    const words = { spellcheck: "false", class: "agent" };
    /** @param {string} name @param {string} value */
    const agent = (name, value) =>
      el("input", { name, value, list: "lab-agents", autocomplete: "off", maxlength: 500, ...words });
    /** @type {(name: string, value: number | "", min: number, max: number, step?: number | "any") => HTMLElement} */
    const number = (name, value, min, max, step = 1) =>
      el("input", { name, type: "number", value, min, max, step, inputmode: "numeric", class: "number" });
    /** @param {string} name @param {string} value */
    const lines = (name, value, placeholder = "") => el("textarea", { name, rows: 4, placeholder, ...words }, value);
    /** @param {string} name @param {Record<string, string>} options */
    const choice = (name, options) => {
      const all = Object.entries(options).map(([value, text]) => el("option", { value }, text));
      return el("select", { name }, ...all);
    };
    const board = { name: "board", value: "7x7", pattern: "[0-9]{1,2}x[0-9]{1,2}", maxlength: 5, class: "number" };
    const budget = { name: "budget", placeholder: "nodes=2500", maxlength: 40, spellcheck: "false" };
    return el(
      "form",
      { class: "start" },
      field("Start a", ALL, choice("kind", KINDS)),
      this.description,
      field("A", "match", agent("a", "id(bfs_reach, nodes=2500)")),
      field("B", "match", agent("b", "id(improved, nodes=2500)")),
      field("Test agents, one per line", "tournament", lines("tests", "", "AB_Improved")),
      field("Opponents, one per line", "tournament", lines("against", "", "Random")),
      field("Protocol", "tournament", choice("protocol", { "2017b": "2017b", "2017a": "2017a" })),
      field("Agents, one per line", "league", lines("agents", USUAL.slice(0, 3).join("\n"))),
      field("Agent", "grading", agent("agent", "id(improved, nodes=2500)")),
      field("Games", "grading", number("openings", 20, 1, 2352)),
      field("Pairs", GAMES, number("pairs", 100, 1, 100000)),
      tick("play until decided (SPRT)", "match", "sequential"),
      field("nElo, H0", "match sprt", number("elo0", 0, -1000, 1000, "any")),
      field("H1", "match sprt", number("elo1", 20, -1000, 1000, "any")),
      el(
        "details",
        {},
        el("summary", {}, "More"),
        el(
          "div",
          { class: "fields" },
          field("Board", ALL, el("input", board)),
          field("Seed", ALL, number("seed", 0, 0, 2 ** 53 - 1)),
          field("Budget of agents with iterative deepening", GAMES, el("input", budget)),
          field("Stop at an error of (Elo)", "league", number("until", "", 0.1, 9999, "any")),
          tick("play again even if it is stored", GAMES, "again"),
        ),
      ),
      el("button", { class: "main" }, "Start"),
      this.message,
      this.agents,
    );
  }

  /**
   * Return a field of the form.
   * @param {string} name
   */
  input(name) {
    return /** @type {HTMLInputElement} */ (this.element.elements.namedItem(name));
  }

  get kind() {
    return /** @type {Kind} */ (this.input("kind").value);
  }

  /** Show the fields of the kind that is chosen. */
  showFields() {
    const sequential = this.input("sequential").checked;
    for (const label of this.element.querySelectorAll("label")) {
      const kinds = (label.dataset.kinds ?? "").split(" ");
      label.hidden = !kinds.includes(this.kind) || (kinds.includes("sprt") && !sequential);
    }
    const pairs = USUAL_PAIRS[this.kind];
    if (pairs) this.input("pairs").value = String(pairs);
    this.description.textContent = DESCRIPTIONS[this.kind];
  }

  /** Return the values of the form as the server expects them. */
  body() {
    const { kind } = this;
    /** @param {string} name */
    const text = (name) => this.input(name).value.trim();
    /** @param {string} name */
    const number = (name) => Number(this.input(name).value);
    /** @param {string} name */
    const lines = (name) => {
      const all = this.input(name).value.split("\n");
      return all.map((line) => line.trim()).filter(Boolean);
    };
    /** @type {Record<string, unknown>} */
    const body = { board: text("board"), seed: number("seed") };
    if (kind === "grading") return { ...body, agent: text("agent"), openings: number("openings") };
    if (text("budget")) body.budget = text("budget");
    if (this.input("again").checked) body.again = true;
    const sequential = kind === "match" && this.input("sequential").checked;
    if (text("pairs") && !sequential) body.pairs = number("pairs");
    if (sequential) body.sprt = [number("elo0"), number("elo1")];
    if (kind === "match") return { ...body, a: text("a"), b: text("b") };
    if (kind === "tournament") {
      return { ...body, tests: lines("tests"), against: lines("against"), protocol: text("protocol") };
    }
    if (text("until")) body.until = number("until");
    return { ...body, agents: lines("agents") };
  }

  /** Start the run or grading that the form describes. */
  async start() {
    this.say("Starting …");
    try {
      this.job = await this.server.post(PATHS[this.kind], this.body());
      if (this.server.state) this.update(this.server.state);
    } catch (error) {
      this.say(messageOf(error), true);
    }
  }

  /**
   * Go to the page of the job that this form started once the job has begun, or show why it failed.
   * @param {State} state
   */
  update(state) {
    this.suggest(state.files);
    const job = state.jobs.find((one) => one.id === this.job?.id);
    if (!job) return;
    if (job.state === "failed") this.say(job.error, true);
    else if (job.grading) location.hash = `/lab/grading/${job.grading}`;
    else if (job.run) location.hash = `/lab/run/${job.run}`;
    else return;
    this.job = null;
  }

  /**
   * Update the list of suggested agents, those from the user's files first.
   * @param {UserFile[]} files
   */
  suggest(files) {
    const own = files.flatMap((file) => [
      ...file.heuristics.filter((one) => !one.error).map((one) => `id(${one.id}, nodes=2500)`),
      ...file.agents.map((one) => one.id),
    ]);
    const all = [...own, ...USUAL, ...COURSE];
    const text = all.join("\n");
    if (this.suggested === text) return;
    this.suggested = text;
    this.agents.replaceChildren(...all.map((value) => el("option", { value })));
  }

  /** @param {string} text */
  say(text, bad = false) {
    this.message.textContent = text;
    this.message.className = bad ? "bad" : "";
  }
}
