// The panel of Analyse: the truth, lines of best play, heuristics, layers, mistakes, import and export.

import { gameText, picture } from "../model/exchange.js";
import { clusterSentence, explanations } from "../model/explain.js";
import { formatFen, nameOf } from "../model/notation.js";
import { lineText, playerName, verdictOf, winnerOf } from "../model/status.js";
import { KNIGHT_PATH } from "./board.js";
import { byId, el, onClick, part } from "./dom.js";
import { lastMove } from "./play.js";

/** @typedef {import("../model/best_line.js").BestLinePreview} BestLinePreview */
/** @typedef {import("../model/play.js").Play} Play */
/** @typedef {import("../model/review.js").Review} Review */
/** @typedef {import("../model/store.js").State} State */

const LAYERS = /** @type {const} */ (["roles", "reach", "walks", "mirror"]);
const LONGER_MS = 60000;

/**
 * @param {Play} play
 * @param {Review} review
 * @param {BestLinePreview} preview
 * @param {(text: string, what: string) => Promise<void>} copy
 */
export function addAnalysisView(play, review, preview, copy) {
  const { store } = play;
  const set = (/** @type {Partial<State["settings"]>} */ changes) => {
    store.set({ settings: { ...store.state.settings, ...changes } });
    play.study.analyse();
  };
  const truth = part("input", "truth");
  const heuristic = part("input", "heuristic");
  truth.addEventListener("change", () => set({ truth: truth.checked }));
  heuristic.addEventListener("change", () => set({ heuristic: heuristic.value }));
  for (const layer of LAYERS) {
    const box = part("input", `layer-${layer}`);
    box.addEventListener("change", () => set({ [layer]: box.checked }));
  }
  part("form", "set-up").addEventListener("submit", (event) => {
    event.preventDefault();
    play.setup.setUp(part("input", "fen").value);
  });
  byId("search-on")
    .querySelector("button")
    ?.addEventListener("click", () => {
      play.study.analyse(LONGER_MS);
    });
  onClick({
    "line-back": () => preview.walk(-1),
    "line-on": () => preview.walk(1),
    review: () => review.findMistakes().catch((error) => play.fail(error)),
    previous: () => review.toMistake(-1),
    next: () => review.toMistake(1),
    retry: () => review.retry(),
    "from-here": () => play.setup.ask(true),
    swap: () => play.swap(),
    copy: () => copy(location.href, "The link"),
    challenge: () => copyChallenge(play, copy),
    "copy-fen": () => copy(formatFen(play.position), "The position"),
    "copy-game": () => copy(textOf(store.state), "The game"),
    "save-game": () => save("game.txt", textOf(store.state), "text/plain"),
    "save-svg": () => save("position.svg", picture(play.position, KNIGHT_PATH, lastMove(play.node)), "image/svg+xml"),
  });
  store.watch(
    (state) => [state.settings],
    ({ settings }) => {
      truth.checked = settings.truth;
      if (document.activeElement !== heuristic) heuristic.value = settings.heuristic;
      for (const layer of LAYERS) part("input", `layer-${layer}`).checked = settings[layer];
    },
  );
  store.watch(
    (state) => [state.heuristics],
    ({ heuristics }) => {
      byId("heuristics").replaceChildren(...heuristics.map((id) => el("option", { value: id })));
    },
  );
  store.watch((state) => [state.look, state.settings, state.mode], drawVerdict);
  store.watch((state) => [state.look, state.settings], drawNotes);
  store.watch(
    (state) => [state.look?.node],
    ({ look }) => {
      if (look) part("input", "fen").value = formatFen(look.node.position);
    },
  );
  store.watch((state) => [state.line, state.look?.truth, state.mode], drawLine);
  store.watch(
    (state) => [state.reviewing],
    ({ reviewing }) => {
      byId("review").textContent = reviewing ? "Stop" : "Find the mistakes";
    },
  );
  store.watch(
    (state) => [state.game],
    ({ game }) => {
      byId("swap").hidden = !game.agent;
    },
  );
}

/**
 * Draw the bar above the board: who wins and in how many plies, or how much of it is known so far.
 * @param {State} state
 */
function drawVerdict({ look, settings, mode }) {
  const bar = byId("verdict");
  const shown = mode === "analyse" && settings.truth && look !== null && look.seen.moves.length > 0;
  bar.hidden = !shown;
  byId("search-on").hidden = !shown || !look.unfinished;
  if (!shown) return;
  const { winner, known, text } = verdictOf(look);
  bar.className = winner ?? "";
  bar.style.setProperty("--known", String(known));
  bar.textContent = text;
  const left = byId("search-on").firstElementChild;
  if (left)
    left.textContent = winner ? "Not every length is known yet." : "This position needs more than a few seconds.";
}

/** @param {State} state */
function drawNotes({ look, settings }) {
  const legend = byId("legend");
  const names = look?.names ?? [];
  legend.classList.toggle("bad", Boolean(look?.wrong));
  byId("heuristic").setAttribute("aria-invalid", String(Boolean(look?.wrong)));
  legend.textContent =
    look?.wrong ||
    (names.length
      ? `On each cell: the value by ${names.join(", ")} of the position after the move, for the side that moves. ` +
        "Larger is better; “!” marks the favourite move of a heuristic if it loses and another move wins."
      : "");
  if (!look) return;
  const { position } = look.node;
  if (look.cluster) {
    const key = el("i", { class: "cluster-key", "aria-hidden": "true" });
    legend.append(el("br"), key, ` ${clusterSentence(position, look.cluster)}`);
  }
  const reasons = explanations(position, look.seen);
  const images = Object.entries(look.reflections ?? {}).map(
    ([cell, reply]) => `${nameOf(position, Number(cell))} by ${nameOf(position, reply)}`,
  );
  if (images.length && settings.mirror) reasons.mirror += ` Here: ${images.join(", ")}.`;
  for (const layer of LAYERS) byId(`why-${layer}`).textContent = reasons[layer];
}

/** @param {State} state */
function drawLine(state) {
  byId("line").textContent = lineText(state);
}

/**
 * Return the game as text, with the names of the players and the result.
 * @param {State} state
 */
function textOf({ game, look, ladder }) {
  const { tree, resigned } = game;
  const winner = tree.at.children.length && !resigned ? null : winnerOf(game, look?.seen);
  const reason = !winner ? "" : resigned ? "resigned" : "no moves left";
  return gameText(tree, { white: playerName(game, "w", ladder), black: playerName(game, "b", ladder), winner, reason });
}

/**
 * Copy a link that challenges another person to win this game.
 * @param {Play} play
 * @param {(text: string, what: string) => Promise<void>} copy
 */
export async function copyChallenge(play, copy) {
  const { address, name, lost } = await play.challenge();
  const link = `${location.href.split("#")[0]}#${address}`;
  const hard = lost ? " (against best play it is lost, so they need a mistake)" : "";
  await copy(link, `The challenge to beat ${name} from here${hard}`);
}

/**
 * Offer a text to the user as a file to save.
 * @param {string} name
 * @param {string} text
 * @param {string} type the MIME type
 */
function save(name, text, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
