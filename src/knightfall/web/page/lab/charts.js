// Ratings with their error bars, and the path of a sequential test, as SVG in the page's own colours.

import { el, plusMinus, signed, svg } from "./make.js";

const ROW = 40, SIDE = 34, LETTER = 8; // pixels: SIDE has room for half a tick's text
const FAR = 800; // Elo beyond the outermost agents up to which error bars are drawn

/** What a chart shows, in words, for whoever cannot see it. */
const figure = (title, told, width, height, ...children) =>
  el("figure", {}, el("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": told }, ...children));

const text = (x, y, content, more = {}) => {
  const made = svg("text", { x, y, ...more });
  made.textContent = content;
  return made;
};

/** A name that fits into a width; the full one is told on hover. */
function nameText(x, y, short, full, width) {
  const most = Math.floor((width - x) / LETTER);
  const made = text(x, y, short.length > most ? `${short.slice(0, most - 1)}…` : short, { class: "name" });
  if (made.textContent !== full) {
    const title = svg("title");
    title.textContent = full;
    made.append(title);
  }
  return made;
}

/** A few round numbers between two. */
function steps(low, high, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

const isNumber = (value) => typeof value === "number";

/**
 * A dot and an error bar for each agent: rows of `{name, short, elo, error}`. A bar that goes on beyond the axis ends
 * there in an arrow; so does a rating that is infinite.
 */
export function ratingsChart(rows, width, title = "Elo, ± 95 %") {
  const dots = rows.map((row) => row.elo).filter(isNumber);
  if (!dots.length) return null;
  const ends = rows.filter((row) => isNumber(row.elo) && isNumber(row.error))
    .flatMap((row) => [row.elo - row.error, row.elo + row.error]);
  const low = Math.max(Math.min(0, ...dots, ...ends), Math.min(0, ...dots) - FAR);
  const high = Math.min(Math.max(1, ...dots, ...ends), Math.max(1, ...dots) + FAR);
  const within = (elo) => Math.min(high, Math.max(low, elo));
  const scale = (elo) => SIDE + ((within(elo) - low) / (high - low)) * (width - 2 * SIDE);
  const height = rows.length * ROW + 26, marks = steps(low, high, width < 500 ? 4 : 8);
  const grid = marks.map((at) => [
    svg("line", { x1: scale(at), x2: scale(at), y1: 4, y2: height - 20, class: at === 0 ? "axis" : "grid" }),
    text(scale(at), height - 5, signed(at), { "text-anchor": "middle", class: "tick" }),
  ]);
  const arrow = (x, y, direction) =>
    svg("path", { d: `M${x} ${y - 6}l${9 * direction} 6l${-9 * direction} 6z`, class: "beyond" });
  const bars = rows.map((row, at) => {
    const y = at * ROW + 30, name = nameText(SIDE, y - 12, row.short ?? row.name, row.name, width);
    if (!isNumber(row.elo)) {
      const up = String(row.elo).startsWith("-") ? -1 : 1;
      return [name, row.elo !== "nan" && arrow(scale(up * Infinity), y, up)];
    }
    const error = isNumber(row.error) ? row.error : Infinity, from = row.elo - error, to = row.elo + error;
    return [
      name,
      svg("line", { x1: scale(from), x2: scale(to), y1: y, y2: y, class: "error" }),
      from < low && arrow(scale(from), y, -1),
      to > high && arrow(scale(to), y, 1),
      svg("circle", { cx: scale(row.elo), cy: y, r: 5, class: "dot" }),
    ];
  });
  const told = rows.map((row) => `${row.name} ${plusMinus(row.elo, row.error)}`).join("; ");
  return figure(title, `Ratings with error bars: ${told}`, width, height, grid, bars);
}

/** The log-likelihood ratio after each pair, between the bounds at which the test ends. */
export function llrChart({ path, lower, upper, elo0, elo1 }, width) {
  const height = 220, top = 14, bottom = 26, left = 34, right = 52;
  const known = path.filter(([, llr]) => isNumber(llr)), values = known.map(([, llr]) => llr);
  const low = Math.min(lower, ...values) - 0.3, high = Math.max(upper, ...values) + 0.3;
  const pairs = path.at(-1)[0], last = Math.max(1, pairs), now = values.at(-1) ?? 0;
  const x = (pair) => left + (pair / last) * (width - left - right);
  const y = (llr) => top + ((high - llr) / (high - low)) * (height - top - bottom);
  const line = (llr, kind) => svg("line", { x1: left, x2: width - right, y1: y(llr), y2: y(llr), class: kind });
  const bounds = [[upper, "H1"], [lower, "H0"]].map(([llr, name]) => [
    line(llr, `bound ${name}`), text(width - right + 6, y(llr) + 4, name, { class: "name" }),
  ]);
  const ticks = steps(0, last, width < 500 ? 3 : 6).filter(Number.isInteger)
    .map((pair) => text(x(pair), height - 8, String(pair), { "text-anchor": "middle", class: "tick" }));
  const scale = steps(low, high, 5)
    .map((llr) => text(28, y(llr) + 4, signed(llr, 0), { "text-anchor": "end", class: "tick" }));
  const points = known.map(([pair, llr]) => `${x(pair).toFixed(1)},${y(llr).toFixed(1)}`).join(" ");
  const told = `Log-likelihood ratio after ${pairs} pairs: ${signed(now, 2)}; the test ends at ${signed(lower, 2)} `
    + `for H0 (${elo0} normalized Elo) or ${signed(upper, 2)} for H1 (${elo1}).`;
  return figure(`LLR by pairs: H0 is ${elo0}, H1 is ${elo1} normalized Elo`, told, width, height,
    line(0, "axis"), bounds, ticks, scale, svg("polyline", { points, class: "path" }),
    svg("circle", { cx: x(pairs), cy: y(now), r: 4, class: "dot" }));
}
