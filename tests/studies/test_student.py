"""Tests of student agents: the compiled search against the same search in plain Python."""

from __future__ import annotations

import random
from dataclasses import asdict
from itertools import product

import pytest
from helpers import random_positions, some_and_all
from student_in_python import Clock, Student, StudentsBoard

from knightfall.agents import Agent, parse_agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_pair
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.kernel.rules import POCKET
from knightfall.position import Position
from knightfall.studies.node_costs import student_costs
from knightfall.studies.student_options import CHOICES, StudentOptions

EVERY = [
    dict(zip(CHOICES, choice, strict=True)) for choice in product(*CHOICES.values())
]  # every combination of the options
TIMES = ("300", "1000", "4000")
WORD = 2**64 - 1


def scrambled(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def in_python(agent: Agent, position: Position) -> str | None:
    """Return the answer of the student's own program: a cell's name, or None."""
    options = agent.student_options
    assert options is not None
    board = position.board
    placed = (position.knight(side) for side in ("wb" if position.to_move == "w" else "bw"))
    mine, theirs = (POCKET if cell is None else cell for cell in placed)
    open = sum(1 << cell for cell in position.open)
    word = scrambled(agent.seed ^ 0x9E3779B97F4A7C15)
    word = scrambled(scrambled(word ^ open) ^ (mine * 128 + theirs))
    costs = student_costs(options.board, agent.heuristic)
    names = ("forecast", "list", "list_move", "call", "score", "score_open", "score_move")
    clock = Clock(
        dict(zip(names, asdict(costs).values(), strict=True)),
        options.nanoseconds,
        word,
        options.order == "shuffled",
    )
    answer = Student(options, agent.heuristic, agent.budget.depth, clock).get_move(
        StudentsBoard(position, clock)
    )
    return None if answer is None else board.name(board.at(*answer))


def compiled(agent: Agent, position: Position) -> str | None:
    try:
        return agent.choose(position)
    except AgentFailure:
        return None


def agent_with(parts: dict[str, str], heuristic: str, budget: str, seed: int) -> Agent:
    words = ", ".join(f"{part}={choice}" for part, choice in parts.items())
    return parse_agent(f"student({heuristic}, {budget}, {words}, seed={seed})")


@pytest.mark.parametrize("lost", CHOICES["lost"])
@pytest.mark.parametrize("ends", CHOICES["ends"])
def test_the_compiled_search_answers_what_the_student_did(lost: str, ends: str) -> None:
    rng = random.Random(f"{lost} {ends}")
    positions = [
        *random_positions(7, 7, 60, 1, min_placed=2),
        *random_positions(5, 5, 60, 2, min_placed=2),
        *random_positions(6, 4, 30, 3, min_placed=2),
        Position.start(4, 4),
        *(Position.start(4, 3).play(cell) for cell in ("a1", "b2", "c3")),
    ]
    positions = [position for position in positions if position.winner is None]
    resigned = 0
    for parts in EVERY:
        if (parts["lost"], parts["ends"]) != (lost, ends):
            continue
        for position in rng.sample(positions, 4):
            budget = rng.choice(["depth=1", "depth=2", "depth=3", "time=0.3ms", "time=2ms"])
            if rng.random() < 0.3:
                budget = f"depth=3, time={rng.choice(['0.2ms', '1ms'])}"
            heuristic = rng.choice(["improved", "open_space", "null"])
            agent = agent_with(parts, heuristic, budget, rng.randrange(1, 10**6))
            answer = compiled(agent, position)
            assert answer == in_python(agent, position), (str(agent), position.fen)
            resigned += answer is None
    assert (resigned > 0) == (lost == "forfeits")


@some_and_all
@pytest.mark.parametrize("board", CHOICES["board"])
def test_whole_games_are_the_same_move_for_move(board: str, step: int) -> None:
    rng, reasons = random.Random(board), set()
    of_board = [parts for parts in EVERY if parts["board"] == board]
    for number, parts in enumerate(rng.sample(of_board, len(of_board) // min(step, 3))):
        other = rng.choice(EVERY)
        a = agent_with(
            parts, "improved", rng.choice(["time=1ms", "depth=2", "depth=3, time=0.4ms"]), 0
        )
        b = agent_with(other, "open_space", "time=1ms", 0)
        opening = next(iter(random_positions(5, 5, 1, number, min_placed=2)))
        if opening.winner is not None:
            continue
        pair = play_pair(PairTask(0, str(a), str(b), opening.fen, seed=number + 1))
        for game, record in enumerate(pair.games):
            seats = (a, b) if (game == 0) == (opening.to_move == "w") else (b, a)
            position, moves = opening, []
            while position.winner is None:
                who = seats[len(moves) % 2]
                seeded = agent_with_seed(who, number + 1)
                answer = in_python(seeded, position)
                if answer is None:
                    break
                moves.append(answer)
                position = position.play(answer)
            assert record.moves(opening) == tuple(moves), (str(a), str(b), opening.fen)
            assert record.reason == ("no moves" if position.winner else "forfeit")
            assert record.winner != position.to_move
            reasons.add(record.detail)
    assert "resigns: every line it sees is lost" in reasons
    assert "resigns: its time was up before it had a move" in reasons


def agent_with_seed(agent: Agent, seed: int) -> Agent:
    return parse_agent(f"{str(agent)[:-1]}, seed={seed})")


# -- as values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("student(improved)", "student(improved, time=25ms)"),
        ("student(improved, time=25ms, forfeits)", "student(improved, time=25ms)"),
        ("student(open, depth=3, minimax)", "student(open, depth=3, minimax)"),
        ("student(improved, board=early)", "student(improved, time=25ms, board=early)"),
        (
            "student(improved, board=early, order=shuffled, last, leaves=loop, time=1.5ms, legal)",
            "student(improved, time=1.5ms, legal, last, leaves=loop, board=early, order=shuffled)",
        ),
        ("student(improved, order=fixed)", "student(improved, time=25ms, order=fixed)"),
        (
            "student(improved, board=early, order=fixed)",
            "student(improved, time=25ms, board=early)",
        ),
        (
            "student(bfs_reach, ends=either, keeps, seed=3)",
            "student(bfs_reach, time=25ms, keeps, ends=either, seed=3)",
        ),
    ],
)
def test_a_students_agent_prints_as_it_parses(text: str, printed: str) -> None:
    agent = parse_agent(text)
    assert str(agent) == printed
    assert parse_agent(printed) == agent
    assert not agent.timed


@pytest.mark.parametrize("parts", EVERY[::7])
def test_any_habits_print_as_they_parse(parts: dict[str, str]) -> None:
    agent = agent_with(parts, "improved", "time=3ms", 0)
    assert agent.student_options == StudentOptions(**parts, time=3000)
    assert parse_agent(str(agent)) == agent


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("student()", "needs a heuristic first"),
        ("student(improved, resigns)", "cannot use 'resigns'"),
        ("student(improved, board=old)", "board=old.*later, early"),
        (
            "student(improved, legal, keeps)",
            "student option 'lost' is given twice: legal and keeps",
        ),
        ("student(improved, nodes=2500)", "cannot use 'nodes=2500'"),
        ("student(improved, time=never)", "time=never must be a number of ms or s"),
        ("student(improved, depth=0)", "depth=0 must be a whole number"),
        ("id(improved, forfeits)", "cannot use 'forfeits'"),
    ],
)
def test_bad_habits_are_refused(text: str, told: str) -> None:
    with pytest.raises(KnightfallError, match=told):
        parse_agent(text)


def test_who_never_resigns_always_answers() -> None:
    """Check that where a student agent resigns, its other options give a legal move."""
    resigning = parse_agent("student(improved, time=20ms, seed=5)")
    lost = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    while (move := compiled(resigning, lost)) is not None:
        lost = lost.play(move)
    with pytest.raises(AgentFailure, match="resigns: every line it sees is lost"):
        resigning.choose(lost)
    for word in ("legal", "keeps", "last"):
        move = parse_agent(f"student(improved, time=20ms, {word}, seed=5)").choose(lost)
        assert move in lost.legal_moves
