"""Run the checks of one submission inside its own process."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from knightfall.course.checker import successor_checks
from knightfall.course.checker.check_report import KINDS, Finding, Outcome
from knightfall.course.checker.get_move_checks import (
    answers_in_time,
    deepens,
    plays_on,
    stops_in_time,
)
from knightfall.course.checker.interface_checks import is_complete, scores_are_floats
from knightfall.course.checker.search_checks import finds_best_moves, prunes, says_so_without_moves
from knightfall.course.checker.submission_api import Subject, error_text
from knightfall.course.clocks import count_all_clocks
from knightfall.isolation.limits import SUBMISSION_MEMORY, limit_memory

SEED = 1

MADE_BY: dict[str, Callable[[Subject], str]] = {
    "interface": is_complete,
    "scores": scores_are_floats,
    **{f"{kind}-values": partial(finds_best_moves, kind=kind) for kind in KINDS},
    **{f"{kind}-timeout": partial(stops_in_time, kind=kind) for kind in KINDS},
    **{f"{kind}-get-move": partial(answers_in_time, kind=kind) for kind in KINDS},
    **{f"{kind}-no-moves": partial(says_so_without_moves, kind=kind) for kind in KINDS},
    "alphabeta-pruning": prunes,
    "alphabeta-deepening": deepens,
    "player": successor_checks.has_player,
    "actions": successor_checks.puts_legal_actions,
    "ends": successor_checks.sees_the_end,
    "games": successor_checks.plays_games,
    "further": successor_checks.looks_further,
}
"""The functions that make the checks, by id.  Each returns a note or raises a `Finding`."""


def make_check(subject: Subject, id: str, kinds: list[Any]) -> Outcome:
    """Make one check and return its outcome."""
    random.seed(SEED)
    try:
        if id == "resigning":
            # Use the constants of KINDS: some players compare `method` by identity.
            note = plays_on(subject, [kind for kind in KINDS if kind in kinds])
        else:
            note = MADE_BY[id](subject)
    except Finding as found:
        return found.outcome(id)
    except BaseException as error:  # raised by an object that the submission returned
        return Finding(
            f"raises {type(error).__name__}",
            (f"Using the object that it returned raises {error_text(error)}.",),
            trace=subject.trace(error),
        ).outcome(id)
    return Outcome(id, "ok", note)


def load(file: Path, generation: str) -> Subject | Outcome:
    """Load the submission; return it, or the outcome of a failed load."""
    subject = Subject(file, generation)
    try:
        subject.load()
    except SyntaxError as error:
        where = f"{Path(error.filename or file).name}, line {error.lineno}"
        text = (error.text or "").rstrip()
        return Finding(
            f"syntax error in {where}",
            (f"Python cannot read {where}: {error.msg}.", *([f"    {text}"] if text else [])),
        ).outcome("load")
    except BaseException as error:
        short = f"raises {type(error).__name__}"
        why = [f"Importing the file raises {error_text(error)}."]
        if isinstance(error, ModuleNotFoundError):
            short = f"imports {error.name}, which is not installed"
            why.append(
                "Your own modules must be in the same folder as the file. The modules isolation "
                "and sample_players are provided."
            )
        return Finding(short, tuple(why), trace=subject.trace(error)).outcome("load")
    return subject


class HostedChecks:
    """The host-process side of the checker: loads a submission and makes checks on request.

    `text` is the generation and the name of the submission's file in the working folder.
    """

    needs_own_process = True

    def __init__(self, text: str) -> None:
        self._generation, _, self._name = text.partition(" ")
        self._loaded: Subject | Outcome | None = None

    def load(self) -> dict[str, Any]:
        """Limit this process's memory.  The submission is loaded during the first check."""
        limit_memory(SUBMISSION_MEMORY)
        warnings.simplefilter("ignore")
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
        count_all_clocks()
        return {}

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Make a check and return its outcome."""
        if self._loaded is None:
            self._loaded = load(Path.cwd() / self._name, self._generation)
        id = question["check"]
        if isinstance(self._loaded, Outcome):
            outcome = self._loaded
        elif id == "load":
            outcome = Outcome(id, "ok", "as a submission of " + self._generation)
        else:
            outcome = make_check(self._loaded, id, question["kinds"])
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the submission may have replaced it
                stream.flush()
        return outcome.to_dict()
