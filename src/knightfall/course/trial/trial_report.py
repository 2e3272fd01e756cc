"""What a trial says: the course's table, our statistics, how games were thrown away, the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from knightfall.arena.reports.tournament import TournamentReport
from knightfall.course.submission import Submission
from knightfall.course.trial.game_judging import (
    KINDS,
    OWN_CLOCK,
    SUBSTITUTE,
    TRIES,
    Judged,
    MovedOnly,
    NeverMoved,
)
from knightfall.display.numbers import count, interval, percent
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table

FORFEITS = ("resigned", "illegal answer")


@dataclass
class TrialReport(Displayable):
    """A submission's tournament.

    `load` is how many processes wanted a core before and after, None where it is not known.
    """

    submission: Submission
    player: str
    """The name of the class that played."""
    tournament: TournamentReport
    judged: list[Judged]
    counted: bool
    load: tuple[float | None, float | None]
    cores: int

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C came before the end."""
        return self.tournament.interrupted

    def parts(self) -> Iterator[Part]:
        """See `Displayable`."""
        found = self.submission
        yield Heading(f"{found.file.parent.name}/{found.file.name}")
        yield f"generation {found.generation}: {found.why}"
        yield self._clock()
        if any(judged.own_clock for judged in self.judged):
            yield f"It {OWN_CLOCK}"
        yield from found.choice(self.player)
        yield ""
        yield from self._never_moved()
        if not self.moved:
            return
        yield from self._table()
        yield ""
        yield Heading("Lost otherwise than on the board")
        yield from self._unusual()
        yield ""
        yield Heading("What the solver says of its moves")
        yield from self._kept()
        yield from self._resigned()

    @property
    def moved(self) -> list[tuple[str, Judged]]:
        """The test agents who made moves, by name: all others have no part in the tables."""
        named = zip(self.tournament.names, self.judged, strict=True)
        return [(name, judged) for name, judged in named if judged.never_moved is None]

    @cached_property
    def _compared(self) -> MovedOnly:
        """The tournament of those who made moves."""
        left_out = [at for at, judged in enumerate(self.judged) if judged.never_moved]
        return MovedOnly(self.tournament.run, left_out, interrupted=self.interrupted)

    def _never_moved(self) -> Iterator[Part]:
        names: dict[NeverMoved, list[str]] = {}
        for name, judged in zip(self.tournament.names, self.judged, strict=True):
            if judged.never_moved is not None:
                names.setdefault(judged.never_moved, []).append(name)
        for found, idle in names.items():
            each = " each" if len(idle) > 1 else ""
            yield Heading(f"{', '.join(idle)} {found.words}{each}")
            if found.line:
                yield f"The answer comes from {found.line}"
            yield "The first position in which it was asked:"
            yield from found.picture.splitlines()
            yield "That has no part in tables, ratings and comparisons."
            yield ""

    def _clock(self) -> str:
        if self.counted:
            return "by a clock that counts how often it is asked: the same again each time"
        before, after = self.load
        text = "by the wall clock, one game to a core at a time"
        if before is not None and after is not None:
            text += f"; load {before:.1f} before and {after:.1f} after on {self.cores} cores"
        return text

    def _table(self) -> Iterator[Part]:
        yield from self._compared.parts()
        run = self.tournament
        against = {run.plan.entrants[number].name for number in run.opponents}
        for name in dict.fromkeys(name for name, _ in self.moved if name in against):
            yield f"{name} as a column is the student's search, as a row knightfall's own agent."

    def _unusual(self) -> Iterator[Part]:
        total = Counter[str]()
        first: dict[str, str] = {}
        table = Table(["", "timeouts", "resigned", "illegal answers", "crashes"])
        for name, judged in self.moved:
            cells = []
            for kind in KINDS:
                times, detail = judged.unusual.get(kind, (0, ""))
                total[kind] += times
                if times:
                    first.setdefault(kind, detail)
                cells.append(str(times))
            table.add(name, *cells)
        yield table
        no_move = sum(total[kind] for kind in FORFEITS)
        yield (
            f"As the course counted: {count(total['timeout'], 'timeout')}, "
            f"{count(no_move, self.submission.generation.no_move)}."
        )
        for kind, detail in first.items():
            if kind == "resigned":
                yield f"first resignation: {detail.partition('resigned: ')[2] or detail}"
            else:
                yield f"first {kind}: {detail}"

    def _kept(self) -> Iterator[Part]:
        table = Table(["", "wins kept", "of", "rate", "95 %", "at random"])
        for name, judged in self.moved:
            row = judged.keeping
            table.add(
                name,
                f"{row.kept.count:,}",
                f"{row.kept.of:,}",
                percent(row.kept.rate),
                interval(*row.kept.interval, unit=" %"),
                percent(row.chance),
            )
        yield table

    def _resigned(self) -> Iterator[Part]:
        if not any(judged.resigned.games for judged in self.judged):
            return
        yield ""
        yield Heading("Resigning")
        table = Table(["", "resigned", "was lost", "was won", "saved", "cost"])
        for name, judged in self.moved:
            gone = judged.resigned
            saved = percent(gone.saved / gone.tries) if gone.tries else "–"
            cost = f"{gone.cost:.1f} games" if gone.tries else "–"
            table.add(name, *map(str, (gone.games, gone.games - gone.won, gone.won)), saved, cost)
        yield table
        yield (
            f"lost and won by the solver; saved: won by {SUBSTITUTE} against the same opponent "
            f"from there, {TRIES} tries each."
        )

    def to_dict(self) -> dict[str, Any]:
        """See `Displayable`."""
        found = self.submission
        return {
            "file": str(found.file),
            "generation": found.generation.name,
            "why": found.why,
            "player": self.player,
            "classes": [player.name for player in found.players],
            "scores": list(found.scores),
            "clock": "ticks" if self.counted else "wall",
            "load": list(self.load),
            "cores": self.cores,
            "tournament": self._compared.to_dict() if self.moved else None,
            "judged": [
                {
                    "name": name,
                    "never_moved": judged.never_moved and asdict(judged.never_moved),
                    "lost_by": {
                        kind: {"games": times, "first": detail}
                        for kind, (times, detail) in judged.unusual.items()
                    },
                    "own_clock": judged.own_clock,
                    "keeps": judged.keeping.to_dict(),
                    "resigned": {
                        "games": judged.resigned.games,
                        "won_by_the_solver": judged.resigned.won,
                        "tries": judged.resigned.tries,
                        "saved": judged.resigned.saved,
                        "cost": judged.resigned.cost,
                    },
                }
                for name, judged in zip(self.tournament.names, self.judged, strict=True)
            ],
        }
