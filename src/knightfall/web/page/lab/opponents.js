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
  app.opinionsOf = async (position, names) => {
    const theirs = names.filter(isServers), ours = names.filter((name) => !isServers(name));
    const here = ours.length ? await opinionsHere(position, ours) : {};
    if (!theirs.length) return here;
    const { moves, opinions } = await server.post("/api/opinions", { heuristics: theirs, fen: formatFen(position) });
    return Object.fromEntries(moves.filter((move) => move in opinions[theirs[0]]).map((move) => {
      const cell = cellNamed(position, move);
      return [cell, names.map((name) => (isServers(name) ? number(opinions[name][move]) : here[cell][ours.indexOf(name)]))];
    }));
  };
  app.player = new Player(app.player, server);
  server.addEventListener("state", () => offer(server.state.files));
}

/** JSON has no infinities: they come as texts. */
const number = (value) => (typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value);

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

/** What is in the user's files can be chosen; an opponent that was chosen stays chosen. */
function offer(files) {
  const heuristics = files.flatMap((file) => file.heuristics.filter((one) => !one.error));
  const agents = files.flatMap((file) => file.agents);
  const text = JSON.stringify([heuristics, agents]);
  if (text === offered) return;
  offered = text;
  const options = [...heuristics.map((one) => [one.id, `id(${one.id}, nodes=2500)`]), ...agents.map((one) => [one.id, one.id])];
  const select = $("opponent"), chosen = select.value;
  select.querySelector("optgroup.own")?.remove();
  if (options.length) select.append(el("optgroup", { class: "own", label: "Your files" }, options.map(([shown, value]) => el("option", { value }, shown))));
  if ([...select.options].some((one) => one.value === chosen)) select.value = chosen;
  else {
    select.selectedIndex = 0;
    select.dispatchEvent(new Event("change"));
  }
  document.querySelectorAll("#heuristics option.own").forEach((one) => one.remove());
  $("heuristics").prepend(...heuristics.map((one) => el("option", { class: "own", value: one.id })));
  if (isServers($("heuristic").value)) $("heuristic").dispatchEvent(new Event("change")); // it was edited
}

let offered = "[[],[]]";
