// The tables of a run's report. Each number links to the games that it counts.

import { el } from "../views/dom.js";
import { agentName, count, interval, link, percent, plusMinus, signed, table } from "./make.js";

/** @typedef {import("../views/dom.js").Child} Child */
/** @typedef {import("./server.js").LeagueReport} LeagueReport */
/** @typedef {import("./server.js").MatchReport} MatchReport */
/** @typedef {import("./server.js").Run} Run */
/** @typedef {import("./server.js").Standing} Standing */
/** @typedef {import("./server.js").TournamentReport} TournamentReport */

/**
 * Return the tables of a run. Runs of other kinds have only their report as text.
 * @param {Run} run
 */
export function tablesOf(run) {
  if (!run.report) return [el("p", { class: "soft" }, "No pair has been stored yet.")];
  if (run.kind === "match") return matchTables(run, run.report);
  if (run.kind === "tournament") return tournamentTables(run, run.report);
  if (run.kind === "league") return leagueTables(run, run.report);
  return [];
}

/**
 * Return a link to some games of a run.
 * @param {Run} run
 * @param {Record<string, any>} wanted which games; see `GamesPage`
 * @param {string | number} text
 */
const games = (run, wanted, text) => link(`#/lab/run/${run.run}/games/${new URLSearchParams(wanted)}`, String(text));

/**
 * Return the short name of an entrant.
 * @param {Run} run
 * @param {string} name its full name
 */
function entrantName(run, name, focusable = true) {
  return agentName(run.entrants.find((one) => one.name === name)?.short ?? name, name, focusable);
}

/**
 * Return a sentence with the entrants' short names instead of their full ones.
 * @param {Run} run
 * @param {string} text
 */
function shortened(run, text) {
  const entrants = [...run.entrants].sort((a, b) => b.name.length - a.name.length);
  return entrants.reduce((sentence, one) => sentence.replaceAll(one.name, one.short), text);
}

const HEADINGS = [
  "Agent",
  "Elo",
  "Games",
  "Won",
  "Lost",
  "Win rate",
  "95 %",
  "moving first",
  "hunting",
  "running",
  "lost for other reasons",
  "depth",
  "nodes per move",
];

/**
 * Return a table of some agents' results.
 * @param {Run} run
 * @param {string} caption
 * @param {Standing[]} rows
 * @param {number[]} numbers of the agents among the entrants
 * @param {string[]} places of the agents in a ranking
 */
function standings(run, caption, rows, numbers, places = []) {
  const cells = rows.map((row, at) => standing(run, row, numbers[at], places[at] ? `${places[at]}. ` : ""));
  return table(caption, HEADINGS, cells);
}

/**
 * Return an agent's row in a table of results.
 * @param {Run} run
 * @param {Standing} row
 * @param {number} me the agent's number among the entrants
 * @param {string} place
 * @returns {Child[]}
 */
function standing(run, row, me, place) {
  const unusual = Object.entries(row.losses).filter(([reason]) => reason !== "no moves");
  const otherLosses = unusual.map(([reason, number], at) => [
    at ? ", " : "",
    games(run, { lost_by: me, reason }, `${count(number)} ${reason}`),
  ]);
  return [
    [place, entrantName(run, row.name)],
    plusMinus(row.elo, row.elo_error),
    games(run, { of: me }, count(row.games)),
    games(run, { won_by: me }, count(row.won)),
    games(run, { lost_by: me }, count(row.lost)),
    games(run, { of: me }, percent(row.rate)),
    interval(row.low, row.high),
    games(run, { first: me }, percent(row.as_first)),
    games(run, { hunter: me }, percent(row.as_hunter)),
    games(run, { runner: me }, percent(row.as_runner)),
    otherLosses.length ? otherLosses.flat() : "–",
    row.mean_depth === null ? "" : row.mean_depth.toFixed(1),
    row.mean_nodes === null ? "" : count(Math.round(row.mean_nodes)),
  ];
}

/**
 * @param {Run} run
 * @param {MatchReport} report
 */
function matchTables(run, report) {
  const [lost, split, won] = report.counts;
  const [a, b] = run.entrants;
  /** @type {Child[][]} */
  const facts = [
    ["Elo", plusMinus(report.elo, report.elo_error, 1)],
    ["Normalized Elo", plusMinus(report.nelo, report.nelo_error, 1)],
    ["Likelihood of superiority", percent(report.los)],
    ["Pairs lost twice (LL)", games(run, { score: 0 }, count(lost))],
    ["Pairs split (WL)", games(run, { score: 1 }, count(split))],
    ["Pairs won twice (WW)", games(run, { score: 2 }, count(won))],
  ];
  const { llr, lower, upper } = report;
  if (llr !== null && lower !== null && upper !== null) {
    facts.push(["LLR", `${signed(llr, 2)} (${signed(lower, 2)} to ${signed(upper, 2)})`]);
  }
  return [
    el("p", { class: "verdict", title: report.words }, shortened(run, report.words)),
    table(`${a.short} against ${b.short}`, ["Figure", entrantName(run, a.name, false)], facts),
    standings(run, "Both agents", report.agents, [0, 1]),
  ];
}

/**
 * @param {Run} run
 * @param {TournamentReport} report
 */
function tournamentTables(run, report) {
  const tests = report.tests.map((_, at) => at);
  const columns = report.tests.map((row) => row.name);
  /** @param {number} test @param {number} opponent */
  const cell = (test, opponent) => {
    const match = run.matches.findIndex(([a, b]) => a === test && b === tests.length + opponent);
    const [won, lost] = report.table[opponent][test];
    return [games(run, { match, won_by: test }, won), " | ", games(run, { match, lost_by: test }, lost)];
  };
  /** @type {Child[][]} */
  const rows = report.opponents.map((name, opponent) => [
    entrantName(run, name),
    ...tests.map((test) => cell(test, opponent)),
  ]);
  rows.push(["Win rate", ...report.tests.map((row, test) => games(run, { of: test }, percent(row.rate)))]);
  const parts = [
    table(
      "Won | lost against each opponent",
      ["Opponent", ...columns.map((name) => entrantName(run, name, false))],
      rows,
    ),
    standings(run, "Test agents", report.tests, tests),
  ];
  if (report.differences.length) {
    parts.push(
      table(
        `Against ${shortened(run, columns[0])}, from the same openings`,
        ["Test agent", "Points", "95 %", "Verdict"],
        report.differences.map((one) => [
          entrantName(run, one.a),
          signed(one.points, 1),
          `${signed(one.low, 1)} to ${signed(one.high, 1)}`,
          one.verdict,
        ]),
      ),
    );
  }
  return parts;
}

/**
 * @param {Run} run
 * @param {LeagueReport} report
 */
function leagueTables(run, report) {
  const numbers = report.agents.map((row) => run.entrants.findIndex((one) => one.name === row.name));
  const places = report.agents.map((_, at) => String(at + 1));
  /** @param {number} row @param {number} column @returns {Child} */
  const met = (row, column) => {
    const found = report.crosstable[row][column];
    if (!found) return "";
    const [a, b] = [numbers[row], numbers[column]];
    const match = run.matches.findIndex(([x, y]) => (x === a && y === b) || (x === b && y === a));
    return [games(run, { match, won_by: a }, found[0]), " – ", games(run, { match, lost_by: a }, found[1])];
  };
  /** @param {number} row @param {number} column @returns {Child} */
  const difference = (row, column) => {
    const found = report.differences[row][column];
    return found ? plusMinus(...found) : "";
  };
  /** @param {(row: number, column: number) => Child} cell @returns {Child[][]} */
  const square = (cell) =>
    report.agents.map((row, at) => [
      [`${at + 1}. `, entrantName(run, row.name, false)],
      ...places.map((_, column) => (column === at ? "" : cell(at, column))),
    ]);
  return [
    standings(run, "Ratings, the best first: Elo around the mean", report.agents, numbers, places),
    table("Elo differences, row less column, ± 95 %", ["Agent", ...places], square(difference)),
    table("Won – lost, row against column", ["Agent", ...places], square(met)),
  ];
}
