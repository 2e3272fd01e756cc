// The play view's opponents and heuristics of the user's files: asked of the server, as they are now.

import { $ } from "../dom.js";
import { Stopped } from "../engine.js";
import { cellNamed, formatFen } from "../notation.js";
import { el } from "./make.js";

const isServers = (text) => text.includes(".py");

export function addOpponents(app, server) {
  const inBrowser = app.agentOf.bind(app), opinionsHere = app.opinionsOf.bind(app);
  app.agentOf = (text) => {
    if (isServers(text)) return { text: text.trim(), server: true, seed: 0 };
    try {
      return inBrowser(text);
    } catch (error) {
      if (/^\s*(student|course|[\w:]*_[\w:]*)/.test(text)) return { text: text.trim(), server: true, seed: 0 };
      throw error; // what a browser cannot be, and no course ever named
    }
  };
  app.opinionsOf = async (position, heuristic) => {
    if (!isServers(heuristic)) return opinionsHere(position, heuristic);
    const { opinions } = await server.post("/api/opinions", { heuristics: [heuristic], fen: formatFen(position) });
    return Object.fromEntries(Object.entries(opinions[heuristic]).map(([move, value]) =>
      [cellNamed(position, move), [typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value]]));
  };
  app.player = new Player(app.player, server);
  server.addEventListener("state", () => offer(server.state.files));
}

/** Who plays against you: the browser's engine, or an agent on the server. */
class Player {
  constructor(engine, server) {
    this.engine = engine;
    this.server = server;
  }

  async ask(what, about, onPart) {
    if (!about.agent?.server) return this.engine.ask(what, about, onPart);
    const going = (this.going = new AbortController());
    const { agent, position } = about;
    try {
      const { move } = await this.server.post("/api/choose", { agent: agent.text, fen: formatFen(position), seed: agent.seed }, going.signal);
      return { cell: cellNamed(position, move) };
    } catch (error) {
      throw error.name === "AbortError" ? new Stopped() : error;
    }
  }

  stop() {
    this.going?.abort();
    this.engine.stop();
  }
}

/** Options for what is in the user's files; what was chosen stays chosen. */
function offer(files) {
  const heuristics = files.flatMap((file) => file.heuristics.filter((one) => !one.error));
  const agents = files.flatMap((file) => file.agents);
  fill($("opponent"), [...heuristics.map((one) => [one.id, `id(${one.id}, nodes=2500)`]), ...agents.map((one) => [one.id, one.id])]);
  fill($("heuristic"), heuristics.map((one) => [one.id, one.id]));
}

function fill(select, options) {
  const text = JSON.stringify(options);
  if ((select.dataset.own ?? "[]") === text) return;
  select.dataset.own = text;
  const chosen = select.value;
  select.querySelector("optgroup.own")?.remove();
  if (options.length) select.append(el("optgroup", { class: "own", label: "Your files" }, options.map(([shown, value]) => el("option", { value }, shown))));
  if ([...select.options].some((one) => one.value === chosen)) select.value = chosen;
  else {
    select.selectedIndex = 0;
    select.dispatchEvent(new Event("change"));
  }
}
