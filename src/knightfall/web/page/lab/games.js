// The games behind a number, and one game with what its players thought.

import { analysisLink, positionsOf, reasonOf } from "./boards.js";
import { count, el, link, renew, signed, table } from "./make.js";

const AT_ONCE = 100;
const KNOWN = ["match", "of", "won_by", "lost_by", "first", "hunter", "runner", "reason", "score", "skip"];

export class GamesPage {
  constructor(server, run, wanted) {
    this.server = server;
    this.run = run;
    this.wanted = new URLSearchParams([...new URLSearchParams(wanted)].filter(([name]) => KNOWN.includes(name)));
    this.place = el("div");
    this.told = el("p", { role: "status" }, "Looking them up …");
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab"), " · ", link(`#/lab/run/${this.run}`, `Run ${this.run}`)),
      el("h2", { id: "h-lab" }, `Games of run ${this.run}`), this.told, this.place,
    ];
  }

  async load() {
    try {
      const found = await this.server.get(`/api/runs/${encodeURIComponent(this.run)}/games?${this.wanted}&limit=${AT_ONCE}`);
      this.draw(found);
    } catch (error) {
      this.told.textContent = error.message;
    }
  }

  draw({ games, names, more }) {
    const skip = Number(this.wanted.get("skip") ?? 0);
    this.told.textContent = `${this.describe(names)}: ${games.length ? `${count(skip + 1)} to ${count(skip + games.length)}${more ? ", and more" : ""}` : "none"}.`;
    const page = (at) => {
      const wanted = new URLSearchParams(this.wanted);
      wanted.set("skip", at);
      return `#/lab/run/${this.run}/games/${wanted}`;
    };
    renew(this.place,
      games.length ? table("Games", ["Game", "First", "Second", "Won by", "The other had", "Plies", "Opening"], games.map((game) => [
        link(`#/lab/run/${game.run}/game/${game.pair}/${game.game}`, game.id), names[game.first], names[game.second],
        names[game.winner === "w" ? game.first : game.second], reasonOf(game), String(game.plies), el("code", {}, game.opening),
      ])) : "",
      el("p", {}, skip > 0 ? link(page(Math.max(0, skip - AT_ONCE)), "Those before") : "", skip > 0 && more ? " · " : "", more ? link(page(skip + AT_ONCE), "Those after") : ""));
  }

  describe(names) {
    const words = { of: "of", won_by: "won by", lost_by: "lost by", first: "in which the first player was", hunter: "in which the hunter was", runner: "in which the runner was" };
    const parts = Object.entries(words).filter(([key]) => this.wanted.has(key)).map(([key, text]) => `${text} ${names[this.wanted.get(key)] ?? "?"}`);
    if (this.wanted.has("match")) parts.push(`of match ${Number(this.wanted.get("match")) + 1}`);
    if (this.wanted.has("reason")) parts.push(`by ${this.wanted.get("reason")}`);
    if (this.wanted.has("score")) parts.push(`of pairs that ${names[0]} ${["lost twice", "split", "won twice"][this.wanted.get("score")]}`);
    return `Games ${parts.join(", ") || "in the order of the schedule"}`;
  }
}

export class GamePage {
  constructor(server, run, pair, game) {
    Object.assign(this, { server, run, pair, game });
    this.place = el("div");
    this.told = el("p", { role: "status" }, "Looking it up …");
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab"), " · ", link(`#/lab/run/${this.run}`, `Run ${this.run}`), " · ", link(`#/lab/run/${this.run}/games`, "Games")),
      el("h2", { id: "h-lab" }, `Game ${this.run}.${this.pair}.${this.game}`), this.told, this.place,
    ];
  }

  async load() {
    try {
      const game = await this.server.get(`/api/runs/${[this.run, "games", this.pair, this.game].map(encodeURIComponent).join("/")}`);
      this.draw(game);
    } catch (error) {
      this.told.textContent = error.message;
    }
  }

  draw(game) {
    const winner = game.names[game.winner === "w" ? 0 : 1], loser = game.names[game.winner === "w" ? 1 : 0];
    this.told.textContent = `${game.names[0]} moves first against ${game.names[1]}. ${winner} won after ${game.plies} plies: ${loser} had ${reasonOf(game)}.${game.detail ? ` ${game.detail}` : ""}`;
    const board = el("knight-board", { inert: true });
    renew(this.place,
      el("p", {}, el("a", { class: "button", href: analysisLink(game) }, "Analyse this game")),
      el("div", { class: "small-boards" }, el("figure", {}, board, el("figcaption", {}, "How it ended"))),
      table("What they thought", ["Ply", "Move", "Who", "Score", "Depth", "Nodes", "µs"], game.moves.map((move, at) => [
        String(at + 1), move, game.names[at % 2], scoreOf(game.scores[at]), String(game.depths[at]), count(game.nodes[at]), count(game.microseconds[at]),
      ])));
    board.show(positionsOf(game).at(-1));
  }
}

/** A score for whoever moved; infinite where it was proven. */
const scoreOf = (score) => (typeof score === "string" ? (score.startsWith("-") ? "lost" : "won") : signed(score, 2));
