"""A game held against the truth: which moves kept the win, which gave it away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from knightfall.notation.scoresheet import Scoresheet
from knightfall.oracle.truth import Truth
from knightfall.position import Position, Side, other

Verdict = Literal["keeps", "blunder", "safe", "only", "lost", "unknown"]

Listener = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Remark:
    """A move and what it did.  `winning` are the moves that win; None if that was not found out."""

    ply: int
    side: Side
    move: str
    legal: int
    winning: tuple[str, ...] | None
    placement: bool

    @property
    def verdict(self) -> Verdict:
        """``keeps`` and ``blunder`` are real choices: some moves won and some lost.

        ``only``: the one legal move, and it wins; ``safe``: every move wins; ``lost``: none does.
        """
        if self.winning is None:
            return "unknown"
        if not self.winning:
            return "lost"
        if self.move not in self.winning:
            return "blunder"
        if self.legal == 1:
            return "only"
        return "safe" if len(self.winning) == self.legal else "keeps"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A judged game.

    `winners` tells who wins each position of the game, from the start to the last: one more than
    there are moves.  None where it was not found out.
    """

    game: Scoresheet
    remarks: tuple[Remark, ...]
    winners: tuple[Side | None, ...]

    @property
    def partial(self) -> bool:
        """Whether Ctrl-C came before the truth about every move."""
        return None in self.winners

    def of(self, side: Side) -> list[Remark]:
        """The remarks on one player's moves."""
        return [remark for remark in self.remarks if remark.side == side]

    @property
    def blunders(self) -> list[Remark]:
        """Every win that was given away, by either player."""
        return [remark for remark in self.remarks if remark.verdict == "blunder"]

    @property
    def winner(self) -> Side | None:
        """Who won, or None if the game was left unfinished."""
        if self.game.resigned is not None:
            return other(self.game.resigned)
        return self.game.final.winner


def questions(game: Scoresheet) -> int:
    """What a listener of `annotate` will have counted up to at the end."""
    return sum(len(position.legal_moves) for position in game.line[:-1])


def annotate(game: Scoresheet, listener: Listener | None = None) -> Annotation:
    """Judge every placement and move of a game.

    The end is judged first, because it is easy: what is known when Ctrl-C comes stays.  `listener`
    hears how many moves, of all that could have been played, have been decided.
    """
    truth = Truth(game.start.board)
    winning: list[tuple[str, ...] | None] = [None] * len(game.moves)
    last: Side | None = None
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if listener is not None:
            listener(done)

    try:
        last = _winner(game.final, truth.wins(game.final))
        for at in range(len(game.moves) - 1, -1, -1):
            position, before = game.line[at], done
            winning[at] = truth.winning_moves(position, lambda: tell(1))
            tell(before + len(position.legal_moves) - done)
    except KeyboardInterrupt:
        if last is None:
            raise
    return Annotation(
        game=game,
        remarks=tuple(_remarks(game, winning)),
        winners=(*_winners(game, winning), last),
    )


def _remarks(game: Scoresheet, winning: Sequence[tuple[str, ...] | None]) -> list[Remark]:
    return [
        Remark(
            ply=at + 1,
            side=position.to_move,
            move=move,
            legal=len(position.legal_moves),
            winning=winning[at],
            placement=position.knight(position.to_move) is None,
        )
        for at, (position, move) in enumerate(zip(game.line, game.moves, strict=False))
    ]


def _winners(game: Scoresheet, winning: Sequence[tuple[str, ...] | None]) -> list[Side | None]:
    return [
        None if moves is None else _winner(position, bool(moves))
        for position, moves in zip(game.line, winning, strict=False)
    ]


def _winner(position: Position, mover_wins: bool) -> Side:
    return position.to_move if mover_wins else other(position.to_move)
