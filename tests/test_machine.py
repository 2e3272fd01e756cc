"""Only the cores that this process may use count, not all of the machine's."""

from __future__ import annotations

import os

import pytest

from knightfall import processor_cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be forbidden here")
def test_only_cores_that_may_be_used_are_counted() -> None:
    allowed = os.sched_getaffinity(0)
    assert processor_cores.core_numbers() == sorted(allowed)
    one = max(allowed)
    try:
        os.sched_setaffinity(0, {one})
        assert processor_cores.core_numbers() == [one]
        assert processor_cores.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_systems_that_tell_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert processor_cores.core_numbers() == [0, 1, 2]
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processor_cores.cores() == 1
    monkeypatch.setattr(os, "getloadavg", lambda: (1.25, 0.5, 0.25), raising=False)
    assert processor_cores.load() == 1.25
    monkeypatch.delattr(os, "getloadavg")
    assert processor_cores.load() is None
