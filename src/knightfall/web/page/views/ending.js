// The card at the end of a game: who won and why, what was true from the start, and what decided it.

import { truthMark } from "../model/marks.js";
import { nameOf } from "../model/notation.js";
import { playerName, winnerOf } from "../model/status.js";
import { NAMES, other } from "../model/words.js";
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
  store.watch(
    (state) => [state.game, state.look, state.verdict, state.mode],
    (state) => {
      const won = winnerOf(state.game, state.look?.seen);
      const card = byId("end");
      card.hidden = !won || state.mode === "analyse"; // which has more to say
      if (won) card.replaceChildren(...contents(state, won), buttons(play, review, copy));
    },
  );
}

/**
 * @param {State} state
 * @param {Side} won
 */
function contents({ game, verdict, ladder }, won) {
  const { agent, you, resigned, challenge, tree } = game;
  const name = playerName(game, won, ladder);
  const title = challenge && won === you ? "Challenge won" : `${name} won`;
  const why = resigned ? `${NAMES[resigned]} resigned.` : `${NAMES[other(won)]}’s knight has no cell left to go to.`;
  /** @type {HTMLElement[]} */
  const parts = [el("h2", {}, title), el("p", {}, why)];
  if (!verdict) return [...parts, el("p", { class: "soft" }, "Looking for what decided it …")];
  const { winner, mistake } = verdict;
  if (winner) {
    const told = !agent
      ? `From the start, ${NAMES[winner]} could have won.`
      : winner === you
        ? "From the start, this game was won for you."
        : "From the start, this game was lost for you against best play.";
    parts.push(el("p", {}, told));
  }
  if (mistake?.node.parent) {
    const { node, better } = mistake;
    const cell = Number(node.cell);
    const who = agent ? "Your" : `${NAMES[other(won)]}’s`;
    const right = better.map((one) => nameOf(node.position, one)).join(", ");
    const move = `${nameOf(node.position, cell)} at move ${tree.line(node).length}`;
    const marks = Object.fromEntries(better.map((one) => [one, truthMark({ wins: true, plies: null })]));
    marks[cell] = truthMark({ wins: false, plies: null });
    parts.push(
      el("p", {}, `${who} last mistake: ${move}; ${right} kept the win.`),
      stillBoard({ position: mistake.node.parent.position, marks }),
    );
  } else if (agent && won !== you && winner === you) parts.push(el("p", {}, "You gave up a game that was won."));
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
    ["Rematch", () => play.rematch(you)],
    ["Other side", () => play.rematch(other(you))],
    [
      "Review",
      async () => {
        await play.setMode("analyse");
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
