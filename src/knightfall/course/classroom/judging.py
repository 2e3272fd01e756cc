"""Looking at a submission's games: its blunders with the better move, and what its score believes.

Runs in a process of its own for each submission, so that a class is judged on all cores.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from knightfall.agents import known_agent
from knightfall.arena.game.agent_process import Hosted
from knightfall.arena.plan import PairTask
from knightfall.arena.store import Store
from knightfall.board import Board
from knightfall.course.classroom.lessons import Blunder, Lessons, Misunderstanding, Opinion
from knightfall.course.trial.judging import Choice, judge
from knightfall.errors import AgentFailure
from knightfall.oracle.truth import Truth

SHOWN = 6
"""Blunders that a page shows."""

Asked = list[tuple[Choice, dict[str, float]]]


def lessons_of(task: tuple[str, int]) -> Lessons:
    """What there is to learn from a submission's run, by the store's path and the run's number."""
    path, id = task
    with Store.open(path, read_only=True) as store:
        run = store.run(id)
        plan = run.plan
        truth = Truth(Board.named(plan.board))
        found: list[tuple[str, Choice]] = []

        def on_choice(match: int, pair: PairTask, choice: Choice) -> None:
            if 0 < len(choice.winning) < len(choice.position.legal_moves):
                found.append((plan.entrants[plan.matches[match].b].name, choice))

        judged = judge(run, [0], on_choice=on_choice, truth=truth)[0]
    asked, why = _asked([choice for _, choice in found], plan.entrants[0].agent)
    lessons = Lessons(
        kept=judged.keeping.kept.count,
        choices=judged.keeping.kept.of,
        error=judged.keeping.error,
        chance=judged.keeping.chance,
        unusual=judged.unusual,
        resigned=judged.resigned.games,
        resigned_won=judged.resigned.won,
        tries=judged.resigned.tries,
        saved=judged.resigned.saved,
        blunders=blunders(found, truth),
        no_opinion=why,
        own_clock=judged.own_clock,
    )
    return replace(lessons, opinion=opinion(asked, truth)) if asked else lessons


# -- blunders --------------------------------------------------------------------------------


def blunders(found: Sequence[tuple[str, Choice]], truth: Truth) -> tuple[Blunder, ...]:
    """The latest blunders: what was overlooked there is near."""
    bad = {
        choice.position.fen: (opponent, choice)
        for opponent, choice in found
        if choice.move is not None and choice.move not in choice.winning
    }
    latest = sorted(bad.values(), key=lambda each: (len(each[1].position.open), each[1].ply))
    return tuple(_blunder(opponent, choice, truth) for opponent, choice in latest[:SHOWN])


def _blunder(opponent: str, choice: Choice, truth: Truth) -> Blunder:
    position, move = choice.position, choice.move
    assert move is not None
    lengths = {one: truth.plies(position.play(one)) for one in choice.winning}
    better = min(lengths, key=lengths.__getitem__)
    return Blunder(
        fen=position.fen,
        opponent=opponent,
        ply=choice.ply,
        move=move,
        lost_in=truth.plies(position.play(move)),
        better=better,
        won_in=lengths[better],
        winning=len(choice.winning),
    )


# -- what the score believes -----------------------------------------------------------------


def _asked(choices: Sequence[Choice], agent: str) -> tuple[Asked, str]:
    """What the submission's score says of the moves of each choice; why not, if it says nothing."""
    player = Hosted(known_agent(agent))
    found: Asked = []
    try:
        for choice in choices:
            said = player.opinions(choice.position)
            numbers = {move: value for move, value in said.items() if value is not None}
            if len(numbers) == len(said):
                found.append((choice, numbers))
    except AgentFailure as failure:
        return found, str(failure)
    finally:
        player.close()
    return found, "" if found else "its score never had to choose between winning and losing"


def opinion(asked: Asked, truth: Truth) -> Opinion:
    """How often the score alone would choose rightly, and where it is most surely wrong."""
    right, chance = 0.0, 0.0
    worst: tuple[float, int, Choice, dict[str, float]] | None = None
    finite = [value for _, said in asked for value in said.values() if math.isfinite(value)]
    spread = statistics.pstdev(finite) if len(finite) > 1 else 0.0
    for choice, said in asked:
        best = max(said.values())
        liked = [move for move, value in said.items() if value == best]
        right += sum(move in choice.winning for move in liked) / len(liked)
        chance += len(choice.winning) / len(said)
        won = max(said[move] for move in choice.winning)
        if best > won:
            gap = (best - won) / spread if spread and math.isfinite(best - won) else math.inf
            key = gap, -len(choice.position.open)
            if worst is None or key > worst[:2]:
                worst = (*key, choice, said)
    deepest = None if worst is None else _misunderstanding(worst[0], *worst[2:], truth)
    return Opinion(right, len(asked), chance / len(asked), deepest)


def _misunderstanding(
    gap: float, choice: Choice, said: dict[str, float], truth: Truth
) -> Misunderstanding:
    position = choice.position
    liked = max(said, key=said.__getitem__)
    better = max(choice.winning, key=said.__getitem__)
    return Misunderstanding(
        fen=position.fen,
        liked=liked,
        liked_score=said[liked],
        lost_in=truth.plies(position.play(liked)),
        better=better,
        better_score=said[better],
        won_in=truth.plies(position.play(better)),
        gap=gap,
    )
