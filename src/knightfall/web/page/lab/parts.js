// Views that extensions add to the page: the server sends what they show, as HTML. The page's policy keeps scripts in
// it from running.

import { el } from "../views/dom.js";
import { messageOf } from "./make.js";

/** @typedef {import("./server.js").Server} Server */

export class Part {
  /**
   * @param {Server} server
   * @param {{name: string, title: string}} about
   */
  constructor(server, { name, title }) {
    this.server = server;
    this.name = name;
    this.title = title;
    this.place = el("section", { class: "lab", "data-view": name, "aria-label": title, hidden: true });
    this.drawn = false;
    document.querySelector("main")?.append(this.place);
  }

  async show() {
    if (this.drawn) return;
    const message = el("p", { role: "status" }, "Reading it …");
    this.place.replaceChildren(el("h2", {}, this.title), message);
    try {
      const found = await this.server.get(`/api/parts/${this.name}`);
      this.place.innerHTML = found.html;
      this.drawn = true;
    } catch (error) {
      message.textContent = messageOf(error);
    }
  }
}

/**
 * Return the views that there are; none if the server does not say.
 * @param {Server} server
 * @returns {Promise<Part[]>}
 */
export async function parts(server) {
  try {
    const found = await server.get("/api/parts");
    return found.parts.map((/** @type {{name: string, title: string}} */ about) => new Part(server, about));
  } catch {
    return [];
  }
}
