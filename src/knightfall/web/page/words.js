// What is said in more than one place.

export const NAMES = { w: "White", b: "Black" };
export const other = (side) => (side === "w" ? "b" : "w");
export const many = (number, one) => `${number} ${number === 1 ? one : `${one}s`}`;
export const plies = (number) => `${number} ${number === 1 ? "ply" : "plies"}`;
