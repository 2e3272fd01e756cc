"""Does a search find the best moves, does alpha-beta prune, and what without moves?"""

from __future__ import annotations

from typing import Any

from knightfall.course.checker.outcome import Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.reference import alphabeta, best_of, minimax, values_of_moves
from knightfall.course.checker.subject import Subject, is_move, is_no_move, shown
from knightfall.course.checker.watched import Clock, Path, ScoreFn, Watch, scrambled
from knightfall.course.knights import Cell
from knightfall.course.scores import improved_score

EARLY = Place("56 02 35 23 14 31 33 52 45")
MIDDLE = Place("01 46 22 65 41 53 60 61 52 40 44 32")
LATE = Place("15 36 23 24 04 03 25 11 06 32 14 40 22 52 30")
TIES = Place("15 13 34 01 22 20 14 12 35 31 23 43")
NEAR_THE_END = Place("32 64 53 43 41 35 20 14 12 06 24 25 03 33 15 52 34 44 55")
STUCK = (
    Place("03 10 22 02 01 21 20 33 41 54 53 42 45 61 66 40"),
    Place("41 12 22 24 43 45 31 33 52 54 40 42 32 21 53 00 65"),
)

# At depths 1 to 4 another move is best each time, and none is best with the signs turned around.
PUZZLES: tuple[tuple[Place, ScoreFn, str], ...] = (
    (EARLY, scrambled(29035), "made-up scores"),
    (MIDDLE, scrambled(27404), "made-up scores"),
    (LATE, scrambled(93619), "made-up scores"),
    (NEAR_THE_END, improved_score, "improved_score"),
)

DEPTHS = (1, 2, 3)
PRUNED = ((EARLY, 29035, 3), (MIDDLE, 27404, 3), (MIDDLE, 27404, 4), (LATE, 93619, 3))


# -- values ------------------------------------------------------------------------------------


def finds_best_moves(subject: Subject, kind: Kind) -> str:
    """Ask for moves (and values, in 2017a) at each depth in each of the puzzles."""
    for place, score, name in PUZZLES:
        for depth in DEPTHS:
            values = values_of_moves(place.board("reference"), depth, score)
            watch = Watch()
            agent = subject.player(kind, depth, watch.scorer(score))
            game = place.board(agent, watch)
            value, move = subject.search(kind, agent, game, depth, place)
            best = best_of(values)
            right = max(values.values())
            if not is_move(move, best) or (value is not None and not _same(value, right)):
                came = shown(move) if value is None else f"value {value:g} with {shown(move)}"
                raise Finding(
                    f"wrong at depth {depth}",
                    (
                        f"{kind}(game, depth={depth}) with {name} does not give the right answer. "
                        f"Looked at {_plies(depth)} ahead, your moves are worth: "
                        f"{_listed(values)}.",
                        *_hints(watch, agent, depth, move, values),
                    ),
                    _expected(best, None if value is None else right),
                    came,
                    place,
                )
    return f"right at depths {DEPTHS[0]} to {DEPTHS[-1]} in {len(PUZZLES)} positions"


def _same(value: float, right: float) -> bool:
    return value == right or abs(value - right) < 1e-9


def _expected(best: list[Cell], value: float | None) -> str:
    moves = " or ".join(map(str, best))
    return moves if value is None else f"value {value:g} with {moves}"


def _plies(depth: int) -> str:
    return "one ply" if depth == 1 else f"{depth} plies"


def _listed(values: dict[Cell, float]) -> str:
    return ", ".join(f"{move} {value:g}" for move, value in values.items())


def _hints(
    watch: Watch, agent: Any, depth: int, move: Any, values: dict[Cell, float]
) -> tuple[str, ...]:
    """What the notes of a wrong search suggest."""
    hints = []
    deepest = max(watch.depths, default=0)
    if not watch.scored:
        hints.append("It never asked self.score for a value.")
    elif deepest != depth:
        hints.append(
            f"It scored positions {_plies(deepest) if deepest else 'no ply'} ahead instead of "
            f"{_plies(depth)}: with depth=1, the positions right after your moves are scored."
        )
    if any(player != agent for _, player in watch.scored):
        hints.append(
            "It asked for the opponent's score. Every position is scored for yourself, "
            "self.score(game, self), whoever is to move there."
        )
    elif deepest == depth and not hints and isinstance(move, tuple) and move in values:
        hints.append(
            "The right positions were scored for the right player; so look at who takes the "
            "greatest value and who the least: you at your own moves, the opponent at its moves."
        )
    if isinstance(move, list):
        hints.append("A move is a tuple, (row, column); the board does not know lists.")
    return tuple(hints)


# -- pruning -----------------------------------------------------------------------------------


def prunes(subject: Subject) -> str:
    """Count the positions that alphabeta scores, and compare with the textbook's."""
    mine = textbook = without = 0
    for place, salt, depth in PRUNED:
        score = scrambled(salt)
        found = _leaves(subject, place, score, depth)
        usual = _reference_leaves(place, score, depth)
        every = _reference_leaves(place, score, depth, pruning=False)
        if len(found) > len(usual) and found != sorted(found):
            usual = _reference_leaves(place, score, depth, like=found)
        if len(found) > len(usual):
            _too_many(place, depth, found, usual, every)
        mine, textbook, without = mine + len(found), textbook + len(usual), without + len(every)
    found = _leaves(subject, TIES, improved_score, 3)
    usual = _reference_leaves(TIES, improved_score, 3)
    if len(found) > len(usual) and found == sorted(found):
        raise Finding(
            "goes on where values are equal to a bound",
            (
                f"With equal values it scores {len(found)} positions and the textbook "
                f"{len(usual)}: a branch can be left as soon as a value equals the bound (>= beta, "
                "<= alpha), not only when it is beyond.",
            ),
            place=TIES,
            mark="warning",
        )
    return f"{mine} leaves scored; the textbook {textbook}, minimax {without}"


def _too_many(
    place: Place, depth: int, found: list[Path], usual: list[Path], every: list[Path]
) -> None:
    """Tell of a search that scores more than it need."""
    own_order = found != sorted(found)
    whose = "your" if own_order else "the board's"
    counts = (
        f"alphabeta(game, depth={depth}) scored {len(found)} positions {_plies(depth)} ahead. "
        f"Textbook alpha-beta, which takes moves in {whose} order, "
        f"scores {len(usual)} of them and minimax {len(every)}."
    )
    if own_order and len(found) < len(every):
        raise Finding(
            "orders moves itself, and scores more for it",
            (counts, "Perhaps it scores positions to sort moves: that is not free either."),
            place=place,
            mark="warning",
        )
    extra = [path for path in found if path not in set(usual)]
    example = " ".join(map(str, extra[0])) if extra else ""
    raise Finding(
        "does not prune" if len(found) >= len(every) else "does not prune enough",
        (
            counts,
            f"For instance it scored what comes after {example}: by then it was known that this "
            "branch would not be chosen."
            if example
            else "It scored positions that could not matter any more.",
            "At your own moves, leave the loop when the best value is at least beta, else raise "
            "alpha to it; at the opponent's, leave when the least is at most alpha, else lower "
            "beta. Both bounds go down with every call.",
        ),
        f"at most {len(usual)} positions scored",
        f"{len(found)}",
        place,
    )


def _leaves(subject: Subject, place: Place, score: ScoreFn, depth: int) -> list[Path]:
    watch = Watch()
    agent = subject.player("alphabeta", depth, watch.scorer(score))
    game = place.board(agent, watch)
    _, move = subject.search("alphabeta", agent, game, depth, place)
    values = values_of_moves(place.board("reference"), depth, score)
    if not is_move(move, best_of(values)):
        raise Finding(
            "prunes what matters",
            (
                f"alphabeta(game, depth={depth}) has to answer what minimax does. Your moves are "
                f"worth: {_listed(values)}.",
            ),
            _expected(best_of(values), None),
            shown(move),
            place,
        )
    return watch.leaves(depth)


def _reference_leaves(
    place: Place,
    score: ScoreFn,
    depth: int,
    *,
    pruning: bool = True,
    like: list[Path] | None = None,
) -> list[Path]:
    """What the textbook scores, with moves in the board's order or in that of other leaves."""
    watch = Watch()
    game = place.board("reference", watch)
    if not pruning:
        minimax(game, depth, watch.scorer(score), "reference")
        return watch.leaves(depth)
    ranks: dict[Path, int] = {}
    for rank, leaf in enumerate(like or []):
        for length in range(1, depth + 1):
            ranks.setdefault(leaf[:length], rank)
    last = len(ranks)

    def order(paths: list[Path]) -> list[Path]:
        return sorted(paths, key=lambda path: (ranks.get(path, last), path))

    alphabeta(game, depth, watch.scorer(score), "reference", order=order)
    return watch.leaves(depth)


# -- no moves ----------------------------------------------------------------------------------


def says_so_without_moves(subject: Subject, kind: Kind) -> str:
    """Where there is nothing to be done, searches and get_move answer (-1, -1)."""
    for place in STUCK:
        watch = Watch()
        agent = subject.player(kind, 3, watch.scorer(improved_score))
        for depth in (1, 3):
            _, answer = subject.search(kind, agent, place.board(agent, Watch()), depth, place)
            _expect_no_move(answer, f"{kind}(game, depth={depth})", place)
        answer = subject.get_move(agent, place.board(agent, watch), Clock(watch, 150.0), place)
        _expect_no_move(answer, "get_move", place)
    return "(-1, -1), as it should be"


def _expect_no_move(answer: Any, what: str, place: Place) -> None:
    if not is_no_move(answer):
        raise Finding(
            f"answers {shown(answer)}",
            (f"There is no legal move here, and then {what} has to answer (-1, -1).",),
            "(-1, -1)",
            shown(answer),
            place,
        )
