// Charts in SVG: ratings with their error bars, and the path of a sequential test.

import { el, svg } from "../views/dom.js";
import { plusMinus, signed } from "./make.js";

/** @typedef {import("../views/dom.js").Child} Child */
/** @typedef {import("./make.js").JsonNumber} JsonNumber */
/** @typedef {import("./server.js").LlrPath} LlrPath */

// Sizes in pixels.
const ROW = 40;
const MARGIN = 34; // space for half the text of a tick
const LETTER = 8;

const MAX_BAR = 800; // Elo beyond the outermost agents up to which error bars are drawn

/**
 * Return a chart with its title.
 * @param {string} title
 * @param {string} description the content in words, for screen readers
 * @param {number} width
 * @param {number} height
 * @param {Child[]} children
 */
function figure(title, description, width, height, ...children) {
  const attributes = { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": description };
  return el("figure", {}, el("figcaption", {}, title), svg("svg", attributes, ...children));
}

/**
 * Return a text at a place.
 * @param {number} x
 * @param {number} y
 * @param {string} content
 * @param {Record<string, string>} more attributes
 */
const text = (x, y, content, more = {}) => svg("text", { x, y, ...more }, content);

/**
 * Return a name that fits into a width. The full name is shown on hover.
 * @param {number} x
 * @param {number} y
 * @param {string} short
 * @param {string} full
 * @param {number} width
 */
function nameText(x, y, short, full, width) {
  const most = Math.floor((width - x) / LETTER);
  const made = text(x, y, short.length > most ? `${short.slice(0, most - 1)}…` : short, { class: "name" });
  if (made.textContent !== full) made.append(svg("title", {}, full));
  return made;
}

/**
 * Return about `wanted` round numbers between two numbers.
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 */
function ticksBetween(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

/**
 * @param {JsonNumber} value
 * @returns {value is number}
 */
const isNumber = (value) => typeof value === "number";

/**
 * Return a chart with a dot and an error bar for each agent. A bar that is longer than the axis ends in an arrow; an
 * infinite rating is an arrow. Return null if no rating is finite.
 * @param {{name: string, short?: string, elo: JsonNumber, error: JsonNumber}[]} rows
 * @param {number} width
 */
export function ratingsChart(rows, width, title = "Elo, ± 95 %") {
  const dots = rows.map((row) => row.elo).filter(isNumber);
  if (!dots.length) return null;
  const ends = rows.flatMap(({ elo, error }) => (isNumber(elo) && isNumber(error) ? [elo - error, elo + error] : []));
  const low = Math.max(Math.min(0, ...dots, ...ends), Math.min(0, ...dots) - MAX_BAR);
  const high = Math.min(Math.max(1, ...dots, ...ends), Math.max(1, ...dots) + MAX_BAR);
  /** @param {number} elo */
  const within = (elo) => Math.min(high, Math.max(low, elo));
  /** @param {number} elo */
  const scale = (elo) => MARGIN + ((within(elo) - low) / (high - low)) * (width - 2 * MARGIN);
  const height = rows.length * ROW + 26;
  const ticks = ticksBetween(low, high, width < 500 ? 4 : 8);
  const grid = ticks.map((at) => [
    svg("line", { x1: scale(at), x2: scale(at), y1: 4, y2: height - 20, class: at === 0 ? "axis" : "grid" }),
    text(scale(at), height - 5, signed(at), { "text-anchor": "middle", class: "tick" }),
  ]);
  /** @param {number} x @param {number} y @param {number} direction */
  const arrow = (x, y, direction) =>
    svg("path", { d: `M${x} ${y - 6}l${9 * direction} 6l${-9 * direction} 6z`, class: "beyond" });
  const bars = rows.map(({ name, short = name, elo, error }, at) => {
    const y = at * ROW + 30;
    const label = nameText(MARGIN, y - 12, short, name, width);
    if (!isNumber(elo)) {
      const up = elo.startsWith("-") ? -1 : 1;
      return [label, elo !== "nan" && arrow(scale(up * Infinity), y, up)];
    }
    const size = isNumber(error) ? error : Infinity;
    const [from, to] = [elo - size, elo + size];
    return [
      label,
      svg("line", { x1: scale(from), x2: scale(to), y1: y, y2: y, class: "error" }),
      from < low && arrow(scale(from), y, -1),
      to > high && arrow(scale(to), y, 1),
      svg("circle", { cx: scale(elo), cy: y, r: 5, class: "dot" }),
    ];
  });
  const description = rows.map((row) => `${row.name} ${plusMinus(row.elo, row.error)}`).join("; ");
  return figure(title, `Ratings with error bars: ${description}`, width, height, grid, bars);
}

/**
 * Return a chart of the log-likelihood ratio after each pair, between the bounds at which the test ends.
 * @param {LlrPath} test
 * @param {number} width
 */
export function llrChart({ path, lower, upper, elo0, elo1 }, width) {
  const height = 220;
  const [top, bottom, left, right] = [14, 26, 34, 52];
  const known = path.flatMap(([pair, llr]) => (isNumber(llr) ? [{ pair, llr }] : []));
  const values = known.map(({ llr }) => llr);
  const low = Math.min(lower, ...values) - 0.3;
  const high = Math.max(upper, ...values) + 0.3;
  const pairs = path[path.length - 1][0];
  const last = Math.max(1, pairs);
  const now = values.at(-1) ?? 0;
  /** @param {number} pair */
  const x = (pair) => left + (pair / last) * (width - left - right);
  /** @param {number} llr */
  const y = (llr) => top + ((high - llr) / (high - low)) * (height - top - bottom);
  /** @param {number} llr @param {string} kind */
  const line = (llr, kind) => svg("line", { x1: left, x2: width - right, y1: y(llr), y2: y(llr), class: kind });
  /** @param {number} llr @param {string} name */
  const bound = (llr, name) => [
    line(llr, `bound ${name}`),
    text(width - right + 6, y(llr) + 4, name, { class: "name" }),
  ];
  const ticks = ticksBetween(0, last, width < 500 ? 3 : 6)
    .filter(Number.isInteger)
    .map((pair) => text(x(pair), height - 8, String(pair), { "text-anchor": "middle", class: "tick" }));
  const scale = ticksBetween(low, high, 5).map((llr) =>
    text(28, y(llr) + 4, signed(llr, 0), { "text-anchor": "end", class: "tick" }),
  );
  const points = known.map(({ pair, llr }) => `${x(pair).toFixed(1)},${y(llr).toFixed(1)}`).join(" ");
  const description =
    `Log-likelihood ratio after ${pairs} pairs: ${signed(now, 2)}; the test ends at ${signed(lower, 2)} ` +
    `for H0 (${elo0} normalized Elo) or ${signed(upper, 2)} for H1 (${elo1}).`;
  return figure(
    `LLR by pairs: H0 is ${elo0}, H1 is ${elo1} normalized Elo`,
    description,
    width,
    height,
    line(0, "axis"),
    bound(upper, "H1"),
    bound(lower, "H0"),
    ticks,
    scale,
    svg("polyline", { points, class: "path" }),
    svg("circle", { cx: x(pairs), cy: y(now), r: 4, class: "dot" }),
  );
}
