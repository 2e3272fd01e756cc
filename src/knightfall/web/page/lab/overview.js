// The lab's first page: start something, see what is being played, your files, every stored run.

import { StartForm } from "./form.js";
import { agentName, count, el, here, link, many, percent, renew, table } from "./make.js";

const DOING = {
  starting: "getting ready", playing: "being played", finished: "finished", stopped: "stopped", failed: "failed",
};
const SHOWN = 200, FEW = 4;

export class Overview {
  constructor(server) {
    this.server = server;
    this.form = new StartForm(server);
    this.places = Object.fromEntries(["jobs", "failed", "files", "runs"].map((name) => [name, el("div")]));
    this.seen = {};
  }

  begin() {
    const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
    this.failures = section("Could not be played", this.places.failed);
    this.failures.hidden = true;
    return [
      el("h2", { id: "h-lab" }, "Lab"),
      section("Start", this.form.element),
      section("Being played", this.places.jobs),
      this.failures,
      section("Your files", this.places.files),
      section("Stored runs", this.places.runs),
    ];
  }

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

  /** Draw a part anew only if what it shows has changed. */
  draw(name, content, make) {
    const text = JSON.stringify(content);
    if (this.seen[name] === text) return;
    this.seen[name] = text;
    renew(this.places[name], ...make());
  }

  /** The stored runs and gradings, at most once a second. */
  async load() {
    if (this.loading || !this.server.state) return;
    this.loading = true;
    this.version = versionOf(this.server.state);
    try {
      const [{ runs, pending }, { gradings }] = await Promise.all([
        this.server.get(`/api/runs?limit=${SHOWN}`), this.server.get("/api/gradings"),
      ]);
      this.draw("runs", [runs, gradings], () => [this.runs(runs, gradings)]);
      if (pending) this.version = null; // some verdicts are still to come
    } catch (error) {
      renew(this.places.runs, el("p", { class: "bad" }, error.message));
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

  jobs(jobs) {
    if (!jobs.length) return [el("p", { class: "soft" }, "Nothing at the moment.")];
    return jobs.map((job) => jobLine(this.server, job));
  }

  files(files) {
    if (!files.length) {
      return [el("p", { class: "soft" }, "None. ", el("code", {}, "knightfall serve mine.py"),
        " shows what is in mine.py, and lets you use it here.")];
    }
    return files.map((file) => {
      const functions = [
        ...file.heuristics.map((one) => ["heuristic", one]), ...file.agents.map((one) => ["agent", one]),
      ];
      const nothing = !functions.length && !file.error && !file.looking;
      return el("article", { class: "file" },
        el("h4", {}, file.name, file.looking ? el("span", { class: "soft" }, " (reading it …)") : ""),
        file.error ? el("p", { class: "bad", role: "alert" }, file.error) : "",
        functions.length ? el("ul", {}, functions.map(([what, one]) => functionLine(what, one))) : "",
        nothing ? el("p", { class: "soft" },
          "Nothing in it takes five arguments (a heuristic) or one (an agent).") : "");
    });
  }

  runs(runs, gradings) {
    if (!runs.length && !gradings.length) return el("p", { class: "soft" }, "None yet.");
    const rows = [
      ...runs.map((run) => ({ created: run.created, cells: [
        link(`#/lab/run/${run.id}`, String(run.id)), run.kind, some(run),
        run.finished ? run.verdict || "finished" : "not finished",
        run.finished ? many(run.played, "pair") : `${count(run.played)} of ${many(run.total, "pair")}`,
        here(run.created),
      ] })),
      ...gradings.map((one) => ({ created: one.created, cells: [
        link(`#/lab/grading/${one.id}`, `g${one.id}`), "grading", agentName(one.short, one.name),
        one.finished ? `keeps ${percent(one.kept)} of its wins` : "not finished",
        `${one.finished ? "" : `${count(one.games)} of `}${many(one.openings, "game")}`, here(one.created),
      ] })),
    ].sort((a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0));
    const title = runs.length < SHOWN ? "Every stored run and grading" : `The last ${SHOWN} runs, and every grading`;
    const headings = ["Run", "Kind", "Agents", "Outcome", "Played", "Begun"];
    return table(title, headings, rows.map(({ cells }) => cells), "runs");
  }
}

/** What changes when the list of runs may have: the store, and which gradings are how far. */
const versionOf = (state) =>
  `${state.store} ${state.jobs.filter((job) => job.grading).map((job) => `${job.id}${job.state}`)}`;

/** A heuristic or an agent of a file, with what is wrong with it. */
function functionLine(what, one) {
  const line = one.line ? `, line ${one.line}` : "", summary = one.summary ? `: ${one.summary}` : "";
  return el("li", {}, el("code", {}, one.id), ` ${what}${line}${summary}`,
    one.error ? el("span", { class: "bad" }, ` ${one.error}`) : "",
    one.note ? el("span", { class: "soft" }, ` ${one.note}`) : "");
}

/** The agents of a run, or the first few of many. */
function some({ names, short }) {
  const shown = names.length > FEW ? FEW - 1 : names.length;
  const parts = names.slice(0, shown).flatMap((name, at) => [at ? ", " : "", agentName(short[at], name)]);
  return names.length > shown ? [...parts, ` and ${names.length - shown} more`] : parts;
}

/** A job: how far it is, where to look at it, and a button to stop it; if it failed, why, and one to dismiss it. */
export function jobLine(server, job) {
  const isGrading = job.kind === "grading", number = isGrading ? job.grading : job.run;
  const address = `${isGrading ? "grading" : "run"}/${number}`, over = !["starting", "playing"].includes(job.state);
  const said = el("span", { class: "bad" }), title = { title: job.names.join(", ") };
  const button = (key, text, path, disabled = false) => el("button", {
    type: "button", "data-key": `${key}-${job.id}`, disabled,
    onclick: () => server.post(path).catch((error) => (said.textContent = ` ${error.message}`)),
  }, text);
  const path = `/api/${isGrading ? "gradings" : "runs"}/${number}/stop`;
  const progress = el("progress", {
    max: Math.max(1, job.total), value: job.total ? job.done : null, "aria-label": `How far: ${job.title}`,
  });
  return el("div", { class: `job ${job.state}` },
    el("p", {}, number ? el("a", { href: `#/lab/${address}`, ...title }, job.title) : el("span", title, job.title),
      ` · ${DOING[job.state]}`,
      job.total ? ` · ${count(job.done)} of ${count(job.total)} ${isGrading ? "games" : "pairs"}` : ""),
    job.error ? el("p", { class: "bad", role: "alert" }, job.error) : "",
    el("p", {},
      over ? button("dismiss", "Dismiss", `/api/jobs/${job.id}/dismiss`)
        : [progress, " ", button("stop", job.stopping ? "Stopping …" : "Stop", path, job.stopping || !number)],
      said),
    job.notices.map((text) => el("p", { class: "soft" }, text)));
}
