// Who plays: a strip above the board, and below it that of White, or yours.

import { $ } from "./dom.js";
import { POCKET } from "./notation.js";
import { NAMES, many, other } from "./words.js";

/** Draw both strips: the name, whose turn it is, how many moves there are, and who hunts. */
export function drawStrips(app, seen) {
  const { position } = app.tree.at, placed = position.black !== POCKET && position.white !== POCKET;
  for (const side of ["w", "b"]) {
    const mine = !app.agent || side === app.you, turn = position.side === side && !app.resigned && seen.moves.length > 0;
    const facts = [];
    if (placed) facts.push(side === seen.hunter ? "hunter" : "runner");
    if (placed) facts.push(many(side === position.side ? seen.moves.length : seen.others, "move"));
    const below = side === (app.agent ? app.you : "w"); // you sit in front of the board
    const strip = $(below ? "strip-below" : "strip-above"), name = document.createElement("strong"), more = document.createElement("span");
    strip.classList.toggle("turn", turn);
    name.textContent = !app.agent ? NAMES[side] : mine ? `You (${NAMES[side]})` : `${app.opponents.name(app.agent)} (${NAMES[side]})`;
    more.textContent = `${turn ? (app.busy && !mine ? "thinking … " : "to move · ") : ""}${facts.join(" · ")}`;
    strip.innerHTML = `<span class="disc ${side}" aria-hidden="true"></span>${mine ? "" : app.opponents.face(app.agent)}`;
    strip.append(name, more);
  }
}

export const winnerOf = (app, seen) =>
  app.resigned ? other(app.resigned) : seen.moves.length ? null : other(app.tree.at.position.side);
