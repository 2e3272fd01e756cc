// The page of a run: its tables, charts and last games, drawn again while it is being played.

import { many } from "../model/words.js";
import { el } from "../views/dom.js";
import { SmallBoards } from "./boards.js";
import { llrChart, ratingsChart } from "./charts.js";
import { count, link, localTime, messageOf, renew } from "./make.js";
import { jobLine } from "./overview.js";
import { tablesOf } from "./tables.js";

/** @typedef {import("./server.js").Run} Run */
/** @typedef {import("./server.js").Server} Server */
/** @typedef {import("./server.js").Standing} Standing */
/** @typedef {import("./server.js").State} State */

export class RunPage {
  /**
   * @param {Server} server
   * @param {string} id
   */
  constructor(server, id) {
    this.server = server;
    this.id = id;
    this.boards = new SmallBoards();
    this.places = { facts: el("div"), job: el("div"), tables: el("div"), charts: el("div"), text: el("div") };
    this.recent = el(
      "section",
      { hidden: true },
      el("h3", {}, "The last games"),
      el("p", { class: "soft" }, "A replay of the games that were stored last."),
      this.boards.element,
    );
    /** @type {Run | null} */
    this.run = null;
    this.seenJob = "";
    /** @type {number | undefined} */
    this.version = undefined; // the store's version when the run was read
    this.loading = false;
    this.stale = false;
    this.left = false;
    this.message = el("p", { role: "status" });
    this.resume = el("button", { type: "button", hidden: true, onclick: () => this.resumeRun() }, "Resume");
    this.redraw = () => {
      if (this.run) this.drawCharts(this.run);
    };
    addEventListener("resize", this.redraw);
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab")),
      el("h2", { id: "h-lab" }, `Run ${this.id}`),
      this.places.facts,
      this.places.job,
      el("p", {}, this.resume),
      this.message,
      this.places.tables,
      this.places.charts,
      this.recent,
      this.places.text,
    ];
  }

  leave() {
    this.left = true;
    this.boards.stop();
    removeEventListener("resize", this.redraw);
  }

  /** @param {State} state */
  update(state) {
    const job = state.jobs.filter((one) => String(one.run) === this.id).at(-1);
    const text = JSON.stringify(job ?? null);
    if (text !== this.seenJob) {
      this.seenJob = text;
      const over = !job || ["finished", "stopped"].includes(job.state);
      renew(this.places.job, over ? null : jobLine(this.server, job));
      this.stale = true;
    }
    if (this.version !== state.store || this.stale) this.load();
  }

  /** Read the run from the server, at most once a second. */
  async load() {
    if (this.loading) {
      this.stale = true;
      return;
    }
    this.loading = true;
    this.stale = false;
    this.version = this.server.state?.store;
    try {
      const run = await this.server.get(`/api/runs/${encodeURIComponent(this.id)}`);
      if (!this.left) this.draw(run);
    } catch (error) {
      if (!this.run) this.message.textContent = messageOf(error);
    }
    setTimeout(() => {
      this.loading = false;
      if (!this.left && (this.stale || this.version !== this.server.state?.store)) this.load();
    }, 1000);
  }

  /** @param {Run} run */
  draw(run) {
    const before = this.run;
    this.run = run;
    this.resume.hidden = !run.resumable;
    const same = before && before.played === run.played && before.finished === run.finished;
    if (!same) this.drawReport(run);
    const stuck = !(run.finished || run.resumable || run.job);
    this.message.textContent = stuck ? `It cannot be resumed here. ${run.why_not}` : "";
  }

  /** @param {Run} run */
  drawReport(run) {
    const far = run.finished ? many(run.played, "pair") : `${count(run.played)} of ${many(run.total, "pair")}`;
    const where = `A ${run.kind} on ${run.board.replace("x", "×")}, seed ${run.seed}`;
    renew(
      this.places.facts,
      el(
        "p",
        {},
        `${where}: ${far} (`,
        link(`#/lab/run/${run.run}/games`, many(2 * run.played, "game")),
        `), begun ${localTime(run.created)}${run.finished ? "" : ", not finished"}.`,
      ),
    );
    renew(this.places.tables, ...tablesOf(run));
    this.drawCharts(run);
    this.recent.hidden = !run.recent.length;
    this.boards.show(run.recent);
    const open = this.places.text.querySelector("details")?.open;
    const text = el("pre", { class: "scroll", tabindex: "0" }, run.text);
    const details = el("details", { open }, el("summary", {}, "The whole report as text"), text);
    renew(this.places.text, run.text ? details : null);
  }

  /** @param {Run} run */
  drawCharts(run) {
    const width = Math.max(300, Math.min(760, this.places.charts.clientWidth || 600));
    renew(
      this.places.charts,
      run.llr && run.played > 0 ? llrChart(run.llr, width) : null,
      ratingsChart(ratingsOf(run), width),
    );
  }

  /** Continue a run that was stopped. */
  async resumeRun() {
    this.resume.disabled = true;
    try {
      await this.server.post(`/api/runs/${this.id}/resume`);
      this.message.textContent = "Resuming …";
    } catch (error) {
      this.message.textContent = messageOf(error);
    }
    this.resume.disabled = false;
    this.stale = true;
  }
}

/**
 * Return the ratings of a run's agents; in a tournament, only those of the test agents.
 * @param {Run} run
 */
function ratingsOf({ report, entrants }) {
  /** @type {Standing[]} */
  const rows = report?.agents ?? report?.tests ?? [];
  return rows.map(({ name, elo, elo_error: error }) => {
    const short = entrants.find((one) => one.name === name)?.short ?? name;
    return { name, short, elo, error };
  });
}
