"""Progress of long computations: a bar on a terminal, a line in a notebook, a line every 30
seconds in a pipe.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from knightfall.display.numbers import clock
from knightfall.display.printable import console as visible_console
from knightfall.display.printable import print_line, printable
from knightfall.isolation.sigint import enable_keyboard_interrupt

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.progress import Progress as RichProgress

AFTER = 2.0
"""Seconds before progress is first shown."""

REFRESH = 0.25
"""Seconds between two updates of the display."""

LINE_EVERY = 30.0
"""Seconds between two lines in a pipe."""

OnProgress = Callable[[int], None]
"""A function that is called with the amount done so far; the total is known beforehand."""


def ignore_progress(done: int) -> None:
    """Do nothing: the progress callback of callers that want none."""


class Progress:
    """The state of a computation, for its display.

    Call it with the amount done so far, or set a text with `say` if there is no total.  Set
    `ahead` to a function that returns the remaining seconds if the rate so far is a poor estimate.
    """

    def __init__(self, what: str, total: int | None, done: int = 0) -> None:
        self.what, self.total, self.done, self.before = what, total, done, done
        self.note = ""
        self.view: Callable[[], RenderableType] | None = None
        self.ahead: Callable[[], float | None] | None = None
        self.start = time.monotonic()

    def __call__(self, done: int) -> None:
        self.done = done

    def say(self, text: str) -> None:
        """Set the text that is shown if there is no total."""
        self.note = printable(text)

    def line(self) -> str:
        """Return the state as one line of text."""
        seconds = time.monotonic() - self.start
        if self.total is None:
            return self.note
        parts = [f"{self.done:,} of {self.total:,} {self.what}"]
        rate = (self.done - self.before) / seconds if seconds > 0 else 0.0
        parts += [f"{rate:,.0f} a second"] if rate >= 10 else []
        left = self.left()
        parts.append(clock(seconds) if left is None else f"about {clock(left)} to go")
        return " · ".join(parts)

    def left(self) -> float | None:
        """Return an estimate of the remaining seconds; None while they cannot be estimated."""
        if self.ahead is not None:
            return self.ahead()
        seconds, fresh = time.monotonic() - self.start, self.done - self.before
        if self.total is None or fresh <= 0 or seconds <= 0:
            return None
        return (self.total - self.done) * seconds / fresh


@contextmanager
def progress(
    what: str = "", total: int | None = None, *, done: int = 0, after: float = AFTER
) -> Iterator[Progress]:
    """Show the progress of the block while it runs, from `after` seconds on.

    Set `view` on the yielded object to draw something above the bar on a terminal.
    """
    state = Progress(what, total, done)
    terminal = sys.stderr is not None and sys.stderr.isatty()
    outlet = (_Notebook if in_notebook() else _Terminal if terminal else _Pipe)(state)
    over = threading.Event()

    def watch() -> None:
        if not over.wait(max(outlet.after, after)):
            outlet.begin()
            while not over.wait(outlet.every):
                outlet.update()

    watcher = threading.Thread(target=watch, name="knightfall-progress", daemon=True)
    watcher.start()
    try:
        yield state
    finally:
        over.set()
        watcher.join()
        outlet.end()


def progress_or_callback(
    wanted: bool | OnProgress, what: str, total: int, *, done: int = 0
) -> AbstractContextManager[OnProgress]:
    """Return a context that yields the function to call with the progress.

    If `wanted` is True, the function updates a progress bar; if it is False, the function does
    nothing; otherwise `wanted` is the function.
    """
    if wanted is True:
        return progress(what, total, done=done)
    return nullcontext(wanted or ignore_progress)


def in_notebook() -> bool:
    """Return whether this runs in a notebook, whose cells have no cursor to move."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class _Outlet:
    """A display of progress."""

    every, after = REFRESH, 0.0

    def __init__(self, state: Progress) -> None:
        self.state = state

    def begin(self) -> None:
        """Show progress for the first time."""

    def update(self) -> None:
        """Show progress again."""

    def end(self) -> None:
        """Remove the display, if there is one."""


class _Terminal(_Outlet):
    """A progress bar on standard error."""

    _live: Live | None = None

    def begin(self) -> None:
        from rich.live import Live

        enable_keyboard_interrupt()  # otherwise Ctrl-C leaves the terminal without a cursor
        console = visible_console(stderr=True)
        bar = None if self.state.total is None else self._bar(console, self.state.total)

        def picture() -> RenderableType:
            from rich.console import Group
            from rich.text import Text

            below: RenderableType = Text(self.state.note, no_wrap=True, overflow="ellipsis")
            if bar is not None:
                left = self.state.left()
                about = "–:––" if left is None else clock(left)
                task, total = bar.task_ids[0], self.state.total
                bar.update(task, completed=self.state.done, total=total, left=about)
                below = bar.get_renderable()
            view = self.state.view
            return below if view is None else Group(view(), below)

        self._live = Live(
            get_renderable=picture, console=console, auto_refresh=False, transient=True
        )
        self._live.start(refresh=True)

    def _bar(self, console: Any, total: int) -> RichProgress:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        bar = RichProgress(
            BarColumn(30),
            TextColumn("{task.completed:,} of {task.total:,} {task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("to go: {task.fields[left]}", markup=False),
            console=console,
        )
        bar.add_task(self.state.what, total=total, completed=self.state.done, left="")
        return bar

    def update(self) -> None:
        assert self._live is not None
        self._live.refresh()

    def end(self) -> None:
        if self._live is not None:
            self._live.stop()


class _Notebook(_Outlet):
    """A line of text in the output of a notebook's cell; at the end it says how long it took.

    A cell's output cannot be removed, so there is none for a computation of a few seconds.
    """

    after = AFTER
    _handle: Any = None

    def begin(self) -> None:
        from importlib import import_module

        display: Any = import_module("IPython.display").display
        self._handle = display({"text/plain": self.state.line()}, raw=True, display_id=True)

    def update(self) -> None:
        self._handle.update({"text/plain": self.state.line()}, raw=True)

    def end(self) -> None:
        if self._handle is not None:
            state, seconds = self.state, time.monotonic() - self.state.start
            done = state.note if state.total is None else f"{state.done:,} {state.what}"
            self._handle.update({"text/plain": f"{done} · {clock(seconds)}"}, raw=True)


class _Pipe(_Outlet):
    """A line on standard error every `LINE_EVERY` seconds."""

    every = LINE_EVERY

    def update(self) -> None:
        print_line(f"knightfall: {self.state.line()}", file=sys.stderr)
