// Opponents and heuristics out of the user's files: asked of the server, as the files are now.

import { parseAgent } from "../model/agents.js";
import { Stopped } from "../model/engine.js";
import { cellNamed, formatFen } from "../model/notation.js";

/** @typedef {import("../model/agents.js").Agent} Agent */
/** @typedef {import("../model/heuristics.js").Heuristic} Heuristic */
/** @typedef {import("../model/notation.js").Position} Position */
/** @typedef {import("../model/play.js").Asking} Asking */
/** @typedef {import("../page.js").Page} Page */
/** @typedef {import("./server.js").Server} Server */

/** @param {string} text */
const isServers = (text) => text.includes(".py");

/**
 * Let the play view use the server's agents and heuristics.
 * @param {Page} page
 * @param {Server} server
 */
export function addOpponents(page, server) {
  const { heuristics } = page.source.load.about;
  page.play.provider = new ServerProvider(server, heuristics);
  const builtIn = page.state.heuristics;
  let offered = "[[],[]]";
  server.addEventListener("state", () => {
    const files = server.state?.files ?? [];
    const sound = files.flatMap((file) => file.heuristics.filter((one) => !one.error));
    const agents = files.flatMap((file) => file.agents);
    const text = JSON.stringify([sound, agents]);
    if (text === offered) return;
    offered = text;
    const offers = [
      ...sound.map(({ id }) => ({ shown: id, agent: `id(${id}, nodes=2500)` })),
      ...agents.map(({ id }) => ({ shown: id, agent: id })),
    ];
    page.store.set({ offers, heuristics: [...sound.map(({ id }) => id), ...builtIn] });
    if (isServers(page.state.settings.heuristic)) page.play.study.analyse();
  });
}

/** Agents and heuristics that only the server knows. */
class ServerProvider {
  /**
   * @param {Server} server
   * @param {Heuristic[]} heuristics the engine's
   */
  constructor(server, heuristics) {
    this.server = server;
    this.heuristics = heuristics;
    this.player = /** @type {Asking} */ (/** @type {unknown} */ (new ServerPlayer(server)));
  }

  /**
   * Return the agent of a string that names a user's file or that the engine cannot read; null for the engine's own.
   * @param {string} text
   */
  agentOf(text) {
    /** @type {Agent} */
    const agent = { kind: "remote", text: text.trim(), method: "", terms: [], seed: 0, nodes: 0, depth: 0, ms: 0 };
    if (isServers(text)) return agent;
    if (!/^\s*(student|course|[\w:]*_[\w:]*)/.test(text)) return null; // no course named it
    try {
      parseAgent(text, this.heuristics);
      return null;
    } catch {
      return agent;
    }
  }

  /** @param {string} name */
  judges(name) {
    return isServers(name);
  }

  /**
   * @param {Position} position
   * @param {string[]} names
   * @param {(names: string[]) => Promise<Record<number, number[]>>} here
   */
  async opinionsOf(position, names, here) {
    const theirs = names.filter(isServers);
    const ours = names.filter((name) => !isServers(name));
    const known = ours.length ? await here(ours) : {};
    const asked = { heuristics: theirs, fen: formatFen(position) };
    const { moves, opinions } = await this.server.post("/api/opinions", asked);
    const judged = /** @type {string[]} */ (moves).filter((move) => move in opinions[theirs[0]]);
    return Object.fromEntries(
      judged.map((move) => {
        const cell = Number(cellNamed(position, move));
        const value = (/** @type {string} */ name) =>
          isServers(name) ? numberOf(opinions[name][move]) : known[cell][ours.indexOf(name)];
        return [cell, names.map(value)];
      }),
    );
  }
}

/**
 * Return a number out of JSON, which writes infinities as texts.
 * @param {number | string} value
 */
const numberOf = (value) => (typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value);

/** An agent on the server, asked as the engine is. */
class ServerPlayer {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    /** @type {AbortController | null} */
    this.going = null;
  }

  /**
   * @param {string} what
   * @param {{agent: Agent, position: Position}} about
   */
  async ask(what, { agent, position }) {
    this.going = new AbortController();
    const asked = { agent: agent.text, fen: formatFen(position), seed: agent.seed };
    try {
      const { move } = await this.server.post(`/api/${what}`, asked, this.going.signal);
      return { cell: cellNamed(position, move) };
    } catch (error) {
      throw error instanceof Error && error.name === "AbortError" ? new Stopped() : error;
    }
  }

  stop() {
    this.going?.abort();
  }
}
