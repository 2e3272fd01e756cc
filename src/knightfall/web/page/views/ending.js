// The card at the end of a game: who won and why, who was winning at the start, and the last mistakes.

import { truthMark } from "../model/marks.js";
import { nameOf } from "../model/notation.js";
import { playerName, winnerOf } from "../model/status.js";
import { many, NAMES, other } from "../model/words.js";
import { copyChallenge } from "./analysis.js";
import { stillBoard } from "./board.js";
import { byId, el } from "./dom.js";

/** @typedef {import("../model/notation.js").Side} Side */
/** @typedef {import("../model/play.js").Play} Play */
/** @typedef {import("../model/review.js").Review} Review */
/** @typedef {import("../model/store.js").State} State */

/**
 * @param {Play} play
 * @param {Review} review
 * @param {(text: string, what: string) => Promise<void>} copy
 */
export function addEndingView(play, review, copy) {
  const { store } = play;
  const facts = el("div", {});
  store.watch(
    (state) => [state.game, state.look?.seen, state.mode],
    (state) => {
      const won = winnerOf(state.game, state.look?.seen);
      const card = byId("end");
      card.hidden = !won || state.mode === "analyse"; // Analyse shows more than the card
      if (won) card.replaceChildren(...headline(state, won), facts, buttons(play, review, copy));
    },
  );
  store.watch(
    (state) => [state.verdict],
    (state) => {
      const won = winnerOf(state.game, state.look?.seen);
      if (won) facts.replaceChildren(...factsOf(state, won));
    },
  );
}

/**
 * @param {State} state
 * @param {Side} won
 */
function headline({ game, ladder }, won) {
  const { you, resigned, challenge } = game;
  const title = challenge && won === you ? "Challenge won" : `${playerName(game, won, ladder)} won`;
  const why = resigned
    ? `${playerName(game, resigned, ladder)} resigned.`
    : `${NAMES[other(won)]}’s knight has no cell left to go to.`;
  return [el("h2", {}, title), el("p", {}, why)];
}

/**
 * Return what the solver has found out about the game so far.
 * @param {State} state
 * @param {Side} won
 * @returns {HTMLElement[]}
 */
function factsOf({ game, verdict, ladder }, won) {
  const { agent, you, tree } = game;
  if (!verdict) return [];
  const { winner, mistake, theirs, done, left } = verdict;
  /** @type {HTMLElement[]} */
  const parts = [];
  const move = (/** @type {import("../model/tree.js").Node} */ node) =>
    `${nameOf(node.position, Number(node.cell))} at move ${tree.line(node).length}`;
  if (winner) {
    const message = !agent
      ? `From the start, ${NAMES[winner]} could have won.`
      : winner === you
        ? "From the start, this game was won for you."
        : "From the start, this game was lost for you against best play.";
    parts.push(el("p", {}, message));
  } else if (done) parts.push(el("p", {}, "It takes too long to compute who was winning at the start."));
  if (mistake?.node.parent) {
    const { node, better } = mistake;
    const who = agent ? "Your" : `${NAMES[other(won)]}’s`;
    const right = better.map((one) => nameOf(node.position, one)).join(", ");
    const marks = Object.fromEntries(better.map((one) => [one, truthMark({ wins: true, plies: null })]));
    marks[Number(node.cell)] = truthMark({ wins: false, plies: null });
    parts.push(
      el("p", {}, `${who} last mistake: ${move(node)}; ${right} kept the win.`),
      stillBoard({ position: mistake.node.parent.position, marks }),
    );
  } else if (done && agent && won !== you && winner === you) {
    parts.push(el("p", {}, "You resigned in a won position."));
  }
  if (theirs && agent && won === you) {
    const name = playerName(game, other(you), ladder);
    parts.push(el("p", {}, `${name}’s last mistake: ${move(theirs)}.`));
  }
  if (!done) parts.push(el("p", { class: "soft" }, `Looking for the decisive mistakes: ${many(left, "move")} left …`));
  return parts;
}

/**
 * @param {Play} play
 * @param {Review} review
 * @param {(text: string, what: string) => Promise<void>} copy
 */
function buttons(play, review, copy) {
  const { agent, you } = play.game;
  /** @type {[string, () => unknown][]} */
  const offers = [
    ["Rematch", () => play.setup.rematch(you)],
    ["Other side", () => play.setup.rematch(other(you))],
    [
      "Review",
      async () => {
        await play.setMode("analyse");
        byId("review").focus();
        await review.findMistakes();
      },
    ],
    ["Share", () => copy(location.href, "The link")],
    ["Challenge a friend", () => copyChallenge(play, copy)],
  ];
  const shown = agent ? offers : offers.slice(2);
  return el(
    "p",
    { class: "buttons" },
    shown.map(([text, act], place) =>
      el("button", { type: "button", class: place ? null : "main", onclick: act }, text),
    ),
  );
}
