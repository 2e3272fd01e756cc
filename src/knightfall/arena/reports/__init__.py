"""The report of a run, by the kind of its plan."""

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
    """Return what a run says so far; without `commands`, it does not name any to type next."""
    report = KINDS[run.plan.kind](run)
    report.commands = commands
    return report
