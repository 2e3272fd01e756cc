"""``python -m knightfall.web.lab.play_run``: plays one run or grading for the lab.

The first line of its standard input says what.  It tells how it goes on in lines of JSON, and ends
as a command would: with 0, with 130 if it was interrupted, with 2 if it cannot be done.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from knightfall import sigint
from knightfall.apart import quietly
from knightfall.display.numbers import count
from knightfall.display.printable import json_line, printable
from knightfall.errors import KnightfallError

GENTLE = 10
"""How much longer it waits for a processor than those who answer somebody."""

SUMMING = 0.5
"""Seconds between two sums of a grading."""

Tell = Callable[..., None]


def main() -> int:
    """Do what the first line says."""
    sigint.end_at_once()
    spec = json.loads(sys.stdin.buffer.readline())
    writing = quietly()
    if hasattr(os, "nice"):
        os.nice(GENTLE)

    def tell(**said: Any) -> None:
        os.write(writing, json_line(said).encode())

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        tell(notice=_short(f"warning: {message}", spec))

    warnings.showwarning = warn
    try:
        return _grade(spec, tell) if spec["kind"] == "grading" else _play(spec, tell)
    except KnightfallError as error:
        tell(error=printable(_short(str(error), spec)))
        return 2
    except KeyboardInterrupt:
        return sigint.INTERRUPTED
    except Exception as error:
        tell(error=printable(f"{type(error).__name__}: {error}"))
        return 1


def _short(text: str, spec: dict[str, Any]) -> str:
    """A text with files by the names that the page knows."""
    for name, path in spec["files"].items():
        text = text.replace(path, name)
    return text


# -- a run -----------------------------------------------------------------------------------


def _play(spec: dict[str, Any], tell: Tell) -> int:
    from knightfall.arena.conduct import conduct
    from knightfall.arena.plan import version
    from knightfall.arena.runners.hire import Crew
    from knightfall.arena.runs import check
    from knightfall.arena.store.store import Store

    crew = Crew()
    with Store.open(spec["store"]) as store:
        if spec["kind"] == "resume":
            run = store.run(spec["run"])
            plan = run.plan
            check(plan, crew)
        else:
            plan = _plan(spec)
            check(plan, crew)
            run = store.begin(plan, version.engine(), version.versions(), again=spec["again"])
        tell(run=run.id, total=plan.total, done=run.played)
        if plan.exhausted:
            starts = count(len(plan.starts), "opening")
            tell(notice=f"the board has no more than {starts}: none is played twice")
        if run.finished:
            tell(notice="it was played before; tick “play anew” to play it again")
            return 0
        with crew.hire(plan, lambda text: tell(notice=_short(text, spec))) as runner:
            conduct(run, runner)
        tell(done=run.played)
    return 0


def _plan(spec: dict[str, Any]) -> Any:
    from knightfall.arena.plan.matches import Openings, league_plan, match_plan
    from knightfall.arena.plan.protocols import tournament_plan
    from knightfall.board import Board
    from knightfall.search.budget import read_budget
    from knightfall.statistics.sprt import Sprt

    openings = Openings(
        seed=spec["seed"], board=Board.named(spec["board"]).text, stratify=spec["stratify"]
    )
    common: dict[str, Any] = {"budget": read_budget(spec.get("budget")), **openings}
    if "pairs" in spec:
        common["pairs"] = spec["pairs"]
    if spec["kind"] == "match":
        test = Sprt(*spec["sprt"]) if "sprt" in spec else None
        plan = match_plan(spec["a"], spec["b"], test=test, **common)
    elif spec["kind"] == "tournament":
        protocol = spec["protocol"]
        plan = tournament_plan(spec["tests"], spec["against"], protocol=protocol, **common)
    else:
        common |= {"gauntlet_of": spec.get("gauntlet"), "until": spec.get("until")}
        plan = league_plan(spec["agents"], **common)
    # Called as the page calls them: a command in their folder would, too, and plays the same run.
    named = tuple(replace(one, name=_short(one.name, spec)) for one in plan.entrants)
    return replace(plan, entrants=named)


# -- a grading -------------------------------------------------------------------------------


def _grade(spec: dict[str, Any], tell: Tell) -> int:
    from knightfall.agents import parse_agent
    from knightfall.arena.game.agent_process import player
    from knightfall.board import Board
    from knightfall.oracle.games import records_of
    from knightfall.oracle.grade import summed_up
    from knightfall.oracle.record import Record, draw_openings
    from knightfall.web.lab.noting import Noting

    board = Board.named(spec["board"])
    drawn = draw_openings(board, spec["openings"], spec["seed"])
    who = parse_agent(spec["agent"])
    noting = Noting(player(who, board))
    records: list[Record] = []
    told = 0.0
    tell(done=0, total=len(drawn))

    def grade() -> dict[str, Any]:
        found = summed_up(who, board, len(drawn), spec["seed"], records)
        return replace(found, player=_short(found.player, spec)).to_dict()

    sigint.raise_from_here()
    try:
        for record in records_of(noting, drawn):
            records.append(record)
            tell(done=len(records), game=noting.game(record))
            if time.monotonic() - told > SUMMING or len(records) == len(drawn):
                tell(grade=grade())
                told = time.monotonic()
    except KeyboardInterrupt:
        if records:
            tell(grade=grade())
        return sigint.INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
