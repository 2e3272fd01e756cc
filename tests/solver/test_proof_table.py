"""The proof table: stored data is found again, and only for its own position."""

from __future__ import annotations

from helpers import times_the_examples
from hypothesis import given
from hypothesis import strategies as st
from solver_helpers import Proofs, ends, places
from strategies import WORDS

from knightfall.solver import proof_table

DATA = st.integers(0, (1 << 23) - 1).map(lambda word: word << 14)
"""Any data of a position: bits 14 to 36."""


@times_the_examples(6)
@given(
    buckets=st.sampled_from([1, 2, 8]),
    notes=st.lists(st.tuples(places(), DATA), min_size=1, max_size=60),
)
def test_proofs_are_never_mixed_up(
    buckets: int, notes: list[tuple[tuple[int, int, int], int]]
) -> None:
    """Check that a probe returns the last data stored for that position, or nothing."""
    table, last = Proofs(buckets), {}
    for place, data in notes:
        _, mover, waiter = place
        table.store(place, data)
        last[place] = data | mover | waiter << 7
        assert table.probe(place) == last[place]
        for stored, expected in last.items():
            assert table.probe(stored) in (0, expected)
    kept = sum(table.probe(place) != 0 for place in last)
    assert kept == table.states["stored"][0] <= table.table.size
    if len(last) <= proof_table.BUCKET:
        assert kept == len(last)


@given(st.sets(places(), min_size=5, max_size=30).map(list))
def test_the_position_with_the_fewest_open_cells_makes_room(
    noted: list[tuple[int, int, int]],
) -> None:
    table, kept = Proofs(1), []
    for place in noted:
        if len(kept) == proof_table.BUCKET:
            fewest = min(open.bit_count() for open, _, _ in kept)
            table.store(place, proof_table.BLANK)
            (gone,) = [one for one in kept if not table.probe(one)]
            assert gone[0].bit_count() == fewest
            kept.remove(gone)
        else:
            table.store(place, proof_table.BLANK)
        kept.append(place)
        assert all(table.probe(one) for one in kept)


def test_nothing_is_known_about_an_empty_table() -> None:
    for place in [(0, 0, 1), (0, 1, 0), (2**64 - 4, 0, 1), (5, 63, 62)]:
        assert Proofs(1).probe(place) == 0


@given(places(), places())
def test_a_half_written_entry_is_not_taken_for_its_position(
    one: tuple[int, int, int], two: tuple[int, int, int]
) -> None:
    """Check that an entry with the key of one write and the data of another is found for neither
    position.
    """
    first, second = Proofs(1), Proofs(1)
    first.store(one, proof_table.with_outcome(0, 1))
    second.store(two, proof_table.with_outcome(0, 0))
    second.table["key"][0] = first.table["key"][0]
    assert second.probe(one) == 0
    assert second.probe(two) == 0


@times_the_examples(6)
@given(
    plies=st.integers(0, 64),
    questions=st.lists(st.one_of(st.just(None), st.integers(0, 66)), max_size=12),
)
def test_an_entry_is_all_that_was_answered(plies: int, questions: list[int | None]) -> None:
    """Check an entry after answers were stored in it: None stands for the question who wins, a
    number n for `ends_within` n plies.
    """
    data = 0
    ended: list[int] = []
    lasted: dict[int, list[int]] = {0: [], 1: []}
    for question in questions:
        if question is None:
            data = int(proof_table.with_outcome(data, plies % 2))
        else:
            data = int(proof_table.with_answer(data, question, ends(plies, question)))
            (ended if ends(plies, question) else lasted[question % 2]).append(question)
    winner_known = None in questions or bool(ended)
    assert proof_table.outcome(data) == (
        (proof_table.WINS if plies % 2 else proof_table.LOSES) * winner_known
    )
    if data:
        assert proof_table.within(data) == min(ended, default=proof_table.NEVER)
    for parity, answered in lasted.items():
        for asked in (parity, parity + 40):  # only its parity counts
            known = proof_table.beyond(data, asked)
            assert known == max(answered) if answered else known < 0
    # The fields as in the module's docstring.
    assert data >> 14 & 3 == proof_table.outcome(data)
    assert data >> 16 & 127 == proof_table.within(data)
    assert (data >> 23 & 127) - 2 == proof_table.beyond(data, 1)
    assert (data >> 30 & 127) - 2 == proof_table.beyond(data, 0)
    assert data & 0x3FFF == data >> 37 == 0


@given(mover=st.integers(0, 63), waiter=st.integers(0, 63), data=DATA, mover_wins=st.booleans())
def test_proofs_stay_with_their_position(
    mover: int, waiter: int, data: int, mover_wins: bool
) -> None:
    cells = proof_table.cells_of(mover, waiter)
    assert (cells & 127, cells >> 7) == (mover, waiter)
    assert int(proof_table.with_outcome(data | cells, mover_wins)) & 0x3FFF == cells
    assert int(proof_table.with_answer(data | cells, 12, mover_wins)) & 0x3FFF == cells


@given(WORDS, st.integers(0, (1 << 14) - 1))
def test_the_hash_is_the_formula(open: int, cells: int) -> None:
    key = (open ^ cells << 48) * 0x9E3779B97F4A7C15 % 2**64
    assert proof_table.hash_position(open, cells) == key ^ key >> 29
