"""Plans: reproducible order of pairs, each opening once, all entrants treated equally."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import processes
import pytest
from helpers import times_the_examples
from hypothesis import given
from hypothesis import strategies as st

from knightfall.agents import parse_agent
from knightfall.agents.kinds import PythonAgent
from knightfall.arena.plan import (
    Entrant,
    Match,
    Plan,
    enter,
    files_of,
    gauntlet,
    round_robin,
    tournament_matches,
)
from knightfall.arena.stored_plan import read_plan
from knightfall.arena.tournament_plan import (
    PROTOCOLS,
    RECOMMENDED,
    command_of,
    mixture,
    time_limits,
    tournament_plan,
)
from knightfall.board import Board
from knightfall.course.agent import CourseAgent
from knightfall.errors import KnightfallError
from knightfall.openings import alternate_hunter, openings, read_book, shuffled
from knightfall.position import Position
from knightfall.search.budget import Budget, read_budget

AGENTS = enter(["id(improved)", "id(open)", "random", "greedy(center)"])


def plan(**changes: object) -> Plan:
    return replace(Plan("league", AGENTS, round_robin(AGENTS), pairs=7, seed=3), **changes)  # type: ignore[arg-type]


# -- openings --------------------------------------------------------------------------------


def test_seven_by_seven_has_2352_openings() -> None:
    found = openings(Board.of(7, 7))
    assert len(found) == len(set(found)) == 49 * 48
    assert all(Position.from_fen(fen).to_move == "w" for fen in found)


@pytest.mark.parametrize(("width", "height"), [(3, 3), (3, 4), (4, 4), (5, 3)])
def test_openings_are_all_placements_that_leave_a_move(width: int, height: int) -> None:
    expected = set()
    start = Position.start(width, height)
    for first in start.legal_moves:
        for second in start.play(first).legal_moves:
            position = start.play(first).play(second)
            if position.winner is None:
                expected.add(position.fen)
    found = openings(Board.of(width, height))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(st.integers(0, 2**40), st.integers(0, 9))
@times_the_examples(0.5)
def test_a_shuffle_is_a_permutation_decided_by_its_seed(seed: int, series: int) -> None:
    fens = openings(Board.of(4, 4))
    order = shuffled(fens, seed, series)
    assert sorted(order) == sorted(fens)
    assert order == shuffled(list(reversed(fens)), seed, series)
    assert order != shuffled(fens, seed + 1, series)
    assert order != shuffled(fens, seed, series + 1)
    # Removing some openings does not change the order of the others.
    assert [fen for fen in order if fen in fens[::2]] == shuffled(fens[::2], seed, series)


def test_every_opening_comes_first_about_equally_often() -> None:
    fens = openings(Board.of(3, 3))
    first = Counter(shuffled(fens, seed)[0] for seed in range(200 * len(fens)))
    assert set(first) == set(fens)
    assert max(first.values()) < 300  # 200 each, with a standard deviation of 14
    assert min(first.values()) > 120


def test_stratified_openings_alternate_between_hunter_and_runner() -> None:
    order = alternate_hunter(shuffled(openings(Board.of(7, 7)), 5))
    hunts = [Position.from_fen(fen).hunter == "w" for fen in order]
    fewer = min(sum(hunts), len(hunts) - sum(hunts))
    assert hunts[: 2 * fewer] == [True, False] * fewer
    assert len(set(order)) == 2352


def test_a_book_is_a_fen_a_line(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("# mine\n7/7/1N5/7/7/4n2/7 w\n\n 7/7/1N5/7/7/4n2/7 b  # the other way\n")
    assert read_book(str(book)) == ["7/7/1N5/7/7/4n2/7 w", "7/7/1N5/7/7/4n2/7 b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no positions"),
        ("# nothing\n", "has no positions"),
        ("7/7/1N5/7/7/4n2/7 w\nhello\n", "line 2"),
        ("7/7/7/7/7/7/7[Nn] w\n", "still has a knight to place"),
        ("1*1/*N*/*1n w\n", "the game is over"),
        ("7/7/1N5/7/7/4n2/6 w\n", "row 7 has 6 cells"),
    ],
)
def test_a_bad_book_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    book = tmp_path / "book.txt"
    book.write_text(text)
    with pytest.raises(KnightfallError, match=said) as error:
        read_book(str(book))
    assert str(book) in str(error.value)


def test_a_book_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(KnightfallError, match="book"):
            read_book(str(path))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KnightfallError, match="not a text file"):
        read_book(str(tmp_path / "binary"))


# -- plans -----------------------------------------------------------------------------------


def test_pairs_come_round_by_round_and_every_match_gets_its_own() -> None:
    tasks = list(plan().tasks())
    assert [task.number for task in tasks] == list(range(7 * 6))
    couples = [(task.a, task.b) for task in tasks]
    expected = [(a.agent, b.agent) for a, b in combinations(AGENTS, 2)]
    assert couples == expected * 7


def test_no_match_plays_an_opening_twice_and_all_play_the_same() -> None:
    by_match: dict[tuple[str, str], list[str]] = {}
    for task in plan(pairs=100).tasks():
        by_match.setdefault((task.a, task.b), []).append(task.opening)
    lists = list(by_match.values())
    assert all(len(set(openings)) == 100 for openings in lists)
    assert all(openings == lists[0] for openings in lists)


def test_an_exhausted_book_ends_the_run_and_is_never_repeated() -> None:
    small = plan(board="3x3", pairs=1000)
    assert small.exhausted
    assert small.rounds == len(openings(Board.of(3, 3)))
    assert len(list(small.tasks())) == small.total == small.rounds * 6
    assert not plan().exhausted
    book = plan(book=("7/7/1N5/7/7/4n2/7 w",), pairs=2)
    assert (book.rounds, book.exhausted) == (1, True)


def test_repeats_play_an_opening_again_with_another_seed() -> None:
    twice = plan(repeats=2, pairs=8, matches=(Match(0, 1),))
    tasks = list(twice.tasks())
    assert [a.opening == b.opening for a, b in pairwise(tasks)] == [
        True,
        False,
    ] * 3 + [True]
    assert len({task.seed for task in tasks}) == 8
    assert all(task.seed > 0 for task in tasks)


def test_any_pair_can_be_had_on_its_own_and_a_run_taken_up_anywhere() -> None:
    whole = list(plan().tasks())
    assert [plan().task(number) for number in range(42)] == whole
    assert list(plan().tasks(17)) == whole[17:]


def test_a_plan_is_the_same_in_another_process() -> None:
    code = (
        "from knightfall.arena.stored_plan import read_plan\n"
        "import sys\n"
        "plan = read_plan(sys.stdin.read())\n"
        "print([plan.task(n) for n in range(9)])\n"
    )
    printed = processes.run(
        [sys.executable, "-c", code],
        input=plan(seed=12).to_json(),
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == str([plan(seed=12).task(n) for n in range(9)])


def test_a_plan_survives_json_and_every_change_makes_another_run() -> None:
    first = plan(stop={"rule": "until", "error": 10.0}, options={"protocol": "2017b"})
    assert read_plan(first.to_json()) == first
    keys = {
        changed.key("1")
        for changed in (
            first,
            replace(first, seed=4),
            replace(first, pairs=8),
            replace(first, stratify=True),
            replace(first, board="6x6"),
            replace(first, book=("7/7/1N5/7/7/4n2/7 w",)),
            replace(first, stop={}),
            replace(first, files={"mine.py": "12"}),
            replace(first, entrants=(Entrant("random", "me"), *first.entrants[1:])),
        )
    }
    assert len(keys | {first.key("2")}) == 10


def test_a_gauntlet_and_a_tournament_pair_the_right_ones() -> None:
    assert gauntlet(AGENTS) == (Match(0, 1), Match(0, 2), Match(0, 3))
    assert gauntlet(AGENTS, 2) == (Match(0, 2), Match(0, 3), Match(1, 2), Match(1, 3))
    assert tournament_matches(2, 2) == (Match(0, 2), Match(1, 2), Match(0, 3, 1), Match(1, 3, 1))


# -- the course ------------------------------------------------------------------------------


def test_the_courses_tournament_is_ten_games_per_opponent() -> None:
    course = tournament_plan(course_only=True)
    assert len(course.entrants) == 1 + len(RECOMMENDED) + 7
    assert 2 * course.total == 6 * 7 * 10
    four = ["AB_Improved", "AB_Custom", "AB_Custom_2", "AB_Custom_3"]
    assert 2 * tournament_plan(four, course_only=True).total == 280
    names = [entrant.name for entrant in course.entrants[6:]]
    assert tuple(names) == PROTOCOLS["2017b"].opponents


def test_a_tournament_begins_with_the_courses_games_and_may_use_every_opening() -> None:
    course, whole = tournament_plan(course_only=True), tournament_plan()
    assert whole.rounds == whole.pairs == 2352
    assert list(course.tasks()) == [whole.task(number) for number in range(course.total)]
    assert tournament_plan(protocol="2017a").rounds == 2 * 2352
    assert tournament_plan(pairs=7).total == 6 * 7 * 7
    assert tournament_plan(pairs=7).stop == course.stop == {}
    # Nothing can be decided where there is nothing to compare.
    assert tournament_plan(["AB_Improved"]).total == 7 * 5
    assert tournament_plan(["AB_Improved", "improved"]).total == 2 * 7 * 5


def test_the_opponents_are_those_of_the_course_s_scripts() -> None:
    """Compare with the lists of agents in both versions of the course's tournament.py."""
    names = ["Random", "MM_Null", "MM_Open", "MM_Improved", "AB_Null", "AB_Open", "AB_Improved"]
    assert PROTOCOLS["2017a"].opponents == tuple(f"2017a:{name}" for name in names)
    names = ["Random", "MM_Open", "MM_Center", "MM_Improved", "AB_Open", "AB_Center", "AB_Improved"]
    assert PROTOCOLS["2017b"].opponents == tuple(names)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_heuristic_alone_plays_a_tournament_with_its_protocols_search(protocol: str) -> None:
    plan = tournament_plan(["improved", "2*open-main"], ["center"], protocol=protocol)
    assert [entrant.agent for entrant in plan.entrants] == [
        "id(improved, nodes=2500, plain)",
        "id(2*open-main, nodes=2500, plain)",
        "id(center, nodes=2500, plain)",
    ]
    assert plan.entrants[0].agent == str(parse_agent(PROTOCOLS[protocol].baseline))


@pytest.mark.parametrize(
    ("tests", "against", "more"),
    [
        ([], [], {}),
        (["improved", "near_opponent+bfs_reach"], [], {"protocol": "2017a"}),
        (["AB_Improved", "AB_Custom(2*open)"], ["Random", "greedy(open)"], {"seed": 7}),
        (["main", "main"], [], {"board": "6x7", "stratify": True, "budget": Budget(nodes=50)}),
        (["main", "AB_Improved"], ["AB_Open"], {"protocol": "2017a", "time_limit": "50ms"}),
        (["main"], [], {"timer_threshold": "20ms"}),
    ],
)
def test_the_command_of_a_plan_plays_it(
    tests: list[str], against: list[str], more: dict[str, Any]
) -> None:
    import click
    import typer

    from knightfall.cli.commands.arena import tournament as command

    plan = tournament_plan(tests, against, pairs=5, **more)
    words = shlex.split(command_of(plan, pairs=9))
    assert words[:2] == ["knightfall", "tournament"]
    app = typer.Typer()
    app.command()(command)
    with click.Context(typer.main.get_command(app)) as context:
        typer.main.get_command(app).parse_args(context, words[2:])
        given = context.params
    again = tournament_plan(
        given["test"] or (),
        given["against"] or (),
        protocol=given["protocol"],
        pairs=given["pairs"],
        budget=read_budget(given["budget"]),
        time_limit=given["time_limit"],
        timer_threshold=given["timer_threshold"],
        seed=given["seed"],
        board=given["board"],
        stratify=given["stratify"],
    )
    assert again.pairs == 9
    assert [one.agent for one in again.entrants] == [one.agent for one in plan.entrants]
    same = replace(again, pairs=5, entrants=plan.entrants)
    assert same == plan


def test_all_test_agents_meet_an_opponent_from_the_same_openings() -> None:
    course = tournament_plan(pairs=3)
    starts: dict[str, set[tuple[str, ...]]] = {}
    for opponent in course.entrants[6:]:
        for test in course.entrants[:6]:
            tasks = [t for t in course.tasks() if (t.a, t.b) == (test.agent, opponent.agent)]
            if test.agent != opponent.agent:
                starts.setdefault(opponent.name, set()).add(tuple(t.opening for t in tasks))
    assert all(len(different) == 1 for different in starts.values())
    assert len(set.union(*starts.values())) == 7


def test_the_earlier_tournament_plays_five_openings_twice() -> None:
    course = tournament_plan(["ID_Improved"], protocol="2017a")
    assert 2 * course.total == 7 * 20
    first = [task.opening for task in course.tasks() if task.number % 7 == 0]
    assert Counter(Counter(first).values()) == {2: 5}
    assert "alphabeta(null, depth=5)" in {entrant.agent for entrant in course.entrants}


def test_a_budget_is_for_those_who_deepen() -> None:
    changed = enter(["id(open)", "minimax(open, depth=3)", "perfect"], Budget(depth=2))
    assert [entrant.agent for entrant in changed] == [
        "id(open, depth=2)",
        "minimax(open, depth=3)",
        "perfect(time=150ms)",
    ]


def agents_of(*names: str, **given: Any) -> list[str]:
    """Return the agent strings of a tournament's opponents with the given names."""
    plan = tournament_plan(["improved"], list(names), **given)
    return [entrant.agent for entrant in plan.entrants[1:]]


def test_names_are_those_of_the_protocol_in_force() -> None:
    assert agents_of("AB_Open", protocol="2017a") == ["alphabeta(open, depth=5)"]
    assert agents_of("AB_Open", protocol="2017b") == ["id(open, nodes=2500, plain)"]
    assert agents_of("AB_Open(time=9ms)", protocol="2017a") == [
        "alphabeta(open, depth=5, time=9ms)"
    ]
    assert agents_of("2017b:AB_Open", "AB_Center", protocol="2017a") == [
        "id(open, nodes=2500, plain)",
        "id(center, nodes=2500, plain)",
    ]


def test_a_mixture_of_protocols_is_told_and_nothing_else_is() -> None:
    for name in PROTOCOLS:
        assert mixture(tournament_plan(protocol=name)) == []
    mixed = tournament_plan(
        ["AB_Center", "id(open)", "AB_Custom"],
        ["2017b:AB_Open(time=1s)", "Random"],
        protocol="2017a",
    )
    assert [text.partition(";")[0] for text in mixture(mixed)] == [
        "AB_Center is an agent of 2017b, id(center, nodes=2500, plain)",
        "2017b:AB_Open is an agent of 2017b, id(open, nodes=2500, plain)",
    ]
    assert mixture(read_plan(mixed.to_json())) == mixture(mixed)


@pytest.mark.parametrize(("protocol", "games"), [("2017b", 2), ("2017a", 4)])
def test_the_courses_number_of_matches(protocol: str, games: int) -> None:
    for number in (1, 5, 25):
        plan = tournament_plan(
            ["improved", "open"], ["Random"], protocol=protocol, num_matches=number
        )
        assert 2 * plan.total == 2 * games * number
        assert plan.stop == {}
    course = tournament_plan(["improved", "open"], ["Random"], protocol=protocol, course_only=True)
    five = tournament_plan(["improved", "open"], ["Random"], protocol=protocol, num_matches=5)
    assert five == course


def test_the_courses_time_limit_and_threshold() -> None:
    names = ["AB_Open", "MM_Open", "Random", "greedy(open)", "perfect", "student(open, time=9ms)"]
    assert agents_of(*names, time_limit="100ms", timer_threshold="30ms") == [
        "id(open, time=70ms, plain)",
        "minimax(open, depth=3, time=70ms)",
        "random",
        "greedy(open)",
        "perfect(time=70ms)",
        "student(open, time=9ms)",
    ]
    assert agents_of("AB_Open", time_limit="1s") == ["id(open, time=990ms, plain)"]
    assert agents_of("AB_Open", timer_threshold="0ms") == ["id(open, time=150ms, plain)"]
    (agent,) = agents_of("AB_Open", protocol="2017a", time_limit="1s")
    assert agent == "alphabeta(open, depth=5, time=990ms)"
    plan = tournament_plan(["AB_Open(time=5ms)", "AB_Open"], time_limit="1s")
    assert [one.name for one in plan.entrants[:2]] == ["id(open, time=990ms, plain)", "AB_Open"]
    assert plan.options["time_limit"] == "1s"
    assert plan.options["timer_threshold"] == "10ms"
    assert read_plan(plan.to_json()) == plan


def test_submissions_and_python_agents_get_the_whole_time_limit() -> None:
    limits = time_limits("100ms", "30ms")
    assert limits is not None
    by_ticks = CourseAgent("a.py", ticks=150_000).with_move_time(limits.limit, limits.threshold)
    assert (by_ticks.ticks, by_ticks.budget) == (100_000, Budget())
    by_wall = CourseAgent("a.py", Budget(time=150_000)).with_move_time(
        limits.limit, limits.threshold
    )
    assert (by_wall.ticks, by_wall.budget) == (None, Budget(time=100_000))
    own = PythonAgent("a.py:f", Budget(time=1_000_000)).with_move_time(
        limits.limit, limits.threshold
    )
    assert own.budget == Budget(time=100_000)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"time_limit": "150"}, "--time-limit 150 must be a number of ms or s"),
        ({"time_limit": "0ms"}, "--time-limit 0ms must be"),
        ({"timer_threshold": "-1ms"}, "--timer-threshold -1ms must be"),
        ({"timer_threshold": "150ms"}, "150ms must be less than the time limit, 150ms"),
        ({"time_limit": "5ms"}, "--timer-threshold 10ms must be less than the time limit, 5ms"),
        ({"time_limit": "1s", "budget": Budget(nodes=5)}, "--budget nodes=5 and --time-limit"),
        ({"timer_threshold": "1ms", "budget": Budget(nodes=5)}, "and --timer-threshold: choose"),
        ({"num_matches": 3, "pairs": 4}, "--pairs 4 and --num-matches 3: choose one"),
        ({"num_matches": 0}, "--num-matches 0 must be a whole number from 1 on"),
    ],
)
def test_bad_settings_of_the_course_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(KnightfallError) as error:
        tournament_plan(**given)
    assert says in str(error.value)


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(KnightfallError, match="known: 2017b, 2017a"):
        tournament_plan(protocol="2018")


# -- entrants --------------------------------------------------------------------------------


def test_one_agent_may_enter_twice() -> None:
    assert [e.name for e in enter(["random", "id(open)", "random"])] == [
        "random #1",
        "id(open, nodes=2500)",
        "random #2",
    ]


def test_files_are_named_in_full_and_their_contents_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def score(): ...\ndef choose(position): ...\n")
    entrants = enter(["id(mine.py:score+open)", "python(mine.py:choose)", "random"])
    assert entrants[0].agent == f"id({tmp_path}/mine.py:score+open, nodes=2500)"
    assert entrants[0].name == "id(mine.py:score+open, nodes=2500)"
    assert entrants[1].agent == f"python({tmp_path}/mine.py:choose, time=1s)"
    before = files_of(entrants)
    assert list(before) == [f"{tmp_path}/mine.py"]
    Path("mine.py").write_text("def score(): return 1\ndef choose(position): ...\n")
    assert files_of(entrants) != before
    Path("mine.py").unlink()
    with pytest.raises(KnightfallError, match="there is no file"):
        files_of(entrants)
