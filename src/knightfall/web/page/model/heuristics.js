// Heuristics as strings, written as everywhere in knightfall, and as the terms that the engine adds up.
//
//   sum     =  ["-"] term { ("+" | "-") term }
//   term    =  [ number "*" ] { "phase*" | "(1-phase)*" } ( id | id "(" number ")" | stages )
//   stages  =  "stage(" number ":" sum { "," number ":" sum } "," sum ")"
//
// The phase is the share of the board's cells that are open. `stage(0.7: A, 0.2: B, C)` is A while the phase is at
// least 0.7, then B while it is at least 0.2, then C. The engine computes the phase and chooses the stage.

/**
 * A heuristic that the engine has, as engine.json describes it. The row "sum" has nothing but its id.
 * @typedef {object} Heuristic
 * @property {string} id
 * @property {boolean} [symmetric] whether mirror images of a position have the same value
 * @property {boolean} [costly]
 * @property {boolean} [parameter] whether it takes a number between 0 and 1, as in static_reach(1/2)
 */

/** @typedef {{weight: number, open: number, filled: number}} Factor weight · phase^open · (1 − phase)^filled */
/** @typedef {{id: string, parameter: number, least: number, below: number}} Asked a heuristic, and its phases */
/** @typedef {Factor & Asked} Part a heuristic that counts while least ≤ phase < below */
/** @typedef {Factor & {parts: Part[]}} Term a factor times one heuristic, or times all those of its stages */
/** @typedef {{text: string, terms: Term[]}} Sum a sum of heuristics: its canonical text, and its terms */

/** @typedef {{top: bigint, bottom: bigint}} Fraction in lowest terms */

const NUMBER = /[0-9]{1,9}\.[0-9]{1,9}|[0-9]{1,18}(?:\/[0-9]{1,18})?/y;
const NAME = /(?:[A-Za-z_]\w*:)?[A-Za-z_]\w*/y;
const PHASE = /phase\s*\*/y;
const FILLED = /\(\s*1\s*-\s*phase\s*\)\s*\*/y;
const STAGE = /stage\s*\(/y;
const SPACE = /\s*/y;
const MAX_PARTS = 64; // the limit of the engine

/**
 * Read a heuristic. Throw an error that says what is wrong with it.
 * @param {string} text
 * @param {Heuristic[]} heuristics those that the engine has
 */
export function parseHeuristic(text, heuristics) {
  const sum = new Reader(text, heuristics).sum();
  const parts = sum.terms.reduce((all, term) => all + term.parts.length, 0);
  if (parts > MAX_PARTS) throw new Error(`A heuristic may have ${MAX_PARTS} terms, those of its stages included.`);
  return sum;
}

/**
 * Split a text at the commas outside parentheses, and leave out what is empty.
 * @param {string} text
 */
export function splitAtCommas(text) {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    depth += Number(letter === "(") - Number(letter === ")");
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/**
 * Return the term that is one heuristic without a parameter, and nothing else.
 * @param {string} id
 * @returns {Term}
 */
export function heuristicAlone(id) {
  const factor = { weight: 1, open: 0, filled: 0 };
  return { ...factor, parts: [{ ...factor, id, parameter: 0, least: 0, below: Infinity }] };
}

class Reader {
  /**
   * @param {string} text
   * @param {Heuristic[]} heuristics
   */
  constructor(text, heuristics) {
    this.text = text;
    this.heuristics = heuristics;
    this.at = 0;
    this.inStage = false;
    this.take(SPACE);
  }

  /** The text that has not been read yet. */
  get rest() {
    return this.text.slice(this.at);
  }

  /**
   * Read what a pattern matches, and the spaces behind it. Return null if it does not match here.
   * @param {RegExp} pattern
   */
  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    SPACE.lastIndex = this.at + found[0].length;
    this.at = SPACE.lastIndex + (SPACE.exec(this.text)?.[0].length ?? 0);
    return found[0];
  }

  /**
   * Read a sign, and the spaces behind it, if it stands here.
   * @param {string} sign
   */
  takeSign(sign) {
    if (this.text[this.at] !== sign) return false;
    this.at++;
    this.take(SPACE);
    return true;
  }

  unreadable() {
    if (!this.rest) return new Error(this.text.trim() ? "A term is missing at the end." : "A heuristic is missing.");
    return new Error(`“${this.rest.slice(0, 40)}” cannot be read.`);
  }

  /**
   * Read terms up to the end, or up to the comma or parenthesis that ends a stage.
   * @returns {Sum}
   */
  sum() {
    let text = "";
    /** @type {Term[]} */
    const terms = [];
    let negative = this.takeSign("-");
    while (true) {
      const { spelt, weight, ...term } = this.term();
      const minus = negative && weight.top > 0n;
      const factor = weight.top === weight.bottom ? "" : `${fractionText(weight)}*`;
      text += `${minus ? "-" : text ? "+" : ""}${factor}${spelt}`;
      terms.push({ ...term, weight: (minus ? -1 : 1) * fractionValue(weight) });
      if (!this.rest || (this.inStage && /^[,)]/.test(this.rest))) return { text, terms };
      negative = this.takeSign("-");
      if (!negative && !this.takeSign("+")) throw this.unreadable();
    }
  }

  /** Read a term, its weight without the sign. */
  term() {
    let weight = { top: 1n, bottom: 1n };
    const start = this.at;
    const number = this.take(NUMBER);
    if (number !== null && this.takeSign("*")) weight = fraction(number);
    else this.at = start;
    let [open, filled] = [0, 0];
    for (;;) {
      if (this.take(PHASE)) open++;
      else if (this.take(FILLED)) filled++;
      else break;
    }
    const { text, parts } = this.take(STAGE) ? this.stages() : this.heuristic();
    return { spelt: "phase*".repeat(open) + "(1-phase)*".repeat(filled) + text, weight, open, filled, parts };
  }

  /**
   * Read what follows “stage(”.
   * @returns {{text: string, parts: Part[]}}
   */
  stages() {
    if (this.inStage) throw new Error("A stage cannot stand inside a stage: give the outer one more stages.");
    this.inStage = true;
    const texts = [];
    const parts = [];
    let above = { top: 1n, bottom: 1n };
    let below = Infinity;
    for (let least = this.threshold(); least; least = this.threshold()) {
      const number = fractionText(least);
      if (!isProper(least)) throw new Error(`The threshold of a stage is between 0 and 1, not ${number}.`);
      if (least.top * above.bottom >= above.top * least.bottom) {
        throw new Error(`The thresholds of stages must fall: ${number} comes after ${fractionText(above)}.`);
      }
      const { text, terms } = this.sum();
      texts.push(`${number}: ${text}`);
      parts.push(...partsOf(terms, fractionValue(least), below));
      above = least;
      below = fractionValue(least);
      if (!this.takeSign(",")) throw new Error("The last of the stages, which has no threshold, is missing.");
    }
    const { text, terms } = this.sum();
    if (!texts.length) throw new Error("The first stage needs a threshold, as in stage(0.5: improved, open).");
    if (!this.rest) throw new Error("The closing parenthesis of stage(…) is missing.");
    if (!this.takeSign(")")) {
      throw new Error(`“${this.rest.slice(0, 40)}” follows the stage without a threshold, which must be the last.`);
    }
    this.inStage = false;
    return { text: `stage(${[...texts, text].join(", ")})`, parts: [...parts, ...partsOf(terms, 0, below)] };
  }

  /** Read the threshold of a stage with its colon; null if none stands here. */
  threshold() {
    const start = this.at;
    const number = this.take(NUMBER);
    if (number !== null && this.takeSign(":")) return fraction(number);
    this.at = start;
    return null;
  }

  /**
   * Read the id of a heuristic, with its parameter if it takes one.
   * @returns {{text: string, parts: Part[]}}
   */
  heuristic() {
    const id = this.take(NAME);
    if (id === null) {
      if (this.rest[0] !== "(") throw this.unreadable();
      throw new Error(`“${this.rest.slice(0, 40)}”: parentheses are allowed only in (1-phase)*.`);
    }
    if (id === "phase" || id === "stage") {
      const example = id === "phase" ? "phase*improved" : "stage(0.5: improved, open)";
      throw new Error(`${id} alone is not a heuristic: write ${example}, for example.`);
    }
    const known = this.heuristics.find((row) => row.id === id && id !== "sum");
    if (!known) throw new Error(`“${id}” is not a heuristic of the engine.`);
    const given = this.takeSign("(");
    if (given && !known.parameter) throw new Error(`${id} takes no parameter.`);
    if (!given && known.parameter) throw new Error(`${id} needs its parameter, as in ${id}(1/2).`);
    const { parts } = heuristicAlone(id);
    if (!given) return { text: id, parts };
    const number = this.take(NUMBER);
    const parameter = number === null ? null : fraction(number);
    if (!parameter || !this.takeSign(")") || !isProper(parameter)) {
      throw new Error(`The parameter of ${id} is a number between 0 and 1, as in ${id}(1/2).`);
    }
    return { text: `${id}(${fractionText(parameter)})`, parts: [{ ...parts[0], parameter: fractionValue(parameter) }] };
  }
}

/**
 * Return the terms of a stage as parts, which count while least ≤ phase < below. Each term has one part, because
 * stages are not nested.
 * @param {Term[]} terms
 * @param {number} least
 * @param {number} below
 */
function partsOf(terms, least, below) {
  return terms.map(({ weight, open, filled, parts: [part] }) => ({ ...part, weight, open, filled, least, below }));
}

/**
 * Read a number, as in "2", "0.5" or "1/3".
 * @param {string} text
 * @returns {Fraction}
 */
function fraction(text) {
  const [number, below = "1"] = text.split("/");
  const [whole, decimals = ""] = number.split(".");
  const top = BigInt(whole + decimals);
  const bottom = BigInt(below) * 10n ** BigInt(decimals.length);
  if (!bottom) throw new Error(`${text} divides by zero.`);
  let [divisor, rest] = [top, bottom];
  while (rest) [divisor, rest] = [rest, divisor % rest];
  return { top: top / divisor, bottom: bottom / divisor };
}

/**
 * Return whether 0 < number < 1.
 * @param {Fraction} fraction
 */
const isProper = ({ top, bottom }) => top > 0n && top < bottom;

/** @param {Fraction} fraction */
const fractionText = ({ top, bottom }) => (bottom === 1n ? `${top}` : `${top}/${bottom}`);

/**
 * Return the nearest floating-point number: the quotient has more bits than needed, and its last bit is set if there
 * is a remainder, so that it is rounded rightly.
 * @param {Fraction} fraction
 */
function fractionValue({ top, bottom }) {
  const long = top << 120n;
  return Number((long / bottom) | (long % bottom ? 1n : 0n)) * 2 ** -120;
}
