// A grading: how often the agent kept a won position won, and the games that tell.

import { analysisLink } from "./boards.js";
import { agentName, count, el, here, interval, link, many, percent, renew, table } from "./make.js";
import { jobLine } from "./overview.js";

export class GradingPage {
  constructor(server, id) {
    this.server = server;
    this.id = id;
    this.places = Object.fromEntries(["facts", "job", "tables", "games"].map((name) => [name, el("div")]));
    this.said = el("p", { role: "status" });
    this.resume = el("button", { type: "button", hidden: true, onclick: () => this.goOn() }, "Go on with it");
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab")),
      el("h2", { id: "h-lab" }, `Grading ${this.id}`), this.places.facts, this.places.job, el("p", {}, this.resume),
      this.said, this.places.tables, this.places.games,
    ];
  }

  leave() {
    this.left = true;
  }

  update(state) {
    const job = state.jobs.filter((one) => String(one.grading) === this.id).at(-1);
    const text = JSON.stringify(job ?? null);
    if (text === this.seen) return;
    this.seen = text;
    const shown = job && !["finished", "stopped"].includes(job.state);
    renew(this.places.job, shown ? jobLine(this.server, job) : null);
    this.load();
  }

  /** Ask for the grading again, at most once a second. */
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
      this.said.textContent = error.message;
    }
    setTimeout(() => {
      this.loading = false;
      if (this.stale && !this.left) this.load();
    }, 1000);
  }

  draw({ grading, grade, games, resumable, why_not: why, job }) {
    this.resume.hidden = !resumable;
    const stuck = !(grading.finished || resumable || job);
    this.said.textContent = stuck ? `It cannot be gone on with here. ${why}` : "";
    const far = `${grading.finished ? "" : `${count(grading.games)} of `}${many(grading.openings, "game")}`;
    renew(this.places.facts, el("p", {}, agentName(grading.short, grading.name),
      ` on ${grading.board.replace("x", "×")}, seed ${grading.seed}: ${far}, begun ${here(grading.created)}`,
      grading.finished ? "." : ", not finished."));
    if (!grade) return;
    const rows = Object.entries(grade.keeps).map(([name, { kept, at_random: random }]) => [
      name, count(kept.count), count(kept.of), percent(kept.rate),
      kept.of ? interval(kept.low, kept.high) : "", percent(random),
    ]);
    const first = grade.first_blunder, without = first.games_without, auc = grade.reliability?.auc;
    const median = first.quartiles ? `; otherwise the first at ply ${first.quartiles[1]} (median)` : "";
    const title = "Keeps the win, where some moves win and some lose";
    renew(this.places.tables,
      table(`${title}: ${count(grade.games)} games against itself`,
        ["Where", "kept", "of", "rate", "95 %", "at random"], rows),
      el("p", {}, `No win was given away in ${without.count} of ${without.of} games${median}.`),
      auc ? el("p", {}, `Its scores tell won positions from lost ones with an AUC of ${auc.value.toFixed(3)} `,
        "(1 is an oracle, 0.5 a coin).") : "");
    renew(this.places.games, games.length ? table("The games behind it",
      ["Game", "Plies", "Wins given away, at ply", "Opening"],
      games.map((game, at) => [
        link(analysisLink(game), String(at + 1)), String(game.moves.length), game.blunders.join(", ") || "–",
        el("code", {}, game.opening),
      ])) : "");
  }

  async goOn() {
    this.resume.disabled = true;
    try {
      await this.server.post(`/api/gradings/${this.id}/resume`);
      this.said.textContent = "Going on …";
    } catch (error) {
      this.said.textContent = error.message;
    }
    this.resume.disabled = false;
    this.load();
  }
}
