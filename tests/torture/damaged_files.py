"""Damage files of every kind that knightfall reads: each is refused in one line, or still valid.

``python tests/torture/damaged_files.py [COUNT [WORKERS [KIND ...]]]`` damages COUNT files of each
kind, or of the given ones, and prints a table.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from arena_helpers import ENGINE, VERSIONS, fake_pair, fake_plan, fake_run
from torture.forged_stores import SWAPS, changed, endless, forge_schema, orphaned
from torture.mutations import JUNK_VALUES, changed_somewhere, damaged

from knightfall.arena.engine_version import engine
from knightfall.arena.export_run import export_lines
from knightfall.arena.import_run import import_run
from knightfall.arena.plan import Plan
from knightfall.arena.reports import report_on
from knightfall.arena.results import results
from knightfall.arena.store import Run, Store
from knightfall.arena.store_file import IN_MEMORY, RUN_TABLES
from knightfall.arena.stored_games import scoresheet
from knightfall.board import Board
from knightfall.cli.interactive_game import load
from knightfall.course.classroom import game_lessons
from knightfall.course.classroom.game_lessons import Blunder, Lessons, Misunderstanding, Opinion
from knightfall.display.printable import json_line
from knightfall.errors import KnightfallError
from knightfall.notation import read_game_file
from knightfall.openings import openings, read_book
from knightfall.solver import atlas
from knightfall.solver.atlas_build import Builder
from knightfall.solver.certificate import certify
from knightfall.solver.verify import Refused, verify
from knightfall.studies import oracle_grades as grades
from knightfall.studies import playing_conditions as trials
from knightfall.studies.fit_conditions import read_fits
from knightfall.studies.node_costs import read_costs, read_student_costs
from knightfall.studies.playing_conditions import Condition
from knightfall.studies.published import read_studies
from knightfall.studies.published import studies as published_studies
from knightfall.untrusted_input import decoded, read_text

SOURCE = Path(atlas.__file__).parents[1]

MEMORY = 2**32
"""Most bytes of a process's memory; what is loaded takes a part of them."""

PATIENCE = 120
"""Seconds after which a reader counts as hung."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: good samples, a function that reads and uses one, and ways to damage it."""

    good: list[bytes]
    read: Callable[[Path], object]
    wound: Callable[[bytes, list[bytes], random.Random], bytes] = damaged
    suffix: str = ""
    most: int = 10**6
    """About how many different damages there are."""


@dataclass
class Tally:
    """The results for the damaged files of a kind."""

    kind: str
    refused: int = 0
    accepted: int = 0
    others: list[str] = field(default_factory=list)
    """Unexpected exceptions, with the seeds that reproduce them."""
    longest: float = 0.0

    @property
    def files(self) -> int:
        return self.refused + self.accepted + len(self.others)


# -- the kinds -----------------------------------------------------------------------------------


def kinds(folder: Path) -> dict[str, Kind]:
    """Return all kinds of files, with good samples that are made in a folder."""
    warnings.simplefilter("ignore")
    return {
        "run (jsonl)": Kind(_runs(folder), _read_run, _wound_run),
        "store": Kind(_stores(folder), read_store),
        "store, rows": Kind(_stores(folder), read_store, _wound_rows),
        "store, schema": Kind(_stores(folder), _forged_reader(folder), forge_schema),
        "store, other runs": Kind(
            _stores(folder)[:1], _forged_reader(folder), _forge_runs, most=200
        ),
        "store, endless": Kind(
            _stores(folder)[1:], _forged_reader(folder), _forge_structure, most=500
        ),
        "saved game": Kind(_saved(), _read_saved, suffix=".json"),
        "game as text": Kind(_texts(folder), _read_text),
        "book": Kind(_books(), lambda path: read_book(str(path))),
        "atlas": Kind(_atlases(), _read_atlas),
        "atlas journal": Kind([_journal()], _journal_reader()),
        "certificate": Kind(_certificates(), _read_certificate, _wound_certificate),
        "studies (toml)": Kind(_shipped("studies/publications/published.toml"), _read_studies),
        "costs (toml)": Kind(_shipped("studies/data/[cw]*costs*.toml"), _read_costs),
        "students' costs (toml)": Kind(
            _shipped("studies/data/student_costs.toml"), _read_student_costs
        ),
        "fits (json)": Kind(_shipped("studies/data/fitted.json"), _read_fits),
        "trials": Kind([_trials()], _read_trials),
        "grades": Kind([_grades()], _read_grades),
        "lessons of a class": Kind(
            [_lessons()], lambda path: game_lessons.from_json(read_text(path))
        ),
    }


PLANS = (
    fake_plan(1, 3, board="5x5", stop={"rule": "sprt", "elo0": 0.0, "elo1": 10.0}),
    fake_plan(2, 2, board="4x4", kind="league", files={"/tmp/x.py": "ab"}),
    fake_plan(
        1, 2, board="4x4", kind="tournament", options={"tests": 1, "protocol": "2017b"},
        book=tuple(openings(Board.of(4, 4))[:5]), stratify=True,
    ),
    fake_plan(
        1, 2, board="4x4", kind="worth",
        options={
            "a": "main", "b": "improved", "agents": ["id(main)", "id(improved)"],
            "budgets": ["time=1ms"], "converted": {"time=1ms": [10, 20]},
        },
    ),
)  # fmt: skip


def _runs(folder: Path) -> list[bytes]:
    found = []
    for at, plan in enumerate(PLANS):
        file = folder / f"run{at}.sqlite"
        fake_run(file, plan)
        with Store.open(file, read_only=True) as store:
            found.append("".join(export_lines(store.last(), "jsonl")).encode())
    return found


def _stores(folder: Path) -> list[bytes]:
    file = folder / "all.sqlite"
    for plan in PLANS[1:3]:
        fake_run(file, plan)
    return [file.read_bytes(), (folder / "run0.sqlite").read_bytes()]


def _saved() -> list[bytes]:
    game = {
        "format": "knightfall game 1", "start": "7/7/1N5/7/7/4n2/7 w", "moves": ["d4", "f4", "e6"],
        "you": "first", "agent": "alphabeta(improved, depth=3)", "resigned": False,
    }  # fmt: skip
    empty = {**game, "start": "7/7/7/7/7/7/7[Nn] w", "moves": [], "agent": "random"}
    return [json.dumps(one, indent=2).encode() for one in (game, empty)]


def _texts(folder: Path) -> list[bytes]:
    with Store.open(folder / "all.sqlite", read_only=True) as store:
        run = store.run(1)
        sheets = [scoresheet(run.plan, run.pair(number), 0) for number in range(4)]
    tagged = [sheet.to_text().encode() for sheet in sheets]
    watched = [json.dumps(sheet.to_dict()).encode() for sheet in sheets[:2]]
    return [*tagged, *watched, b"b5 e2 d4 f4", b"7/7/1N5/7/7/4n2/7 w d4 f4"]


def _books() -> list[bytes]:
    lines = openings(Board.of(7, 7))[:40]
    return ["\n".join(lines).encode(), ("# a book\n\n" + lines[0] + " # first\n").encode()]


def _atlases() -> list[bytes]:
    shipped = json.loads((SOURCE / "solver" / "atlas.json").read_text())
    few = {name: shipped[name] for name in ("3x3", "3x4", "4x4", "4x5")}
    return [json.dumps(few, indent=0).encode(), json.dumps({"4x4": shipped["4x4"]}).encode()]


JOURNAL_BOARD = Board.of(4, 5)


def _journal() -> bytes:
    entries = bytes.fromhex(json.loads((SOURCE / "solver" / "atlas.json").read_text())["4x5"])
    lines = [
        json.dumps([*cells, entries[3 * at : 3 * at + 3].hex()])
        for at, cells in enumerate(atlas.representatives(JOURNAL_BOARD))
    ]
    return "\n".join(["", *lines]).encode()


def _certificates() -> list[bytes]:
    boards = (Board.of(4, 4), Board.of(3, 5), Board.of(5, 5))
    return [certify(board).text.encode() for board in boards]


def _shipped(pattern: str) -> list[bytes]:
    return [file.read_bytes() for file in SOURCE.glob(pattern)]


TRIED = ("directional", Condition(lost="legal"))


def _trials() -> bytes:
    counts = [[[1, 0, 2]] * 7 for _ in range(4)]
    return json.dumps({engine(): {_tried().key(engine()): counts, "other": [[[1]]]}}).encode()


def _tried() -> Plan:
    return trials.faithful_plan(published_studies()[TRIED[0]], TRIED[1], 3, 0)


def _lessons() -> bytes:
    fen = "7/7/2N4/7/4n2/7/7 w"
    deepest = Misunderstanding(fen, "a4", float("inf"), 12, "b3", -1.5, 13, float("inf"))
    whole = Lessons(
        kept=9, choices=12, error=None, chance=0.5, unusual={"crash": (2, "line 3: KeyError")},
        resigned=3, resigned_won=1, tries=8, saved=2,
        blunders=(Blunder(fen, "MM_Open", 7, "a4", 12, "b3", 13, 2, opening=fen),),
        opinion=Opinion(5.5, 12, 0.4, deepest),
    )  # fmt: skip
    return json_line(game_lessons.to_dict(whole)).encode()


def _grades() -> bytes:
    row = {"heuristic": "main", "kept": 91.2, "error": 0.5, "choices": 1234, "seconds": 9.1}
    return json.dumps({"e/100/0": {"id(main)": row, "id(open)": {**row, "kept": 80}}}).encode()


# -- reading them, and using what was read -------------------------------------------------------


def _read_run(path: Path) -> None:
    with Store.open(IN_MEMORY) as store:
        _use(import_run(store, path))


def read_store(path: Path) -> None:
    """Run everything that reads a store."""
    with Store.open(path, read_only=True) as store:
        for info in store.runs():
            _use(store.run(info.id))


def _forged_reader(folder: Path) -> Callable[[Path], object]:
    """Return a reader of forged stores: one that is accepted has the runs of a good one.

    A run that is played into it is stored as it is into a new store.
    """
    good = []
    for name in ("all.sqlite", "run0.sqlite"):
        with Store.open(folder / name, read_only=True) as store:
            good.append(_exported(store))
    plan = fake_plan(1, 3, seed=7)
    pairs = [fake_pair(task) for task in plan.tasks()]

    def read(path: Path) -> None:
        with Store.open(path, read_only=True) as store:
            assert _exported(store) in good
        with Store.open(path) as store:
            run = store.begin(plan, ENGINE, VERSIONS)
            assert run.played == 0
            run.append(pairs)
            assert list(run.pairs()) == pairs
            assert results(run).matches[0].games == 6

    return read


def _exported(store: Store) -> list[str]:
    found = []
    for info in store.runs():
        _use(store.run(info.id))
        found += [*map(repr, info.names), *export_lines(store.run(info.id), "jsonl")]
    return found


def _use(run: Run) -> None:
    report = report_on(run)
    str(report)
    json.dumps(report.to_dict())
    for format in ("csv", "text", "jsonl"):
        for line in export_lines(run, format):
            line.encode()


def _read_saved(path: Path) -> None:
    load(str(path))
    read_game_file(path)


def _read_text(path: Path) -> None:
    sheet = read_game_file(path)
    sheet.to_text().encode()
    json.dumps(sheet.to_dict())


def _read_atlas(path: Path) -> None:
    held = atlas.read_atlas(path)
    for name in held:
        board = Board.named(name)
        data = bytes.fromhex(held[name])
        for at, cells in enumerate(atlas.representatives(board)):
            moves, (_, winning, best) = atlas.first_moves(board, cells), data[3 * at : 3 * at + 3]
            assert not moves or moves[best] >= 0
            assert winning < 1 << len(moves)


def _journal_reader() -> Callable[[Path], object]:
    builder = Builder(JOURNAL_BOARD)

    def read(path: Path) -> None:
        builder.journal = path
        for cells, entry in builder.resumed().items():
            assert cells in builder.classes
            assert len(entry) == 3

    return read


def _read_certificate(path: Path) -> None:
    try:
        verify(path)
    except Refused as refused:  # as the command does
        raise KnightfallError(str(refused)) from None


def _read_studies(path: Path) -> None:
    for study in read_studies(decoded(path.read_bytes(), path)).values():
        assert all(claim.pairs is not None for claim in study.claims)


def _read_costs(path: Path) -> None:
    costs = read_costs(decoded(path.read_bytes(), path), "here")
    assert all(costs.nodes(heuristic) >= 1 for heuristic in costs.ratios)


def _read_student_costs(path: Path) -> None:
    for table in read_student_costs(decoded(path.read_bytes(), path)).values():
        assert table["score"]["improved"]["score"] >= 0


def _read_fits(path: Path) -> None:
    for fit in read_fits(decoded(path.read_bytes(), path)).values():
        assert fit.condition.test_agent(published_studies()["staged"], "main")


def _read_trials(path: Path) -> None:
    """Read a file of trials; a damaged file counts as a missing one, so nothing is refused."""
    os.environ["KNIGHTFALL_DATA_DIR"] = str(path.parent)
    path.replace(path.with_name("trials.json"))
    counts = trials._TrialsFile().get(_tried())
    if counts is not None:
        assert trials._prediction(_tried(), counts).rates.shape == (4, 7)


def _read_grades(path: Path) -> None:
    """Read a file of grades; a damaged file counts as a missing one, so nothing is refused."""
    os.environ["KNIGHTFALL_DATA_DIR"] = str(path.parent)
    path.replace(path.with_name("grades.json"))
    kept = grades._GradesFile(100, 0)
    json.dumps({key: [vars(row) for row in rows.values()] for key, rows in kept._all.items()})


# -- wounds of particular kinds ------------------------------------------------------------------


def _wound_run(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Damage an exported run at random, or forge it: change its first line and give it a matching
    key.
    """
    if rng.random() < 0.5:
        return damaged(data, others, rng)
    first, *rest = data.split(b"\n")
    head = changed_somewhere(json.loads(first), rng)
    plan = head.get("plan")
    if isinstance(plan, dict) and plan and rng.random() < 0.8:
        head["plan"] = plan = changed_somewhere(plan, rng)
    text = json.dumps(plan, sort_keys=True, ensure_ascii=False)
    head["key"] = _key(text, head.get("versions"))
    return b"\n".join([json.dumps(head).encode(), *rest])


def _key(plan: str, versions: object) -> str:
    engine = versions.get("knightfall", "") if isinstance(versions, dict) else ENGINE
    whole = f"{engine}\n{plan}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest()[:20]


def _wound_rows(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a store as a valid SQLite file in which one or two values are invalid."""
    db = sqlite3.connect(IN_MEMORY)
    db.deserialize(data[:18] + b"\x01\x01" + data[20:])  # in memory there is no -wal
    for _ in range(rng.choice((1, 1, 2))):
        table = rng.choice(("runs", *RUN_TABLES))
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column, value = rng.choice(columns), rng.choice(JUNK_VALUES)
        key = "rowid" if table == "runs" else "run"
        try:
            if rng.random() < 0.15:
                db.execute(f"DELETE FROM {table} WHERE {key} = 1 AND random() % 2")
            elif isinstance(value, dict | list) or rng.random() < 0.1:
                db.execute(f"UPDATE {table} SET {column} = x'00ff41' WHERE {key} = 1")
            else:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = 1", (value,))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            continue  # SQLite itself refuses it
    db.commit()
    return db.serialize()


def _forge_runs(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a store in which a run passes for another, or for one that is not begun yet."""
    if rng.random() < 0.2:
        return orphaned(data, rng.choice((1, 2)), 3)
    return changed(data, *SWAPS[rng.choice(list(SWAPS))])


def _forge_structure(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Return a small store with a table of billions of rows."""
    return endless(data, rng.choice(["runs", *RUN_TABLES]), rng.randrange(2, 19))


def _wound_certificate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Damage a certificate at random, or forge it: change it and give it a matching checksum."""
    body = data.rpartition(b"sha256 ")[0]
    if rng.random() < 0.5:
        return damaged(data, others, rng)
    changed = damaged(body, others, rng)
    return changed + b"sha256 " + hashlib.sha256(changed).hexdigest().encode() + b"\n"


# -- torturing -----------------------------------------------------------------------------------


def torture(name: str, kind: Kind, seeds: Iterable[int], folder: Path) -> Tally:
    """Damage a file again and again, and count how its reader reacts."""
    tally = Tally(name)
    path = folder / f"damaged-{os.getpid()}{kind.suffix}"
    for seed in seeds:
        rng = random.Random(f"{name}/{seed}")
        path.write_bytes(kind.wound(rng.choice(kind.good), kind.good, rng))
        start = time.perf_counter()
        try:
            kind.read(path)
        except KnightfallError as error:
            tally.refused += 1
            if "\n" in str(error):
                tally.others.append(f"{name}/{seed}: two lines: {error}")
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {str(error)[:80]} ({where.name}:{where.lineno})"
            tally.others.append(f"{name}/{seed}: {said}")
        else:
            tally.accepted += 1
        tally.longest = max(tally.longest, time.perf_counter() - start)
    for leftover in folder.glob(f"damaged-{os.getpid()}*"):
        leftover.unlink()
    return tally


HEADING = f"{'kind':<24}{'damaged':>9}{'refused':>9}{'accepted':>10}{'other':>7}{'longest':>10}"


def line(tally: Tally) -> str:
    """Return the printed line with the results of a kind of file."""
    return (
        f"{tally.kind:<24}{tally.files:>9,}{tally.refused:>9,}{tally.accepted:>10,}"
        f"{len(tally.others):>7}{tally.longest:>8.2f} s"
    )


def main(count: int | str = 20_000, workers: int | str = 2, *names: str) -> int:
    """Print the table; return the number of unexpected exceptions."""
    count, workers = int(count), int(workers)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        found = kinds(folder)
        found = {name: found[name] for name in names or found}
        print(HEADING, flush=True)
        bad: list[str] = []
        jobs = [
            (name, range(start, min(count, found[name].most), workers))
            for name in found
            for start in range(workers)
        ]
        global _shared
        _shared = found, folder
        with get_context("fork").Pool(workers) as pool:
            done = list[Tally]()
            for tally in pool.imap(_job, jobs):
                done.append(tally)
                if len(done) == workers:
                    whole = _together(done)
                    print(line(whole), flush=True)
                    bad += whole.others
                    done.clear()
    print(*bad[:50], sep="\n")
    return len(bad)


_shared: tuple[dict[str, Kind], Path]


def _job(job: tuple[str, range]) -> Tally:
    import resource  # not on Windows

    found, folder = _shared
    name, seeds = job
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return torture(name, replace(found[name], read=_bounded(found[name].read)), seeds, folder)


def _bounded(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """Return a reader that raises a TimeoutError when it hangs."""

    def hung(*_: object) -> None:
        raise TimeoutError("it hangs")

    def bounded(path: Path) -> None:
        signal.signal(signal.SIGALRM, hung)
        signal.alarm(PATIENCE)
        try:
            read(path)
        except KeyboardInterrupt:  # the alarm, if it comes during a query
            raise TimeoutError("it hangs in a query") from None
        finally:
            signal.alarm(0)

    return bounded


def _together(tallies: list[Tally]) -> Tally:
    whole = Tally(tallies[0].kind)
    for tally in tallies:
        whole.refused += tally.refused
        whole.accepted += tally.accepted
        whole.others += tally.others
        whole.longest = max(whole.longest, tally.longest)
    return whole


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
