// The tables of a run's report; each number is a link to the games that it counts.

import { agentName, count, el, interval, link, percent, plusMinus, signed, table } from "./make.js";

export function tablesOf(run) {
  if (!run.report) return [el("p", { class: "soft" }, "No pair has been stored yet.")];
  const made = { match: ofMatch, tournament: ofTournament, league: ofLeague }[run.kind];
  return made ? made(run) : []; // of a worth, its text tells all
}

/** A link to the games of a run that fit. */
const games = (run, wanted, text) =>
  link(`#/lab/run/${run.run}/games/${new URLSearchParams(wanted)}`, String(text));

/** An entrant by its full name, shown by its short one. */
export function entrantName(run, name, focusable = true) {
  return agentName(run.entrants.find((one) => one.name === name)?.short ?? name, name, focusable);
}

/** A sentence with the entrants' short names instead of the full ones. */
function shortened(run, text) {
  const entrants = [...run.entrants].sort((a, b) => b.name.length - a.name.length);
  return entrants.reduce((said, one) => said.replaceAll(one.name, one.short), text);
}

const HEADINGS = [
  "Agent", "Elo", "Games", "Won", "Lost", "Win rate", "95 %", "moving first", "hunting", "running", "lost otherwise",
  "depth", "nodes a move",
];

/** What there is to say of some agents: `numbers` are theirs among the entrants. */
function standings(run, caption, rows, numbers, places = []) {
  return table(caption, HEADINGS, rows.map((row, at) => {
    const me = numbers[at], odd = Object.entries(row.losses).filter(([reason]) => reason !== "no moves");
    const otherwise = odd.map(([reason, number], place) => [
      place ? ", " : "", games(run, { lost_by: me, reason }, `${count(number)} ${reason}`),
    ]);
    return [
      [places[at] ? `${places[at]}. ` : "", entrantName(run, row.name)], plusMinus(row.elo, row.elo_error),
      games(run, { of: me }, count(row.games)), games(run, { won_by: me }, count(row.won)),
      games(run, { lost_by: me }, count(row.lost)), games(run, { of: me }, percent(row.rate)),
      interval(row.low, row.high), games(run, { first: me }, percent(row.as_first)),
      games(run, { hunter: me }, percent(row.as_hunter)), games(run, { runner: me }, percent(row.as_runner)),
      otherwise.length ? otherwise.flat() : "–",
      row.mean_depth === null ? "" : row.mean_depth.toFixed(1),
      row.mean_nodes === null ? "" : count(Math.round(row.mean_nodes)),
    ];
  }));
}

function ofMatch(run) {
  const { report } = run, [lost, split, won] = report.counts, [a, b] = run.entrants;
  const facts = [
    ["Elo", plusMinus(report.elo, report.elo_error, 1)],
    ["Normalized Elo", plusMinus(report.nelo, report.nelo_error, 1)],
    ["Likelihood of superiority", percent(report.los)],
    ["Pairs lost twice (LL)", games(run, { score: 0 }, count(lost))],
    ["Pairs split (WL)", games(run, { score: 1 }, count(split))],
    ["Pairs won twice (WW)", games(run, { score: 2 }, count(won))],
  ];
  if (report.llr !== null) {
    facts.push(["LLR", `${signed(report.llr, 2)} (${signed(report.lower, 2)} to ${signed(report.upper, 2)})`]);
  }
  return [
    el("p", { class: "verdict", title: report.words }, shortened(run, report.words)),
    table(`${a.short} against ${b.short}`, ["Figure", entrantName(run, a.name, false)], facts),
    standings(run, "Both agents", report.agents, [0, 1]),
  ];
}

function ofTournament(run) {
  const { report } = run, tests = report.tests.map((_, at) => at), columns = report.tests.map((row) => row.name);
  const cell = (test, opponent) => {
    const match = run.matches.findIndex(([a, b]) => a === test && b === tests.length + opponent);
    const [won, lost] = report.table[opponent][test];
    return [games(run, { match, won_by: test }, won), " | ", games(run, { match, lost_by: test }, lost)];
  };
  const rows = report.opponents.map((name, opponent) => [
    entrantName(run, name), ...tests.map((test) => cell(test, opponent)),
  ]);
  rows.push(["Win rate", ...report.tests.map((row, test) => games(run, { of: test }, percent(row.rate)))]);
  const parts = [
    table("Won | lost against each opponent",
      ["Opponent", ...columns.map((name) => entrantName(run, name, false))], rows),
    standings(run, "Test agents", report.tests, tests),
  ];
  if (report.differences.length) {
    parts.push(table(`Against ${shortened(run, columns[0])}, from the same openings`,
      ["Test agent", "Points", "95 %", "Verdict"],
      report.differences.map((one) => [
        entrantName(run, one.a), signed(one.points, 1), `${signed(one.low, 1)} to ${signed(one.high, 1)}`, one.verdict,
      ])));
  }
  return parts;
}

function ofLeague(run) {
  const { report } = run;
  const numbers = report.agents.map((row) => run.entrants.findIndex((one) => one.name === row.name));
  const places = report.agents.map((_, at) => String(at + 1));
  const met = (row, column) => {
    const found = report.crosstable[row][column];
    if (!found) return "";
    const [a, b] = [numbers[row], numbers[column]];
    const match = run.matches.findIndex(([x, y]) => (x === a && y === b) || (x === b && y === a));
    return [games(run, { match, won_by: a }, found[0]), " – ", games(run, { match, lost_by: a }, found[1])];
  };
  const square = (cell) => report.agents.map((row, at) => [
    [`${at + 1}. `, entrantName(run, row.name, false)],
    ...places.map((_, column) => (column === at ? "" : cell(at, column))),
  ]);
  return [
    standings(run, "Ratings, the best first: Elo around the mean", report.agents, numbers, places),
    table("Elo differences, row less column, ± 95 %", ["Agent", ...places], square((row, column) => {
      const found = report.differences[row][column];
      return found ? plusMinus(...found) : "";
    })),
    table("Won – lost, row against column", ["Agent", ...places], square(met)),
  ];
}
