// One page, several views. The address names the view (#/atlas/7x7); a game's address belongs to `play`.

import { el } from "./dom.js";

/** @typedef {import("../model/store.js").Store} Store */

/**
 * A view: its title in the menu, a function that shows the rest of the address, its keys, and a function that ends it.
 * @typedef {object} View
 * @property {string} title
 * @property {(words: string[]) => unknown} show
 * @property {Record<string, () => unknown>} keys
 * @property {() => void} [leave]
 */

const FIRST = "play";

/**
 * Return a decoded word of the address; a word with an invalid encoding stays as it is.
 * @param {string} word
 */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export class Router {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    /** @type {Map<string, View>} */
    this.views = new Map();
    this.menu = /** @type {HTMLElement} */ (document.querySelector("nav"));
    /** The address that was last followed or written. */
    this.followed = "";
    addEventListener("hashchange", () => this.follow());
  }

  /** The name of the view that is shown. */
  get now() {
    return this.store.state.view.name;
  }

  /**
   * Add a view to the menu.
   * @param {string} name
   * @param {View} view
   */
  add(name, view) {
    this.views.set(name, view);
    this.menu.append(el("a", { href: name === FIRST ? "#" : `#/${name}`, "data-to": name }, view.title));
  }

  /**
   * Set the address to which the menu leads for a view, so that it comes back as it was left.
   * @param {string} name
   * @param {string} address
   */
  remember(name, address) {
    this.menu.querySelector(`[data-to="${name}"]`)?.setAttribute("href", address);
  }

  /**
   * Replace the address, or push a new one, without following it.  Do nothing while the browser is on its way to
   * another address: a link changes the address at once, but the page hears of it in a later task.
   * @param {string} address
   * @param {object} kept the state of the new entry in the history
   * @param {boolean} push
   */
  write(address, kept, push) {
    if (location.hash !== this.followed) return;
    history[push ? "pushState" : "replaceState"](kept, "", address);
    this.followed = location.hash;
  }

  /** Show the view of the address. */
  async follow() {
    const address = location.hash;
    this.followed = address;
    const named = /^#\/([a-z]+)(?:\/(.*))?$/.exec(address);
    const name = named && this.views.has(named[1]) ? named[1] : FIRST;
    const words = named && name !== FIRST ? (named[2] ?? "").split("/").filter(Boolean).map(decoded) : [];
    if (this.now !== name) this.views.get(this.now)?.leave?.();
    this.store.set({ view: { name, words } });
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-view]"))) {
      part.hidden = part.dataset.view !== name;
    }
    for (const link of this.menu.querySelectorAll("a")) {
      if (link.dataset.to === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (named && name !== FIRST) this.remember(name, address);
    await this.views.get(name)?.show(words);
  }
}
