"""Games of a class on 11×9: submissions for the successor course, its players as opponents.

The store does not support boards of 99 cells.  Results are kept as lines of a file in the output
folder instead, each under a key made from everything that decides its game.  A game whose key is in
the file is not played again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from knightfall.arena import engine_version
from knightfall.arena.plan import Entrant, files_of
from knightfall.arena.run_options import Notice
from knightfall.course.classroom.class_games import (
    Conditions,
    circle,
    entrant_of,
    finishes_none,
    load_each,
)
from knightfall.course.classroom.class_table import Met
from knightfall.course.classroom.game_lessons import Lessons
from knightfall.course.classroom.roster import Student, refuse_if_none_plays
from knightfall.course.trial.game_judging import count_loss
from knightfall.course.trial.successor_games import (
    SAMPLES,
    Result,
    SuccessorGame,
    both_seats,
    entered,
    play_all,
)
from knightfall.display.progress import progress
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.kernel.source_hashes import hash_of
from knightfall.untrusted_input import Whole, check, parse_json, read_text

GAMES = "games.jsonl"
"""The file of finished games in a class's output folder."""

_SHAPE = {"key": str, "loser": Whole(0, 1), "reason": str, "detail": str}

KIND = {"forfeit": "illegal answer", "illegal": "illegal answer"}
"""The names in the class's table of reasons for losing, where they differ."""


def play_successor_class(
    students: Sequence[Student],
    conditions: Conditions,
    place: Path,
    options: RunnerOptions,
    notice: Notice,
    show: bool,
) -> tuple[list[Met], list[Student], dict[str, Lessons]]:
    """Play the games that are not in the class's file yet.

    Return the pairs of games, the students with their problems, and the lessons by name.
    """
    agents = {
        student.name: entrant_of(student, conditions).agent
        for student in students
        if not student.problem
    }
    opponents = {name: entered(name) for name in conditions.opponents}
    kept = KeptGames(place / GAMES, [*agents.values(), *opponents.values()])
    students = load_each(
        students, conditions, lambda one: kept.knows(agents[one.name]), notice, show
    )
    playing = [student.name for student in students if not student.problem]
    couples = [(name, other, False) for name in playing for other in opponents]
    for at, others in enumerate(circle(len(playing), conditions.classmates)):
        couples += [(playing[at], playing[other], True) for other in others]
    games = {
        (a, b, classmate): both_seats(
            agents[a], (agents if classmate else opponents)[b], conditions.pairs, conditions.seed
        )
        for a, b, classmate in couples
    }
    _play([game for some in games.values() for game in some], kept, options, show)
    results = {
        couple: [kept.results[kept.key(game)] for game in some] for couple, some in games.items()
    }
    lessons = {
        name: _lessons([results[name, other, False] for other in opponents]) for name in playing
    }
    own_games = 2 * conditions.pairs * len(opponents)
    students = [
        one if one.problem else replace(one, problem=_hopeless(lessons[one.name], own_games))
        for one in students
    ]
    refuse_if_none_plays(students)
    out = {student.name for student in students if student.problem}
    met = [
        Met((a, True), (b, classmate), _outcome(pair), str(number))
        for (a, b, classmate), some in results.items()
        if a not in out and not (classmate and b in out)
        for number, pair in enumerate(zip(some[::2], some[1::2], strict=True))
    ]
    return met, students, lessons


def _play(
    games: Sequence[SuccessorGame], kept: KeptGames, options: RunnerOptions, show: bool
) -> None:
    """Play the games that have no result in the file yet; write each result at once."""
    left = [game for game in games if kept.key(game) not in kept.results]
    done = len(games) - len(left)
    with progress("games", len(games), done=done, after=0.0 if show and left else 1e9) as tell:
        for number, result in play_all(left, options):
            kept.add(left[number], result)
            tell(tell.done + 1)


class KeptGames:
    """The file of finished games; a line that cannot be read counts as not played."""

    def __init__(self, file: Path, agents: Sequence[str]) -> None:
        self._file = file
        games = hash_of("knightfall.course.trial.successor_games", within="knightfall.course")
        engine = f"{engine_version.engine()}/{games}"
        self._editions = {
            agent: f"{engine}/{agent}/{'' if agent in SAMPLES else _contents(agent)}"
            for agent in agents
        }
        self.results: dict[str, Result] = {}
        written = _written(file)
        self._gap = "\n" if written and not written.endswith("\n") else ""  # a line cut short
        for line in written.splitlines():
            try:
                found = parse_json(line)
                check(_SHAPE, found)
            except KnightfallError:
                continue
            key = found.pop("key")
            self.results[key] = Result(**found)

    def key(self, game: SuccessorGame) -> str:
        """Return the key of a game, made from its players' files, the opening and the seed."""
        first, second = self._editions[game.first], self._editions[game.second]
        text = json.dumps([first, second, game.opening, game.seed])
        return f"{_short(first)}-{_short(second)}-{_short(text)}"

    def knows(self, agent: str) -> bool:
        """Return whether a stored game was played by this agent with its present files."""
        edition = _short(self._editions[agent])
        return any(edition in key.split("-")[:2] for key in self.results)

    def add(self, game: SuccessorGame, result: Result) -> None:
        """Append a result to the file; raise `KnightfallError` if it cannot be written."""
        self.results[self.key(game)] = result
        kept: dict[str, Any] = {"key": self.key(game), **asdict(result)}
        try:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"{self._gap}{json.dumps(kept)}\n")
        except OSError as error:
            raise KnightfallError(f"{self._file}: {error.strerror or error}") from None
        self._gap = ""


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _contents(agent: str) -> str:
    """Return the hashes of an agent's files."""
    return json.dumps(files_of([Entrant(agent, agent)]), sort_keys=True)


def _written(file: Path) -> str:
    try:
        return read_text(file)
    except KnightfallError:
        return ""


def _outcome(pair: tuple[Result, Result]) -> int:
    """Return `Met.outcome`: 2 for a win of `a` as first player plus 1 for one as second."""
    return 2 * (pair[0].loser == 1) + (pair[1].loser == 0)


def _lessons(matches: Sequence[Sequence[Result]]) -> Lessons:
    """Count losses by timeout, illegal answer and crash; other lessons would need a solver."""
    unusual: dict[str, tuple[int, str]] = {}
    for results in matches:
        for number, result in enumerate(results):
            if result.reason and result.loser == number % 2:
                count_loss(unusual, KIND.get(result.reason, result.reason), result.detail)
    return Lessons(0, 0, None, None, unusual)


def _hopeless(lessons: Lessons, games: int) -> str:
    """Return why a submission that finished no game is not rated; "" if it finished one."""
    if sum(times for times, _ in lessons.unusual.values()) < games:
        return ""
    kind, (_, first) = next(iter(lessons.unusual.items()))
    return finishes_none(games, kind, first)
