// Faces of the ladder's opponents: the stronger the opponent, the sterner the face.

import { svg } from "./dom.js";

/**
 * Draw the face of a rank: higher ranks have lower brows and less of a smile; the highest wears a crown.
 * @param {number} rank from 0
 * @param {number} of how many there are
 */
export function face(rank, of) {
  const stern = of > 1 ? rank / (of - 1) : 0;
  const brow = 8 * stern;
  const ink = { fill: "none", stroke: "#2a2420", "stroke-width": 3, "stroke-linecap": "round" };
  const crown = { d: "M16 16l6 6 10-14 10 14 6-6-3 14H19z", fill: "#e2a91c", stroke: "#2a2420", "stroke-width": 2 };
  return svg(
    "svg",
    { viewBox: "0 0 64 64", "aria-hidden": "true" },
    svg("circle", { cx: 32, cy: 36, r: 24, fill: `hsl(${150 - 150 * stern} 45% 72%)` }),
    rank === of - 1 && svg("path", crown),
    svg("circle", { cx: 24, cy: 34, r: 3 }),
    svg("circle", { cx: 40, cy: 34, r: 3 }),
    svg("path", { d: `M19 ${25 - brow / 4}L28 ${25 + brow / 1.6}`, ...ink }),
    svg("path", { d: `M45 ${25 - brow / 4}L36 ${25 + brow / 1.6}`, ...ink }),
    svg("path", { d: `M22 47Q32 ${54 - 9 * stern} 42 47`, ...ink }),
  );
}
