"""Who runs the tests when several processes share them: forks of one that is warm.

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


class _WarmGateway(gateway_io.Popen2IOMaster):
    """What execnet has in hand of a process it started."""

    def __init__(self, command: list[str], execmodel: Any) -> None:
        python, *_, code = command
        pipe = subprocess.PIPE
        env = {**os.environ, "COLD_STARTS": "1"}  # those are for each file to decide
        self.popen = warm_python.Popen([python, "-c", code], stdin=pipe, stdout=pipe, env=env)
        Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel)


def have_workers_forked() -> None:
    """From now on, pytest-xdist starts its processes so."""
    gateway_io.Popen2IOMaster = _WarmGateway


class FileProcesses:
    """A plugin of such a process: it runs no test itself, and passes on what it hears of them."""

    def __init__(self, config: pytest.Config) -> None:
        os.environ.pop("COLD_STARTS", None)
        self.config = config
        self.asked: Connection | None = None
        self.pid = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        worker = next(
            plugin
            for plugin in self.config.pluginmanager.get_plugins()
            if type(plugin).__name__ == "WorkerInteractor"  # execnet has it defined anew
        )
        if self.asked is None:
            self._begin(worker)
        assert self.asked is not None
        more = nextitem is not None and nextitem.path == item.path
        self.asked.send((worker.item_index, worker.nextitem_index if more else None))
        try:
            while (heard := self.asked.recv()) is not None:
                worker.channel.send(heard)
        except EOFError:
            os._exit(1)  # which pytest-xdist reports with the name of the test
        if not more:
            self.asked.close()
            self.asked = None
            os.waitpid(self.pid, 0)
        return True

    def _begin(self, worker: Any) -> None:
        resource_tracker.ensure_running()  # or each would start one
        self.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self.asked, there = Pipe()
        self.pid = os.fork()
        if self.pid:
            there.close()
            return
        try:
            self.asked.close()
            self.config.pluginmanager.unregister(self)
            worker.channel = SimpleNamespace(send=there.send)
            _run_tests(worker, there)
        finally:
            os._exit(0)


def _run_tests(worker: Any, asked: Connection) -> None:
    """Run a file's tests as they are asked for, to the last of them."""
    items, next_index = worker.session.items, 0
    try:
        while next_index is not None:
            worker.item_index, next_index = asked.recv()
            nextitem = None if next_index is None else items[next_index]
            item = items[worker.item_index]
            worker.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            asked.send(None)
    except BaseException as error:
        told = "".join(traceback.format_exception(error))
        worker.sendevent("internal_error", formatted_error=told)
