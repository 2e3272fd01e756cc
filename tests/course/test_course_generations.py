"""The generations of the course: each has all attributes, and no code compares names."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import knightfall
from knightfall.course.generations import NAMES, all_generations, generation_named

QUESTIONS = (
    *("name", "board", "sample_players", "classes", "constructor", "methods", "scores"),
    *("timeout", "protocol"),
)


def test_each_of_7x7_answers_every_question() -> None:
    for generation in all_generations():
        if not generation.on_11x9:
            assert [name for name in QUESTIONS if not hasattr(generation, name)] == []
            assert generation.tested("AlphaBetaPlayer", ["custom_score"])[0][1] == "improved_score"
            assert set(generation.classes) == {"minimax", "alphabeta"} <= set(generation.methods)


def test_they_differ_where_the_course_did() -> None:
    newest, spring, early, oldest, successor = all_generations()
    assert [one.gives_moves for one in all_generations()] == [False, True, True, True, False]
    assert [one.shuffles for one in (newest, spring, early, oldest)] == [True, True, True, False]
    assert [one.answers_values for one in (newest, spring)] == [False, True]
    assert [one.no_move for one in (early, oldest)] == ["forfeit", "illegal move"]
    assert early.examined_on is spring.board
    assert early.board is not spring.board
    assert successor.on_11x9


@pytest.mark.parametrize("name", NAMES)
def test_a_generation_is_one_value_in_every_process(name: str) -> None:
    generation = generation_named(name)
    assert pickle.loads(pickle.dumps(generation)) is generation
    assert f"{generation}" == name == generation.name


def test_nothing_is_decided_by_the_name_of_a_generation() -> None:
    by_name = re.compile(r"""generation(\.name)?\s*(==|!=)\s*["']|generation (not )?in \(["']""")
    found = [
        f"{file.name}: {line.strip()}"
        for file in Path(knightfall.__file__).parent.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if by_name.search(line)
    ]
    assert found == []
