"""All runners give the same records, even after crashes and stalls."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from dask_clusters import two_workers

from knightfall.arena.plan import Entrant, PairRecord, PairTask, Plan, gauntlet, round_robin
from knightfall.arena.play import play_chunk
from knightfall.arena.runner import (
    MOST_PAIRS,
    STALL_FACTOR,
    Chunk,
    ChunkQueue,
    InProcess,
    PlayingThread,
    Pool,
    RemoteRunner,
    Runner,
)
from knightfall.errors import KnightfallError
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.isolation.parallel_map import RunnerOptions

QUICK = (
    "id(improved, nodes=300)",
    "alphabeta(open, depth=3)",
    "minimax(center, depth=2)",
    "random",
)
SOON = 60.0

needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")


def plan_of(
    agents: Sequence[str], pairs: int, *, one_against_all: bool = False, board: str = "5x5"
) -> Plan:
    entrants = tuple(Entrant(text, text) for text in agents)
    matches = gauntlet(entrants) if one_against_all else round_robin(entrants)
    return Plan("league", entrants, matches, pairs=pairs, board=board)


def in_order(records: Iterator[PairRecord]) -> list[PairRecord]:
    return sorted(records, key=lambda record: record.task.number)


def here(plan: Plan) -> list[PairRecord]:
    """Return the expected records, played in this process."""
    return play_chunk(list(plan.tasks()))


USERS_AGENT = """
def choose(position):
    print("thinking", position)
    return position.legal_moves[-1]
"""

USERS_CODE = """
import ctypes
from knightfall.heuristics import count, heuristic, mobility

usleep = ctypes.CDLL(None).usleep
usleep.argtypes, usleep.restype = [ctypes.c_uint], ctypes.c_int
leave = ctypes.CDLL(None)._exit
leave.argtypes, leave.restype = [ctypes.c_int], ctypes.c_int

def fine(board, open, me, opp, to_move):
    return 2.0 * mobility(board, open, me) - mobility(board, open, opp)

def slow(board, open, me, opp, to_move):
    return len(f"{mobility(board, open, me)}") + fine(board, open, me, opp, to_move)

def fails(board, open, me, opp, to_move):
    left = count(open) - 14
    return 1.0 if left > 0 else 1.0 / max(left, 0)

def stuck(board, open, me, opp, to_move):
    cells = count(open)
    while board.width == 5 and cells < 16:
        cells = (cells * 7 + me + usleep(10_000)) % 16  # compiled, and sleeping uses no processor
    return 1.0 * cells

def deadly(board, open, me, opp, to_move):
    return 1.0 * leave(9) if board.width == 5 and count(open) < 16 else 1.0  # compiled, too

def quits(board, open, me, opp, to_move):
    import os
    if board.width == 5 and bin(int(open)).count("1") < 16:
        os._exit(9)
    return 1.0
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("mine") / "mine.py"
    file.write_text(USERS_CODE)
    return str(file)


@pytest.fixture(scope="module")
def chooser(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an agent in a file without imports, whose processes start quickly."""
    file = tmp_path_factory.mktemp("chooser") / "chooser.py"
    file.write_text(USERS_AGENT)
    return f"python({file}:choose)"


@pytest.fixture(scope="module")
def league(mine: str, chooser: str) -> Plan:
    """Return a plan with agents of many kinds, all of which work."""
    own = (
        chooser,
        f"id({mine}:fine, nodes=200)",
        f"greedy({mine}:slow)",
        f"alphabeta({mine}:fails, depth=2)",
    )
    return plan_of((*QUICK[:2], *own), pairs=2)


@pytest.fixture(scope="module")
def expected(league: Plan) -> list[PairRecord]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeuristicWarning)
        return here(league)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2, QUICK) as pool:
        yield pool


# -- the same records --------------------------------------------------------------------------


def test_the_league_is_worth_comparing(expected: list[PairRecord]) -> None:
    games = [game for record in expected for game in record.games]
    assert {game.reason for game in games} == {"no moves", "crash"}
    assert {game.winner for game in games} == {"w", "b"}
    assert any("ZeroDivisionError" in game.detail for game in games)


def test_in_process(league: Plan, expected: list[PairRecord]) -> None:
    with InProcess([entrant.agent for entrant in league.entrants]) as runner:
        for _ in range(2):
            assert in_order(runner.play(league.tasks())) == expected


def test_pool(league: Plan, expected: list[PairRecord]) -> None:
    agents = [entrant.agent for entrant in league.entrants]
    with Pool(2, [text for text in agents if ":slow" not in text]) as pool:
        with pytest.warns(HeuristicWarning, match="cannot be compiled") as caught:
            assert in_order(pool.play(league.tasks())) == expected
        assert len(caught) == 1  # by both workers, but passed on once
        assert in_order(pool.play(league.tasks())) == expected


def test_a_pinned_pool_of_one() -> None:
    plan = plan_of(QUICK, pairs=20)
    with Pool(1, pin=True) as runner:
        assert in_order(runner.play(plan.tasks())) == here(plan)


def test_threads_do_not_disturb_one_another(league: Plan, expected: list[PairRecord]) -> None:
    tasks = list(plan_of(QUICK[:2], pairs=300).tasks())
    crowd = [PlayingThread() for _ in range(2)]
    for helper in crowd:
        helper.give(tasks, False, 60.0)
        helper.give(list(league.tasks()), False, 60.0)
    for helper in crowd:
        for wanted in (play_chunk(tasks), expected):
            played = helper.answer(6 * SOON)
            assert played is not None
            assert played.records == wanted
        helper.stop()


def test_careful_play_gives_the_same_records(mine: str) -> None:
    plan = plan_of((QUICK[0], f"alphabeta({mine}:fails, depth=2)"), pairs=1)
    assert play_chunk(list(plan.tasks()), careful=True) == here(plan)


def test_nothing_to_play(pool: Pool) -> None:
    with InProcess() as runner:
        assert list(runner.play(iter(()))) == []
    assert list(pool.play(iter(()))) == []


def test_tasks_are_taken_when_needed_and_playing_can_be_ended(pool: Pool) -> None:
    plan = plan_of(QUICK, pairs=10_000)
    whole = list(islice(plan.tasks(), 300))
    taken = 0

    def tasks() -> Iterator[PairTask]:
        nonlocal taken
        for number in range(10**9):
            taken += 1
            yield plan.task(number % plan.total)

    with InProcess() as alone:
        for runner in (alone, pool):
            taken = 0
            playing = runner.play(tasks())
            assert len(list(islice(playing, 20))) == 20
            assert taken <= 8 * MOST_PAIRS
            playing.close()
            before = taken
            assert in_order(runner.play(iter(whole))) == play_chunk(whole)
            assert taken == before


def test_stopping_ends_even_a_long_search() -> None:
    text = "id(improved, nodes=1000000000000000)"
    task = Plan(
        "match", (Entrant(text, text),) * 2, round_robin([Entrant(text, text)] * 2), 1
    ).task(0)
    play_chunk([PairTask(0, "id(improved, nodes=10)", "random", task.opening, 1)])
    helper = PlayingThread()
    helper.give([task], False, 60.0)
    assert helper.answer(0.3) is None
    helper.stop()
    assert helper.answer(SOON) is not None


def test_a_file_is_read_anew_for_every_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"

    def opinion(value: str) -> list[PairRecord]:
        file.write_text(f"def score(board, open, me, opp, to_move):\n    return {value}\n")
        text = f"greedy({file}:score)"
        with InProcess([text]) as runner:
            return in_order(runner.play(tasks_of(text, "random", pairs=3)))

    assert opinion("1.0 * me") == opinion("1.0 * me") != opinion("-1.0 * me")


def test_bad_agents_are_found_before_the_run(tmp_path: Path) -> None:
    makers: list[Any] = [InProcess, lambda agents: Pool(1, agents)]
    for make in makers:
        with pytest.raises(KnightfallError, match="there is no file"):
            make([f"id({tmp_path}/none.py:score, nodes=10)"])
        with pytest.raises(KnightfallError, match="there is no file"):
            make([f"python({tmp_path}/none.py:choose)"])
    with pytest.raises(KnightfallError, match="workers=0 must be from 1 to"):
        Pool(0)
    with pytest.raises(KnightfallError, match="workers=200 cannot have a core each"):
        Pool(200, pin=True)


# -- accidents ---------------------------------------------------------------------------------


@needs_signals
def test_killed_workers_are_replaced(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = list(islice(plan_of(QUICK, pairs=1000, board="7x7").tasks(), 400))
    undisturbed = play_chunk(tasks)
    monkeypatch.setattr(pool, "_most", 20)  # pairs in a chunk, so that there are many
    rng, records, killed = random.Random(1), [], []
    for record in pool.play(iter(tasks)):
        records.append(record)
        if len(records) in (100, 200, 300):
            busy = [worker.process for worker in pool.pool._workers if worker.is_awaited]
            killed.append(rng.choice(busy).pid)
            os.kill(killed[-1], signal.SIGKILL)
    assert len(set(killed)) > 1
    assert in_order(iter(records)) == undisturbed


@pytest.fixture(scope="module")
def faulty(mine: str) -> tuple[str, str]:
    """Return an agent that hangs and an agent that crashes."""
    return f"id({mine}:stuck, nodes=100)", f"greedy({mine}:deadly)"


def check_faulty_agents(runner: Runner, faulty: tuple[str, ...]) -> None:
    """Check that the two faulty agents lose every game, and no other agent loses by their fault."""
    agents = (QUICK[0], "random", *faulty)
    records = in_order(runner.play(plan_of(agents, pairs=1, one_against_all=True).tasks()))
    innocent = plan_of(agents[:2], pairs=1)
    assert records[0].games == here(innocent)[0].games
    for record, culprit in zip(records[1:], faulty, strict=True):
        assert (record.task.b, record.score) == (culprit, 2)
        for game in record.games:
            if "stuck" in culprit:
                assert game.reason == "timeout"
                assert re.search(r"did not answer within [\d.]+ s", game.detail)
            else:
                assert game.reason == "crash"
                assert "ended with exit status 9" in game.detail


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_the_guilty_lose_in_a_pool(
    faulty: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    with Pool(2, patience=1.0) as pool:
        check_faulty_agents(pool, faulty)
    assert capfd.readouterr() == ("", "")


DRIVER = """
import sys, warnings
from knightfall.arena.runner import Pool
from knightfall.arena.runner import InProcess
from knightfall.arena.plan import Entrant, Plan, gauntlet

def main():
    warnings.simplefilter("ignore")
    workers, pairs, *texts = sys.argv[1:]
    entrants = [Entrant(text, text) for text in texts]
    plan = Plan("league", tuple(entrants), gauntlet(entrants), pairs=int(pairs), board="5x5")
    patience = 1.0
    runner = Pool(int(workers), texts) if workers != "0" else InProcess(texts, patience)
    with runner:
        for played, record in enumerate(runner.play(plan.tasks()), start=1):
            for number, game in enumerate(record.games):
                winner = record.task.seats(number)[game.winner]
                print(texts.index(winner), game.reason, flush=True)
            if played == 5 and workers != "0":
                print(*(worker.process.pid for worker in runner.pool._workers), flush=True)

if __name__ == "__main__":
    main()
"""


def driver(
    tmp_path: Path, workers: int, pairs: int, *agents: str, **env: str
) -> subprocess.Popen[str]:
    """Start a process that plays pairs and prints their winners and reasons."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(workers), str(pairs), *agents],
        env={**os.environ, "KNIGHTFALL_QUIET": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def crew_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the process ids of a driver's workers, which it prints after five pairs."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(11)]
    return [int(pid) for pid in lines[-1].split() if pid.isdigit()]


def test_the_guilty_lose_in_the_process_that_plays_them(mine: str, tmp_path: Path) -> None:
    """Check that a heuristic that hangs and one that crashes lose their games when no worker is
    used.
    """
    faulty = (f"id({mine}:stuck, nodes=100)", f"greedy({mine}:quits)")
    process = driver(tmp_path, 0, 1, QUICK[0], *faulty)
    said, errors = process.communicate(timeout=6 * SOON)
    assert errors == ""
    assert sorted(said.splitlines()) == ["0 crash"] * 2 + ["0 timeout"] * 2


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return os.path.exists("/proc/self") is False  # without /proc the signal decides


@needs_signals
def test_a_killed_driver_leaves_nobody_behind(tmp_path: Path, chooser: str) -> None:
    """Check that the workers of a killed driver end, even those in an endless computation."""
    process = driver(tmp_path, 2, 500, *QUICK[:2], chooser)
    crew = crew_of(process)
    assert len(crew) == 2
    assert all(alive(pid) for pid in crew)
    process.kill()
    process.wait()
    until = time.monotonic() + SOON
    while any(alive(pid) for pid in crew) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in crew)


@needs_signals
@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_ends_everything_at_once(tmp_path: Path, workers: int) -> None:
    slow = "id(bfs_reach, nodes=20000)"
    process = driver(tmp_path, workers, 500, *QUICK[:2], slow)
    assert process.stdout is not None
    assert process.stderr is not None
    crew = crew_of(process) if workers else []
    assert len(crew) == workers
    if not workers:
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # the whole group, as a terminal does
    process.wait(SOON)
    errors = process.stderr.read()
    assert errors.count("Traceback") == 1  # the driver's own
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not any(alive(pid) for pid in crew)


# -- the chunk queue ---------------------------------------------------------------------------


def tasks_of(*agents: str, pairs: int = 8) -> Iterator[PairTask]:
    return plan_of(agents, pairs).tasks()


def test_chunks_grow_to_what_takes_the_right_time() -> None:
    backlog = ChunkQueue(tasks_of(*QUICK, pairs=500), seconds=0.2)
    sizes = []
    for _ in range(6):
        chunk = backlog.take()
        assert chunk is not None
        sizes.append(len(chunk.tasks))
        backlog.played(chunk, [], 0.004 * len(chunk.tasks))
    assert sizes == [1, 8, 50, 50, 50, 50]
    assert not backlog.slow
    one_by_one = ChunkQueue(tasks_of(*QUICK), most=1)
    for _ in range(3):
        chunk = one_by_one.take()
        assert chunk is not None
        assert len(chunk.tasks) == 1
        one_by_one.played(chunk, [], 1e-5)


def test_what_is_lost_is_played_again_by_itself_then_carefully() -> None:
    backlog = ChunkQueue(tasks_of(*QUICK[:2]))
    first = backlog.take()
    assert first is not None
    backlog.played(first, [], 0.001)
    chunk, later = backlog.take(), backlog.take()
    assert chunk is not None
    assert len(chunk.tasks) == 7
    assert later is None
    backlog.lost(chunk)
    singles = [backlog.take() for _ in range(7)]
    assert singles == [Chunk((task,), 1) for task in chunk.tasks]
    assert singles[0] is not None
    assert not singles[0].careful
    backlog.put_back(singles[1])  # type: ignore[arg-type]
    backlog.lost(singles[0])
    again = backlog.take()
    assert again is not None
    assert (again.tasks, again.careful) == (singles[0].tasks, True)
    assert backlog.take() == singles[1]
    for _ in range(3):
        backlog.lost(again)
        again = backlog.take()
        assert again is not None
    with pytest.raises(KnightfallError, match=r"pair 1 \(.*\) cannot be played: 6 worker "):
        backlog.lost(again)


def test_nobody_waits_twice_for_a_worker_that_stalled() -> None:
    backlog = ChunkQueue(tasks_of(*QUICK[:2]))
    chunk = backlog.take()
    assert chunk is not None
    backlog.lost(chunk, stalled=True)
    again = backlog.take()
    assert again is not None
    assert (again.tasks, again.careful) == (chunk.tasks[:1], True)


def test_only_users_code_can_stall(mine: str, chooser: str) -> None:
    backlog = ChunkQueue(iter(()), patience=5.0)

    def deadline(*agents: str) -> float:
        return backlog.deadline(Chunk(tuple(islice(tasks_of(*agents), 2))))

    assert deadline(*QUICK[:2]) == float("inf")
    assert deadline("random", chooser) == float("inf")
    assert deadline("random", f"id({mine}:fine, nodes=10)") == 5.0
    assert deadline("perfect(time=1s)", f"id({mine}:fine, nodes=10)") == 5.0 + 2 * 25
    task = next(tasks_of("random", f"id({mine}:fine, nodes=10)"))
    assert backlog.deadline(Chunk((task,), 2)) == float("inf")
    backlog.played(Chunk((task,)), [], 3.0)
    assert deadline("random", f"id({mine}:fine, nodes=10)") == STALL_FACTOR * 3.0 * 2
    assert deadline("random", f"id({mine}:fails, nodes=10)") == 5.0


# -- Dask --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    with two_workers() as cluster:
        yield cluster


@pytest.fixture
def cluster(dask_cluster: Any) -> Iterator[RemoteRunner]:
    with RemoteRunner(dask_cluster.scheduler_address, patience=2.0) as cluster:
        yield cluster


def test_dask(mine: str, chooser: str, cluster: RemoteRunner) -> None:
    plan = plan_of((QUICK[0], chooser, f"alphabeta({mine}:fails, depth=2)"), pairs=2)
    assert in_order(cluster.play(plan.tasks())) == here(plan)


@needs_signals
def test_a_killed_dask_worker(cluster: RemoteRunner) -> None:
    tasks = list(islice(plan_of(QUICK, pairs=1000).tasks(), 500))
    undisturbed = play_chunk(tasks)
    victim = next(iter(cluster.pool.client.run(os.getpid).values()))
    records = []
    for record in cluster.play(iter(tasks)):
        records.append(record)
        if len(records) == 75:
            os.kill(victim, signal.SIGKILL)
    assert in_order(iter(records)) == undisturbed


def test_ending_a_play_on_a_cluster(cluster: RemoteRunner) -> None:
    plan = plan_of(QUICK, pairs=100)
    playing = cluster.play(plan.tasks())
    next(playing)
    playing.close()
    some = list(islice(plan.tasks(), 20))
    assert in_order(cluster.play(iter(some))) == play_chunk(some)


def test_a_cluster_on_which_a_file_is_missing(cluster: RemoteRunner, tmp_path: Path) -> None:
    for text in (f"python({tmp_path}/none.py:choose)", f"id({tmp_path}/none.py:f, nodes=9)"):
        with pytest.raises(KnightfallError, match=r"on the Dask worker tcp://.*there is no file"):
            list(cluster.play(tasks_of("random", text)))


@pytest.mark.slow
def test_the_guilty_lose_on_a_cluster(faulty: tuple[str, str], cluster: RemoteRunner) -> None:
    check_faulty_agents(cluster, faulty[1:])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at 'tcp://127.0.0.1:9' (*refused*"),
        ("host.invalid:8786", "no Dask scheduler answers at 'host.invalid:8786' (*"),
        (
            "nonsense://x:8786",
            "'nonsense://x:8786' is not the address of a Dask scheduler, such as tcp://*",
        ),
        (
            "tcp://localhost",
            "'tcp://localhost' is not the address of a Dask scheduler, such as tcp://*",
        ),
        (
            "localhost:87860",
            "'localhost:87860' is not the address of a Dask scheduler, such as tcp://*",
        ),
        ("", "'' is not the address of a Dask scheduler, such as tcp://*"),
    ],
)
def test_a_mistyped_address_is_refused_before_dask_is_asked(
    address: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # it would retry for long
    with pytest.raises(KnightfallError) as refused:
        RunnerOptions(dask=address).check()
    assert fnmatch(str(refused.value), expected)


@pytest.mark.parametrize(
    "says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["nothing", "HTTP"]
)
def test_what_answers_may_be_no_scheduler(says: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("knightfall.isolation.executor_pool.ANSWERING", 0.5)
    kept = []

    def answer() -> None:
        for _ in range(2):  # the first connection only tests whether the port is open
            kept.append(server.accept()[0])
            kept[-1].sendall(says)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(KnightfallError, match=r"no Dask scheduler answers .*another server"):
            RemoteRunner(f"127.0.0.1:{server.getsockname()[1]}")
    for connection in kept:
        connection.close()


def test_the_address_of_a_worker_is_not_the_cluster_s(dask_cluster: Any) -> None:
    worker = next(iter(dask_cluster.scheduler_info["workers"]))
    with pytest.raises(KnightfallError, match=r"no Dask scheduler answers .*a (Worker|Nanny)"):
        RemoteRunner(worker)


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(KnightfallError, match=r"pip install 'knightfall\[dask\]'"):
        RemoteRunner("tcp://127.0.0.1:9")
