"""Tests of agent strings, the course's names, and games between agents."""

from __future__ import annotations

import itertools
import pickle
import time
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from agent_strategies import BUDGETS, EXPRESSIONS
from cli_runner import run
from helpers import random_positions, times_the_examples
from hypothesis import given
from hypothesis import strategies as st
from naive import NAIVE
from naive_search import reported, search, timeless
from strategies import positions

import knightfall
from knightfall.agents import AGENT_KINDS, COURSE, Agent, agent, course_agent, parse, parse_agent
from knightfall.agents.kinds import (
    AlphaBetaAgent,
    DeepeningAgent,
    GreedyAgent,
    MinimaxAgent,
    RandomAgent,
)
from knightfall.agents.parse import from_another_protocol
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.position import Position
from knightfall.search.budget import Budget

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")

# -- text ------------------------------------------------------------------------------------

HEURISTIC_TEXTS = EXPRESSIONS.map(str).filter(lambda text: "=" not in text)
SEEDS = st.just(0) | st.integers(0, 2**63 - 1)
DEPTHS = st.integers(1, 64).map(lambda depth: Budget(depth=depth))

AGENTS = st.one_of(
    st.builds(RandomAgent, seed=SEEDS),
    st.builds(GreedyAgent, heuristic=HEURISTIC_TEXTS, seed=SEEDS),
    *(
        st.builds(kind, heuristic=HEURISTIC_TEXTS, budget=DEPTHS, seed=SEEDS)
        for kind in (MinimaxAgent, AlphaBetaAgent)
    ),
    st.builds(
        DeepeningAgent,
        heuristic=HEURISTIC_TEXTS,
        budget=BUDGETS.filter(bool),
        plain=st.booleans(),
        seed=SEEDS,
    ),
)


@given(AGENTS)
def test_an_agent_prints_as_it_parses(thinker: Agent) -> None:
    again = parse_agent(str(thinker))
    assert again == thinker
    assert hash(again) == hash(thinker)
    assert str(again) == str(thinker) == again.name


@given(AGENTS, st.sampled_from([" ", "\t", "  "]))
def test_space_does_not_matter(thinker: Agent, space: str) -> None:
    text = str(thinker).replace(", ", f"{space},{space}").replace("seed=", f"seed{space}={space}")
    assert parse_agent(f"{space}{text}{space}") == thinker


def check_any_text(text: str) -> None:
    try:
        thinker = parse_agent(text)
    except KnightfallError:
        return
    assert parse_agent(str(thinker)) == thinker


@given(st.text())
def test_any_text_is_an_agent_or_a_knightfall_error(text: str) -> None:
    check_any_text(text)


NAMES = ["id", "random", "greedy", "minimax", "AB_Improved", "2017a:", "improved", "2*open-x.py:f"]
SETTINGS = ["depth", "nodes", "time", "seed", "plain", "5", "150ms", "2s", "-1"]
PIECES = st.sampled_from([*NAMES, *SETTINGS, "(", ")", ",", " ", "=", "é"])


@times_the_examples(10)
@given(st.lists(PIECES, max_size=10).map("".join))
def test_anything_like_an_agent_is_one_or_a_knightfall_error(text: str) -> None:
    check_any_text(text)


@times_the_examples(6)
@given(AGENTS.map(str), st.data())
def test_a_damaged_agent_is_one_or_a_knightfall_error(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(
        st.sampled_from(["", "(", ")", ",", "=", " ", "0", "-", "\n", "\0", ":", "plain"])
    )
    check_any_text(text[:at] + put + text[at + data.draw(st.integers(0, 2)) :])


@pytest.mark.parametrize(
    ("text", "thinker", "printed"),
    [
        ("random", RandomAgent(), "random"),
        ("random()", RandomAgent(), "random"),
        ("random(seed=0)", RandomAgent(), "random"),
        ("random(seed=7)", RandomAgent(seed=7), "random(seed=7)"),
        ("greedy(improved)", GreedyAgent("improved"), "greedy(improved)"),
        ("minimax(open)", MinimaxAgent("open", Budget(depth=3)), "minimax(open, depth=3)"),
        (
            "alphabeta( center ,depth = 4)",
            AlphaBetaAgent("center", Budget(depth=4)),
            "alphabeta(center, depth=4)",
        ),
        (
            "alphabeta(center)",
            AlphaBetaAgent("center", Budget(depth=5)),
            "alphabeta(center, depth=5)",
        ),
        (
            "id(improved)",
            DeepeningAgent("improved", Budget(nodes=2500)),
            "id(improved, nodes=2500)",
        ),
        (
            "id(2*open - improved, seed=3, plain, time=0.15s, depth=9)",
            DeepeningAgent("2*open-improved", Budget(depth=9, time=150_000), 3, plain=True),
            "id(2*open-improved, depth=9, time=150ms, plain, seed=3)",
        ),
        (
            "id(static_reach(0.25), nodes=10)",
            DeepeningAgent("static_reach(1/4)", Budget(nodes=10)),
            "id(static_reach(1/4), nodes=10)",
        ),
        (
            "id(my dir/my-file.py:score)",
            DeepeningAgent("my dir/my-file.py:score", Budget(nodes=2500)),
            "id(my dir/my-file.py:score, nodes=2500)",
        ),
    ],
)
def test_what_is_read(text: str, thinker: Agent, printed: str) -> None:
    assert parse_agent(text) == thinker
    assert str(parse_agent(text)) == printed
    assert parse_agent(text).name == printed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "agents look like id(bfs_reach, nodes=2500)"),
        ("id(improved", "cannot be read"),
        ("improved)", "cannot be read"),
        ("stage(0.5: open, opne)", "unknown heuristic 'opne'; did you mean 'open'?"),
        ("phase*opne", "unknown heuristic 'opne'; did you mean 'open'?"),
        ("gredy(phase*open)", "unknown agent 'gredy'; did you mean 'greedy'?"),
        ("gredy(open)", "unknown agent 'gredy'; did you mean 'greedy'?"),
        ("Minimax(open)", "unknown agent 'Minimax'; did you mean 'minimax'?"),
        ("alpha_beta(open)", "unknown agent 'alpha_beta'; did you mean 'alphabeta'?"),
        ("AB_improved", "unknown agent 'AB_improved'; did you mean 'AB_Improved'?"),
        ("2017c:AB_Open", "unknown agent '2017c:AB_Open'"),
        ("2017b:ID_Improved", "unknown agent '2017b:ID_Improved'; did you mean"),
        ("xyzzy", "knightfall agents lists them all"),
        ("id", "needs a heuristic first, as in id(bfs_reach, nodes=2500)"),
        ("greedy()", "needs a heuristic first"),
        ("id(nodes=5)", "needs a heuristic first"),
        ("id(improvde)", "unknown heuristic 'improvde'; did you mean 'improved'?"),
        ("random(improved)", "cannot use 'improved'; random takes seed"),
        ("greedy(open, depth=3)", "cannot use 'depth=3'; greedy takes a heuristic, seed"),
        (
            "minimax(open, nodes=3)",
            "cannot use 'nodes=3'; minimax takes a heuristic, depth, time, seed",
        ),
        ("minimax(open, plain)", "cannot use 'plain'"),
        ("id(open, center)", "cannot use 'center'"),
        ("id(open, speed=3)", "cannot use 'speed=3'; id takes a heuristic, depth, nodes, "),
        ("id(open, depth=3, depth=4)", "depth is given twice"),
        ("id(open, depth=0)", "budget depth=0 must be a whole number from 1 to 64"),
        ("id(open, time=150)", "budget time=150 must be a number of ms or s"),
        ("id(open, seed=-1)", "seed=-1 must be a whole number from 0 to"),
        ("id(open, seed=9223372036854775808)", "whole number from 0 to 9,223,372,036,854,775,807"),
        ("id(open, seed=x)", "seed=x must be a whole number"),
        ("AB_Improved(open)", "cannot use 'open'; id takes depth, nodes, time, seed, plain"),
        ("Student", "agent 'Student' needs a heuristic first"),
        ("AB_Custom(opne)", "unknown heuristic 'opne'; did you mean 'open'?"),
        ("MM_Open(nodes=5)", "cannot use 'nodes=5'; minimax takes depth, time, seed"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_agent(text)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_every_kind_has_an_example_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def choose(position):\n    return position.legal_moves[0]\n")
    Path("game_agent.py").write_text(
        "def custom_score_2(game, player):\n    return 0.0\n\n\n"
        "class AlphaBetaPlayer:\n    def __init__(self, score_fn):\n        pass\n\n"
        "    def get_move(self, game, time_left):\n        return game.get_legal_moves()[0]\n"
    )
    both = "newgame) echo ready;; uci) echo option name VariantPath type string; echo uciok;;"
    answers = "isready) echo readyok;; go) echo bestmove b5c3,c3b5; echo answer c3;;"
    for program in ("mine", "fairy-stockfish"):
        lines = f"#!/bin/sh\nwhile read word rest; do case $word in {both} {answers} esac; done\n"
        Path(program).write_text(lines)
        Path(program).chmod(0o755)
    for name, kind in AGENT_KINDS.items():
        if name == "openspiel" and find_spec("pyspiel") is None:
            continue  # the extra is not installed
        thinker = agent(kind.example)
        assert thinker.kind == name
        assert str(thinker) == kind.example
        assert thinker.choose(START) in START.legal_moves


def test_the_documented_examples_are_agents() -> None:
    import knightfall.agents

    assert knightfall.agents.__doc__ is not None
    block = knightfall.agents.__doc__.split("::\n\n")[1].split("\n\n")[0]
    texts = [text for line in block.splitlines() for text in line.strip().split("   ") if text]
    assert len(texts) == 8
    for text in texts:
        assert str(parse_agent(text)) == text.strip()


# -- the course's names ----------------------------------------------------------------------

LATER = {
    "Random": "random",
    "MM_Open": "minimax(open, depth=3)",
    "MM_Center": "minimax(center, depth=3)",
    "MM_Improved": "minimax(improved, depth=3)",
    "AB_Open": "id(open, nodes=2500, plain)",
    "AB_Center": "id(center, nodes=2500, plain)",
    "AB_Improved": "id(improved, nodes=2500, plain)",
}
"""The tournament of generation 2017b: iterative-deepening alpha-beta for every AB_ agent."""

EARLIER = {
    "Random": "random",
    "MM_Null": "minimax(null, depth=3)",
    "MM_Open": "minimax(open, depth=3)",
    "MM_Improved": "minimax(improved, depth=3)",
    "AB_Null": "alphabeta(null, depth=5)",
    "AB_Open": "alphabeta(open, depth=5)",
    "AB_Improved": "alphabeta(improved, depth=5)",
    "ID_Improved": "id(improved, nodes=2500, plain)",
}
"""The tournament of generation 2017a: five plies of alpha-beta, and one agent that deepens."""


@pytest.mark.parametrize(("protocol", "expected"), [("2017b", LATER), ("2017a", EARLIER)])
def test_the_names_of_both_tournaments(protocol: str, expected: dict[str, str]) -> None:
    # The student's own agent has no heuristic until it is given one.
    assert [name for name in COURSE[protocol] if name != "Student"] == list(expected)
    for name, text in expected.items():
        thinker = parse_agent(f"{protocol}:{name}")
        assert str(thinker) == text
        assert thinker == parse_agent(text)
        assert thinker.label == thinker.name == f"{protocol}:{name}"
        assert thinker.choose(START) in START.legal_moves


def test_a_bare_name_means_the_later_tournament_if_it_is_there() -> None:
    for name, text in {**EARLIER, **LATER}.items():
        thinker = parse_agent(name)
        assert str(thinker) == text
        assert thinker.name == name
    assert course_agent("AB_Nobody") is None
    assert course_agent("2017a:AB_Center") is None
    assert course_agent("2017:AB_Open") is None


@pytest.mark.parametrize(("protocol", "expected"), [("2017b", LATER), ("2017a", EARLIER)])
def test_a_bare_name_means_the_protocol_in_force(protocol: str, expected: dict[str, str]) -> None:
    for name, text in expected.items():
        assert str(parse_agent(name, protocol=protocol)) == text
        assert parse_agent(name, protocol=protocol).name == name
    both = {**EARLIER, **LATER}
    for name in both.keys() - expected.keys():
        assert str(parse_agent(name, protocol=protocol)) == both[name]
    # A name with a protocol means the agent of that protocol.
    assert str(parse_agent("2017b:AB_Open", protocol=protocol)) == LATER["AB_Open"]
    assert str(parse_agent("2017a:AB_Open", protocol=protocol)) == EARLIER["AB_Open"]


def test_a_name_from_another_protocol_is_told() -> None:
    told = from_another_protocol("AB_Center", "2017a")
    assert told == (
        "AB_Center is an agent of 2017b, id(center, nodes=2500, plain); 2017a has no agent of "
        "that name"
    )
    told = from_another_protocol("2017b:AB_Open", "2017a")
    assert told.endswith("in 2017a it is alphabeta(open, depth=5)")
    for name in (
        "AB_Open",
        "2017a:AB_Open",
        "2017b:MM_Open",
        "lookahead:AB_Custom",
        "id",
        "Random",
    ):
        assert from_another_protocol(name, "2017a") == ""
    assert from_another_protocol("AB_Open", "class") == ""


def test_seeds_are_those_that_fit_into_a_machine_word() -> None:
    assert parse_agent(f"random(seed={2**63 - 1})") == RandomAgent(seed=2**63 - 1)
    with pytest.raises(KnightfallError, match=str(2**63)):
        parse_agent(f"random(seed={2**63})")


@pytest.mark.parametrize("kind", ["minimax", "alphabeta"])
def test_a_fixed_depth_may_have_a_time(kind: str) -> None:
    usual = AGENT_KINDS[kind].default.depth
    timed = parse_agent(f"{kind}(improved, time=2s)")
    assert timed.budget == Budget(depth=usual, time=2_000_000)
    assert timed.timed
    assert timed.choose(START) == parse_agent(f"{kind}(improved)").choose(START)
    hurried = parse_agent(f"{kind}(improved, depth=30, time=5ms)").prepare()
    begin = time.perf_counter()
    assert hurried.choose(START) in START.legal_moves
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("study", ["lookahead", "directional", "aggressive"])
def test_the_agents_of_the_studies(study: str) -> None:
    assert list(COURSE[study]) == ["AB_Custom", "AB_Custom_2", "AB_Custom_3"]
    for name, thinker in COURSE[study].items():
        parsed = parse_agent(f"{study}:{name}")
        assert parsed == thinker == parse_agent(str(thinker))
        assert (parsed.kind, parsed.plain, parsed.budget) == ("id", True, Budget(nodes=2500))
        assert REGISTRY[parsed.heuristic].study == study
        assert parsed.name == f"{study}:{name}"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("AB_Improved(time=150ms, seed=3)", "id(improved, time=150ms, plain, seed=3)"),
        ("AB_Improved(nodes=100)", "id(improved, nodes=100, plain)"),
        ("AB_Improved(seed=3)", "id(improved, nodes=2500, plain, seed=3)"),
        ("AB_Improved()", "id(improved, nodes=2500, plain)"),
        ("MM_Open(depth=2)", "minimax(open, depth=2)"),
        ("2017a:AB_Open(depth=4, seed=9)", "alphabeta(open, depth=4, seed=9)"),
        ("2017a:AB_Improved(time=150ms)", "alphabeta(improved, depth=5, time=150ms)"),
        ("2017a:MM_Null(time=1s, depth=2)", "minimax(null, depth=2, time=1s)"),
        ("Random(seed=4)", "random(seed=4)"),
        ("Student(open)", "id(open, nodes=2500, plain)"),
        ("2017a:Student(my.py:score, time=150ms)", "id(my.py:score, time=150ms, plain)"),
        ("AB_Custom_2(2*open - improved)", "id(2*open-improved, nodes=2500, plain)"),
        ("aggressive:AB_Custom(my.py:score)", "id(my.py:score, nodes=2500, plain)"),
    ],
)
def test_a_name_may_be_given_another_budget_or_seed(text: str, printed: str) -> None:
    thinker = parse_agent(f" {text} ")
    assert str(thinker) == printed
    assert thinker.label == thinker.name == text
    assert thinker == parse_agent(printed)
    assert parse_agent(printed).label == ""


# -- choosing --------------------------------------------------------------------------------


@times_the_examples(3)
@given(
    position=positions().filter(lambda position: position.winner is None),
    id=st.sampled_from(["improved", "open", "center", "bfs_reach", "lookahead_ratio", "null"]),
    seed=SEEDS,
)
def test_greedy_is_minimax_one_ply_deep(position: Position, id: str, seed: int) -> None:
    greedy = GreedyAgent(id, seed=seed).analyse(position)
    deep = MinimaxAgent(id, Budget(depth=1), seed=seed).analyse(position)
    assert timeless(greedy) == timeless(deep)


def test_greedy_takes_the_best_move() -> None:
    for position in random_positions(7, 7, 25, 71, min_placed=2):
        if position.winner is None:
            for id in ("improved", "center", "near_opponent"):
                tree = search(position, 1, NAIVE[id])
                report = GreedyAgent(id).analyse(position)
                assert reported(report) == pytest.approx(tree.value, abs=1e-9)
                assert tree.moves[report.move] == pytest.approx(tree.value, abs=1e-9)


def test_random_draws_every_move_about_equally_often() -> None:
    for position in (START, Position.from_fen("3N3/7/7/7/7/7/n6 b"), Position.start(3, 4)):
        draws = 400 * len(position.legal_moves)
        drawn = Counter(RandomAgent(seed=seed).choose(position) for seed in range(draws))
        assert set(drawn) == set(position.legal_moves)
        # 400 times each on average, with a standard deviation of less than 20.
        assert all(300 < times < 500 for times in drawn.values()), drawn


@given(positions().filter(lambda position: position.winner is None), SEEDS)
def test_random_is_decided_by_seed_and_position_alone(position: Position, seed: int) -> None:
    report = parse_agent(f"random(seed={seed})").analyse(position)
    assert report.move in position.legal_moves
    assert report.pv == (report.move,)
    assert (report.nodes, report.depth, report.proven) == (0, 0, False)
    parse_agent("random").choose(Position.start(5, 5))
    assert (
        parse_agent(f"random(seed={seed})").choose(Position.from_fen(position.fen)) == report.move
    )


def test_random_does_not_follow_the_same_pattern_in_every_position() -> None:
    chosen = []
    for position in random_positions(7, 7, 60, 72, min_placed=2):
        if len(position.legal_moves) == 3:
            chosen.append(position.legal_moves.index(RandomAgent().choose(position)))
    assert set(chosen) == {0, 1, 2}


@pytest.mark.parametrize("text", ["random", "greedy(improved)", "id(improved)", "minimax(open)"])
def test_a_game_that_is_over_has_no_move(text: str) -> None:
    over = Position.from_fen("1*1/*N*/*1n w")
    with pytest.raises(KnightfallError) as error:
        agent(text).choose(over)
    assert over.fen in str(error.value)
    assert "over" in str(error.value)


def test_an_agent_of_a_timed_string_is_warm_and_the_same() -> None:
    thinker = agent("id(improved, time=20ms)")
    assert thinker == parse_agent("id(improved, time=20ms)")
    assert thinker.prepare() is thinker
    assert thinker.choose(START) in START.legal_moves


PLAYERS = [
    "random(seed=1)",
    "greedy(center)",
    "minimax(open, depth=2)",
    "alphabeta(improved, depth=3)",
    "id(bfs_reach, nodes=300)",
    "AB_Improved(nodes=200)",
    "id(main, nodes=200)",
    "id(improved, time=0.3ms)",
]


def played_out(start: Position, white: Agent, black: Agent) -> list[str]:
    """Return the moves of a game between two agents, with placements if `start` lacks them."""
    position, game = start, []
    while position.winner is None:
        move = (white if position.to_move == "w" else black).choose(position)
        game.append(move)
        position = position.play(move)
    assert position.winner != position.to_move
    return game


@pytest.mark.parametrize(
    "start",
    [Position.start(7, 7), Position.start(3, 5), Position.from_fen("8/8/2N5/8/8/5n2/8/8 b")],
)
def test_games_end_with_a_winner(start: Position) -> None:
    for white, black in itertools.permutations(map(agent, PLAYERS), 2):
        game = played_out(start, white, black)
        assert len(game) <= start.board.cells
        if "time" not in f"{white} {black}":
            assert played_out(start, white, black) == game


def test_thinking_ahead_beats_drawing_lots() -> None:
    thinker, lots, won = agent("id(improved, nodes=500)"), agent("random"), 0
    for seed in range(10):
        one, other = replace(thinker, seed=seed), replace(lots, seed=seed)
        won += len(played_out(START, one, other)) % 2 == 1
        won += len(played_out(START, other, one)) % 2 == 0
    assert won >= 18


# -- as values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "random(seed=3)",
        "id(improved, nodes=50)",
        "id(open-improved, nodes=50)",
        "id({path}:fine, nodes=50)",
    ],
)
def test_an_agent_travels_to_another_process(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def fine(board, open, me, opp, to_move):\n    return 1.0 * me\n")
    thinker = parse_agent(text.format(path=path)).prepare()
    arrived = pickle.loads(pickle.dumps(thinker))
    assert arrived == thinker
    assert arrived.choose(START) == thinker.choose(START)


def test_agents_are_values() -> None:
    one, two = knightfall.agent("MM_Open"), knightfall.agent("minimax(open, depth=3)")
    assert one == two
    assert len({one, two}) == 1
    assert one != replace(one, seed=1)


def test_a_timed_agent_is_ready_after_pickling() -> None:
    player = agent("id(improved, time=20ms, seed=3)")
    player.choose(START)
    twin = pickle.loads(pickle.dumps(player))
    assert twin == player
    assert "evaluator" in vars(twin), "prepared before its first move"
    assert twin.choose(START) in START.legal_moves


@pytest.mark.parametrize("wrong", ["7/7/1N5/7/7/4n2/7 w", None, 3])
def test_agents_want_positions(wrong: object) -> None:
    with pytest.raises(KnightfallError, match="needs a Position"):
        agent("random").choose(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["id(open, plain, plain)", "id(open, seed=1, seed=2)"])
def test_nothing_is_given_twice(text: str) -> None:
    with pytest.raises(KnightfallError, match="given twice"):
        parse_agent(text)


# -- caching of parsed strings ---------------------------------------------------------------


@pytest.mark.parametrize("agents", [("id(open)", "random"), ("mine.py:score", "AB_Improved")])
def test_a_match_reads_each_agent_once(
    agents: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def score(board, open, me, opp, to_move):\n    return me\n")
    read: list[str] = []
    course_agent = parse.course_agent

    def counting(name: str, protocol: str = "") -> Agent | None:
        """Record the name and call the original function; every parsing of an agent begins with
        this call.
        """
        read.append(name)
        return course_agent(name, protocol)

    monkeypatch.setattr(parse, "course_agent", counting)
    monkeypatch.setattr(parse, "_known", {})
    done = run(
        "match", *agents, "--pairs", "2", "--workers", "0", "--board", "4x4", "--store", "x.db"
    )
    assert done.exit_code == 0, done.output
    assert len(read) == 2
