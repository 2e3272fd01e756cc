"""Run the checks on a submission in a separate process.

`examine` starts that process, which runs `HostedChecks`, and asks it for one check after the other.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from knightfall.course.checker import successor_checks
from knightfall.course.checker.check_report import (
    BY_ID,
    KINDS,
    Check,
    Examination,
    Finding,
    Kind,
    Outcome,
    checks_of,
    read_outcome,
)
from knightfall.course.checker.get_move_checks import (
    answers_in_time,
    deepens,
    plays_on,
    stops_in_time,
)
from knightfall.course.checker.search_checks import finds_best_moves, prunes, says_so_without_moves
from knightfall.course.checker.submission_api import (
    Subject,
    error_text,
    is_complete,
    scores_are_floats,
)
from knightfall.course.generations import (
    Generation,
    all_generations,
    default_generation,
    generation_named,
)
from knightfall.course.import_context import count_all_clocks
from knightfall.course.submission import find_file, read_submission
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.host_process import HostProcess
from knightfall.isolation.limits import SUBMISSION_MEMORY, limit_memory
from knightfall.processor_cores import core_share
from knightfall.untrusted_input import read_bytes

SECONDS = 10.0
"""Default time limit of one check in seconds.  Most take some milliseconds."""

HOSTED = "knightfall.course.checker.check_runner:HostedChecks"
"""The import path of the class that runs in the separate process."""

MOST_PRINTED = 20_000
"""Maximum bytes of a submission's output that are kept."""


def examine(
    path: str | Path, *, generation: str | None = None, seconds: float = SECONDS
) -> Examination:
    """Check a submission: a `game_agent.py` or `my_custom_player.py`, or its folder.

    The generation is inferred unless it is given.  `seconds` is the time limit of each check.
    """
    file = find_file(str(path))
    of, why = (generation_named(generation), "as you say") if generation else generation_of(file)
    outcomes: dict[str, Outcome] = {}
    start = time.monotonic()
    with closing(_CheckedProcess(file, of.name, seconds)) as process:
        for check in checks_of(of):
            kinds = _sound(outcomes) if check.id == "resigning" else KINDS
            outcomes[check.id] = _skipped(check, outcomes) or process.check(check.id, kinds)
    printed = bytes(process.printed).decode("utf-8", "replace")
    found = tuple(outcomes.values())
    took = time.monotonic() - start
    return Examination(str(path), of.name, why, found, printed, process.printed_bytes, took)


def generation_of(file: Path) -> tuple[Generation, str]:
    """Return a file's generation and the evidence for it, even if it is not valid Python."""
    try:
        submission = read_submission(str(file))
    except KnightfallError:  # the check "file loads" reports the error
        text = read_bytes(file).decode("utf-8", "replace")
        for generation in reversed(all_generations()):
            if why := generation.guess(file, text):
                return generation, why
        return default_generation(), "the most common one; nothing in the file shows another"
    return submission.generation, submission.why


def _skipped(check: Check, outcomes: Mapping[str, Outcome]) -> Outcome | None:
    """Return the outcome "skipped" if an earlier failure rules out a check, else None."""
    for id in ("load", *check.needs):
        if id in outcomes and outcomes[id].mark == "wrong":
            return Outcome(check.id, "skipped", f"not tried: first fix {BY_ID[id].name!r}")
    for other in BY_ID.values():
        done = outcomes.get(other.id)
        if done and done.fatal and (other.about == check.about and check.about):
            return Outcome(check.id, "skipped", f"not tried: first fix {other.name!r}")
    if check.id == "resigning" and not _sound(outcomes):
        return Outcome(check.id, "skipped", "not tried: first fix 'get_move'")
    return None


def _sound(outcomes: Mapping[str, Outcome]) -> list[Kind]:
    """Return the searches whose get_move passed its check."""
    return [kind for kind in KINDS if outcomes[f"{kind}-get-move"].mark == "ok"]


class _CheckedProcess:
    """The process in which a submission is checked, restarted after a check that ended it.

    `printed` is the beginning of the submission's output, `printed_bytes` its total length.
    """

    def __init__(self, file: Path, generation: str, seconds: float) -> None:
        self._file, self._text, self._seconds = file, f"{generation} {file.name}", seconds
        self._patience = seconds / core_share()  # other programs must not make a check fail
        self._host: HostProcess | None = None
        self.printed, self.printed_bytes = bytearray(), 0

    def check(self, id: str, kinds: Sequence[Kind]) -> Outcome:
        """Make a check; it fails if the process exits or exceeds the time limit."""
        if self._host is None:
            self._host = HostProcess(HOSTED, self._text, self._file, self._keep_output)
        try:
            self._host.begin()
            question = {"check": id, "kinds": list(kinds)}
            return self._host.ask(question, self._patience, partial(read_outcome, id=id))
        except AgentFailure as failure:
            self.close()
            how = str(failure).removeprefix(f"{self._text} ")
            if failure.reason == "timeout":
                how = f"does not come to an end within {self._seconds:g} s"
        return Outcome(
            id,
            "wrong",
            how.partition(":")[0],
            (
                f"The submission {how}. It runs in a separate process, so the other checks are "
                "not affected.",
            ),
            fatal=True,
        )

    def _keep_output(self, piece: bytes) -> None:
        self.printed_bytes += len(piece)
        self.printed += piece[: MOST_PRINTED - len(self.printed)]

    def close(self) -> None:
        """End the process and all its child processes."""
        if self._host is not None:
            self._host.end()
            self._host = None


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
        return asdict(outcome)
