// A run, live or as it ended: tables whose numbers lead to the games behind them, charts, boards.

import { SmallBoards } from "./boards.js";
import { llrChart, ratingsChart } from "./charts.js";
import { count, el, here, link, many, renew } from "./make.js";
import { jobLine } from "./overview.js";
import { tablesOf } from "./tables.js";

export class RunPage {
  constructor(server, id) {
    this.server = server;
    this.id = id;
    this.boards = new SmallBoards();
    const parts = ["facts", "job", "tables", "charts", "text"];
    this.places = Object.fromEntries(parts.map((name) => [name, el("div")]));
    this.said = el("p", { role: "status" });
    this.resume = el("button", { type: "button", onclick: () => this.goOn() }, "Go on with it");
    this.redraw = () => this.run && this.drawCharts();
    addEventListener("resize", this.redraw);
  }

  begin() {
    this.recent = el("section", { hidden: true }, el("h3", {}, "The last games"),
      el("p", { class: "soft" }, "The games that were stored last, played over again."), this.boards.element);
    this.resume.hidden = true;
    return [
      el("p", {}, link("#/lab", "← Lab")),
      el("h2", { id: "h-lab" }, `Run ${this.id}`),
      this.places.facts, this.places.job, el("p", {}, this.resume), this.said,
      this.places.tables, this.places.charts, this.recent, this.places.text,
    ];
  }

  leave() {
    this.left = true;
    this.boards.stop();
    removeEventListener("resize", this.redraw);
  }

  update(state) {
    const job = state.jobs.filter((one) => String(one.run) === this.id).at(-1);
    const text = JSON.stringify(job ?? null);
    if (text !== this.seenJob) {
      this.seenJob = text;
      const shown = job && !["finished", "stopped"].includes(job.state);
      renew(this.places.job, shown ? jobLine(this.server, job) : null);
      this.stale = true;
    }
    if (this.version !== state.store || this.stale) this.load();
  }

  /** Ask for the run again, at most once a second. */
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
      if (!this.run) this.said.textContent = error.message;
    }
    setTimeout(() => {
      this.loading = false;
      if (!this.left && (this.stale || this.version !== this.server.state?.store)) this.load();
    }, 1000);
  }

  draw(run) {
    const before = this.run;
    this.run = run;
    this.resume.hidden = !run.resumable;
    const same = before && before.played === run.played && before.finished === run.finished;
    if (!same) {
      const far = run.finished ? many(run.played, "pair") : `${count(run.played)} of ${many(run.total, "pair")}`;
      const where = `A ${run.kind} on ${run.board.replace("x", "×")}, seed ${run.seed}`;
      renew(this.places.facts, el("p", {}, `${where}: ${far} (`,
        link(`#/lab/run/${run.run}/games`, many(2 * run.played, "game")),
        `), begun ${here(run.created)}${run.finished ? "" : ", not finished"}.`));
      renew(this.places.tables, ...tablesOf(run));
      this.drawCharts();
      this.recent.hidden = !run.recent.length;
      this.boards.show(run.recent);
      const open = this.places.text.querySelector("details")?.open;
      renew(this.places.text, run.text && el("details", { open }, el("summary", {}, "The whole report as text"),
        el("pre", { class: "scroll", tabindex: "0" }, run.text)));
    }
    const stuck = !(run.finished || run.resumable || run.job);
    this.said.textContent = stuck ? `It cannot be gone on with here. ${run.why_not}` : "";
  }

  drawCharts() {
    const { run } = this, width = Math.max(300, Math.min(760, this.places.charts.clientWidth || 600));
    renew(this.places.charts,
      run.llr && run.played > 0 && llrChart(run.llr, width), ratingsChart(ratingsOf(run), width));
  }

  async goOn() {
    this.resume.disabled = true;
    try {
      await this.server.post(`/api/runs/${this.id}/resume`);
      this.said.textContent = "Going on …";
    } catch (error) {
      this.said.textContent = error.message;
    }
    this.resume.disabled = false;
    this.stale = true;
  }
}

/** Whose ratings there are to draw. */
function ratingsOf({ report, entrants }) {
  const rows = report?.agents ?? report?.tests ?? [];
  return rows.map(({ name, elo, elo_error: error }) => ({
    name, elo, error, short: entrants.find((one) => one.name === name)?.short ?? name,
  }));
}
