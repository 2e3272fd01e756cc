// One page, several views.  The address names the view (#/atlas/7x7); a game's address is of `play`.

const FIRST = "play";

/** A word of the address; one that is no valid encoding stays as it is. */
function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export class Views {
  constructor() {
    this.all = new Map();
    this.now = null;
  }

  /** A view by its name; `show(words)` gets the rest of the address, `title` stands in the menu. */
  add(name, view) {
    this.all.set(name, view);
    const link = document.createElement("a");
    link.href = name === FIRST ? "#" : `#/${name}`;
    link.textContent = view.title;
    link.dataset.to = name;
    document.querySelector("nav").append(link);
  }

  /** Where the menu leads to when a view is to be found as it was left. */
  remember(name, address) {
    document.querySelector(`nav [data-to="${name}"]`).href = address;
  }

  /** Show what the address names. */
  async follow(address = location.hash) {
    const named = /^#\/([a-z]+)(?:\/(.*))?$/.exec(address);
    const name = named && this.all.has(named[1]) ? named[1] : FIRST;
    if (this.now !== name) this.all.get(this.now)?.leave?.();
    this.now = name;
    for (const part of document.querySelectorAll("[data-view]")) part.hidden = part.dataset.view !== name;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.dataset.to === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (named && name !== FIRST) this.remember(name, address);
    const words = named && name !== FIRST ? (named[2] ?? "").split("/").filter(Boolean).map(decoded) : [];
    await this.all.get(name).show(words);
  }
}
