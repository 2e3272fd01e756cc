"""The process in which a submission is examined: `python -m knightfall.course.checker.child`.

It reads the name of a check, a line of JSON, and answers with a line, until nobody asks any more.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from knightfall.course.checker import successor_checks
from knightfall.course.checker.examination import BY_ID, KINDS, Finding, Outcome
from knightfall.course.checker.get_move_checks import (
    answers_in_time,
    deepens,
    plays_on,
    stops_in_time,
)
from knightfall.course.checker.interface_checks import is_complete, scores_are_floats
from knightfall.course.checker.search_checks import finds_best_moves, prunes, says_so_without_moves
from knightfall.course.checker.submission_api import Subject, told
from knightfall.course.clocks import count_all_clocks
from knightfall.isolation.limits import contain_submission

SEED = 1

DOES: dict[str, Callable[[Subject, Any], str]] = {
    "values": finds_best_moves,
    "timeout": stops_in_time,
    "get-move": answers_in_time,
    "no-moves": says_so_without_moves,
    "pruning": lambda subject, kind: prunes(subject),
    "deepening": lambda subject, kind: deepens(subject),
}

ON_11X9: dict[str, Callable[[Subject], str]] = {
    "player": successor_checks.has_player,
    "actions": successor_checks.puts_legal_actions,
    "ends": successor_checks.sees_the_end,
    "games": successor_checks.plays_games,
    "further": successor_checks.looks_further,
}


def examine(subject: Subject, id: str, kinds: list[Any]) -> Outcome:
    """Make one check."""
    check = BY_ID[id]
    random.seed(SEED)
    try:
        if id == "interface":
            note = is_complete(subject)
        elif id in ON_11X9:
            note = ON_11X9[id](subject)
        elif id == "scores":
            note = scores_are_floats(subject)
        elif id == "resigning":
            # Our own words: some players compare `method` by identity.
            note = plays_on(subject, [kind for kind in KINDS if kind in kinds])
        else:
            note = DOES[id.partition("-")[2]](subject, check.about)
    except Finding as found:
        return found.outcome(id)
    except BaseException as error:  # of ours, or of an object that the submission gave us
        return Finding(
            f"raises {type(error).__name__}",
            (f"What it gave back raises {told(error)}.",),
            trace=subject.trace(error),
        ).outcome(id)
    return Outcome(id, "ok", note)


def load(file: Path, generation: str) -> Subject | Outcome:
    """Return the submission; an outcome if it cannot be loaded."""
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
        why = [f"Importing the file raises {told(error)}."]
        if isinstance(error, ModuleNotFoundError):
            short = f"imports {error.name}, which is not there"
            why.append(
                "Modules of its own must lie beside it; isolation and sample_players are ours."
            )
        return Finding(short, tuple(why), trace=subject.trace(error)).outcome("load")
    return subject


def serve(file: Path, generation: str, requests: int, answers: int) -> NoReturn:
    """Say that this process is ready; load the submission; answer until nobody asks any more."""
    with os.fdopen(requests, encoding="utf-8") as asked, os.fdopen(answers, "w") as out:
        out.write("ready\n")
        out.flush()
        count_all_clocks()
        found = load(file, generation)
        for line in asked:
            request = json.loads(line)
            id = request["check"]
            if isinstance(found, Outcome):
                outcome = found
            elif id == "load":
                outcome = Outcome(id, "ok", "as a submission of " + generation)
            else:
                outcome = examine(found, id, request["kinds"])
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):  # somebody may have put anything in their place
                    stream.flush()
            out.write(json.dumps(outcome.to_dict()) + "\n")
            out.flush()
    os._exit(0)


def main() -> None:
    """Keep the ways to the examiner apart from the standard streams, and serve."""
    requests, answers = os.dup(0), int(sys.argv[3])
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    contain_submission()
    serve(Path(sys.argv[1]), sys.argv[2], requests, answers)


if __name__ == "__main__":
    main()
