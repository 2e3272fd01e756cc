"""Stores made to do harm: nothing in them is executed, and no run passes for another.

``make torture`` forges them by the thousand, see `torture.forged_stores`.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from arena.test_store import refused
from arena_helpers import ENGINE, VERSIONS, all_rows, fake_pair, fake_plan, fake_run
from cli_runner import refused as refused_command
from cli_runner import run as run_command
from torture import forged_stores as forged

from knightfall.arena import store_checks
from knightfall.arena.results import results
from knightfall.arena.store import Store
from knightfall.arena.store_checks import TABLES
from knightfall.errors import KnightfallError


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a store with two matches of the same length."""
    file = tmp_path_factory.mktemp("good") / "arena.sqlite"
    for names in (("Ada", "Bob"), ("Eve", "Zoe")):
        fake_run(file, fake_plan(1, 3, names=names))
    return file.read_bytes()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite"


def refused_store(file: Path, content: bytes, *words: str) -> None:
    """Check that a store is refused whenever it is opened, and left as it is."""
    file.write_bytes(content)
    for read_only in (True, False):
        refused(lambda how=read_only: Store.open(file, read_only=how), str(file), *words)
    assert file.read_bytes() == content
    assert os.listdir(file.parent) == [file.name]


# -- the schema ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attack", "named"),
    [
        ("a trigger", "it has the trigger 't'"),
        ("an endless trigger", "it has the trigger 't'"),
        ("an endless view", "its? .*'games'"),
        ("a table", "it has the table 'more'"),
        ("a table with a hostile name", r"it has the table '\\x1b\[2J\\n'"),
        ("an index", "it has the index 'i'"),
        ("an index of an expression", "it has the index 'i'"),
        ("a partial index", "it has the index 'i'"),
        ("a virtual table", "it has the table 'f'"),
        ("a virtual table for one of ours", "its table 'games' is defined differently"),
        ("statistics", "it has the table 'sqlite_stat1'"),
        ("no table", "it lacks the table 'games'"),
        ("no schema", "it lacks the table 'runs'"),
        ("two tables in one place", "the same name or place"),
        ("another version", "its version is 0"),
        ("a version below all", "its version is -1"),
    ],
)
def test_a_foreign_schema_is_refused_by_name(
    attack: str, named: str, good: bytes, file: Path
) -> None:
    file.write_bytes(forged.with_object(good, attack))
    for read_only in (True, False):
        with pytest.raises(ValueError, match=named) as caught:
            Store.open(file, read_only=read_only)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("definition", forged.DEFINITIONS)
def test_a_table_that_is_defined_differently_is_refused(
    definition: str, good: bytes, file: Path
) -> None:
    content = forged.with_definition(good, definition)
    assert content != forged.changed(good)
    refused_store(file, content, "its table 'games' is defined differently")


def test_an_agent_wins_no_game_by_a_trigger(good: bytes, file: Path) -> None:
    file.write_bytes(forged.with_object(good, "a trigger", "thinking"))
    before = all_rows(file)
    play = "match", "random", "greedy(open)", "--pairs", "1", "--board", "4x4", "--workers", "0"
    assert "the trigger 't'" in refused_command(*play, "--store", str(file))
    assert all_rows(file) == before


@pytest.mark.parametrize("command", ["list", "show", "games", "replay", "export", "backup"])
def test_no_command_reads_an_endless_view(command: str, good: bytes, file: Path) -> None:
    file.write_bytes(
        forged.changed(
            good,
            "DROP TABLE runs",
            f"CREATE VIEW runs AS {forged.ENDLESS} SELECT x AS id, '{{}}' AS plan FROM c",
        )
    )
    more = {"backup": [str(file.with_name("copy"))], "export": ["1", "--format", "csv"]}
    args = "runs", command, *more.get(command, []), "--store", str(file)
    assert "the view 'runs'" in refused_command(*args)


def test_comments_and_spaces_of_a_schema_do_not_count(good: bytes, file: Path) -> None:
    """Check that a store can be read whose comments are those of an earlier version."""
    old = TABLES.replace("-- 1: a won the game in which it moves first", "-- 1: a won game 0")
    assert old != TABLES
    with sqlite3.connect(file, isolation_level=None) as db:
        for statement in old.replace("\n    ", "\n  ").split(";\n"):
            db.execute(statement)
        db.execute("PRAGMA application_id = 0x4B464152")
        db.execute("PRAGMA user_version = 1")
    db.close()
    fake_run(file, fake_plan())
    with Store.open(file, read_only=True) as store:
        assert store.last().played == 20


# -- runs ------------------------------------------------------------------------------------------


def use(file: Path, *ids: int) -> None:
    """Read everything of a store, or of the runs with these numbers, without listing the others."""
    with Store.open(file, read_only=True) as store:
        for id in ids or [info.id for info in store.runs()]:
            run = store.run(id)
            run.outcomes()
            list(run.pairs())


@pytest.mark.parametrize("what", forged.SWAPS)
def test_a_changed_run_is_refused_and_named(what: str, good: bytes, file: Path) -> None:
    file.write_bytes(good)
    use(file)
    file.write_bytes(forged.changed(good, *forged.SWAPS[what]))
    for ids in ((), (1,)):
        said = refused(lambda ids=ids: use(file, *ids), str(file))
        assert "run 1" in said or "pair" in said


def test_no_run_passes_for_another(good: bytes, file: Path) -> None:
    file.write_bytes(forged.changed(good, *forged.SWAPS["keys"]))
    plan = fake_plan(1, 3, names=("Ada", "Bob"))
    for read_only in (True, False):
        with Store.open(file, read_only=read_only) as store:
            refused(lambda store=store: store.find(plan, ENGINE), "run 2 has the key")
            refused(store.last, "run 2 has the key")
            refused(store.runs, "run 1 has the key")
    with Store.open(file) as store:
        refused(lambda: store.begin(plan, ENGINE, VERSIONS), "run 2 has the key")
    for number in ("1", "2"):  # by its number a damaged run can be deleted
        done = run_command("runs", "delete", number, "--yes", "--store", str(file))
        assert done.exit_code == 0
    with Store.open(file) as store:
        assert store.runs() == []


@pytest.mark.parametrize(
    "change",
    [
        "key = 'x'",
        "plan = '{'",
        "kind = x'00'",
        "created = x'31'",
        "outcome = '[]'",
        "versions = '['",
    ],
)
def test_one_changed_run_hides_no_other(change: str, good: bytes, file: Path) -> None:
    file.write_bytes(forged.changed(good, f"UPDATE runs SET {change} WHERE id = 1"))
    listed = run_command("runs", "list", "--store", str(file), "--json")
    assert listed.exit_code == 2
    content = json.loads(listed.stdout)
    assert [one["id"] for one in content["runs"]] == [2]
    assert [one["run"] for one in content["refused"]] == [1]
    (line,) = listed.stderr.splitlines()
    assert line.startswith(f"knightfall: run 1 is not listed: {file}")
    table = run_command("runs", "--store", str(file))
    assert table.exit_code == 2
    assert "Eve, Zoe" in table.stdout
    assert "Ada" not in table.stdout
    copied = run_command("runs", "backup", str(file.with_name("copy")), "--store", str(file))
    assert copied.exit_code == 0
    assert "1 damaged run" in copied.stderr
    with Store.open(file) as store:  # not even a longer plan of the same agents looks into it
        longer = store.begin(fake_plan(1, 5, names=("Eve", "Zoe")), ENGINE, VERSIONS)
        assert longer.played == 3
        assert store.begin(fake_plan(1, 5, seed=9), ENGINE, VERSIONS).played == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("games SET reason = 'boredom' WHERE pair = 0 AND game = 0", "pair 0 .* unknown winner or"),
        (
            "games SET winner = 'x' WHERE pair = 0 AND game = 1",
            "pair 0 .* unknown winner or reason",
        ),
        ("thinking SET cells = x'3f' || substr(cells, 2) WHERE pair = 1", "type str"),
        (
            "thinking SET cells = CAST(x'3f' || substr(cells, 2) AS BLOB) WHERE pair = 1",
            "pair 1 .* a move off the board",
        ),
        (
            "games SET winner = CASE winner WHEN 'w' THEN 'b' ELSE 'w' END WHERE pair = 2",
            "pair 2 .* moves give another winner",
        ),
        ("pairs SET score = (score + 1) % 3 WHERE number = 1", "the score of pair 1 is not"),
        ("pairs SET first = 1 - first WHERE number = 2", "the score of pair 2 is not"),
        ("pairs SET match = 1 WHERE number = 2", "pair 2 is of match 1"),
    ],
)
def test_a_game_that_cannot_have_been_played_is_refused(
    change: str, words: str, good: bytes, file: Path
) -> None:
    file.write_bytes(forged.changed(good, f"UPDATE {change} AND run = 1"))
    with Store.open(file) as store:
        with pytest.raises(KnightfallError, match=f"is damaged: .*{words}"):
            list(store.run(1).pairs())
        assert len(list(store.run(2).pairs())) == 3


def test_a_journal_does_not_enlarge_a_store(good: bytes, file: Path) -> None:
    """Check that a journal of another store is refused: SQLite would make this one 16 TB long."""
    file.write_bytes(good)
    head = bytes.fromhex("d9d505f920a163d7 ffffffff 00000000 fffffffe 00000200 00001000")
    file.with_name(f"{file.name}-journal").write_bytes(head.ljust(512, b"\0") + bytes(5000))
    for read_only in (True, False):
        said = refused(lambda how=read_only: Store.open(file, read_only=how), "-journal")
        assert "it is of a store with 17,592,186,036,224 bytes" in said
    assert file.read_bytes() == good


def test_few_changed_runs_are_named(file: Path) -> None:
    for seed in range(5):
        fake_run(file, fake_plan(1, 1, seed=seed))
    file.write_bytes(forged.changed(file.read_bytes(), "UPDATE runs SET key = id"))
    listed = run_command("runs", "--store", str(file))
    assert (listed.exit_code, listed.stdout) == (2, "")
    assert [line.split(" is ")[0] for line in listed.stderr.splitlines()[:3]] == [
        f"knightfall: run {id}" for id in (1, 2, 3)
    ]
    assert listed.stderr.splitlines()[3:] == ["knightfall: 2 more runs not listed for such reasons"]


def test_an_index_cannot_make_a_run_pass_for_another(good: bytes, file: Path) -> None:
    """Forge the index of keys, so that it leads from one run's key to the other run."""
    with forged.opened(good) as (db, _):
        ((root,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'")
    swapped = bytearray(forged.changed(good, *forged.SWAPS["keys"]))
    table = slice((root - 1) * forged.PAGE_SIZE, root * forged.PAGE_SIZE)
    swapped[table] = good[table]  # its own keys, with the index of the swapped ones
    file.write_bytes(swapped)
    use(file)
    plan = fake_plan(1, 3, names=("Ada", "Bob"))
    with Store.open(file) as store:
        refused(lambda: store.begin(plan, ENGINE, VERSIONS), str(file), "damaged")


def test_games_do_not_wait_for_a_run_to_come(good: bytes, file: Path) -> None:
    file.write_bytes(forged.orphaned(good, 1, 3))
    with Store.open(file) as store:
        begin = lambda: store.begin(fake_plan(1, 3, seed=9), ENGINE, VERSIONS)  # noqa: E731
        refused(begin, "rows of run 3, which is new")
    assert len(all_rows(file)["runs"]) == 2


def test_a_store_can_name_no_run_beyond_all_numbers(good: bytes, file: Path) -> None:
    file.write_bytes(forged.changed(good, f"UPDATE sqlite_sequence SET seq = {2**63 - 1}"))
    with Store.open(file) as store:
        begin = lambda: store.begin(fake_plan(1, 3, seed=9), ENGINE, VERSIONS)  # noqa: E731
        refused(begin, "the number of its last run is 9223372036854775807")


def test_the_engine_of_a_run_is_stored_with_it(file: Path) -> None:
    with Store.open(file) as store:
        store.begin(fake_plan(), "engine 2", {"python": "3"})
    with Store.open(file, read_only=True) as store:
        assert store.last().versions == {"knightfall": "engine 2", "python": "3"}


# -- endless tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["runs", "entrants", "matches", "pairs", "games", "tallies"])
def test_a_table_without_end_is_noticed(table: str, file: Path) -> None:
    fake_run(file, fake_plan(1, 3))
    file.write_bytes(forged.endless(file.read_bytes(), table))

    def read() -> None:
        with Store.open(file, read_only=True) as store:
            store.runs()
            run = store.last()
            run.outcomes()
            results(run)
            run.depths()

    refused(read, str(file), "damaged")


def test_a_value_is_read_only_up_to_a_length(good: bytes, file: Path) -> None:
    long = f"UPDATE runs SET plan = plan || hex(zeroblob({store_checks.LONGEST // 2}))"
    file.write_bytes(forged.changed(good, long))
    with Store.open(file) as store:
        refused(store.runs, "longer than 16,777,216 bytes")
        huge = fake_plan(1, 3, names=("x" * store_checks.LONGEST, "y"))
        refused(lambda: store.begin(huge, ENGINE, VERSIONS), "longer than 16,777,216 bytes")


def test_a_long_query_of_a_sound_store_is_not_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the limits on steps and bytes only lead to a check of the file's structure."""
    monkeypatch.setattr(store_checks, "USUAL_STEPS", 0)
    monkeypatch.setattr(store_checks, "USUAL_BYTES", 0)
    monkeypatch.setattr(store_checks, "USUAL_STEPS_PER_BYTE", 1e-9)
    checks = []
    check = store_checks.structure_fault
    monkeypatch.setattr(store_checks, "structure_fault", lambda *a: checks.append(a) or check(*a))
    fake_run(file, fake_plan(2, 60))
    use(file)
    assert checks


ENDLESS = """
import sys
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError
with Store.open(sys.argv[1], read_only=True) as store:
    store.file._db.create_function("begun", 0, lambda: print("begun", flush=True) or 1)
    while True:
        try:
            store.file.rows("WITH RECURSIVE c(x) AS (SELECT begun() UNION ALL SELECT x + 1 FROM c)"
                            " SELECT max(x) FROM c")
        except KeyboardInterrupt:
            break
        except KnightfallError:  # the signal came before the function returned
            pass
    print("interrupted", store.file.rows("SELECT count(*) FROM runs"))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_query(good: bytes, file: Path) -> None:
    file.write_bytes(good)
    command = [sys.executable, "-c", ENDLESS, str(file)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while (said := child.stdout.readline()) == "begun\n":
        child.send_signal(signal.SIGINT)
    assert said == "interrupted [(2,)]\n"
    assert child.wait(180) == 0


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_what_is_not_a_file_is_refused(good: bytes, file: Path, tmp_path: Path) -> None:
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    for path in (pipe, Path("/dev/zero"), loop, tmp_path / "a\0b", Path("/dev/null/s.sqlite")):
        for read_only in (True, False):
            refused(lambda how=read_only, at=path: Store.open(at, read_only=how))
    file.write_bytes(good)
    link = tmp_path / "link"
    link.symlink_to(file)
    with Store.open(link, read_only=True) as store:  # the store may be elsewhere
        assert len(store.runs()) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_nothing_is_written_through_a_link_beside_a_store(
    end: str, good: bytes, file: Path, tmp_path: Path
) -> None:
    file.write_bytes(good)
    victim, beside = tmp_path / "victim", tmp_path / f"arena.sqlite{end}"
    victim.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(file)
    for make, said in (
        (lambda: beside.symlink_to(victim), "a link"),
        (lambda: os.mkfifo(beside), "a pipe"),
        (beside.mkdir, "a folder"),
    ):
        make()
        for path in (file, link):
            for read_only in (True, False):
                refused(
                    lambda how=read_only, at=path: Store.open(at, read_only=how), said, beside.name
                )
        beside.rmdir() if beside.is_dir() else beside.unlink()
    assert victim.read_text() == "precious"


def test_no_journal_deletes_another_file(good: bytes, file: Path, tmp_path: Path) -> None:
    file.write_bytes(good)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "arena.sqlite-journal").write_bytes(forged.deleting_journal(good, str(victim)))
    for read_only in (True, False):
        refused(lambda how=read_only: Store.open(file, read_only=how), "names another file")
    assert victim.read_text() == "precious"


def test_a_store_that_is_replaced_while_it_is_in_use(good: bytes, file: Path) -> None:
    file.write_bytes(good)
    with Store.open(file) as store:
        run = store.begin(fake_plan(1, 3, seed=9), ENGINE, VERSIONS)
        run.append([fake_pair(run.plan.task(0))])
        store.file.checkpoint()
        moved = file.rename(file.with_name("moved.sqlite"))
        file.write_bytes(good)
        refused(lambda: run.append([fake_pair(run.plan.task(1))]), str(file), "replaced")
        file.unlink()
        refused(lambda: run.append([fake_pair(run.plan.task(1))]), str(file), "deleted")
        moved.rename(file)
        run.append([fake_pair(run.plan.task(1))])
    with Store.open(file, read_only=True) as store:
        assert store.last().played == 2


def test_a_store_is_readable_by_the_command_line(good: bytes, file: Path) -> None:
    """Check that the good store of this module is one, so that the others differ only as said."""
    file.write_bytes(forged.changed(good))
    done: Any = run_command("runs", "list", "--store", str(file))
    assert done.exit_code == 0
    assert "Ada" in done.stdout
