"""``knightfall learn chances``: fit a model of opponents' replies and judge it on other games.

The weights of the conditional logit maximise the likelihood of the hunters' replies, P(reply) ∝
exp(w·f), with a penalty on large weights. The shares of the opponent types maximise the likelihood
of whole games, each played by one opponent (`knightfall.opponents`).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.play import play_compiled, searcher
from knightfall.board import Board
from knightfall.display.numbers import duration, percent
from knightfall.display.progress import OnProgress, ignore_progress, progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions, in_order, parallel_map
from knightfall.kernel.rules import words
from knightfall.learning.shard_builder import RANDOM_PLIES
from knightfall.learning.split import SPLITS, canonical_forms, class_splits, classes, keys
from knightfall.opponents.mcts import KNOWN, reply_features
from knightfall.opponents.mcts_state import FEATURES, WAYS
from knightfall.opponents.opponent_models import (
    FEATURE_NAMES,
    OPPONENTS,
    Chances,
    ReplyEstimate,
    chances_json,
)
from knightfall.position import Position, Side, other
from knightfall.solver.atlas import position_of
from knightfall.solver.engine import Engine
from knightfall.user_folders import atomic_writer, make_folder

# -- the fit ----------------------------------------------------------------------------------


PENALTY = 1.0
"""Ridge penalty: half of this times the sum of squared weights is subtracted from the
log-likelihood.
"""

ROUNDS = 200
SHARES_BEFORE = 2.0
"""Pseudo-count: games added for each opponent, so that no share is 0."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DecisionArrays:
    """Hunters' decisions as arrays, each padded to eight possible replies."""

    features: Floats
    there: npt.NDArray[np.bool_]
    wrong: npt.NDArray[np.bool_]
    replies: npt.NDArray[np.intp]

    @classmethod
    def of(cls, decisions: Sequence[HunterReply]) -> DecisionArrays:
        """Convert decisions to arrays, in their order."""
        number = len(decisions)
        features = np.zeros((number, WAYS, FEATURES))
        there, wrong = np.zeros((2, number, WAYS), np.bool_)
        for at, one in enumerate(decisions):
            ways = len(one.wrong)
            features[at, :ways], there[at, :ways], wrong[at, :ways] = one.features, True, one.wrong
        return cls(features, there, wrong, np.array([one.reply for one in decisions], np.intp))

    def chosen(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return, for each decision, the entry of `values` at the chosen reply."""
        found: npt.NDArray[Any] = values[np.arange(len(self.replies)), self.replies]
        return found


def probabilities(weights: Floats, table: DecisionArrays) -> Floats:
    """Return the probability of each reply; 0 in the padding."""
    values = np.where(table.there, table.features @ weights, -np.inf)
    powers = np.exp(values - values.max(1, keepdims=True))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def fit_weights(table: DecisionArrays) -> Floats:
    """Return the weights that maximise the penalised likelihood."""
    from scipy.optimize import minimize

    made = table.chosen(table.features)

    def loss(weights: Floats) -> tuple[float, Floats]:
        likely = probabilities(weights, table)
        expected = np.einsum("dw,dwf->df", likely, table.features)
        value = -np.log(table.chosen(likely)).sum() + PENALTY / 2 * weights @ weights
        return float(value), PENALTY * weights - (made - expected).sum(0)

    found: Floats = minimize(loss, np.zeros(FEATURES), jac=True, method="L-BFGS-B").x
    return found


def likelihoods(decisions: Sequence[HunterReply], weights: Floats) -> Floats:
    """Return the probability of each chosen reply under each opponent model; the logit is last."""
    found = [
        [
            ReplyEstimate(share, KNOWN).probability(len(one.wrong))
            for share in one.shares[:-1, one.reply]
        ]
        for one in decisions
    ]
    table = DecisionArrays.of(decisions)
    stranger = table.chosen(probabilities(weights, table))
    return np.column_stack([np.array(found), stranger])


def by_game(decisions: Sequence[HunterReply], logs: Floats) -> Floats:
    """Sum `logs`, which has a row for each decision, over the decisions of each game."""
    _, games = np.unique([one.game for one in decisions], return_inverse=True)
    total = np.zeros((games.max() + 1, logs.shape[1]))
    np.add.at(total, games, logs)
    return total


def fit_shares(decisions: Sequence[HunterReply], weights: Floats) -> tuple[float, ...]:
    """Return the share of each opponent type, given that each game has one opponent (EM)."""
    logs = by_game(decisions, np.log(likelihoods(decisions, weights)))
    shares = np.full(logs.shape[1], 1 / logs.shape[1])
    for _ in range(ROUNDS):
        mine = shares * np.exp(logs - logs.max(1, keepdims=True))
        mine /= mine.sum(1, keepdims=True)
        shares = mine.sum(0) + SHARES_BEFORE
        shares /= shares.sum()
    return tuple(float(share) for share in shares)


# -- how well it predicts ---------------------------------------------------------------------


GROUPS = 8
"""Calibration groups, by the predicted probability of giving up the win."""


@dataclass(frozen=True)
class ReplyLikelihoods:
    """Mean log-likelihoods of a reply under several models, and the calibration of errors.

    `groups` are (predicted, observed, decisions), over positions in which the win can be lost.
    """

    hunters: str
    decisions: int
    erred: float
    any_reply: float
    winning_replies: float
    stranger: float
    opponents: float
    groups: tuple[tuple[float, float, int], ...]


def judged(
    hunters: str, decisions: Sequence[HunterReply], chances: Chances, error_rate: float
) -> ReplyLikelihoods:
    """Measure how well `chances` predict decisions; `error_rate` is how often they err."""
    table = DecisionArrays.of(decisions)
    ways, wrong = table.there.sum(1), table.wrong.sum(1)
    erred, possible = table.chosen(table.wrong), wrong > 0
    winning = np.where(
        possible,
        np.where(
            erred,
            np.log(error_rate / np.maximum(wrong, 1)),
            np.log((1 - error_rate) / np.maximum(ways - wrong, 1)),
        ),
        -np.log(ways),
    )
    likely = probabilities(chances.logit_weights, table)
    logs = by_game(decisions, np.log(likelihoods(decisions, chances.logit_weights)))
    games = np.logaddexp.reduce(logs + np.log(chances.shares), axis=1)
    return ReplyLikelihoods(
        hunters=hunters,
        decisions=len(decisions),
        erred=float(erred[possible].mean()) if possible.any() else 0.0,
        any_reply=float(-np.log(ways).mean()),
        winning_replies=float(winning.mean()),
        stranger=float(np.log(table.chosen(likely)).mean()),
        opponents=float(games.sum() / len(decisions)),
        groups=_groups((likely * table.wrong).sum(1)[possible], erred[possible]),
    )


def _groups(predicted: Floats, observed: Any) -> tuple[tuple[float, float, int], ...]:
    parts = np.array_split(np.argsort(predicted, kind="stable"), GROUPS)
    return tuple(
        (float(predicted[part].mean()), float(observed[part].mean()), len(part))
        for part in parts
        if len(part)
    )


def error_rate(decisions: Sequence[HunterReply]) -> float:
    """Return the smoothed rate of lost wins, among decisions in which a reply can lose the win."""
    possible = [one.erred for one in decisions if one.wrong.any()]
    return (sum(possible) + 1) / (len(possible) + 2)


@dataclass(repr=False)
class ChancesReport(Displayable):
    """The learned model of opponents, and how well it predicts hunters' replies."""

    chances: Chances
    learned_from: int
    judged: Sequence[ReplyLikelihoods]
    folder: str
    seed: int
    seconds: float

    def parts(self) -> Iterator[Part]:
        """Yield tables of likelihoods, predicted errors, weights and shares."""
        yield Heading("Log-likelihood of a reply, from openings that were not learned from")
        table = Table(["", *(one.hunters for one in self.judged)])
        for name, field in (
            ("any reply alike", "any_reply"),
            ("winning replies alike, with a rate of errors", "winning_replies"),
            ("the stranger", "stranger"),
            ("all opponents, by Bayes' rule", "opponents"),
        ):
            table.add(name, *(f"{getattr(one, field):.3f}" for one in self.judged))
        table.add("decisions", *(f"{one.decisions:,}" for one in self.judged))
        yield table
        yield ""
        yield Heading("Probability of losing the win: predicted by the stranger → observed")
        errors = Table(["", *(one.hunters for one in self.judged)])
        for number in range(max((len(one.groups) for one in self.judged), default=0)):
            errors.add(f"group {number + 1}", *(_group(one, number) for one in self.judged))
        yield errors
        yield ""
        weights = Table(["of a reply", "weight"])
        for name, weight in zip(FEATURE_NAMES, self.chances.logit_weights, strict=True):
            weights.add(name, f"{weight:+.2f}")
        yield weights
        yield ""
        shares = Table(["opponent", "share"])
        for name, share in zip(OPPONENTS, self.chances.shares, strict=True):
            shares.add(name, percent(share))
        yield shares
        yield ""
        yield (
            f"Learned from {self.learned_from:,} decisions; written to {self.folder} in "
            f"{duration(self.seconds)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all results."""
        return {
            "learned_from": self.learned_from,
            "seed": self.seed,
            "habits": dict(zip(FEATURE_NAMES, map(float, self.chances.logit_weights), strict=True)),
            "shares": dict(zip(OPPONENTS, self.chances.shares, strict=True)),
            "judged": [vars(one) for one in self.judged],
            "seconds": self.seconds,
        }


def _group(one: ReplyLikelihoods, number: int) -> str:
    if number >= len(one.groups):
        return ""
    predicted, observed, size = one.groups[number]
    return f"{percent(predicted)} → {percent(observed)} of {size}"


# -- from games to the file -------------------------------------------------------------------


GAMES = 1600
"""Games to learn from; a fifth as many judge the model, with known and with other hunters."""

FEWEST = 20
DIGITS = 4


def learn(
    folder: Path, games: int = GAMES, seed: int = 0, options: RunnerOptions = DEFAULT
) -> ChancesReport:
    """Learn a model of opponents' replies and write ``chances.json`` into a folder."""
    start = time.perf_counter()
    if games < FEWEST:
        raise KnightfallError(f"games={games} must be {FEWEST} or more")
    make_folder(folder)
    held = max(games // 5, len(UNSEEN))
    with progress("games", games + 2 * held) as done:
        train, known, other = decisions(
            games_of(POPULATION, "train", games, seed),
            games_of(POPULATION, "test", held, seed),
            games_of(UNSEEN, "test", held, seed),
            options=options,
            on_progress=done,
        )
    train = without(train, [*known, *other])
    habits = np.round(fit_weights(DecisionArrays.of(train)), DIGITS)
    chances = Chances(habits, fit_shares([one for one in train if one.hunter in USUAL], habits))
    made_by = {
        "command": "knightfall learn chances",
        "games": games,
        "seed": seed,
        "decisions": len(train),
    }
    with atomic_writer(folder / "chances.json") as file:
        file.write((json.dumps(chances_json(chances, made_by), indent=1) + "\n").encode())
    rate = error_rate(train)
    return ChancesReport(
        chances=chances,
        learned_from=len(train),
        judged=[
            judged("known hunters", known, chances, rate),
            judged("other hunters", other, chances, rate),
        ],
        folder=str(folder),
        seed=seed,
        seconds=time.perf_counter() - start,
    )


def without(some: Sequence[HunterReply], others: Sequence[HunterReply]) -> list[HunterReply]:
    """Return the decisions whose position, up to symmetry, does not occur in `others`."""
    there = set(_keys(others).tolist())
    return [one for one, key in zip(some, _keys(some).tolist(), strict=True) if key not in there]


def _keys(some: Sequence[HunterReply]) -> npt.NDArray[np.uint64]:
    if not some:
        return np.zeros(0, np.uint64)
    board = some[0].position.board
    open, movers, waiters = zip(*(words(one.position) for one in some), strict=True)
    cells = np.array(movers, np.uint8), np.array(waiters, np.uint8)
    return keys(board, *canonical_forms(board, np.array(open, np.uint64), *cells))


# -- decisions of hunters --------------------------------------------------------------------------

USUAL = (
    *("alphabeta(improved, depth=3)", "alphabeta(improved, depth=5)"),
    *("id(improved, nodes=2500)", "id(bfs_reach, nodes=50000)"),
    *("MM_Open", "MM_Center", "MM_Improved", "AB_Open", "AB_Center", "AB_Improved"),
)
"""The agents of the ladder and of the course, without the weakest; the shares describe these."""

POPULATION = (
    *USUAL * 3,
    *(
        f"id({heuristic}, nodes={nodes})"
        for heuristic in ("improved", "bfs_reach", "open", "lookahead_mobility", "corner_averse")
        for nodes in (300, 1000, 5000)
    ),
    *(
        f"id({heuristic}, nodes={nodes})"
        for heuristic in ("weighted_difference", "weighted_moves", "aggressive", "main_less")
        for nodes in (600, 4000)
    ),
    *("id(improved, nodes=10000)", "id(open_space_difference, nodes=2500)", "greedy(open)"),
    *("alphabeta(aggressive, depth=4)", "alphabeta(bfs_reach, depth=4)"),
)
"""The hunters to learn from; the usual ones three times, so that they are more than half."""

UNSEEN = (
    *("id(bfs_reach, nodes=10000)", "alphabeta(open, depth=4)", "student(improved, time=25ms)"),
    *("id(lookahead_ratio, nodes=5000)", "alphabeta(corner_averse, depth=4)"),
    "id(center_pull, nodes=4000)",
)
"""Hunters that only judge the model, to show whether it generalises."""

RUNNERS = (
    *("random", "greedy(improved)", "alphabeta(improved, depth=3)", "id(open, nodes=1000)"),
    *("id(improved, nodes=600)", "id(improved, nodes=2500)", "id(bfs_reach, nodes=2500)"),
)

MOST_CELLS = 43
"""With more open cells the solver takes too long, and nearly every reply keeps the win."""


@dataclass(frozen=True)
class HunterReply:
    """A hunter's decision in a won position: the possible replies and the chosen one.

    `features` has a row for each reply, `shares` one for each opponent (`mcts.ReplyFeatures`);
    `wrong` is true for replies that lose the win; `reply` is the index of the chosen one.
    """

    game: int
    hunter: str
    position: Position
    reply: int
    features: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    wrong: npt.NDArray[np.bool_]

    @property
    def erred(self) -> bool:
        """Return whether the hunter's reply lost the win."""
        return bool(self.wrong[self.reply])


class HunterGame(NamedTuple):
    """A game to play: its number, which with the seed determines all moves, and its hunter."""

    number: int
    hunter: str
    split: str
    seed: int


def games_of(hunters: Sequence[str], split: str, number: int, seed: int) -> list[HunterGame]:
    """Return games from openings of a split, with `hunters` in turn."""
    if split not in SPLITS:
        raise KnightfallError(f"unknown split {split!r}; known: {', '.join(SPLITS)}")
    return [HunterGame(at, hunters[at % len(hunters)], split, seed) for at in range(number)]


def decisions(
    *groups: Sequence[HunterGame],
    options: RunnerOptions = DEFAULT,
    on_progress: OnProgress = ignore_progress,
) -> list[list[HunterReply]]:
    """Play groups of games; return the hunters' decisions in each group, in the games' order."""
    games = list(chain(*groups))
    played = in_order(
        parallel_map(
            _player_of_games,
            games,
            options,
            describe=lambda game: f"game {game.number} of {game.hunter}",
        )
    )
    found: list[list[HunterReply]] = []
    done = 0
    for group in groups:
        found.append([])
        for replies in islice(played, len(group)):
            found[-1] += replies
            done += 1
            on_progress(done)
    return found


def _player_of_games() -> Callable[[HunterGame], list[HunterReply]]:
    return partial(play_game, Engine(Board.of(7, 7)))


def play_game(engine: Engine, game: HunterGame) -> list[HunterReply]:
    """Play a game in any process; return the hunter's decisions in won positions.

    They do not depend on the engine's proofs: the features that count the nodes of a proof are
    those of positions with so few open cells that the engine does not use its table for them.
    """
    board = engine.board
    where = class_splits(board)
    own = [cells for cells, number in classes(board).items() if SPLITS[where[number]] == game.split]
    rng = random.Random(f"chances {game.seed}/{game.split}/{game.number}")
    found = []
    for position, cell in _moves(position_of(board, *rng.choice(own)), game.hunter, rng):
        wrong = _wrong(position, engine)
        if wrong.all():
            continue  # the hunter has lost already
        seen = reply_features(position, engine)
        reply = seen.cells.index(cell)
        found.append(
            HunterReply(
                game.number, game.hunter, position, reply, seen.features, seen.shares, wrong
            )
        )
    return found


def _moves(position: Position, hunter: str, rng: random.Random) -> Iterator[tuple[Position, int]]:
    """Play a game; yield each of the hunter's positions with the cell that it moved to."""
    for _ in range(rng.choice(RANDOM_PLIES)):
        if len(position.legal_moves) == 0:
            return
        position = position.play(rng.choice(position.legal_moves))
    if position.winner is not None or position.hunter is None:
        return
    side, runner, seed = position.hunter, rng.choice(RUNNERS), rng.randrange(1, 2**62)
    seats: dict[Side, str] = {side: hunter, other(side): runner}
    ready = {seat: searcher(text) for seat, text in seats.items()}
    played = play_compiled(
        {seat: one for seat, one in ready.items() if one is not None}, position.fen, seed
    )
    for cell in played.cells:
        if (
            position.to_move == side
            and len(position.open) <= MOST_CELLS
            and len(position.legal_moves) > 1
        ):
            yield position, cell
        position = position.play(position.board.name(cell))


def _wrong(position: Position, engine: Engine) -> npt.NDArray[np.bool_]:
    """Return for each reply, in board order, whether it loses the win."""
    names = sorted(position.legal_moves, key=position.board.cell)
    after = [position.play(name) for name in names]
    return np.array([bool(one.legal_moves) and engine.wins(one) for one in after])
