// Ratings with their error bars, and the path of a sequential test, as SVG in the page's own colours.

import { el, plusMinus, signed, svg } from "./make.js";

const ROW = 40, LEFT = 10, RIGHT = 14;

/** What a chart shows in words, for whoever cannot see it. */
const figure = (title, told, width, height, ...children) =>
  el("figure", {}, el("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", "aria-label": told }, ...children));

const text = (x, y, content, more = {}) => {
  const made = svg("text", { x, y, ...more });
  made.textContent = content;
  return made;
};

/** A few round numbers between two. */
function steps(low, high, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

/** A dot and a bar for each agent: rows of `{name, elo, error}`, what is not finite without a dot. */
export function ratingsChart(rows, width, title = "Elo, ± 95 %") {
  const known = rows.filter((row) => typeof row.elo === "number" && typeof row.error === "number");
  if (!known.length) return null;
  const low = Math.min(0, ...known.map((row) => row.elo - row.error)), high = Math.max(0, ...known.map((row) => row.elo + row.error));
  const span = Math.max(1, high - low), scale = (elo) => LEFT + ((elo - low) / span) * (width - LEFT - RIGHT);
  const height = rows.length * ROW + 26, marks = steps(low, high, width < 500 ? 4 : 8);
  const grid = marks.map((at) => [
    svg("line", { x1: scale(at), x2: scale(at), y1: 4, y2: height - 20, class: at === 0 ? "axis" : "grid" }),
    text(scale(at), height - 5, signed(at), { "text-anchor": "middle", class: "tick" }),
  ]);
  const bars = rows.map((row, at) => {
    const y = at * ROW + 30, finite = known.includes(row);
    return [
      text(LEFT, y - 12, row.name, { class: "name" }),
      finite && svg("line", { x1: scale(row.elo - row.error), x2: scale(row.elo + row.error), y1: y, y2: y, class: "error" }),
      finite && svg("circle", { cx: scale(row.elo), cy: y, r: 5, class: "dot" }),
    ];
  });
  const told = rows.map((row) => `${row.name} ${plusMinus(row.elo, row.error)}`).join("; ");
  return figure(title, `Ratings with error bars: ${told}`, width, height, grid, bars);
}

/** The log-likelihood ratio after each pair, between the bounds at which the test ends. */
export function llrChart({ path, lower, upper, elo0, elo1 }, width) {
  const height = 220, top = 14, bottom = 26, right = 52;
  const values = path.map(([, llr]) => llr).filter((llr) => typeof llr === "number");
  const low = Math.min(lower, ...values) - 0.3, high = Math.max(upper, ...values) + 0.3, last = Math.max(1, path.at(-1)[0]);
  const x = (pair) => 34 + (pair / last) * (width - 34 - right), y = (llr) => top + ((high - llr) / (high - low)) * (height - top - bottom);
  const line = (llr, kind) => svg("line", { x1: 34, x2: width - right, y1: y(llr), y2: y(llr), class: kind });
  const bounds = [[upper, "H1"], [lower, "H0"]].map(([llr, name]) => [line(llr, `bound ${name}`), text(width - right + 6, y(llr) + 4, name, { class: "name" })]);
  const ticks = steps(0, last, width < 500 ? 3 : 6).filter(Number.isInteger).map((pair) => text(x(pair), height - 8, String(pair), { "text-anchor": "middle", class: "tick" }));
  const scale = steps(low, high, 5).map((llr) => text(28, y(llr) + 4, signed(llr, 0), { "text-anchor": "end", class: "tick" }));
  const points = path.filter(([, llr]) => typeof llr === "number").map(([pair, llr]) => `${x(pair).toFixed(1)},${y(llr).toFixed(1)}`).join(" ");
  const now = values.at(-1);
  const told = `Log-likelihood ratio after ${path.at(-1)[0]} pairs: ${signed(now, 2)}; the test ends at ${signed(lower, 2)} for H0 (${elo0} normalized Elo) or ${signed(upper, 2)} for H1 (${elo1}).`;
  return figure(`LLR by pairs: H0 is ${elo0}, H1 is ${elo1} normalized Elo`, told, width, height,
    line(0, "axis"), bounds, ticks, scale, svg("polyline", { points, class: "path" }),
    svg("circle", { cx: x(path.at(-1)[0]), cy: y(now), r: 4, class: "dot" }));
}
