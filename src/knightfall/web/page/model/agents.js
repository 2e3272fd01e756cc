// Agents and heuristics as strings, written as everywhere in knightfall. Only agents that play in a browser are known.

/**
 * A heuristic that the engine has, as engine.json describes it. The row "sum" has nothing but its id.
 * @typedef {object} Heuristic
 * @property {string} id
 * @property {string} [study]
 * @property {string} [formula]
 * @property {string} [summary]
 * @property {boolean} [symmetric] whether mirror images of a position have the same value
 * @property {boolean} [costly]
 * @property {boolean} [parameter] whether it takes a number between 0 and 1, as in static_reach(1/2)
 */

/** @typedef {[weight: number, id: string, parameter: number]} Term one term of a sum of heuristics */

/**
 * What the engine must know to choose a move. A limit of 0 is none.
 * @typedef {object} Agent
 * @property {string} kind
 * @property {string} text the agent string
 * @property {string} method the engine's name of the search, or "perfect"
 * @property {Term[]} terms the heuristic
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
  "random, greedy(improved), minimax(open, depth=3), alphabeta(improved, depth=5), " +
  "id(improved, nodes=2500) and perfect do.";

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
  if (!found) throw new Error(`“${text.slice(0, 60)}” is no agent: ${FORMS}`);
  const [, kind, inside = ""] = found;
  const words = inside
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
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
    agent.terms = [[1, "null", 0]];
  } else {
    if (given.length !== 1) throw new Error(`${kind} needs one heuristic, as in ${kind}(improved).`);
    agent.terms = parseTerms(given[0], heuristics);
  }
  if (agent.depth > 64 || agent.nodes > 50_000_000) throw new Error("That is more than a browser should search.");
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
    if (name !== "seed" && number < 1) throw new Error(`“${word}”: at least 1, please.`);
  }
  if (agent.kind === "id" && (name === "time" || name === "depth")) agent.nodes = 0;
}

/**
 * Read a sum of heuristics, as in "2*improved - open". Throw an error that says what is wrong with it.
 * @param {string} text
 * @param {Heuristic[]} heuristics those that the engine has
 */
export function parseTerms(text, heuristics) {
  /** @type {Term[]} */
  const terms = [];
  const number = String.raw`\d+(?:\.\d+)?(?:\/\d+)?`;
  const id = String.raw`(?:coded:)?[A-Za-z_]\w*`;
  const pattern = new RegExp(
    String.raw`\s*([+-]?)\s*(?:(${number})\s*\*\s*)?(${id})\s*(?:\(\s*([\d./]+)\s*\))?\s*`,
    "y",
  );
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const found = pattern.exec(text);
    if (!found || (terms.length && !found[1])) throw new Error(`“${text.slice(at, at + 40)}” cannot be read.`);
    const [, sign, factor, name, parameter] = found;
    const known = heuristics.find((row) => row.id === name && name !== "sum");
    if (!known) throw new Error(`“${name}” is no heuristic that the engine has.`);
    if (known.parameter !== (parameter !== undefined)) {
      throw new Error(
        known.parameter ? `${name} needs its parameter, as in ${name}(1/2).` : `${name} takes no parameter.`,
      );
    }
    const weight = factor ? fraction(factor) : 1;
    if (!Number.isFinite(weight)) throw new Error(`“${factor}” is no number.`);
    const value = fraction(parameter);
    if (known.parameter && !(value > 0 && value < 1)) throw new Error(`${name}(${parameter}): from 0 to 1, please.`);
    terms.push([(sign === "-" ? -1 : 1) * weight, name, value || 0]);
  }
  if (!terms.length) throw new Error("A heuristic is missing.");
  if (terms.length > 16) throw new Error("A sum may have 16 terms.");
  return terms;
}

/**
 * Return the value of a number or a fraction, as in "1/2"; NaN if it is none.
 * @param {string | undefined} text
 */
function fraction(text = "") {
  const found = /^(\d+(?:\.\d+)?)(?:\/(\d+))?$/.exec(text);
  return found ? Number(found[1]) / Number(found[2] ?? 1) : NaN;
}
