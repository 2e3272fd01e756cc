// Elements made of data: texts are set as texts, never read as markup.

/** An element: attributes, listeners (`onclick`), and children, which may be texts or nothing. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(3).filter((child) => ![null, undefined, false].includes(child)));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat(3).filter(Boolean));
  return made;
}

/**
 * An agent by its short name; the full string is told on hover, and at the foot of the window while the name has the
 * focus. In tables that name the same agents in every row, `focusable` is false: a hundred stops help nobody.
 */
export function agentName(short, full, focusable = true) {
  if (short === full) return short;
  return el("abbr", { class: "agent-name", title: full, "data-full": full, tabindex: focusable ? "0" : null }, short);
}

const keyOf = (element) => element.getAttribute("href") ?? element.dataset.key;

/** Draw a place anew; a link or a button in it that had the focus has it still. */
export function renew(place, ...children) {
  const before = place.contains(document.activeElement) ? document.activeElement : null;
  const key = before && keyOf(before);
  const scrolled = [...place.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  place.replaceChildren(...children.flat(3).filter(Boolean));
  place.querySelectorAll(".scroll").forEach((one, at) => (one.scrollLeft = scrolled[at] ?? 0));
  if (key) [...place.querySelectorAll("a, button")].find((one) => keyOf(one) === key)?.focus();
}

/** A table that scrolls by itself where it is too wide; `rows` are lists of cells, the first a heading. */
export function table(caption, headings, rows, kind = null) {
  const cell = (content, at) => {
    const list = Array.isArray(content) ? content : [content];
    return at ? el("td", {}, ...list) : el("th", { scope: "row" }, ...list);
  };
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { class: kind },
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, headings.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))))));
}

export const link = (href, ...children) => el("a", { href }, ...children);

// -- numbers ---------------------------------------------------------------------------------

const minus = (text) => text.replace("-", "−");
export const count = (number) => Number(number).toLocaleString("en");
export const percent = (share, digits = 1) => (share == null ? "" : `${(100 * share).toFixed(digits)} %`);
export const interval = (low, high) => (low == null ? "" : `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`);
export const many = (number, one, several = `${one}s`) => `${count(number)} ${number === 1 ? one : several}`;

/** A number with its sign; a rating may be infinite, which JSON says as a text. */
export function signed(value, digits = 0) {
  if (typeof value === "string") return value.startsWith("-") ? "−∞" : value === "nan" ? "?" : "+∞";
  const text = value.toFixed(digits);
  return minus(Number(text) > 0 ? `+${text}` : text.replace(/^-(0(\.0+)?)$/, "$1"));
}

export const plusMinus = (value, error, digits = 0) =>
  `${signed(value, digits)} ± ${typeof error === "string" ? "∞" : error.toFixed(digits)}`;

/** A stored time on this machine's clock. */
export const here = (time) =>
  new Date(time).toLocaleString("en-GB", {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  });
