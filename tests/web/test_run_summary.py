"""What the lab says about a run: its verdict, its sequential test, its games and their truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from arena_helpers import fake_pair, fake_plan, play_on
from chart_runs import SPRT, decided, five, naive_pairs, play
from naive_solver import plies_to_end

from knightfall.arena.plan import Entrant, Match, PairTask, Plan, round_robin, tournament_matches
from knightfall.arena.store import Run, Store
from knightfall.position import Position, other
from knightfall.statistics.sprt import Sprt
from knightfall.web.lab import run_summary
from knightfall.web.lab.api import read_query
from knightfall.web.lab.gradings import key_of
from knightfall.web.lab.openapi import GAMES
from knightfall.web.lab.store_reader import StoreReader

NAMES = ("Ann", "Bob", "Cleo", "Dan")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.sqlite") as opened:
        yield opened


def entrants(number: int) -> tuple[Entrant, ...]:
    return tuple(Entrant(f"random(seed={at + 1})", NAMES[at]) for at in range(number))


def match_of(store: Store, scores: str, **stop: Any) -> Run:
    """Return a match in which Ann wins these numbers of games of the pairs, in turn."""
    plan = Plan("match", entrants(2), (Match(0, 1),), 30, board="4x4", stop=stop)
    return play(store, plan, how=in_turn(scores))


def in_turn(scores: str) -> Callable[[PairTask], Any]:
    """Return a function that plays each pair with the next of these scores of the match's `a`."""
    return lambda task: decided(int(scores[task.number % len(scores)]))(task)


@pytest.mark.parametrize(
    ("scores", "stop", "words"),
    [
        ("2", {}, "Ann is better, 100.0 % against Bob"),
        ("222220", {}, "Ann is better, 83.3 % against Bob"),
        ("000001", {}, "Bob is better, 91.7 % against Ann"),
        ("0112", {}, "not told apart: Ann 48.3 % against Bob"),
        ("222221", SPRT, "Ann passed the test, 91.7 % against Bob"),
        ("000001", SPRT, "Ann failed the test, 8.3 % against Bob"),
        ("02", SPRT, "not decided: Ann 50.0 % against Bob"),
    ],
)
def test_the_verdict_on_a_match(
    store: Store, scores: str, stop: dict[str, Any], words: str
) -> None:
    assert run_summary.verdict(match_of(store, scores, **stop)) == words


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (("2", "0"), "Ann has the most points, 100.0 %"),
        (("0", "2"), "Bob has the most points, 100.0 %"),
        (("1", "1"), "Ann has the most points, 50.0 %; not told apart"),
        (("1", "1111111112"), "Bob has the most points, 55.0 %; not told apart"),
        (("2", "2", "0"), "Ann has the most points, 100.0 %; not told apart"),
        (("2",), "Ann won 100.0 %"),
    ],
)
def test_the_verdict_on_a_tournament(store: Store, scores: tuple[str, ...], words: str) -> None:
    """Check the verdict; each test agent scores in turn its own numbers against Dan."""
    tests = len(scores)
    who = (*entrants(tests), Entrant("random(seed=9)", "Dan"))
    options = {"protocol": "2017b", "tests": tests}
    matches = tournament_matches(tests, 1)
    plan = Plan("tournament", who, matches, 20, board="4x4", options=options)

    def how(task: PairTask) -> Any:
        match, turn = matches[task.number % tests], task.number // tests
        mine = scores[match.a]
        return decided(int(mine[turn % len(mine)]))(task)

    assert run_summary.verdict(play(store, plan, how=how)) == words


@pytest.mark.parametrize(
    ("against_bob", "words"),
    [("2221", "Ann is the best"), ("0112", "Ann leads, not told apart from Bob")],
)
def test_the_verdict_on_a_league(store: Store, against_bob: str, words: str) -> None:
    who = entrants(3)
    matches = round_robin(who)
    plan = Plan("league", who, matches, 24, board="4x4")
    scores = {(0, 1): against_bob, (0, 2): "2221", (1, 2): "1222" if words[4] == "l" else "0111"}

    def how(task: PairTask) -> Any:
        match, turn = matches[task.number % len(matches)], task.number // len(matches)
        return decided(int(scores[match.a, match.b][turn % 4]))(task)

    assert run_summary.verdict(play(store, plan, how=how)) == words


def test_the_path_of_a_sequential_test(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = match_of(store, "0121221", **SPRT)
    (scores,) = naive_pairs(run).values()
    test = Sprt(-10, 40, 0.1, 0.1, "logistic")
    every = [[played, test.llr(five(scores[:played]))] for played in range(31)]
    found = run_summary.llr_path(run)
    assert found is not None
    assert found["path"] == every
    assert [found[key] for key in ("lower", "upper", "elo0", "elo1")] == [*test.bounds, -10, 40]
    monkeypatch.setattr(run_summary, "POINTS", 6)  # a longer run is shown by evenly spaced points
    thinned = run_summary.llr_path(run)
    assert thinned is not None
    assert thinned["path"] == every[::5]
    assert run_summary.llr_path(match_of(store, "1")) is None


def test_the_latest_games_come_first(store: Store) -> None:
    run = store.begin(fake_plan(matches=2, names=NAMES[:3]), "engine 1", {"knightfall": "1"})
    assert run_summary.recent(run) == []
    play_on(run, 1)
    assert [one["id"] for one in run_summary.recent(run)] == ["1.0.1", "1.0.0"]
    play_on(run, 6)
    latest = run_summary.recent(run)
    assert [one["id"] for one in latest] == ["1.5.1", "1.5.0", "1.4.1", "1.4.0"]
    for one in latest:
        pair, game = one["pair"], one["game"]
        record = fake_pair(run.plan.task(pair)).games[game]
        rival = 1 + pair % 2
        seats = [0, rival] if game == 0 else [rival, 0]
        assert [one["first"], one["second"]] == seats
        assert one["names"] == one["short"] == [NAMES[seat] for seat in seats]
        position = Position.from_fen(one["opening"])
        assert one["hunter"] == position.hunter
        for move in one["moves"]:
            position = position.play(move)
        assert (one["winner"], one["reason"]) == (record.winner, record.reason)
        assert one["plies"] == len(one["moves"]) == len(one["scores"]) == len(record.cells)
        for key in ("depths", "nodes", "microseconds"):
            assert one[key] == record.column(key).tolist()


def test_games_pass_all_filters_at_once(store: Store) -> None:
    run = store.begin(fake_plan(matches=2, names=NAMES[:3]), "engine 1", {"knightfall": "1"})
    play_on(run, 30)
    (ann_bob, ann_cleo) = naive_pairs(run).values()
    every = run_summary.games(run, skip=0, limit=1000)
    assert not every["more"]
    assert len(every["games"]) == 60
    filters: dict[str, Callable[[dict[str, Any]], Any]] = {
        "of": lambda one: {one["first"], one["second"]},
        "first": lambda one: {one["first"]},
        "hunter": lambda one: {one["first"] if one["hunter"] == "w" else one["second"]},
        "runner": lambda one: {one["second"] if one["hunter"] == "w" else one["first"]},
        "won_by": lambda one: {one["first"] if one["winner"] == "w" else one["second"]},
        "lost_by": lambda one: {one["second"] if one["winner"] == "w" else one["first"]},
        "score": lambda one: {(ann_bob, ann_cleo)[one["pair"] % 2][one["pair"] // 2]},
    }
    for key, holds in filters.items():
        for value in (0, 1, 2):
            found = run_summary.games(run, skip=0, limit=1000, **{key: value})["games"]
            assert found == [one for one in every["games"] if value in holds(one)]
    both = run_summary.games(run, skip=0, limit=1000, first=0, score=1)["games"]
    assert both == [
        one for one in every["games"] if one["first"] == 0 and filters["score"](one) == {1}
    ]
    some = run_summary.games(run, skip=7, limit=20)
    assert (some["games"], some["more"]) == (every["games"][7:27], True)
    assert run_summary.games(run, skip=40, limit=20)["more"] is False
    assert run_summary.games(run, skip=40, limit=19)["more"] is True


def test_a_list_of_games_has_100_unless_the_address_says_otherwise(store: Store) -> None:
    run = store.begin(fake_plan(pairs=60), "engine 1", {"knightfall": "1"})
    play_on(run, 60)

    def listed(**query: str) -> tuple[list[str], bool]:
        asked = read_query({name: [text] for name, text in query.items()}, GAMES)
        found = run_summary.games(run, **asked)
        return [one["id"] for one in found["games"]], found["more"]

    every, more = listed(limit="500")
    assert (len(every), more) == (120, False)
    assert listed() == (every[:100], True)
    assert listed(skip="20") == (every[20:], False)
    assert listed(skip="19") == (every[19:119], True)


def test_the_facts_about_a_run_are_those_of_its_plan(store: Store) -> None:
    plan = fake_plan(matches=2, names=NAMES[:3])
    run = store.begin(plan, "engine 1", {"knightfall": "1"})
    facts = run_summary.about(run)
    assert (facts["report"], facts["text"], facts["recent"]) == (None, "", [])
    expected = {
        "run": run.id, "kind": "league", "played": 0, "total": plan.total, "created": run.created,
        "finished": None, "board": plan.board, "seed": plan.seed, "tests": None,
        "matches": [[0, 1], [0, 2]], "llr": None,
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    assert [(one["name"], one["agent"], one["short"]) for one in facts["entrants"]] == [
        (entrant.name, str(entrant.agent), entrant.name) for entrant in plan.entrants
    ]
    play_on(run, 3)
    facts = run_summary.about(run)
    assert (facts["played"], facts["report"]["pairs"]) == (3, 3)
    assert NAMES[0] in facts["text"]
    assert [one["id"] for one in facts["recent"]] == ["1.2.1", "1.2.0", "1.1.1", "1.1.0"]


def test_the_truth_of_games_is_that_of_the_plain_solver(store: Store, tmp_path: Path) -> None:
    run = store.begin(fake_plan(pairs=20), "engine 1", {"knightfall": "1"})
    play_on(run, 20)
    reader, unusual = StoreReader(str(tmp_path / "s.sqlite")), 0
    for pair, number in product(range(20), (0, 1)):
        game = run_summary.one_game(run, pair, number)
        positions = [Position.from_fen(game["opening"])]
        for move in game["moves"]:
            positions.append(positions[-1].play(move))
        winners = [
            one.to_move if plies_to_end(one) % 2 else other(one.to_move) for one in positions
        ]
        thrown = [
            ply for ply, (before, after) in enumerate(pairwise(winners), start=1) if before != after
        ]
        if game["winner"] != winners[-1]:  # by time, an illegal move or a crash
            thrown.append(len(positions))
            unusual += 1
        truth = {"opening": winners[0], "thrown": thrown, "known_from": 1}
        assert run_summary.game_truth(game) == reader.truth(run.id, pair, number) == truth
        assert game["opening_winner"] in (winners[0], None)
    assert unusual


def test_a_grading_is_identified_by_what_determines_its_games() -> None:
    header = {
        "agent": "a", "board": "4x4", "openings": 3, "seed": 1,
        "files": {"x": "1", "y": "2"}, "engine": "e",
    }  # fmt: skip
    key = key_of(header)
    turned = {**dict(reversed(header.items())), "files": {"y": "2", "x": "1"}}
    assert key_of({**turned, "name": "another", "created": "later"}) == key
    for field, value in {
        "agent": "b", "board": "4x5", "openings": 4, "seed": 2, "files": {"x": "1"}, "engine": "f",
    }.items():  # fmt: skip
        assert key_of({**header, field: value}) != key
