"""``knightfall agents`` and ``grade``: list the kinds of agents; grade an agent by exact values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.arena_options import InProcess
from knightfall.cli.options import (
    BoardSize,
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

    An agent is a string: a kind, a heuristic, a budget (depth=5, nodes=2500 or time=150ms) and
    perhaps seed=N, which breaks ties.  A course name is short for such a string; if several
    protocols have the name, a prefix chooses one: 2017a:AB_Open.

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
    """Return the agent string that a course name is short for."""
    if not agent.argument or agent.heuristic:
        return str(agent)
    return str(agent).replace("(", "(your heuristic, ", 1)


# -- grade ------------------------------------------------------------------------------------


Who = Annotated[str, agent_argument("AGENT", "The agent to grade.")]
Openings = Annotated[
    int, whole_number("--openings", "Games to play, each from its own opening.", least=0)
]
Seed = Annotated[int, whole_number("--seed", "Seed of the random openings.", least=0, metavar="S")]


def grade(
    agent: Who,
    openings: Openings = 50,
    seed: Seed = 0,
    board: BoardSize = "7x7",
    workers: Workers = None,
    dask: Dask = None,
    in_process: InProcess = False,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Grade an agent's moves with the exact solver.

    The agent plays itself from random openings, and the solver judges every move.  The grade is
    how often it keeps a won position won where it has a real choice: some moves win, some lose.
    "At random" is the rate of random moves in the same positions.  The intervals assume independent
    decisions; the standard error allows for decisions of one game, and of games from mirrored
    openings, being related.

    The hunter can take escape cells from the other knight, the runner cannot.  In the opening more
    than two thirds of the board are open, in the end at most one third.

    The second table groups positions by the agent's own score, proven scores apart, and shows how
    many are really won.  AUC is the chance that a won position scores higher than a lost one: 1 is
    perfect, 0.5 is a coin toss.

    The openings are the first ones of a match with the same seed.  The same seed gives the same
    numbers in this process, with workers and on a Dask cluster, except with time budgets.

    \b
    Examples:
      knightfall grade "id(improved, nodes=2500)"
      knightfall grade AB_Open --openings 200 --workers 2 --chart grade.svg
      knightfall grade "greedy(mine.py:cosy)" --board 6x6 --json
    """
    from knightfall.oracle.grade import grade as judge

    draw = chart_writer(chart, force)
    result = judge(
        agent_named(agent, quiet=json),
        openings=openings,
        seed=seed,
        board=board,
        workers=workers,
        dask=dask,
        in_process=in_process,
    )
    draw(result)
    print_report(result, json=json)
    if result.partial:
        say(f"knightfall: interrupted after {result.games} of {result.openings} games")
        raise typer.Exit(INTERRUPTED)
