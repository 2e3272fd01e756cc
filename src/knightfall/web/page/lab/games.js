// The games behind a number, and one game with what its players thought.

import { analysisLink, positionsOf, reasonOf } from "./boards.js";
import { agentName, count, el, link, renew, signed, table } from "./make.js";

const AT_ONCE = 100;
const KNOWN = ["match", "of", "won_by", "lost_by", "first", "hunter", "runner", "reason", "score", "skip"];
const HEADINGS = [
  "Game", "First", "Second", "Won by", "Won from the start by", "Wins thrown away", "The other had", "Plies", "Opening",
];
const FILTERS = {
  of: "of", won_by: "won by", lost_by: "lost by", first: "in which the first player was",
  hunter: "in which the hunter was", runner: "in which the runner was",
};
const SCORES = ["lost twice", "split", "won twice"];

export class GamesPage {
  constructor(server, run, wanted) {
    this.server = server;
    this.run = run;
    const given = [...new URLSearchParams(wanted)];
    this.wanted = new URLSearchParams(given.filter(([name]) => KNOWN.includes(name)));
    this.place = el("div");
    this.told = el("p", { role: "status" }, "Looking them up …");
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab"), " · ", link(`#/lab/run/${this.run}`, `Run ${this.run}`)),
      el("h2", { id: "h-lab" }, `Games of run ${this.run}`), this.told, this.place,
    ];
  }

  leave() {
    this.left = true;
  }

  async load() {
    try {
      const path = `/api/runs/${encodeURIComponent(this.run)}/games?${this.wanted}&limit=${AT_ONCE}`;
      const found = await this.server.get(path);
      await this.judge(this.draw(found));
    } catch (error) {
      this.told.textContent = error.message;
    }
  }

  /** Draw the list; what the solver has to say comes later, into the cells that are given back with their games. */
  draw({ games, names, short, more }) {
    const skip = Number(this.wanted.get("skip") ?? 0), name = (at) => agentName(short[at], names[at], false);
    const shown = games.length
      ? `${count(skip + 1)} to ${count(skip + games.length)}${more ? ", and more" : ""}` : "none";
    this.told.replaceChildren(...this.describe(names, short), `: ${shown}.`);
    const page = (at) => {
      const wanted = new URLSearchParams(this.wanted);
      wanted.set("skip", at);
      return `#/lab/run/${this.run}/games/${wanted}`;
    };
    const rows = games.map((game) => {
      const seat = (side) => name(side === "w" ? game.first : game.second);
      const cells = { opening: el("span"), thrown: el("span", { class: "soft" }, "…") };
      cells.say = (side) => cells.opening.replaceChildren(side ? seat(side) : "…");
      cells.say(game.opening_winner);
      return { game, cells, row: [
        link(`#/lab/run/${game.run}/game/${game.pair}/${game.game}`, game.id), name(game.first), name(game.second),
        seat(game.winner), cells.opening, cells.thrown, reasonOf(game), String(game.plies),
        el("code", {}, game.opening),
      ] };
    });
    renew(this.place,
      games.length ? table("Games", HEADINGS, rows.map(({ row }) => row)) : "",
      el("p", {},
        skip > 0 ? link(page(Math.max(0, skip - AT_ONCE)), "Those before") : "", skip > 0 && more ? " · " : "",
        more ? link(page(skip + AT_ONCE), "Those after") : ""));
    return rows;
  }

  /** Ask for the truth of one game after the other, as long as somebody looks at them. */
  async judge(rows) {
    for (const { game, cells } of rows) {
      if (this.left || !cells.thrown.isConnected) return;
      const truth = await truthOf(this.server, game).catch(() => null);
      if (!truth) {
        cells.thrown.textContent = "?";
        continue;
      }
      cells.say(truth.opening);
      cells.thrown.textContent = thrownAway(truth);
      cells.thrown.className = truth.thrown.length ? "" : "soft";
      if (!truth.opening) cells.opening.textContent = "unknown";
    }
  }

  describe(names, short) {
    const name = (at) => (at in names ? agentName(short[at], names[at]) : "?");
    const parts = Object.entries(FILTERS).filter(([key]) => this.wanted.has(key))
      .map(([key, text]) => [`${text} `, name(this.wanted.get(key))]);
    if (this.wanted.has("match")) parts.push([`of match ${Number(this.wanted.get("match")) + 1}`]);
    if (this.wanted.has("reason")) parts.push([`by ${this.wanted.get("reason")}`]);
    if (this.wanted.has("score")) {
      parts.push(["of pairs that ", name(0), ` ${SCORES[this.wanted.get("score")] ?? "?"}`]);
    }
    if (!parts.length) return ["Games in the order of the schedule"];
    return ["Games ", ...parts.flatMap((part, at) => (at ? [", ", ...part] : part))];
  }
}

const truthOf = (server, { run, pair, game }) => server.get(`/api/runs/${run}/games/${pair}/${game}/truth`);

/** How many wins were thrown away, and at which plies; of a game that takes too long, what is known. */
function thrownAway({ thrown, known_from: from }) {
  const where = thrown.length ? ` (ply ${thrown.join(", ")})` : "";
  return `${thrown.length}${where}${from > 1 ? ` from ply ${from} on` : ""}`;
}

export class GamePage {
  constructor(server, run, pair, game) {
    Object.assign(this, { server, run, pair, game });
    this.place = el("div");
    this.told = el("p", { role: "status" }, "Looking it up …");
    this.truth = el("p", { role: "status" });
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab"), " · ", link(`#/lab/run/${this.run}`, `Run ${this.run}`), " · ",
        link(`#/lab/run/${this.run}/games`, "Games")),
      el("h2", { id: "h-lab" }, `Game ${this.run}.${this.pair}.${this.game}`), this.told, this.truth, this.place,
    ];
  }

  async load() {
    try {
      const path = [this.run, "games", this.pair, this.game].map(encodeURIComponent).join("/");
      const game = await this.server.get(`/api/runs/${path}`);
      this.draw(game);
      const truth = await truthOf(this.server, game);
      const from = truth.opening && agentName(...this.name(game, truth.opening === "w" ? 0 : 1));
      this.truth.replaceChildren(
        ...(from ? ["Won from the start by ", from] : ["Who was winning at the start takes too long to find out"]),
        `; wins thrown away: ${thrownAway(truth)}.`);
    } catch (error) {
      this.told.textContent = error.message;
    }
  }

  name(game, seat) {
    return [game.short[seat], game.names[seat]];
  }

  draw(game) {
    const won = game.winner === "w" ? 0 : 1, name = (seat) => agentName(...this.name(game, seat));
    this.told.replaceChildren(name(0), " moves first against ", name(1), ". ", name(won),
      ` won after ${game.plies} plies: `, name(1 - won), ` had ${reasonOf(game)}.`,
      game.detail ? ` ${game.detail}` : "");
    const board = el("knight-board", { inert: true });
    renew(this.place,
      el("p", {}, el("a", { class: "button", href: analysisLink(game) }, "Analyse this game")),
      el("div", { class: "small-boards" }, el("figure", {}, board, el("figcaption", {}, "How it ended"))),
      table("What they thought", ["Ply", "Move", "Who", "Score", "Depth", "Nodes", "µs"],
        game.moves.map((move, at) => [
          String(at + 1), move, agentName(...this.name(game, at % 2), false), scoreOf(game.scores[at]),
          String(game.depths[at]), count(game.nodes[at]), count(game.microseconds[at]),
        ])));
    board.show(positionsOf(game).at(-1));
  }
}

/** A score for whoever moved; infinite where it was proven. */
function scoreOf(score) {
  if (typeof score !== "string") return signed(score, 2);
  return score.startsWith("-") ? "lost" : "won";
}
