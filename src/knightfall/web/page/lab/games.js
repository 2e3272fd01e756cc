// The list of games that a number of a report counts, and one game with what its players computed.

import { stillBoard } from "../views/board.js";
import { el } from "../views/dom.js";
import { analysisLink, positionsOf, reasonOf } from "./boards.js";
import { agentName, count, link, messageOf, renew, signed, table } from "./make.js";

/** @typedef {import("../model/notation.js").Side} Side */
/** @typedef {import("./make.js").JsonNumber} JsonNumber */
/** @typedef {import("./server.js").Game} Game */
/** @typedef {import("./server.js").GameSummary} GameSummary */
/** @typedef {import("./server.js").GameTruth} GameTruth */
/** @typedef {import("./server.js").Server} Server */
/** @typedef {{games: GameSummary[], names: string[], short: string[], more: boolean}} Games */

/** Games on one page of the list. */
const AT_ONCE = 100;

/** The filters that an address may contain. */
const KNOWN = ["match", "of", "won_by", "lost_by", "first", "hunter", "runner", "reason", "score", "skip"];
const HEADINGS = [
  "Game",
  "First",
  "Second",
  "Won by",
  "Won from the start by",
  "Wins thrown away",
  "Reason",
  "Plies",
  "Opening",
];
const FILTERS = {
  of: "of",
  won_by: "won by",
  lost_by: "lost by",
  first: "in which the first player was",
  hunter: "in which the hunter was",
  runner: "in which the runner was",
};
const SCORES = ["lost twice", "split", "won twice"];

export class GamesPage {
  /**
   * @param {Server} server
   * @param {string} run
   * @param {string} wanted which games, as in "won_by=0&reason=timeout"
   */
  constructor(server, run, wanted) {
    this.server = server;
    this.run = run;
    const given = [...new URLSearchParams(wanted)];
    this.wanted = new URLSearchParams(given.filter(([name]) => KNOWN.includes(name)));
    this.place = el("div");
    this.message = el("p", { role: "status" }, "Loading …");
    this.left = false;
  }

  begin() {
    return [
      el("p", {}, link("#/lab", "← Lab"), " · ", link(`#/lab/run/${this.run}`, `Run ${this.run}`)),
      el("h2", { id: "h-lab" }, `Games of run ${this.run}`),
      this.message,
      this.place,
    ];
  }

  leave() {
    this.left = true;
  }

  async load() {
    try {
      const path = `/api/runs/${encodeURIComponent(this.run)}/games?${this.wanted}&limit=${AT_ONCE}`;
      await this.judge(this.draw(await this.server.get(path)));
    } catch (error) {
      this.message.textContent = messageOf(error);
    }
  }

  /**
   * Draw the list. Return each game with the table cells for its truth, which `judge` fills.
   * @param {Games} found
   */
  draw({ games, names, short, more }) {
    const skip = Number(this.wanted.get("skip") ?? 0);
    /** @param {number} at */
    const name = (at) => agentName(short[at], names[at], false);
    const range = `${count(skip + 1)} to ${count(skip + games.length)}${more ? ", and more" : ""}`;
    this.message.replaceChildren(...this.describe(names, short), `: ${games.length ? range : "none"}.`);
    /** @param {number} at */
    const page = (at) => {
      const wanted = new URLSearchParams(this.wanted);
      wanted.set("skip", String(at));
      return `#/lab/run/${this.run}/games/${wanted}`;
    };
    const rows = games.map((game) => {
      /** @param {Side} side */
      const player = (side) => name(side === "w" ? game.first : game.second);
      const winner = game.opening_winner;
      const opening = el("span", {}, winner ? player(winner) : "…");
      const thrown = el("span", { class: "soft" }, "…");
      const cells = [
        link(`#/lab/run/${game.run}/game/${game.pair}/${game.game}`, game.id),
        name(game.first),
        name(game.second),
        player(game.winner),
        opening,
        thrown,
        reasonOf(game),
        String(game.plies),
        el("code", {}, game.opening),
      ];
      return { game, player, opening, thrown, cells };
    });
    const list = rows.map(({ cells }) => cells);
    renew(
      this.place,
      games.length ? table("Games", HEADINGS, list) : "",
      el(
        "p",
        {},
        skip > 0 ? link(page(Math.max(0, skip - AT_ONCE)), "Previous games") : "",
        skip > 0 && more ? " · " : "",
        more ? link(page(skip + AT_ONCE), "Next games") : "",
      ),
    );
    return rows;
  }

  /**
   * Ask for the truth of one game after the other, as long as the list is shown.
   * @param {ReturnType<GamesPage["draw"]>} rows
   */
  async judge(rows) {
    for (const { game, player, opening, thrown } of rows) {
      if (this.left || !thrown.isConnected) return;
      const truth = await truthOf(this.server, game).catch(() => null);
      if (!truth) {
        thrown.textContent = "?";
        continue;
      }
      opening.replaceChildren(truth.opening ? player(truth.opening) : "unknown");
      thrown.textContent = thrownAway(truth);
      thrown.className = truth.thrown.length ? "" : "soft";
    }
  }

  /**
   * Return the filters of the list in words.
   * @param {string[]} names
   * @param {string[]} short
   */
  describe(names, short) {
    const { wanted } = this;
    /** @param {number} at */
    const name = (at) => (at in names ? agentName(short[at], names[at]) : "?");
    const parts = Object.entries(FILTERS)
      .filter(([key]) => wanted.has(key))
      .map(([key, text]) => [`${text} `, name(Number(wanted.get(key)))]);
    if (wanted.has("match")) parts.push([`of match ${Number(wanted.get("match")) + 1}`]);
    if (wanted.has("reason")) parts.push([`by ${wanted.get("reason")}`]);
    if (wanted.has("score")) parts.push(["of pairs that ", name(0), ` ${SCORES[Number(wanted.get("score"))] ?? "?"}`]);
    if (!parts.length) return ["Games in the order of the schedule"];
    return ["Games ", ...parts.flatMap((part, at) => (at ? [", ", ...part] : part))];
  }
}

/**
 * Return who wins a game's opening, and which moves threw a win away.
 * @param {Server} server
 * @param {GameSummary} game
 * @returns {Promise<GameTruth>}
 */
const truthOf = (server, { run, pair, game }) => server.get(`/api/runs/${run}/games/${pair}/${game}/truth`);

/**
 * Return how many wins were thrown away, and at which plies. If a game takes too long to judge, only its end is judged.
 * @param {GameTruth} truth
 */
function thrownAway({ thrown, known_from: from }) {
  const where = thrown.length ? ` (ply ${thrown.join(", ")})` : "";
  return `${thrown.length}${where}${from > 1 ? ` from ply ${from} on` : ""}`;
}

export class GamePage {
  /**
   * @param {Server} server
   * @param {string} run
   * @param {string} pair
   * @param {string} game
   */
  constructor(server, run, pair, game) {
    this.server = server;
    this.run = run;
    this.pair = pair;
    this.game = game;
    this.place = el("div");
    this.message = el("p", { role: "status" }, "Loading …");
    this.truth = el("p", { role: "status" });
  }

  begin() {
    return [
      el(
        "p",
        {},
        link("#/lab", "← Lab"),
        " · ",
        link(`#/lab/run/${this.run}`, `Run ${this.run}`),
        " · ",
        link(`#/lab/run/${this.run}/games`, "Games"),
      ),
      el("h2", { id: "h-lab" }, `Game ${this.run}.${this.pair}.${this.game}`),
      this.message,
      this.truth,
      this.place,
    ];
  }

  async load() {
    try {
      const path = [this.run, "games", this.pair, this.game].map(encodeURIComponent).join("/");
      /** @type {Game} */
      const game = await this.server.get(`/api/runs/${path}`);
      this.draw(game);
      const truth = await truthOf(this.server, game);
      const start = truth.opening
        ? ["Won from the start by ", playerName(game, truth.opening === "w" ? 0 : 1)]
        : ["It takes too long to compute who was winning at the start"];
      this.truth.replaceChildren(...start, `; wins thrown away: ${thrownAway(truth)}.`);
    } catch (error) {
      this.message.textContent = messageOf(error);
    }
  }

  /** @param {Game} game */
  draw(game) {
    const won = game.winner === "w" ? 0 : 1;
    this.message.replaceChildren(
      playerName(game, 0),
      " moves first against ",
      playerName(game, 1),
      ". ",
      playerName(game, won),
      ` won after ${game.plies} plies: `,
      playerName(game, 1 - won),
      ` had ${reasonOf(game)}.`,
      game.detail ? ` ${game.detail}` : "",
    );
    const positions = positionsOf(game);
    const board = stillBoard(positions[positions.length - 1]);
    renew(
      this.place,
      el("p", {}, el("a", { class: "button", href: analysisLink(game) }, "Analyse this game")),
      el("div", { class: "small-boards" }, el("figure", {}, board, el("figcaption", {}, "Final position"))),
      table(
        "Search behind each move",
        ["Ply", "Move", "Player", "Score", "Depth", "Nodes", "µs"],
        game.moves.map((move, at) => [
          String(at + 1),
          move,
          playerName(game, at % 2, false),
          scoreText(game.scores[at]),
          String(game.depths[at]),
          count(game.nodes[at]),
          count(game.microseconds[at]),
        ]),
      ),
    );
  }
}

/**
 * Return the name of a game's first (0) or second (1) player.
 * @param {Game} game
 * @param {number} seat
 */
const playerName = (game, seat, focusable = true) => agentName(game.short[seat], game.names[seat], focusable);

/**
 * Return the text of a score of the player that moved. An infinite score is proven.
 * @param {JsonNumber} score
 */
function scoreText(score) {
  if (typeof score !== "string") return signed(score, 2);
  return score.startsWith("-") ? "lost" : "won";
}
