"""``knightfall match``, ``tournament``, ``league`` and ``worth``: commands that play a run."""

from __future__ import annotations

from typing import Annotated

import typer

from knightfall.cli.arena_options import (
    Alpha,
    Beta,
    Bounds,
    BudgetText,
    Event,
    Generation,
    InProcess,
    Model,
    Pairs,
    given_test,
    of_generation,
    plays_a_run,
    real,
)
from knightfall.cli.options import whole_number
from knightfall.errors import KnightfallError

A = Annotated[str, typer.Argument(metavar="A", help="The agent whose results are shown.")]
B = Annotated[str, typer.Argument(metavar="B", help="Its opponent.")]


@plays_a_run
def match(
    a: A,
    b: B,
    pairs: Annotated[
        int | None,
        whole_number(
            "--pairs",
            "Pairs of games; by default 100, or with --sprt as many as there are openings.",
        ),
    ] = None,
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    budget: BudgetText = None,
    generation: Generation = None,
    in_process: InProcess = False,
) -> Event:
    """Play two agents against each other, in pairs of games.

    A pair is two games from one opening, with the seats swapped.  The report shows Elo with its
    95 % error; nElo, normalized Elo, which is the advantage relative to how much results vary; and
    LOS, the likelihood that A is the better agent.  --generation applies to course: agents that
    name no generation.

    \b
    Examples:
      knightfall match "id(main)" "id(improved)" --pairs 500
      knightfall match "id(mine.py:score)" "id(improved)" --sprt 0,20
    """
    from knightfall.arena import api

    a, b = of_generation([a, b], generation)
    return api.match, {
        "a": a,
        "b": b,
        "pairs": pairs,
        "sprt": given_test(sprt, alpha, beta, model),
        "budget": budget,
        "in_process": in_process,
    }


# -- tournament -------------------------------------------------------------------------------


@plays_a_run
def tournament(
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="AGENT",
            help="An agent to test; may be repeated. By default the baseline and the five "
            "heuristics that the studies recommend.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="AGENT",
            help="An opponent; may be repeated. By default the course's seven. AB_Open and "
            "similar names are agents of the chosen --protocol.",
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="YEAR",
            help="Version of the tournament's rules: 2017b, or 2017a for the earlier course.",
        ),
    ] = "2017b",
    pairs: Annotated[
        int | None,
        whole_number(
            "--pairs",
            "Pairs of games against each opponent, instead of playing until decided.",
        ),
    ] = None,
    course_only: Annotated[
        bool,
        typer.Option(
            "--course-only",
            help="Play only as many games as the course did: 5 pairs per opponent (2017a: 10).",
        ),
    ] = False,
    budget: BudgetText = None,
    num_matches: Annotated[
        int | None,
        whole_number(
            "--num-matches",
            "The course's NUM_MATCHES, instead of --pairs: a match is a pair, 2 games (2017a: "
            "2 pairs, 4 games). The course plays 5.",
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="TIME",
            help="The course's TIME_LIMIT, instead of --budget: time for a move of every agent, as "
            "in 150ms.",
        ),
    ] = None,
    timer_threshold: Annotated[
        str | None,
        typer.Option(
            "--timer-threshold",
            metavar="TIME",
            help="The course's TIMER_THRESHOLD: a search stops when this much of the time limit is "
            "left; 10ms by default.",
        ),
    ] = None,
    in_process: InProcess = False,
) -> Event:
    """Play the course's tournament until it is decided.

    Each test agent plays each opponent in pairs: two games from one opening, with seats swapped.
    After the course's own number of games, play continues until each test agent is better or worse
    than the first one, or their difference is known to within two points.  A heuristic alone plays
    with the course's search.  To continue after an interruption, repeat the command.

    \b
    Examples:
      knightfall tournament
      knightfall tournament --test improved --test mine.py:cosy
      knightfall tournament --test AB_Improved --test "AB_Custom(mine.py:score)" --pairs 200
      knightfall tournament --protocol 2017a --budget time=150ms
      knightfall tournament --num-matches 25 --time-limit 150ms --timer-threshold 10ms
    """
    from knightfall.arena import api

    return api.tournament, {
        "tests": test or (),
        "against": against or (),
        "protocol": protocol,
        "pairs": pairs,
        "course_only": course_only,
        "budget": budget,
        "num_matches": num_matches,
        "time_limit": time_limit,
        "timer_threshold": timer_threshold,
        "in_process": in_process,
    }


# -- league -----------------------------------------------------------------------------------


@plays_a_run
def league(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Two or more agents.")],
    gauntlet: Annotated[
        int | None,
        whole_number(
            "--gauntlet",
            "Only the first N agents play all others; by default all play each other.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="ERROR",
            help="Stop when for any two neighbours in the ranking it is clear which is stronger, "
            "or their difference is known to within this many Elo.",
        ),
    ] = None,
    pairs: Pairs = 50,
    budget: BudgetText = None,
    in_process: InProcess = False,
) -> Event:
    """Rate many agents in one list.

    All agents play each other, or the first few play all others.  Ratings are fitted by the
    Bradley-Terry model.  The table also shows the win rate as hunter, which can take escape cells
    from the other knight, and as runner, which cannot.

    \b
    Examples:
      knightfall league "id(improved)" "id(open)" "id(center)" "id(main)"
      knightfall league "id(mine.py:score)" "id(improved)" "id(main)" --gauntlet 1 --pairs 300
      knightfall league "id(improved)" "id(open)" "id(bfs_reach)" --until 10 --pairs 2000
    """
    from knightfall.arena import api

    wanted = "a number of Elo above 0, as in --until 10"
    return api.league, {
        "agents": agents,
        "pairs": pairs,
        "gauntlet": gauntlet,
        "until": None if until is None else real(until, wanted),
        "budget": budget,
        "in_process": in_process,
    }


# -- worth ------------------------------------------------------------------------------------


Judged = Annotated[
    str, typer.Argument(metavar="A", help="A heuristic, or an agent such as id(main, plain).")
]
ComparedWith = Annotated[
    str, typer.Argument(metavar="B", help="The heuristic or agent to compare with.")
]


@plays_a_run
def worth(
    a: Judged,
    b: ComparedWith = "improved",
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="LIST",
            help="Nodes per move, equal for both; 250,500,1000,2500,5000,10000 by default.",
        ),
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(
            "--times",
            metavar="LIST",
            help="Equal times per move: 0.02ms,0.05ms,0.1ms,0.2ms,0.5ms by default.",
        ),
    ] = None,
    no_time: Annotated[
        bool, typer.Option("--no-time", help="Leave out matches at equal time.")
    ] = False,
    pairs: Pairs = 100,
) -> Event:
    """Measure a heuristic at equal nodes and at equal time.

    One match is played per budget.  At equal nodes only the quality of the heuristic counts; at
    equal time a slow heuristic searches fewer nodes.  Times are converted into nodes by timing both
    heuristics on this machine first, so the games do not depend on the clock.  The store keeps the
    timing; --again measures it again.

    \b
    Examples:
      knightfall worth bfs_reach
      knightfall worth mine.py:score "id(main)" --pairs 500
      knightfall worth main --nodes 1000,10000 --no-time
    """
    from knightfall.arena import api
    from knightfall.arena.worth import NODES, TIMES

    if no_time and times is not None:
        raise KnightfallError(f"--times {times} and --no-time: choose one")
    return api.worth, {
        "a": a,
        "b": b,
        "nodes": NODES if nodes is None else nodes.split(","),
        "times": () if no_time else TIMES if times is None else times.split(","),
        "pairs": pairs,
    }
