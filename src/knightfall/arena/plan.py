"""The plan of a run, who takes part in it, and the records of its pairs.

A plan is a value.  Everything about a run follows from it: pair number 17 is the same pair on one
process, on two or on a cluster, today and when the run is taken up again.  Pairs come round by
round, each match playing one pair a round, so a run that was stopped early is a fair one.

A pair is one opening played twice, each agent once on either side.  Nothing smaller is scheduled,
stored or counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from knightfall.agents import Agent, cache_agent, cached_agent, parse_agent
from knightfall.board import Board
from knightfall.display.numbers import count
from knightfall.display.printable import printable, storable
from knightfall.errors import Ending, KnightfallError, ending_of
from knightfall.openings import by_hunter, openings, shuffled
from knightfall.position import Position, Side
from knightfall.search.budget import Budget

if TYPE_CHECKING:
    from knightfall.statistics.sprt import Sprt

Reason = Literal["no moves", "timeout", "forfeit", "illegal", "crash"]
"""Why the loser lost: it had no move left (the ordinary end), answered too late or never, gave up
(answered nothing), answered with something that is no legal move, or raised an error or died."""

REASONS: tuple[Reason, ...] = ("no moves", "timeout", "forfeit", "illegal", "crash")

# How the numbers of a game are kept: little-endian, one item per move.
CELL, SCORE, DEPTH, NODES, MICROSECONDS = "u1", "<f8", "u1", "<u8", "<u4"


@dataclass(frozen=True, slots=True)
class PairTask:
    """A pair to be played: `a` is the first player (N) in game 0, `b` in game 1.

    Agents are strings, the opening is a FEN with both knights placed.  `seed` breaks the ties of
    every agent that brings no seed of its own.
    """

    number: int
    a: str
    b: str
    opening: str
    seed: int

    def seats(self, game: int) -> dict[Side, str]:
        """Who plays which knight in game 0 or 1."""
        return {"w": self.a, "b": self.b} if game == 0 else {"w": self.b, "b": self.a}


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game, whole.  The columns are bytes, one item per move (see the formats above).

    `scores` are for the side that moved: ±inf where it was proven.  `detail` says more of an
    unusual end: the error, or the answer that was no move.  To decide something by how a game
    ended, ask for its `ending`: the detail is for people.
    """

    winner: Side
    reason: Reason
    cells: bytes
    scores: bytes
    depths: bytes
    nodes: bytes
    microseconds: bytes = field(compare=False)  # no two runs take the same time
    detail: str = ""

    @property
    def ending(self) -> Ending:
        """The kind of ending, finer than the reason: whether a forfeit was a resignation, say."""
        return ending_of(self.reason, self.detail)

    @property
    def plies(self) -> int:
        """Return the number of moves that were made."""
        return len(self.cells)

    def moves(self, opening: Position) -> tuple[str, ...]:
        """The names of the cells moved to."""
        return tuple(opening.board.name(cell) for cell in self.cells)

    def column(self, name: Literal["scores", "depths", "nodes", "microseconds"]) -> npt.NDArray:  # type: ignore[type-arg]
        """A column as an array."""
        formats = {"scores": SCORE, "depths": DEPTH, "nodes": NODES, "microseconds": MICROSECONDS}
        return np.frombuffer(getattr(self, name), formats[name])


def game_record(
    winner: Side,
    reason: Reason,
    *,
    cells: npt.ArrayLike,
    scores: npt.ArrayLike,
    depths: npt.ArrayLike,
    nodes: npt.ArrayLike,
    seconds: npt.ArrayLike,
    detail: str = "",
) -> GameRecord:
    """A record, its columns packed."""
    microseconds = np.rint(np.asarray(seconds, "f8") * 1e6)
    return GameRecord(
        winner,
        reason,
        cells=np.asarray(cells, CELL).tobytes(),
        scores=np.asarray(scores, SCORE).tobytes(),
        depths=np.minimum(np.asarray(depths, "i8"), 255).astype(DEPTH).tobytes(),
        nodes=np.asarray(nodes, NODES).tobytes(),
        microseconds=np.minimum(microseconds, 2**32 - 1).astype(MICROSECONDS).tobytes(),
        detail=storable(detail),
    )


@dataclass(frozen=True, slots=True)
class PairRecord:
    """A pair that was played: game 0 with `a` as the first player, then game 1 with `b`."""

    task: PairTask
    games: tuple[GameRecord, GameRecord]

    @property
    def score(self) -> int:
        """How many of the two games `a` won: 0 is LL, 1 is WL, 2 is WW."""
        return (self.games[0].winner == "w") + (self.games[1].winner == "b")

    @property
    def first(self) -> int:
        """1 if `a` won the game in which it moves first, else 0.

        That is game 0, unless the opening is one in which b is to move.
        """
        if self.task.opening.split()[1] == "w":
            return int(self.games[0].winner == "w")
        return int(self.games[1].winner == "b")


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent that takes part: its full string, and what to call it in a table."""

    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """Two entrants, by number, who meet in every round.

    Matches of one series play the same openings with the same seeds: that is what makes two test
    agents comparable opening by opening.
    """

    a: int
    b: int
    series: int = 0


@dataclass(frozen=True)
class Plan:
    """All that decides what is played.

    `pairs` is how many each match wants; where the openings do not suffice it gets `rounds`.
    Each opening is used `repeats` times in a row, with new seeds.  `stop` names a rule that may
    end the run sooner (see `knightfall.arena.run_loop`).  `files` holds the hashes of
    users' files that agents come from: a file that was edited makes another plan.
    """

    kind: str
    entrants: tuple[Entrant, ...]
    matches: tuple[Match, ...]
    pairs: int
    seed: int = 0
    board: str = "7x7"
    book: tuple[str, ...] = ()
    stratify: bool = False
    repeats: int = 1
    stop: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The positions games may begin with, in no particular order."""
        return self.book or tuple(_every_opening(self.board))

    @property
    def rounds(self) -> int:
        """How many pairs each match gets: no opening is used more often than `repeats` says."""
        return min(self.pairs, len(self.starts) * self.repeats)

    @property
    def exhausted(self) -> bool:
        """Whether there are fewer openings than were asked for."""
        return self.rounds < self.pairs

    @property
    def total(self) -> int:
        """How many pairs the run has if nothing stops it sooner."""
        return self.rounds * len(self.matches)

    def so_far(self, played: int) -> str:
        """Say how many pairs are played, and of how many unless a rule may end the run sooner."""
        return count(played, "pair") if self.stop else f"{played:,} of {count(self.total, 'pair')}"

    def task(self, number: int) -> PairTask:
        """Pair number 0, 1, 2, …"""
        round, place = divmod(number, len(self.matches))
        match = self.matches[place]
        return PairTask(
            number=number,
            a=self.entrants[match.a].agent,
            b=self.entrants[match.b].agent,
            opening=self.order(match.series)[round // self.repeats],
            seed=_pair_seed(self.seed, match.series, round),
        )

    def tasks(self, start: int = 0) -> Iterator[PairTask]:
        """The pairs from a number on."""
        return (self.task(number) for number in range(start, self.total))

    def order(self, series: int) -> list[str]:
        """The openings of a series, in the order they are played."""
        if series not in self._orders:
            order = shuffled(self.starts, self.seed, series)
            self._orders[series] = by_hunter(order) if self.stratify else order
        return self._orders[series]

    @cached_property
    def _orders(self) -> dict[int, list[str]]:
        return {}

    # -- as text ---------------------------------------------------------------------------

    def to_json(self) -> str:
        """The plan as JSON; equal plans give equal texts."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    def key(self, engine: str) -> str:
        """What tells this run from all others: the plan, played by this version of the engine."""
        return hashlib.sha256(f"{engine}\n{self.to_json()}".encode()).hexdigest()[:20]


@lru_cache(maxsize=8)
def _every_opening(board: str) -> tuple[str, ...]:
    width, height = (int(side) for side in board.split("x"))
    found = openings(Board.of(width, height))
    if not found:
        raise KnightfallError(f"board {board}: no opening leaves a move to make")
    return tuple(found)


def _pair_seed(seed: int, series: int, round: int) -> int:
    """From 1 on: 0 is the seed of agents that were given none."""
    digest = hashlib.sha256(f"pair {seed}/{series}/{round}".encode()).digest()
    return 1 + int.from_bytes(digest[:4], "big") % (2**31 - 1)


def may_repeat(plan: Plan) -> bool:
    """Whether a match can come to the same opening twice: only then can it repeat its games."""
    return plan.repeats > 1 or len(set(plan.book)) < len(plan.book)


# -- who meets whom ------------------------------------------------------------------------


def everyone(entrants: Sequence[Entrant]) -> tuple[Match, ...]:
    """A round robin: each couple once a round, all from the same openings."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers for b in numbers if a < b)


def gauntlet(entrants: Sequence[Entrant], runners: int = 1) -> tuple[Match, ...]:
    """The first few entrants each meet all the others, but not each other."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers[:runners] for b in numbers[runners:])


def tournament(tests: int, opponents: int) -> tuple[Match, ...]:
    """Each of the first entrants meets each of the others; a series of openings per opponent."""
    return tuple(
        Match(test, tests + opponent, series=opponent)
        for opponent in range(opponents)
        for test in range(tests)
    )


def enter(
    texts: Sequence[str],
    budget: Budget | None = None,
    search: Agent | None = None,
    protocol: str = "",
    limits: TimeLimits | None = None,
) -> tuple[Entrant, ...]:
    """Return the entrants of agent strings, numbered where one name occurs twice.

    `budget` replaces that of every agent that deepens; a heuristic alone plays with `search`, and
    course names are those of `protocol` (see `parse_agent`).
    """
    agents = [parse_agent(text, search, protocol) for text in texts]
    if budget is not None:
        agents = [_renamed(agent, agent.with_search_budget(budget)) for agent in agents]
    if limits is not None:
        agents = [
            _renamed(agent, agent.with_move_time(limits.limit, limits.threshold))
            for agent in agents
        ]
    names = [printable(agent.name) for agent in agents]
    times, seen = Counter(names), Counter[str]()
    entrants = []
    for agent, name in zip(agents, names, strict=True):
        seen[name] += 1
        shown = f"{name} #{seen[name]}" if times[name] > 1 else name
        entrants.append(Entrant(cache_agent(agent.absolute()), shown))
    return tuple(entrants)


def _renamed(before: Agent, after: Agent) -> Agent:
    """Return an agent that got another budget, without a label that tells of the one before."""
    told = re.search(r"\b(depth|nodes|time)\s*=", after.label)
    return replace(after, label="") if told and before != after else after


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The course's TIME_LIMIT and TIMER_THRESHOLD, in microseconds.

    A move may take `limit`; a search stops when `threshold` of it is left.  Agents written in
    Python get the whole limit: when to stop is up to them.
    """

    limit: int
    threshold: int


def files_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    """The users' files that decide what some entrants do, with a hash of what is in them."""
    found = {path for entrant in entrants for path in cached_agent(entrant.agent).sources()}
    return {path: file_hash(path) for path in sorted(found)}


def file_hash(path: str) -> str:
    """Return the hash by which a plan knows what is in a file."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # it may have no end
            raise KnightfallError(f"{path} is not a file")
        return _hash_at(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise KnightfallError(f"{path}: {error.strerror or error}") from None


@lru_cache(maxsize=1024)
def _hash_at(path: str, time: int, size: int) -> str:
    """Of a file as it is since then."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]


def check_files(plan: Plan) -> None:
    """Refuse to go on with users' files that are not those the plan was made with."""
    check_unchanged(plan.files)


def check_unchanged(files: Mapping[str, str]) -> None:
    """Raise a `KnightfallError` if a file does not have the hash that is given with it."""
    for path, before in files.items():
        try:
            now = file_hash(path)
        except KnightfallError:
            now = ""
        if now != before:
            raise KnightfallError(
                f"{path} was edited while the run was going on; what was played since the last "
                "write is not kept, and starting it again begins a run of its own"
            )


PAIRS = 100
"""Pairs of a match unless said otherwise; a sequential test may take all openings there are."""

MOST_ELO = 10_000


class Openings(TypedDict, total=False):
    """Where games begin, and what decides their order: see `Plan`."""

    seed: int
    board: str
    book: tuple[str, ...]
    stratify: bool


def match_plan(
    a: str,
    b: str,
    *,
    pairs: int | None = None,
    test: Sprt | None = None,
    budget: Budget | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """Two agents, a number of pairs or until a sequential test is decided."""
    entrants = enter([a, b], budget)
    plan = Plan(
        kind="match",
        entrants=entrants,
        matches=(Match(0, 1),),
        pairs=pairs or (PAIRS if test is None else 1_000_000),
        stop={} if test is None else {"rule": "sprt", **asdict(test)},
        files=files_of(entrants),
        options={"given_budget": str(budget or "")},
        **openings,
    )
    return replace(plan, pairs=plan.rounds) if pairs is None else plan


def league_plan(
    agents: Sequence[str],
    *,
    pairs: int = 50,
    gauntlet_of: int | None = None,
    until: float | None = None,
    budget: Budget | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """Everyone meets everyone, or the first few all the others, at most until all are told apart.

    `until` is the error in Elo that is small enough where two cannot be told apart.
    """
    if len(agents) < 2:
        given = f"only {agents[0]!r}" if agents else "none"
        raise KnightfallError(f"a league needs two agents or more, not {given}")
    if gauntlet_of is not None and not 1 <= gauntlet_of < len(agents):
        raise KnightfallError(
            f"gauntlet={gauntlet_of} leaves no opponents: there are {len(agents)} agents"
        )
    if until is not None and not 0 < until < MOST_ELO:
        raise KnightfallError(f"{until:g} is not a number of Elo above 0, as in 10")
    entrants = enter(agents, budget)
    return Plan(
        kind="league",
        entrants=entrants,
        matches=everyone(entrants) if gauntlet_of is None else gauntlet(entrants, gauntlet_of),
        pairs=pairs,
        stop={} if until is None else {"rule": "until", "error": until},
        files=files_of(entrants),
        options={"given_budget": str(budget or "")},
        **openings,
    )
