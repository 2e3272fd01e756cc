"""A Dask cluster of two workers on this machine, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_workers(threads: int = 1) -> Iterator[Any]:
    """Start a cluster that gives up a call as soon as it has killed one worker."""
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=threads, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster
