// Views that extensions add to the page. The server sends their HTML; scripts in it do not run, because the page's
// content security policy forbids them.

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
    const message = el("p", { role: "status" }, "Loading …");
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
 * Return the views of all extensions; none if the server does not list them.
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
