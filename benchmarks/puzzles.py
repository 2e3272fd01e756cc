"""``python -m benchmarks.puzzles``: make puzzles from games between the ladder's agents.

A puzzle is a position with exactly one winning move.  The ladder's agents below the perfect one
play each other from random openings, and the solver finds the positions in which one move of three
or more wins.  The same agents try these positions, and the share of their misses is the grade.
Some hundred of all difficulties and themes are kept.  The result does not depend on the clock, the
machine or the number of processes: the same constants give the same file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, product, zip_longest
from typing import Any, TypeVar

from benchmarks.rate_opponents import LADDER
from knightfall.board import Board
from knightfall.display.printable import print_line
from knightfall.isolation.parallel_map import RunnerOptions, in_order, parallel_map
from knightfall.kernel.rules import geometry, words
from knightfall.openings import openings, shuffled
from knightfall.position import Position
from knightfall.processor_cores import cores
from knightfall.search.separation import separated
from knightfall.solver.reflection import mirror_move
from knightfall.solver.solve import Solver
from knightfall.web.site import PUZZLES as FILE

RUNGS = LADDER[:-1]
"""The agents that play the games and try the puzzles: all but the perfect one."""

GAMES = (("7x7", 7056), ("6x6", 720), ("8x8", 720))
"""Boards and numbers of games; on 7×7 every opening is played by three pairs of agents."""

NUMBER = 300
"""Number of puzzles that are kept."""

FEWEST_MOVES, FEWEST_PLIES, MOST_OPEN = 3, 3, 42
"""Limits of a puzzle: least legal moves, least plies to the win, most open cells.

With more open cells, a browser would need too long to solve it.
"""

THEMES = ("hunter", "runner", "mirror", "separation", "race")
"""The themes of puzzles, in the order in which they are listed; see `themes_of`."""

FEWEST_OF_A_THEME = 1 / 30
"""Least share of the puzzles that have a given theme, if the games contain enough of them."""

FIRST_TRIES, TRIES = 4, 20
"""Tries of each agent at a position, each with another seed.

The first tries estimate how hard a position is, and positions are chosen by that estimate.  The
other tries, which took no part in the choice, give the grade: otherwise positions that seemed hard
by chance would be shipped as hard.
"""

SEED = 2017
CHUNK = 36
"""Games that a worker plays in one task."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PuzzleCandidate:
    """A position with one winning move, and the game that it comes from.

    `plies` have been played since the opening of game `number` on its board.  `first` and `second`
    are the players' places on the ladder; `seeming` is the share of misses in the first tries.
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
        """The position of the candidate's FEN."""
        return Position.from_fen(self.fen)


def game(board: Board, number: int) -> tuple[int, int, list[Position]]:
    """Play a game; return both players' indices in the ladder and all positions but the last."""
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


def find(board: Board, numbers: Iterable[int]) -> list[PuzzleCandidate]:
    """Return one puzzle candidate of each game, the one that seems hardest, if there is any."""
    truth, found = _truth(board), []
    for number in numbers:
        first, second, positions = game(board, number)
        best = None
        for plies, position in reversed(list(enumerate(positions))):  # the end is quick to solve
            solution = only_winner(position, truth)
            if solution is None:
                continue
            tried = misses(position, solution, range(1, FIRST_TRIES + 1))
            seeming = sum(tried) / (FIRST_TRIES * len(RUNGS))
            if best is None or seeming > best.seeming:
                best = PuzzleCandidate(
                    position.fen, solution, number, first, second, plies, seeming
                )
        if best is not None:
            found.append(best)
    return found


def only_winner(position: Position, truth: Solver) -> str | None:
    """Return the only winning move of a position; None if the position makes no puzzle."""
    if len(position.legal_moves) < FEWEST_MOVES or len(position.open) > MOST_OPEN:
        return None
    winning = truth.winning_moves(position)
    if len(winning) != 1 or truth.plies(position) < FEWEST_PLIES:
        return None
    return winning[0]


def misses(position: Position, solution: str, seeds: Iterable[int]) -> list[int]:
    """Return how often each agent of the ladder misses the solution, with one try per seed."""
    seeds = list(seeds)
    return [
        sum(replace(agent, seed=seed).choose(position) != solution for seed in seeds)
        for agent in _agents()
    ]


def themes_of(position: Position, solution: str) -> list[str]:
    """Return the themes of a puzzle: the mover's role, and what the winning move does.

    ``mirror``: the move makes the position its own image under the half turn of the board, so that
    the opponent loses by reflection.  ``separation``: some cell can be reached by both knights
    before the move, and none after it.  ``race``: no cell can be reached by both before the move.
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


def graded(found: PuzzleCandidate) -> dict[str, Any]:
    """Return a candidate as an entry of the puzzle file, with its grade: misses in %."""
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
    """Return a key that a position shares with its mirror images, whichever colour is to move."""
    from knightfall.oracle.batch_evaluation import mirrored

    def key(seen: Position) -> tuple[int | None, int | None, tuple[int, ...]]:
        mover, waiter = seen.white, seen.black
        if seen.to_move == "b":
            mover, waiter = waiter, mover
        return mover, waiter, tuple(sorted(seen.open))

    images = (mirrored(position, symmetry) for symmetry in position.board.symmetries)
    return position.board.text, min(key(seen) for seen in images)


def spread(found: Iterable[PuzzleCandidate], number: int) -> list[PuzzleCandidate]:
    """Choose `number` candidates, spread evenly over difficulties, roles and phases.

    Where a theme is too rare, candidates with it replace others of the same difficulty.
    """
    from knightfall.oracle.graded_games import phase_of

    different = {likeness(one.position): one for one in found}
    of_fen = {one.fen: one for one in different.values()}
    mixed = [of_fen[fen] for fen in shuffled(list(of_fen), SEED)]

    def kind(one: PuzzleCandidate) -> Hashable:
        position = one.position
        return position.hunter == position.to_move, phase_of(position)

    def difficulty(one: PuzzleCandidate) -> Hashable:
        return min(9, int(10 * one.seeming))

    order = in_turns(mixed, kind)
    themed = [(one, themes_of(one.position, one.solution)) for one in in_turns(order, difficulty)]
    fewest = round(number * FEWEST_OF_A_THEME)
    first = [[one for one, themes in themed if theme in themes][:fewest] for theme in THEMES]
    return in_turns(dict.fromkeys(chain(*first, order)), difficulty)[:number]


def in_turns(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    """Return the items reordered so that their keys alternate; equal keys keep their order."""
    groups: dict[Hashable, list[Item | None]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return [item for item in chain.from_iterable(zip_longest(*groups.values())) if item is not None]


# -- the work ----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _truth(board: Board) -> Solver:
    return Solver.of(board)


@lru_cache(maxsize=4)
def _openings(board: Board) -> list[str]:
    return shuffled(openings(board), SEED)


@lru_cache(maxsize=1)
def _agents() -> list[Any]:
    from knightfall.agents import parse_agent

    return [parse_agent(text) for _, text in RUNGS]


def _search(task: tuple[str, range]) -> list[PuzzleCandidate]:
    board, numbers = task
    return find(Board.named(board), numbers)


def make(
    games: Sequence[tuple[str, int]] = GAMES,
    number: int = NUMBER,
    workers: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[dict[str, Any]]:
    """Make the puzzles; return them from the easiest to the hardest."""
    workers = workers or cores()
    tasks = [
        (board, range(begin, min(begin + CHUNK, total)))
        for board, total in games
        for begin in range(0, total, CHUNK)
    ]
    found: list[PuzzleCandidate] = []
    options = RunnerOptions(workers)
    rounds = in_order(parallel_map(_searcher, tasks, options, describe=str))
    for done, some in enumerate(rounds, start=1):
        found += some
        if done % 20 == 0 or done == len(tasks):
            tell(f"{done} of {len(tasks)} tasks done, {len(found)} positions found")
    chosen = spread(found, number)
    puzzles = list(in_order(parallel_map(_grader, chosen, options, describe=str)))
    return sorted(puzzles, key=lambda one: (one["grade"], one["plies"], one["fen"]))


def _searcher() -> Callable[[tuple[str, range]], list[PuzzleCandidate]]:
    return _search


def _grader() -> Callable[[PuzzleCandidate], dict[str, Any]]:
    return graded


def text_of(puzzles: Sequence[dict[str, Any]]) -> str:
    """Return the content of the puzzle file, with one puzzle on each line."""
    about = {
        "made_by": "python -m benchmarks.puzzles",
        "seed": SEED,
        "tries": TRIES,
        "rungs": [name for name, _ in RUNGS],
    }
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in puzzles)
    return f'{json.dumps(about)[:-1]}, "puzzles": [\n{lines}\n]}}\n'


def main() -> None:
    """Make the puzzles and write the file; the optional argument is the number of workers."""
    puzzles = make(workers=int(sys.argv[1]) if len(sys.argv) > 1 else None, tell=print_line)
    FILE.write_text(text_of(puzzles), encoding="utf-8")
    for name, missed in zip(
        RUNGS, zip(*(one["misses"] for one in puzzles), strict=True), strict=True
    ):
        share = sum(missed) / (TRIES * len(puzzles))
        print_line(f"{name[0]:<14} misses {share:.0%} of {len(puzzles)} puzzles")


if __name__ == "__main__":
    main()
