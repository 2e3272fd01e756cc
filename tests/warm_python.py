"""Python processes that begin where imports and the loading of machine code end.

A fork server that has everything loaded makes them, so that a command costs a test what it does and
not a second of getting ready.  `Popen` and `run` are `subprocess`'s, for commands of the form
``[sys.executable, "-c", code, …]``; environment, folder, streams and signals are as they would be.
`warm_starts` has the package start its own processes so, also from a process that is itself warm,
unless COLD_STARTS is in its environment: those are not in the process group of who starts them.
Tests of what happens while a process starts use `subprocess` itself.
"""

from __future__ import annotations

import asyncio
import fcntl
import multiprocessing
import os
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from importlib.util import find_spec
from multiprocessing import forkserver, process, reduction, resource_tracker
from types import SimpleNamespace
from typing import Any
from unittest import mock

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["preloaded"])
HERE = os.path.dirname(__file__)


SHARED = "KNIGHTFALL_TESTS_FORK_SERVER"
"""Where the address of a server is that others have begun, in the environment."""


def share_the_server() -> None:
    """Begin one for all processes that this one starts: it need not get warm in each of them."""
    if not hasattr(forkserver._forkserver, "_forkserver_authkey"):  # or nobody else may ask it
        _have_the_server_begun()
        os.environ[SHARED] = str(forkserver._forkserver._forkserver_address)


@cache
def _have_the_server_begun() -> None:
    """It looks for what it should load where its environment says, and else loads nothing."""
    server: Any = forkserver._forkserver
    if address := os.environ.get(SHARED):
        server.ensure_running = lambda: None
        server._forkserver_address = address
        # Who began it keeps it running; this stands for the pipe with which that is done.
        server._forkserver_alive_fd = os.open(os.devnull, os.O_RDONLY)
        return
    path = os.pathsep.join(filter(None, (HERE, os.environ.get("PYTHONPATH"))))
    with mock.patch.dict(os.environ, PYTHONPATH=path):
        forkserver._forkserver.ensure_running()


class Popen(subprocess.Popen[Any]):
    """A process of `python -c`, forked from a warm one."""

    def _execute_child(
        self,
        args: Any,
        executable: Any,
        preexec_fn: Any,
        close_fds: Any,
        pass_fds: Any,
        cwd: Any,
        env: Any,
        startupinfo: Any,
        creationflags: Any,
        shell: Any,
        p2cread: int,
        p2cwrite: int,
        c2pread: int,
        c2pwrite: int,
        errread: int,
        errwrite: int,
        restore_signals: Any,
        gid: Any,
        gids: Any,
        uid: Any,
        umask: Any,
        start_new_session: bool,
        *rest: Any,
    ) -> None:
        python, *words = args
        safe = words[:1] == ["-P"]  # the folder it works in is none to import from
        dash, code, *argv = words[safe:]
        assert (python, dash) == (sys.executable, "-c"), f"this is not warm: {args}"
        streams = [
            own if own != -1 else inherited
            for own, inherited in ((p2cread, 0), (c2pwrite, 1), (errwrite, 2))
        ]
        self._child = _SERVER.Process(
            target=_run,
            args=(
                code,
                [str(word) for word in argv],
                dict(os.environ if env is None else env),
                os.fspath(cwd or os.getcwd()),
                [_Passed(fd) for fd in streams],
                {fd: _Passed(fd) for fd in pass_fds},
                start_new_session,
                safe,
            ),
        )
        _have_the_server_begun()
        with _nothing_to_run_again():
            self._child.start()
        process._children.discard(self._child)  # or it is waited for at the end
        assert self._child.pid is not None
        self.pid = self._child.pid
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self.returncode = self._child.exitcode
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        self._child.join(timeout)
        if self._internal_poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return self.returncode


@contextmanager
def _nothing_to_run_again() -> Iterator[None]:
    """A process of multiprocessing's begins by importing what its parent runs as `__main__`."""
    with _starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = type(sys)("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


_starting = threading.Lock()


def run(
    command: list[str], *, timeout: float = 180, check: bool = False, input: Any = None, **how: Any
) -> subprocess.CompletedProcess[Any]:
    """What `subprocess.run` does, with the output always captured."""
    how.pop("capture_output", None)
    pipe = subprocess.PIPE
    for stream in ("stdin", "stdout", "stderr"):
        how.setdefault(stream, pipe)
    with Popen(command, **how) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


@contextmanager
def warm_starts() -> Iterator[None]:
    """While the block runs, the package's own processes are warm: workers, agents, what is apart.

    How they start is for others to test.
    """
    replaced = {
        "knightfall.arena.runners.worker_process.Popen": begin,
        "knightfall.arena.game.agent_child.subprocess": _WARM,
        "knightfall.isolation.run_isolated.subprocess": _WARM,
    }
    if find_spec("knightfall.web") is not None:  # the core is tested without it, too
        replaced["knightfall.web.lab.jobs.asyncio"] = _WARM_ASYNCIO
        replaced["knightfall.web.lab.lines.asyncio"] = _WARM_ASYNCIO
    with ExitStack() as patches:
        for name, with_what in replaced.items():
            patches.enter_context(mock.patch(name, with_what))
        yield


def begin(command: list[str], **how: Any) -> subprocess.Popen[Any]:
    """A process of ours, warm unless it is in surroundings of its own.

    The order of sets of texts is then that of the server, the same for all that it makes.
    """
    if how.get("env") is not None and how.get("cwd") is not None:
        return subprocess.Popen(command, **how)
    return Popen(as_code(command), **how)


def as_code(command: list[str]) -> list[str]:
    """A command that runs a module, or code, as one that runs code."""
    python, *words = command
    if "-m" in words:
        flags, (module, *argv) = words[: words.index("-m")], words[words.index("-m") + 1 :]
        code = "import runpy, sys, warnings\n"
        if flags[1:] == ["-W", "ignore"]:
            code += "warnings.simplefilter('ignore')\n"
        code += f"sys.modules.pop({module!r}, None)\n"  # or there were two of it
        code += f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"
        words = ["-P", "-c", code, *argv]
    return [python, *words]


_WARM = SimpleNamespace(**{**vars(subprocess), "Popen": begin})


class _Awaited:
    """A process of ours for those who wait for it while they do other things."""

    def __init__(self, process: subprocess.Popen[Any]) -> None:
        self._process = process
        self.send_signal, self.kill = process.send_signal, process.kill

    @classmethod
    async def begun(cls, *command: str, limit: int, **how: Any) -> _Awaited:
        loop = asyncio.get_running_loop()
        made = cls(begin(list(command), bufsize=0, **how))
        made.stdout = asyncio.StreamReader(limit, loop)
        heard = asyncio.StreamReaderProtocol(made.stdout, loop=loop)
        await loop.connect_read_pipe(lambda: heard, made._process.stdout)
        told = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, made._process.stdin)
        made.stdin = asyncio.StreamWriter(*told, None, loop)
        return made

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    async def wait(self) -> int:
        while self.returncode is None:
            await asyncio.sleep(0.01)
        return self._process.returncode


_WARM_ASYNCIO = SimpleNamespace(**{**vars(asyncio), "create_subprocess_exec": _Awaited.begun})


class _Passed:
    """A file descriptor on its way into another process."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __reduce__(self) -> Any:
        return _arrived, (reduction.DupFd(self.fd),)


def _arrived(passed: Any) -> int:
    return int(passed.detach())


def _run(
    code: str,
    argv: list[str],
    env: dict[str, str],
    folder: str,
    streams: list[int],
    passed: dict[int, int],
    new_session: bool,
    safe: bool,
) -> None:
    warm = _may_start_others() and "COLD_STARTS" not in env
    for there, here in enumerate(streams):
        os.dup2(here, there)
    for there, here in passed.items():
        if there != here:
            os.dup2(here, there)
    for fd in {*streams, *passed.values()} - {0, 1, 2, *passed}:
        with suppress(OSError):
            os.close(fd)
    if new_session:
        os.setsid()
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C typed there is a signal here
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.path[:] = [*([] if safe else [""]), *(entry for entry in sys.path if entry)]
    sys.argv[:] = ["-c", *argv]
    encoding = env.get("PYTHONIOENCODING", "utf-8")
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        fd = ("stdin", "stdout", "stderr").index(name)
        buffering = 1 if name == "stderr" or os.isatty(fd) else -1
        stream = open(  # noqa: SIM115
            fd, mode, buffering, encoding=encoding, errors="surrogateescape", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    main = type(sys)("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    try:
        with warm_starts() if warm else nullcontext():
            exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        # What Python does of a code that is no number is not asked of these processes.
        sys.exit(end.code if isinstance(end.code, int) else int(end.code is not None))


def _may_start_others() -> bool:
    """Let this process ask the server that made it for others; whether it may.

    What leads there is put where no descriptor that is passed will be.
    """
    server, tracker = forkserver._forkserver, resource_tracker._resource_tracker
    if hasattr(server, "_forkserver_authkey"):  # later Pythons keep it from whom the server made
        return False
    server.ensure_running = lambda: None
    for owner, name in ((server, "_forkserver_alive_fd"), (tracker, "_fd")):
        setattr(owner, name, fcntl.fcntl(getattr(owner, name), fcntl.F_DUPFD_CLOEXEC, 200))
    return True
