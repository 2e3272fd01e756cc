// Words that several parts of the page use.

/** @typedef {import("./notation.js").Side} Side */

/** The names of both sides. */
export const NAMES = { w: "White", b: "Black" };

/**
 * Return the opponent's side.
 * @param {Side} side
 * @returns {Side}
 */
export const other = (side) => (side === "w" ? "b" : "w");

/**
 * Return a number with its noun, as in "1 move" and "2,352 moves".
 * @param {number} number
 * @param {string} one the noun in the singular
 */
export const many = (number, one) => `${number.toLocaleString("en")} ${number === 1 ? one : `${one}s`}`;

/**
 * Return a number of plies, as in "1 ply" and "2 plies".
 * @param {number} number
 */
export const plies = (number) => `${number} ${number === 1 ? "ply" : "plies"}`;
