// Games and pictures as text: what can be pasted, copied and saved.

import { cellNamed, emptyBoard, formatFen, nameOf, parseFen, POCKET } from "./notation.js";
import { Tree } from "./tree.js";

const MOST = 20000;

/** The tree of a position, a game or a link that somebody pasted.  Throws clear words. */
export async function readPasted(text, advance, fromAddress) {
  const said = text.trim();
  if (!said) throw new Error("There is nothing to read: paste a position, a game or a link.");
  if (said.length > MOST) throw new Error("That is too long to be a game.");
  const link = /#(\S+)$/.exec(said);
  if (link && !/\s/.test(said)) return (await fromAddress(link[1], advance)).tree;
  const { start, moves } = said.startsWith("{") ? fromJson(said) : fromText(said);
  const tree = new Tree(start);
  for (const name of moves.slice(0, 64)) {
    const cell = cellNamed(tree.at.position, name);
    const position = cell === null ? null : await advance(tree.at.position, cell);
    if (!position) throw new Error(`“${name.slice(0, 20)}” is no move after ${tree.line().length} plies.`);
    tree.play(cell, position);
  }
  return tree;
}

function fromJson(text) {
  let game;
  try {
    game = JSON.parse(text);
  } catch {
    throw new Error("This looks like a saved game, but it is not whole.");
  }
  if (!Array.isArray(game.moves) || game.moves.some((move) => typeof move !== "string")) {
    throw new Error("This saved game has no list of moves.");
  }
  return { start: typeof game.start === "string" ? parseFen(game.start) : emptyBoard(7, 7), moves: game.moves };
}

/** Tags in brackets, a FEN in front, numbers and the result may stand around the moves. */
function fromText(text) {
  const tags = Object.fromEntries([...text.matchAll(/\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]/g)].map((found) => [found[1], found[2]]));
  let rest = text.replace(/\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]/g, " ").trim();
  let start = tags.Opening ? parseFen(tags.Opening) : null;
  const fen = /^(\S*\/\S*)\s+(\S+)(?:\s+(?:-|\d+)(?=\s|$))*/.exec(rest);
  if (fen && !start) {
    start = parseFen(`${fen[1]} ${fen[2]}`);
    rest = rest.slice(fen[0].length);
  }
  const words = rest.split(/\s+/).map((word) => word.replace(/^\d+\.+/, "")).filter(Boolean);
  const moves = words.filter((word) => !["1-0", "0-1", "*"].includes(word) && !/^\?\?$/.test(word));
  return { start: start ?? emptyBoard(7, 7), moves };
}

/** A game as `knightfall annotate` reads it: tags, and numbered moves from the opening. */
export function gameText(tree, { white, black, winner, reason }) {
  let end = tree.at;
  while (end.children.length) end = end.children[0];
  const line = tree.line(end), placings = line.filter(({ parent }) => parent.position.black === POCKET);
  const opening = (placings.at(-1) ?? tree.root).position ?? tree.root.position, moves = line.slice(placings.length);
  const result = winner === "w" ? "1-0" : winner === "b" ? "0-1" : "*";
  const quote = (text) => text.replace(/[\\"]/g, "\\$&");
  const tags = { White: white, Black: black, Opening: formatFen(opening), Result: result, ...(reason ? { Reason: reason } : {}) };
  let number = 1, said = opening.side === "b" && moves.length ? "1... " : "";
  moves.forEach(({ cell, parent }) => {
    if (parent.position.side === "w") said += `${number}. `;
    said += `${nameOf(opening, cell)} `;
    if (parent.position.side === "b") number++;
  });
  return `${Object.entries(tags).map(([name, text]) => `[${name} "${quote(text)}"]`).join("\n")}\n\n${said}${result}\n`;
}

/** A drawing of a position that stands on its own. */
export function picture(position, heads, last = []) {
  const { width, height, open, white, black } = position, parts = [];
  for (let cell = 0; cell < width * height; cell++) {
    const x = (cell % width) * 40 + 24, y = Math.floor(cell / width) * 40 + 12;
    const taken = !((open >> BigInt(cell)) & 1n) && cell !== white && cell !== black;
    const fill = taken ? "#5d6470" : (x + y - 36) % 80 ? "#e3d2b0" : "#f3ead6";
    parts.push(`<rect x="${x}" y="${y}" width="40" height="40" fill="${fill}" stroke="${last.includes(cell) ? "#f2b632" : "#c9b88f"}" stroke-width="${last.includes(cell) ? 3 : 0.5}"/>`);
  }
  for (const [cell, fill, edge] of [[white, "#fff", "#2a2420"], [black, "#2b2f3a", "#f7f1e3"]]) {
    if (cell === POCKET) continue;
    const x = (cell % width) * 40 + 26, y = Math.floor(cell / width) * 40 + 14;
    parts.push(`<path transform="translate(${x} ${y}) scale(0.36)" d="${heads}" fill="${fill}" stroke="${edge}" stroke-width="4"/>`);
  }
  for (let row = 0; row < height; row++) parts.push(`<text x="16" y="${row * 40 + 36}" text-anchor="middle">${height - row}</text>`);
  for (let column = 0; column < width; column++) {
    parts.push(`<text x="${column * 40 + 44}" y="${height * 40 + 28}" text-anchor="middle">${String.fromCharCode(97 + column)}</text>`);
  }
  const [across, down] = [width * 40 + 36, height * 40 + 36];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${across} ${down}" width="${across * 2}" height="${down * 2}" font-family="sans-serif" font-size="12" fill="#2a2420">` +
    `<title>${formatFen(position)}</title><rect width="${across}" height="${down}" fill="#fbf7ee"/>${parts.join("")}</svg>\n`;
}

/** Hand a text to the browser as a file to keep. */
export function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
