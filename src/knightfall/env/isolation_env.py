"""The game as an environment of Gymnasium: one learner against any agent of knightfall."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from knightfall.agents import Agent, parse_agent
from knightfall.agents.remote_player import RemotePlayer, player
from knightfall.board import Board
from knightfall.env.observation import (
    PLACEMENTS,
    RENDER_MODES,
    SIDES,
    Episodes,
    Planes,
    cell_of,
    checked,
    given_start,
    mask_of,
    planes_of,
    planes_space,
)
from knightfall.env.rendering import rendered
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.position import Position, Side, other
from knightfall.solver.solve import Solver


class Opponent:
    """An agent that plays one game after the other, each with a seed of its own."""

    def __init__(self, text: str, board: Board) -> None:
        self._agent, self._board = parse_agent(text), board
        ready = player(self._agent, board)
        self._remote = isinstance(ready, RemotePlayer)
        self._player: Agent | RemotePlayer = ready
        self.end_game()

    def begin_game(self, seed: int) -> None:
        """Begin a game; the seed counts unless the agent's string has one."""
        self.end_game()
        agent = replace(self._agent, seed=self._agent.seed or seed)
        self._player = RemotePlayer(agent) if self._remote else agent.for_game(self._board)

    def move(self, position: Position) -> str | None:
        """Return the agent's move; None if it loses the game instead, for example by resigning."""
        try:
            return self._player.analyse(position).move
        except AgentFailure as failure:
            if failure.reason == "crash":
                raise
            return None

    def end_game(self) -> None:
        """End the game; the process of an agent that has one is kept for the next game."""
        if isinstance(self._player, RemotePlayer):
            self._player.end_game()

    def close(self) -> None:
        """End the agent's process, if it has one."""
        if isinstance(self._player, RemotePlayer):
            self._player.close()


class IsolationEnv(gymnasium.Env[Planes, np.int64]):
    """One learner against an opponent, or moving for both sides.

    Parameters:
        board: width and height, such as ``7x7``.
        placement: ``random`` begins with both knights on random cells; with ``free`` the first
            action of each player places its knight.
        opponent: the string of any agent.  With None the learner moves for both sides in turn: it
            always sees the position as the player to move does.
        side: the learner's side: ``w`` moves first, ``b`` second; ``random`` draws it for each
            game.  It has no effect without an opponent.
        winning_moves: whether ``info["winning_moves"]`` has the exact winning moves.
        render_mode: ``human`` (prints the board after each step), ``ansi`` or ``rgb_array``.

    The action is the number of the cell to go to, and ``info["action_mask"]`` has a one for each
    legal action.  The reward is 1 for a won game, −1 for a lost game or an illegal action, which
    ends the game, and 0 before.  When the learner moves for both sides, the last move wins.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    def __init__(
        self,
        board: str = "7x7",
        placement: str = "random",
        opponent: str | None = "random",
        side: str = "random",
        winning_moves: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.board = Board.named(board)
        if render_mode is not None:
            checked("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.observation_space = planes_space(self.board)
        self.action_space = spaces.Discrete(self.board.cells)
        self._episodes = Episodes(
            self.board, checked("placement", placement, PLACEMENTS), checked("side", side, SIDES)
        )
        self._opponent = None if opponent is None else Opponent(opponent, self.board)
        self._solver = Solver.of(self.board) if winning_moves else None
        self.position = Position.start(self.board.width, self.board.height)
        self.side: Side = "w"
        self._mask = mask_of(self.board, ())
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Begin a game and return what the learner sees at its first turn.

        The same seed gives the same sequence of games: a reset without a seed continues it.  The
        option ``fen`` is a position to begin with, in which the learner moves; others are ignored.
        """
        super().reset(seed=seed)
        if seed is not None or self._episodes.word is None:
            self._episodes.seed(self.np_random)
        given = given_start(options, self.board)
        episode = self._episodes.next()
        self.position, self.side = given or episode.position, episode.side
        if given is not None or self._opponent is None:
            self.side = self.position.to_move
        self._over = False
        if self._opponent is not None:
            self._opponent.begin_game(episode.opponent_seed)
            if self.side != self.position.to_move:
                self._reply()
        return self._seen()

    def step(self, action: np.int64 | int) -> tuple[Planes, float, bool, bool, dict[str, Any]]:
        """Move the learner's knight, then the opponent's.

        Return the observation, the reward, whether the game is over, False, and the info.
        """
        if self._over:
            raise KnightfallError("no game is being played: call reset() before step()")
        cell = cell_of(action)
        legal = cell in self.position.targets(self.side)
        if legal:
            self.position = self.position.play(self.board.name(cell))
        winner = self.position.winner if legal else other(self.side)
        reward = 0.0
        if self._opponent is not None and winner is None:
            winner = self._reply()
        if winner is not None:
            reward = 1.0 if winner == self.side else -1.0
            self._over = True
        if self._opponent is None:
            self.side = self.position.to_move
        observation, info = self._seen()
        return observation, reward, self._over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return whether each action is legal: ``info["action_mask"]``, for MaskablePPO."""
        return self._mask.astype(np.bool_)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or pixels; with ``human``, print it."""
        return rendered(self.position, self.render_mode)

    def close(self) -> None:
        """End the opponent's process, if it has one."""
        if self._opponent is not None:
            self._opponent.close()

    def _reply(self) -> Side | None:
        """Play the opponent's move; return the winner, or None if the game goes on."""
        assert self._opponent is not None
        move = self._opponent.move(self.position)
        if move is None:
            return self.side
        self.position = self.position.play(move)
        return self.position.winner

    def _seen(self) -> tuple[Planes, dict[str, Any]]:
        """Return what the learner sees, and the info; print the board if it is to be shown."""
        if self.render_mode == "human":
            rendered(self.position, "human")
        here = not self._over and self.position.to_move == self.side
        legal = self.position.targets(self.side) if here else ()
        self._mask = mask_of(self.board, legal)
        info = {"action_mask": self._mask.copy()}
        if self._solver is not None:
            names = self._solver.winning_moves(self.position) if here else ()
            info["winning_moves"] = mask_of(self.board, map(self.board.cell, names))
        return planes_of(self.position, self.side), info
