"""Who runs the tests when several processes share the files: forks of one that is warm.

Those that pytest-xdist starts are forked from `warm_python`'s server, and each of them forks once
for every file of tests.  So what they have loaded is in memory once, and what a file leaves behind
(machine code is never given back) goes with the process that ran it.
"""

from __future__ import annotations

import os
import subprocess
import traceback
from multiprocessing import Pipe, resource_tracker
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

import pytest
import warm_python
from execnet import gateway_io
from execnet.gateway_base import Popen2IO

FORKED = "KNIGHTFALL_TESTS_FORKED"
"""In the environment of a process that pytest-xdist has started so."""


class _WarmGateway(gateway_io.Popen2IOMaster):
    """What execnet has in hand of a process it started."""

    def __init__(self, command: list[str], execmodel: Any) -> None:
        python, *_, code = command
        pipe = subprocess.PIPE
        # Whether others are warm is for each file to decide.
        env = {**os.environ, FORKED: "1", "COLD_STARTS": "1"}
        self.popen = warm_python.Popen([python, "-c", code], stdin=pipe, stdout=pipe, env=env)
        Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel)


def have_workers_forked() -> None:
    """From now on, pytest-xdist starts its processes so; it must hand out whole files."""
    gateway_io.Popen2IOMaster = _WarmGateway


class FileProcesses:
    """A plugin of such a process: it runs no test itself, and passes on what it hears of them."""

    def __init__(self, config: pytest.Config) -> None:
        for name in (FORKED, "COLD_STARTS"):
            del os.environ[name]
        self.config = config
        self.heard: Connection | None = None
        self.pid = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        worker = next(
            plugin
            for plugin in self.config.pluginmanager.get_plugins()
            if type(plugin).__name__ == "WorkerInteractor"  # execnet has it defined anew
        )
        if self.heard is None:
            self._begin(worker)
        assert self.heard is not None
        try:
            told = self.heard.recv()
        except EOFError:
            os._exit(1)  # which pytest-xdist reports with the name of the test
        for event in told:
            worker.channel.send(event)
        if nextitem is None or nextitem.path != item.path:
            self.heard.close()
            self.heard = None
            os.waitpid(self.pid, 0)
        return True

    def _begin(self, worker: Any) -> None:
        resource_tracker.ensure_running()  # or each would start one
        self.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self.heard, told = Pipe(duplex=False)
        self.pid = os.fork()
        if self.pid:
            told.close()
            return
        try:
            self.heard.close()
            self.config.pluginmanager.unregister(self)
            _run_file(worker, told)
        finally:
            os._exit(0)


def _run_file(worker: Any, told: Connection) -> None:
    """Run the tests of a file from the one that is asked for, and tell of one after the other."""
    items, first = worker.session.items, worker.item_index
    mine = [place for place in range(first, len(items)) if items[place].path == items[first].path]
    for place, after in zip(mine, [*mine[1:], None], strict=True):
        events: list[Any] = []
        worker.channel = SimpleNamespace(send=events.append)
        worker.item_index = place
        nextitem = None if after is None else items[after]
        try:
            worker.config.hook.pytest_runtest_protocol(item=items[place], nextitem=nextitem)
        except BaseException as error:
            why = "".join(traceback.format_exception(error))
            worker.sendevent("internal_error", formatted_error=why)
            raise
        finally:
            told.send(events)
