// A grading: how often the agent kept a won position won, and the games that tell.

import { analysisLink } from "./boards.js";
import { count, el, interval, link, percent, renew, table } from "./make.js";
import { jobLine } from "./overview.js";

export class GradingPage {
  constructor(server, id) {
    this.server = server;
    this.id = id;
    this.places = Object.fromEntries(["job", "tables", "games"].map((name) => [name, el("div")]));
    this.said = el("p", { role: "status" });
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab")),
      el("h2", { id: "h-lab" }, "Grading"), this.said, this.places.job, this.places.tables, this.places.games,
    ];
  }

  leave() {
    this.left = true;
  }

  update(state) {
    const job = state.jobs.find((one) => one.id === this.id && one.kind === "grading");
    const text = JSON.stringify(job ?? null);
    if (text === this.seen) return;
    this.seen = text;
    renew(this.places.job, job && jobLine(this.server, job));
    this.load();
  }

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

  draw({ grade, games }) {
    if (!grade) return;
    this.said.textContent = `${grade.agent} on ${grade.board.replace("x", "×")}, seed ${grade.seed}.`;
    const rows = Object.entries(grade.keeps).map(([name, row]) => [
      name, count(row.kept.count), count(row.kept.of), percent(row.kept.rate), interval(row.kept.low, row.kept.high), percent(row.at_random),
    ]);
    const first = grade.first_blunder, without = first.games_without;
    renew(this.places.tables,
      table(`Keeps the win, where some moves win and some lose: ${count(grade.games)} games against itself`, ["Where", "kept", "of", "rate", "95 %", "at random"], rows),
      el("p", {}, `No win was given away in ${without.count} of ${without.of} games${first.quartiles ? `; otherwise the first at ply ${first.quartiles[1]} (median)` : ""}.`),
      grade.reliability?.auc ? el("p", {}, `Its scores tell won positions from lost ones with an AUC of ${grade.reliability.auc.value.toFixed(3)} (1 is an oracle, 0.5 a coin).`) : "");
    renew(this.places.games, games.length ? table("The games behind it", ["Game", "Plies", "Wins given away, at ply", "Opening"], games.map((game, at) => [
      link(analysisLink(game), String(at + 1)), String(game.moves.length), game.blunders.join(", ") || "–", el("code", {}, game.opening),
    ])) : "");
  }
}
