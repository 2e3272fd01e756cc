// The lab's first page: the form that starts a run, what is being played, the user's files and every stored run.

import { many } from "../model/words.js";
import { el } from "../views/dom.js";
import { StartForm } from "./form.js";
import { agentName, count, link, localTime, messageOf, percent, renew, table } from "./make.js";

/** @typedef {import("../views/dom.js").Child} Child */
/** @typedef {import("./server.js").GradingSummary} GradingSummary */
/** @typedef {import("./server.js").Job} Job */
/** @typedef {import("./server.js").RunSummary} RunSummary */
/** @typedef {import("./server.js").Server} Server */
/** @typedef {import("./server.js").State} State */
/** @typedef {import("./server.js").UserFile} UserFile */
/** @typedef {import("./server.js").UserFunction} UserFunction */

const DOING = {
  starting: "starting",
  playing: "being played",
  finished: "finished",
  stopped: "stopped",
  failed: "failed",
};
const MAX_RUNS = 200; // listed runs
const MAX_NAMES = 4; // agents named in a row of the list

export class Overview {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    this.form = new StartForm(server);
    this.places = { jobs: el("div"), failed: el("div"), files: el("div"), runs: el("div") };
    this.failures = section("Could not be played", this.places.failed);
    this.failures.hidden = true;
    /** @type {Record<string, string>} */
    this.drawn = {}; // the content of each part, as JSON
    /** @type {string | null} */
    this.version = null; // the version of the list of runs that is shown
    this.loading = false;
    this.left = false;
  }

  begin() {
    return [
      el("h2", { id: "h-lab" }, "Lab"),
      section("Start", this.form.element),
      section("Being played", this.places.jobs),
      this.failures,
      section("Your files", this.places.files),
      section("Stored runs", this.places.runs),
    ];
  }

  /** @param {State} state */
  update(state) {
    const failed = state.jobs.filter((job) => job.state === "failed").reverse();
    const going = state.jobs.filter((job) => ["starting", "playing"].includes(job.state)).reverse();
    this.form.update(state);
    this.draw("jobs", going, () => this.jobs(going));
    this.draw("failed", failed, () => failed.map((job) => jobLine(this.server, job)));
    this.failures.hidden = !failed.length;
    this.draw("files", state.files, () => this.files(state.files));
    if (this.version !== versionOf(state)) this.load();
  }

  /**
   * Draw a part again, if what it shows has changed.
   * @param {keyof Overview["places"]} name
   * @param {unknown} content
   * @param {() => Child[]} make
   */
  draw(name, content, make) {
    const text = JSON.stringify(content);
    if (this.drawn[name] === text) return;
    this.drawn[name] = text;
    renew(this.places[name], ...make());
  }

  /** Read the stored runs and gradings from the server, at most once a second. */
  async load() {
    if (this.loading || !this.server.state) return;
    this.loading = true;
    this.version = versionOf(this.server.state);
    try {
      const [{ runs, pending, refused }, { gradings }] = await Promise.all([
        this.server.get(`/api/runs?limit=${MAX_RUNS}`),
        this.server.get("/api/gradings"),
      ]);
      this.draw("runs", [runs, gradings, refused], () => [
        this.runs(runs, gradings),
        ...refused.map((/** @type {string} */ why) => el("p", { class: "bad" }, why)),
      ]);
      if (pending) this.version = null; // not all verdicts are known yet
    } catch (error) {
      renew(this.places.runs, el("p", { class: "bad" }, messageOf(error)));
    }
    setTimeout(() => {
      this.loading = false;
      if (!this.left && this.server.state && this.version !== versionOf(this.server.state)) this.load();
    }, 1000);
  }

  leave() {
    this.left = true;
  }

  // -- parts ---------------------------------------------------------------------------------

  /** @param {Job[]} jobs */
  jobs(jobs) {
    if (!jobs.length) return [el("p", { class: "soft" }, "Nothing at the moment.")];
    return jobs.map((job) => jobLine(this.server, job));
  }

  /** @param {UserFile[]} files */
  files(files) {
    if (files.length) return files.map(fileArticle);
    const command = el("code", {}, "knightfall serve mine.py");
    return [el("p", { class: "soft" }, "None. Start ", command, " to use the heuristics and agents of mine.py here.")];
  }

  /**
   * @param {RunSummary[]} runs
   * @param {GradingSummary[]} gradings
   */
  runs(runs, gradings) {
    if (!runs.length && !gradings.length) return el("p", { class: "soft" }, "None yet.");
    /** @type {{created: string, cells: Child[]}[]} */
    const rows = [
      ...runs.map((run) => ({
        created: run.created,
        cells: [
          link(`#/lab/run/${run.id}`, String(run.id)),
          run.kind,
          firstNames(run),
          run.finished ? run.verdict || "finished" : "not finished",
          run.finished ? many(run.played, "pair") : `${count(run.played)} of ${many(run.total, "pair")}`,
          localTime(run.created),
        ],
      })),
      ...gradings.map((one) => ({
        created: one.created,
        cells: [
          link(`#/lab/grading/${one.id}`, `g${one.id}`),
          "grading",
          agentName(one.short, one.name),
          one.finished ? `keeps ${percent(one.kept)} of its wins` : "not finished",
          `${one.finished ? "" : `${count(one.games)} of `}${many(one.openings, "game")}`,
          localTime(one.created),
        ],
      })),
    ];
    rows.sort((a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0));
    const cells = rows.map((row) => row.cells);
    const title =
      runs.length < MAX_RUNS ? "Every stored run and grading" : `The last ${MAX_RUNS} runs, and every grading`;
    const headings = ["Run", "Kind", "Agents", "Outcome", "Played", "Begun"];
    return table(title, headings, cells, "runs");
  }
}

/**
 * @param {string} title
 * @param {Child[]} children
 */
const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);

/**
 * Return a text that changes whenever the list of runs and gradings may have changed.
 * @param {State} state
 */
const versionOf = (state) =>
  `${state.store} ${state.jobs.filter((job) => job.grading).map((job) => `${job.id}${job.state}`)}`;

/**
 * Return the heuristics and agents of a user's file, or its error.
 * @param {UserFile} file
 */
function fileArticle(file) {
  const functions = [
    ...file.heuristics.map((one) => functionLine("heuristic", one)),
    ...file.agents.map((one) => functionLine("agent", one)),
  ];
  const nothing = !functions.length && !file.error && !file.looking;
  return el(
    "article",
    { class: "file" },
    el("h4", {}, file.name, file.looking ? el("span", { class: "soft" }, " (reading it …)") : ""),
    file.error ? el("p", { class: "bad", role: "alert" }, file.error) : "",
    functions.length ? el("ul", {}, ...functions) : "",
    nothing ? el("p", { class: "soft" }, "No function in it has five arguments (a heuristic) or one (an agent).") : "",
  );
}

/**
 * Return a line for a heuristic or an agent of a file, with its error if any.
 * @param {string} kind
 * @param {UserFunction} one
 */
function functionLine(kind, one) {
  const line = one.line ? `, line ${one.line}` : "";
  const summary = one.summary ? `: ${one.summary}` : "";
  return el(
    "li",
    {},
    el("code", {}, one.id),
    ` ${kind}${line}${summary}`,
    one.error ? el("span", { class: "bad" }, ` ${one.error}`) : "",
    one.note ? el("span", { class: "soft" }, ` ${one.note}`) : "",
  );
}

/**
 * Return the agents of a run, or the first few of many.
 * @param {RunSummary} run
 */
function firstNames({ names, short }) {
  const shown = names.length > MAX_NAMES ? MAX_NAMES - 1 : names.length;
  const parts = names.slice(0, shown).flatMap((name, at) => [at ? ", " : "", agentName(short[at], name)]);
  return names.length > shown ? [...parts, ` and ${names.length - shown} more`] : parts;
}

/**
 * Return a job's progress, a link to its page and a button to stop it; for a job that failed, its error and a button to
 * dismiss it.
 * @param {Server} server
 * @param {Job} job
 */
export function jobLine(server, job) {
  const isGrading = job.kind === "grading";
  const number = isGrading ? job.grading : job.run;
  const address = `${isGrading ? "grading" : "run"}/${number}`;
  const over = !["starting", "playing"].includes(job.state);
  const message = el("span", { class: "bad" });
  const title = { title: job.names.join(", ") };
  /** @param {string} key @param {string} text @param {string} path */
  const button = (key, text, path, disabled = false) => {
    const onclick = () =>
      server.post(path).catch((error) => {
        message.textContent = ` ${messageOf(error)}`;
      });
    return el("button", { type: "button", "data-key": `${key}-${job.id}`, disabled, onclick }, text);
  };
  const path = `/api/${isGrading ? "gradings" : "runs"}/${number}/stop`;
  const progress = el("progress", {
    max: Math.max(1, job.total),
    value: job.total ? job.done : null,
    "aria-label": `Progress: ${job.title}`,
  });
  return el(
    "div",
    { class: `job ${job.state}` },
    el(
      "p",
      {},
      number ? el("a", { href: `#/lab/${address}`, ...title }, job.title) : el("span", title, job.title),
      ` · ${DOING[job.state]}`,
      job.total ? ` · ${count(job.done)} of ${count(job.total)} ${isGrading ? "games" : "pairs"}` : "",
    ),
    job.error ? el("p", { class: "bad", role: "alert" }, job.error) : "",
    el(
      "p",
      {},
      over
        ? button("dismiss", "Dismiss", `/api/jobs/${job.id}/dismiss`)
        : [progress, " ", button("stop", job.stopping ? "Stopping …" : "Stop", path, job.stopping || !number)],
      message,
    ),
    job.notices.map((text) => el("p", { class: "soft" }, text)),
  );
}
