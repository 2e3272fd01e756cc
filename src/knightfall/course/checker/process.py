"""A submission in a process of its own, which may hang, crash, print and exit as it likes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from knightfall.course.checker.examination import Kind, Outcome, read_outcome
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.limits import submission_environment
from knightfall.isolation.run_isolated import LOADING, ChildExited
from knightfall.isolation.scratch import copy_beside

PACKAGE = Path(__file__).resolve().parents[2]

MOST_PRINTED, MOST_SAID = 20_000, 1 << 20


class Examinee:
    """The process of one submission, in a copy of its folder; a fresh one after each accident."""

    def __init__(self, file: Path, generation: str, seconds: float) -> None:
        self._generation, self._seconds = generation, seconds
        self._scratch = tempfile.TemporaryDirectory(
            prefix="knightfall-check-", ignore_cleanup_errors=True
        )
        self._folder = Path(self._scratch.name).resolve() / "submission"
        self._folder.mkdir()
        copy_beside(file, self._folder)
        self._file = self._folder / file.name
        self._process: subprocess.Popen[bytes] | None = None
        self._answers = -1
        self._rest = b""
        self._hearing: threading.Thread | None = None
        self.printed = bytearray()
        self.much = 0

    def __enter__(self) -> Examinee:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._scratch.cleanup()

    def ask(self, check: str, kinds: Sequence[Kind]) -> Outcome:
        """Have one check made; `ChildExited` if the process ended instead, or had to be ended."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        request = json.dumps({"check": check, "kinds": list(kinds)}) + "\n"
        try:
            with suppress(OSError):  # it is gone already; then nothing will be heard
                self._process.stdin.write(request.encode())
                self._process.stdin.flush()
            return read_outcome(json.loads(self._line(self._seconds)), check)
        except (ValueError, RecursionError):
            self.end()
            raise ChildExited("says something strange in the examiner's place") from None
        except BaseException:
            self.end()
            raise

    def _start(self) -> None:
        hears, says = os.pipe()
        environment = submission_environment(
            home=str(self._folder),
            PYTHONPATH=str(PACKAGE.parent),
            PYTHONDONTWRITEBYTECODE="1",
            PYTHONIOENCODING="utf-8:replace",
        )
        words = [sys.executable, "-P", "-W", "ignore", "-m", "knightfall.course.checker.child"]
        try:
            self._process = subprocess.Popen(
                [*words, str(self._file), self._generation, str(says)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(says,),
                cwd=self._folder,
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(says)
        self._answers, self._rest = hears, b""
        self._hearing = threading.Thread(
            target=self._hear_prints, args=(self._process,), daemon=True
        )
        self._hearing.start()
        try:
            self._line(LOADING)  # "ready": whatever that took, it is not the submission's time
        except BaseException:
            self.end()
            raise

    def _hear_prints(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with suppress(OSError, ValueError):
            while data := os.read(process.stdout.fileno(), 1 << 16):
                self.much += len(data)
                self.printed += data[: MOST_PRINTED - len(self.printed)]

    def _line(self, seconds: float) -> bytes:
        """The next thing it says."""
        assert self._process is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            ready = select.select([self._answers], [], [], max(0.0, left))[0] if left > 0 else []
            if not ready:
                raise ChildExited(f"does not come to an end within {seconds:g} s")
            data = os.read(self._answers, 1 << 16)
            self._rest += data
            if len(self._rest) > MOST_SAID:
                raise ValueError("too long")
            if not data:
                with suppress(subprocess.TimeoutExpired):
                    raise ChildExited(describe_exit(self._process.wait(max(0.1, left))))
                raise ChildExited(f"does not come to an end within {seconds:g} s")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def end(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if self._hearing is not None:
            self._hearing.join(1.0)  # to the end, unless somebody has got away with the stream
        with suppress(OSError):
            os.close(self._answers)
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()
