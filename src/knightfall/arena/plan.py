"""The plan of a run, its entrants and matches, and the records of its pairs.

A plan is a value.  Everything about a run follows from it: pair number 17 is the same pair on one
process, on two or on a cluster, today and when the run is resumed.  In every round each match plays
one pair, so a run that was stopped early is fair to all.

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
from knightfall.openings import alternate_hunter, openings, seed_of, shuffled
from knightfall.position import Position, Side
from knightfall.search.budget import Budget
from knightfall.untrusted_input import opened

if TYPE_CHECKING:
    from knightfall.statistics.sprt import Sprt

Reason = Literal["no moves", "timeout", "forfeit", "illegal", "crash"]
"""Why the loser lost: it had no move left (the ordinary end), answered too late or never, gave up
(answered nothing), answered with something other than a legal move, or crashed."""

REASONS: tuple[Reason, ...] = ("no moves", "timeout", "forfeit", "illegal", "crash")

Column = Literal["scores", "depths", "nodes", "microseconds"]
COLUMN_FORMATS: dict[Column, str] = {
    "scores": "<f8", "depths": "u1", "nodes": "<u8", "microseconds": "<u4",
}  # fmt: skip
"""Numpy formats of the columns of a game, which have one item per move."""


@dataclass(frozen=True, slots=True)
class PairTask:
    """A pair of games to be played: `a` is the first player in game 0, `b` in game 1.

    Agents are strings, the opening is a FEN with both knights placed.  `seed` breaks the ties of
    every agent that brings no seed of its own.
    """

    number: int
    a: str
    b: str
    opening: str
    seed: int

    def seats(self, game: int) -> dict[Side, str]:
        """Return the agent of each side, w and b, in game 0 or 1."""
        return {"w": self.a, "b": self.b} if game == 0 else {"w": self.b, "b": self.a}


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A complete game.  Its columns are bytes, with one item per move (see the formats above).

    `scores` are from the view of the side that moved, ±inf for a proven win or loss.  `detail`
    describes an unusual end for readers: the error, or the answer that was not a move.  Programs
    should use `ending`.
    """

    winner: Side
    reason: Reason
    cells: bytes
    scores: bytes
    depths: bytes
    nodes: bytes
    microseconds: bytes = field(compare=False)  # differs from run to run
    detail: str = ""

    @property
    def ending(self) -> Ending:
        """The kind of ending, finer than the reason: it tells a resignation from other forfeits."""
        return ending_of(self.reason, self.detail)

    @property
    def plies(self) -> int:
        """The number of moves that were made."""
        return len(self.cells)

    def moves(self, opening: Position) -> tuple[str, ...]:
        """Return the moves as names of cells."""
        return tuple(opening.board.name(cell) for cell in self.cells)

    def column(self, name: Column) -> npt.NDArray[Any]:
        """Return a column as an array."""
        return np.frombuffer(getattr(self, name), COLUMN_FORMATS[name])


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
    """Return a game's record, with its columns packed into bytes; times are in seconds."""
    columns: dict[Column, npt.ArrayLike] = {
        "scores": scores,
        "depths": np.minimum(np.asarray(depths, "i8"), 255),
        "nodes": nodes,
        "microseconds": np.minimum(np.rint(np.asarray(seconds, "f8") * 1e6), 2**32 - 1),
    }
    packed = {name: np.asarray(of, COLUMN_FORMATS[name]).tobytes() for name, of in columns.items()}
    return GameRecord(
        winner, reason, np.asarray(cells, "u1").tobytes(), **packed, detail=storable(detail)
    )


@dataclass(frozen=True, slots=True)
class PairRecord:
    """The record of a pair: game 0 with `a` as the first player, then game 1 with `b`."""

    task: PairTask
    games: tuple[GameRecord, GameRecord]

    @property
    def score(self) -> int:
        """The number of games that `a` won: 0 is LL, 1 is WL, 2 is WW."""
        return (self.games[0].winner == "w") + (self.games[1].winner == "b")

    @property
    def first(self) -> int:
        """1 if `a` won the game in which it moves first, else 0.

        This is game 0, unless side b is to move in the opening.
        """
        if self.task.opening.split()[1] == "w":
            return int(self.games[0].winner == "w")
        return int(self.games[1].winner == "b")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A participant of a run: its full agent string, and its name in tables."""

    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """Two entrants, by number, that play a pair in every round.

    Matches of one series play the same openings with the same seeds, so that two test agents can
    be compared opening by opening.
    """

    a: int
    b: int
    series: int = 0


@dataclass(frozen=True)
class Plan:
    """The complete description of a run.

    Each match plays `pairs` pairs, or `rounds` if there are fewer openings.  Each opening is used
    `repeats` times in a row, with new seeds.  `stop` names a rule that may end the run early (see
    `knightfall.arena.run_loop`).  `files` maps the paths of users' files to hashes, so that an
    edited file makes another plan.
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
        """The FENs of all start positions, before shuffling."""
        return self.book or tuple(_every_opening(self.board))

    @property
    def rounds(self) -> int:
        """The number of pairs of each match: `pairs`, or fewer if the openings run out."""
        return min(self.pairs, len(self.starts) * self.repeats)

    @property
    def exhausted(self) -> bool:
        """Whether there are fewer openings than `pairs` needs."""
        return self.rounds < self.pairs

    @property
    def total(self) -> int:
        """The number of pairs of the run if no rule ends it early."""
        return self.rounds * len(self.matches)

    def so_far(self, played: int) -> str:
        """Return "5 of 100 pairs", or "5 pairs" if a rule may end the run early."""
        return count(played, "pair") if self.stop else f"{played:,} of {count(self.total, 'pair')}"

    def task(self, number: int) -> PairTask:
        """Return the pair with this number in the schedule; the first has number 0."""
        round, place = divmod(number, len(self.matches))
        match = self.matches[place]
        return PairTask(
            number=number,
            a=self.entrants[match.a].agent,
            b=self.entrants[match.b].agent,
            opening=self.order(match.series)[round // self.repeats],
            # At least 1, because 0 means that there is no seed.
            seed=1 + seed_of(f"pair {self.seed}/{match.series}/{round}") % (2**31 - 1),
        )

    def tasks(self, start: int = 0) -> Iterator[PairTask]:
        """Yield the pairs from number `start` on."""
        return (self.task(number) for number in range(start, self.total))

    def order(self, series: int) -> list[str]:
        """Return the openings in the order in which matches with this `series` number play them."""
        if series not in self._orders:
            order = shuffled(self.starts, self.seed, series)
            self._orders[series] = alternate_hunter(order) if self.stratify else order
        return self._orders[series]

    @cached_property
    def _orders(self) -> dict[int, list[str]]:
        return {}

    # -- as text ---------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the plan as JSON; equal plans give equal texts."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    def key(self, engine: str) -> str:
        """Return a hash of the plan and the engine's version, which identifies the run."""
        return run_key(self.to_json(), engine)


def run_key(plan: str, engine: str) -> str:
    """Return the key of a plan as JSON and the engine's version (see `Plan.key`)."""
    try:
        return hashlib.sha256(f"{engine}\n{plan}".encode()).hexdigest()[:20]
    except UnicodeEncodeError as error:  # bytes of a file's name that Python could not decode
        at = error.start - len(engine) - 1
        begin, end = plan.rfind('"', 0, at) + 1, plan.find('"', at)
        raise KnightfallError(
            f"a file's name is not valid UTF-8: {plan[begin:end]!r}: rename the file"
        ) from None


@lru_cache(maxsize=8)
def _every_opening(board: str) -> tuple[str, ...]:
    """Return the FENs of all openings of a board in which the first player can move."""
    width, height = (int(side) for side in board.split("x"))
    found = openings(Board.of(width, height))
    if not found:
        raise KnightfallError(f"board {board}: in no opening can the first player move")
    return tuple(found)


def may_repeat(plan: Plan) -> bool:
    """Return whether a match may play an opening twice, and so repeat a pair move for move."""
    return plan.repeats > 1 or len(set(plan.book)) < len(plan.book)


# -- entrants and matches ------------------------------------------------------------------


def round_robin(entrants: Sequence[Entrant]) -> tuple[Match, ...]:
    """Return the matches of a round robin, all from the same openings."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers for b in numbers if a < b)


def gauntlet(entrants: Sequence[Entrant], challengers: int = 1) -> tuple[Match, ...]:
    """Return the matches of the first `challengers` entrants against each of the others."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers[:challengers] for b in numbers[challengers:])


def tournament_matches(tests: int, opponents: int) -> tuple[Match, ...]:
    """Return the matches of the first `tests` entrants against the following `opponents`.

    Each opponent has its own series of openings, the same for all test agents.
    """
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
    """Return entrants for agent strings; names that occur twice are numbered.

    `budget` replaces the budget of every agent that deepens, and `limits` sets the course's time
    limits.  A heuristic alone plays with `search`, and course names are those of `protocol` (see
    `parse_agent`).
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
    """Return `after`; if it differs from `before`, remove a label that names a budget."""
    names_budget = re.search(r"\b(depth|nodes|time)\s*=", after.label)
    return replace(after, label="") if names_budget and before != after else after


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The course's TIME_LIMIT and TIMER_THRESHOLD, in microseconds.

    A move may take `limit`; a search stops when `threshold` of it is left.  Submissions get the
    whole limit and decide for themselves when to stop.
    """

    limit: int
    threshold: int


def files_of(entrants: Iterable[Entrant]) -> dict[str, str]:
    """Return the users' files that entrants depend on, each path with a hash of its content.

    In a run these are the hashes of the copies in its snapshot.
    """
    from knightfall.arena.snapshot import current_snapshot  # avoids a circular import

    entrants, taken = tuple(entrants), current_snapshot()
    if taken is not None:
        return taken.files(entrants)
    found = {path for entrant in entrants for path in cached_agent(entrant.agent).sources()}
    return {path: file_hash(path) for path in sorted(found)}


def file_hash(path: str) -> str:
    """Return the hash of a file's content, as plans store it."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # a device may never end
            raise KnightfallError(f"{path} is not a file")
        return _hash_at(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise KnightfallError(f"{path}: {error.strerror or error}") from None


@lru_cache(maxsize=1024)
def _hash_at(path: str, time: int, size: int) -> str:
    """Return the hash of a file; `time` and `size` make an edited file miss the cache."""
    with opened(path) as file:  # at this moment a pipe may have taken its place
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]


def check_files(files: Mapping[str, str]) -> None:
    """Raise a `KnightfallError` if a file was edited; `files` maps paths to their old hashes."""
    for path, before in files.items():
        try:
            now = file_hash(path)
        except KnightfallError:
            now = ""
        if now != before:
            raise KnightfallError(
                f"{path} was edited during the run: the last pairs, which are not stored yet, are "
                "discarded, and repeating the command begins a new run"
            )


PAIRS = 100
"""Default number of pairs of a match; a sequential test may use all openings."""

MOST_ELO = 10_000
"""Upper bound of the error that a league accepts."""


class Openings(TypedDict, total=False):
    """The fields of `Plan` that determine the openings and their order."""

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
    """Return the plan of a match, of a fixed length or until a sequential test decides."""
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
    """Return the plan of a league: a round robin, or the first `gauntlet_of` against the others.

    With `until`, it ends when the Elo difference of each two neighbours in the ranking is
    significant or known to within `until`.
    """
    if len(agents) < 2:
        given = f"only {agents[0]!r}" if agents else "none"
        raise KnightfallError(f"a league needs two agents or more, not {given}")
    if gauntlet_of is not None and not 1 <= gauntlet_of < len(agents):
        raise KnightfallError(
            f"gauntlet={gauntlet_of} leaves no opponents: there are {len(agents)} agents"
        )
    if until is not None and not 0 < until < MOST_ELO:
        raise KnightfallError(f"until={until:g} must be above 0 and below {MOST_ELO:,} Elo")
    entrants = enter(agents, budget)
    return Plan(
        kind="league",
        entrants=entrants,
        matches=round_robin(entrants) if gauntlet_of is None else gauntlet(entrants, gauntlet_of),
        pairs=pairs,
        stop={} if until is None else {"rule": "until", "error": until},
        files=files_of(entrants),
        options={"given_budget": str(budget or "")},
        **openings,
    )
