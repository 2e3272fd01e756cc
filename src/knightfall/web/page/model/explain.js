// What there is to understand in a position: a sentence for each layer that can be drawn over the board.

import { nameOf } from "./notation.js";
import { placed } from "./status.js";
import { NAMES, other } from "./words.js";

/** @typedef {import("./engine.js").Cluster} Cluster */
/** @typedef {import("./engine.js").Seen} Seen */
/** @typedef {import("./notation.js").Position} Position */

/**
 * Return a sentence on each layer.
 * @param {Position} position
 * @param {Seen} seen
 * @returns {{roles: string, reach: string, walks: string, mirror: string}}
 */
export function explanations(position, seen) {
  if (!placed(position) || !seen.hunter) {
    const wait = "Known once both knights stand.";
    return {
      roles: "Whoever places second can choose to be the hunter, by the colour of its cell.",
      reach: wait,
      walks: wait,
      mirror: "If a side of the board is even, the second player can answer every cell by its image, and wins.",
    };
  }
  const hunter = NAMES[seen.hunter];
  const runner = NAMES[other(seen.hunter)];
  return {
    roles:
      `${hunter} is the hunter: only it can take a cell that ${runner}, the runner, was about to go to. That never ` +
      "changes during a game, and almost always the hunter wins.",
    reach: seen.separated
      ? "No cell can be reached by both: from here on each knight walks alone."
      : "Cells with both colours can be reached by both knights and are worth fighting for; others belong to one.",
    walks: walksTold(seen),
    mirror: seen.mirrored
      ? "The position is its own image: the side to move loses, for each of its moves can be answered by the image."
      : "The position is not its own image; nobody can win just by copying.",
  };
}

/**
 * Return what the window of open_cluster is, in words.
 * @param {Position} position
 * @param {Cluster} cluster
 */
export function clusterTold(position, { cells, center, blocked, counts }) {
  const [first, last] = [cells[0], cells[cells.length - 1]].map((cell) => nameOf(position, cell));
  const found =
    `Framed is the least-blocked window of this position, ${first} to ${last}, with ${blocked} blocked ` +
    `${blocked === 1 ? "cell" : "cells"}`;
  const drawn = `open_cluster is drawn to its ringed centre cell ${nameOf(position, center)}`;
  return counts
    ? `${found}: ${drawn}. After a move the window may be another.`
    : `${found}: ${drawn} once a fifth of the board is blocked.`;
}

/** @param {Seen} seen */
function walksTold({ separated, walks }) {
  if (!separated || !walks) return "The knights can still meet, so that no walk is sure.";
  if (walks.w < 0 || walks.b < 0) {
    return "The knights can no longer meet: whoever has the longer walk left wins. These are too long to be counted.";
  }
  const rule = "the side to move needs strictly more than the other";
  return `White can still walk ${walks.w} steps, Black ${walks.b}: ${rule}.`;
}
