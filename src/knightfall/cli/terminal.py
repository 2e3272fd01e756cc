"""Standard output and errors: JSON or reports, and one line on stderr for every failure."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from knightfall.cli.help_format import PlainGroup
from knightfall.display.numbers import count, duration, for_json
from knightfall.display.printable import console as console
from knightfall.display.printable import one_line
from knightfall.display.printable import print_line as print_line
from knightfall.errors import KnightfallError
from knightfall.isolation.sigint import INTERRUPTED as INTERRUPTED
from knightfall.isolation.sigint import exit_on_sigint_again

if TYPE_CHECKING:
    from knightfall.display.report import Displayable
    from knightfall.search.budget import Report


def print_json(thing: Any) -> None:
    """Print a value as one line of JSON and flush it."""
    print(json.dumps(thing, allow_nan=False), flush=True)


def print_report(report: Displayable, *, json: bool) -> None:
    """Print a report as text, or as one line of JSON."""
    from knightfall.display.report import print_parts

    if json:
        print_json(report.to_dict())
    else:
        print_parts(report.parts())


# -- reports of a search ---------------------------------------------------------------------


def report_json(report: Report) -> dict[str, Any]:
    """Return a search report as values for JSON."""
    return {**asdict(report), "score": for_json(report.score)}


def verdict(report: Report) -> str:
    """Return a proven score as "win in 5 plies" or "loss …", any other score as a number."""
    if report.proven:
        end = "win" if report.score > 0 else "loss"
        if report.plies is None:
            return end
        # Beyond the searched depth, a shorter win may exist.
        exact = report.plies <= report.depth
        return f"{end} {'in' if exact else 'within'} {count(report.plies, 'ply', 'plies')}"
    if report.score == 0:
        return "0"
    return f"{report.score:+.4g}".replace("-", "−").replace("inf", "∞")


def effort(report: Report) -> str:
    """Return the depth, nodes and time of a search; an empty string if there was none.

    A time of 0 was not measured, or too short to measure, and is left out.
    """
    if report.depth == 0:
        return ""
    took = f", {duration(report.seconds)}" if report.seconds else ""
    return f"depth {report.depth}, {count(report.nodes, 'node')}{took}"


# -- failures, Ctrl-C and closed pipes ---------------------------------------------------------


BAD_INPUT, INTERNAL = 2, 1

PIPE_CLOSED = 141
"""128 + SIGPIPE: the exit code if the reader of a pipe has closed it, as in `yes | head -1`.

Shells show it only with ``pipefail``; then it tells output that was cut short from complete output.
"""

# Typer exports only this usage error; its base is the class of all usage errors.
_UsageError: Any = typer.BadParameter.__base__

_ROWS = re.compile(r"[0-9*Nn]+(?:/[0-9*Nn]+){2,}(?:\[[Nn]*\])?", re.ASCII)


class GuardedGroup(PlainGroup):
    """A group of commands in which every failure becomes one line and an exit code."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Parse the command line."""
        with guarded():
            _refuse_unquoted(args)
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with guarded():
            return super().invoke(ctx)


@contextmanager
def guarded() -> Iterator[None]:
    """Turn every failure in the block into one line on stderr and an exit code."""
    try:
        with _warnings_as_lines():
            yield
        sys.stdout.flush()
    except typer.Exit:
        raise
    except KnightfallError as error:
        _fail(str(error), BAD_INPUT)
    except _UsageError as error:
        where = error.ctx.command_path if error.ctx else "knightfall"
        # Pydantic, which Typer uses if installed, puts "Value error, " before messages.
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        _fail(f"{message} (see {where} --help)", BAD_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        exit_on_sigint_again()
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _silence(sys.stdout)
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not error.filename:  # as os.getcwd raises it
            _fail("the folder you are in no longer exists: go to another one", BAD_INPUT)
        name = f"{error.filename}: " if error.filename else ""
        _fail(f"{name}{error.strerror or error}", INTERNAL)
    except Exception as error:
        if os.environ.get("KNIGHTFALL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        _fail(
            f"internal error: {type(error).__name__}: {error} "
            "(set KNIGHTFALL_DEBUG=1 to see the traceback)",
            INTERNAL,
        )


def say(text: str) -> None:
    """Print one line on stderr."""
    try:
        print(one_line(text), file=sys.stderr, flush=True)
    except BrokenPipeError:  # the reader has gone; the exit code still shows the failure
        _silence(sys.stderr)


def _fail(message: str, code: int) -> NoReturn:
    say(f"knightfall: {message}")
    raise typer.Exit(code)


def _refuse_unquoted(args: Sequence[str]) -> None:
    """Raise KnightfallError if two arguments are the parts of a FEN without quotes."""
    for rows, side in pairwise(args):
        if side in ("w", "b") and _ROWS.fullmatch(rows):
            raise KnightfallError(f'the FEN must be in quotes, as one argument: "{rows} {side}"')


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each warning once, as one line without its place in the code."""
    told: set[str] = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


# -- the standard streams --------------------------------------------------------------------


def tolerate_any_stream() -> None:
    """Prevent errors from standard streams that are closed or cannot encode a character.

    Bytes and characters that cannot be encoded become question marks, and a closed stream is
    replaced by the null device.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def close_output(exit: SystemExit) -> Any:
    """Flush both output streams and return the exit code to end with.

    Python flushes them at exit, too, but prints an error if the reader of a pipe has gone.
    """
    # Rich and Typer exit with 1 if the reader has gone; the context holds the reason.
    cut = isinstance(exit.__context__, BrokenPipeError)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            cut = cut or (isinstance(error, BrokenPipeError) and not exit.code)
            _silence(stream)
    return PIPE_CLOSED if cut else exit.code


def _silence(stream: Any) -> None:
    """Redirect a stream to the null device, so that Python's last flush does not fail."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except OSError:  # a stream without a file descriptor cannot fail
        pass
