// The form that starts a match, a tournament, a league or a grading.

import { el } from "./make.js";

const KINDS = { match: "Match", tournament: "Tournament", league: "League", grading: "Grading" };
const PATHS = {
  match: "/api/matches", tournament: "/api/tournaments", league: "/api/leagues", grading: "/api/gradings",
};
const TOLD = {
  match: "Two agents meet, each opening from both seats: so many pairs, or until one of two hypotheses about A’s "
    + "strength is accepted.",
  tournament: "Each test agent meets each opponent. Without agents, it is the course’s: the baseline and what five "
    + "studies recommend against the course’s seven.",
  league: "Everyone meets everyone, and gets a rating.",
  grading: "The agent plays itself, and the exact solver judges every choice: how often does it keep a won position "
    + "won?",
};
const COURSE = ["AB_Improved", "AB_Open", "AB_Center", "MM_Improved", "MM_Open", "MM_Center", "Random"];
const USUAL = [
  "id(improved, nodes=2500)", "id(bfs_reach, nodes=2500)", "id(main, nodes=2500)", "alphabeta(improved, depth=5)",
  "greedy(improved)", "perfect(nodes=3000000)", "random",
];
const GAMES = "match tournament league", ALL = `${GAMES} grading`;

export class StartForm {
  constructor(server) {
    this.server = server;
    this.agents = el("datalist", { id: "lab-agents" });
    this.told = el("p", { class: "soft" });
    this.said = el("p", { role: "status" });
    this.element = this.make();
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.element.elements.kind.addEventListener("change", () => this.choose());
    this.element.elements.sequential.addEventListener("change", () => this.choose());
    this.choose();
  }

  make() {
    const field = (label, kinds, input) => el("label", { "data-kinds": kinds }, `${label} `, input);
    const tick = (label, kinds, name) =>
      el("label", { "data-kinds": kinds }, el("input", { type: "checkbox", name }), ` ${label}`);
    const words = { spellcheck: "false", class: "agent" };
    const agent = (name, value) =>
      el("input", { name, value, list: "lab-agents", autocomplete: "off", maxlength: 500, ...words });
    const number = (name, value, min, max, step = 1) =>
      el("input", { name, type: "number", value, min, max, step, inputmode: "numeric", class: "number" });
    const lines = (name, value, placeholder = "") =>
      el("textarea", { name, rows: 4, placeholder, ...words }, value);
    const choice = (name, options) =>
      el("select", { name }, Object.entries(options).map(([value, text]) => el("option", { value }, text)));
    const board = { name: "board", value: "7x7", pattern: "[0-9]{1,2}x[0-9]{1,2}", maxlength: 5, class: "number" };
    const budget = { name: "budget", placeholder: "nodes=2500", maxlength: 40, spellcheck: "false" };
    return el("form", { class: "start" },
      field("Start a", ALL, choice("kind", KINDS)),
      this.told,
      field("A", "match", agent("a", "id(bfs_reach, nodes=2500)")),
      field("B", "match", agent("b", "id(improved, nodes=2500)")),
      field("Test agents, one a line", "tournament", lines("tests", "", "AB_Improved")),
      field("Opponents, one a line", "tournament", lines("against", "", "Random")),
      field("Protocol", "tournament", choice("protocol", { "2017b": "2017b", "2017a": "2017a" })),
      field("Agents, one a line", "league", lines("agents", USUAL.slice(0, 3).join("\n"))),
      field("Agent", "grading", agent("agent", "id(improved, nodes=2500)")),
      field("Games", "grading", number("openings", 20, 1, 2352)),
      field("Pairs", GAMES, number("pairs", 100, 1, 100000)),
      tick("until it is decided (SPRT)", "match", "sequential"),
      field("nElo, H0", "match sprt", number("elo0", 0, -1000, 1000, "any")),
      field("H1", "match sprt", number("elo1", 20, -1000, 1000, "any")),
      el("details", {}, el("summary", {}, "More"), el("div", { class: "fields" },
        field("Board", ALL, el("input", board)),
        field("Seed", ALL, number("seed", 0, 0, 2 ** 53 - 1)),
        field("Budget of all who deepen", GAMES, el("input", budget)),
        field("Stop once known to within Elo", "league", number("until", "", 0.1, 9999, "any")),
        tick("play anew even if it is stored", GAMES, "again"))),
      el("button", { class: "main" }, "Start"),
      this.said, this.agents);
  }

  get kind() {
    return this.element.elements.kind.value;
  }

  /** Show the fields of the kind that is chosen. */
  choose() {
    const sequential = this.element.elements.sequential.checked;
    for (const label of this.element.querySelectorAll("[data-kinds]")) {
      const kinds = label.dataset.kinds.split(" ");
      label.hidden = !kinds.includes(this.kind) || (kinds.includes("sprt") && !sequential);
    }
    const usual = { match: 100, tournament: 5, league: 50 }[this.kind];
    if (usual && !this.touched) this.element.elements.pairs.value = usual;
    this.told.textContent = TOLD[this.kind];
  }

  body() {
    const given = this.element.elements, kind = this.kind;
    const lines = (name) => given[name].value.split("\n").map((line) => line.trim()).filter(Boolean);
    const body = { board: given.board.value.trim(), seed: Number(given.seed.value) };
    if (kind === "grading") {
      return { ...body, agent: given.agent.value.trim(), openings: Number(given.openings.value) };
    }
    if (given.budget.value.trim()) body.budget = given.budget.value.trim();
    if (given.again.checked) body.again = true;
    const sequential = kind === "match" && given.sequential.checked;
    if (given.pairs.value && !sequential) body.pairs = Number(given.pairs.value);
    if (kind === "match") {
      Object.assign(body, { a: given.a.value.trim(), b: given.b.value.trim() });
      if (sequential) body.sprt = [Number(given.elo0.value), Number(given.elo1.value)];
    } else if (kind === "tournament") {
      Object.assign(body, { tests: lines("tests"), against: lines("against"), protocol: given.protocol.value });
    } else {
      body.agents = lines("agents");
      if (given.until.value) body.until = Number(given.until.value);
    }
    return body;
  }

  async start() {
    this.say("Starting …");
    try {
      this.job = await this.server.post(PATHS[this.kind], this.body());
      this.update(this.server.state);
    } catch (error) {
      this.say(error.message, true);
    }
  }

  /** News: what was started here has begun, or could not. */
  update(state) {
    this.offer(state.files);
    const job = this.job && state.jobs.find((one) => one.id === this.job.id);
    if (!job) return;
    if (job.state === "failed") this.say(job.error, true);
    else if (job.grading) location.hash = `/lab/grading/${job.grading}`;
    else if (job.run) location.hash = `/lab/run/${job.run}`;
    else return;
    this.job = null;
  }

  /** What can be typed: the user's own first. */
  offer(files) {
    const own = files.flatMap((file) => [
      ...file.heuristics.filter((one) => !one.error).map((one) => `id(${one.id}, nodes=2500)`),
      ...file.agents.map((one) => one.id),
    ]);
    const all = [...own, ...USUAL, ...COURSE], text = all.join("\n");
    if (this.offered === text) return;
    this.offered = text;
    this.agents.replaceChildren(...all.map((value) => el("option", { value })));
  }

  say(text, bad = false) {
    this.said.textContent = text;
    this.said.className = bad ? "bad" : "";
  }
}
