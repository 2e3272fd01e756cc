// The lab's first page: start something, see what is being played, your files, every stored run.

import { StartForm } from "./form.js";
import { count, el, here, link, renew, table } from "./make.js";

const DOING = { starting: "getting ready", playing: "being played", finished: "finished", stopped: "stopped", failed: "failed" };
const SHOWN = 200;

export class Overview {
  constructor(server) {
    this.server = server;
    this.form = new StartForm(server);
    this.places = Object.fromEntries(["jobs", "files", "runs"].map((name) => [name, el("div")]));
    this.seen = {};
  }

  begin() {
    const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);
    return [
      el("h2", { id: "h-lab" }, "Lab"),
      section("Start", this.form.element),
      section("Being played", this.places.jobs),
      section("Your files", this.places.files),
      section("Stored runs", this.places.runs),
    ];
  }

  update(state) {
    this.form.update(state);
    this.draw("jobs", state.jobs, () => this.jobs(state.jobs));
    this.draw("files", state.files, () => this.files(state.files));
    if (this.version !== state.store) this.load();
  }

  /** Draw a part anew only if what it shows has changed. */
  draw(name, content, make) {
    const text = JSON.stringify(content);
    if (this.seen[name] === text) return;
    this.seen[name] = text;
    renew(this.places[name], ...make());
  }

  /** The stored runs, at most once a second. */
  async load() {
    if (this.loading || !this.server.state) return;
    this.loading = true;
    this.version = this.server.state.store;
    try {
      const { runs } = await this.server.get(`/api/runs?limit=${SHOWN}`);
      this.draw("runs", runs, () => [this.runs(runs)]);
    } catch (error) {
      renew(this.places.runs, el("p", { class: "bad" }, error.message));
    }
    setTimeout(() => {
      this.loading = false;
      if (!this.left && this.version !== this.server.state?.store) this.load();
    }, 1000);
  }

  leave() {
    this.left = true;
  }

  // -- parts ---------------------------------------------------------------------------------

  jobs(jobs) {
    const shown = jobs.filter((job) => !["finished", "stopped"].includes(job.state) || job.kind === "grading").reverse().slice(0, 12);
    if (!shown.length) return [el("p", { class: "soft" }, "Nothing at the moment.")];
    return shown.map((job) => jobLine(this.server, job));
  }

  files(files) {
    if (!files.length) {
      return [el("p", { class: "soft" }, "None. ", el("code", {}, "knightfall serve mine.py"), " shows what is in mine.py, and lets you use it here.")];
    }
    return files.map((file) => {
      const functions = [...file.heuristics.map((one) => ["heuristic", one]), ...file.agents.map((one) => ["agent", one])];
      return el("article", { class: "file" },
        el("h4", {}, file.name, file.looking ? el("span", { class: "soft" }, " (reading it …)") : ""),
        file.error ? el("p", { class: "bad", role: "alert" }, file.error) : "",
        functions.length ? el("ul", {}, functions.map(([what, one]) => el("li", {},
          el("code", {}, one.id), ` ${what}${one.line ? `, line ${one.line}` : ""}${one.summary ? `: ${one.summary}` : ""}`,
          one.error ? el("span", { class: "bad" }, ` ${one.error}`) : "",
          one.note ? el("span", { class: "soft" }, ` ${one.note}`) : ""))) : "",
        !functions.length && !file.error && !file.looking ? el("p", { class: "soft" }, "Nothing in it takes five arguments (a heuristic) or one (an agent).") : "");
    });
  }

  runs(runs) {
    if (!runs.length) return el("p", { class: "soft" }, "None yet.");
    return table(runs.length < SHOWN ? "Every stored run" : `The last ${SHOWN} runs`, ["Run", "Kind", "Agents", "Outcome", "Pairs", "Begun"],
      runs.map((run) => [
        link(`#/lab/run/${run.id}`, String(run.id)), run.kind, some(run.names),
        run.finished ? run.verdict || "finished" : "not finished",
        run.finished ? count(run.played) : `${count(run.played)} of ${count(run.total)}`, here(run.created),
      ]));
  }
}

const some = (names) => (names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", "));

/** What is being played: how far it is, where to look at it, and a button to stop it. */
export function jobLine(server, job) {
  const at = job.kind === "grading" ? `#/lab/grading/${job.id}` : job.run ? `#/lab/run/${job.run}` : null;
  const unit = job.kind === "grading" ? "games" : "pairs", over = !["starting", "playing"].includes(job.state);
  const path = job.kind === "grading" ? `/api/gradings/${job.id}/stop` : `/api/runs/${job.run}/stop`;
  const stop = el("button", { type: "button", "data-key": `stop-${job.id}`, disabled: job.stopping || !at }, job.stopping ? "Stopping …" : "Stop");
  const said = el("span", { class: "bad" });
  stop.addEventListener("click", () => server.post(path).catch((error) => (said.textContent = ` ${error.message}`)));
  return el("div", { class: "job" },
    el("p", {}, at ? link(at, job.title) : job.title, ` · ${DOING[job.state]}`,
      job.total ? ` · ${count(job.done)} of ${count(job.total)} ${unit}` : ""),
    over ? "" : el("p", {}, el("progress", { max: Math.max(1, job.total), value: job.total ? job.done : null, "aria-label": `How far: ${job.title}` }), " ", stop, said),
    job.error ? el("p", { class: "bad", role: "alert" }, job.error) : "",
    job.notices.map((text) => el("p", { class: "soft" }, text)));
}
