"""A class of the successor: submissions for 11×9 against that course's players and one another.

The store holds no board of 99 cells.  So the results of games are kept in a file of lines in the
output folder, each under a key of all that decides its game; those that are there are not played
again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from knightfall.agents import cached_agent
from knightfall.arena import version
from knightfall.arena.plan import Entrant, files_of
from knightfall.course.agent import RemoteSubmission
from knightfall.course.classroom.class_table import ClassTable, Met, table_of
from knightfall.course.classroom.lessons import Lessons
from knightfall.course.classroom.roster import Student
from knightfall.course.classroom.season import Conditions, circle, entrant_of
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
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.kernel.sources import hash_of
from knightfall.machine import cores
from knightfall.reading import Whole, check, parse_json, read_text

GAMES = "games.jsonl"
"""The file of finished games in a class's output folder."""

_SHAPE = {"key": str, "loser": Whole(0, 1), "reason": str, "detail": str}

KIND = {"forfeit": "illegal answer", "illegal": "illegal answer"}
"""What the class's table calls a reason to lose, where it is not called the same."""


class SuccessorSeason:
    """The games of a class on 11×9."""

    def __init__(self, students: Sequence[Student], conditions: Conditions, place: Path) -> None:
        self.conditions = conditions
        self.agents = {
            student.name: entrant_of(student, conditions).agent
            for student in students
            if not student.problem
        }
        self.opponents = {name: entered(name) for name in conditions.opponents}
        self._kept = KeptGames(place / GAMES, [*self.agents.values(), *self.opponents.values()])
        self.students = list(students)

    def play(self, options: RunnerOptions, show: bool) -> ClassTable:
        """Play what was not played before, and return the table of all."""
        self.students = self._loaded()
        playing = [student.name for student in self.students if not student.problem]
        couples = [(name, other, False) for name in playing for other in self.opponents]
        for place, others in enumerate(circle(len(playing), self.conditions.classmates)):
            couples += [(playing[place], playing[other], True) for other in others]
        games = {couple: self._games(*couple) for couple in couples}
        self._play([game for some in games.values() for game in some], options, show)
        results = {
            couple: [self._kept.results[self._kept.key(game)] for game in some]
            for couple, some in games.items()
        }
        lessons = {
            name: _lessons([results[name, other, False] for other in self.opponents])
            for name in playing
        }
        own_games = 2 * self.conditions.pairs * len(self.opponents)
        self.students = [
            one if one.problem else replace(one, problem=_hopeless(lessons[one.name], own_games))
            for one in self.students
        ]
        out = {student.name for student in self.students if student.problem}
        met = [
            Met((a, True), (b, classmate), _outcome(pair), str(number))
            for (a, b, classmate), some in results.items()
            if a not in out and not (classmate and b in out)
            for number, pair in enumerate(zip(some[::2], some[1::2], strict=True))
        ]
        return table_of(met, self.students, lessons)

    def _games(self, a: str, b: str, classmate: bool) -> list[SuccessorGame]:
        them = (self.agents if classmate else self.opponents)[b]
        return both_seats(self.agents[a], them, self.conditions.pairs, self.conditions.seed)

    def _loaded(self) -> list[Student]:
        """Return everybody, with a problem those that cannot be loaded."""

        def tried(student: Student) -> Student:
            if student.problem or self._kept.knows(self.agents[student.name]):
                return student
            player = RemoteSubmission(cached_agent(self.agents[student.name]))
            try:
                player.prepare()
            except AgentFailure as failure:
                return replace(student, problem=f"cannot be loaded: {failure}")
            finally:
                player.close()
            return student

        with ThreadPoolExecutor(cores()) as threads:
            return list(threads.map(tried, self.students))

    def _play(self, games: Sequence[SuccessorGame], options: RunnerOptions, show: bool) -> None:
        left = [game for game in games if self._kept.key(game) not in self._kept.results]
        done = len(games) - len(left)
        with progress("games", len(games), done=done, after=0.0 if show and left else 1e9) as tell:
            for number, result in play_all(left, options):
                self._kept.add(left[number], result)
                tell(tell.done + 1)


class KeptGames:
    """The file of finished games; a line that cannot be read is a game that was not played."""

    def __init__(self, file: Path, agents: Sequence[str]) -> None:
        self._file = file
        games = hash_of("knightfall.course.trial.successor_games", within="knightfall.course")
        engine = f"{version.engine()}/{games}"
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
        """Return what tells a game from all others."""
        first, second = self._editions[game.first], self._editions[game.second]
        text = json.dumps([first, second, game.opening, game.seed])
        return f"{_short(first)}-{_short(second)}-{_short(text)}"

    def knows(self, agent: str) -> bool:
        """Return whether an agent, as it is now, has played a game before."""
        edition = _short(self._editions[agent])
        return any(edition in key.split("-")[:2] for key in self.results)

    def add(self, game: SuccessorGame, result: Result) -> None:
        """Keep a result, at once."""
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
    return json.dumps(files_of([Entrant(agent, agent)]), sort_keys=True)


def _written(file: Path) -> str:
    try:
        return read_text(file)
    except KnightfallError:
        return ""


def _outcome(pair: tuple[Result, Result]) -> int:
    """Return 2 if `a` won the game that it began, plus 1 if it won the other one."""
    return 2 * (pair[0].loser == 1) + (pair[1].loser == 0)


def _lessons(matches: Sequence[Sequence[Result]]) -> Lessons:
    """Return what games were lost by otherwise than on the board; no solver judges them."""
    unusual: dict[str, tuple[int, str]] = {}
    for results in matches:
        for number, result in enumerate(results):
            if result.reason and result.loser == number % 2:
                count_loss(unusual, KIND.get(result.reason, result.reason), result.detail)
    return Lessons(0, 0, None, None, unusual)


def _hopeless(lessons: Lessons, games: int) -> str:
    """Return why a submission is not rated: it came to the end of no game; "" if it did."""
    if sum(times for times, _ in lessons.unusual.values()) < games:
        return ""
    kind, (_, first) = next(iter(lessons.unusual.items()))
    return f"comes to the end of none of {games} games: {kind}: {first}"
