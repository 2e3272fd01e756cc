// Agents as strings, as everywhere in knightfall; only those that a browser can be.

/** What the engine is asked for an agent string; throws what is wrong with it. */
export function parseAgent(text, heuristics) {
  const found = /^\s*([a-z]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  if (!found) throw new Error(`“${text.slice(0, 60)}” is no agent: ${FORMS}`);
  const [, kind, inside = ""] = found;
  const words = inside.split(",").map((word) => word.trim()).filter(Boolean);
  if (!(kind in KINDS)) throw new Error(`“${kind}” does not play in a browser: ${FORMS}`);
  const agent = { kind, text: text.trim(), seed: 0, nodes: 0, depth: 0, ms: 0, ...KINDS[kind] };
  const given = words.filter((word) => !/^(seed|nodes|depth|time)\s*=|^plain$/.test(word));
  for (const word of words) {
    const option = /^(seed|nodes|depth|time)\s*=\s*([\d.]+)\s*(us|ms|s|)$/.exec(word);
    if (word === "plain" && kind === "id") agent.method = "plain_deepening";
    else if (option) {
      const [, name, digits, unit] = option, number = Number(digits);
      if (!(number >= 0) || (unit && name !== "time")) throw new Error(`“${word}” cannot be read.`);
      if (name === "time") {
        agent.ms = number * { us: 0.001, ms: 1, s: 1000, "": 0 }[unit];
        if (!(agent.ms > 0) || agent.ms > 60000) throw new Error(`“${word}”: write time=150ms, up to 60s.`);
        if (kind === "id") agent.nodes = 0;
      } else agent[name] = Math.floor(number);
      if (name === "depth" && kind === "id") agent.nodes = 0;
    } else if (!given.includes(word)) throw new Error(`“${word}” cannot be read.`);
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

const KINDS = {
  random: { method: "any_move", depth: 1 },
  greedy: { method: "alphabeta", depth: 1 },
  minimax: { method: "minimax", depth: 3 },
  alphabeta: { method: "alphabeta", depth: 5 },
  id: { method: "deepening", nodes: 2500 },
  perfect: { method: "perfect", ms: 1500 },
};
const FORMS = "random, greedy(improved), minimax(open, depth=3), alphabeta(improved, depth=5), " +
  "id(improved, nodes=2500) and perfect do.";

/** A sum of heuristics as weight, id and parameter of each term. */
export function parseTerms(text, heuristics) {
  const terms = [];
  const pattern = /\s*([+-]?)\s*(?:(\d+(?:\.\d+)?(?:\/\d+)?)\s*\*\s*)?((?:coded:)?[A-Za-z_]\w*)\s*(?:\(\s*([\d./]+)\s*\))?\s*/y;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex, found = pattern.exec(text);
    if (!found || (terms.length && !found[1])) throw new Error(`“${text.slice(at, at + 40)}” cannot be read.`);
    const [, sign, factor, id, parameter] = found;
    const known = heuristics.find((row) => row.id === id && id !== "sum");
    if (!known) throw new Error(`“${id}” is no heuristic that the engine has.`);
    if (known.parameter !== (parameter !== undefined)) {
      throw new Error(known.parameter ? `${id} needs its parameter, as in ${id}(1/2).` : `${id} takes no parameter.`);
    }
    const value = fraction(parameter);
    if (known.parameter && !(value > 0 && value < 1)) throw new Error(`${id}(${parameter}): from 0 to 1, please.`);
    terms.push([(sign === "-" ? -1 : 1) * (factor ? fraction(factor) : 1), id, value || 0]);
  }
  if (!terms.length) throw new Error("A heuristic is missing.");
  if (terms.length > 16) throw new Error("A sum may have 16 terms.");
  return terms;
}

function fraction(text) {
  if (text === undefined) return NaN;
  const [above, below = "1"] = text.split("/");
  return Number(above) / Number(below);
}
