"""The successor's tournament: a submission for 11×9 against that course's own players.

Neither the store nor the solver supports boards of 99 cells, so these games are only counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from knightfall.arena.results import no_verdict, too_late
from knightfall.arena.snapshot import run_snapshot
from knightfall.course.agent import TIME, course_agent
from knightfall.course.submission import Reference, Submission
from knightfall.course.trial.game_judging import count_loss
from knightfall.course.trial.successor_games import SAMPLES, both_seats, entered, play_all
from knightfall.display.numbers import count, interval, percent
from knightfall.display.progress import progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions
from knightfall.statistics.rates import Share

PAIRS = 10

CLOCKS = {
    True: "each method call on the state costs 0.015 ms, so the result repeats exactly",
    False: "by the wall clock, one game at a time",
}
"""The description of the clock, by whether time is counted in ticks."""


@dataclass
class SuccessorReport(Displayable):
    """The results of a submission's games on 11×9."""

    submission: Submission
    player: str
    """The name of the class that played."""
    counted: bool = True
    played: dict[str, list[int]] = field(default_factory=dict)
    """By opponent, the numbers of games won and lost."""
    lost_by: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For timeouts, illegal answers and crashes: how many games were lost, and the first detail."""
    interrupted: bool = False
    edited: list[str] = field(default_factory=list)
    """Sentences on the files that were edited during the games."""

    @property
    def games(self) -> int:
        """Return the number of games played."""
        return sum(map(sum, self.played.values()))

    @property
    def nothing_measured(self) -> str:
        """Return a sentence if each game was lost by timeout, illegal answer or crash, else ""."""
        if not self.games or sum(games for games, _ in self.lost_by.values()) < self.games:
            return ""
        return f"Every game was lost by {' or '.join(self.lost_by)}: nothing was measured."

    @property
    def no_verdict(self) -> str:
        """Return why there is no verdict: too many games lost to the wall clock; else ""."""
        late = self.lost_by.get("timeout", (0, ""))[0]
        if self.counted or not too_late(late, self.games):
            return ""
        said = f"{self.player} lost {late:,} of {count(self.games, 'game')} to the clock"
        return no_verdict([said], ticks=True)

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        found = self.submission
        yield Heading(f"{found.file.parent.name}/{found.file.name}")
        yield f"generation {found.generation}: {found.why}; 11×9, {CLOCKS[self.counted]}"
        yield from found.choice(self.player)
        yield ""
        won = sum(games[0] for games in self.played.values())
        share = Share(won, self.games)
        table = Table(
            ["Opponent", "Won | Lost"], align="center", footer=["Win rate", percent(share.rate)]
        )
        for name, games in self.played.items():
            table.add(name, f"{games[0]:>3} | {games[1]:<4}")
        yield table
        yield ""
        for reason, (times, first) in self.lost_by.items():
            yield f"lost by {reason}: {times} (first: {first})"
        span = interval(*share.interval, unit=" %")
        rate = f"95 % interval {span}, over {count(self.games, 'game')}"
        yield self.nothing_measured or self.no_verdict or rate
        if self.interrupted:
            yield "interrupted: these games are not stored"
        yield from self.edited

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        return {
            "file": str(self.submission.file),
            "generation": self.submission.generation.name,
            "player": self.player,
            "clock": "ticks" if self.counted else "wall",
            "table": self.played,
            "lost_by": {
                reason: {"games": games, "first": first}
                for reason, (games, first) in self.lost_by.items()
            },
            "nothing_measured": bool(self.nothing_measured),
            "no_verdict": self.no_verdict,
            "interrupted": self.interrupted,
            "edited": self.edited,
        }


def successor_trial(
    reference: Reference,
    found: Submission,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int = TIME,
    counted: bool = True,
    seed: int = 0,
    options: RunnerOptions = DEFAULT,
    show: bool = False,
) -> SuccessorReport:
    """Play `pairs` pairs of games against each opponent, from random placements."""
    us = str(course_agent(reference.absolute(), time, counted))
    against = {name: entered(name) for name in opponents or SAMPLES}
    report = SuccessorReport(found, reference.name or found.default, counted)
    report.played = {name: [0, 0] for name in against}
    games = {name: both_seats(us, them, pairs or PAIRS, seed) for name, them in against.items()}
    places = [(name, number % 2) for name in games for number in range(len(games[name]))]
    unusual: dict[int, tuple[str, str]] = {}
    try:
        with (
            run_snapshot() as taken,
            progress("games", len(places), after=0.0 if show else 1e9) as tell,
        ):
            every = [game for some in games.values() for game in some]
            for number, result in play_all(every, options):
                name, seat = places[number]
                lost = result.loser == seat
                report.played[name][lost] += 1
                if lost and result.reason:
                    unusual[number] = result.reason, result.detail
                tell(tell.done + 1)
            report.edited = taken.edited()
    except KeyboardInterrupt:
        report.interrupted = True
    for _, (reason, detail) in sorted(unusual.items()):  # results come in any order
        count_loss(report.lost_by, reason, detail)
    return report
