// Explanations of a position: a sentence for each layer that can be drawn over the board.

import { nameOf } from "./notation.js";
import { placed } from "./status.js";
import { NAMES, other } from "./words.js";

/** @typedef {import("./engine.js").Cluster} Cluster */
/** @typedef {import("./engine.js").PositionFacts} PositionFacts */
/** @typedef {import("./notation.js").Position} Position */

/**
 * Return a sentence on each layer.
 * @param {Position} position
 * @param {PositionFacts} seen
 * @returns {{roles: string, reach: string, walks: string, mirror: string}}
 */
export function explanations(position, seen) {
  if (!placed(position) || !seen.hunter) {
    const wait = "Known once both knights are placed.";
    return {
      roles: "The player who places second can choose to be the hunter, by the colour of the cell.",
      reach: wait,
      walks: wait,
      mirror: "If a side of the board is even, the second player wins by answering every move with its mirror image.",
    };
  }
  const hunter = NAMES[seen.hunter];
  const runner = NAMES[other(seen.hunter)];
  return {
    roles:
      `${hunter} is the hunter: only it can take a cell that ${runner}, the runner, could go to next. The roles ` +
      "never change during a game, and the hunter almost always wins.",
    reach: seen.separated
      ? "No cell can be reached by both knights: from here on each of them walks alone."
      : "Cells with both colours can be reached by both knights, the others only by one.",
    walks: walksSentence(seen),
    mirror: seen.mirrored
      ? "The position is its own mirror image: the side to move loses, because each of its moves can be mirrored."
      : "The position is not its own mirror image, so mirroring moves does not win.",
  };
}

/**
 * Return a sentence on the window of open_cluster.
 * @param {Position} position
 * @param {Cluster} cluster
 */
export function clusterSentence(position, { cells, center, blocked, counts }) {
  const [first, last] = [cells[0], cells[cells.length - 1]].map((cell) => nameOf(position, cell));
  const found =
    `Framed is the least-blocked window of this position, ${first} to ${last}, with ${blocked} blocked ` +
    `${blocked === 1 ? "cell" : "cells"}`;
  const favoured = `open_cluster favours its ringed centre cell ${nameOf(position, center)}`;
  return counts
    ? `${found}: ${favoured}. After a move the window may be another.`
    : `${found}: ${favoured} once a fifth of the board is blocked.`;
}

/** @param {PositionFacts} seen */
function walksSentence({ separated, walks }) {
  if (!separated || !walks) return "The knights can still meet, so each can block the other’s longest walk.";
  if (walks.w < 0 || walks.b < 0) {
    return "The knights can no longer meet: the longer walk wins. The walks are too long to be counted.";
  }
  const rule = "to win, the side to move needs more steps than the other";
  return `White can still walk ${walks.w} steps, Black ${walks.b}: ${rule}.`;
}
