// Elements of the page: finding them by id, and making them. Texts are never interpreted as HTML.

/**
 * Return the element with a tag name and an id. Throw an error if the page has none.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} id
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function part(name, id) {
  const found = document.getElementById(id);
  if (found?.localName !== name) throw new Error(`the page has no <${name} id="${id}">`);
  return /** @type {HTMLElementTagNameMap[Name]} */ (found);
}

/**
 * Return any element with an id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element with the id ${id}`);
  return found;
}

/** @typedef {string | Node | null | undefined | false | Child[]} Child a text, an element, nothing, or a list */

/**
 * Return the children that are to be drawn, without nested lists.
 * @param {Child[]} children
 * @returns {(string | Node)[]}
 */
export const present = (children) =>
  /** @type {any[]} */ (children).flat(3).filter((child) => ![null, undefined, false].includes(child));

/**
 * Make an element with attributes, listeners (`onclick`) and children. An attribute that is true stands without a
 * value; one that is false, null or undefined is left out.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} attributes
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...present(children));
  return made;
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} attributes
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...present(children));
  return made;
}

/**
 * Call functions when elements are clicked.
 * @param {Record<string, () => unknown>} actions by the id of the element
 */
export function onClick(actions) {
  for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", () => act());
}
