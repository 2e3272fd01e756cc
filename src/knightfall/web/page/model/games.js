// The games that were played in this browser, the newest first.

/** @typedef {import("./notation.js").Side} Side */

/**
 * @typedef {object} GameRecord
 * @property {string} id
 * @property {string} address where the game goes on
 * @property {string | null} vs the opponent's agent string; null for two people
 * @property {Side} you
 * @property {Side | null} winner null while it is not over
 * @property {number} plies
 * @property {number} time when it was last played, in milliseconds since 1970
 */

export const GAMES_KEY = "knightfall.games";
const MOST = 200;

/**
 * Return the list with a game added at its head, replacing what was recorded of it before.
 * @param {GameRecord[]} games
 * @param {GameRecord} game
 */
export function withGame(games, game) {
  return [game, ...games.filter(({ id }) => id !== game.id)].slice(0, MOST);
}

/**
 * Return those entries of a stored value that are games.
 * @param {unknown} stored
 * @returns {GameRecord[]}
 */
export function readGames(stored) {
  if (!Array.isArray(stored)) return [];
  const side = (/** @type {unknown} */ value) => value === "w" || value === "b";
  return stored
    .filter(
      (one) =>
        typeof one?.id === "string" &&
        typeof one.address === "string" &&
        !one.address.startsWith("/") &&
        (one.vs === null || typeof one.vs === "string") &&
        side(one.you) &&
        (one.winner === null || side(one.winner)) &&
        Number.isSafeInteger(one.plies) &&
        Number.isFinite(one.time),
    )
    .slice(0, MOST);
}

/**
 * Count won and lost games against each opponent, in the order of the list.
 * @param {GameRecord[]} games
 * @returns {{vs: string, won: number, lost: number}[]}
 */
export function scores(games) {
  /** @type {Map<string, {vs: string, won: number, lost: number}>} */
  const found = new Map();
  for (const { vs, you, winner } of games) {
    if (vs === null || winner === null) continue;
    const row = found.get(vs) ?? { vs, won: 0, lost: 0 };
    if (winner === you) row.won++;
    else row.lost++;
    found.set(vs, row);
  }
  return [...found.values()];
}
