// The names of opponents: those of the ladder have names, all others are called by their agent string.

/** @typedef {import("./agents.js").Agent} Agent */
/** @typedef {import("./store.js").Rung} Rung */

/** @type {Record<string, string>} */
const STRENGTHS = {
  Beginner: "moves at random",
  Casual: "thinks one turn ahead",
  "Club player": "thinks three turns ahead",
  "Course player": "thinks five turns ahead",
  Strong: "searches a few thousand positions",
  Expert: "searches fifty thousand positions",
  Perfect: "never lets go of a win",
};

/**
 * Return an agent's name on the page.
 * @param {{text: string}} agent
 * @param {Rung[]} ladder
 */
export function opponentName(agent, ladder) {
  return ladder.find((rung) => rung.agent === agent.text)?.name ?? agent.text;
}

/**
 * Return how strong an opponent of the ladder is, in plain words.
 * @param {Rung} rung
 */
export const strength = (rung) => STRENGTHS[rung.name] ?? rung.agent;

/**
 * Return the rating of an opponent of the ladder with its 95 % error.
 * @param {Rung} rung
 */
export function rating({ elo, error }) {
  return `${elo > 0 ? "+" : elo < 0 ? "−" : ""}${Math.abs(Math.round(elo))} ± ${Math.round(error)} Elo`;
}
