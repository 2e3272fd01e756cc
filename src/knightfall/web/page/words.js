// What is said in more than one place.

export const NAMES = { w: "First player", b: "Second player" };
export const other = (side) => (side === "w" ? "b" : "w");
export const plies = (number) => `${number} ${number === 1 ? "ply" : "plies"}`;
