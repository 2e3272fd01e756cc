"""Tests of the lab's server: access checks, invalid requests, and runs that survive a kill."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_server import LONG, MINE, LabServer, lab, until

from knightfall.agents import parse_agent
from knightfall.errors import KnightfallError
from knightfall.oracle.annotate import annotate
from knightfall.oracle.grade import grade
from knightfall.oracle.graded_games import Decision, Record
from knightfall.position import Position
from knightfall.untrusted_input import check
from knightfall.web.lab import server as server_module
from knightfall.web.lab.agent_names import agent_named, heuristic_named, listed_name, short_names
from knightfall.web.lab.api import read_body, shape_of
from knightfall.web.lab.gradings import Gradings
from knightfall.web.lab.guard import MOST_BYTES, RequestRefused
from knightfall.web.lab.jobs import LabJob
from knightfall.web.lab.lab_state import Lab, Tabs
from knightfall.web.lab.openapi import ENDPOINTS, description
from knightfall.web.lab.server import Address
from knightfall.web.lab.store_reader import StoreReader
from knightfall.web.lab.watched_files import WatchedFile

FEN = "7/7/1N5/7/7/4n2/7 w"
FILES = {"mine.py": "/home/me/mine.py"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "other.py").write_text(MINE)
    with lab(folder, "mine.py", "slow.py") as found:
        yield found


# -- access ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/api/about", "/api/runs", "/api/events", "/openapi.json"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8747"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "https://127.0.0.1"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
    ],
)
def test_foreign_hosts_and_origins_are_refused(
    server: LabServer, path: str, headers: dict[str, str]
) -> None:
    answer = server.client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "is not this server" in answer.json()["error"]


def test_another_site_s_page_may_not_ask(server: LabServer) -> None:
    for site in ("cross-site", "same-site"):
        answer = server.client.get("/api/runs", headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403
    assert server.client.get("/api/runs", headers={"Sec-Fetch-Site": "same-origin"}).is_success


def test_our_own_names_are_ours(server: LabServer) -> None:
    for host in ("localhost", "127.0.0.1", "[::1]"):
        own = {"Host": f"{host}:{server.port}", "Origin": f"http://{host}:{server.port}"}
        assert server.client.get("/api/about", headers=own).status_code == 200


@pytest.mark.parametrize("token", [None, "", "wrong", "é"])
def test_whatever_changes_something_needs_the_token(server: LabServer, token: str | None) -> None:
    given = {} if token is None else {"X-Knightfall-Token": token.encode()}
    for endpoint in ENDPOINTS:
        if endpoint.method != "GET":
            path = endpoint.path.format(run=1, job=1, grading=1)
            answer = server.client.post(path, json={}, headers=given)
            assert answer.status_code == 403
            assert "token" in answer.json()["error"]


def test_every_answer_is_strict_about_what_may_be_done_with_it(server: LabServer) -> None:
    for path in ("/", "/page.js", "/lab/lab.js", "/api/about", "/nothing", "/studies"):
        headers = server.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "script-src 'unsafe-inline'" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


def test_files_are_served_as_what_they_are(server: LabServer) -> None:
    kinds = {
        "/": "text/html", "/page.js": "text/javascript", "/lab/lab.css": "text/css",
        "/engine.wasm": "application/wasm", "/atlas.json": "application/json",
        "/openapi.json": "application/json", "/studies": "text/html",
    }  # fmt: skip
    for path, kind in kinds.items():
        answer = server.client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)


def test_views_of_extensions_are_listed_and_sent(server: LabServer) -> None:
    assert {"name": "studies", "title": "Studies"} in server.get("/api/parts")["parts"]
    part = server.get("/api/parts/studies")
    assert part["html"].startswith("<h2>The five studies</h2>")
    missing = server.client.get("/api/parts/nothing")
    assert missing.status_code == 404
    assert "there is no page part 'nothing'; known: studies" in missing.json()["error"]


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/lab/../../site.py", "/%2e%2e/site.py", "/etc/passwd", "/lab"]
)
def test_nothing_else_is_served(server: LabServer, path: str) -> None:
    assert server.client.get(path).status_code == 404


def test_which_host_headers_are_accepted() -> None:
    here = Address("127.0.0.1", 8747)
    assert here.loopback
    assert here.is_ours("LOCALHOST:8747")
    assert not any(map(here.is_ours, ("localhost", "localhost:80", "x@localhost:8747", "[::1", "")))
    everywhere = Address("0.0.0.0", 8747)
    assert not everywhere.loopback
    assert everywhere.url == "http://localhost:8747/"
    assert everywhere.is_ours("192.168.1.7:8747")  # a numeric address cannot be rebound by DNS
    assert not everywhere.is_ours("evil.example:8747")
    assert not Address("lab.example", 80).loopback
    assert Address("lab.example", 80).is_ours("lab.example")


# -- invalid requests ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/api/matches", {}, '"a" is missing'),
        ("/api/matches", {"a": "random", "b": "random", "x": 1}, "unknown name 'x'; known: a, b, "),
        (
            "/api/matches",
            {"a": 3, "b": "random"},
            '"a" must be a text of 1 to 500 characters, not 3',
        ),
        ("/api/matches", {"a": "nonsense", "b": "random"}, "unknown agent 'nonsense'"),
        (
            "/api/matches",
            {"a": "random", "b": "random", "pairs": 0},
            " from 1 to 100000, not 0",
        ),
        ("/api/matches", {"a": "random", "b": "random", "pairs": 1.5}, "whole number"),
        ("/api/matches", {"a": "random", "b": "random", "board": "99x9"}, "99"),
        ("/api/matches", {"a": "random", "b": "random", "sprt": [20, 0]}, "less than"),
        ("/api/matches", {"a": "random", "b": "random", "budget": "much=1"}, "much"),
        ("/api/tournaments", {"protocol": "1999"}, "one of 2017b, 2017a"),
        ("/api/leagues", {"agents": ["random"]}, '"agents" must be a list of 2 to 40 items, not 1'),
        ("/api/leagues", {"agents": ["random", "random"], "gauntlet": 2}, "no opponents"),
        (
            "/api/gradings",
            {"agent": "random", "openings": -1},
            "from 1 to 10000, not -1",
        ),
        ("/api/choose", {"agent": "random", "fen": "nonsense"}, "nonsense"),
        ("/api/choose", {"agent": "id(open, time=1h)", "fen": FEN}, "time"),
        ("/api/choose", {"agent": "id(open, time=59s)", "fen": FEN}, "allows at most"),
        ("/api/opinions", {"heuristics": [], "fen": FEN}, '"heuristics" must be a list of 1 to '),
        ("/api/opinions", {"heuristics": ["open, seed=1"], "fen": FEN}, "cannot read"),
    ],
)
def test_bad_values_are_named(server: LabServer, path: str, body: Any, told: str) -> None:
    answer = server.post(path, **body)
    assert answer.status_code == 422
    assert told in answer.json()["error"]


def test_invalid_bodies_are_refused(server: LabServer) -> None:
    token = {"X-Knightfall-Token": server.token}

    def status(body: bytes, kind: str = "application/json") -> int:
        sent = {**token, "Content-Type": kind}
        return int(server.client.post("/api/matches", content=body, headers=sent).status_code)

    assert status(b"{") == 400
    assert status(b"\xff\xfe") == 400
    assert status(b'{"a": NaN}') == 400
    assert status(b"[]") == 422
    assert status(b"a=1", "application/x-www-form-urlencoded") == 415
    assert status(b" " * (MOST_BYTES + 1)) == 413
    chunks = server.client.post(
        "/api/matches",
        content=(b" " * 1000 for _ in range(100)),
        headers={**token, "Content-Type": "application/json"},
    )
    assert chunks.status_code == 413


def test_missing_things_are_not_found(server: LabServer) -> None:
    for path in ("/api/runs/99", "/api/runs/99/games", "/api/gradings/99", "/api/nothing"):
        answer = server.client.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]
    assert server.client.get("/api/runs/many").status_code == 422
    assert server.client.get("/api/runs?x=1").status_code == 422
    assert server.client.get("/api/runs?limit=0").status_code == 422
    assert server.client.get("/api/choose").status_code == 405
    assert server.post("/api/runs/99/stop").status_code == 404
    assert server.post("/api/runs/99/resume").status_code == 404


PATHS = [
    "id(other.py:cosy)", "id(./mine.py:cosy)", "id(../lab/mine.py:cosy)", "id(/etc/x.py:f)",
    "id(mine.py:cosy@HEAD)", "python(other.py:choose)", "python(/tmp/x.py:f)",
    "id(mine.py:cosy+other.py:cosy)", "other.py:cosy", "course:/etc/passwd", "course:other.py",
    "course:.", "course(other.py#A(b), time=1s)", "id(course:other.py#f)", "id(course:/x#f)",
    "id(~/mine.py:cosy)", "AB_Custom(other.py:cosy)", "student(other.py:cosy)",
    "id(mine.py:cosy\u202e)", "id(mine.py\x00:cosy)", "id(MINE.PY:cosy)", "id(a\\mine.py:cosy)",
]  # fmt: skip


@pytest.mark.parametrize("text", PATHS)
def test_files_that_are_not_on_the_command_line_are_refused(text: str) -> None:
    with pytest.raises(KnightfallError):
        agent_named(text, FILES)
    with pytest.raises(KnightfallError):
        heuristic_named(text, FILES)


def test_the_store_reader_says_whether_something_is_missing_or_wrong(tmp_path: Path) -> None:
    reader = StoreReader(str(tmp_path / "runs.sqlite"))
    missing = reader.answer({"ask": "run", "run": 3})
    assert missing == {
        "error": "there is no run 3: the store is still empty", "found": False
    }  # fmt: skip
    (tmp_path / "runs.sqlite").write_bytes(b"there is no store in this file " * 200)
    wrong = reader.answer({"ask": "runs", "limit": 5})
    assert "runs.sqlite" in wrong["error"]
    assert wrong["found"]


def test_and_the_server_refuses_them_everywhere(server: LabServer) -> None:
    before = server.get("/api/state")["jobs"]
    for text in PATHS:
        asked: dict[str, dict[str, Any]] = {
            "/api/matches": {"a": text, "b": "random"},
            "/api/tournaments": {"tests": ["random", text]},
            "/api/leagues": {"agents": ["random", text]},
            "/api/gradings": {"agent": text},
            "/api/choose": {"agent": text, "fen": FEN},
            "/api/opinions": {"heuristics": [text], "fen": FEN},
        }
        for path, body in asked.items():
            assert server.post(path, **body).status_code == 422, (path, text)
    assert server.get("/api/state")["jobs"] == before


def test_files_by_their_names_become_paths() -> None:
    assert str(agent_named("mine.py:cosy", FILES)) == "id(/home/me/mine.py:cosy, nodes=2500)"
    both = agent_named("greedy(2*mine.py:cosy-open)", FILES)
    assert both.heuristic == "2*/home/me/mine.py:cosy-open"
    assert agent_named("python(mine.py:choose)", FILES).files == ("/home/me/mine.py",)
    assert agent_named("course:mine.py#A(s)", FILES).heuristic == "/home/me/mine.py#A(s)"
    assert agent_named("id(weighted_mobility)", {}) == parse_agent("id(weighted_mobility)")
    assert listed_name("/a/my agent.py", {}) == "my_agent.py"
    assert listed_name("/b/mine.py", FILES) == "mine_2.py"


def test_short_names_are_as_different_as_the_full_ones() -> None:
    for full, short in (
        (["id(improved, nodes=2500)", "id(bfs_reach, nodes=2500)"], ["improved", "bfs_reach"]),
        (["id(open)", "greedy(open)", "random"], ["id open", "greedy open", "random"]),
        (["id(open, nodes=1)", "id(open, nodes=2)"], ["id(open, nodes=1)", "id(open, nodes=2)"]),
        (["greedy(mine.py:cosy+2*other.py:cosy-open)", "random"], ["cosy+2*cosy-open", "random"]),
        (["python(slow.py:slow, time=10ms)", "perfect(nodes=3000)"], ["slow", "perfect"]),
        (["2017b:AB_Open", "course:game_agent.py#A(s)"], ["AB_Open", "A(s)"]),
        (["id(open) #1", "id(open) #2"], ["open #1", "open #2"]),
        (["id(a.py:f)", "id(b.py:f)"], ["id(a.py:f)", "id(b.py:f)"]),
    ):
        assert short_names(full) == short


def test_a_body_has_its_defaults_and_nothing_else() -> None:
    schema = {
        "type": "object", "properties": {"n": {"type": "integer", "default": 3}},
        "required": [], "additionalProperties": False,
    }  # fmt: skip
    assert read_body(b"", "", schema) == {"n": 3}
    assert read_body(b'{"n": 4}', "application/json; charset=utf-8", schema) == {"n": 4}
    for bad in (True, None, "3", [3], 3.5):
        with pytest.raises(KnightfallError):
            check(shape_of(schema["properties"]["n"]), bad, "n")  # type: ignore[index]


# -- positions -------------------------------------------------------------------------------


def test_moves_and_opinions_are_those_of_the_command(server: LabServer) -> None:
    position = Position.from_fen(FEN)
    move = server.post("/api/choose", agent="id(improved, nodes=500)", fen=FEN, seed=7)
    expected = parse_agent("id(improved, nodes=500, seed=7)").analyse(position)
    assert (move.json()["move"], move.json()["nodes"]) == (expected.move, expected.nodes)
    assert (
        server.post("/api/choose", agent="python(mine.py:choose)", fen=FEN).json()["move"] == "a7"
    )
    told = server.post("/api/opinions", heuristics=["mine.py:cosy", "open"], fen=FEN).json()
    assert told["moves"] == list(position.legal_moves)
    assert told["opinions"]["open"]["d4"] == float(len(position.play("d4").targets("w")))
    assert set(told["opinions"]["mine.py:cosy"]) == set(position.legal_moves)


HOSTILE = """import os, time


def hangs(position):
    while True:
        pass


def dies(position):
    os._exit(3)


def wrong(board, open, me, opp, to_move):
    return 1 / (me - me)
"""


REMEMBERS = """class Player:
    def __init__(self):
        self.asked = 0

    def choose(self, position):
        self.asked += 1
        return position.legal_moves[self.asked % len(position.legal_moves)]
"""


def test_a_game_goes_on_and_another_begins_afresh(tmp_path: Path) -> None:
    """Check that an agent that plays both sides has a separate state for each, and a new one in
    each game.
    """
    (tmp_path / "mine.py").write_text(REMEMBERS)
    with lab(tmp_path, "mine.py") as server:
        (file,) = until(lambda: (f := server.get("/api/files")["files"]) and f[0]["agents"] and f)
        assert [one["id"] for one in file["agents"]] == ["python(mine.py:Player)"]
        for _ in range(2):
            position = Position.from_fen(FEN)
            for turn in (1, 1, 2, 2, 3, 3):
                asked = {"agent": "python(mine.py:Player)", "fen": position.fen}
                move = server.post("/api/choose", **asked).json()["move"]
                assert move == position.legal_moves[turn % len(position.legal_moves)]
                position = position.play(move)


def test_an_agent_that_hangs_or_dies_does_not_stop_the_server(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE)
    with lab(tmp_path, "hostile.py") as server:
        dead = server.post("/api/choose", agent="python(hostile.py:dies)", fen=FEN)
        assert dead.status_code == 422
        assert "ended with exit status" in dead.json()["error"]
        late = server.post("/api/choose", agent="python(hostile.py:hangs, time=200ms)", fen=FEN)
        assert late.status_code == 422
        assert "did not answer" in late.json()["error"]
        assert server.get("/api/about")["name"] == "knightfall"
        files = until(lambda: [f for f in server.get("/api/files")["files"] if not f["looking"]])
        (wrong,) = files[0]["heuristics"]
        assert "hostile.py" in wrong["error"]
        assert wrong["line"] == 14


def test_a_page_has_two_searches_at_once(server: LabServer) -> None:
    body = json.dumps({"agent": "minimax(improved, depth=40)", "fen": FEN}).encode()
    head = f"POST /api/choose HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    head += f"X-Knightfall-Token: {server.token}\r\nX-Knightfall-Client: greedy\r\n\r\n"
    going: list[socket.socket] = []

    def refused() -> Any:
        """Start one more search; return the response if it exceeds the limit, else None."""
        going.append(socket.create_connection(("127.0.0.1", server.port)))
        going[-1].sendall(head.encode() + body)
        answer = server.post("/api/choose", "greedy", agent="greedy(open)", fen=FEN)
        return answer if answer.status_code == 429 else None

    assert "2 searches" in until(refused).json()["error"]
    for one in going:  # the searches are cancelled when their client disconnects
        one.close()
    asked = {"agent": "greedy(open)", "fen": FEN}
    until(lambda: server.post("/api/choose", "greedy", **asked).is_success)


# -- files -----------------------------------------------------------------------------------


def test_files_are_read_again_when_they_are_edited(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    with lab(tmp_path, "mine.py") as server:

        def seen() -> Any:
            (found,) = server.get("/api/files")["files"]
            return None if found["looking"] else found

        before = until(lambda: (found := seen()) and found["heuristics"] and found)
        assert [one["id"] for one in before["heuristics"]] == ["mine.py:cosy"]
        assert [one["id"] for one in before["agents"]] == ["python(mine.py:choose)"]
        assert not before["error"]
        opinion = {"heuristics": ["mine.py:cosy"], "fen": FEN}
        first = server.post("/api/opinions", **opinion).json()["opinions"]["mine.py:cosy"]["d4"]
        file.write_text(MINE + "\n\ndef cosy(:\n")
        broken = until(lambda: (found := seen()) and found["error"] and found)
        assert broken["line"] == 15
        assert broken["error"].startswith("mine.py, line 15: SyntaxError")
        file.write_text(MINE.replace("- 0.5 *", "+ 7 *"))
        until(lambda: (found := seen()) and not found["error"] and found["heuristics"])
        after = server.post("/api/opinions", **opinion).json()["opinions"]["mine.py:cosy"]["d4"]
        assert after != first


WRONG = """from knightfall.heuristics import heuristic, mobility


@heuristic
def short(board, open, me):
    return mobility(board, open, me)


def forgets_the_turn(board, open, me, opp):
    return 1.0


def greedy_of(board, open, me, opp, to_move, *more):
    return 1.0


def helper(board, open, me):
    return 1.0


def choose(position):
    return position.legal_moves[0]
"""


def test_heuristics_with_a_wrong_signature_are_listed_with_their_error(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    file = WatchedFile("wrong.py", str(tmp_path / "wrong.py"))
    file.look()
    found = file.to_dict()
    assert found["error"] == ""
    errors = {row["name"]: row["error"] for row in found["heuristics"]}
    assert list(errors) == ["short", "forgets_the_turn", "greedy_of"]
    for name, given in (
        ("short", "(board, open, me)"),
        ("forgets_the_turn", "(board, open, me, opp)"),
        ("greedy_of", "(board, open, me, opp, to_move, *more)"),
    ):
        assert errors[name].startswith(f"wrong.py: heuristic '{name}' must take exactly (board, op")
        assert errors[name].endswith(f"not {given}")
    assert [row["name"] for row in found["agents"]] == ["choose"]


# -- runs ------------------------------------------------------------------------------------


def test_a_run_is_played_stopped_and_gone_on_with_after_a_kill(tmp_path: Path) -> None:
    server = LabServer(tmp_path, "slow.py")
    job = server.begin("/api/matches", **LONG)
    assert job["run"] == 1
    run = until(lambda: (found := server.get("/api/runs/1"))["played"] >= 2 and found)
    assert [one["name"] for one in run["entrants"]] == [
        "python(slow.py:slow, time=10ms)", "random"
    ]  # fmt: skip
    assert not run["resumable"]
    assert server.post("/api/runs/1/resume").status_code == 409
    assert len(run["recent"]) == 4
    assert server.post("/api/runs/1/stop").status_code == 202
    stopped = server.until_job(job["id"], lambda job: job["state"] == "stopped")
    kept = server.get("/api/runs/1")
    assert kept["resumable"]
    assert kept["played"] >= stopped["done"] > 0
    # Resume it, then kill the server: the run's process must end too, and all pairs must be stored.
    resumed = server.post("/api/runs/1/resume").json()
    server.until_job(resumed["id"], lambda job: job["done"] > kept["played"])
    playing = _players(tmp_path)
    assert playing
    server.process.kill()
    server.process.wait()
    until(lambda: not _players(tmp_path))
    again = LabServer(tmp_path, "slow.py")
    found = again.get("/api/runs/1")
    assert found["resumable"]
    assert found["played"] > kept["played"]
    more = again.post("/api/runs/1/resume").json()
    going = again.until_job(more["id"], lambda job: job["done"] > found["played"])
    assert going["run"] == 1
    assert again.end(signal.SIGINT) == 130  # Ctrl-C stops the run, which stays resumable
    assert not _players(tmp_path)
    (tmp_path / "else.py").write_text("")
    # A run cannot be resumed if the file of its agents is not on the command line.
    with lab(tmp_path, "else.py") as without:
        refused = without.post("/api/runs/1/resume")
        assert refused.status_code == 409
        assert "slow.py" in refused.json()["error"]
        # The report's counts agree with the listed games.
        report = without.get("/api/runs/1")["report"]
        assert report["pairs"] > found["played"]
        won = sum(1 for _ in _games(without, won_by=0, score=2))
        assert won == 2 * report["counts"][2]


def test_a_run_keeps_the_text_that_it_began_with(tmp_path: Path) -> None:
    """Check that editing a file does not affect a run that uses it, but that a stopped run can be
    resumed only with the unchanged file.
    """
    file = tmp_path / "slow.py"
    with lab(tmp_path, "slow.py") as server:
        job = server.begin("/api/matches", **{**LONG, "pairs": 6})
        text = file.read_text()
        file.write_text("raise RuntimeError('saved in the middle of a change')\n")
        ended = server.until_job(job["id"], lambda job: job["state"] in ("finished", "failed"))
        assert (ended["state"], ended["error"], ended["done"]) == ("finished", "", 6)
        run = server.get("/api/runs/1")
        assert "crash" not in run["report"]["agents"][0]["losses"]
        assert run["entrants"][0]["name"] == LONG["a"]
        assert run["entrants"][0]["agent"] == f"python({file}:slow, time=10ms)"
        # A stopped run can be resumed only with the unchanged file.
        file.write_text(text)
        again = server.begin("/api/matches", **LONG)
        server.post(f"/api/runs/{again['run']}/stop")
        server.until_job(again["id"], lambda job: job["state"] == "stopped")
        file.write_text(f"{text}\n# edited\n")
        told = server.get(f"/api/runs/{again['run']}")
        assert not told["resumable"]
        assert "edited since" in told["why_not"]
        refused = server.post(f"/api/runs/{again['run']}/resume")
        assert refused.status_code == 409
        assert "edited since" in refused.json()["error"]


@pytest.mark.slow
def test_gradings_are_stored_and_go_on_after_a_kill(tmp_path: Path) -> None:
    asked = {"agent": "python(slow.py:slow, time=10s)", "openings": 12, "board": "5x5", "seed": 3}
    server = LabServer(tmp_path, "slow.py")
    job = server.begin("/api/gradings", **asked)
    server.until_job(job["id"], lambda job: job["done"] >= 2)
    server.process.kill()
    server.process.wait()
    until(lambda: not _players(tmp_path))
    with (tmp_path / "runs.gradings" / "1.jsonl").open("a") as torn:
        torn.write('{"number": 99, "open')
    with lab(tmp_path, "slow.py") as again:
        (listed,) = again.get("/api/gradings")["gradings"]
        assert 2 <= listed["games"] < 12
        assert not listed["finished"]
        kept = again.get("/api/gradings/1")
        assert kept["resumable"]
        assert kept["grade"]["games"] == len(kept["games"]) == listed["games"]
        resumed = again.post("/api/gradings/1/resume").json()
        again.until_job(resumed["id"], lambda job: job["state"] == "finished")
        whole = again.get("/api/gradings/1")
        assert whole["games"][: listed["games"]] == kept["games"]
        assert again.post("/api/gradings/1/resume").status_code == 409
        # `knightfall grade` must find the same for the same agent and openings.
        expected = grade(
            f"python({tmp_path / 'slow.py'}:slow, time=10s)",
            openings=12, seed=3, board="5x5", progress=False,
        ).to_dict()  # fmt: skip
        found = whole["grade"]
        assert found["keeps"] == expected["keeps"]
        assert found["first_blunder"] == json.loads(json.dumps(expected["first_blunder"]))
        # The same request finds the same grading, which has nothing left to play.
        same = again.begin("/api/gradings", **asked)
        assert same["grading"] == 1
        assert len(again.get("/api/gradings")["gradings"]) == 1


def test_gradings_that_were_damaged_or_made_up_are_passed_over(tmp_path: Path) -> None:
    stored = Gradings(str(tmp_path / "runs.sqlite"))
    header = {
        "agent": "greedy(open)", "name": "greedy(open)", "board": "5x5", "openings": 3, "seed": 0,
        "files": {}, "engine": "1", "created": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    begun = stored.begin(header)
    assert stored.begin({**header, "created": "later"}).id == begun.id
    assert stored.begin({**header, "seed": 1}).id == begun.id + 1
    choice = Decision(1, "hunter", "opening", 3, 1, True, math.inf, True)
    game = {"opening": "5/1N3/5/3n1/5 w", "moves": ["d5"], "blunders": []}
    stored.append(begun.id, 0, game, Record((1, 2), (choice,)))
    file = tmp_path / "runs.gradings" / "1.jsonl"
    good = file.read_text().splitlines()[-1]
    bad = [
        "no JSON", "[]", good.replace('"number": 0', '"number": 7'),
        good.replace("hunter", "farmer"), good.replace(", 3, 1, true", ", 0, 1, true"), good[:40],
    ]  # fmt: skip
    file.write_text(file.read_text() + "\n".join(bad))
    second = Record(None, (replace(choice, score=None, kept=False), replace(choice, winning=3)))
    stored.append(begun.id, 1, game, second)
    for name in ("notes.jsonl", "²3.jsonl", "4.txt"):  # not files of gradings
        file.with_name(name).write_text(file.read_text())
    (found, other) = Gradings(str(tmp_path / "runs.sqlite")).all()
    assert found.records == (Record((1, 2), (choice,)), second)
    assert found.grade().wins_kept["overall"].kept.rate == 0.5  # type: ignore[union-attr]
    assert other.games == ()
    listed = StoreReader(str(tmp_path / "runs.sqlite")).gradings()["gradings"]
    numbers = [tuple(one[name] for name in ("id", "seed", "games", "openings")) for one in listed]
    assert numbers == [(2, 1, 0, 3), (1, 0, 2, 3)]
    for text in ("", "{}", json.dumps({**header, "agent": "nonsense"}), "\xff" * 10):
        (tmp_path / "runs.gradings" / "3.jsonl").write_text(text, "latin-1")
        assert Gradings(str(tmp_path / "runs.sqlite")).one(3) is None


def test_a_job_that_failed_says_why_until_it_is_dismissed(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def choose(position):\n    return 1 / 0\n")
    with lab(tmp_path, "broken.py") as server:
        started = server.post("/api/matches", a="python(broken.py:missing)", b="random").json()
        failed = server.until_job(started["id"], lambda job: job["state"] == "failed")
        assert "broken.py defines no 'missing'" in failed["error"]
        assert "knightfall-run" not in failed["error"]
        assert server.post(f"/api/jobs/{started['id']}/dismiss").status_code == 200
        assert server.get("/api/state")["jobs"] == []
        assert server.post(f"/api/jobs/{started['id']}/dismiss").status_code == 404


def _games(server: LabServer, **wanted: int) -> Iterator[dict[str, Any]]:
    skip = 0
    while True:
        page = server.get("/api/runs/1/games", **wanted, skip=skip, limit=500)
        yield from page["games"]
        if not page["more"]:
            return
        skip += 500


def _players(folder: Path) -> list[str]:
    """Return the processes in which the lab in a folder plays its runs."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    lines = [line for line in listed.stdout.splitlines() if "web.lab.jobs" in line]
    mine = []
    for line in lines:
        pid = line.split()[0]
        try:
            cwd = str(Path(f"/proc/{pid}/cwd").resolve())  # a run plays in a copy of the folder
            if cwd.endswith(str(folder.resolve())):
                mine.append(line)
        except OSError:
            continue
    return mine


def test_games_and_what_they_tell(server: LabServer) -> None:
    asked = {"a": "greedy(improved)", "b": "random", "pairs": 6, "board": "5x5"}
    job = server.begin("/api/matches", **asked)
    server.until_job(job["id"], lambda job: job["state"] == "finished")
    id = job["run"]
    again = server.begin("/api/matches", **asked)
    assert again["run"] == id  # it was played before
    found = server.get(f"/api/runs/{id}/games", limit=500)
    assert len(found["games"]) == 12
    assert not found["more"]
    one = server.get(f"/api/runs/{id}/games/3/1")
    position = Position.from_fen(one["opening"])
    for move in one["moves"]:
        position = position.play(move)
    assert position.winner == one["winner"]
    assert server.client.get(f"/api/runs/{id}/games/6/0").status_code == 404
    listed = {run["id"]: run for run in server.get("/api/runs")["runs"]}[id]
    report = server.get(f"/api/runs/{id}")["report"]
    share = f"{100 * report['score']:.1f}"
    assert f"improved is better, {share} % against random" in listed["verdict"].replace("\xa0", " ")
    assert listed["short"] == ["improved", "random"]
    truth = server.get(f"/api/runs/{id}/games/3/1/truth")
    judged = annotate(f"{one['opening']} {' '.join(one['moves'])}", progress=False)
    assert truth["opening"] == judged.winners[0] == one["opening_winner"]
    assert truth["thrown"] == [it.ply for it in judged.remarks if it.quality == "blunder"]
    assert truth["known_from"] == 1
    for filter in ({"hunter": 0}, {"runner": 1}, {"first": 0}, {"of": 1}, {"reason": "no moves"}):
        assert 0 < len(server.get(f"/api/runs/{id}/games", **filter)["games"]) <= 12


def test_two_runs_at_a_time_and_a_grading_that_is_stopped(server: LabServer) -> None:
    run = server.begin("/api/leagues", agents=[LONG["a"], "random"], pairs=60)
    long = {"agent": "id(open, nodes=2000)", "openings": 1200, "board": "6x6"}
    grading = server.begin("/api/gradings", **long)
    assert server.post("/api/matches", a="random", b="random").status_code == 409
    server.until_job(grading["id"], lambda job: job["done"] > 0)
    assert server.post(f"/api/gradings/{grading['grading']}/stop").status_code == 202
    server.until_job(grading["id"], lambda job: job["state"] == "stopped")
    told = server.get(f"/api/gradings/{grading['grading']}")
    assert told["grade"]["games"] == len(told["games"]) > 0
    assert told["grade"]["partial"]
    server.post(f"/api/runs/{run['run']}/stop")
    server.until_job(run["id"], lambda job: job["state"] == "stopped")


def test_a_run_goes_on_when_the_tab_that_started_it_is_closed() -> None:
    """Check that a run continues when the tab that started it is closed, with and without another
    open tab.
    """

    async def check_job() -> None:
        lab = Lab([], "unused.sqlite", grace=0.05)
        job = LabJob("1", "match", ["random", "random"])
        lab.jobs.all[job.id] = job
        with lab.tabs.stream("watcher"):
            with lab.tabs.stream("starter"):
                pass
            await asyncio.sleep(0.2)
            assert not job.stopping
        await asyncio.sleep(0.2)
        assert lab.tabs.watching == 0
        assert not job.stopping
        assert not job.over

    asyncio.run(check_job())


def test_events_report_runs_which_go_on_without_a_tab(server: LabServer) -> None:
    with server.client.stream("GET", "/api/events?client=tab1") as news:
        lines = news.iter_lines()
        first = json.loads(next(x for x in lines if x.startswith("data:"))[5:])
        assert {file["name"] for file in first["files"]} == {"mine.py", "slow.py"}
        job = server.begin("/api/leagues", "tab1", agents=["random", LONG["a"]], pairs=60)
        for line in lines:
            told = json.loads(line[5:])["jobs"] if line.startswith("data:") else []
            if any(one["id"] == job["id"] and one["run"] == job["run"] for one in told):
                break
    server.until_job(job["id"], lambda now: now["done"] > job["done"])
    assert server.post(f"/api/runs/{job['run']}/stop").status_code == 202
    server.until_job(job["id"], lambda job: job["state"] == "stopped")
    assert server.get(f"/api/runs/{job['run']}")["resumable"]


async def _search(tabs: Tabs, name: str) -> None:
    with tabs.searching(name):
        await asyncio.sleep(60)


def test_a_search_survives_a_stream_that_drops_and_comes_back() -> None:
    async def days() -> None:
        tabs = Tabs(grace=0.2)
        search = asyncio.create_task(_search(tabs, "one"))  # before its tab has a stream
        await asyncio.sleep(0)
        with tabs.stream("one"):
            assert tabs.watching == 1
        await asyncio.sleep(0.05)
        with tabs.stream("one"):  # reconnected within the grace period
            await asyncio.sleep(0.4)
            assert not search.done()
        await asyncio.sleep(0.4)
        assert search.cancelled()  # the tab did not reconnect

    asyncio.run(days())


def test_opening_a_stream_leaves_the_tab_s_search_alone(server: LabServer) -> None:
    thinking = {"agent": "id(improved, time=3s)", "fen": FEN}
    with ThreadPoolExecutor(1) as hands:
        answer = hands.submit(server.post, "/api/choose", "reconnecting", **thinking)
        while not answer.done():  # open streams as a page that reconnects would
            with server.client.stream("GET", "/api/events?client=reconnecting") as news:
                next(news.iter_lines())
        assert answer.result().status_code == 200, answer.result().text


def test_searches_are_counted() -> None:
    async def days() -> None:
        tabs = Tabs()
        going = [asyncio.create_task(_search(tabs, "one")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRefused, match="2 searches"):
            await _search(tabs, "one")
        going += [asyncio.create_task(_search(tabs, "two")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RequestRefused, match="4 searches"):
            await _search(tabs, "three")
        for task in going:
            task.cancel()

    asyncio.run(days())


# -- the command -----------------------------------------------------------------------------


def test_the_port_is_open_before_the_compiler_is_loaded() -> None:
    code = (
        "import sys; from knightfall.web.lab.server import listen; "
        "import knightfall.web.lab.server, knightfall.cli.app; listen('127.0.0.1', 0); "
        "print([m for m in ('numba', 'starlette', 'uvicorn', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_usual_port_is_taken_if_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the default of `listen` with a port of the test's own in place of the usual one."""
    first, address = server_module.listen("127.0.0.1", 0)
    monkeypatch.setattr(server_module, "USUAL_PORT", address.port)
    other, another = server_module.listen("127.0.0.1", None)  # the usual one is taken
    assert another.port not in (0, address.port)
    other.close()
    first.close()
    again, same = server_module.listen("127.0.0.1", None)
    assert (same, again.getsockname()[1]) == (address, address.port)
    again.close()


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    from cli_runner import refused

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "cannot listen" in refused("serve", "--no-browser", "--port", port)
    assert "is not a port" in refused("serve", "--no-browser", "--port", "99999")
    for bad in ("nothing.py", str(tmp_path)):
        assert "no file" in refused("serve", "--no-browser", "--port", "0", bad)
    (tmp_path / "notes.txt").write_text("")
    assert "must end in .py" in refused("serve", "--port", "0", str(tmp_path / "notes.txt"))


def test_the_description_names_every_endpoint() -> None:
    told = description("1")
    for endpoint in ENDPOINTS:
        operation = told["paths"][endpoint.path][endpoint.method.lower()]
        assert endpoint.status in operation["responses"]
        assert ("409" in operation["responses"]) == (endpoint.answer == "Job")
        if endpoint.body is not None:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert schema["additionalProperties"] is False


def test_other_machines_are_warned_of(tmp_path: Path) -> None:
    server = LabServer(tmp_path, host="0.0.0.0")
    assert server.client.get("/api/about").is_success
    spelt = {"Host": f"127.0.0.1:{server.port}"}
    assert server.client.get("/api/about", headers=spelt).is_success
    rebound = {"Host": f"evil.example:{server.port}"}
    assert server.client.get("/api/about", headers=rebound).status_code == 403
    server.process.send_signal(signal.SIGINT)
    _, said = server.process.communicate(timeout=60)
    assert "warning: everyone who can reach 0.0.0.0 can use this lab" in said
