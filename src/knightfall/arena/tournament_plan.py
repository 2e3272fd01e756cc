"""The plans of the course's two tournaments, 2017a and 2017b."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from knightfall.agents.parse import PROTOCOL_SEARCH, from_another_protocol
from knightfall.arena.plan import Openings, Plan, TimeLimits, enter, files_of, tournament_matches
from knightfall.display.numbers import count
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget, print_time, read_time

RECOMMENDED = (
    "lookahead_mobility",
    "weighted_difference",
    "near_opponent+bfs_reach",
    "main",
    "open_cluster",
)
"""The heuristic that each of the five studies recommends."""

TIME_LIMIT, TIMER_THRESHOLD = 150_000, 10_000
"""The course's settings of these names, in microseconds."""

WITHIN = 0.02
"""A difference of win rates is settled if half the width of its interval is at most this."""

UNLIMITED = 1_000_000
"""Pairs of a plan without a fixed length, before it is cut to the number of openings."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tournament of the course: its baseline, its opponents and its length.

    `pairs` is the number per opponent.  Each opening is used for `repeats` pairs.
    """

    baseline: str
    opponents: tuple[str, ...]
    pairs: int
    repeats: int = 1

    @property
    def tests(self) -> tuple[str, ...]:
        """The default test agents: the baseline, and the heuristics that the studies recommend."""
        return (self.baseline, *(f"id({id}, nodes=2500, plain)" for id in RECOMMENDED))


PROTOCOLS = {
    "2017b": Protocol(
        "AB_Improved",
        (
            "Random",
            "MM_Open",
            "MM_Center",
            "MM_Improved",
            "AB_Open",
            "AB_Center",
            "AB_Improved",
        ),
        pairs=5,
    ),
    "2017a": Protocol(
        "ID_Improved",
        (
            "2017a:Random",
            "2017a:MM_Null",
            "2017a:MM_Open",
            "2017a:MM_Improved",
            "2017a:AB_Null",
            "2017a:AB_Open",
            "2017a:AB_Improved",
        ),
        pairs=10,
        repeats=2,
    ),
}


def protocol_named(name: str) -> Protocol:
    """Return a protocol by its name, 2017a or 2017b."""
    if name not in PROTOCOLS:
        raise KnightfallError(f"unknown protocol {name!r}; known: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def tournament_plan(
    tests: Sequence[str] = (),
    against: Sequence[str] = (),
    *,
    protocol: str = "2017b",
    pairs: int | None = None,
    course_only: bool = False,
    budget: Budget | None = None,
    num_matches: int | None = None,
    time_limit: str | None = None,
    timer_threshold: str | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """Return the plan of a tournament: each test agent meets each opponent.

    All test agents play an opponent from the same openings.  The tournament goes on until each
    comparison with the first test agent is decided or known to within `WITHIN`, unless `pairs` or
    `course_only` fixes its length or there is nothing to compare.

    `num_matches`, `time_limit` and `timer_threshold` are the course's NUM_MATCHES, TIME_LIMIT and
    TIMER_THRESHOLD: the matches against each opponent, of `Protocol.repeats` pairs each, and the
    time for a move (see `time_limits`).
    """
    rules = protocol_named(protocol)
    if num_matches is not None:
        if pairs is not None:
            raise KnightfallError(
                f"--pairs {pairs} and --num-matches {num_matches}: choose one; in {protocol} a "
                f"match is {count(rules.repeats, 'pair')} of games"
            )
        if num_matches < 1:
            raise KnightfallError(f"--num-matches {num_matches} must be a whole number from 1 on")
        pairs, course_only = num_matches * rules.repeats, False
    limits = time_limits(time_limit, timer_threshold)
    if limits is not None and budget is not None:
        given = "--timer-threshold" if time_limit is None else "--time-limit"
        raise KnightfallError(
            f"--budget {budget} and {given}: choose one, for {given} sets a time budget"
        )
    if pairs is not None and course_only:
        raise KnightfallError(
            f"--pairs {pairs} and --course-only: choose one; the course plays {rules.pairs} pairs"
        )
    # An agent in both lists is entered twice, as a test agent and as an opponent.
    tested = enter(tests or rules.tests, budget, PROTOCOL_SEARCH, protocol, limits)
    opponents = enter(against or rules.opponents, budget, PROTOCOL_SEARCH, protocol, limits)
    options = {"protocol": protocol, "tests": len(tested), "given_budget": str(budget or "")}
    if limits is not None:
        options["time_limit"] = print_time(limits.limit)
        options["timer_threshold"] = print_time(limits.threshold)
    fixed = pairs or course_only or len({one.agent for one in tested}) == 1
    plan = Plan(
        kind="tournament",
        entrants=tested + opponents,
        matches=tournament_matches(len(tested), len(opponents)),
        pairs=pairs or (rules.pairs if fixed else UNLIMITED),
        repeats=rules.repeats,
        stop={} if fixed else {"rule": "decided", "within": WITHIN, "course": rules.pairs},
        files=files_of(tested + opponents),
        options=options,
        **openings,
    )
    return plan if fixed else replace(plan, pairs=plan.rounds)


def time_limits(time_limit: str | None, timer_threshold: str | None) -> TimeLimits | None:
    """Return the time limits, with the course's value for one that is not given.

    Return None if neither is given.
    """
    if time_limit is None and timer_threshold is None:
        return None
    limits = TimeLimits(
        TIME_LIMIT if time_limit is None else read_time(time_limit, "--time-limit "),
        TIMER_THRESHOLD
        if timer_threshold is None
        else read_time(timer_threshold, "--timer-threshold ", least=0),
    )
    if limits.threshold >= limits.limit:
        raise KnightfallError(
            f"--timer-threshold {print_time(limits.threshold)} must be less than the time limit, "
            f"{print_time(limits.limit)}: no time would be left to search"
        )
    return limits


def mixture(plan: Plan) -> list[str]:
    """Return a warning for each entrant whose name belongs to the other of the two tournaments."""
    protocol = str(plan.options.get("protocol", ""))
    # A submission may use our names for its own players.
    names = [one.name for one in plan.entrants if not one.agent.startswith("course(")]
    # The names without their numbers and arguments: AB_Open of AB_Open #2.
    bare = [name.partition("(")[0].partition(" #")[0].strip() for name in names]
    found = [from_another_protocol(name, protocol) for name in bare]
    return [text for text in dict.fromkeys(found) if text]


def command_of(plan: Plan, pairs: int) -> str:
    """Return the command that plays the same tournament with `pairs` pairs for each opponent.

    Return only the option --pairs for a tournament with a submission or a book, whose command is
    not known.
    """
    rules, options = protocol_named(plan.options["protocol"]), plan.options
    names = [one.name if " #" not in one.name else one.agent for one in plan.entrants]
    tests, opponents = names[: options["tests"]], names[options["tests"] :]
    if plan.book or any(one.agent.startswith("course(") for one in plan.entrants):
        return f"--pairs {pairs}"
    given: list[tuple[str, object, object]] = [
        ("--protocol", options["protocol"], "2017b"),
        ("--budget", options.get("given_budget", ""), ""),
        ("--time-limit", options.get("time_limit", ""), ""),
        ("--timer-threshold", options.get("timer_threshold", ""), ""),
        ("--seed", plan.seed, 0),
        ("--board", plan.board, "7x7"),
    ]
    words = ["knightfall", "tournament"]
    for option, some, usual in (
        ("--test", tests, rules.tests),
        ("--against", opponents, rules.opponents),
    ):
        if some != list(usual):
            words += [word for name in some for word in (option, name)]
    for option, value, default in given:
        words += [option, str(value)] if value != default else []
    words += ["--stratify"] if plan.stratify else []
    return shlex.join([*words, "--pairs", str(pairs)])
