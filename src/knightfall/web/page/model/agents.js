// Agents as strings, written as everywhere in knightfall. Only agents that play in a browser are known.

import { heuristicAlone, parseHeuristic, splitAtCommas } from "./heuristics.js";

/** @typedef {import("./heuristics.js").Heuristic} Heuristic */
/** @typedef {import("./heuristics.js").Term} Term */

/**
 * An agent as the engine needs it to choose a move. A limit of 0 means no limit.
 * @typedef {object} Agent
 * @property {string} kind
 * @property {string} text the agent string, its heuristic as canonical text
 * @property {string} method the engine's name of the search, or "perfect"
 * @property {Term[]} terms the heuristic; the perfect player uses it for positions that it has no time to prove
 * @property {number} seed
 * @property {number} nodes
 * @property {number} depth in plies
 * @property {number} ms the time for a move
 */

/**
 * The usual limits of each kind of agent.
 * @type {Record<string, Partial<Agent> & {method: string}>}
 */
const KINDS = {
  random: { method: "any_move", depth: 1 },
  greedy: { method: "alphabeta", depth: 1 },
  minimax: { method: "minimax", depth: 3 },
  alphabeta: { method: "alphabeta", depth: 5 },
  id: { method: "deepening", nodes: 2500 },
  perfect: { method: "perfect", ms: 1500 },
};
const FORMS =
  "write random, greedy(improved), minimax(open, depth=3), alphabeta(improved, depth=5), " +
  "id(improved, nodes=2500) or perfect.";

/** @type {Record<string, number>} */
const UNITS = { us: 0.001, ms: 1, s: 1000, "": 0 };

/**
 * Read an agent string. Throw an error that says what is wrong with it.
 * @param {string} text
 * @param {Heuristic[]} heuristics those that the engine has
 * @returns {Agent}
 */
export function parseAgent(text, heuristics) {
  const found = /^\s*([a-z]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  if (!found) throw new Error(`“${text.slice(0, 60)}” is not an agent: ${FORMS}`);
  const [, kind, inside = ""] = found;
  const words = splitAtCommas(inside);
  if (!Object.hasOwn(KINDS, kind)) throw new Error(`“${kind}” does not play in a browser: ${FORMS}`);
  /** @type {Agent} */
  const agent = { kind, text: text.trim(), seed: 0, nodes: 0, depth: 0, ms: 0, terms: [], ...KINDS[kind] };
  const given = words.filter((word) => !/^(seed|nodes|depth|time)\s*=|^plain$/.test(word));
  for (const word of words) {
    if (word === "plain" && kind === "id") agent.method = "plain_deepening";
    else if (!given.includes(word)) readOption(agent, word);
  }
  if (kind === "random" || kind === "perfect") {
    if (given.length) throw new Error(`${kind} takes no heuristic.`);
    agent.terms = [heuristicAlone(kind === "random" ? "null" : "improved")];
  } else {
    if (given.length !== 1) throw new Error(`${kind} needs one heuristic, as in ${kind}(improved).`);
    const heuristic = parseHeuristic(given[0], heuristics);
    agent.terms = heuristic.terms;
    const at = agent.text.indexOf(given[0], kind.length);
    agent.text = agent.text.slice(0, at) + heuristic.text + agent.text.slice(at + given[0].length);
  }
  if (agent.depth > 64 || agent.nodes > 50_000_000) throw new Error("At most depth=64 and nodes=50000000 are allowed.");
  return agent;
}

/**
 * Set an option of an agent, as in "nodes=2500" or "time=150ms". A time or a depth replaces the usual nodes of id.
 * @param {Agent} agent
 * @param {string} word
 */
function readOption(agent, word) {
  const option = /^(seed|nodes|depth|time)\s*=\s*([\d.]+)\s*(us|ms|s|)$/.exec(word);
  const number = Number(option?.[2]);
  if (!option || !(number >= 0) || (option[3] && option[1] !== "time")) throw new Error(`“${word}” cannot be read.`);
  const [, name, , unit] = option;
  if (name === "time") {
    agent.ms = number * UNITS[unit];
    if (!(agent.ms > 0) || agent.ms > 60000) throw new Error(`“${word}”: write time=150ms, up to 60s.`);
  } else {
    agent[/** @type {"seed" | "nodes" | "depth"} */ (name)] = Math.floor(number);
    if (name !== "seed" && number < 1) throw new Error(`“${word}”: the number must be at least 1.`);
  }
  if (agent.kind === "id" && (name === "time" || name === "depth")) agent.nodes = 0;
}
