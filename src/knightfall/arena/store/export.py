"""Runs on their way out of the store: as tables for analysis, or whole for another store.

::

    csv       a line per game, for spreadsheets and R
    parquet   the same with every move's figures as lists, for pandas and DuckDB
    jsonl     the run, then a line per pair: all that is known, `importing` reads it back
    text      the run, then games as tags and numbered moves, for people
"""

from __future__ import annotations

import csv
import importlib
import json
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from io import StringIO
from itertools import islice
from typing import IO, Any

from knightfall.arena.game.records import GameRecord, PairRecord
from knightfall.arena.store.file import SUMS
from knightfall.arena.store.run import Run, StoredGame
from knightfall.errors import KnightfallError
from knightfall.notation.game_text import RESULT, game_text
from knightfall.position import Position

FORMATS = ("csv", "jsonl", "parquet", "text")
RUN_FORMAT = "knightfall run 1"
COLUMNS = (
    "run", "pair", "game", "match", "first", "second", "opening", "hunter", "seed", "repeats",
    "winner", "reason", "plies", *SUMS, "moves", "detail",
)  # fmt: skip
"""The columns of csv and parquet; `first` and `second` are names."""

LISTS = {"scores": "float64", "depths": "uint8", "nodes": "uint64", "microseconds": "uint32"}
"""What parquet has besides, an item per move; `moves` is a list there, too."""

GROUP = 4096
"""Games that parquet keeps together, and that are in memory at one time."""

Told = Callable[[int], None]


def _nobody(pairs: int) -> None:
    pass


def export_lines(run: Run, format: str, told: Told = _nobody) -> Iterator[str]:
    """The lines of csv, jsonl or text, ends included; `told` hears how many pairs are done."""
    writers = {"csv": _csv, "jsonl": _jsonl, "text": _text}
    if format not in writers:
        raise KnightfallError(f"format {format!r} is not one of {', '.join(writers)}")
    return writers[format](run, told)


def head(run: Run, pairs: int) -> dict[str, Any]:
    """What the first line of jsonl and text says of the run."""
    return {
        "format": RUN_FORMAT,
        "key": run.key,
        "plan": json.loads(run.plan.to_json()),
        "created": run.created,
        "finished": run.finished,
        "outcome": run.outcome,
        "versions": run.versions,
        "pairs": pairs,
    }


# -- a line per pair -------------------------------------------------------------------------


def _jsonl(run: Run, told: Told) -> Iterator[str]:
    played = run.played
    yield _json(head(run, played))
    places = len(run.plan.matches)
    for record in islice(run.pairs(), played):
        task = record.task
        yield _json(
            {
                "pair": task.number,
                "match": task.number % places,
                "opening": task.opening,
                "seed": task.seed,
                "games": [_game_json(game, task.opening) for game in record.games],
            }
        )
        told(task.number + 1)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


def _game_json(game: GameRecord, opening: str) -> dict[str, Any]:
    return {
        "winner": game.winner,
        "reason": game.reason,
        "moves": _moves(game, opening),
        # JSON has no infinities.
        "scores": [x if math.isfinite(x) else str(x) for x in game.column("scores").tolist()],
        "depths": game.column("depths").tolist(),
        "nodes": game.column("nodes").tolist(),
        "microseconds": game.column("microseconds").tolist(),
        "detail": game.detail,
    }


def _moves(game: GameRecord, opening: str) -> list[str]:
    return list(game.moves(_position(opening)))


@lru_cache(maxsize=4096)
def _position(fen: str) -> Position:
    return Position.from_fen(fen)


def _text(run: Run, told: Told) -> Iterator[str]:
    played = run.played
    yield "% " + _json(head(run, played))
    plan = run.plan
    for record in islice(run.pairs(), played):
        match = plan.matches[record.task.number % len(plan.matches)]
        names = plan.entrants[match.a].name, plan.entrants[match.b].name
        for game in (0, 1):
            yield _written(record, game, names)
        told(record.task.number + 1)


def _written(record: PairRecord, game: int, names: tuple[str, str]) -> str:
    """One game of a pair as text; `names` are those of `a` and `b`."""
    task, played = record.task, record.games[game]
    white, black = names if game == 0 else reversed(names)
    tags = {
        "Pair": str(task.number),
        "Game": str(game),
        "White": white,
        "Black": black,
        "Opening": task.opening,
        "Seed": str(task.seed),
        "Result": RESULT[played.winner],
        "Reason": played.reason,
    }
    if played.detail:
        tags["Detail"] = played.detail
    opening = _position(task.opening)
    return game_text(tags, played.moves(opening), opening.to_move)


# -- a line per game -------------------------------------------------------------------------


def _csv(run: Run, told: Told) -> Iterator[str]:
    page = StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line, game in _games(run, told):
        row = _row(run, line)
        writer.writerow([*row.values(), " ".join(_moves(game, line.opening)), game.detail])
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()  # the headings, if there are no games


def _games(run: Run, told: Told) -> Iterator[tuple[StoredGame, GameRecord]]:
    """Every game as a line and whole."""
    lines = run.games()
    for record in run.pairs():
        for game, line in zip(record.games, islice(lines, 2), strict=True):
            yield line, game
        told(record.task.number + 1)


def _row(run: Run, line: StoredGame) -> dict[str, Any]:
    """The columns but for the last two."""
    row = {name: getattr(line, name) for name in COLUMNS[:-2]}
    row["first"] = run.plan.entrants[line.first].name
    row["second"] = run.plan.entrants[line.second].name
    return row


def export_parquet(run: Run, out: IO[bytes], told: Told = _nobody) -> None:
    """Write a Parquet file of all games."""
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise KnightfallError(
            "parquet needs the package pyarrow: pip install 'knightfall[parquet]'"
        ) from None
    texts = {"first", "second", "opening", "hunter", "winner", "reason"}
    kinds = {name: arrow.string() if name in texts else arrow.int64() for name in COLUMNS[:-2]}
    kinds["moves"] = arrow.list_(arrow.string())
    kinds |= {name: arrow.list_(getattr(arrow, kind)()) for name, kind in LISTS.items()}
    kinds["detail"] = arrow.string()
    schema = arrow.schema(list(kinds.items()))
    games = _games(run, told)
    with parquet.ParquetWriter(out, schema) as writer:
        while group := list(islice(games, GROUP)):
            rows = [_whole_row(run, line, game) for line, game in group]
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))


def _whole_row(run: Run, line: StoredGame, game: GameRecord) -> dict[str, Any]:
    lists = {name: game.column(name).tolist() for name in LISTS}  # type: ignore[arg-type]
    return {
        **_row(run, line),
        "moves": _moves(game, line.opening),
        **lists,
        "detail": game.detail,
    }
