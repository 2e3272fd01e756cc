"""Hypothesis strategies for agents: budgets, and ids of heuristics."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from naive import NAIVE

from knightfall.heuristics import REGISTRY
from knightfall.heuristics.expression import Expression, Id, Phased, Stages
from knightfall.search.budget import DEEPEST, LONGEST, MOST_NODES, Budget
from knightfall.user_files import UserFunction


def limits(most: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(1, most) | st.sampled_from([1, 9, 10, most])


BUDGETS = st.builds(
    Budget,
    depth=limits(DEEPEST),
    nodes=limits(MOST_NODES),
    time=limits(LONGEST) | st.sampled_from([999, 999_999, 1_000_001, 1_500_000, 150_000]),
)

IDS = sorted(NAIVE)

# -- what can be written ---------------------------------------------------------------------

PATH_LETTERS = "abz_ABZ0189-./~é世 =!@#'\"[]{}&%$^|<>?;:\\"


def readable(path: str) -> bool:
    """Return whether a path in a heuristic's id is parsed as this path: no known id with a minus,
    no second ".py:".
    """
    word = ""
    for letter in path:
        if not (letter.isascii() and (letter.isalnum() or letter == "_")):
            break
        word += letter
    rest = path[len(word) :].lstrip()
    return not (word in REGISTRY and rest.startswith("-")) and ".py:" not in path[:-1]


PATHS = (
    st.tuples(
        st.sampled_from("abzO_.~/é0123456789"),
        st.text(PATH_LETTERS, max_size=12),
        st.sampled_from(["", "/my-file", "/open-improved", "2"]),
    )
    .map(lambda parts: "".join(parts) + ".py")
    .filter(readable)
)

FUNCTIONS = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z")

REVISIONS = st.just("") | st.from_regex(r"\A[A-Za-z0-9_.~^/{}][A-Za-z0-9_.~^/@{}-]{0,9}\Z")

NUMBERS = st.builds(Fraction, st.integers(0, 10**9 - 1), st.integers(1, 10**9 - 1))

PARAMETERS = NUMBERS.filter(lambda number: 0 < number < 1) | st.sampled_from(
    [Fraction(1, n) for n in range(2, 11)]
)

ATOMS = st.one_of(
    st.sampled_from(IDS).map(Id),
    PARAMETERS.map(lambda r: Id("static_reach", parameter=r)),
    st.builds(UserFunction, PATHS, FUNCTIONS, REVISIONS),
)

WEIGHTS = st.one_of(
    st.sampled_from([Fraction(1), Fraction(-1)]), NUMBERS, NUMBERS.map(lambda n: -n)
)


def phased(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Generate terms, most of them multiplied by powers of the phase."""
    powers = st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any)
    return inner | st.builds(lambda term, two: Phased(term, *two), inner, powers)


def sums(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Expression]:
    return st.lists(st.tuples(WEIGHTS, terms), min_size=1, max_size=4).map(
        lambda found: Expression(tuple(found))
    )


PLAIN_SUMS = sums(phased(ATOMS))

STAGES = st.tuples(st.lists(PARAMETERS, min_size=1, max_size=3, unique=True), st.data()).map(
    lambda drawn: Stages(
        tuple((least, drawn[1].draw(PLAIN_SUMS)) for least in sorted(drawn[0], reverse=True)),
        drawn[1].draw(PLAIN_SUMS),
    )
)

EXPRESSIONS = PLAIN_SUMS | sums(phased(ATOMS | STAGES))
