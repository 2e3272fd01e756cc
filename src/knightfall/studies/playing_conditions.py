"""The conditions of a study: how its authors' agents searched, and how well that explains it.

The same classes played the test agents and the course's opponents, so a condition applies to a
whole tournament. How a heuristic's own code treated the end of a game, and where the code differed
from the text, is recorded by heuristic.

A trial is a few pairs of every heuristic of a study against every opponent under a condition. It
shows how likely the condition makes the published numbers. The counts are stored in a file, so that
an interrupted fit continues.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import log, pi, sqrt

import numpy as np
import numpy.typing as npt

from knightfall.agents import parse_agent
from knightfall.agents.kinds import DeepeningAgent, MinimaxAgent
from knightfall.arena.engine_version import engine
from knightfall.arena.plan import Entrant, Plan, tournament_matches
from knightfall.arena.play import play_pair
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, parallel_map
from knightfall.search.budget import Budget
from knightfall.studies.published import Coded, Study, studies
from knightfall.studies.student_options import CHOICES, StudentAgent, StudentOptions
from knightfall.untrusted_input import Whole, check, parse_json, read_text
from knightfall.user_folders import atomic_write, data_folder


def as_coded(study: Study, heuristic: str) -> Coded:
    """Return a heuristic as the study's author coded it.

    A sum that is not in the table is composed of the terms that are.
    """
    table = study.as_coded
    if heuristic in table:
        return table[heuristic]
    words = re.findall(r"[a-z_]+", heuristic)
    ends = {table[word].ends for word in words if word in table}
    id = re.sub(r"[a-z_]+", lambda at: table[at[0]].id if at[0] in table else at[0], heuristic)
    return Coded(id, ends.pop() if len(ends) == 1 else "board")


@dataclass(frozen=True, slots=True)
class Condition:
    """How a study's agents searched: mistakes, board, and time per move."""

    lost: str = "forfeits"
    ties: str = "first"
    leaves: str = "call"
    board: str = "later"
    time: int = 25_000

    def student_options(self, *, ends: str = "board", minimax: bool = False) -> StudentOptions:
        """Return the options of one agent under this condition."""
        search = "minimax" if minimax else "alphabeta"
        return StudentOptions(search=search, ends=ends, **asdict(self))

    def test_agent(self, study: Study, heuristic: str) -> str:
        """Return the study's own agent with a heuristic, as its author coded it."""
        coded = as_coded(study, heuristic)
        return self.agent(coded.id, coded.ends)

    def agent(self, heuristic: str, ends: str = "board") -> str:
        """Return the student agent with a heuristic and iterative deepening, as a string."""
        return str(StudentAgent(heuristic, student_options=self.student_options(ends=ends)))

    def opponent(self, name: str) -> str:
        """Return an opponent of the course; as in the course, it uses the student's search."""
        ideal = parse_agent(name)
        if not ideal.heuristic:
            return str(ideal)
        depth = None if isinstance(ideal, DeepeningAgent) else ideal.budget.depth
        options = self.student_options(minimax=isinstance(ideal, MinimaxAgent))
        return str(StudentAgent(ideal.heuristic, Budget(depth=depth), student_options=options))

    def never_resigning(self) -> Condition:
        """Return this condition without the agents' mistakes.

        The agents never resign but play the last best move, and take the first of equal moves.
        """
        return replace(self, lost="keeps", ties="first")

    def words(self) -> str:
        """Return the condition without its time, as options in an agent string."""
        others = replace(self.student_options(), time=None, lost=CHOICES["lost"][0])
        return ", ".join([self.lost, *others.words()])


# -- variants ------------------------------------------------------------------------------
#
# Three authors' programs are public and show their condition; for the other two it can only be
# inferred from the numbers.  The report lists all variants, not only the chosen ones.


TIMES = (8_000, 10_000, 12_500, 16_000, 20_000, 25_000, 32_000, 40_000)
"""Times per move to try, in microseconds at the recorded costs; each is about 25 % longer."""

_BEHAVIOURS = (
    Condition(lost="forfeits"),
    Condition(lost="legal"),
    Condition(lost="keeps"),
    Condition(ties="last"),
)

UNKNOWN_TEXT = "its text does not tell: chosen by the numbers alone"


def variants(study: Study) -> tuple[Condition, ...]:
    """Return every condition to try for a study, with the default time.

    The earlier course had two boards; one known program scores leaves in their parent's loop.
    """
    if study.protocol != "2017a":
        return _BEHAVIOURS
    both = [replace(one, board=board) for board in ("early", "later") for one in _BEHAVIOURS]
    return (*both, Condition(board="early", ties="last", leaves="loop"))


def known_condition(study: Study) -> Condition | None:
    """Return the condition that a study documents, with the default time; None if unknown."""
    parts = {part: word for part, word in study.known_condition.items() if part != "told"}
    return Condition(**parts) if study.known_condition else None  # type: ignore[arg-type]


def plausible(study: Study) -> tuple[Condition, ...]:
    """Return the variants to choose among: the documented one, or all of them."""
    known = known_condition(study)
    return variants(study) if known is None else (known,)


def condition_source(study: Study) -> str:
    """Return what is known about a study's agents, with its source."""
    return study.known_condition.get("told", UNKNOWN_TEXT)


# -- how likely published numbers are ------------------------------------------------------


LEAST_VARIANCE = 0.02
"""Least variance assumed for a pair's score, even if all pairs of a trial had the same score."""


@dataclass(frozen=True)
class Cell:
    """One published number and its prediction under a condition, as rates from 0 to 1.

    `games` is the number of published games; `variance` is that of the prediction. An empty
    opponent means the total of a whole tournament. `tournament` counts the study's distinct
    tournaments from 1; 0 means all of them.
    """

    heuristic: str
    opponent: str
    tournament: int
    published: float
    games: int
    predicted: float
    variance: float

    @property
    def spread(self) -> float:
        """Return the standard deviation of the published number less its prediction."""
        return sqrt(self.predicted * (1 - self.predicted) / self.games + self.variance)

    @property
    def z(self) -> float:
        """Return how many standard deviations the published number is above the prediction."""
        return (self.published - self.predicted) / self.spread

    @property
    def loglikelihood(self) -> float:
        """Return the log-likelihood of the published number: normal, centred on the prediction."""
        return -0.5 * (self.z**2 + log(2 * pi * self.spread**2))


@dataclass(frozen=True)
class Prediction:
    """Predicted rates and their variances: a row for each heuristic, a column for each opponent."""

    heuristics: tuple[str, ...]
    opponents: tuple[str, ...]
    rates: npt.NDArray[np.float64]
    variances: npt.NDArray[np.float64]

    def cells(self, study: Study) -> list[Cell]:
        """Return every legible table cell of a study with its prediction, each tournament once."""
        return [
            Cell(
                heuristic,
                self.opponents[column],
                number,
                won / study.games_per_opponent,
                study.games_per_opponent,
                float(self.rates[row, column]),
                float(self.variances[row, column]),
            )
            for row, heuristic in enumerate(self.heuristics)
            for number, played in enumerate(study.played, 1)
            for column, won in enumerate(played.wins(heuristic))
            if won is not None
        ]

    def tournaments(self, study: Study) -> list[Cell]:
        """Return the published totals, with predictions, of tournaments that print no cells."""
        found = []
        for row, heuristic in enumerate(self.heuristics):
            for rate in study.other_tournaments(heuristic):
                found.append(self._total(row, heuristic, rate, study.games_per_tournament))
        return found

    def totals(self, study: Study) -> list[Cell]:
        """Return each heuristic's win rate over all published games, with its prediction."""
        return [
            self._total(row, id, *study.overall_rate(id)) for row, id in enumerate(self.heuristics)
        ]

    def _total(self, row: int, heuristic: str, rate: float, games: int) -> Cell:
        """Return a published total over all opponents with its prediction.

        Its `variance` is the total variance less that of a binomial, which `Cell.spread` adds.
        """
        mean = float(self.rates[row].mean())
        own = float(self.variances[row].sum()) / len(self.opponents) ** 2
        # Opponents differ in strength, so the total varies less than a binomial with the mean rate.
        within = float((self.rates[row] * (1 - self.rates[row])).mean()) / games
        return Cell(heuristic, "", 0, rate, games, mean, own + within - mean * (1 - mean) / games)


def predict(
    heuristics: Sequence[str], opponents: Sequence[str], scores: npt.NDArray[np.int8]
) -> Prediction:
    """Return win rates predicted from games won per pair: heuristics × opponents × openings.

    Half a pair won and half a pair lost are added to each cell, so that no rate is 0 or 1.
    """
    pairs = scores.shape[2]
    share = scores / 2
    rates = (share.sum(axis=2) + 0.5) / (pairs + 1)
    variances = np.maximum(share.var(axis=2), LEAST_VARIANCE) / pairs
    return Prediction(tuple(heuristics), tuple(opponents), rates, variances)


# -- trials --------------------------------------------------------------------------------


Counts = list[list[list[int]]]
"""By heuristic and opponent: pairs with no, one and two games won."""


def faithful_plan(
    study: Study, condition: Condition, pairs: int, seed: int, **options: str
) -> Plan:
    """Return the plan of a study's tournament between its author's agents under a condition."""
    test = partial(condition.test_agent, study)
    return study_tournament_plan(study, test, condition.opponent, pairs, seed, **options)


def study_tournament_plan(
    study: Study,
    test: Callable[[str], str],
    opponent: Callable[[str], str],
    pairs: int,
    seed: int,
    **options: str,
) -> Plan:
    """Return the plan of a study's tournament, with `improved` as the first test agent.

    `test` maps a heuristic to its agent, `opponent` a course name to its agent.
    """
    ids = sorted(study.heuristics, key=lambda id: id != "improved")
    tests = [Entrant(test(id), id) for id in ids]
    opponents = [Entrant(opponent(name), name.rpartition(":")[2]) for name in study.opponents]
    options = {"study": study.id, **options}
    return tournament_plan(tests, opponents, pairs, seed, study.protocol, **options)


def tournament_plan(
    tests: Sequence[Entrant],
    opponents: Sequence[Entrant],
    pairs: int,
    seed: int,
    protocol: str,
    **options: str,
) -> Plan:
    """Return the plan of a tournament of every test agent against every opponent."""
    return Plan(
        kind="tournament",
        entrants=(*tests, *opponents),
        matches=tournament_matches(len(tests), len(opponents)),
        pairs=pairs,
        seed=seed,
        options={"protocol": protocol, "tests": len(tests), **options},
    )


def play_trial(wanted: tuple[str, Condition], pairs: int, seed: int) -> Counts:
    """Play the trial of a study (by its id) and a condition in this process; return its counts."""
    id, condition = wanted
    plan = faithful_plan(studies()[id], condition, pairs, seed)
    tests = int(plan.options["tests"])
    counts = np.zeros((tests, len(plan.entrants) - tests, 3), int)
    for task in plan.tasks():
        match = plan.matches[task.number % len(plan.matches)]
        counts[match.a, match.b - tests, play_pair(task).score] += 1
    found: Counts = counts.tolist()
    return found


def play_trials(
    wanted: Sequence[tuple[str, Condition]],
    pairs: Callable[[str], int],
    seed: int,
    options: RunnerOptions = DEFAULT,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[tuple[str, Condition], Prediction]:
    """Play the trials that are not stored, and return the prediction of each.

    `pairs` maps a study's id to the pairs of each heuristic against each opponent; `progress` is
    called with the number of finished trials.
    """
    kept = _TrialsFile()
    plans = {one: faithful_plan(studies()[one[0]], one[1], pairs(one[0]), seed) for one in wanted}
    missing = [one for one in wanted if kept.get(plans[one]) is None]
    # The longest first, so that no worker waits long at the end.
    missing.sort(key=lambda one: -one[1].time * (10 if one[1].board == "later" else 1))
    before = len(wanted) - len(missing)
    progress(before)
    played = parallel_map(
        partial(_player_of_trials, {id: pairs(id) for id, _ in missing}, seed),
        missing,
        options,
        describe=lambda one: f"the trial of {one[0]} ({one[1].words()})",
    )
    for done, (place, counts) in enumerate(played, before + 1):
        kept.add(plans[missing[place]], counts)
        progress(done)
    return {one: _prediction(plan, kept.get(plan) or []) for one, plan in plans.items()}


def _prediction(plan: Plan, counts: Counts) -> Prediction:
    names, tests = [entrant.name for entrant in plan.entrants], int(plan.options["tests"])
    return predict(names[:tests], names[tests:], as_scores(counts))


def as_scores(counts: Counts) -> npt.NDArray[np.int8]:
    """Return an array with as many pair scores 0, 1 and 2 as `counts` says, in arbitrary order."""
    return np.array([[np.repeat([0, 1, 2], cell) for cell in row] for row in counts], np.int8)


def _player_of_trials(
    pairs: dict[str, int], seed: int
) -> Callable[[tuple[str, Condition]], Counts]:
    """Import what a trial needs; return the function that plays a trial."""
    from knightfall.search import game_loop as game_loop

    return lambda wanted: play_trial(wanted, pairs[wanted[0]], seed)


# -- storing trials ------------------------------------------------------------------------


class _TrialsFile:
    """The file in the data folder that stores trials by engine and by the trial's plan."""

    def __init__(self) -> None:
        self.path = data_folder() / "trials.json"
        self._rows: dict[str, Counts] = {}
        try:
            kept = parse_json(read_text(self.path))
            check({str: {str: [[[Whole()]]]}}, kept)
        except KnightfallError:
            return  # missing or unusable: the trials are played again
        self._rows = kept.get(engine(), {})

    def get(self, plan: Plan) -> Counts | None:
        """Return the stored counts of a trial; None if they are missing or do not fit the plan."""
        counts, tests = self._rows.get(plan.key(engine())), int(plan.options["tests"])
        if counts is None or len(counts) != tests:
            return None
        cells = [cell for row in counts for cell in row]
        whole = all(len(row) == len(plan.entrants) - tests for row in counts)
        right = all(len(cell) == 3 and sum(cell) == plan.rounds for cell in cells)
        return counts if whole and right else None

    def add(self, plan: Plan, counts: Counts) -> None:
        """Store a trial. The file is replaced atomically."""
        self._rows[plan.key(engine())] = counts
        # Trials of other engine versions are dropped: they cannot be used again.
        atomic_write(self.path, json.dumps({engine(): self._rows}))
