// Opponents and heuristics from the user's files; the server computes their moves and values.

import { parseAgent } from "../model/agents.js";
import { Stopped } from "../model/engine.js";
import { cellNamed, formatFen } from "../model/notation.js";

/** @typedef {import("../model/agents.js").Agent} Agent */
/** @typedef {import("../model/heuristics.js").Heuristic} Heuristic */
/** @typedef {import("../model/notation.js").Position} Position */
/** @typedef {import("../model/play.js").EngineLike} EngineLike */
/** @typedef {import("../page.js").Page} Page */
/** @typedef {import("./server.js").Server} Server */

/**
 * Return whether an agent or a heuristic comes from a user's file, so that only the server knows it.
 * @param {string} text
 */
const isFromFile = (text) => text.includes(".py");

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
    if (isFromFile(page.state.settings.heuristic)) page.play.study.analyse();
  });
}

/** Agents and heuristics that only the server knows. */
class ServerProvider {
  /**
   * @param {Server} server
   * @param {Heuristic[]} heuristics those of the engine
   */
  constructor(server, heuristics) {
    this.server = server;
    this.heuristics = heuristics;
    this.player = /** @type {EngineLike} */ (/** @type {unknown} */ (new ServerPlayer(server)));
  }

  /**
   * Return the agent of a string that names a user's file or that only the server can read; null for agents of the
   * engine.
   * @param {string} text
   */
  agentOf(text) {
    /** @type {Agent} */
    const agent = { kind: "remote", text: text.trim(), method: "", terms: [], seed: 0, nodes: 0, depth: 0, ms: 0 };
    if (isFromFile(text)) return agent;
    if (!/^\s*(student|course|[\w:]*_[\w:]*)/.test(text)) return null; // not the name of a course's agent
    try {
      parseAgent(text, this.heuristics);
      return null;
    } catch {
      return agent;
    }
  }

  /** @param {string} name */
  judges(name) {
    return isFromFile(name);
  }

  /**
   * Return the value of each move by each heuristic.
   * @param {Position} position
   * @param {string[]} names
   * @param {(names: string[]) => Promise<Record<number, number[]>>} askEngine evaluates heuristics of the engine
   */
  async opinionsOf(position, names, askEngine) {
    const ofServer = names.filter(isFromFile);
    const ofEngine = names.filter((name) => !isFromFile(name));
    const known = ofEngine.length ? await askEngine(ofEngine) : {};
    const asked = { heuristics: ofServer, fen: formatFen(position) };
    const { moves, opinions } = await this.server.post("/api/opinions", asked);
    const judged = /** @type {string[]} */ (moves).filter((move) => move in opinions[ofServer[0]]);
    return Object.fromEntries(
      judged.map((move) => {
        const cell = Number(cellNamed(position, move));
        const value = (/** @type {string} */ name) =>
          isFromFile(name) ? numberOf(opinions[name][move]) : known[cell][ofEngine.indexOf(name)];
        return [cell, names.map(value)];
      }),
    );
  }
}

/**
 * Return a number from JSON, in which infinities are texts.
 * @param {number | string} value
 */
const numberOf = (value) => (typeof value === "string" ? (value.startsWith("-") ? -Infinity : Infinity) : value);

/** Computes moves of agents on the server, with the interface of the engine. */
class ServerPlayer {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    /** @type {AbortController | null} */
    this.running = null;
  }

  /**
   * @param {string} what
   * @param {{agent: Agent, position: Position}} about
   */
  async ask(what, { agent, position }) {
    this.running = new AbortController();
    const asked = { agent: agent.text, fen: formatFen(position), seed: agent.seed };
    try {
      const { move } = await this.server.post(`/api/${what}`, asked, this.running.signal);
      return { cell: cellNamed(position, move) };
    } catch (error) {
      throw error instanceof Error && error.name === "AbortError" ? new Stopped() : error;
    }
  }

  stop() {
    this.running?.abort();
  }
}
