"""One function called with many things, in processes: a loop that uses every core."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from knightfall.arena.runners.worker import Job
from knightfall.errors import KnightfallError

TRIES = 3
"""So many workers may die of one call."""

Thing = TypeVar("Thing")
Answer = TypeVar("Answer")


class Calls(Generic[Thing, Answer]):
    """`Work` whose results are answers with the place of the thing they belong to.

    `name` tells what a thing is, should nobody survive it: "the game from …".
    """

    slow = True  # or processes would not be worth it

    def __init__(
        self,
        function: Callable[[Thing], Answer],
        things: Sequence[Thing],
        name: Callable[[Thing], str],
    ) -> None:
        self._function, self._things, self._name = function, things, name
        self._left = deque(range(len(things)))
        self._deaths: Counter[int] = Counter()

    def take(self) -> int | None:
        """See `Work`."""
        return self._left.popleft() if self._left else None

    def job(self, place: int) -> Job:
        """See `Work`."""
        return Job(self._function, (self._things[place],))

    def done(self, place: int, answer: Any) -> Iterable[tuple[int, Answer]]:
        """See `Work`."""
        return [(place, answer)]

    def lost(self, place: int, stalled: bool, obituary: str) -> None:
        """See `Work`."""
        self._deaths[place] += 1
        if self._deaths[place] >= TRIES:
            raise KnightfallError(
                f"{self._name(self._things[place])}: {TRIES} times the process that was at it "
                f"died; the last one {obituary}"
            )
        self._left.appendleft(place)

    def put_back(self, place: int) -> None:
        """See `Work`."""
        self._left.appendleft(place)


def in_order(answers: Iterable[tuple[int, Answer]]) -> Iterator[Answer]:
    """The answers by place, each as soon as all before it are there."""
    early: dict[int, Answer] = {}
    turn = 0
    for place, answer in answers:
        early[place] = answer
        while turn in early:
            yield early.pop(turn)
            turn += 1
