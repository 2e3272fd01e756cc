"""A submission found by its path, and examined check by check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from knightfall.course.checker.examination import (
    BY_ID,
    KINDS,
    Check,
    Examination,
    Kind,
    Outcome,
    checks_of,
)
from knightfall.course.checker.process import Examinee
from knightfall.course.generations import (
    Generation,
    all_generations,
    default_generation,
    generation_named,
)
from knightfall.course.submission import read_submission
from knightfall.course.submission_files import find_file
from knightfall.errors import KnightfallError
from knightfall.isolation.run_isolated import ChildExited
from knightfall.reading import read_bytes

SECONDS = 10.0
"""What one check may take.  Most take some milliseconds."""


def examine(
    path: str | Path, *, generation: str | None = None, seconds: float = SECONDS
) -> Examination:
    """Examine a submission: a `game_agent.py` or `my_custom_player.py`, or its folder.

    Its generation is found out by looking, unless it is given.  `seconds` bounds each check.
    """
    file = find_file(str(path))
    of, why = (generation_named(generation), "as you say") if generation else generation_of(file)
    outcomes: dict[str, Outcome] = {}
    with Examinee(file, of.name, seconds) as examinee:
        for check in checks_of(of):
            outcomes[check.id] = _skipped(check, outcomes) or _asked(examinee, check, outcomes)
    printed = bytes(examinee.printed).decode("utf-8", "replace")
    told = tuple(outcomes.values())
    return Examination(str(path), of.name, why, told, printed, examinee.much)


def generation_of(file: Path) -> tuple[Generation, str]:
    """Return the generation of a file and what tells it; also of one that is not valid Python."""
    try:
        submission = read_submission(str(file))
    except KnightfallError:  # which is for the examination to tell
        text = read_bytes(file).decode("utf-8", "replace")
        for generation in reversed(all_generations()):
            if why := generation.guess(file, text):
                return generation, why
        return default_generation(), "nothing in it tells of another"
    return submission.generation, submission.why


def _skipped(check: Check, outcomes: Mapping[str, Outcome]) -> Outcome | None:
    """Why a check is not made, if it is not."""
    for id in check.needs:
        if outcomes[id].mark == "wrong":
            return Outcome(check.id, "skipped", f"not tried before {_name(id)!r} is right")
    for other in BY_ID.values():
        done = outcomes.get(other.id)
        if done and done.fatal and (other.about == check.about and check.about):
            return Outcome(check.id, "skipped", f"not tried before {other.name!r} is right")
    if check.id == "resigning" and not _sound(outcomes):
        return Outcome(check.id, "skipped", "not tried before 'get_move' is right")
    return None


def _name(id: str) -> str:
    return BY_ID[id].name


def _sound(outcomes: Mapping[str, Outcome]) -> list[Kind]:
    """The searches whose get_move works."""
    return [kind for kind in KINDS if outcomes[f"{kind}-get-move"].mark == "ok"]


def _asked(examinee: Examinee, check: Check, outcomes: Mapping[str, Outcome]) -> Outcome:
    kinds = _sound(outcomes) if check.id == "resigning" else KINDS
    try:
        return examinee.ask(check.id, kinds)
    except ChildExited as ended:
        return Outcome(
            check.id,
            "wrong",
            str(ended).partition(":")[0],
            (
                f"The submission {ended}. Everything that it does runs in a process of its own, "
                "so nothing else came to harm.",
            ),
            fatal=True,
        )
