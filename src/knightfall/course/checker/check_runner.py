"""Run all checks on a submission in a separate process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from knightfall.course.checker.check_report import (
    BY_ID,
    KINDS,
    Check,
    Examination,
    Kind,
    Outcome,
    checks_of,
    read_outcome,
)
from knightfall.course.generations import (
    Generation,
    all_generations,
    default_generation,
    generation_named,
)
from knightfall.course.submission import read_submission
from knightfall.course.submission_files import find_file
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.host_process import HostProcess
from knightfall.processor_cores import core_share
from knightfall.untrusted_input import read_bytes

SECONDS = 10.0
"""Default time limit of one check in seconds.  Most take some milliseconds."""

HOSTED = "knightfall.course.checker.checks_in_process:HostedChecks"
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
    with closing(_CheckedProcess(file, of.name, seconds)) as process:
        for check in checks_of(of):
            kinds = _sound(outcomes) if check.id == "resigning" else KINDS
            outcomes[check.id] = _skipped(check, outcomes) or process.check(check.id, kinds)
    printed = bytes(process.printed).decode("utf-8", "replace")
    found = tuple(outcomes.values())
    return Examination(str(path), of.name, why, found, printed, process.printed_bytes)


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
    for id in check.needs:
        if outcomes[id].mark == "wrong":
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
