"""The game as an environment of PettingZoo, in which two agents move in turn.

>>> from knightfall.env import knightfall_v0
>>> env = knightfall_v0.env()
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     mask = observation["action_mask"]
...     env.step(None if over else env.action_space(agent).sample(mask))
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from gymnasium.utils import EzPickle, seeding
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from knightfall.board import Board
from knightfall.env.observation import (
    PLACEMENTS,
    RENDER_MODES,
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
from knightfall.errors import KnightfallError
from knightfall.position import Position, Side

__all__ = ["env", "raw_env"]

AGENTS: dict[str, Side] = {"player_0": "w", "player_1": "b"}
"""The agents in the order in which they move, and their sides."""


def env(
    board: str = "7x7", placement: str = "random", render_mode: str | None = None
) -> AECEnv[Any, Any, Any]:
    """Return the environment with PettingZoo's wrappers: an illegal move loses with a reward of −1.

    The arguments are those of `raw_env`.
    """
    wrapped = raw_env(board=board, placement=placement, render_mode=render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv, EzPickle):  # type: ignore[misc]
    """The environment without wrappers; it raises an error for an illegal move.

    `board` is width and height, such as ``7x7``.  With the `placement` ``random`` the knights stand
    on random cells at the beginning; with ``free`` the first action of each player places its
    knight.  The action is the number of the cell to go to.  The winner gets a reward of 1 and the
    loser −1 when the game ends; there are no draws.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "knightfall_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self, board: str = "7x7", placement: str = "random", render_mode: str | None = None
    ) -> None:
        EzPickle.__init__(self, board, placement, render_mode)
        super().__init__()
        self.board = Board.named(board)
        self.placement = checked("placement", placement, PLACEMENTS)
        if render_mode is not None:
            checked("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.action_spaces = {agent: spaces.Discrete(self.board.cells) for agent in AGENTS}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": planes_space(self.board),
                    "action_mask": spaces.Box(0, 1, (self.board.cells,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.position = Position.start(self.board.width, self.board.height)
        self._episodes = Episodes(self.board, self.placement, "w")

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions: the cells of the board."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.  The option ``fen`` is the position to begin with; others are ignored.

        The same seed gives the same sequence of games: a reset without a seed continues it.
        """
        if seed is not None or self._episodes.word is None:
            self._episodes.seed(seeding.np_random(seed)[0])
        given = given_start(options, self.board)
        drawn = self._episodes.next().position
        self.position = given or drawn
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._to_move()
        self._show()

    def observe(self, agent: str) -> dict[str, Planes]:
        """Return what an agent sees; the mask is all zeros for the one that waits."""
        side = AGENTS[agent]
        legal = self.position.targets(side) if side == self.position.to_move else []
        return {
            "observation": planes_of(self.position, side),
            "action_mask": mask_of(self.board, legal),
        }

    def step(self, action: int | None) -> None:
        """Move the selected agent's knight to a cell, or remove the agent if the game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        position = self.position
        cell = cell_of(action)
        if cell not in position.targets(position.to_move):
            legal = ", ".join(map(str, position.targets(position.to_move)))
            raise KnightfallError(f"action {action!r} is illegal here; legal actions: {legal}")
        self.position = position.play(self.board.name(cell))
        self._cumulative_rewards[agent] = 0.0
        self.agent_selection = self._to_move()
        if self.position.winner is not None:
            self.rewards = {agent: 1.0, self.agent_selection: -1.0}
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._show()

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or pixels; with ``human``, print it."""
        if self.render_mode is None:
            logger.warn(f"render() needs render_mode: one of {', '.join(RENDER_MODES)}")
        return rendered(self.position, self.render_mode)

    def close(self) -> None:
        """Do nothing: there is no window to close."""

    def _to_move(self) -> str:
        return next(agent for agent, side in AGENTS.items() if side == self.position.to_move)

    def _show(self) -> None:
        if self.render_mode == "human":
            rendered(self.position, "human")
