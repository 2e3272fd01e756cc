"""The reports of all kinds of runs, and the list of the runs in a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import PurePath
from typing import Any

from knightfall.agents import submissions
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.reports.match import MatchReport
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.results import RunReport
from knightfall.arena.store import Run, RunInfo
from knightfall.arena.worth import WorthReport
from knightfall.display.numbers import FEW, count, some
from knightfall.display.report import Displayable, Part, legend
from knightfall.display.table import Lines, Table

KINDS: dict[str, type[RunReport]] = {
    report.kind: report for report in (MatchReport, TournamentReport, LeagueReport, WorthReport)
}


def report_on(run: Run, *, commands: bool = True) -> RunReport:
    """Return the report of a run; with `commands` it suggests commands to type next."""
    report = KINDS[run.plan.kind](run)
    report.commands = commands
    return report


HASH = 7
"""Number of shown characters of a file's hash."""


class RunList(Displayable, list[RunInfo]):
    """Summaries of runs, in the order in which they were begun."""

    def __init__(self, found: Sequence[RunInfo], refused: Sequence[tuple[int, str]] = ()) -> None:
        super().__init__(found)
        self.refused = tuple(refused)
        """Numbers of damaged or forged runs that are not listed, each with the reason."""

    def in_one_line(self) -> str:
        return count(len(self), "run") + (f", {len(self.refused)} refused" if self.refused else "")

    def parts(self) -> Iterator[Part]:
        """Yield the table of runs.  Hashes of files tell runs of the same agents apart."""
        table = Table(["run", "kind", "agents", "outcome", "board", "pairs", "begun"], labels=4)
        for info in self:
            pairs = f"{info.played:,}" if info.finished else f"{info.played:,}/{info.total:,}"
            board = info.board.replace("x", "×")
            outcome = (info.verdict or "finished") if info.finished else "not finished"
            agents = Lines([some(info.names) + _edition(info, self), *_submissions(info)])
            table.add(str(info.id), info.kind, agents, outcome, board, pairs, _here(info.created))
        yield table
        yield ""
        yield legend("pair")
        yield from self.refusals()

    def refusals(self) -> Iterator[str]:
        """Yield a line for each of the first few runs that are not listed, and one for the rest."""
        for id, reason in self.refused[:FEW]:
            yield f"run {id} is not listed: {reason}"
        if self.refused[FEW:]:
            more = count(len(self.refused) - FEW, "more run")
            yield f"{more} not listed for such reasons"

    def to_dict(self) -> dict[str, Any]:
        return {
            "runs": [
                {**asdict(one), "submissions": [each._asdict() for each in submissions(one.agents)]}
                for one in self
            ],
            "refused": [{"run": id, "error": reason} for id, reason in self.refused],
        }


def _submissions(info: RunInfo) -> list[str]:
    """Return the paths of the first few submissions that have other names, one a line."""
    named = zip(info.names, info.agents, strict=True)
    found = [str(one) for one in submissions(agent for name, agent in named if name != agent)]
    more = [f"and {count(len(found) - FEW, 'more submission')}"] if len(found) > FEW else []
    return found[:FEW] + more


def _edition(info: RunInfo, found: Sequence[RunInfo]) -> str:
    """Return names and hashes of the run's files that differ in other runs of the same agents."""
    others = [other.files for other in found if other.names == info.names]
    edited = [
        f"{PurePath(path).name} {hash[:HASH]}"
        for path, hash in info.files.items()
        if any(files.get(path, hash) != hash for files in others)
    ]
    return f" ({', '.join(edited)})" if edited else ""


def _here(time: str) -> str:
    """Return a stored time in the local time zone, with the year if it is not the current one."""
    try:
        here = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    this_year = here.year == datetime.now().year
    return here.strftime("%d %b %H:%M" if this_year else "%d %b %Y")
