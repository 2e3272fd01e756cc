// The play view's opponents and heuristics of the user's files: asked of the server, as they are now.

import { parseAgent } from "../agents.js";
import { $ } from "../dom.js";
import { Stopped } from "../engine.js";
import { cellNamed, formatFen } from "../notation.js";
import { el } from "./make.js";

const isServers = (text) => text.includes(".py");

export function addOpponents(app, server) {
  app.providers.push(new Provider(server, app.about.heuristics));
  server.addEventListener("state", () => offer(server.state.files));
}

/** What the server can do for the play view; see `providers` of the application. */
class Provider {
  constructor(server, heuristics) {
    this.server = server;
    this.heuristics = heuristics; // of the browser
    this.player = new Player(server);
  }

  /** The agent of a string, if it is one of the user's files or one that only the server knows; else null. */
  agentOf(text) {
    const agent = { text: text.trim(), seed: 0 };
    if (isServers(text)) return agent;
    if (!/^\s*(student|course|[\w:]*_[\w:]*)/.test(text)) return null; // no course ever named it
    try {
      parseAgent(text, this.heuristics);
      return null;
    } catch {
      return agent;
    }
  }

  judges(name) {
    return isServers(name);
  }

  /** What some heuristics say of each cell; `here` asks those of the browser. */
  async opinionsOf(position, names, here) {
    const theirs = names.filter(isServers), ours = names.filter((name) => !isServers(name));
    const known = ours.length ? await here(ours) : {};
    const asked = { heuristics: theirs, fen: formatFen(position) };
    const { moves, opinions } = await this.server.post("/api/opinions", asked);
    return Object.fromEntries(moves.filter((move) => move in opinions[theirs[0]]).map((move) => {
      const cell = cellNamed(position, move);
      const value = (name) => (isServers(name) ? number(opinions[name][move]) : known[cell][ours.indexOf(name)]);
      return [cell, names.map(value)];
    }));
  }
}

/** JSON has no infinities: they come as texts. */
const number = (value) => (typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value);

/** An agent on the server, asked as the browser's engine is. */
class Player {
  constructor(server) {
    this.server = server;
  }

  async ask(what, { agent, position }) {
    const going = (this.going = new AbortController());
    const asked = { agent: agent.text, fen: formatFen(position), seed: agent.seed };
    try {
      const { move } = await this.server.post(`/api/${what}`, asked, going.signal);
      return { cell: cellNamed(position, move) };
    } catch (error) {
      throw error.name === "AbortError" ? new Stopped() : error;
    }
  }

  stop() {
    this.going?.abort();
  }
}

/** What is in the user's files can be chosen; an opponent that was chosen stays chosen. */
function offer(files) {
  const heuristics = files.flatMap((file) => file.heuristics.filter((one) => !one.error));
  const agents = files.flatMap((file) => file.agents);
  const text = JSON.stringify([heuristics, agents]);
  if (text === offered) return;
  offered = text;
  const options = [
    ...heuristics.map((one) => [one.id, `id(${one.id}, nodes=2500)`]), ...agents.map((one) => [one.id, one.id]),
  ];
  const select = $("opponent"), chosen = select.value;
  select.querySelector("optgroup.own")?.remove();
  if (options.length) {
    select.append(el("optgroup", { class: "own", label: "Your files" },
      options.map(([shown, value]) => el("option", { value }, shown))));
  }
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
