// The view of the atlas: a heat map of first cells, then who wins for each reply.

import { nameOf, POCKET } from "../model/notation.js";
import { opponentName } from "../model/opponents.js";
import { boardById, onCell } from "./board.js";
import { byId, el, part } from "./dom.js";

/** @typedef {import("../model/atlas.js").Atlas} Atlas */
/** @typedef {import("../model/marks.js").Mark} Mark */
/** @typedef {import("../model/store.js").State} State */
/** @typedef {import("../model/store.js").Store} Store */

/**
 * Return the view for the router.
 * @param {Store} store
 * @param {Atlas} atlas
 */
export function addAtlasView(store, atlas) {
  const boards = part("select", "atlas-board");
  const click = part("select", "atlas-click");
  boards.append(...atlas.boards.map((name) => new Option(name.replace("x", "×"), name)));
  boards.addEventListener("change", () => (location.hash = `/atlas/${boards.value}`));
  click.addEventListener("change", () => atlas.set({ click: /** @type {any} */ (click.value) }));
  onCell(boardById("atlas"), "cell", (cell) => {
    const { first, replies } = atlas.state;
    if (first === null) location.hash = atlas.address(cell);
    else if (cell === first) location.hash = atlas.address(null);
    else if (replies[cell]) location.hash = atlas.gameAddress(first, cell, against(store.state));
  });
  store.watch(
    (state) => [state.atlas],
    ({ atlas: shown }) => {
      boards.value = shown.board;
      click.value = shown.click;
      draw(atlas);
    },
  );
  store.watch(
    (state) => [state.choice.opponent, state.ladder],
    (state) => {
      const name = opponentName({ text: opponentOf(state) }, state.ladder);
      for (const option of click.options) {
        if (option.value !== "analyse")
          option.textContent = `plays ${option.value === "w" ? "White" : "Black"} against ${name}`;
      }
    },
  );
  return { title: "Atlas", show: (/** @type {string[]} */ [board, first]) => atlas.show(board, first), keys: {} };
}

/**
 * Return the opponent that the dialog for a new game has chosen; the usual one if that is not on the ladder.
 * @param {State} state
 */
function opponentOf({ choice, ladder }) {
  return (
    ladder.find(({ agent }) => agent === choice.opponent)?.agent ??
    ladder.find(({ usual }) => usual)?.agent ??
    "perfect"
  );
}

/**
 * Return the opponent and your side for a game from an opening; null to analyse it.
 * @param {State} state
 */
const against = (state) => (state.atlas.click === "analyse" ? null : { vs: opponentOf(state), you: state.atlas.click });

/** @param {Atlas} atlas */
function draw(atlas) {
  const { first, shares, replies } = atlas.state;
  const { empty } = atlas;
  const all = Array.from({ length: empty.width * empty.height }, (_, cell) => cell);
  if (first === null) {
    boardById("atlas").show({ position: empty, targets: all, marks: heatMarks(shares) });
    drawTotals(Object.values(shares));
  } else {
    const position = { ...empty, white: first, open: empty.open & ~(1n << BigInt(first)), black: POCKET };
    boardById("atlas").show({ position, targets: all, marks: replyMarks(replies) });
    drawReplies(nameOf(empty, first), Object.values(replies));
  }
  if (atlas.state.wrong) byId("atlas-text").prepend(el("span", { class: "bad" }, atlas.state.wrong), " ");
  drawLaw(atlas);
}

/** @param {Atlas} atlas */
function drawLaw(atlas) {
  const { exceptions } = atlas.state;
  const { empty } = atlas;
  const law =
    "The colour law says that the hunter wins: the first player if both knights stand on one colour, else the second.";
  const { count, found } = exceptions ?? { count: 0, found: [] };
  const images = found.length === 1 ? "this one" : `these ${found.length}`;
  const odd = count
    ? `Here it fails in ${count} openings, which are images of ${images}:`
    : "Here it has no exception.";
  byId("atlas-law").textContent = `${law} ${exceptions ? odd : ""}`;
  byId("atlas-exceptions").replaceChildren(
    ...found.map(({ first, second, plies, mirrors }) =>
      el(
        "li",
        {},
        el("a", { href: `#${atlas.gameAddress(first, second)}` }, `${nameOf(empty, first)} ${nameOf(empty, second)}`),
        `: ${plies} plies, the runner wins${mirrors ? " by mirroring" : ""}`,
      ),
    ),
  );
}

/**
 * @param {Record<number, import("../model/atlas.js").Share>} shares
 * @returns {Record<number, Mark>}
 */
function heatMarks(shares) {
  const rates = Object.values(shares).map(({ won, all }) => won / all);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  return Object.fromEntries(
    Object.entries(shares).map(([cell, { won, all }]) => [
      cell,
      {
        lines: [String(won), `of ${all}`],
        kind: "heat",
        heat: high > low ? (won / all - low) / (high - low) : 0.5,
        description: `the first player wins ${won} of ${all} openings from here`,
      },
    ]),
  );
}

/**
 * @param {Record<number, import("../model/engine.js").Opening>} replies
 * @returns {Record<number, Mark>}
 */
function replyMarks(replies) {
  const lengths = Object.values(replies).map(({ plies }) => plies);
  const [low, high] = [Math.min(...lengths), Math.max(...lengths)];
  return Object.fromEntries(
    Object.entries(replies).map(([cell, { wins, plies, broken, mirrors }]) => [
      cell,
      {
        lines: [`${wins ? "2" : "1"}${broken ? "!" : ""}`, String(plies)],
        kind: wins ? "lost" : "won",
        heat: high > low ? (high - plies) / (high - low) : 0.5,
        description:
          `the ${wins ? "second" : "first"} player wins in ${plies} plies` +
          (broken ? `, an exception: the runner wins${mirrors ? " by mirroring" : ""}` : ""),
      },
    ]),
  );
}

/** @param {import("../model/atlas.js").Share[]} shares */
function drawTotals(shares) {
  const all = shares.reduce((sum, one) => sum + one.all, 0);
  const won = shares.reduce((sum, one) => sum + one.won, 0);
  byId("atlas-text").textContent = all
    ? `Of ${all} openings the first player wins ${won}, the second ${all - won}.`
    : "Counting …";
  byId("atlas-key").textContent =
    "On each cell: how many replies the first player wins if it begins there. The deeper the green, the more.";
}

/**
 * @param {string} name
 * @param {import("../model/engine.js").Opening[]} rows
 */
function drawReplies(name, rows) {
  const won = rows.filter((row) => !row.wins).length;
  const odd = rows.filter((row) => row.broken).length;
  byId("atlas-text").textContent =
    `First knight on ${name}: the first player, who moves, wins ${won} of ${rows.length} openings (1), the second ` +
    `player ${rows.length - won} (2)${odd ? `; ${odd} of them against the law (!)` : ""}.`;
  byId("atlas-key").textContent =
    "On each cell: 1 or 2, the player who wins, and in how many plies; the deeper the colour, the sooner. Click the " +
    "knight to choose another first cell.";
}
