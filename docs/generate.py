"""Write the pages of docs/ that are made from the code: ``make docs``.

The tests fail when a page differs from what this makes.
"""

from __future__ import annotations

from pathlib import Path

from knightfall.agents import AGENT_KINDS, COURSE, COURSE_NODES
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.registry import CODED, LEARNED, Declared, canonical, printed_groups
from knightfall.studies.published import studies
from knightfall.studies.study_files import WISHED

HERE = Path(__file__).parent


def _row(row: Declared, study: str = "") -> str:
    name = f"{row.id}({row.parameter})" if row.parameter else row.id
    formula = row.formula.replace("|", "\\|")
    return f"| `{name}` |{study} {formula} | {row.summary} |"


def heuristics_page() -> str:
    """docs/heuristics.md, from the registry."""
    lines = [
        "# Every published heuristic",
        "",
        "Made from the registry by `make docs`; `knightfall heuristics` prints the same.",
        "",
        "`me` is the player evaluated, `opp` the other. *open*: never visited, not occupied.",
        "moves(p): the open cells a knight's move from p; M(p) = |moves(p)|; deg(x) = M of a cell;",
        "open8(p): the open cells among the up to eight that touch p; L1: Manhattan distance;",
        "phase: open cells / all cells; C* = (H/2, W/2), the course's half-a-cell-off centre;",
        "C = ((H−1)/2, (W−1)/2), the true one; ω(r, c) falls from 1 in the centre to ¼ in the",
        "corners; δ(p, x): knight distance on the empty board; d(p, x): knight distance through",
        "open cells; d(p): Euclidean distance to C*; k: the centre cell of the least-blocked",
        "window, a quarter of the board; corners(p): corner cells in moves(p).",
        "",
        "Heuristics add up and scale in the id: `near_opponent+bfs_reach`, `2*open-improved`,",
        "`static_reach(1/3)+1/2*open`. They change as the board fills: `phase*` and `(1-phase)*`",
        "multiply a term (`phase*near_edges+(1-phase)*near_center+bfs_reach`: edges first, centre",
        "later), and `stage(0.7: improved, 0.2: open_space_difference, longest_win)` is the first",
        "while the phase is at least 0.7, the second while it is at least 0.2, then the third.",
        "Stages may hold sums, and stand in one, but not in another stage. All of it works",
        "wherever an id does, with your own functions inside, too, and `knightfall learn tune`",
        "finds weights and thresholds ([learning.md](learning.md#weights-by-play)).",
    ]
    introductions = {"course": "What the course hands out; the baseline of every study."}
    introductions |= {study.id: study.introduction for study in studies().values()}
    for study, introduction in introductions.items():
        lines += ["", f"## {study}", "", introduction, ""]
        lines += ["| id | value | in words |", "|---|---|---|"]
        lines += [_row(row) for row in REGISTRY.values() if row.study == study and not row.coded]
    lines += [
        "",
        "## As coded",
        "",
        "Where a study's program differs from its words, the words have the plain id and the",
        "program's version one that begins with `coded:`. It is for playing the studies again as",
        "their authors did: `--heuristic all` and the studies' league leave it out. phase*: open",
        "cells / those open at the root of the search; only a search that imitates the students'",
        "counts these, in any other, and in `eval`, phase* is 1.",
        "",
        "| id | study | value | in words |",
        "|---|---|---|---|",
    ]
    lines += [_row(row, f" {row.study} |") for row in REGISTRY.values() if row.coded]
    lines += [
        "",
        "## The authors' names",
        "",
        "Every name that a study prints for a heuristic works wherever an id does and is stored as",
        "the id: `staged:heuristic1`, `2*reachability:bfs_score-open`. The study may be left out",
        "where no other one means something else by the name: `heuristic1`. `knightfall heuristics",
        "custom_score` tells all studies' meanings. (The browser's page knows the ids only.)",
        "",
        "| study | printed as | id | the program's, if it differs |",
        "|---|---|---|---|",
    ]
    for study, names in printed_groups().items():
        for name, id in names.items():
            whole = "" if canonical(name) else f"{study}:"
            coded = f"`{CODED}{id}`" if f"{CODED}{id}" in REGISTRY else ""
            lines.append(f"| {study} | `{whole}{name}` | `{id}` | {coded} |")
    lines += [
        "",
        "## Learned",
        "",
        "Not published by a study but learned here, from the solver's truth: see",
        "[learning.md](learning.md). x: counts of cells; the value is a",
        "logarithm of odds.",
        "",
        "| id | value | in words |",
        "|---|---|---|",
    ]
    lines += [_row(row) for row in REGISTRY.values() if row.study == LEARNED]
    lines += [
        "",
        "## Wishes",
        "",
        "Not published: the author of the staged study measured the longest way to win and hoped",
        "for the shortest. In a continuation both sides move as they please; of lengths n the",
        "value is W·H − n, so that shorter is better. 1,000 steps, what a leaf of a search may",
        "take, sufficed in all 826 positions of 30 random games on 7×7; where steps do not",
        "suffice, no win is shorter than the value says.",
        "",
        "| id | value | in words |",
        "|---|---|---|",
    ]
    lines += [_row(row) for row in REGISTRY.values() if row.study == WISHED]
    return "\n".join(lines) + "\n"


def agents_page() -> str:
    """docs/agents.md, from the table of kinds and the course's names."""
    lines = [
        "# Agents are strings",
        "",
        "Made from the code by `make docs`; `knightfall agents` prints the same.",
        "",
        "| kind | what it does | for example |",
        "|---|---|---|",
    ]
    lines += [f"| `{k.kind}` | {k.summary} | `{k.example}` |" for k in AGENT_KINDS.values()]
    lines += [
        "",
        "- The heuristic comes first: any id of [heuristics.md](heuristics.md), a sum of them, or",
        "  your own `file.py:function`. A heuristic alone, such as `mine.py:cosy`, is short for",
        "  `id(mine.py:cosy)`; `mine.py:cosy@HEAD` is what it was at a git revision.",
        "- A budget says how much a move may cost: `depth=5`, `nodes=2500` or `time=150ms`. Depth",
        "  and nodes are deterministic; time is not. Given together, whichever is met first ends",
        "  the search.",
        f"- {COURSE_NODES:,} nodes are a low estimate of what the course's pure-Python agents got",
        "  out of their 150 ms on the machines of 2017. On one of today, agents that students",
        "  handed in and that use their time visit a median of about 10,600 from an opening",
        "  (4,000 to 21,200).",
        "- `student` plays as the course's agents did, mistakes included; its time is counted, not",
        "  measured. [students.md](students.md) has its parts.",
        "- `course` plays what somebody handed in, in a process of its own: `course:PATH` for",
        "  short, by a clock that counts calls of `time_left()`; `clock=wall` or a `time` without",
        "  `clock=ticks` is real time. [course.md](course.md) has more.",
        "- `plain` (for `id`) deepens as the course's agents do: no table, no ordering, no",
        "  separation.",
        "- `swindle` (for `perfect`) plays a lost position not for length but for mistakes: the",
        "  move after which its opponent, judged by its moves in this game, would most often go",
        "  wrong. `champion` does that, too, and searches with a learned heuristic where it",
        "  cannot know. Either plays the same game the same way, but a position also by how it",
        "  came about.",
        "  [learning.md](learning.md) has what that is worth.",
        "- `seed=3` breaks ties among equal moves another way. Same seed, same position: the same",
        "  move on every machine (time budgets aside).",
        "",
        "## Each game begins afresh",
        "",
        "For every kind of agent, in every command that plays games: a game begins with nothing",
        "remembered of any other, and each side keeps its own state from move to move. So results",
        "are the same for any number of workers and any order of games (time budgets aside).",
        "",
        "- `python(mine.py:choose)` names a function. A process loads the file once, and each game",
        "  and side is played by a fork of it: module globals are as loading has left them. A",
        "  module that starts threads while it is loaded cannot be forked; it is loaded for each",
        "  game instead, which is slower. NumPy's and PyTorch's linear algebra has one thread,",
        "  unless `OMP_NUM_THREADS`, `OPENBLAS_NUM_THREADS` or `MKL_NUM_THREADS` says otherwise.",
        "- `python(mine.py:Player)` names a class. Each game and side makes one instance,",
        "  `Player()`, and asks its method `choose(position)`; an instance without `choose` is",
        "  called. A method `new_game()`, if there is one, is called once, without arguments,",
        "  after the instance was made and before the first move. Neither is on the clock. Before",
        "  a run a game is begun and ended once, so that an error is found at once.",
        "- `course` loads the submission in a fresh process for each game and side.",
        "- A compiled heuristic has no state: a global is what it was when it was compiled. One",
        "  that runs as plain Python is played by a fork for each game, as a `python` agent. One",
        "  declared in a notebook is asked there, and what it remembers is yours to clear.",
        "- `perfect` and `champion` keep proofs, trials and what they think of the opponent for",
        "  one game. All other searches begin each move with an empty table.",
        "- `random` and `numpy.random` are seeded before each game, by the pair's seed and the",
        "  side; while a file is loaded, by 0. Sets of strings have the same order in every game.",
        "  A generator made without a seed, as by `numpy.random.default_rng()`, is not repeatable.",
        "- Processes that a game has started end with it, unless they left its process group.",
        "  Files that an agent wrote stay.",
        "",
        '`kf.agent("python(mine.py:choose)").choose(position)` asks such a process, too. There,',
        "and in `play` and the lab, a position that comes two plies after the last one, for the",
        "same side, goes on with its game; any other begins one.",
        "",
        "## The course's names",
        "",
        "In a tournament a bare name is that of its protocol; elsewhere, or where that has none of",
        "the name, it means the first group below that has it. `2017a:AB_Open` or",
        "`aggressive:AB_Custom_2` says which, and a tournament that mixes protocols says so. A",
        "budget or a seed may be changed: `AB_Improved(time=150ms)`. Fixed-depth agents keep their",
        "depth: `2017a:AB_Improved(time=150ms)` is `alphabeta(improved, depth=5, time=150ms)`. It",
        "plays a legal move that it has not weighed if time is up before the depth is done. The",
        "names the course left to its students take a heuristic: `AB_Custom(mine.py:score)`,",
        "`Student(mine.py:score)`; without one, commands say whose they play.",
    ]
    for group, names in COURSE.items():
        lines += ["", f"**{group}**", "", "| name | stands for |", "|---|---|"]
        for name, agent in names.items():
            lines.append(
                f"| `{name}` | `{agent}` |"
                if agent.heuristic or agent.kind == "random"
                else f"| `{name}(…)` | `id(…, nodes={COURSE_NODES}, plain)` |"
            )
    return "\n".join(lines) + "\n"


PAGES = {"heuristics.md": heuristics_page, "agents.md": agents_page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
