// What the page can do only where there is a server behind it: the views Lab and Studies, and
// opponents and heuristics of the user's files.

import { GamePage, GamesPage } from "./games.js";
import { GradingPage } from "./grading.js";
import { el } from "./make.js";
import { addOpponents } from "./opponents.js";
import { Overview } from "./overview.js";
import { RunPage } from "./run.js";
import { Server } from "./server.js";
import { Studies } from "./studies.js";

export async function open(app) {
  const style = el("link", { rel: "stylesheet", href: new URL("lab.css", import.meta.url).href });
  await new Promise((done) => {
    style.onload = style.onerror = done;
    document.head.append(style);
  });
  const server = new Server(app.source.lab);
  app.views.add("lab", new Lab(server));
  app.views.add("studies", new Studies(server));
  showConnection(server);
  addOpponents(app, server);
  server.connect();
  app.lab = server;
  const footer = document.querySelector("footer p");
  footer.append(" The lab is served by knightfall on this machine.");
}

/** Whether the server is there is told in every view. */
function showConnection(server) {
  const place = el("p", { role: "status", class: "connection", hidden: true });
  document.querySelector("header").append(place);
  server.addEventListener("connection", () => {
    place.hidden = server.here;
    place.textContent = server.here
      ? "" : "The server is gone; trying again … Runs that were going on are in the store.";
    document.body.classList.toggle("server-gone", !server.here);
  });
}

/** One page at a time, by the words of the address: #/lab, #/lab/run/3, #/lab/run/3/games/won_by=0 … */
class Lab {
  constructor(server) {
    this.server = server;
    this.title = "Lab";
    this.place = el("section", { class: "lab", "data-view": "lab", "aria-labelledby": "h-lab", hidden: true });
    document.querySelector("main").append(this.place);
    this.page = null;
    server.addEventListener("state", () => this.page?.update?.(server.state));
    server.addEventListener("connection", () => server.here && this.page?.load?.());
  }

  async show([what, id, more, ...rest]) {
    this.leave();
    const page = what === "run" && more === "games" ? new GamesPage(this.server, id, rest[0] ?? "")
      : what === "run" && more === "game" ? new GamePage(this.server, id, ...rest)
      : what === "run" ? new RunPage(this.server, id)
      : what === "grading" ? new GradingPage(this.server, id)
      : new Overview(this.server);
    this.page = page;
    this.place.replaceChildren(...page.begin());
    if (this.server.state) page.update?.(this.server.state);
    await page.load?.();
  }

  leave() {
    this.page?.leave?.();
    this.page = null;
  }
}
