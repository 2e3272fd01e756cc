"""Python processes that begin where imports and the loading of machine code end.

A fork server that has everything loaded makes them, so that a command costs a test what it does and
not a second of getting ready.  `Popen` and `run` are `subprocess`'s, for commands of the form
``[sys.executable, "-c", code, …]``; environment, folder, streams and signals are as they would be.
Tests of what happens while a process starts use `subprocess` itself.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import subprocess
import sys
import termios
from contextlib import AbstractContextManager, suppress
from multiprocessing import reduction
from typing import Any
from unittest import mock

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["preloaded"])


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
        python, dash, code, *argv = args
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
            ),
        )
        self._child.start()
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


def warm_workers() -> AbstractContextManager[None]:
    """While the block runs, pools get warm processes.  How they start is for others to test."""

    def start(command: list[str], **how: Any) -> Popen:
        return Popen([word for word in command if word != "-P"], **how)

    return mock.patch("knightfall.arena.runners.worker_process.Popen", start)


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
) -> None:
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
    sys.path[:] = ["", *(entry for entry in sys.path if entry)]
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
        exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        # What Python does of a code that is no number is not asked of these processes.
        sys.exit(end.code if isinstance(end.code, int) else int(end.code is not None))
