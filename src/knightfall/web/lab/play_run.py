"""``python -m knightfall.web.lab.play_run``: plays one run or grading for the lab.

The first line of its standard input says what.  It tells how it goes on in lines of JSON, and ends
as a command would: with 0, with 130 if it was interrupted, with 2 if it cannot be done.
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
from knightfall.isolation.run_isolated import claim_stdout

GENTLE = 10
"""How much longer it waits for a processor than those who answer somebody."""

Tell = Callable[..., None]


def main() -> int:
    """Do what the first line says."""
    sigint.exit_on_sigint()
    spec = json.loads(sys.stdin.buffer.readline())
    writing = claim_stdout()
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
    """Return a text with files by the names that the page knows."""
    text = text.replace(spec["snapshot"], "")
    for name, path in spec["files"].items():
        text = text.replace(path, name)
    return text


# -- a run -----------------------------------------------------------------------------------


def _play(spec: dict[str, Any], tell: Tell) -> int:
    from knightfall.arena import version
    from knightfall.arena.api import check
    from knightfall.arena.run_loop import conduct
    from knightfall.arena.runners.choose_runner import choose_runner
    from knightfall.arena.runners.snapshot import Snapshot, SnapshotRunner
    from knightfall.arena.store import Store
    from knightfall.isolation.parallel_map import RunnerOptions

    options = RunnerOptions()
    with Store.open(spec["store"]) as store:
        resumed = store.run(spec["run"]) if "run" in spec else None
        plan = _plan(spec) if resumed is None else resumed.plan
        agents = [entrant.agent for entrant in plan.entrants]
        taken = Snapshot(spec["snapshot"], plan.files, agents)
        taken.enter()
        played = taken.plan(plan)
        check(played, options)
        run = resumed or store.begin(
            plan, version.engine(), version.versions(), again=spec["again"]
        )
        tell(run=run.id, total=plan.total, done=run.played)
        if plan.exhausted:
            starts = count(len(plan.starts), "opening")
            tell(notice=f"the board has no more than {starts}: none is played twice")
        if run.finished:
            tell(notice="it was played before; tick “play anew” to play it again")
            return 0
        with choose_runner(options, played, lambda text: tell(notice=_short(text, spec))) as runner:
            conduct(run, SnapshotRunner(runner, taken), files=taken.not_copied(played.entrants))
        tell(done=run.played)
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
    # Called as the page calls them: a command in their folder would, too, and plays the same run.
    named = tuple(replace(one, name=_short(one.name, spec)) for one in plan.entrants)
    return replace(plan, entrants=named)


# -- a grading -------------------------------------------------------------------------------


def _grade(spec: dict[str, Any], tell: Tell) -> int:
    """Play the games of a grading that are not stored yet, and store each as it ends."""
    from knightfall.agents import parse_agent
    from knightfall.agents.remote_player import player
    from knightfall.arena import version
    from knightfall.arena.plan import check_unchanged, enter, files_of
    from knightfall.arena.runners.snapshot import Snapshot
    from knightfall.arena.store import now
    from knightfall.board import Board
    from knightfall.oracle.record import draw_openings, records_of
    from knightfall.web.lab.gradings import Gradings, RecordingPlayer

    board = Board.named(spec["board"])
    drawn = draw_openings(board, spec["openings"], spec["seed"])
    (entrant,) = enter([spec["agent"]])
    files = files_of([entrant])
    taken = Snapshot(spec["snapshot"], files, [entrant.agent])
    taken.enter()
    played = replace(entrant, agent=taken.agent(entrant.agent))
    elsewhere = taken.not_copied([played])
    recording = RecordingPlayer(player(parse_agent(played.agent), board))
    stored = Gradings(spec["store"])
    grading = stored.begin(
        {
            "agent": entrant.agent, "name": _short(entrant.name, spec), "board": board.text,
            "openings": len(drawn), "seed": spec["seed"], "files": files,
            "engine": version.engine(), "created": now(),
        }
    )  # fmt: skip
    done = len(grading.games)
    tell(grading=grading.id, done=done, total=len(drawn))
    if grading.finished:
        tell(notice="it was graded before: these are its numbers")
        return 0
    sigint.enable_keyboard_interrupt()
    for number, record in enumerate(records_of(recording, drawn[done:]), start=done):
        check_unchanged(elsewhere)
        stored.append(grading.id, number, recording.game(record), record)
        tell(done=number + 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
