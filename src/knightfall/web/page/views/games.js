// The list of games that were played in this browser.

import { scores } from "../model/games.js";
import { opponentName } from "../model/opponents.js";
import { many, NAMES } from "../model/words.js";
import { byId, el, onClick } from "./dom.js";

/** @typedef {import("../model/games.js").GameRecord} GameRecord */
/** @typedef {import("../model/store.js").Rung} Rung */
/** @typedef {import("../model/store.js").State} State */
/** @typedef {import("../model/store.js").Store} Store */

/**
 * Return the view for the router.
 * @param {Store} store
 */
export function addGamesView(store) {
  /** @type {GameRecord[]} */
  let forgotten = [];
  const draw = () => drawGames(store.state, forgotten.length > 0);
  onClick({
    "games-clear": () => {
      forgotten = store.state.games;
      store.set({ games: [] });
    },
    "games-undo": () => {
      store.set({ games: [...store.state.games, ...forgotten] });
      forgotten = [];
    },
  });
  store.watch((state) => [state.games, state.ladder], draw);
  return { title: "Games", show: async () => draw(), keys: {} };
}

/**
 * @param {State} state
 * @param {boolean} undoable
 */
function drawGames({ games, ladder }, undoable) {
  const name = (/** @type {string} */ vs) => opponentName({ text: vs }, ladder);
  const open = games.filter(({ winner }) => !winner).length;
  byId("games-text").textContent = games.length
    ? `${many(games.length, "game")}, kept in this browser only${open ? `; ${open} not over` : ""}.`
    : undoable
      ? "All games are forgotten."
      : "None yet. Games that you play are listed here, and you can continue them.";
  byId("games-scores").replaceChildren(
    ...scores(games).map(({ vs, won, lost }) => el("li", {}, el("strong", {}, name(vs)), ` won ${won}, lost ${lost}`)),
  );
  byId("games-list").replaceChildren(...games.map((game) => el("li", {}, row(game, name))));
  byId("games-clear").hidden = !games.length;
  byId("games-undo").hidden = !undoable;
}

/**
 * @param {GameRecord} game
 * @param {(vs: string) => string} name
 */
function row({ id, address, vs, you, winner, plies, time }, name) {
  const result = !winner ? "not over" : !vs ? `${NAMES[winner]} won` : winner === you ? "won" : "lost";
  const kind = !winner || !vs ? "" : winner === you ? "good" : "bad";
  const when = new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return el(
    "a",
    { href: `#${address}`, "data-game": id },
    el("strong", { class: kind }, result),
    ` ${vs ? `against ${name(vs)} as ${NAMES[you]}` : "two people"}, ${many(plies, "move")} `,
    el("time", { class: "soft", datetime: new Date(time).toISOString() }, when),
  );
}
