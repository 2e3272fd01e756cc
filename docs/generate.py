"""Write the pages of docs/ that are made from the code: ``make docs``.

The tests fail when a page differs from what this makes.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import knightfall as kf
from knightfall.agents import AGENT_KINDS, COURSE, COURSE_NODES
from knightfall.display.numbers import interval
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
    """Return docs/heuristics.md, made from the registry."""
    lines = [
        "# Every published heuristic",
        "",
        "`make docs` writes this page from the registry; `knightfall heuristics` prints the same.",
        "",
        "`me` is the evaluated player, `opp` the other. *open*: never visited, not occupied.",
        "moves(p): the open cells a knight's move from p; M(p) = |moves(p)|; deg(x) = M of a cell;",
        "open8(p): the open cells among the up to eight that touch p; L1: Manhattan distance;",
        "phase: open cells / all cells; C* = (H/2, W/2), the course's centre, off by half a cell;",
        "C = ((H−1)/2, (W−1)/2), the true one; ω(r, c) falls from 1 in the centre to ¼ in the",
        "corners; δ(p, x): knight distance on the empty board; d(p, x): knight distance through",
        "open cells; d(p): Euclidean distance to C*; k: the centre cell of the least-blocked",
        "window, a quarter of the board; corners(p): corner cells in moves(p).",
        "",
        "An id may be a sum with factors: `near_opponent+bfs_reach`, `2*open-improved`,",
        "`static_reach(1/3)+1/2*open`. A term may change as the board fills: `phase*` and",
        "`(1-phase)*` multiply it (`phase*near_edges+(1-phase)*near_center+bfs_reach`: edges",
        "first, centre later). `stage(0.7: improved, 0.2: open_space_difference, longest_win)` is",
        "the first heuristic while the phase is at least 0.7, the second while it is at least 0.2,",
        "then the third. A stage may contain sums and be part of one, but not contain a stage. All",
        "this works wherever an id does, also with your own functions; `knightfall learn tune`",
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
        "Where a study's program differs from its words, the plain id means the words, and an id",
        "that begins with `coded:` means the program. Use it to play the studies again as their",
        "authors did; `--heuristic all` and the studies' league leave it out. phase*: open cells /",
        "cells that were open at the root of the search. Only a search that imitates the students'",
        "agents knows the latter; in any other, and in `eval`, phase* is 1.",
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
        "the id: `staged:heuristic1`, `2*reachability:bfs_score-open`. You may omit the study if",
        "no other study uses the name for something else: `heuristic1`. `knightfall heuristics",
        "custom_score` lists the meanings in all studies. (The page in the browser knows only",
        "ids.)",
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
        "Not published by a study but learned here, from positions with their truth: see",
        "[learning.md](learning.md). x: what can be counted on the board; the value is the",
        "logarithm of the odds of winning.",
        "",
        "| id | value | in words |",
        "|---|---|---|",
    ]
    lines += [_row(row) for row in REGISTRY.values() if row.study == LEARNED]
    lines += [
        "",
        "## Wishes",
        "",
        "Not published: the author of the staged study measured the longest way to win and wished",
        "for the shortest. In a continuation both sides move freely; for a length n the value is",
        "W·H − n, so shorter is better. 1,000 steps, the limit for a leaf of a search, sufficed in",
        "all 826 positions of 30 random games on 7×7. If steps do not suffice, no win is shorter",
        "than the value says.",
        "",
        "| id | value | in words |",
        "|---|---|---|",
    ]
    lines += [_row(row) for row in REGISTRY.values() if row.study == WISHED]
    return "\n".join(lines) + "\n"


def agents_page() -> str:
    """Return docs/agents.md, made from the table of kinds and the course's names."""
    lines = [
        "# Agents are strings",
        "",
        "`make docs` writes this page from the code; `knightfall agents` prints the same. The",
        "[glossary](glossary.md#agents) explains agent, budget, node and other words.",
        "",
        "| kind | what it does | for example |",
        "|---|---|---|",
    ]
    lines += [f"| `{k.kind}` | {k.summary} | `{k.example}` |" for k in AGENT_KINDS.values()]
    lines += [
        "",
        "- The heuristic comes first: any id of [heuristics.md](heuristics.md), a sum of them, or",
        "  your own `file.py:function`. A heuristic alone, such as `mine.py:cosy`, is short for",
        "  `id(mine.py:cosy)`; `mine.py:cosy@HEAD` is its version at a git revision.",
        "- A budget limits the cost of a move: `depth=5`, `nodes=2500` or `time=150ms`. Depth and",
        "  nodes are deterministic; time is not. With several, the first one reached ends the",
        "  search.",
        f"- {COURSE_NODES:,} nodes are a low estimate of what the course's pure-Python agents",
        "  reached in their 150 ms on the machines of 2017. On a machine of today, submissions",
        "  that use their time visit a median of about 10,600 nodes from an opening (4,000 to",
        "  21,200).",
        "- `student` plays as the course's agents did, mistakes included; its time is counted, not",
        "  measured. [students.md](students.md) lists its options.",
        "- `course` plays a submission in its own process; `course:PATH` is its short form. Its",
        "  clock counts calls of `time_left()`; `clock=wall`, or a `time` without `clock=ticks`,",
        "  is real time. [course.md](course.md) explains it.",
        "- `uci` and `engine` are other programs: `uci(COMMAND, time=100ms)` speaks UCI, as",
        "  Fairy-Stockfish does, and `engine(COMMAND, time=100ms)` a protocol that is easy to",
        "  implement. The command may have arguments. [engines.md](engines.md) explains both.",
        "- `plain` (for `id`) deepens as the course's agents do: no table, no ordering, no",
        "  separation.",
        "- `swindle` (for `perfect`) plays a lost position for the opponent's mistakes, not for",
        "  length: it chooses the move after which this opponent, judged by its moves in this",
        "  game, goes wrong most often. `champion` does the same, and where the winner is unknown",
        "  it searches with a learned heuristic. Both play the same game in the same way, but",
        "  their move in a position also depends on the moves before it.",
        "  [learning.md](learning.md) measures both.",
        "- `openspiel` plays a bot of OpenSpiel; `pip install 'knightfall[openspiel]'` brings it.",
        "  [openspiel.md](openspiel.md) explains its options and how to play a bot of your own.",
        "- `seed=3` changes how ties among equal moves are broken. The same seed and position give",
        "  the same move on every machine (except with time budgets).",
        "",
        "## Each game begins afresh",
        "",
        "An agent of any kind begins each game without memory of other games, in every command,",
        "and each side keeps its own state from move to move. So results do not depend on the",
        "number of workers or the order of games (except with time budgets).",
        "",
        "- `python(mine.py:choose)` names a function. One process loads the file once, and each",
        "  game and side is played by a fork of it: module globals are as they were after loading.",
        "  A module that starts threads while it is loaded cannot be forked; it is loaded for each",
        "  game instead, which is slower. NumPy's and PyTorch's linear algebra has one thread,",
        "  unless `OMP_NUM_THREADS`, `OPENBLAS_NUM_THREADS` or `MKL_NUM_THREADS` says otherwise.",
        "- `python(mine.py:Player)` names a class. Each game and side creates one instance,",
        "  `Player()`, and calls its method `choose(position)`; an instance without `choose` is",
        "  called itself. An optional method `new_game()` is called once, without arguments, after",
        "  the instance is created and before the first move. Neither is on the clock. Before a",
        "  run one game is begun and ended, so that errors appear at once.",
        "- `course` loads the submission once, too, and plays each game and side by a fork.",
        "  Without a sandbox, where processes of a game might outlive it, it is loaded for",
        "  each game.",
        "- `uci` and `engine` start their program anew for each game and side.",
        "- A compiled heuristic has no state: a global has the value it had when it was compiled.",
        "  A heuristic that runs as plain Python is played by a fork for each game, like a",
        "  `python` agent. One that is declared in a notebook runs there; you must clear its state",
        "  yourself.",
        "- `perfect` and `champion` keep proofs, trials and their beliefs about the opponent for",
        "  one game. All other searches begin each move with an empty table.",
        "- `random` and `numpy.random` are seeded before each game, by the pair's seed and the",
        "  side; while a file is loaded, by 0. Sets of strings have the same order in every game.",
        "  A generator without a seed, such as `numpy.random.default_rng()`, does not repeat.",
        "- Processes that a game started end with it (without a sandbox, unless they left its",
        "  process group). If a game leaves files in its scratch copy or in `/dev/shm`, other than",
        "  bytecode and Numba's cache, the next game gets a new process and finds none of them.",
        "  Without a sandbox, files that an agent wrote elsewhere stay.",
        "- `python(mine.py:choose, in_process)` is called by the process that plays: much faster,",
        "  for code that you trust ([security.md](security.md#what-you-cannot-rely-on)). `match`,",
        "  `tournament`, `league` and `grade` have the option `--in-process`. Globals of the",
        "  module last from game to game there; random numbers and instances begin afresh.",
        "",
        '`kf.agent("python(mine.py:choose)").choose(position)` uses such a process, too. There,',
        "and in `play` and the lab, a position two plies after the last one, for the same side,",
        "continues its game; any other position begins a new one.",
        "",
        "## The course's names",
        "",
        "In a tournament a bare name belongs to its protocol. Elsewhere, or if the protocol does",
        "not have the name, it means the first group below that has it. `2017a:AB_Open` or",
        "`aggressive:AB_Custom_2` is explicit, and a tournament that mixes protocols says so. You",
        "may change a budget or a seed: `AB_Improved(time=150ms)`. Fixed-depth agents keep their",
        "depth: `2017a:AB_Improved(time=150ms)` is `alphabeta(improved, depth=5, time=150ms)`. If",
        "time is up before the depth is done, it plays a legal move that it has not evaluated. The",
        "names that the course left to its students take a heuristic: `AB_Custom(mine.py:score)`,",
        "`Student(mine.py:score)`; without one, commands say whose heuristic they play.",
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


def leaderboard_page() -> str:
    """Return docs/leaderboard.md, made from docs/leaderboard.json (``make leaderboard``)."""
    found = json.loads((HERE / "leaderboard.json").read_text(encoding="utf-8"))
    names = list(found["scores"][0]["keeps"])
    lines = [
        "# Leaderboard: wins kept",
        "",
        f"Each agent was asked the same {found['positions']:,} positions on "
        f"{found['board'].replace('x', '×')}. In each one the side to move",
        "wins with best play, and some of its moves lose. The numbers say in how many per cent of",
        "these positions the agent chose a winning move, with the 95 % interval: overall, as",
        "[hunter and runner](game.md#hunter-and-runner), and in the three parts of the game.",
        "Intervals allow for positions from one class of openings being related. All agents have",
        "the same positions, so chance separates two agents less than their intervals suggest.",
        "",
        "`make leaderboard` writes this page. It makes the positions and asks the agents:",
        "",
        "```sh",
        "knightfall learn data positions --positions 60000 --board 7x7 --workers 2",
        "knightfall learn leaderboard positions --workers 2",
        "```",
        "",
        "The second command scores your own agent on the same positions:",
        "",
        "```sh",
        'knightfall learn leaderboard positions "id(mine.py:cosy)" "python(mine.py:choose)"',
        "```",
        "",
        f"|  | agent | {' | '.join(names)} |",
        f"|---:|---|{'---:|' * len(names)}",
    ]
    for place, score in enumerate(found["scores"], start=1):
        cells = [
            f"{100 * one['rate']:.1f} ({interval(one['low'], one['high'])})"
            for one in (score["keeps"][name] for name in names)
        ]
        lines.append(f"| {place} | `{score['agent']}` | {' | '.join(cells)} |")
    keeps = found["scores"][0]["keeps"]
    chances = " | ".join(f"{100 * keeps[name]['at_random']:.1f}" for name in names)
    numbers = " | ".join(f"{keeps[name]['of']:,}" for name in names)
    lines += [f"|  | at random | {chances} |", f"|  | positions | {numbers} |"]
    return "\n".join(lines) + "\n"


# -- the reference of the Python API -------------------------------------------------------------

MEMBERS = {
    "Agent": ("name", "prepare", "choose", "analyse"),
    "Evaluator": ("value", "measure"),
}
"""Members of classes whose others are for kinds of agents and for searches."""


def public_names() -> dict[str, Any]:
    """Return all names of the package, its functions first."""
    found = {name: getattr(kf, name) for name in dir(kf)}
    return dict(sorted(found.items(), key=lambda item: isinstance(item[1], type)))


def result_classes() -> list[type]:
    """Return the classes of results that functions return, and those of a run's games."""
    from knightfall.arena.reports import KINDS, RunList
    from knightfall.arena.stored_games import Games, PlayedGame

    return [*KINDS.values(), Games, PlayedGame, RunList]


def sections(function: Any) -> tuple[str, dict[str, str], str]:
    """Return the text of a docstring, its arguments, and its example."""
    text, _, example = (inspect.getdoc(function) or "").partition("\nExample:\n")
    text, _, listed = text.partition("\nArgs:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", listed, re.MULTILINE)
    arguments = {name: re.sub(r"\s+", " ", about) for name, about in entries}
    return _single_spaced(text.strip()), arguments, textwrap.dedent(example).rstrip()


def members(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public members of a class as they are written, with the beginning of their docs."""
    for name, value in inspect.getmembers(kind):
        owner = next((one for one in kind.__mro__ if name in vars(one)), kind)
        chosen = not name.startswith("_") and name in MEMBERS.get(kind.__name__, (name,))
        if not chosen or not owner.__module__.startswith("knightfall"):
            continue
        if not vars(owner)[name].__doc__ and inspect.getdoc(value):
            continue  # its base class describes it
        if inspect.isfunction(value) or inspect.ismethod(value):
            signature = inspect.signature(value)
            given = [one for one in signature.parameters.values() if one.name != "self"]
            plain = [one.replace(annotation=one.empty) for one in given]
            written = f"{name}{signature.replace(parameters=plain, return_annotation='')}"
            written = written.removesuffix(" -> ''")
            yield written, _first_paragraph(inspect.getdoc(value))
        elif isinstance(value, property) or hasattr(value, "func"):
            yield name, _first_paragraph(inspect.getdoc(value))


def fields_of(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a dataclass with their types, and the docs below each of them."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    for field, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and not ast.unparse(field.target).startswith("_"):
            documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            about = str(after.value.value) if documented else ""
            if "ClassVar" not in ast.unparse(field.annotation):
                yield (
                    f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}",
                    _first_paragraph(inspect.cleandoc(about)),
                )


def _single_spaced(text: str) -> str:
    """Return a text with one space after each sentence."""
    return text.replace(".  ", ". ").replace(":  ", ": ")


def _first_paragraph(text: str | None) -> str:
    return re.sub(r"\s+", " ", (text or "").split("\n\n")[0]).replace("|", "\\|")


def _function(name: str, function: Any) -> Iterator[str]:
    """Yield the lines about a function: its signature, text, arguments and example."""
    text, arguments, example = sections(function)
    signature = inspect.signature(function)
    given = [_parameter(one) for one in signature.parameters.values()]
    keywords = [one.kind is one.KEYWORD_ONLY for one in signature.parameters.values()]
    if True in keywords:
        given.insert(keywords.index(True), "*")
    returned = str(signature.return_annotation)
    yield from ["", f"### kf.{name}", "", "```text", f"{name}("]
    yield from [*(f"    {one}," for one in given), f") -> {returned}", "```", "", text]
    yield from ["", *(f"- `{one}`: {about}" for one, about in arguments.items())] * bool(arguments)
    yield from ["", "```pycon", example, "", "```"]


def _parameter(one: inspect.Parameter) -> str:
    """Return a parameter with its type and default, as in ``pairs: int = 100``."""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {one.annotation}{default}"


def _class(called: str, kind: type) -> Iterator[str]:
    """Yield the lines about a class: its text, fields and members."""
    yield from ["", f"### {called}", "", _single_spaced(inspect.getdoc(kind) or "")]
    rows = [*(fields_of(kind) if hasattr(kind, "__dataclass_fields__") else ()), *members(kind)]
    yield from ["", "| member | |", "|---|---|"] if rows else []
    for written, about in rows:
        if about.startswith("See `"):
            continue
        safe = written.replace("|", "\\|")
        yield f"| `{safe}` | {about} |"


def reference_page() -> str:
    """Return docs/api-reference.md, made from the docstrings."""
    lines = [
        "# The Python API: reference",
        "",
        "`make docs` writes this page from the docstrings; `help(kf.match)` shows the same. Read",
        "[api.md](api.md) first.",
        "",
        "```pycon",
        ">>> import knightfall as kf",
        "",
        "```",
        "",
        "## Functions",
    ]
    named = public_names()
    for name, value in named.items():
        if not isinstance(value, type):
            lines += _function(name, value)
    lines += ["", "## Classes"]
    for name, value in named.items():
        if isinstance(value, type):
            lines += _class(f"kf.{name}", value)
    lines += ["", "## Results of runs"]
    for kind in result_classes():
        lines += _class(kind.__name__, kind)
    return "\n".join(lines) + "\n"


PAGES = {
    "heuristics.md": heuristics_page,
    "agents.md": agents_page,
    "leaderboard.md": leaderboard_page,
    "api-reference.md": reference_page,
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
