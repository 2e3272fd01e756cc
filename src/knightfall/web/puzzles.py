"""``python -m knightfall.web.puzzles``: positions with one winning move, out of the ladder's games.

The ladder's agents below the perfect one play each other from random openings; the solver looks
for the positions where one move of three or more wins.  Those are shown to the same agents, whose
misses are the grade, and some hundred of all difficulties and themes are kept.  Nothing depends on
the clock, on the machine or on how many processes there are: the same numbers give the same file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from knightfall.board import Board
from knightfall.display.printable import print_line
from knightfall.isolation.parallel_map import RunnerOptions, in_order, parallel_map
from knightfall.kernel.geometry import geometry
from knightfall.kernel.rules import words
from knightfall.machine import cores
from knightfall.openings import openings, shuffled
from knightfall.oracle.truth import Truth
from knightfall.position import Position
from knightfall.search.separation import separated
from knightfall.solver.reflection import mirror_move
from knightfall.web.ladder import LADDER

FILE = Path(__file__).parent / "puzzles.json"

RUNGS = LADDER[:-1]
"""Who plays and who is asked: all but the perfect one, who misses nothing."""

GAMES = (("7x7", 7056), ("6x6", 720), ("8x8", 720))
"""How many on which board: on 7×7 every opening three times, by three couples."""

NUMBER = 300
"""Of puzzles that are kept."""

FEWEST_MOVES, FEWEST_PLIES, MOST_OPEN = 3, 3, 42
"""A puzzle has a choice and is not over at once; and a browser solves it while one looks at it."""

THEMES = ("hunter", "runner", "mirror", "separation", "race")
"""What a puzzle may be about, in the order in which its themes are listed; see `themes_of`."""

FEWEST_OF_A_THEME = 1 / 30
"""Share of the puzzles that each theme has at least, if the games have so many of it."""

FIRST_TRIES, TRIES = 4, 20
"""Of each agent, with a seed each.

The first tell how hard a position seems, and it is chosen by that; the others, which took no part
in the choice, are its grade.  Else whatever looked hard by chance would be shipped as hard.
"""

SEED = 2017
CHUNK = 36
"""Games that a process plays before it tells."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Found:
    """A position with one winning move, and the game it is of.

    `plies` have been played since the opening of game `number` of its board, in which `first` and
    `second` are the agents' places on the ladder; `seeming` is the share of misses by the first
    tries.
    """

    fen: str
    solution: str
    number: int
    first: int
    second: int
    plies: int
    seeming: float

    @property
    def position(self) -> Position:
        """The position itself."""
        return Position.from_fen(self.fen)


def game(board: Board, number: int) -> tuple[int, int, list[Position]]:
    """A game of the ladder: who is first, who is second, and every position that had a move."""
    from knightfall.arena.play import play_compiled, searcher

    couples = list(product(range(len(RUNGS)), repeat=2))
    first, second = couples[number % len(couples)]
    white, black = searcher(RUNGS[first][1]), searcher(RUNGS[second][1])
    assert white is not None
    assert black is not None
    every = _openings(board)
    positions = [Position.from_fen(every[number % len(every)])]
    record = play_compiled({"w": white, "b": black}, positions[0].fen, number + 1)
    for move in record.moves(positions[0]):
        positions.append(positions[-1].play(move))
    return first, second, positions[:-1]


def find(board: Board, numbers: Iterable[int]) -> list[Found]:
    """What is found in these games: of each the position that seems hardest, if there is one."""
    truth, found = _truth(board), []
    for number in numbers:
        first, second, positions = game(board, number)
        best = None
        for plies, position in reversed(list(enumerate(positions))):  # the end is easy to judge
            solution = only_winner(position, truth)
            if solution is None:
                continue
            tried = misses(position, solution, range(1, FIRST_TRIES + 1))
            seeming = sum(tried) / (FIRST_TRIES * len(RUNGS))
            if best is None or seeming > best.seeming:
                best = Found(position.fen, solution, number, first, second, plies, seeming)
        if best is not None:
            found.append(best)
    return found


def only_winner(position: Position, truth: Truth) -> str | None:
    """The one winning move of a position that makes a puzzle."""
    if len(position.legal_moves) < FEWEST_MOVES or len(position.open) > MOST_OPEN:
        return None
    winning = truth.winning_moves(position)
    if len(winning) != 1 or truth.plies(position) < FEWEST_PLIES:
        return None
    return winning[0]


def misses(position: Position, solution: str, seeds: Iterable[int]) -> list[int]:
    """How often each agent of the ladder plays something else, trying once with each seed."""
    seeds = list(seeds)
    return [
        sum(replace(agent, seed=seed).choose(position) != solution for seed in seeds)
        for agent in _agents()
    ]


def themes_of(position: Position, solution: str) -> list[str]:
    """Return the themes of a puzzle: the mover's role, and what its winning move does.

    ``mirror``: it makes the position its own image under the half turn of the board, so that the
    opponent loses by reflection.  ``separation``: the knights could still meet, and after it no
    cell can be reached by both.  ``race``: no cell can be reached by both before it either.
    """
    apart, apart_after = _separated(position), _separated(position.play(solution))
    applies = {
        "hunter": position.hunter == position.to_move,
        "runner": position.hunter != position.to_move,
        "mirror": mirror_move(position) == solution,
        "separation": apart_after and not apart,
        "race": apart,
    }
    return [theme for theme in THEMES if applies[theme]]


def _separated(position: Position) -> bool:
    return bool(separated(geometry(position.board)[0], *words(position)))


def graded(found: Found) -> dict[str, Any]:
    """A puzzle as it is shipped."""
    position = found.position
    missed = misses(position, found.solution, range(FIRST_TRIES + 1, FIRST_TRIES + TRIES + 1))
    return {
        "fen": found.fen,
        "solution": found.solution,
        "plies": _truth(position.board).plies(position),
        "grade": round(100 * sum(missed) / (TRIES * len(RUNGS))),
        "misses": missed,
        "themes": themes_of(position, found.solution),
        "game": [found.number, found.first, found.second, found.plies],
    }


# -- choosing ----------------------------------------------------------------------------------


def likeness(position: Position) -> Hashable:
    """The same for positions that are images of each other, whoever is to move in them."""
    from knightfall.oracle.questions import image

    def key(seen: Position) -> tuple[int | None, int | None, tuple[int, ...]]:
        mover, waiter = seen.white, seen.black
        if seen.to_move == "b":
            mover, waiter = waiter, mover
        return mover, waiter, tuple(sorted(seen.open))

    images = (image(position, symmetry) for symmetry in position.board.symmetries)
    return position.board.text, min(key(seen) for seen in images)


def spread(found: Iterable[Found], number: int) -> list[Found]:
    """Choose that many: all difficulties, both roles and all phases as evenly as there are any.

    Where a theme is too rare, puzzles of it take the place of others as difficult.
    """
    from knightfall.oracle.record import phase_of

    different = {likeness(one.position): one for one in found}
    of_fen = {one.fen: one for one in different.values()}
    mixed = [of_fen[fen] for fen in shuffled(list(of_fen), SEED)]

    def kind(one: Found) -> Hashable:
        position = one.position
        return position.hunter == position.to_move, phase_of(position)

    def difficulty(one: Found) -> Hashable:
        return min(9, int(10 * one.seeming))

    order = in_turns(mixed, kind)
    themed = [(one, themes_of(one.position, one.solution)) for one in in_turns(order, difficulty)]
    fewest = round(number * FEWEST_OF_A_THEME)
    first = [[one for one, themes in themed if theme in themes][:fewest] for theme in THEMES]
    return in_turns(dict.fromkeys(chain(*first, order)), difficulty)[:number]


def in_turns(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    """The same items, those with the same key in the same order, but the keys take turns."""
    groups: dict[Hashable, list[Item | None]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return [item for item in chain.from_iterable(zip_longest(*groups.values())) if item is not None]


# -- the work ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _truth(board: Board) -> Truth:
    return Truth(board)


@lru_cache(maxsize=4)
def _openings(board: Board) -> list[str]:
    return shuffled(openings(board), SEED)


@lru_cache(maxsize=1)
def _agents() -> list[Any]:
    from knightfall.agents import parse_agent

    return [parse_agent(text) for _, text in RUNGS]


def _search(task: tuple[str, range]) -> list[Found]:
    board, numbers = task
    return find(Board.named(board), numbers)


def make(
    games: Sequence[tuple[str, int]] = GAMES,
    number: int = NUMBER,
    workers: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """The puzzles, from the easiest to the hardest."""
    workers = workers or cores()
    tasks = [
        (board, range(begin, min(begin + CHUNK, total)))
        for board, total in games
        for begin in range(0, total, CHUNK)
    ]
    found: list[Found] = []
    options = RunnerOptions(workers)
    rounds = in_order(parallel_map(_searcher, tasks, options, describe=str))
    for done, some in enumerate(rounds, start=1):
        found += some
        if done % 20 == 0 or done == len(tasks):
            tell(f"{done} of {len(tasks)} rounds of games, {len(found)} positions")
    chosen = spread(found, number)
    puzzles = list(in_order(parallel_map(_grader, chosen, options, describe=str)))
    return sorted(puzzles, key=lambda one: (one["grade"], one["plies"], one["fen"]))


def _searcher() -> Callable[[tuple[str, range]], list[Found]]:
    return _search


def _grader() -> Callable[[Found], dict[str, Any]]:
    return graded


def text_of(puzzles: Sequence[dict[str, Any]]) -> str:
    """The file: a puzzle a line."""
    about = {
        "made_by": "python -m knightfall.web.puzzles",
        "seed": SEED,
        "tries": TRIES,
        "rungs": [name for name, _ in RUNGS],
    }
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in puzzles)
    return f'{json.dumps(about)[:-1]}, "puzzles": [\n{lines}\n]}}\n'


def main() -> None:
    """Play, choose, grade and write the file; the number of processes may be given."""
    puzzles = make(workers=int(sys.argv[1]) if len(sys.argv) > 1 else None, tell=print_line)
    FILE.write_text(text_of(puzzles), encoding="utf-8")
    for name, missed in zip(
        RUNGS, zip(*(one["misses"] for one in puzzles), strict=True), strict=True
    ):
        share = sum(missed) / (TRIES * len(puzzles))
        print_line(f"{name[0]:<14} misses {share:.0%} of {len(puzzles)} puzzles")


if __name__ == "__main__":
    main()
