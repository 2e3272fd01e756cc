"""``python -m knightfall.web.lab.play_job``: the process that plays a run or grading for the lab.

The first line of standard input describes the job.  The process writes its progress as lines of
JSON.  Its exit status is 0 when the job is done, 130 if it was interrupted, 2 if it is invalid.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from knightfall.display.numbers import count
from knightfall.display.printable import json_line, printable
from knightfall.errors import KnightfallError
from knightfall.isolation import sigint
from knightfall.isolation.limits import exit_with_parent
from knightfall.isolation.run_isolated import take_streams
from knightfall.user_files import original_paths

GENTLE = 10
"""Niceness of the process, so that requests of the page are served first."""

Send = Callable[..., None]
"""A function that sends its keyword arguments to the server as a message."""


def main() -> int:
    """Play the job that standard input describes; return the exit status."""
    sigint.exit_on_sigint()
    exit_with_parent()
    reading, writing = take_streams()
    with os.fdopen(reading, "rb") as stdin:
        spec = json.loads(stdin.readline())
    if hasattr(os, "nice"):
        os.nice(GENTLE)

    def send(**message: Any) -> None:
        os.write(writing, json_line(message).encode())

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        send(notice=_short(f"warning: {message}", spec))

    warnings.showwarning = warn
    try:
        return _grade(spec, send) if spec["kind"] == "grading" else _play(spec, send)
    except KnightfallError as error:
        send(error=printable(_short(str(error), spec)))
        return 2
    except KeyboardInterrupt:
        return sigint.INTERRUPTED
    except Exception as error:
        send(error=printable(f"{type(error).__name__}: {error}"))
        return 1


def _short(text: str, spec: dict[str, Any]) -> str:
    """Return a text with full paths replaced by the names that the page knows."""
    text = original_paths(text)
    for name, path in spec["files"].items():
        text = text.replace(path, name)
    return text


# -- a run -----------------------------------------------------------------------------------


def _play(spec: dict[str, Any], send: Send) -> int:
    """Play a new run, or the rest of a stored one; return the exit status."""
    from knightfall.arena import engine_version
    from knightfall.arena.api import check, from_snapshot
    from knightfall.arena.run_loop import play_to_end
    from knightfall.arena.snapshot import run_snapshot
    from knightfall.arena.store import Store
    from knightfall.isolation.parallel_map import RunnerOptions

    def tell(text: str) -> None:
        send(notice=_short(text, spec))

    options = RunnerOptions()
    with run_snapshot(tell) as taken, Store.open(spec["store"]) as store:
        taken.enter()
        resumed = store.run(spec["run"]) if "run" in spec else None
        plan = _plan(spec) if resumed is None else resumed.plan
        check(plan, options)
        run = resumed or store.begin(
            plan, engine_version.engine(), engine_version.versions(), again=spec["again"]
        )
        send(run=run.id, total=plan.total, done=run.played)
        if plan.exhausted:
            starts = count(len(plan.starts), "opening")
            send(notice=f"the board has only {starts}; none is played twice")
        if run.finished:
            send(notice="this run was played before; tick “play again” to repeat it")
            return 0
        with from_snapshot(options, plan, tell) as runner:
            play_to_end(run, runner)
        send(done=run.played)
    return 0


def _plan(spec: dict[str, Any]) -> Any:
    from knightfall.arena.plan import Openings, league_plan, match_plan
    from knightfall.arena.tournament_plan import tournament_plan
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
    # Entrants get the names that the page shows.  A command in the files' folder uses the same
    # names, and therefore continues the same run.
    named = tuple(replace(one, name=_short(one.name, spec)) for one in plan.entrants)
    return replace(plan, entrants=named)


# -- a grading -------------------------------------------------------------------------------


def _grade(spec: dict[str, Any], send: Send) -> int:
    """Play the games of a grading that are not stored yet, and store each as it ends."""
    from knightfall.agents import parse_agent
    from knightfall.agents.remote_player import player
    from knightfall.arena import engine_version
    from knightfall.arena.plan import enter, files_of
    from knightfall.arena.snapshot import run_snapshot
    from knightfall.arena.store import now
    from knightfall.board import Board
    from knightfall.oracle.graded_games import draw_openings, records_of
    from knightfall.web.lab.gradings import Gradings, RecordingPlayer

    board = Board.named(spec["board"])
    drawn = draw_openings(board, spec["openings"], spec["seed"])
    with run_snapshot(lambda text: send(notice=_short(text, spec))) as taken:
        taken.enter()
        (entrant,) = enter([spec["agent"]])
        files = files_of([entrant])
        recording = RecordingPlayer(player(parse_agent(taken.agent(entrant.agent)), board))
        stored = Gradings(spec["store"])
        grading = stored.begin(
            {
                "agent": entrant.agent, "name": _short(entrant.name, spec), "board": board.text,
                "openings": len(drawn), "seed": spec["seed"], "files": files,
                "engine": engine_version.engine(), "created": now(),
            }
        )  # fmt: skip
        done = len(grading.games)
        send(grading=grading.id, done=done, total=len(drawn))
        if grading.finished:
            send(notice="this grading was finished before; its stored results are shown")
            return 0
        sigint.enable_keyboard_interrupt()
        for number, record in enumerate(records_of(recording, drawn[done:]), start=done):
            stored.append(grading.id, number, recording.game(record), record)
            send(done=number + 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
