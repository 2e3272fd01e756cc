// The dialog that asks for an opponent, a side and a board.

import { opponentName, rating, strength } from "../model/opponents.js";
import { BOARDS } from "../model/store.js";
import { byId, el, onClick, part } from "./dom.js";
import { face } from "./faces.js";

/** @typedef {import("../model/play.js").Play} Play */
/** @typedef {import("../model/store.js").State} State */

/** @param {Play} play */
export function addNewGameDialog(play) {
  const { store } = play;
  const form = part("form", "new-game");
  const dialog = part("dialog", "choose");
  const boards = /** @type {HTMLSelectElement} */ (form.elements.namedItem("board"));
  boards.append(...BOARDS.map((name) => new Option(name.replace("x", "×"), name)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    play.setup.start();
  });
  form.addEventListener("change", () => readForm(play, form));
  form.addEventListener("input", () => readForm(play, form));
  onClick({ cancel: () => store.set({ dialog: "" }) });
  dialog.addEventListener("close", () => isOpen(store.state) && store.set({ dialog: "" }));
  store.watch(
    (state) => [state.ladder, state.offers],
    () => drawOpponents(play),
  );
  store.watch(
    (state) => [state.choice, state.settings, state.ladder, state.offers],
    (state) => drawChoice(state, form),
  );
  store.watch(
    (state) => [state.dialog, state.wrong],
    (state) => {
      const here = state.dialog === "here";
      byId("h-choose").textContent = here ? "Play from here against …" : "New game";
      byId("here-text").hidden = !here;
      for (const row of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-new]"))) row.hidden = here;
      byId("choose-said").textContent = state.wrong;
      if (isOpen(state) && !dialog.open) dialog.showModal();
      if (!isOpen(state) && dialog.open) dialog.close();
    },
  );
}

/** @param {State} state */
const isOpen = ({ dialog }) => dialog === "new" || dialog === "here";

/**
 * Draw a card for each opponent of the ladder and of the user's files, for another agent, and for two people.
 * @param {Play} play
 */
function drawOpponents({ store }) {
  const { ladder, offers } = store.state;
  const card = (
    /** @type {string} */ value,
    /** @type {Node | string} */ picture,
    /** @type {string} */ name,
    /** @type {string} */ description,
  ) =>
    el(
      "button",
      {
        type: "button",
        class: "face",
        "data-opponent": value,
        "aria-pressed": "false",
        onclick: () => store.set({ choice: { ...store.state.choice, opponent: value }, wrong: "" }),
      },
      picture,
      el("span", {}, el("strong", {}, name), el("small", {}, description)),
    );
  const sign = (/** @type {string} */ text) => el("span", { class: "sign", "aria-hidden": "true" }, text);
  byId("faces").replaceChildren(
    ...ladder.map((rung, rank) => card(rung.agent, face(rank, ladder.length), rung.name, strength(rung))),
    ...offers.map((offer) => card(offer.agent, sign("ƒ"), offer.shown, "from your files")),
    card("own", sign("…"), "Another agent", "by its agent string"),
    card("none", sign("2"), "Two people", "at one board"),
  );
}

/**
 * @param {State} state
 * @param {HTMLFormElement} form
 */
function drawChoice({ choice, settings, ladder, offers }, form) {
  for (const card of byId("faces").children) {
    const chosen = card instanceof HTMLElement && card.dataset.opponent === choice.opponent;
    card.setAttribute("aria-pressed", String(chosen));
  }
  byId("agent-row").hidden = choice.opponent !== "own";
  const rung = ladder.find(({ agent }) => agent === choice.opponent);
  const offer = offers.find(({ agent }) => agent === choice.opponent);
  byId("opponent-text").textContent = rung
    ? `${rung.name} is ${rung.agent}: ${rating(rung)} in a league of the seven.`
    : offer
      ? `${offer.shown} is played by ${opponentName({ text: offer.agent }, ladder)}.`
      : choice.opponent === "none"
        ? "Two people take turns at this screen."
        : "Write an agent, as in id(improved, nodes=2500).";
  const values = { ...choice, help: settings.help };
  for (const name of /** @type {const} */ (["agent", "seat", "board", "placement", "help"])) {
    const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (form.elements.namedItem(name));
    if (input.value !== values[name]) input.value = values[name];
  }
  /** @type {HTMLInputElement} */ (form.elements.namedItem("sound")).checked = settings.sound;
}

/**
 * @param {Play} play
 * @param {HTMLFormElement} form
 */
function readForm({ store }, form) {
  const { choice, settings } = store.state;
  const given = Object.fromEntries(new FormData(form));
  const { agent, seat, board, placement, help } = /** @type {Record<string, any>} */ (given);
  store.set({
    choice: { ...choice, agent, seat, board, placement },
    settings: { ...settings, help, sound: "sound" in given },
  });
}
