"""The store: it always holds the first pairs of each schedule, after any interruption."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import strategies  # noqa: F401 (lifts the time limit for examples)
from arena_helpers import (
    ENGINE,
    VERSIONS,
    all_rows,
    fake_pair,
    fake_plan,
    fake_run,
    play_on,
)
from helpers import times_the_examples
from hypothesis import given
from hypothesis import strategies as st

from knightfall.arena import store_file
from knightfall.arena.plan import REASONS, Plan
from knightfall.arena.store import Run, Store
from knightfall.errors import KnightfallError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite"


def begun(store: Store, plan: Plan, again: bool = False) -> Run:
    return store.begin(plan, ENGINE, VERSIONS, again)


def refused(action: Callable[[], Any], *words: str) -> str:
    """Return the one-line message of a refused call."""
    with pytest.raises(KnightfallError) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said
    return said


def timeless(file: Path) -> dict[str, list[Any]]:
    """Return all rows, without the times at which runs were begun and finished."""
    rows = all_rows(file)
    rows["runs"] = [(*row[:6], row[7] is None, *row[8:]) for row in rows["runs"]]
    return rows


# -- what is stored ------------------------------------------------------------------------------


def test_what_went_in_comes_out(file: Path) -> None:
    plan = fake_plan(3, 6, board="5x4")
    fake_run(file, plan)
    with Store.open(file, read_only=True) as store:
        run = store.last()
        assert (run.plan, run.played, run.total) == (plan, 18, 18)
        assert run.versions == VERSIONS
        assert run.outcome == {"verdict": "agent 0 is better", "llr": 2.5}
        assert run.finished is not None
        assert run.created <= run.finished
        for number, pair in enumerate(run.pairs()):
            expected = fake_pair(plan.task(number))
            assert pair == expected == run.pair(number)
            # The clock takes no part in equality, but it is stored.
            assert [g.microseconds for g in pair.games] == [g.microseconds for g in expected.games]
        refused(lambda: run.pair(18), "pair 18", "18 pairs, numbered from 0")


@times_the_examples(0.5)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_the_size_of_batches_leaves_no_trace(sizes: list[int]) -> None:
    plan = fake_plan(2, 8)
    with tempfile.TemporaryDirectory() as folder:
        one, many = Path(folder, "one.sqlite"), Path(folder, "many.sqlite")
        with Store.open(one) as store:
            begun(store, plan).append([fake_pair(task) for task in plan.tasks()])
        with Store.open(many) as store:
            run = begun(store, plan)
            while run.played < plan.total:
                step = sizes[run.played % len(sizes)]
                play_on(run, min(run.played + step, plan.total), step)
        assert timeless(one) == timeless(many)


def test_openings_are_numbered_as_they_appear(file: Path) -> None:
    plan = fake_plan(3, 30)
    fake_run(file, plan)
    seen: list[str] = []
    for task in plan.tasks():
        if task.opening not in seen:
            seen.append(task.opening)
    openings = all_rows(file, 1)["openings"]
    assert [(number, fen) for number, fen, _ in openings] == list(enumerate(seen))
    assert [row[2] for row in all_rows(file, 1)["pairs"]] == [
        seen.index(task.opening) for task in plan.tasks()
    ]


def test_the_default_store_is_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "new folder"))
    with Store.open() as store:
        begun(store, fake_plan())
    assert (tmp_path / "new folder" / "arena.sqlite").exists()


# -- runs ----------------------------------------------------------------------------------------


def test_a_plan_is_taken_up_again(file: Path) -> None:
    plan = fake_plan()
    with Store.open(file) as store:
        first = begun(store, plan)
        play_on(first, 3)
        assert begun(store, plan).id == first.id
        assert begun(store, plan).played == 3
        assert begun(store, replace(plan, seed=2)).id != first.id
        assert store.begin(plan, "engine 2", {}).id != first.id
        second = begun(store, plan, again=True)
        assert (second.id, second.played) == (4, 0)
        assert begun(store, plan).id == second.id  # the newest run of a plan is continued
        assert store.run(first.id).played == 3
        assert store.last().id == second.id


def test_runs_in_short(file: Path) -> None:
    fake_run(file, fake_plan(2, 4))
    fake_run(file, fake_plan(1, 5, kind="league"), 2)
    with Store.open(file) as store:
        begun(store, fake_plan(1, 6)).finish({"verdict": None})
        one, two, three = store.runs()
    assert (one.id, one.kind, one.names) == (1, "league", ("agent 0", "agent 1", "agent 2"))
    assert (one.played, one.total, one.verdict) == (8, 8, "agent 0 is better")
    assert one.finished is not None
    assert (two.kind, two.played, two.total, two.finished) == ("league", 2, 5, None)
    assert (three.played, three.verdict) == (0, "")


def test_unknown_runs_are_named(file: Path) -> None:
    with Store.open(file) as store:
        refused(lambda: store.run(1), "no run 1", str(file), "no runs yet")
        refused(store.last, "no runs yet", str(file))
        for seed in range(3):
            begun(store, fake_plan(seed=seed))
        refused(lambda: store.run(7), "no run 7", "1, 2, 3")
        for seed in range(3, 12):
            begun(store, fake_plan(seed=seed))
        refused(lambda: store.run(99), "from 1 to 12")


def test_who_finishes_first_is_right(file: Path) -> None:
    with Store.open(file) as store:
        run = begun(store, fake_plan())
        assert run.outcome is None
        run.finish({"verdict": "one"})
        run.finish({"verdict": "two"})
        assert run.outcome == {"verdict": "one"}


def test_deleting_leaves_the_others_alone(file: Path) -> None:
    fake_run(file, fake_plan(2, 40, board="7x7"))
    fake_run(file, fake_plan(1, 10))
    before, size = all_rows(file, 2), file.stat().st_size
    with Store.open(file) as store:
        playing = store.run(1)
        store.delete(1)
        assert [info.id for info in store.runs()] == [2]
        refused(lambda: store.delete(1), "no run 1")
        refused(lambda: playing.finish({}), "run 1 is no longer in")
        refused(lambda: playing.append([fake_pair(playing.plan.task(0))]), "no longer")
        assert begun(store, fake_plan(seed=9)).id == 3
        store.delete(3)
        assert begun(store, fake_plan(seed=9)).id == 4  # the number of a deleted run is not reused
    assert not any(all_rows(file, 1).values())
    assert all_rows(file, 2) == before
    assert file.stat().st_size < size / 2


def test_a_store_that_cannot_shrink_still_forgets(file: Path) -> None:
    fake_run(file, fake_plan(2, 40, board="7x7"))
    with closing(sqlite3.connect(file)) as db:  # as another SQLite program may leave it
        for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA auto_vacuum = NONE", "VACUUM"):
            db.execute(statement)
    with Store.open(file) as store:
        store.delete(1)
        assert store.runs() == []


# -- appending -----------------------------------------------------------------------------------


def test_pairs_come_in_the_order_of_the_schedule(file: Path) -> None:
    plan = fake_plan(2, 5)
    pairs = [fake_pair(task) for task in plan.tasks()]
    stranger = fake_pair(replace(plan, seed=8).task(4))
    with Store.open(file) as store:
        run = begun(store, plan)
        run.append(pairs[:4])
        before = all_rows(file)
        refused(lambda: run.append(pairs[5:6]), "must be number 4, not 5")
        refused(lambda: run.append([pairs[4], pairs[6]]), "must be number 5, not 6")
        refused(lambda: run.append([pairs[4], pairs[4], stranger]), "pair 4 is not in the schedule")
        last = plan.total
        beyond = replace(pairs[-1], task=replace(pairs[-1].task, number=last))
        refused(lambda: run.append([*pairs[4:], beyond]), f"pair {last} is not in the schedule")
        short = replace(pairs[4].games[0], depths=b"")
        broken = replace(pairs[4], games=(short, pairs[4].games[1]))
        if short.plies:
            refused(lambda: run.append([broken]), "pair 4, game 0: column depths has 0 items")
        assert all_rows(file) == before  # not even the first part of a bad batch
        run.append([])
        run.append(pairs[4:])
        run.finish({})
        refused(lambda: run.append([beyond]), "not in the schedule")


def test_what_is_there_already_does_not_count(file: Path) -> None:
    plan = fake_plan(2, 5)
    pairs = [fake_pair(task) for task in plan.tasks()]
    with Store.open(file) as store, Store.open(file) as another:
        mine, theirs = begun(store, plan), begun(another, plan)
        assert mine.id == theirs.id
        mine.append(pairs[:4])
        slower = replace(pairs[2].games[0], microseconds=bytes(4 * pairs[2].games[0].plies))
        theirs.append([*pairs[:2], replace(pairs[2], games=(slower, pairs[2].games[1]))])
        assert mine.played == theirs.played == 4
        theirs.append(pairs[2:7])
        assert mine.played == 7
        other = fake_pair(plan.task(6), seed=1)
        before = all_rows(file)
        refused(lambda: mine.append([other, pairs[7]]), "pair 6", "other games")
        assert all_rows(file) == before
        mine.append(pairs[6:9])
        mine.finish({})
        theirs.append(pairs[5:9])
        refused(lambda: theirs.append(pairs[8:]), "run 1 is finished")
    assert len(all_rows(file)["pairs"]) == 9


PLAY = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from arena_helpers import *
with Store.open(sys.argv[1]) as store:
    run = store.begin(fake_plan(2, 60), ENGINE, VERSIONS)
    print("begun", flush=True)
    play_on(run, 120, step=int(sys.argv[2]))
    run.finish({{"verdict": "agent 0 is better", "llr": 2.5}})
"""


def playing(file: Path, step: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PLAY, str(file), str(step)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_may_play_the_same_run(file: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.sqlite"
    fake_run(alone, fake_plan(2, 60))
    for process in [playing(file, 1), playing(file, 3)]:
        _, said = process.communicate(timeout=180)
        assert (process.returncode, said) == (0, "")
    assert timeless(file) == timeless(alone)


def test_a_store_may_be_made_while_another_process_looks_at_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = []

    class Slow(sqlite3.Connection):
        """A connection that lets another thread create the store while it is being opened."""

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if "sqlite_master" in sql:
                monkeypatch.undo()
                maker = threading.Thread(target=lambda: Store.open(file).close())
                maker.start()
                maker.join(0.5)  # otherwise it would wait for the lock
                makers.append(maker)
            return super().execute(sql, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **b: connect(*a, factory=Slow, **b))
    Store.open(file).close()
    for maker in makers:
        maker.join()
    assert len(makers) == 1
    with Store.open(file, read_only=True) as store:
        assert store.runs() == []


def test_kill_9_costs_nothing_that_was_stored(file: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.sqlite"
    fake_run(alone, fake_plan(2, 60))
    rng, played = random.Random(1), 0
    for _ in range(4):
        process = playing(file, 1)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=180)
        with Store.open(file, read_only=True) as store:
            assert store.last().played >= played
            played = store.last().played
            for number, pair in enumerate(store.last().pairs()):
                assert pair == fake_pair(store.last().plan.task(number))
    process = playing(file, 5)
    process.communicate(timeout=180)
    assert process.returncode == 0
    assert timeless(file) == timeless(alone)


# -- repeats -------------------------------------------------------------------------------------


BOOK = ("4/1N2/2n1/4 w", "4/1N2/2n1/4 b", "N3/4/4/3n w", "4/1N2/2n1/4 w", "N3/4/4/3n w")


@pytest.mark.parametrize("more", [{"repeats": 4}, {"book": BOOK, "repeats": 2}, {"book": BOOK}])
@pytest.mark.parametrize("ways", [1, 3])
@pytest.mark.parametrize("step", [1, 50])
def test_identical_games_do_not_count_twice(
    file: Path, more: dict[str, Any], ways: int, step: int
) -> None:
    with Store.open(file) as store:
        run = begun(store, fake_plan(2, 10, **more))
        pairs = [fake_pair(task, ways=ways) for task in run.plan.tasks()]
        for start in range(0, len(pairs), step):
            run.append(pairs[start : start + step])
        expected, first = [], dict[Any, int]()
        for number, pair in enumerate(pairs):
            what = (number % 2, pair.task.opening, *(game.cells for game in pair.games))
            expected.append(None if first.setdefault(what, number) == number else first[what])
        assert any(number is not None for number in expected)
        assert [game.repeats for game in run.games()] == [n for n in expected for _ in range(2)]
        matches, scores, firsts, repeats = run.outcomes()
        for pair, won in zip(pairs, firsts, strict=True):
            mover = pair.task.opening.split()[1]
            assert won == (pair.games[0 if mover == "w" else 1].winner == mover)
        assert repeats.tolist() == [number is not None for number in expected]
        assert scores.tolist() == [pair.score for pair in pairs]
        assert matches.tolist() == [0, 1] * (len(pairs) // 2)


# -- games ---------------------------------------------------------------------------------------


def test_games_can_be_picked(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightfall.arena.store.PAGE", 7)  # many pages
    plan = fake_plan(3, 15)
    fake_run(file, plan)
    with Store.open(file, read_only=True) as store:
        run = store.last()
        games = list(run.games())
        assert [(g.pair, g.game) for g in games] == [(n, g) for n in range(45) for g in (0, 1)]
        assert games[35].id == "1.17.1"
        for line in games:
            match = plan.matches[line.pair % 3]
            seats = (match.a, match.b) if line.game == 0 else (match.b, match.a)
            assert (line.first, line.second) == seats
            record = run.pair(line.pair)
            assert (line.opening, line.seed) == (record.task.opening, record.task.seed)
            played = record.games[line.game]
            assert (line.winner, line.reason) == (played.winner, played.reason)
            assert line.plies == played.plies

        def winner(line: Any) -> int:
            return int(line.first if line.winner == "w" else line.second)

        def loser(line: Any) -> int:
            return int(line.second if line.winner == "w" else line.first)

        for who in ([0], [1], [2, 3], []):
            assert list(run.games(won_by=who)) == [g for g in games if winner(g) in who]
            assert list(run.games(lost_by=who)) == [g for g in games if loser(g) in who]
        for reason in REASONS:
            found = list(run.games(reason=reason, lost_by=[0], match=1))
            assert found == [
                g for g in games if g.reason == reason and loser(g) == 0 and g.match == 1
            ]
        for limit in (0, 1, 7, 8, 1000):
            assert list(run.games(limit=limit)) == games[:limit]


# -- everything that can be wrong ------------------------------------------------------------------


def test_reading_needs_something_to_read(file: Path) -> None:
    refused(lambda: Store.open(file, read_only=True), "no runs yet", str(file))
    assert not file.exists()
    file.touch()
    refused(lambda: Store.open(file, read_only=True), "no runs yet")
    fake_run(file, fake_plan())  # an empty file becomes a store
    with Store.open(file, read_only=True) as store:
        assert store.last().played == 20
        refused(lambda: begun(store, fake_plan(seed=3)), str(file))


def test_what_is_no_store_is_left_alone(file: Path, tmp_path: Path) -> None:
    refused(lambda: Store.open(tmp_path), str(tmp_path), "is a folder")
    file.write_text("once upon a time " * 1000)
    for read_only in (False, True):
        refused(lambda how=read_only: Store.open(file, read_only=how), str(file), "SQLite")
    assert file.read_text().startswith("once upon a time")
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as db:
        db.execute("CREATE TABLE runs (id)")
    for read_only in (False, True):
        refused(lambda how=read_only: Store.open(foreign, read_only=how), "not a store of runs")
    under = file / "arena.sqlite"
    refused(lambda: Store.open(under), str(file))


def test_a_newer_store_is_left_alone(file: Path) -> None:
    fake_run(file, fake_plan())
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {store_file.VERSION + 1}")
    before = file.read_bytes()
    for read_only in (False, True):
        refused(lambda how=read_only: Store.open(file, read_only=how), str(file), "newer")
    assert file.read_bytes() == before


def test_a_damaged_store_is_told(file: Path) -> None:
    fake_run(file, fake_plan(2, 60))
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * 4096 * 8 + whole[4096 * 9 :])

    def read() -> None:
        with Store.open(file, read_only=True) as store:
            store.runs()
            list(store.last().pairs())

    refused(read, str(file))


def test_a_store_whose_tables_have_impossible_names_is_told(file: Path) -> None:
    """Check that a damaged store is reported even if SQLite's message is not valid UTF-8."""
    fake_run(file, fake_plan(1, 2))
    content = file.read_bytes()
    file.write_bytes(
        content.replace(b"CREATE TABLE games (", b"CREATE" + 2 * b"\xce\xff\xf5" + b" games (", 1)
    )
    for read_only in (True, False):
        with pytest.raises(KnightfallError, match="is damaged"):
            Store.open(file, read_only=read_only)


def test_a_locked_store_is_waited_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 0.1)
    fake_run(file, fake_plan(), 5)
    with Store.open(file) as store, closing(sqlite3.connect(file, isolation_level=None)) as other:
        run = store.last()
        other.execute("BEGIN IMMEDIATE")
        next = [fake_pair(run.plan.task(5))]
        locked = f"{file} is locked by another process (waited 0.1 s)"
        refused(lambda: run.append(next), locked, "nothing was lost", "continues")
        assert run.played == 5  # reading goes on
        with Store.open(file, read_only=True) as reader:
            assert reader.last().played == 5
        other.execute("ROLLBACK")
        run.append(next)
        assert run.played == 6


def test_reading_goes_on_while_another_writes(file: Path) -> None:
    fake_run(file, fake_plan(), 5)
    with Store.open(file) as store, Store.open(file, read_only=True) as reader:
        writing, reading = store.last(), reader.last()
        with reader.file.snapshot():
            assert reading.played == 5
            play_on(writing, 9)
            assert reading.played == 5  # a snapshot does not change
        assert reading.played == 9
        games = reading.games()
        next(games)
        play_on(writing, 12)  # a slow reader does not block a writer
        assert len(list(games)) >= 17


def test_a_full_disk_costs_nothing_that_was_stored(file: Path) -> None:
    plan = fake_plan(2, 60, board="7x7")
    with Store.open(file) as store:
        run = begun(store, plan)
        play_on(run, 10)
        pages = store.file.rows("PRAGMA page_count")[0][0]
        store.file.rows(f"PRAGMA max_page_count = {pages + 3}")
        refused(lambda: play_on(run, 60), str(file), "disk is full", "safe", "continues")
        assert 10 <= run.played < 60
        stored = run.played
    with Store.open(file) as store:
        assert store.last().played == stored
        play_on(store.last(), plan.total)
        store.last().finish({"verdict": "agent 0 is better", "llr": 2.5})
    undisturbed = file.with_name("undisturbed.sqlite")
    fake_run(undisturbed, plan)
    assert timeless(file) == timeless(undisturbed)


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        file = tmp_path / "arena.sqlite"
        with Store.open(file) as store:
            run = begun(store, fake_plan(2, 200, board="7x7"))
            refused(lambda: play_on(run, 400), str(file), "disk is full")
            played = run.played
            assert played > 10
        with Store.open(file, read_only=True) as store:
            pairs = list(store.last().pairs())
            assert len(pairs) == played
            assert all(pair == fake_pair(pair.task) for pair in pairs)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@contextmanager
def folder_for_permissions() -> Iterator[Path]:
    """Make a folder for a test of permissions; afterwards be root again, if the test was."""
    folder = Path(tempfile.mkdtemp(prefix="knightfall-"))
    folder.chmod(0o755)
    root = os.geteuid() == 0
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_no_permission_is_told() -> None:
    with folder_for_permissions() as folder:
        file = folder / "arena.sqlite"
        fake_run(file, fake_plan(), 5)
        file.chmod(0o444)
        folder.chmod(0o555)
        if os.geteuid() == 0:
            os.seteuid(65534)
        with Store.open(file, read_only=True) as store:  # from a read-only folder, too
            assert store.last().played == 5
        refused(lambda: fake_run(file, fake_plan(), 7), "no permission to write", str(file))
        refused(lambda: Store.open(folder / "new.sqlite"), "no permission to write", "new.sqlite")
        refused(lambda: Store.open(folder / "sub" / "new.sqlite"), "cannot create")
    with folder_for_permissions() as folder:
        file = folder / "arena.sqlite"
        fake_run(file, fake_plan(), 5)
        file.chmod(0)
        if os.geteuid() == 0:
            os.seteuid(65534)
        refused(lambda: Store.open(file, read_only=True), "no permission to read", str(file))


# -- the page about it -----------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "store.md").read_text(encoding="utf-8")


def test_questions_of_the_page_have_answers(file: Path) -> None:
    fake_run(file, fake_plan(2, 12, repeats=2, board="5x5"))
    fake_run(file, fake_plan(3, 9, board="4x5"))
    who, hunters, longest = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    with Store.open(file, read_only=True) as store:
        runs = [store.run(1), store.run(2)]
        games = [line for run in runs for line in run.games() if line.repeats is None]
        names = {run.id: [entrant.name for entrant in run.plan.entrants] for run in runs}
        won: Counter[str] = Counter()
        played: Counter[str] = Counter()
        for line in games:
            seats = {"w": names[line.run][line.first], "b": names[line.run][line.second]}
            played.update(seats.values())
            won[seats[line.winner]] += 1
        answer = store.file.rows(who)
        assert {name: (of, wins) for name, of, wins in answer} == {
            name: (played[name], won[name]) for name in played
        }
        shares = [wins / of for _, of, wins in answer]
        assert shares == sorted(shares, reverse=True)
        for hunter, of, wins in store.file.rows(hunters):
            hunted = [line for line in games if line.hunter == hunter]
            assert (of, wins) == (len(hunted), sum(g.winner == hunter for g in hunted))
        ordered = sorted(runs[1].games(), key=lambda g: (-g.plies, g.pair, g.game))
        assert store.file.rows(longest) == [(g.id, g.plies) for g in ordered[:10]]


def test_the_page_names_every_table_and_column(file: Path) -> None:
    with Store.open(file) as store:
        for table in ("runs", *store_file.RUN_TABLES):
            (row,) = re.findall(rf"^\| `{table}` .*$", PAGE, re.MULTILINE)
            for _, column, *_ in store.file.rows(f"PRAGMA table_info({table})"):
                stem = column.removesuffix("_w").removesuffix("_b")
                assert f"`{stem}" in row or "the sums of `games`" in row, f"{table}.{column}"


def test_a_store_that_is_being_made_has_no_runs_yet(tmp_path: Path) -> None:
    file = tmp_path / "half.sqlite"
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")  # a store that is still being created
    with pytest.raises(KnightfallError, match="no runs yet"):
        Store.open(file, read_only=True)
    db.close()
