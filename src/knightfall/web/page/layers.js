// What there is to understand in a position: drawn over the board, each with a sentence on why it matters.

import { $ } from "./dom.js";
import { nameOf, POCKET } from "./notation.js";
import { NAMES, other } from "./words.js";

export const LAYERS = ["roles", "reach", "walks", "mirror"];

/** The sentence of each layer. */
export function explain(position, seen) {
  const told = sentences(position, seen);
  for (const layer of LAYERS) $(`why-${layer}`).textContent = told[layer];
}

function sentences(position, seen) {
  if (position.black === POCKET) {
    const wait = "Known once both knights stand.";
    return {
      roles: "Whoever places second can choose to be the hunter, by the colour of its cell.",
      reach: wait, walks: wait,
      mirror: "If a side of the board is even, the second player can answer every cell by its image, and wins.",
    };
  }
  const hunter = NAMES[seen.hunter], runner = NAMES[other(seen.hunter)];
  return {
    roles: `${hunter} is the hunter: only it can take a cell that ${runner}, the runner, was about to go to. That never changes during a game, and almost always the hunter wins.`,
    reach: seen.separated
      ? "No cell can be reached by both: from here on each knight walks alone."
      : "Striped cells can be reached by both knights and are worth fighting for; the others belong to one of them.",
    walks: walksTold(seen),
    mirror: seen.mirrored
      ? "The position is its own image: the side to move loses, for each of its moves can be answered by the image."
      : "The position is not its own image; nobody can win just by copying.",
  };
}

function walksTold({ separated, walks }) {
  if (!separated) return "The knights can still meet, so that no walk is sure.";
  if (walks.w < 0 || walks.b < 0) return "The knights can no longer meet: whoever has the longer walk left wins. These are too long to be counted.";
  return `White can still walk ${walks.w} steps, Black ${walks.b}: the side to move needs strictly more than the other.`;
}

/** What of it is to be drawn, by the boxes that are ticked. */
export async function layersOf(app, position, seen) {
  const ticked = (layer) => $(`layer-${layer}`).checked && seen.reach;
  const shown = { layers: {}, paths: [], roles: null };
  if (ticked("reach")) shown.layers = { w: seen.reach.w, b: seen.reach.b };
  if (ticked("roles")) shown.roles = { [seen.hunter]: "hunter", [other(seen.hunter)]: "runner" };
  if (ticked("walks") && seen.separated) {
    const walks = await app.guide.ask("walks", { position });
    shown.paths = ["w", "b"].map((side) => ({ cells: walks[side], kind: `walk-${side}` }));
  }
  if (ticked("mirror") && seen.mirrored) {
    const replies = await app.guide.ask("reflections", { position });
    shown.paths.push(...Object.entries(replies).map(([cell, reply]) => ({ cells: [Number(cell), reply], kind: "mirror", numbered: false })));
    const said = Object.entries(replies).map(([cell, reply]) => `${nameOf(position, Number(cell))} by ${nameOf(position, reply)}`);
    if (said.length) $("why-mirror").textContent += ` Here: ${said.join(", ")}.`;
  }
  return shown;
}
