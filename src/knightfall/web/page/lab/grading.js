// The page of a grading: how often the agent kept a won position won, and its games.

import { many } from "../model/words.js";
import { el } from "../views/dom.js";
import { analysisLink } from "./boards.js";
import { agentName, count, interval, link, localTime, messageOf, percent, renew, table } from "./make.js";
import { jobLine } from "./overview.js";

/** @typedef {import("./server.js").Grade} Grade */
/** @typedef {import("./server.js").Grading} Grading */
/** @typedef {import("./server.js").Server} Server */
/** @typedef {import("./server.js").State} State */

export class GradingPage {
  /**
   * @param {Server} server
   * @param {string} id
   */
  constructor(server, id) {
    this.server = server;
    this.id = id;
    this.places = { facts: el("div"), job: el("div"), tables: el("div"), games: el("div") };
    this.seenJob = "";
    this.loading = false;
    this.stale = false;
    this.left = false;
    this.message = el("p", { role: "status" });
    this.resume = el("button", { type: "button", hidden: true, onclick: () => this.resumeGrading() }, "Resume");
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab")),
      el("h2", { id: "h-lab" }, `Grading ${this.id}`),
      this.places.facts,
      this.places.job,
      el("p", {}, this.resume),
      this.message,
      this.places.tables,
      this.places.games,
    ];
  }

  leave() {
    this.left = true;
  }

  /** @param {State} state */
  update(state) {
    const job = state.jobs.filter((one) => String(one.grading) === this.id).at(-1);
    const text = JSON.stringify(job ?? null);
    if (text === this.seenJob) return;
    this.seenJob = text;
    const over = !job || ["finished", "stopped"].includes(job.state);
    renew(this.places.job, over ? null : jobLine(this.server, job));
    this.load();
  }

  /** Read the grading from the server, at most once a second. */
  async load() {
    if (this.loading) {
      this.stale = true;
      return;
    }
    this.loading = true;
    this.stale = false;
    try {
      const found = await this.server.get(`/api/gradings/${encodeURIComponent(this.id)}`);
      if (!this.left) this.draw(found);
    } catch (error) {
      this.message.textContent = messageOf(error);
    }
    setTimeout(() => {
      this.loading = false;
      if (this.stale && !this.left) this.load();
    }, 1000);
  }

  /** @param {Grading} found */
  draw({ grading, grade, games, resumable, why_not: why, job }) {
    this.resume.hidden = !resumable;
    const stuck = !(grading.finished || resumable || job);
    this.message.textContent = stuck ? `It cannot be resumed here. ${why}` : "";
    const far = `${grading.finished ? "" : `${count(grading.games)} of `}${many(grading.openings, "game")}`;
    renew(
      this.places.facts,
      el(
        "p",
        {},
        agentName(grading.short, grading.name),
        ` on ${grading.board.replace("x", "×")}, seed ${grading.seed}: ${far}, begun ${localTime(grading.created)}`,
        grading.finished ? "." : ", not finished.",
      ),
    );
    if (!grade) return;
    renew(this.places.tables, ...gradeParts(grade));
    const rows = games.map((game, at) => [
      link(analysisLink(game), String(at + 1)),
      String(game.moves.length),
      game.blunders.join(", ") || "–",
      el("code", {}, game.opening),
    ]);
    const headings = ["Game", "Plies", "Wins given away, at ply", "Opening"];
    renew(this.places.games, rows.length ? table("Graded games", headings, rows) : "");
  }

  /** Continue a grading that was stopped. */
  async resumeGrading() {
    this.resume.disabled = true;
    try {
      await this.server.post(`/api/gradings/${this.id}/resume`);
      this.message.textContent = "Resuming …";
    } catch (error) {
      this.message.textContent = messageOf(error);
    }
    this.resume.disabled = false;
    this.load();
  }
}

/**
 * Return the table and the sentences that show a grade.
 * @param {Grade} grade
 */
function gradeParts(grade) {
  const rows = Object.entries(grade.keeps).map(([name, { kept, at_random: random }]) => [
    name,
    count(kept.count),
    count(kept.of),
    percent(kept.rate),
    kept.of ? interval(kept.low, kept.high) : "",
    percent(random),
  ]);
  const first = grade.first_blunder;
  const without = first.games_without;
  const median = first.quartiles ? `; otherwise the first at ply ${first.quartiles[1]} (median)` : "";
  const caption = "Keeps the win, where some moves win and some lose";
  const parts = [
    table(
      `${caption}: ${count(grade.games)} games against itself`,
      ["Where", "kept", "of", "rate", "95 %", "at random"],
      rows,
    ),
    el("p", {}, `No win was given away in ${without.count} of ${without.of} games${median}.`),
  ];
  const auc = grade.reliability?.auc;
  if (auc) {
    const text = `Its scores tell won positions from lost ones with an AUC of ${auc.value.toFixed(3)} `;
    parts.push(el("p", {}, text, "(1 is perfect, 0.5 is chance)."));
  }
  return parts;
}
