// The five studies: what they published, what was measured, and which of their claims hold.

import { el } from "../views/dom.js";
import { messageOf, table } from "./make.js";

/** @typedef {import("./server.js").Server} Server */

/** @typedef {{rate: number, low: number, high: number}} Rate a win rate in percent, with its interval */

/**
 * A study; its measured rates and verdicts are by budget.
 * @typedef {object} Study
 * @property {string} id
 * @property {string} title
 * @property {{heuristic: string, published: string, games: number, measured: Record<string, Rate>}[]} heuristics
 * @property {{sentence: string, where: string, verdicts: Record<string, {verdict: string, words: string}>}[]} claims
 */

/** @type {Record<string, string>} */
const TITLES = {
  course: "as the authors’ agents played",
  time: "at equal time",
  nodes: "at equal nodes",
  never: "nobody resigns",
};
/** @type {Record<string, string>} */
const MARKS = {
  holds: "✓",
  "does not hold": "✗",
  "cannot be told apart": "?",
  "not a claim that can be tested": "–",
};
/** The key of a verdict that no budget matters to. */
const ONCE = "once";

export class Studies {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    this.title = "Studies";
    this.place = el("section", { class: "lab", "data-view": "studies", "aria-labelledby": "h-studies", hidden: true });
    this.drawn = false;
    document.querySelector("main")?.append(this.place);
  }

  async show() {
    if (this.drawn) return;
    const message = el("p", { role: "status" }, "Reading them …");
    this.place.replaceChildren(el("h2", { id: "h-studies" }, "The five studies"), message);
    try {
      const found = await this.server.get("/api/studies");
      this.place.replaceChildren(...this.parts(found));
      this.drawn = true;
    } catch (error) {
      message.textContent = messageOf(error);
    }
  }

  /** @param {{studies: Study[], report: boolean, budgets: string[]}} found */
  parts({ studies, report, budgets }) {
    return [
      el("h2", { id: "h-studies" }, "The five studies"),
      el(
        "p",
        {},
        "Students published heuristics for this game, and claims about them, most on 70 to 140 games. ",
        budgets.length
          ? "Their tournaments were played again, with thousands of games each. "
          : "There is no report on them here. ",
        report ? el("a", { href: "/studies", target: "_blank", rel: "noopener" }, "The whole report") : "",
        report ? " opens in another tab." : "",
      ),
      ...studies.flatMap((study) => this.study(study, budgets)),
    ];
  }

  /**
   * @param {Study} study
   * @param {string[]} budgets
   */
  study(study, budgets) {
    const shown = budgets.filter((name) => study.heuristics.some((row) => row.measured[name]));
    /** @param {Rate | undefined} one */
    const rate = (one) => (one ? `${one.rate.toFixed(1)} (${one.low.toFixed(1)}–${one.high.toFixed(1)})` : "");
    /** @param {{verdict: string, words: string} | undefined} one */
    const verdict = (one) =>
      one ? el("span", { title: one.words }, `${MARKS[one.verdict] ?? ""} ${one.verdict}`) : "";
    return [
      el("h3", {}, study.title),
      table(
        `Win rates in %, ${study.id}`,
        ["Heuristic", "published", ...shown.map((name) => TITLES[name] ?? name)],
        study.heuristics.map((row) => [
          el("code", {}, row.heuristic),
          `${row.published} (${row.games} games)`,
          ...shown.map((name) => rate(row.measured[name])),
        ]),
      ),
      table(
        `Claims, ${study.id}`,
        ["Claim", ...budgets.map((name) => TITLES[name] ?? name)],
        study.claims
          .filter((claim) => !claim.verdicts[ONCE])
          .map((claim) => [
            el("span", { title: claim.where }, claim.sentence),
            ...budgets.map((name) => verdict(claim.verdicts[name])),
          ]),
      ),
      ...(study.claims.some((claim) => claim.verdicts[ONCE])
        ? [
            table(
              `Claims about cost, judgement and facts, ${study.id}`,
              ["Claim", "Verdict"],
              study.claims
                .filter((claim) => claim.verdicts[ONCE])
                .map((claim) => [el("span", { title: claim.where }, claim.sentence), verdict(claim.verdicts[ONCE])]),
            ),
          ]
        : []),
    ];
  }
}
