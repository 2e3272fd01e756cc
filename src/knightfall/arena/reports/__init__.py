"""The reports of all kinds of runs."""

from __future__ import annotations

from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.reports.match import MatchReport
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.reports.worth import WorthReport
from knightfall.arena.results import RunReport
from knightfall.arena.store import Run

KINDS: dict[str, type[RunReport]] = {
    report.kind: report for report in (MatchReport, TournamentReport, LeagueReport, WorthReport)
}


def report_on(run: Run, *, commands: bool = True) -> RunReport:
    """Return the report of a run; with `commands` it suggests commands to type next."""
    report = KINDS[run.plan.kind](run)
    report.commands = commands
    return report
