"""``knightfall agents`` and ``grade``: the kinds of agents, and how well one plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.options import (
    Chart,
    Dask,
    Force,
    Json,
    Workers,
    agent_argument,
    agent_named,
    chart_writer,
    whole_number,
)
from knightfall.cli.terminal import INTERRUPTED, print_json, print_report, say
from knightfall.display.report import print_parts
from knightfall.display.table import Table

if TYPE_CHECKING:
    from knightfall.agents import Agent


def agents(json: Json = False) -> None:
    """List the kinds of agents and the course's names.

    An agent is a string: a kind, a heuristic, a budget (depth=5, nodes=2500, time=150ms) and
    perhaps seed=N, which breaks ties.  Course names stand for such strings; 2017a:AB_Open picks
    the protocol when a name is in more than one.

    \b
    Examples:
      knightfall agents
      knightfall analyse --agent "id(bfs_reach, time=2s)" "7/7/1N5/7/7/4n2/7 w"
    """
    from knightfall.agents import AGENT_KINDS, COURSE

    kinds = [
        {
            "kind": kind.kind,
            "summary": kind.summary,
            "example": kind.example,
            "budgets": list(kind.budgets),
            "default": str(kind.default),
        }
        for kind in AGENT_KINDS.values()
    ]
    names = {
        group: {name: _expansion(agent) for name, agent in members.items()}
        for group, members in COURSE.items()
    }
    if json:
        print_json({"kinds": kinds, "names": names})
        return
    of_kinds = Table(["kind", "what it does", "example"], labels=3)
    for kind in AGENT_KINDS.values():
        of_kinds.add(kind.kind, kind.summary, kind.example)
    of_names = Table(["from", "name", "is short for"], labels=3)
    for group, members in names.items():
        for number, (name, agent) in enumerate(members.items()):
            of_names.add("" if number else group, name, agent)
    print_parts([of_kinds, "", of_names])


def _expansion(agent: Agent) -> str:
    """What a name stands for; some leave the heuristic to the student."""
    if not agent.argument or agent.heuristic:
        return str(agent)
    return str(agent).replace("(", "(your heuristic, ", 1)


# -- grade ------------------------------------------------------------------------------------


Who = Annotated[str, agent_argument("AGENT", "Who is graded.")]
Openings = Annotated[
    int, whole_number("--openings", "Games to play, each from another opening.", least=0)
]
Seed = Annotated[int, whole_number("--seed", "Which openings are drawn.", least=0, metavar="S")]
Size = Annotated[str, typer.Option("--board", metavar="WxH", help="The board.")]


def grade(
    agent: Who,
    openings: Openings = 50,
    seed: Seed = 0,
    board: Size = "7x7",
    workers: Workers = None,
    dask: Dask = None,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Grade an agent against the exact truth.

    The agent plays itself from random openings, and the solver judges every move.  What counts is
    how often a won position is kept won where there was a real choice: some moves win, some lose.
    "At random" is what random moves would have kept in the same positions.  Intervals take
    decisions for independent; the standard error knows that those of one game are not, nor those
    of games from mirrored openings.

    A hunter can take escape cells from the other knight, a runner cannot.  In the opening more
    than two thirds of the board are open, in the end not more than a third.

    The second table sorts positions by the agent's own score, proven ones apart, and tells how
    many are really won.  AUC is the chance that a won position scores above a lost one: 1 is an
    oracle, 0.5 a coin.

    The seed draws the openings, those that a match of that seed plays first, and nothing else.
    Same seed, same numbers, whoever plays: this process, workers or a Dask cluster; only time
    budgets do not repeat.

    \b
    Examples:
      knightfall grade "id(improved, nodes=2500)"
      knightfall grade AB_Open --openings 200 --workers 2 --chart grade.svg
      knightfall grade "greedy(mine.py:cosy)" --board 6x6 --json
    """
    from knightfall.oracle.grade import grade as judge

    draw = chart_writer(chart, force)
    who = agent_named(agent, quiet=json)
    result = judge(who, openings=openings, seed=seed, board=board, workers=workers, dask=dask)
    draw(result)
    print_report(result, json=json)
    if result.partial:
        say(f"knightfall: interrupted after {result.games} of {result.openings} games")
        raise typer.Exit(INTERRUPTED)
