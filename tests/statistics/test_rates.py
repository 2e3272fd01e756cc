"""Wilson's interval, compared with its definition and with published values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knightfall.statistics.rates import Share, Z


@given(st.integers(0, 300), st.integers(1, 300))
def test_wilson_ends_are_where_the_rate_is_just_believable(count: int, of: int) -> None:
    count = min(count, of)
    share = Share(count, of)
    low, high = share.interval
    assert share.rate is not None
    assert 0 <= low <= share.rate <= high <= 1
    for end in (low, high):
        if 0 < end < 1:  # then the rate is Z standard errors of *that* end away
            assert abs(share.rate - end) == pytest.approx(Z * math.sqrt(end * (1 - end) / of))
    assert (low == 0) == (count == 0)
    assert (high == 1) == (count == of)


def test_wilson_interval_of_a_textbook() -> None:
    # Newcombe 1998, table I: 81 of 263.
    assert Share(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert Share(0, 0).interval == (0, 1)
    assert Share(0, 0).rate is None
