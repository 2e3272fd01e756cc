"""Thousands of games at once in compiled code: the environment of `gymnasium.make_vec`.

`isolation_env` is the same in plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numba import from_dtype, types

from knightfall.board import Board
from knightfall.env.observation import (
    PLACEMENTS,
    PLANES,
    SIDES,
    Planes,
    checked,
    first_word,
    given_start,
    openings,
    planes_space,
)
from knightfall.errors import KnightfallError
from knightfall.kernel.bits import Bits
from knightfall.kernel.compile import compiled
from knightfall.kernel.rules import GEOMETRY, POCKET, Geometry, geometry, moves, words
from knightfall.search.budget import LEAF_STEP_LIMIT
from knightfall.search.game_loop import search_for
from knightfall.search.search_state import (
    DTYPE,
    NO_ANSWER,
    SETTINGS,
    SETTINGS_DTYPE,
    STATE,
    scramble,
)
from knightfall.search.transposition_table import new_table

# -- compiled steps --------------------------------------------------------------------------------
#
# Every function goes through an array of games.  A game is a record; `me` is the learner's knight,
# or that of the player to move if the learner moves for both sides.

_u64, _i64, _i8 = types.uint64, types.int64, types.int8

GAME_DTYPE = np.dtype(
    [
        ("open", "u8"),
        ("me", "i8"),
        ("opponent", "i8"),
        ("my_turn", "i8"),  # 0: the opponent is to move
        ("word", "u8"),  # the state of the game's random numbers
        ("seed", "u8"),  # the opponent's seed in this game
    ],
    align=True,
)
GAME = from_dtype(GAME_DTYPE)
Games = Any

LEARNER_FIRST, LEARNER_SECOND, LEARNER_RANDOM = 0, 1, 2

_BOARDS, _GAMES = types.Array(GEOMETRY, 1, "C"), types.Array(GAME, 1, "C")
_FLAGS, _REWARDS = types.Array(types.boolean, 1, "C"), types.Array(types.float64, 1, "C")


@compiled(_u64(GAME))
def _draw(game: Any) -> int:
    """Return the game's next random word."""
    game.word += _u64(0x9E3779B97F4A7C15)
    return scramble(game.word)


@compiled(types.void(_BOARDS, _GAMES, _FLAGS, types.Array(_i64, 2, "C"), _i64))
def begin(boards: Any, games: Games, chosen: Any, openings: Any, side: int) -> None:
    """Begin a new game wherever `chosen` is true.

    The knights stand on a random one of the `openings`; if there are none, they are to be placed.
    """
    board = boards[0]
    for number in range(len(games)):
        if not chosen[number]:
            continue
        game = games[number]
        chance, seed = _draw(game), _draw(game)
        game.seed = (seed >> _u64(1)) | _u64(1)
        white, black, open = _i64(POCKET), _i64(POCKET), board.every
        if len(openings) > 0:
            drawn = ((chance >> _u64(32)) * _u64(len(openings))) >> _u64(32)
            white, black = openings[drawn, 0], openings[drawn, 1]
            open &= ~((_u64(1) << _u64(white)) | (_u64(1) << _u64(black)))
        game.open = open
        second = side == LEARNER_SECOND
        if side == LEARNER_RANDOM:
            second = (chance & _u64(1)) != _u64(0)
        game.me, game.opponent, game.my_turn = white, black, 1
        if second:
            game.me, game.opponent, game.my_turn = black, white, 0


@compiled(
    types.void(_BOARDS, _GAMES, _FLAGS, types.Array(_i64, 1, "C"), types.boolean, _REWARDS, _FLAGS)
)
def act(
    boards: Any, games: Games, skipped: Any, actions: Any, both: bool, rewards: Any, over: Any
) -> None:
    """Play the learner's actions, except in games that are `skipped`; write rewards and endings.

    With `both`, the learner moves for both sides, and the game turns to the other one's view.
    """
    board = boards[0]
    for number in range(len(games)):
        rewards[number], over[number] = 0.0, False
        if skipped[number]:
            continue
        game, action = games[number], actions[number]
        legal = moves(board, game.open, game.me)
        if action < 0 or action >= board.cells or (legal >> _u64(action)) & _u64(1) == _u64(0):
            rewards[number], over[number] = -1.0, True
            continue
        game.open &= ~(_u64(1) << _u64(action))
        game.me = action
        if moves(board, game.open, game.opponent) == _u64(0):
            rewards[number], over[number] = 1.0, True
        if both:
            game.me, game.opponent = game.opponent, game.me
        else:
            game.my_turn = 0


@compiled(
    _i64(
        _BOARDS,
        types.Array(STATE, 1, "C"),
        types.Array(SETTINGS, 1, "C"),
        _GAMES,
        _u64,
        types.boolean,
        _REWARDS,
        _FLAGS,
    )
)
def reply(
    boards: Any,
    states: Any,
    players: Any,
    games: Games,
    generation: int,
    seeded: bool,
    rewards: Any,
    over: Any,
) -> int:
    """Play the opponent's moves in all games in which it is to move; write rewards and endings.

    With `seeded`, the opponent gets each game's own seed.  The searches are numbered from
    `generation` on.  Return the next number, or −1 if the opponent's heuristic failed.
    """
    board, state, player = boards[0], states[0], players[0]
    for number in range(len(games)):
        game = games[number]
        if game.my_turn != 0 or over[number]:
            continue
        if seeded:
            player.seed = game.seed
        generation += _u64(1)
        search_for(board, state, player, generation, game.open, game.opponent, game.me)
        if board.failed != 0:
            return -1
        game.my_turn = 1
        cell = state.move
        if cell == NO_ANSWER:
            rewards[number], over[number] = 1.0, True
            game.my_turn = 0
            continue
        game.opponent = cell
        game.open &= ~(_u64(1) << _u64(cell))
        if moves(board, game.open, game.me) == _u64(0):
            rewards[number], over[number] = -1.0, True
    return _i64(generation)  # type: ignore[no-any-return]


@compiled(_u64(_i64))
def _cell(knight: int) -> Bits:
    """Return the set of a knight's cell; empty while it is in the pocket."""
    return _u64(0) if knight == POCKET else _u64(1) << _u64(knight)  # type: ignore[no-any-return]


@compiled(types.boolean(GEOMETRY, GAME))
def _hunts(board: Geometry, game: Any) -> bool:
    """Return whether the learner is the hunter; false before both knights are placed."""
    if game.me == POCKET or game.opponent == POCKET:
        return False
    mine = (board.dark >> _u64(game.me)) & _u64(1)
    theirs = (board.dark >> _u64(game.opponent)) & _u64(1)
    return (mine == theirs) == (game.my_turn != 0)  # type: ignore[no-any-return]


@compiled(
    types.void(
        _BOARDS,
        _GAMES,
        _FLAGS,
        _FLAGS,
        types.Array(_i8, 3, "C"),
        types.Array(_i8, 2, "C"),
    )
)
def observe(boards: Any, games: Games, chosen: Any, over: Any, planes: Any, masks: Any) -> None:
    """Write planes and masks of the games that are `chosen`; the mask is zero if a game is over."""
    board = boards[0]
    for number in range(len(games)):
        if not chosen[number]:
            continue
        game = games[number]
        mine, theirs = _cell(game.me), _cell(game.opponent)
        open = game.open
        targets = moves(board, open, game.me)
        others = moves(board, open, game.opponent)
        turn, hunter = _i8(game.my_turn), _i8(_hunts(board, game))
        legal = targets
        if over[number] or game.my_turn == 0:
            legal = _u64(0)
        for cell in range(board.cells):
            at = _u64(cell)
            planes[number, cell, 0] = (mine >> at) & _u64(1)
            planes[number, cell, 1] = (theirs >> at) & _u64(1)
            planes[number, cell, 2] = (open >> at) & _u64(1)
            planes[number, cell, 3] = (targets >> at) & _u64(1)
            planes[number, cell, 4] = (others >> at) & _u64(1)
            planes[number, cell, 5] = turn
            planes[number, cell, 6] = hunter
            masks[number, cell] = (legal >> at) & _u64(1)


# -- the environment -------------------------------------------------------------------------------


Flags = npt.NDArray[np.bool_]
Infos = dict[str, Any]
Steps = tuple[Planes, npt.NDArray[np.float64], Flags, Flags, Infos]

_SIDES = {"w": LEARNER_FIRST, "b": LEARNER_SECOND, "random": LEARNER_RANDOM}


class CompiledOpponent:
    """The moves of an agent that is a compiled search, in all games of a vector."""

    def __init__(self, text: str, board: Board) -> None:
        from knightfall.arena.play import searcher

        found = searcher(text)
        if found is None:
            raise KnightfallError(
                f"opponent {text!r} is not a compiled search with a node or depth budget, as random"
                f", greedy(improved) and id(improved, nodes=500) are: use "
                "gymnasium.make_vec(…, vectorization_mode='sync'), which asks it move by move"
            )
        self._evaluator, self._seeded = found.evaluator, found.seed == 0
        self._player = np.zeros(1, SETTINGS_DTYPE)
        self._player[0] = found.settings
        self._table = new_table(found.entries)
        self._player["seed"], self._player["table"] = found.seed, self._table.ctypes.data
        self._state = np.zeros(1, DTYPE)
        self._boards = geometry(board, LEAF_STEP_LIMIT)
        self._boards["limit"] = found.settings["limit"]
        self._generation = 0

    def reply(self, games: Any, rewards: Any, over: Flags) -> None:
        """Play the opponent's moves in all games in which it is to move."""
        with self._evaluator.explaining_errors(self._boards):
            self._generation = reply(
                self._boards,
                self._state,
                self._player,
                games,
                self._generation,
                self._seeded,
                rewards,
                over,
            )


class IsolationVectorEnv(VectorEnv[Planes, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """Many games of `IsolationEnv` at once, with the same results for the same seeds.

    The parameters are those of `IsolationEnv`, but the opponent must be a compiled search, and
    `winning_moves` and `render_mode` are refused.  `autoreset_mode` is ``NextStep``,
    ``SameStep`` or ``Disabled``, as for Gymnasium's own vector environments.
    """

    def __init__(
        self,
        num_envs: int = 1,
        board: str = "7x7",
        placement: str = "random",
        opponent: str | None = "random",
        side: str = "random",
        winning_moves: bool = False,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        for option, value in (("winning_moves", winning_moves), ("render_mode", render_mode)):
            if value:
                raise KnightfallError(
                    f"{option}={value!r} needs gymnasium.make_vec(…, vectorization_mode='sync')"
                )
        if type(num_envs) is not int or num_envs < 1:
            raise KnightfallError(f"num_envs={num_envs!r} must be a whole number from 1 on")
        if not isinstance(autoreset_mode, AutoresetMode):
            modes = tuple(mode.value for mode in AutoresetMode)
            autoreset_mode = AutoresetMode(checked("autoreset_mode", autoreset_mode, modes))
        self.num_envs = num_envs
        self.board = Board.named(board)
        self.metadata = {"render_modes": [], "autoreset_mode": autoreset_mode}
        self.single_observation_space = planes_space(self.board)
        self.single_action_space = spaces.Discrete(self.board.cells)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._mode = autoreset_mode
        self._side = _SIDES[checked("side", side, SIDES)]
        drawn = checked("placement", placement, PLACEMENTS) == "random"
        self._openings = np.array(openings(self.board) if drawn else (), np.int64).reshape(-1, 2)
        self._opponent = None if opponent is None else CompiledOpponent(opponent, self.board)
        if opponent is None:
            self._side = LEARNER_FIRST
        self._boards = geometry(self.board, LEAF_STEP_LIMIT)
        self._games = np.zeros(num_envs, GAME_DTYPE)
        self._seeded = np.zeros(num_envs, np.bool_)
        self._over = np.ones(num_envs, np.bool_)
        self._seen: Planes = np.zeros((num_envs, self.board.cells, len(PLANES)), np.int8)
        self._masks: Planes = np.zeros((num_envs, self.board.cells), np.int8)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Planes, Infos]:
        """Begin a game everywhere and return what the learner sees.

        Game number i gets the seed `seed` + i, or the seed number i of a list.  The option
        ``reset_mask`` has a true value for each game to begin anew, the others go on.  The option
        ``fen`` is the position to begin with, in which the learner moves.
        """
        chosen = self._chosen(options)
        seeds = self._seeds(seed)
        for number in np.flatnonzero(chosen & (~self._seeded | [one is not None for one in seeds])):
            generator, _ = seeding.np_random(seeds[number])
            self._games["word"][number] = first_word(generator)
        self._seeded |= chosen
        self._over &= ~chosen
        self._begin(chosen)
        given = given_start(options, self.board)
        if given is not None:
            for field, value in zip(("open", "me", "opponent"), words(given), strict=True):
                self._games[field][chosen] = value
            self._games["my_turn"][chosen] = 1
        self._observe(chosen)
        masks = {"action_mask": self._masks.copy(), "_action_mask": chosen.copy()}
        masks["action_mask"][~chosen] = 0
        return self._planes(), masks

    def step(self, actions: npt.ArrayLike) -> Steps:
        """Play one action in each game, and the opponents' replies.

        A game that is over begins anew in the same step or in the next one, which then ignores its
        action; see `autoreset_mode`.
        """
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise KnightfallError(f"actions of type {given.dtype} must be whole numbers: of cells")
        if given.shape != (self.num_envs,):
            raise KnightfallError(
                f"actions of shape {given.shape} are not one for each of {self.num_envs} games"
            )
        if not self._seeded.all():
            raise KnightfallError("no games are being played: call reset() before step()")
        restarted = self._over
        if self._mode == AutoresetMode.DISABLED and restarted.any():
            raise KnightfallError(
                f"game {int(restarted.argmax())} is over: reset it by the option reset_mask"
            )
        rewards, over = np.zeros(self.num_envs), np.zeros(self.num_envs, np.bool_)
        both, cells = self._opponent is None, np.ascontiguousarray(given, np.int64)
        act(self._boards, self._games, restarted, cells, both, rewards, over)
        if restarted.any():
            begin(self._boards, self._games, restarted, self._openings, self._side)
        if self._opponent is not None:
            self._opponent.reply(self._games, rewards, over)
        self._over = over
        self._observe(np.ones_like(over))
        infos: Infos = {}
        if self._mode == AutoresetMode.SAME_STEP and over.any():
            infos = self._final(over)
            self._over = np.zeros(self.num_envs, np.bool_)
            self._begin(over)
            self._observe(over)
        infos |= {"action_mask": self._masks.copy(), "_action_mask": np.ones_like(over)}
        return self._planes(), rewards, over.copy(), np.zeros_like(over), infos

    def _chosen(self, options: dict[str, Any] | None) -> Flags:
        """Return which games a reset begins anew."""
        chosen = (options or {}).get("reset_mask")
        if chosen is None:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(chosen)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise KnightfallError(
                f"reset_mask must be {self.num_envs} booleans, "
                f"not {mask.dtype} of shape {mask.shape}"
            )
        return mask.copy()

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        """Return the seed of each game."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + number for number in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise KnightfallError(
                f"{len(seed)} seeds are not one for each of {self.num_envs} games"
            )
        return list(seed)

    def _begin(self, chosen: Flags) -> None:
        """Begin games, up to the learner's first turn."""
        begin(self._boards, self._games, chosen, self._openings, self._side)
        if self._opponent is not None:
            # No other game waits for the opponent, and none can end with its first move.
            self._opponent.reply(self._games, np.zeros(self.num_envs), ~chosen)

    def _observe(self, chosen: Flags) -> None:
        """Update what the learner sees in some games."""
        observe(self._boards, self._games, chosen, self._over, self._seen, self._masks)

    def _planes(self) -> Planes:
        """Return a copy of what the learner sees in all games."""
        shape = (self.num_envs, self.board.height, self.board.width, len(PLANES))
        return self._seen.reshape(shape).copy()

    def _final(self, over: Flags) -> Infos:
        """Return the last observations of the games that are over, in the form of Gymnasium."""
        last = np.full(self.num_envs, None, dtype=object)
        planes = self._planes()
        for number in np.flatnonzero(over):
            last[number] = planes[number]
        masks = np.zeros_like(self._masks)
        return {
            "final_obs": last,
            "_final_obs": over.copy(),
            "final_info": {"action_mask": masks, "_action_mask": over.copy()},
            "_final_info": over.copy(),
        }
