// The card at the end of a game: who won and why, what was true from the start, and what decided it.

import { $ } from "./dom.js";
import { hasWin } from "./marks.js";
import { nameOf, POCKET } from "./notation.js";
import { winnerOf } from "./strips.js";
import { NAMES, other } from "./words.js";

export class Ending {
  constructor(app) {
    this.app = app;
    this.shownFor = null;
  }

  /** Show the card if the game that is looked at is over, and hide it if it is not. */
  async draw(seen) {
    const { app } = this, node = app.tree.at, won = winnerOf(app, seen);
    $("end").hidden = !won || app.mode === "analyse"; // which has more to say
    if (!won) {
      this.shownFor = null;
      return;
    }
    const key = `${app.resigned ?? ""}${app.address}`;
    if (this.shownFor === key) return;
    this.shownFor = key;
    const title = !app.agent ? `${NAMES[won]} won` : won === app.you ? "You won" : `${app.opponents.name(app.agent)} won`;
    const why = app.resigned ? `${NAMES[app.resigned]} resigned.` : `${NAMES[other(won)]}’s knight has no cell left to go to.`;
    this.fill(title, [why]);
    try {
      const told = await this.judge(app.tree.line(node));
      if (this.shownFor === key) this.fill(title, [why, ...told.words], told.mistake);
    } catch (error) {
      app.failed(error);
    }
  }

  /** What was true from the start, and the last move of yours (or of the loser) that threw a win away. */
  async judge(line) {
    const { app } = this, moves = line.filter(({ parent }) => parent.position.black !== POCKET && parent.position.white !== POCKET);
    const whose = app.agent ? app.you : other(winnerOf(app, app.seen)), words = [];
    let mistake = null, from = null;
    for (const node of moves) {
      const { position } = node.parent, truth = await app.verdicts(position);
      from ??= hasWin(truth) ? position.side : other(position.side);
      if (position.side === whose && truth[node.cell] && !truth[node.cell].wins && hasWin(truth)) {
        const better = Object.keys(truth).filter((cell) => truth[cell].wins).map((cell) => nameOf(position, Number(cell)));
        mistake = { node, better };
      }
    }
    if (from) {
      words.push(!app.agent ? `From the start, ${NAMES[from]} could have won.`
        : from === app.you ? "From the start, this game was won for you." : "From the start, this game was lost for you against best play.");
    }
    if (mistake) {
      const { node, better } = mistake, who = app.agent ? "Your" : `${NAMES[whose]}’s`;
      words.push(`${who} last mistake: ${nameOf(node.position, node.cell)} at move ${app.tree.line(node).length}; ${better.join(", ")} kept the win.`);
    }
    return { words, mistake };
  }

  fill(title, words, mistake = null) {
    const { app } = this, card = $("end"), heading = document.createElement("h2");
    heading.textContent = title;
    const parts = words.map((text) => Object.assign(document.createElement("p"), { textContent: text }));
    if (mistake) {
      const board = document.createElement("knight-board"), { parent, cell } = mistake.node;
      board.inert = true;
      board.show({ position: parent.position, marks: { [cell]: { text: "✗", kind: "lost", told: "" } } });
      parts.push(board);
    }
    const buttons = Object.assign(document.createElement("p"), { className: "buttons" });
    const offers = [
      ["Rematch", () => app.rematch(app.you)], ["Other side", () => app.rematch(other(app.you))],
      ["Review", () => app.reviewGame()], ["Share", () => app.copy(location.href, "The link")],
    ];
    for (const [text, doing] of app.agent ? offers : offers.slice(2)) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      button.addEventListener("click", doing);
      buttons.append(button);
    }
    card.replaceChildren(heading, ...parts, buttons);
  }
}
