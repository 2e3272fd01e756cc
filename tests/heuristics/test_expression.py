"""Heuristic ids as text: parsing, printing, error messages, and values equal to their sums."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from agent_strategies import EXPRESSIONS, IDS
from helpers import random_positions, times_the_examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import NAIVE, naive_static_reach
from strategies import positions

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.expression import Expression, Id, Phased, Stages, parse_heuristic
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.position import Position, Side
from knightfall.user_files import UserFunction

NUMBER_TEXTS = st.from_regex(r"\A([0-9]{1,9}\.[0-9]{1,9}|[0-9]{1,18}(/[1-9][0-9]{0,17})?)\Z")

SIGNS = [
    "phase*",
    "(1-phase)*",
    "stage(",
    "0.5: ",
    "1/4:",
    "(",
    ")",
    "*",
    "+",
    "-",
    "2*",
    ",",
    ":g",
    " ",
    "\t",
    "é",
]
NUMERALS = ["1/3", "2", "0.5", "1/0", "(1/3)", "(0.25)"]
FILES = ["a.py:f", "dir/my-file.py:score", "../x.py", "improved-x.py:f", "9.py:g"]
PIECES = st.sampled_from([*IDS[:6], "static_reach", *SIGNS, *NUMERALS, *FILES])


ONE = Fraction(1)
HALF = ((Fraction(1, 2), Expression(((ONE, Id("open")),))),)


@given(EXPRESSIONS)
@example(Expression(((Fraction(1), UserFunction("dir/my-file.py", "score")),)))
@example(Expression(((Fraction(1), UserFunction("./open-2.py", "f")),)))
@example(Expression(((Fraction(1), UserFunction("a/../-2.py", "f")),)))
@example(
    Expression(((Fraction(1), Stages(HALF, Expression(((ONE, UserFunction("7:f.py", "f")),)))),))
)
@example(Expression(((ONE, Phased(UserFunction("f.py", "f", "a"), 1, 0)), (-ONE, Id("open")))))
@example(Expression(((Fraction(-1, 3), UserFunction("1/3.py", "f")), (Fraction(0), Id("open")))))
def test_an_expression_prints_as_it_parses(expression: Expression) -> None:
    assert parse_heuristic(str(expression)) == expression


@settings(derandomize=True)
@given(weight=NUMBER_TEXTS, parameter=NUMBER_TEXTS)
@example(weight="0.123456789", parameter="0.5")
@example(weight="2", parameter="0.123456789")
@example(weight="999999999.999999999", parameter="0.5")
def test_any_number_that_is_read_can_be_read_again(weight: str, parameter: str) -> None:
    texts = [f"{weight}*open", f"improved-{weight}*open"]
    if 0 < _number(parameter) < 1:
        texts.append(f"{weight}*static_reach({parameter})")
    for text in texts:
        expression = parse_heuristic(text)
        assert abs(expression.terms[-1][0]) == _number(weight)
        assert parse_heuristic(str(expression)) == expression


def _number(text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    return Fraction(numerator) / Fraction(denominator or 1)


def check_any_text(text: str) -> None:
    try:
        expression = parse_heuristic(text)
    except KnightfallError:
        return
    assert parse_heuristic(str(expression)) == expression


@given(st.text())
def test_any_text_is_an_expression_or_a_knightfall_error(text: str) -> None:
    check_any_text(text)


@times_the_examples(10)
@given(st.lists(PIECES, max_size=9).map("".join))
def test_anything_like_an_expression_is_one_or_a_knightfall_error(text: str) -> None:
    check_any_text(text)


@times_the_examples(6)
@given(EXPRESSIONS.map(str), st.data())
def test_a_damaged_expression_is_one_or_a_knightfall_error(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(
        st.sampled_from(["", "(", ")", "*", "-", "+", " ", "9", "/", ".", ":", "\n", "\0"])
    )
    check_any_text(text[:at] + put + text[at + data.draw(st.integers(0, 2)) :])


# -- parsing ---------------------------------------------------------------------------------


def atoms(text: str) -> list[tuple[Fraction, str]]:
    return [(weight, str(atom)) for weight, atom in parse_heuristic(text).terms]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("open", [(1, "open")]),
        ("  open\n", [(1, "open")]),
        ("-open", [(-1, "open")]),
        ("2*open-improved", [(2, "open"), (-1, "improved")]),
        ("2 * open - 1/3 * improved + center", [(2, "open"), ("-1/3", "improved"), (1, "center")]),
        ("0.5*open+1/8*null", [("1/2", "open"), ("1/8", "null")]),
        ("static_reach(1/3)", [(1, "static_reach(1/3)")]),
        ("2*static_reach( 0.5 )-open", [(2, "static_reach(1/2)"), (-1, "open")]),
        ("my.py:score", [(1, "my.py:score")]),
        ("dir/my-file.py:score", [(1, "dir/my-file.py:score")]),
        ("2*dir/my-file.py:score-open", [(2, "dir/my-file.py:score"), (-1, "open")]),
        ("a.py:f-b-c.py:g", [(1, "a.py:f"), (-1, "b-c.py:g")]),
        ("./open-improved.py:f", [(1, "open-improved.py:f")]),
        ("./my.py:score-./a//b/../my.py:score", [(1, "my.py:score"), (-1, "a/my.py:score")]),
        ("my.py:f@HEAD~1+my.py:f", [(1, "my.py:f@HEAD~1"), (1, "my.py:f")]),
        ("my.py:f@my-branch -open", [(1, "my.py:f@my-branch"), (-1, "open")]),
        ("open-improved.py:f", [(1, "open"), (-1, "improved.py:f")]),
        ("7.py:f", [(1, "7.py:f")]),
        ("my file.py:f", [(1, "my file.py:f")]),
        ("open.py:f", [(1, "open.py:f")]),
        ("/tmp/öäü/x.py:f", [(1, "/tmp/öäü/x.py:f")]),
        ("open+open", [(1, "open"), (1, "open")]),
    ],
)
def test_what_is_read(text: str, terms: list[tuple[str, str]]) -> None:
    assert atoms(text) == [(Fraction(weight), atom) for weight, atom in terms]


def test_a_weight_of_one_is_not_written() -> None:
    assert str(parse_heuristic("-1*open + 1*improved - 2*center - 1*null")) == (
        "-open+improved-2*center-null"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a term is missing"),
        ("   ", "a term is missing"),
        ("2*", "a term is missing"),
        ("open+", "a term is missing"),
        ("--open", "cannot read '-open'"),
        ("open improved", "cannot read 'improved'"),
        ("2", "cannot read '2'"),
        ("1/0*open", "1/0 divides by zero"),
        ("open(3)", "open takes no parameter"),
        ("static_reach", "as in static_reach(1/2)"),
        ("static_reach(2)", "between 0 and 1"),
        ("static_reach(0)", "between 0 and 1"),
        ("static_reach(1)", "between 0 and 1"),
        ("static_reach()", "between 0 and 1"),
        ("static_reach(1/2", "between 0 and 1"),
        ("opne", "unknown heuristic 'opne'; did you mean 'open'?"),
        ("Improved", "unknown heuristic 'Improved'; did you mean 'improved'?"),
        ("open-bfs_raech", "unknown heuristic 'bfs_raech'; did you mean 'bfs_reach'?"),
        ("qqqqq", "knightfall heuristics lists them"),
        ("my.py", "file.py:function"),
        ("*open", "cannot read '*open'"),
        ("open,improved", "cannot read ',improved'"),
        ("phase", "phase is not a heuristic"),
        ("phase*", "a term is missing"),
        ("open*phase", "cannot read '*phase'"),
        ("phase*(open+improved)", "'(open+improved)': parentheses are accepted only in (1-phase)*"),
        ("stage", "stage is not a heuristic"),
        ("stage()", "cannot read ')'"),
        ("stage(open)", "the first stage needs a threshold"),
        ("stage(0.5: open)", "the last stage, which has no threshold, is missing"),
        ("stage(0.5: open, improved", "the closing parenthesis of stage(…) is missing"),
        ("stage(0.5: open, improved, null)", "', null)' follows the stage without a threshold"),
        ("stage(1.5: open, improved)", "between 0 and 1, not 1.5"),
        ("stage(1/0: open, improved)", "1/0 divides by zero"),
        ("stage(0.2: open, 0.3: improved, null)", "must decrease: 0.3 follows 0.2"),
        ("stage(0.2: open, 0.2: improved, null)", "must decrease: 0.2 follows 0.2"),
        ("stage(0.5: stage(0.2: open, null), null)", "cannot stand inside a stage"),
        ("+".join(["open"] * 201), "open+…': more than 200 terms"),
        ("stage(0.5: " + "+".join(["open"] * 150) + ", " + "+".join(["open"] * 60), "200 terms"),
        ("stage(0.5: opne, null)", "unknown heuristic 'opne'; did you mean 'open'?"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_heuristic(text)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


# -- values ----------------------------------------------------------------------------------


@cache
def some_positions() -> list[Position]:
    found = random_positions(7, 7, 40, 51, min_placed=2) + random_positions(
        4, 6, 20, 52, min_placed=2
    )
    return found + random_positions(8, 8, 20, 53, min_placed=2)


SUMS: dict[str, Callable[[Position, Side], float]] = {
    "2*open-improved": lambda p, me: 2 * NAIVE["open"](p, me) - NAIVE["improved"](p, me),
    "-open": lambda p, me: -NAIVE["open"](p, me),
    "0*open": lambda p, me: 0.0,
    "1/3*bfs_reach": lambda p, me: NAIVE["bfs_reach"](p, me) / 3,
    "open+open": lambda p, me: 2 * NAIVE["open"](p, me),
    "center-2.5*near_opponent+1/4*aggressive": lambda p, me: (
        NAIVE["center"](p, me)
        - 2.5 * NAIVE["near_opponent"](p, me)
        + NAIVE["aggressive"](p, me) / 4
    ),
    "static_reach(1/3)-static_reach(1/2)": lambda p, me: (
        naive_static_reach(Fraction(1, 3))(p, me) - naive_static_reach(Fraction(1, 2))(p, me)
    ),
    "static_reach(0.15)": naive_static_reach(Fraction(15, 100)),
}


def phased_sum(position: Position, me: Side) -> float:
    phase = Fraction(len(position.open), position.board.cells)
    edges, center = NAIVE["near_edges"](position, me), NAIVE["near_center"](position, me)
    return float(phase) * edges + float(1 - phase) * center + NAIVE["bfs_reach"](position, me)


def staged_sum(position: Position, me: Side) -> float:
    """Return the value of the tested sum, choosing its stage by counting open cells instead of by
    the phase.

    On no board here are 2/5 or 4/5 of the cells a whole number.
    """
    open, cells = len(position.open), position.board.cells
    if 5 * open >= 4 * cells:
        return 3 * NAIVE["improved"](position, me)
    if 5 * open >= 2 * cells:
        curve = (open / cells) ** 2 * (1 - open / cells)
        return 3 * (NAIVE["open"](position, me) - curve * NAIVE["bfs_reach"](position, me))
    return 3 * NAIVE["aggressive"](position, me)


SUMS |= {
    "phase*near_edges+(1-phase)*near_center+bfs_reach": phased_sum,
    "3*stage(4/5: improved, 2/5: open-phase*phase*(1-phase)*bfs_reach, aggressive)": staged_sum,
}


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_is_worth_the_sum_of_its_parts(text: str) -> None:
    ready = evaluator(text)
    assert ready.id == str(parse_heuristic(text))
    for position in some_positions():
        for side in ("w", "b"):
            expected = SUMS[text](position, side)
            assert ready.value(position, side) == pytest.approx(expected, abs=1e-9), position.fen


@pytest.mark.parametrize("id", IDS)
def test_an_id_alone_is_the_heuristic(id: str) -> None:
    ready = evaluator(id)
    assert (ready.id, ready.symmetric, ready.compiled) == (id, REGISTRY[id].symmetric, True)
    for position in [one for one in some_positions() if len(one.open) <= 12][:6]:
        for side in ("w", "b"):
            expected = NAIVE[id](position, side)
            assert ready.value(position, side) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("id", "text"),
    [
        ("main_less", "phase*mobility+open_space_difference"),
        ("main", "stage(0.2: phase*mobility+open_space_difference, longest_win_difference)"),
        ("main_prop", "stage(0.2: phase*mobility+(1-phase)*open_space_difference, longest_win)"),
        ("main_alt_staggered", "stage(0.7: mobility, 0.2: open_space_difference, longest_win)"),
    ],
)
def test_the_staged_study_can_be_written_as_expressions(id: str, text: str) -> None:
    rng = random.Random(54)
    for open_cells in [*range(47)] * 2:
        white, black, *open = rng.sample(range(49), open_cells + 2)
        position = Position(Board.of(7, 7), frozenset(open), white, black, "w")
        for side in ("w", "b"):
            expected = evaluator(id).measure(position, side, 10_000)
            assert evaluator(text).measure(position, side, 10_000) == pytest.approx(expected)


def test_a_stage_holds_at_its_threshold() -> None:
    """Check that a stage applies at its threshold itself: on 5×6, 21 open cells are exactly 0.7 of
    the board.
    """
    drawn = random_positions(5, 6, 2000, 55, min_placed=2)
    for open, stage in (
        (22, "improved"),
        (21, "improved"),
        (20, "-open"),
        (6, "-open"),
        (5, "center"),
    ):
        position = next(p for p in drawn if len(p.open) == open)
        found = evaluator("stage(0.7: improved, 0.2: -open, center)").value(position)
        assert found == evaluator(stage).value(position)


def test_only_the_stage_in_force_is_asked() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    assert evaluator("stage(0.2: improved, longest_win)").measure(position, step_limit=0)[1]
    assert not evaluator("stage(0.99: improved, longest_win)").measure(position, step_limit=0)[1]


def test_plain_python_inside_phases_and_stages(tmp_path: Path) -> None:
    """Compare an uncompiled heuristic inside phases and stages with the same one compiled, also on
    boards of 64 cells; check that errors name the function.
    """
    file = tmp_path / "mine.py"
    file.write_text(
        "class Never: pass\n"
        "def plain(board, open, me, opp, to_move):\n"
        "    Never.seen = me\n"
        "    return me\n"
        "def quick(board, open, me, opp, to_move):\n"
        "    return me\n"
        "def wrong(board, open, me, opp, to_move):\n"
        "    return me // (opp - opp)\n"
    )
    text = "-2*stage(0.6: open-phase*{0}, 0.4: (1-phase)*{0}, open) + 1/3*{0}"
    with pytest.warns(HeuristicWarning):
        slow = evaluator(text.format(f"{file}:plain"))
    quick = evaluator(text.format(f"{file}:quick"))
    assert (slow.compiled, quick.compiled) == (False, True)
    for position in some_positions():
        assert slow.value(position) == pytest.approx(quick.value(position), abs=1e-12)
    start = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    with pytest.raises(KnightfallError, match=r"mine\.py:wrong, line 8: ZeroDivisionError"):
        evaluator(f"stage(0.9: {file}:wrong, {file}:quick)").value(start)
    assert evaluator(f"stage(0.99: {file}:wrong, {file}:quick)").value(start) == start.white


def test_an_expression_at_a_phase_is_a_sum() -> None:
    text = "2*phase*open-3*(1-phase)*stage(0.5: improved+2*center, null)"
    found = [(weight, str(atom)) for weight, atom in parse_heuristic(text).at(Fraction(1, 2))]
    assert found == [
        (1, "open"), (Fraction(-3, 2), "improved"), (-3, "center")
    ]  # fmt: skip
    assert [str(atom) for _, atom in parse_heuristic(text).at(Fraction(1, 3))] == ["open", "null"]


@given(positions(min_placed=2))
def test_the_side_to_move_is_asked_by_default(position: Position) -> None:
    ready = evaluator("2*open-improved")
    assert ready.value(position) == ready.value(position, position.to_move)


def test_a_sum_is_symmetric_if_all_of_it_is() -> None:
    assert evaluator("open-2*bfs_reach+static_reach(1/5)").symmetric
    assert not evaluator("open-2*center").symmetric


def test_an_expression_is_as_good_as_its_text() -> None:
    assert evaluator(parse_heuristic("2*open - improved")) is evaluator("2*open-improved")


@pytest.mark.parametrize("fen", ["7/7/7/7/7/7/7[Nn] w", "3/N2/3[n] b"])
def test_nothing_is_evaluated_before_both_knights_stand(fen: str) -> None:
    with pytest.raises(KnightfallError, match="both knights must be on the board") as error:
        evaluator("improved").value(Position.from_fen(fen))
    assert fen in str(error.value)


def test_a_share_that_runs_out_is_told() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    value, exact = evaluator("longest_win").measure(position, step_limit=50)
    assert value >= 0
    assert not exact
    late = Position.from_fen("*2*1*1/1*N**1*/**1**2/1*1*n*1/*1**1**/1*2*1*/**1*1*1 b")
    assert evaluator("longest_win").measure(late) == (NAIVE["longest_win"](late, "b"), True)
