// Elements that several pages of the lab use, and numbers as texts.

import { el, present } from "../views/dom.js";

/** @typedef {import("../views/dom.js").Child} Child */

/**
 * Return an agent's short name. Its full string is shown on hover, and at the foot of the window while the name has the
 * focus. Pass `focusable` as false in tables that repeat the same agents, so that the Tab key does not stop at each.
 * @param {string} short
 * @param {string} full
 */
export function agentName(short, full, focusable = true) {
  if (short === full) return short;
  return el("abbr", { class: "agent-name", title: full, "data-full": full, tabindex: focusable ? "0" : null }, short);
}

/**
 * Return the key by which a link or a button is found again after it was redrawn.
 * @param {Element} element
 */
const keyOf = (element) => element.getAttribute("href") ?? element.getAttribute("data-key");

/**
 * Replace the content of an element. The focus stays on the same link or button, and tables stay scrolled.
 * @param {Element} place
 * @param {Child[]} children
 */
export function renew(place, ...children) {
  const before = place.contains(document.activeElement) ? document.activeElement : null;
  const key = before && keyOf(before);
  const scrolled = [...place.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  place.replaceChildren(...present(children).filter(Boolean));
  place.querySelectorAll(".scroll").forEach((one, at) => {
    one.scrollLeft = scrolled[at] ?? 0;
  });
  if (!key) return;
  const again = [...place.querySelectorAll("a, button")].find((one) => keyOf(one) === key);
  /** @type {HTMLElement | undefined} */ (again)?.focus();
}

/**
 * Return a table that scrolls by itself where it is too wide. The first cell of each row is its heading.
 * @param {string} caption
 * @param {Child[]} headings
 * @param {Child[][]} rows
 * @param {string | null} kind a class for the table
 */
export function table(caption, headings, rows, kind = null) {
  /** @param {Child} content @param {number} at */
  const cell = (content, at) => (at ? el("td", {}, content) : el("th", { scope: "row" }, content));
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      { class: kind },
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...headings.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell)))),
    ),
  );
}

/**
 * Return a link.
 * @param {string} href
 * @param {Child[]} children
 */
export const link = (href, ...children) => el("a", { href }, ...children);

/**
 * Return the message of something that was thrown.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

// -- numbers ---------------------------------------------------------------------------------

/** @typedef {number | string} JsonNumber JSON has no infinities: they come as "inf", "-inf" and "nan" */

/**
 * Return a number with commas between thousands.
 * @param {number} number
 */
export const count = (number) => Number(number).toLocaleString("en");

/**
 * Return a share between 0 and 1 in percent; empty if there is none.
 * @param {number | null} share
 */
export const percent = (share, digits = 1) => (share == null ? "" : `${(100 * share).toFixed(digits)} %`);

/**
 * Return an interval of shares in percent, without the sign; empty if there is none.
 * @param {number | null} low
 * @param {number | null} high
 */
export const interval = (low, high) =>
  low == null || high == null ? "" : `${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)}`;

/**
 * Return a number with its sign.
 * @param {JsonNumber} value
 */
export function signed(value, digits = 0) {
  if (typeof value === "string") return value.startsWith("-") ? "−∞" : value === "nan" ? "?" : "+∞";
  const text = value.toFixed(digits);
  return (Number(text) > 0 ? `+${text}` : text.replace(/^-(0(\.0+)?)$/, "$1")).replace("-", "−");
}

/**
 * Return a number with its error.
 * @param {JsonNumber} value
 * @param {JsonNumber} error
 */
export const plusMinus = (value, error, digits = 0) =>
  `${signed(value, digits)} ± ${typeof error === "string" ? "∞" : error.toFixed(digits)}`;

/**
 * Return a stored time in this machine's time zone.
 * @param {string} time
 */
export const localTime = (time) =>
  new Date(time).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
  });
