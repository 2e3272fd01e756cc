"""Knight's Isolation as a game of OpenSpiel, and knightfall's agents as its bots.

Importing this module registers the game ``knights_isolation`` with `pyspiel`.  An action is a cell,
a whole number as in `Board`, for placements and moves alike.  Player 0 is the first player of a
`Position` (``w``), player 1 the second.  Agents that are bots of OpenSpiel are in
`knightfall.openspiel_bots`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knightfall.agents import Agent, parse_agent
from knightfall.agents.remote_player import RemotePlayer, player
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.optional_dependencies import require
from knightfall.position import Position

require("knightfall.openspiel", "pyspiel")

import pyspiel  # noqa: E402
from open_spiel.python.observation import IIGObserverForPublicInfoGame  # noqa: E402

__all__ = ["AgentBot", "IsolationGame", "IsolationState"]

PLACEMENTS = ("free", "random")
"""``free``: the players place their knights, first player first.  ``random``: two chance nodes
place them, so that every opening of the board is equally likely."""

PLANES = ("knight of player 0", "knight of player 1", "open cells", "player 0 is to move")
"""The planes of the observation tensor, in order; the last one is all ones or all zeros."""

CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
UNPLACED = -1


def _game_type(placement: str) -> pyspiel.GameType:
    """Return OpenSpiel's description of the game; only its chance mode depends on the placement."""
    chance = pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name="knights_isolation",
        long_name="Knight's Isolation",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance.EXPLICIT_STOCHASTIC if placement == "random" else chance.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"board": "7x7", "placement": "free"},
    )


class IsolationGame(pyspiel.Game):
    """Knight's Isolation on a board, with free or random placement of the knights."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {"board": "7x7", "placement": "free", **(params or {})}
        self.board = Board.named(given["board"])
        self.placement = given["placement"]
        if self.placement not in PLACEMENTS:
            raise KnightfallError(
                f"placement {self.placement!r} is unknown: it must be {' or '.join(PLACEMENTS)}"
            )
        cells, random = self.board.cells, self.placement == "random"
        info = pyspiel.GameInfo(
            num_distinct_actions=cells,
            max_chance_outcomes=cells if random else 0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=cells - 2 if random else cells,
        )
        super().__init__(_game_type(self.placement), info, given)
        self.reach = [sum(1 << cell for cell in cells) for cells in self.board.knight]
        """For each cell, the set of cells a knight's move away as bits: 1 << cell."""

    def new_initial_state(self, state: str | None = None) -> IsolationState:
        """Return the initial state, or the state of a FEN such as ``7/7/1N5/7/7/4n2/7 w``."""
        if state is None:
            return IsolationState(self)
        position = Position.from_fen(state)
        if position.board != self.board:
            raise KnightfallError(
                f"FEN {state!r} has a board of {position.board.text}; "
                f"this game's board is {self.board.text}"
            )
        if self.placement == "random" and not position.placed:
            raise KnightfallError(
                f"FEN {state!r} has a knight to place: with placement=random both must be placed"
            )
        return IsolationState(self, position)

    def max_chance_nodes_in_history(self) -> int:
        """Return how many placements are left to chance."""
        return 2 if self.placement == "random" else 0

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: dict[str, Any] | None = None,
    ) -> BoardObserver | IIGObserverForPublicInfoGame:
        """Return an observer of positions, or of the history if perfect recall is asked for."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return BoardObserver(self.board, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class IsolationState(pyspiel.State):
    """A state of the game, as whole numbers only, because OpenSpiel copies and pickles them often.

    `open` is the set of open cells as bits; `white` and `black` are the cells of the knights;
    `mover` is 0 or 1; `acting` is the mover, or OpenSpiel's number for chance or the end.
    """

    def __init__(self, game: IsolationGame, position: Position | None = None) -> None:
        super().__init__(game)
        self.open = (1 << game.board.cells) - 1
        self.white = self.black = UNPLACED
        self.mover = 0
        if position is not None:
            self.open = sum(1 << cell for cell in position.open)
            self.white = UNPLACED if position.white is None else position.white
            self.black = UNPLACED if position.black is None else position.black
            self.mover = 0 if position.to_move == "w" else 1
        self.acting = self._acting(game)

    def _acting(self, game: IsolationGame) -> int:
        """Return who acts: the mover, chance, or nobody (`TERMINAL`)."""
        if self.black == UNPLACED:
            return CHANCE if game.placement == "random" else self.mover
        here = self.black if self.mover else self.white
        return self.mover if game.reach[here] & self.open else TERMINAL

    @property
    def position(self) -> Position:
        """The state as a `Position` of knightfall."""
        board = self.get_game().board
        is_open = frozenset(cell for cell in range(board.cells) if self.open >> cell & 1)
        white = None if self.white == UNPLACED else self.white
        black = None if self.black == UNPLACED else self.black
        return Position(board, is_open, white, black, "b" if self.mover else "w")

    # -- what OpenSpiel calls --------------------------------------------------------------

    def current_player(self) -> int:
        """Return the number of the player to act, or OpenSpiel's number for chance or the end."""
        return self.acting

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.acting == TERMINAL

    def returns(self) -> list[float]:
        """Return 1 for the winner and −1 for the loser; zeros before the end."""
        if self.acting != TERMINAL:
            return [0.0, 0.0]
        return [1.0, -1.0] if self.mover else [-1.0, 1.0]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cells for the next knight with probabilities.

        They make all positions with both knights placed equally likely, except those in which
        player 0 has no move: the first knight's probability is its share of these positions.
        """
        game: IsolationGame = self.get_game()
        if self.white == UNPLACED:
            counts = [len(self._second_cells(game, cell)) for cell in range(game.board.cells)]
            return [(cell, one / sum(counts)) for cell, one in enumerate(counts) if one]
        cells = self._second_cells(game, self.white)
        return [(cell, 1 / len(cells)) for cell in cells]

    @staticmethod
    def _second_cells(game: IsolationGame, first: int) -> list[int]:
        """Return the cells on which the second knight leaves the first one a move."""
        return [
            cell
            for cell in range(game.board.cells)
            if cell != first and game.reach[first] & ~(1 << cell)
        ]

    def _legal_actions(self, player: int) -> list[int]:
        """Return the cells that the player to act may go to, in ascending order."""
        game: IsolationGame = self.get_game()
        if self.black == UNPLACED:
            targets: Any = range(game.board.cells)
        else:
            targets = game.board.knight[self.black if player else self.white]
        return [cell for cell in targets if self.open >> cell & 1]

    def _apply_action(self, action: int) -> None:
        """Place or move the mover's knight, or the next one if chance acts."""
        self.open ^= 1 << action
        if self.mover:
            self.black = action
        else:
            self.white = action
        self.mover ^= 1
        self.acting = self._acting(self.get_game())

    def _action_to_string(self, player: int, action: int) -> str:
        """Return the name of the cell, such as ``c4``."""
        name: str = self.get_game().board.name(action)
        return name

    def __str__(self) -> str:
        return self.position.fen


class BoardObserver:
    """Observes the whole board: `PLANES` as the tensor, the FEN as the string.

    Both players observe the same.
    """

    def __init__(self, board: Board, params: dict[str, Any] | None = None) -> None:
        if params:
            raise KnightfallError(f"observations have no parameters, but {params!r} was given")
        shape = (len(PLANES), board.height, board.width)
        self.tensor = np.zeros(len(PLANES) * board.cells, np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}
        self._planes = self.tensor.reshape(len(PLANES), board.cells)

    def set_from(self, state: IsolationState, player: int) -> None:
        """Set the tensor to what is seen in a state."""
        planes = self._planes
        planes.fill(0)
        for plane, cell in enumerate((state.white, state.black)):
            if cell != UNPLACED:
                planes[plane, cell] = 1
        planes[2] = [state.open >> cell & 1 for cell in range(planes.shape[1])]
        planes[3] = 1 - state.mover

    def string_from(self, state: IsolationState, player: int) -> str:
        """Return the FEN of a state."""
        return str(state)


class AgentBot(pyspiel.Bot):
    """A bot that plays the moves of an agent, for whichever player is to act.

    What an agent remembers from move to move ends with `restart` and `restart_at`.
    """

    def __init__(self, agent: str) -> None:
        """Parse an agent string such as ``id(improved, nodes=2500)``; `step` compiles the agent."""
        super().__init__()
        self._agent = parse_agent(agent)
        self._player: Agent | RemotePlayer | None = None

    def __str__(self) -> str:
        return str(self._agent)

    def step(self, state: IsolationState) -> int:
        """Return the action that the agent chooses, a placement or a move.

        Raise an `AgentFailure` if users' code fails or answers too late.
        """
        position = state.position
        if self._player is None:
            self._player = player(self._agent.for_game(position.board), position.board)
        return position.board.cell(self._player.analyse(position).move)

    def restart(self) -> None:
        """Begin another game."""
        if isinstance(self._player, RemotePlayer):
            self._player.end_game()
        self._player = None

    def restart_at(self, state: IsolationState) -> None:
        """Begin another game at a state."""
        self.restart()


pyspiel.register_game(_game_type("free"), IsolationGame)
