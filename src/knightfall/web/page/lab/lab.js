// The parts of the page that need a server behind it: the view Lab, those that extensions add, and the agents and
// heuristics of the user's files.

import { el } from "../views/dom.js";
import { GamePage, GamesPage } from "./games.js";
import { GradingPage } from "./grading.js";
import { addOpponents } from "./opponents.js";
import { Overview } from "./overview.js";
import { parts } from "./parts.js";
import { RunPage } from "./run.js";
import { Server } from "./server.js";

/** @typedef {import("./server.js").State} State */

/**
 * One page of the lab: what it shows at first, and what it does when the state of the server has changed.
 * @typedef {object} Page
 * @property {() => Element[]} begin
 * @property {() => Promise<void>} [load] reads from the server
 * @property {(state: State) => void} [update]
 * @property {() => void} [leave]
 */

/**
 * Add the lab to the page.
 * @param {import("../page.js").Page} page
 */
export async function open(page) {
  const style = el("link", { rel: "stylesheet", href: new URL("lab.css", import.meta.url).href });
  await new Promise((done) => {
    style.onload = done;
    style.onerror = done;
    document.head.append(style);
  });
  const server = new Server(String(page.source.lab));
  const lab = new Lab(server);
  page.router.add("lab", {
    title: "Lab",
    keys: {},
    show: (words) => lab.show(words),
    leave: () => lab.leave(),
  });
  for (const part of await parts(server)) {
    page.router.add(part.name, { title: part.title, keys: {}, show: () => part.show() });
  }
  showConnection(server);
  addOpponents(page, server);
  server.connect();
  document.querySelector("footer p")?.append(" The lab is served by knightfall on this machine.");
}

/**
 * Show in every view when the connection to the server is lost.
 * @param {Server} server
 */
function showConnection(server) {
  const place = el("p", { role: "status", class: "connection", hidden: true });
  document.querySelector("header")?.append(place);
  server.addEventListener("connection", () => {
    place.hidden = server.connected;
    place.textContent = server.connected
      ? ""
      : "The connection to the server is lost; trying again … All that was played is in the store.";
    document.body.classList.toggle("server-gone", !server.connected);
  });
}

/** Shows one page at a time, by the address: #/lab, #/lab/run/3, #/lab/run/3/games/won_by=0 … */
class Lab {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    this.title = "Lab";
    this.place = el("section", { class: "lab", "data-view": "lab", "aria-labelledby": "h-lab", hidden: true });
    document.querySelector("main")?.append(this.place);
    /** @type {Page | null} */
    this.page = null;
    server.addEventListener("state", () => server.state && this.page?.update?.(server.state));
    server.addEventListener("connection", () => server.connected && this.page?.load?.());
  }

  /**
   * Show the page of an address.
   * @param {string[]} words the parts of the address behind #/lab
   */
  async show(words) {
    this.leave();
    const page = this.pageOf(words);
    this.page = page;
    this.place.replaceChildren(...page.begin());
    if (this.server.state) page.update?.(this.server.state);
    await page.load?.();
  }

  /**
   * @param {string[]} words
   * @returns {Page}
   */
  pageOf([kind, id, more, ...rest]) {
    const { server } = this;
    if (kind === "run" && more === "games") return new GamesPage(server, id, rest[0] ?? "");
    if (kind === "run" && more === "game") return new GamePage(server, id, rest[0], rest[1]);
    if (kind === "run") return new RunPage(server, id);
    if (kind === "grading") return new GradingPage(server, id);
    return new Overview(server);
  }

  leave() {
    this.page?.leave?.();
    this.page = null;
  }
}
