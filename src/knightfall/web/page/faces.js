// The opponents of the ladder: a face, a name, and how strong they are in plain words.

import { $ } from "./dom.js";

const WORDS = {
  Beginner: "moves at random",
  Casual: "thinks one turn ahead",
  "Club player": "thinks three turns ahead",
  "Course player": "thinks five turns ahead",
  Strong: "searches a few thousand positions",
  Expert: "searches fifty thousand positions",
  Perfect: "never lets go of a win",
};

/** A drawn face; the stronger, the sterner: brows come down, the smile goes, a crown at last. */
function face(rank, of) {
  const stern = of > 1 ? rank / (of - 1) : 0, hue = 150 - 150 * stern;
  const brow = 8 * stern, smile = 7 - 9 * stern, crown = rank === of - 1;
  const line = (path) => `<path d="${path}" fill="none" stroke="#2a2420" stroke-width="3" stroke-linecap="round"/>`;
  return `<svg viewBox="0 0 64 64" aria-hidden="true"><circle cx="32" cy="36" r="24" fill="hsl(${hue} 45% 72%)"/>` +
    `${crown ? '<path d="M16 16l6 6 10-14 10 14 6-6-3 14H19z" fill="#e2a91c" stroke="#2a2420" stroke-width="2"/>' : ""}` +
    `<circle cx="24" cy="34" r="3"/><circle cx="40" cy="34" r="3"/>` +
    line(`M19 ${25 - brow / 4}L28 ${25 + brow / 1.6}`) + line(`M45 ${25 - brow / 4}L36 ${25 + brow / 1.6}`) +
    `${line(`M22 47Q32 ${47 + smile} 42 47`)}</svg>`;
}

export class Opponents {
  /** `ladder` has the rows {name, agent, elo, error, usual}, the weakest first. */
  constructor(ladder) {
    this.ladder = ladder;
  }

  /** What to call an agent: by its name on the ladder, else by what it is. */
  name(agent) {
    return this.ladder.find((row) => row.agent === agent.text)?.name ?? agent.text;
  }

  face(agent) {
    const rank = this.ladder.findIndex((row) => row.agent === agent?.text);
    return rank < 0 ? "" : face(rank, this.ladder.length);
  }

  /** Fill the dialog: a card for each, and the list that also has the others. */
  offer() {
    const options = this.ladder.map((row) => new Option(row.name, row.agent, row.usual, row.usual));
    $("opponent").prepend(...options);
    $("faces").replaceChildren(...this.ladder.map((row, rank) => this.card(row, rank)));
    $("opponent").addEventListener("change", () => this.choose($("opponent").value));
    this.choose($("opponent").value);
  }

  card(row, rank) {
    const card = document.createElement("button"), told = document.createElement("span");
    const rating = `${row.elo > 0 ? "+" : ""}${Math.round(row.elo)} ± ${Math.round(row.error)} Elo`;
    card.type = "button";
    card.className = "face";
    card.dataset.agent = row.agent;
    card.title = `${row.agent}, ${rating}`;
    card.innerHTML = face(rank, this.ladder.length);
    told.innerHTML = "<strong></strong><small></small>";
    told.firstChild.textContent = row.name;
    told.lastChild.textContent = WORDS[row.name] ?? row.agent;
    card.append(told);
    card.addEventListener("click", () => this.choose(row.agent));
    return card;
  }

  /** Choose an agent of the list, or "own" with a text of one's own. */
  choose(agent) {
    $("opponent").value = agent;
    $("agent-row").hidden = agent !== "own";
    for (const card of $("faces").children) card.setAttribute("aria-pressed", String(card.dataset.agent === agent));
  }
}
