"""``knightfall show``: what a run says."""

from __future__ import annotations

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import LAST, RunName, StorePath


def show(run: RunName = LAST, store: StorePath = None, json: Json = False) -> None:
    """Show the report of a run.

    A run that is still going on can be looked at, too.

    \b
    Examples:
      knightfall show
      knightfall show 3 --json
    """
    from knightfall.arena.reports.kinds import report_on
    from knightfall.cli.options.store import find_run, reading
    from knightfall.cli.screen.output import print_report

    with reading(store) as opened:
        print_report(report_on(find_run(opened, run)), json=json)
