"""What the page shows of a run: its report, the path of its test, its last games, all its games."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knightfall.agents import known_agent
from knightfall.arena.game.records import GameRecord
from knightfall.arena.plan.entrants import check_files
from knightfall.arena.plan.version import engine
from knightfall.arena.reports.kinds import report_on
from knightfall.arena.results.stopping import test_of
from knightfall.arena.results.tallies import results
from knightfall.arena.store.run import Run, StoredGame
from knightfall.arena.store.scoresheets import position
from knightfall.display.numbers import for_json
from knightfall.display.printable import printable
from knightfall.display.report import as_text
from knightfall.errors import KnightfallError

POINTS = 300
"""Points of a path; more cannot be seen."""

RECENT = 4
"""Games that are shown while a run goes on: the last that were stored."""


def about(run: Run) -> dict[str, Any]:
    """Everything but whether it can be gone on with."""
    plan, report = run.plan, report_on(run)
    return {
        "run": run.id,
        "report": report.to_dict() if run.played else None,
        "text": as_text(report.parts(), None) if run.played else "",
        "kind": plan.kind,
        "played": run.played,
        "total": plan.total,
        "created": run.created,
        "finished": run.finished,
        "board": plan.board,
        "seed": plan.seed,
        "entrants": [{"name": e.name, "agent": printable(e.agent)} for e in plan.entrants],
        "tests": plan.options.get("tests"),
        "matches": [[match.a, match.b] for match in plan.matches],
        "llr": llr_path(run),
        "recent": recent(run),
    }


def llr_path(run: Run) -> dict[str, Any] | None:
    """The path of a sequential test between its bounds; None if there is no test."""
    test = test_of(run.plan)
    if test is None:
        return None
    stood = results(run).prefixes(0)
    last = len(stood) - 1
    at = sorted({round(last * point / POINTS) for point in range(POINTS + 1)})
    path = [[number, for_json(test.llr(stood[number]))] for number in at]
    lower, upper = test.bounds
    return {"path": path, "lower": lower, "upper": upper, "elo0": test.elo0, "elo1": test.elo1}


def resuming(run: Run) -> dict[str, Any]:
    """What is against going on with a run, and the files that its agents come from."""
    why, plan = "", run.plan
    if run.finished:
        why = "It is finished."
    elif plan.kind == "worth":
        why = "The command knightfall worth goes on with it."
    elif run.key != plan.key(engine()):
        why = "It was begun by another version of knightfall."
    else:
        try:
            check_files(plan)
        except KnightfallError:
            why = "A file that its agents come from was edited since: it would be another run."
    files = {path for entrant in plan.entrants for path in known_agent(entrant.agent).files}
    return {"why_not": why, "files": sorted(files)}


# -- games -----------------------------------------------------------------------------------


def recent(run: Run) -> list[dict[str, Any]]:
    """The last stored games with their moves, the latest first."""
    played, found = run.played, list[dict[str, Any]]()
    for pair in range(played - 1, max(-1, played - 1 - RECENT // 2), -1):
        found += [one_game(run, pair, game) for game in (1, 0)]
    return found


def one_game(run: Run, pair: int, game: int) -> dict[str, Any]:
    """A game with its moves and what its players thought."""
    record, plan = run.pair(pair), run.plan
    match = plan.matches[pair % len(plan.matches)]
    played: GameRecord = record.games[game]
    seats = (match.a, match.b) if game == 0 else (match.b, match.a)
    opening = position(record.task.opening)
    return {
        "id": f"{run.id}.{pair}.{game}",
        "run": run.id,
        "pair": pair,
        "game": game,
        "first": seats[0],
        "second": seats[1],
        "names": [printable(plan.entrants[seat].name) for seat in seats],
        "winner": played.winner,
        "reason": played.reason,
        "plies": len(played.column("depths")),
        "opening": record.task.opening,
        "hunter": opening.hunter,
        "moves": list(played.moves(opening)),
        "scores": [for_json(score) for score in played.column("scores").tolist()],
        "depths": played.column("depths").tolist(),
        "nodes": played.column("nodes").tolist(),
        "microseconds": played.column("microseconds").tolist(),
        "detail": printable(played.detail),
    }


def games(run: Run, *, skip: int, limit: int, **wanted: Any) -> dict[str, Any]:
    """The games that a number counts, and whether there are more."""
    names = [printable(entrant.name) for entrant in run.plan.entrants]
    found: list[dict[str, Any]] = []
    for number, line in enumerate(_wanted(run, **wanted)):
        if number >= skip + limit:
            return {"games": found, "names": names, "more": True}
        if number >= skip:
            found.append(_in_short(line))
    return {"games": found, "names": names, "more": False}


def _wanted(
    run: Run,
    match: int | None = None,
    of: int | None = None,
    won_by: int | None = None,
    lost_by: int | None = None,
    first: int | None = None,
    hunter: int | None = None,
    runner: int | None = None,
    reason: Any = None,
    score: int | None = None,
) -> Iterator[StoredGame]:
    scores = None if score is None else run.outcomes().scores
    for line in run.games(
        match=match,
        won_by=None if won_by is None else [won_by],
        lost_by=None if lost_by is None else [lost_by],
        reason=reason,
    ):
        hunts, runs = line.first, line.second
        if line.hunter == "b":
            hunts, runs = runs, hunts
        if (
            (of is None or of in (line.first, line.second))
            and (first is None or first == line.first)
            and (hunter is None or hunter == hunts)
            and (runner is None or runner == runs)
            and (scores is None or (line.pair < len(scores) and scores[line.pair] == score))
        ):
            yield line


def _in_short(line: StoredGame) -> dict[str, Any]:
    return {
        "id": line.id, "run": line.run, "pair": line.pair, "game": line.game,
        "first": line.first, "second": line.second, "winner": line.winner,
        "reason": line.reason, "plies": line.plies, "opening": line.opening,
        "hunter": line.hunter, "repeats": line.repeats,
    }  # fmt: skip
