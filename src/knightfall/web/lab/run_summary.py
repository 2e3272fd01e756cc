"""The facts that the page shows about a run: report, sequential test, games with exact values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from knightfall.agents import cached_agent
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import GameRecord, check_files
from knightfall.arena.reports import report_on
from knightfall.arena.reports.league import LeagueReport
from knightfall.arena.reports.match import MatchReport
from knightfall.arena.reports.tournament import TournamentReport
from knightfall.arena.results import results
from knightfall.arena.run_loop import test_of
from knightfall.arena.store import Run, StoredGame
from knightfall.arena.store_file import position
from knightfall.board import Board
from knightfall.display.numbers import for_json, percent
from knightfall.display.printable import printable
from knightfall.display.report import as_text
from knightfall.errors import KnightfallError
from knightfall.position import Position, other
from knightfall.solver.atlas import lookup
from knightfall.solver.engine import Engine, Limits, OutOfBudget
from knightfall.solver.solve import Solver
from knightfall.web.lab.agent_names import short_names
from knightfall.web.lab.gradings import StoredGrading

POINTS = 300
"""Most points of the path of a sequential test; a chart cannot show more."""

RECENT = 4
"""Number of latest games that are shown while a run is played."""


def about(run: Run) -> dict[str, Any]:
    """Return all facts about a run, except whether it can be resumed."""
    plan, report = run.plan, report_on(run, commands=False)
    shorter = _short(run)
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
        "entrants": [
            {"name": printable(e.name), "agent": printable(e.agent), "short": printable(one)}
            for e, one in zip(plan.entrants, shorter, strict=True)
        ],
        "tests": plan.options.get("tests"),
        "matches": [[match.a, match.b] for match in plan.matches],
        "llr": llr_path(run),
        "recent": recent(run),
    }


def llr_path(run: Run) -> dict[str, Any] | None:
    """Return how the LLR of a run's sequential test developed, with its bounds; None if no test."""
    test = test_of(run.plan)
    if test is None:
        return None
    stood = results(run).running_counts(0)
    last = len(stood) - 1
    at = sorted({round(last * point / POINTS) for point in range(POINTS + 1)})
    path = [[number, for_json(test.llr(stood[number]))] for number in at]
    lower, upper = test.bounds
    return {"path": path, "lower": lower, "upper": upper, "elo0": test.elo0, "elo1": test.elo1}


def resuming(run: Run) -> dict[str, Any]:
    """Return why a run cannot be resumed (empty if it can), and its agents' source files."""
    plan = run.plan
    why = _why_not(bool(run.finished), run.key == plan.key(engine()), plan.files)
    if plan.kind == "worth" and not run.finished:
        why = "Resume it with the command knightfall worth."
    if not why and any("in_process" in entrant.agent for entrant in plan.entrants):
        why = "Resume it where it was begun: its agents are called without isolation."
    files = {path for entrant in plan.entrants for path in cached_agent(entrant.agent).files}
    return {"why_not": why, "files": sorted(files)}


def grading_resuming(found: StoredGrading) -> dict[str, Any]:
    """Return why a grading cannot be resumed (empty if it can), and its agent's source files."""
    header = found.header
    why = _why_not(found.finished, header["engine"] == engine(), header["files"])
    return {"why_not": why, "files": sorted(cached_agent(header["agent"]).files)}


def _why_not(finished: bool, same_engine: bool, files: Mapping[str, str]) -> str:
    """Return why a run or grading cannot be resumed; `files` are hashes by path."""
    if finished:
        return "It is finished."
    if not same_engine:
        return "It was begun by another version of knightfall."
    try:
        check_files(files)
    except KnightfallError:
        return "A file with its agents has been edited since it began."
    return ""


# -- verdicts --------------------------------------------------------------------------------


def verdict(run: Run) -> str:
    """Return the result of a run in a few words; empty for kinds of runs without a winner."""
    report = report_on(run)
    if report.nothing_measured():
        return "nothing was measured"
    if isinstance(report, MatchReport):
        return _match_verdict(report)
    if isinstance(report, TournamentReport):
        return _tournament_verdict(report)
    return _league_verdict(report) if isinstance(report, LeagueReport) else ""


def _match_verdict(report: MatchReport) -> str:
    a, b = _short(report.run)
    found = report.statistics
    share = f"{percent(found.score)} against {b}"
    if report.test is not None:
        passed = {"H1": "passed", "H0": "failed"}.get(report.accepted or "")
        return f"{a} {passed} the test, {share}" if passed else f"not decided: {a} {share}"
    if found.low > 0.5:
        return f"{a} is better, {share}"
    if found.high < 0.5:
        return f"{b} is better, {percent(1 - found.score)} against {a}"
    return f"not told apart: {a} {share}"


def _tournament_verdict(report: TournamentReport) -> str:
    rows, names = report.standings, _short(report.run)
    best = max(range(len(rows)), key=lambda test: rows[test].rate or 0.0)
    share = f"{names[best]} has the most points, {percent(rows[best].rate)}"
    if len(rows) == 1:
        return f"{names[0]} won {percent(rows[0].rate)}"
    worse = [one for one in report.differences if one.real and one.difference < 0]
    if best == 0:
        certain = len(worse) == len(report.differences)
    else:
        certain = report.differences[best - 1].real
    return share if certain else f"{share}; not told apart"


def _league_verdict(report: LeagueReport) -> str:
    names, (first, second) = _short(report.run), report.order[:2]
    gap, error = report.ratings.difference(first, second)
    if gap > error:
        return f"{names[first]} is the best"
    return f"{names[first]} leads, not told apart from {names[second]}"


def _short(run: Run) -> list[str]:
    return short_names([entrant.name for entrant in run.plan.entrants])


# -- games -----------------------------------------------------------------------------------


def recent(run: Run) -> list[dict[str, Any]]:
    """Return the latest stored games with their moves, the latest first."""
    played, found = run.played, list[dict[str, Any]]()
    for pair in range(played - 1, max(-1, played - 1 - RECENT // 2), -1):
        found += [one_game(run, pair, game) for game in (1, 0)]
    return found


def one_game(run: Run, pair: int, game: int) -> dict[str, Any]:
    """Return a game with its moves and the score, depth, nodes and time of each."""
    record, plan = run.pair(pair), run.plan
    match = plan.matches[pair % len(plan.matches)]
    played: GameRecord = record.games[game]
    seats = (match.a, match.b) if game == 0 else (match.b, match.a)
    opening, shorter = position(record.task.opening), _short(run)
    return {
        "id": f"{run.id}.{pair}.{game}",
        "run": run.id,
        "pair": pair,
        "game": game,
        "first": seats[0],
        "second": seats[1],
        "names": [printable(plan.entrants[seat].name) for seat in seats],
        "short": [printable(shorter[seat]) for seat in seats],
        "winner": played.winner,
        "reason": played.reason,
        "plies": len(played.column("depths")),
        "opening": record.task.opening,
        "hunter": opening.hunter,
        "opening_winner": opening_winner(opening),
        "moves": list(played.moves(opening)),
        "scores": [for_json(score) for score in played.column("scores").tolist()],
        "depths": played.column("depths").tolist(),
        "nodes": played.column("nodes").tolist(),
        "microseconds": played.column("microseconds").tolist(),
        "detail": printable(played.detail),
    }


def games(run: Run, *, skip: int, limit: int, **wanted: Any) -> dict[str, Any]:
    """Return the games of a run that pass some filters, and whether there are more."""
    named = {
        "names": [printable(entrant.name) for entrant in run.plan.entrants],
        "short": [printable(name) for name in _short(run)],
    }
    found = list(islice(_wanted(run, **wanted), skip, skip + limit + 1))
    return {"games": [*map(_in_short, found[:limit])], **named, "more": len(found) > limit}


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
        "opening_winner": opening_winner(position(line.opening)),
    }  # fmt: skip


# -- the truth of a game ----------------------------------------------------------------------


SECONDS = 5.0
"""Most seconds for judging a game; on 7×7 it takes some hundredths of a second."""


def opening_winner(opening: Position) -> str | None:
    """Return the side that wins an opening, by the atlas; None if the atlas lacks it."""
    entry = lookup(opening)
    if entry is None:
        return None
    return opening.to_move if entry.mover_wins else other(opening.to_move)


def game_truth(game: dict[str, Any]) -> dict[str, Any]:
    """Return the winner at the opening and the plies (from 1) at which a win was thrown away.

    `opening` is None if time ran out, and `known_from` is the first ply that was judged.  A player
    in a winning position that loses by time, an illegal move or a crash throws its win away, too:
    this counts at the ply that was not played.
    """
    opening = Position.from_fen(game["opening"])
    positions = [opening]
    for move in game["moves"]:
        positions.append(positions[-1].play(move))
    solver = _solver(opening.board)
    solver.limits = Limits(deadline=time.perf_counter() + SECONDS)
    winners: list[str | None] = [None] * len(positions)
    for at in range(len(positions) - 1, -1, -1):  # backwards: the end is easy, and its proofs help
        mover = positions[at].to_move
        try:
            winners[at] = mover if solver.wins(positions[at]) else other(mover)
        except OutOfBudget:
            break
    thrown = [
        at + 1
        for at, position in enumerate(positions[:-1])
        if winners[at] == position.to_move and winners[at + 1] == other(position.to_move)
    ]
    loser = "b" if game["winner"] == "w" else "w"
    if game["reason"] != "no moves" and winners[-1] == loser:
        thrown.append(len(positions))
    known_from = next((at + 1 for at, one in enumerate(winners) if one is not None), len(positions))
    return {
        "opening": winners[0] or opening_winner(opening),
        "thrown": thrown,
        "known_from": known_from,
    }


@lru_cache(maxsize=4)
def _solver(board: Board) -> Solver:
    return Solver(Engine(board))
