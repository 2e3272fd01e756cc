"""Export runs as tables, or completely, for import into another store; back up a store.

::

    csv       a line per game, for spreadsheets and R; no cell is a formula
    parquet   the same with every move's figures as lists, for pandas and DuckDB
    jsonl     the run, then a line per pair, without loss; `import_run` reads it back
    text      the run, then games as tags and numbered moves, for reading
"""

from __future__ import annotations

import csv
import importlib
import json
import math
import os
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from knightfall.arena.plan import COLUMN_FORMATS, GameRecord
from knightfall.arena.store import Run, Store, StoredGame
from knightfall.arena.store_file import SUMS, position
from knightfall.arena.stored_games import scoresheet
from knightfall.display.printable import csv_cell, json_line
from knightfall.display.progress import OnProgress, ignore_progress
from knightfall.errors import KnightfallError
from knightfall.optional_dependencies import require
from knightfall.user_folders import atomic_draft, check_output

FORMATS = ("csv", "jsonl", "parquet", "text")
RUN_FORMAT = "knightfall run 1"
COLUMNS = (
    "run", "pair", "game", "match", "first", "second", "opening", "hunter", "seed", "repeats",
    "winner", "winner_name", "reason", "plies", *SUMS, "moves", "detail",
)  # fmt: skip
"""The columns of csv and parquet; `first`, `second` and `winner_name` are names of agents.

Parquet also has the columns of `COLUMN_FORMATS`, lists with an item per move, as is `moves` there.
"""

GROUP = 4096
"""Games in a row group of parquet, which are in memory at the same time."""


def export_lines(run: Run, format: str, on_progress: OnProgress = ignore_progress) -> Iterator[str]:
    """Yield the lines of a run in the format csv, jsonl or text, with line ends.

    `on_progress` is called with the number of pairs written.
    """
    writers = {"csv": _csv, "jsonl": _jsonl, "text": _text}
    if format not in writers:
        raise KnightfallError(f"unknown format {format!r}; known: {', '.join(writers)}")
    return writers[format](run, on_progress)


def run_header(run: Run, pairs: int) -> dict[str, Any]:
    """Return the content of the first line of the formats jsonl and text."""
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


def _jsonl(run: Run, on_progress: OnProgress) -> Iterator[str]:
    """Yield a run in the format jsonl: a header, and a line for each pair."""
    played = run.played
    yield json_line(run_header(run, played))
    places = len(run.plan.matches)
    for record in islice(run.pairs(), played):
        task = record.task
        yield json_line(
            {
                "pair": task.number,
                "match": task.number % places,
                "opening": task.opening,
                "seed": task.seed,
                "games": [_game_json(game, task.opening) for game in record.games],
            }
        )
        on_progress(task.number + 1)


def _game_json(game: GameRecord, opening: str) -> dict[str, Any]:
    """Return a game as plain values."""
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
    """Return the moves of a game as names of cells."""
    return list(game.moves(position(opening)))


def _text(run: Run, on_progress: OnProgress) -> Iterator[str]:
    """Yield a run in the format text: a header, and a scoresheet for each game."""
    played = run.played
    yield "% " + json_line(run_header(run, played))
    for record in islice(run.pairs(), played):
        for game in (0, 1):
            yield "\n" + scoresheet(run.plan, record, game).to_text()
        on_progress(record.task.number + 1)


# -- a line per game -------------------------------------------------------------------------


def _csv(run: Run, on_progress: OnProgress) -> Iterator[str]:
    """Yield a run in the format csv: the headings, and a line for each game."""
    page = StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line, game in _games(run, on_progress):
        row = _row(run, line)
        cells = [*row.values(), " ".join(_moves(game, line.opening)), game.detail]
        writer.writerow([csv_cell(cell) for cell in cells])
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()  # the headings, if there are no games


def _games(run: Run, on_progress: OnProgress) -> Iterator[tuple[StoredGame, GameRecord]]:
    """Yield every game twice: as a row of a table, and as the complete record."""
    lines = run.games()
    for record in run.pairs():
        both, number = list(islice(lines, 2)), record.task.number
        if [line.pair for line in both] != [number, number]:
            raise run.file.damaged(f"run {run.id} lacks games of pair {number}")
        for game, line in zip(record.games, both, strict=True):
            yield line, game
        on_progress(record.task.number + 1)


def _row(run: Run, line: StoredGame) -> dict[str, Any]:
    """Return a game's values of all `COLUMNS` but the last two, by column."""
    names = {side: run.plan.entrants[getattr(line, side)].name for side in ("first", "second")}
    names["winner_name"] = names["first" if line.winner == "w" else "second"]
    return {name: names[name] if name in names else getattr(line, name) for name in COLUMNS[:-2]}


def export_parquet(run: Run, out: IO[bytes], on_progress: OnProgress = ignore_progress) -> None:
    """Write all games to a Parquet file; it needs pyarrow."""
    require("--format parquet", "pyarrow")
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    texts = {"first", "second", "opening", "hunter", "winner", "winner_name", "reason"}
    kinds = {name: arrow.string() if name in texts else arrow.int64() for name in COLUMNS[:-2]}
    kinds["moves"] = arrow.list_(arrow.string())
    for name, format in COLUMN_FORMATS.items():
        kinds[name] = arrow.list_(arrow.from_numpy_dtype(np.dtype(format)))
    kinds["detail"] = arrow.string()
    schema = arrow.schema(list(kinds.items()))
    games = _games(run, on_progress)
    with parquet.ParquetWriter(out, schema) as writer:
        while group := list(islice(games, GROUP)):
            rows = [_row_with_lists(run, line, game) for line, game in group]
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))


def _row_with_lists(run: Run, line: StoredGame, game: GameRecord) -> dict[str, Any]:
    """Return a game's values of all columns of the Parquet file, by column."""
    lists: dict[str, Any] = {name: game.column(name).tolist() for name in COLUMN_FORMATS}
    return {
        **_row(run, line),
        "moves": _moves(game, line.opening),
        **lists,
        "detail": game.detail,
    }


SIDE_FILES = ("-wal", "-journal", "-shm")
"""Name endings of the files that SQLite keeps beside a store in use."""


def back_up(
    store: Store,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    on_progress: Callable[[int, int], None] = lambda left, of: None,
) -> Path:
    """Copy a store to a file, whole or not at all; return the file's full path.

    SQLite copies the state of one moment, including the part that is still in its log (``-wal``).
    Runs that are being played need not stop.
    """
    target = _checked_target(store, Path(path), force)
    try:
        with atomic_draft(target) as draft:
            store.file.back_up(draft, on_progress)
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
    except OSError as error:
        raise KnightfallError(f"cannot write {str(target)!r}: {error.strerror or error}") from None
    return target


def _checked_target(store: Store, path: Path, force: bool) -> Path:
    """Return the full path of a backup; raise a `KnightfallError` if it cannot be written."""
    try:
        target = Path(os.path.expanduser(path)).absolute()
        if target.exists() and target.samefile(store.file.path):
            raise KnightfallError(f"{str(path)!r} is the store itself: name another file")
        check_output(target, force=force)
        # SQLite would read files with these names as a part of the copy.
        for beside in (target.with_name(target.name + end) for end in SIDE_FILES):
            if beside.exists():
                raise KnightfallError(
                    f"{str(path)!r} is a store in use ({beside.name} exists): name another file"
                )
    except (OSError, RuntimeError) as error:  # a name that is too long, or an unknown ~user
        raise KnightfallError(f"cannot write {str(path)!r}: {error}") from None
    return target
