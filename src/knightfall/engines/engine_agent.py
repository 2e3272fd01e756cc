"""The agent kinds ``uci(COMMAND…)`` and ``engine(COMMAND…)``: engines of other programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from knightfall.agents.base import Agent, read_seed
from knightfall.agents.kinds import ForeignAgent
from knightfall.board import Board
from knightfall.engines.engine_players import EnginePlayer, LinePlayer, UciPlayer
from knightfall.errors import KnightfallError
from knightfall.position import Side
from knightfall.search.budget import KINDS, Budget, parse_budget

# A command may contain commas and parentheses, so options are parsed from the end of the text.
_OPTION = re.compile(r",\s*([A-Za-z][\w. ]*?)\s*=\s*([^,=()'\"]*?)\s*$")

SETTING = "option."
"""What precedes the name of an engine's own option."""

PYTHON = "python", "python3"
"""Programs that mean the Python which runs knightfall: it can be used in every sandbox."""


@dataclass(frozen=True)
class EngineAgent(ForeignAgent):
    """An agent that is another program; `heuristic` holds the command that starts it.

    The command is split into words as a shell does it.  Each game starts the program anew.
    """

    argument = "a command"
    budgets = KINDS
    default = Budget(time=100_000)
    reads_itself = True
    accepts: ClassVar[tuple[str, ...]] = KINDS

    settings: tuple[tuple[str, str], ...] = ()

    # -- the agent's string ----------------------------------------------------------------

    @classmethod
    def read(cls, text: str) -> Agent:
        """Parse ``uci(COMMAND, time=1s)`` into an agent."""
        command, options = cls._peeled(text)
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise KnightfallError(f"agent {text!r}: the command has an error: {error}") from None
        if not words:
            raise KnightfallError(f"agent {text!r} needs a command first, as in {cls.example}")
        budget = {key: value for key, value in options.items() if key in KINDS}
        settings = [(key, value) for key, value in options.items() if key.startswith(SETTING)]
        return cls(
            shlex.join(words),
            parse_budget(budget) if budget else cls.default,
            seed=read_seed(options["seed"]) if "seed" in options else 0,
            settings=tuple((key.removeprefix(SETTING), value) for key, value in settings),
        )

    @classmethod
    def split(cls, text: str) -> tuple[str, tuple[str, ...]]:
        """See `Agent`."""
        command, options = cls._peeled(text)
        return command, tuple(f"{key}={value}" for key, value in options.items())

    @classmethod
    def _peeled(cls, text: str) -> tuple[str, dict[str, str]]:
        """Split an agent's string into the command and the options after it."""
        match = re.fullmatch(rf"\s*{cls.kind}\s*(?:\((.*)\))?\s*", text, re.DOTALL)
        if match is None:
            raise KnightfallError(f"agent {text!r} cannot be read: engines look like {cls.example}")
        inside, options = f"{match[1] or ''}".strip(), dict[str, str]()
        while option := _OPTION.search(inside):
            key, value = option.groups()
            if key in options:
                raise KnightfallError(f"agent {text!r}: {key} is given twice")
            if key not in cls.accepts and not (
                key.startswith(SETTING) and SETTING in cls.accepts and key != SETTING
            ):
                accepted = ", ".join(f"{one}NAME" if one == SETTING else one for one in cls.accepts)
                raise KnightfallError(
                    f"agent {text!r}: cannot use {key}={value}; {cls.kind} takes a command, "
                    f"{accepted}, as in {cls.example}"
                )
            options[key] = value
            inside = inside[: option.start()].rstrip()
        return inside, dict(reversed(options.items()))

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        yield from (f"{SETTING}{name}={value}" for name, value in self.settings)

    # -- properties ------------------------------------------------------------------------

    has_users_code = True
    is_process_local = False
    users_functions = ()

    @cached_property
    def command(self) -> tuple[str, ...]:
        """Return the words of the command."""
        return tuple(shlex.split(self.heuristic))

    @property
    def files(self) -> tuple[str, ...]:
        """See `Agent`; all words, because any of them may make a program do something."""
        return self.command

    def program(self) -> str:
        """Return the path of the program.  Raise a `KnightfallError` if there is none."""
        word = self.command[0]
        if word in PYTHON:
            return sys.executable
        path = os.path.expanduser(word)
        if os.path.dirname(path):
            if not os.path.isfile(path):
                raise KnightfallError(f"agent {self.name}: there is no program {word!r}")
            if not os.access(path, os.X_OK):
                raise KnightfallError(
                    f"agent {self.name}: {word!r} is not executable: chmod +x makes it so"
                )
            return os.path.abspath(path)
        found = shutil.which(word)
        if found is None:
            hint = f"; write ./{word} for that of this folder" if os.path.isfile(word) else ""
            raise KnightfallError(
                f"agent {self.name}: there is no program {word!r} in the folders of PATH{hint}"
            )
        return os.path.abspath(found)

    def sources(self) -> Iterable[str]:
        """See `Agent`: the program, if its path has a slash, and arguments that are files."""
        first = [self.program()] if os.path.dirname(self.command[0]) else []
        others = [os.path.abspath(word) for word in self.command[1:] if os.path.isfile(word)]
        return [*first, *others]

    def folders(self) -> list[str]:
        """See `Agent`: the folders of the program and of arguments that are files or folders."""
        found = []
        for path in (self.program(), *self.command[1:]):
            for one in (os.path.abspath(path), os.path.realpath(path)):
                if os.path.isdir(one):
                    found.append(one)
                elif os.path.exists(one):
                    found.append(os.path.dirname(one))
        return list(dict.fromkeys(found))

    def absolute(self) -> Self:
        """See `Agent`."""
        first, *others = self.command
        if os.path.dirname(first):
            first = os.path.abspath(os.path.expanduser(first))
        others = [os.path.abspath(word) if os.path.exists(word) else word for word in others]
        return replace(self, heuristic=shlex.join([first, *others]))

    def check(self) -> None:
        """See `Agent`; also looks for the program."""
        self.program()
        super().check()

    # -- in the process that hosts the engine ----------------------------------------------

    def load(self) -> None:
        """See `Agent`; the program starts with each game."""
        self.program()

    def warm_up(self, board: Board | None = None) -> None:
        """See `Agent`; notes the board, for the beginning of the next game."""
        _next_board[:] = [board] if board else []

    def new_game(self, seed: int, side: Side) -> EnginePlayer:
        """See `Agent`; starts the engine."""
        words = [self.program(), *self.command[1:]]
        player = self._player(words, seed)
        player.prepare(*_next_board or [Board.of(7, 7)])
        return player

    def _player(self, words: list[str], seed: int) -> EnginePlayer:
        raise NotImplementedError

    def loaded_files(self) -> list[str]:
        """See `Agent`; `sources` finds the files without starting the program."""
        return []


_next_board: list[Board] = []
"""The board of the next game, as far as it is known."""


@dataclass(frozen=True)
class UciAgent(EngineAgent):
    """An engine that speaks UCI, and plays the variant Joust."""

    kind = "uci"
    summary = "any UCI engine that plays Joust, such as Fairy-Stockfish; a command with arguments"
    example = "uci(./fairy-stockfish, time=1s)"
    accepts = (*KINDS, SETTING)

    def _player(self, words: list[str], seed: int) -> Any:
        return UciPlayer(words, self.budget, dict(self.settings))


@dataclass(frozen=True)
class LineAgent(EngineAgent):
    """An engine that speaks knightfall's line protocol."""

    kind = "engine"
    summary = "a program of your own in any language that reads positions and writes moves as lines"
    example = "engine(./mine, time=1s)"
    accepts = (*KINDS, "seed")

    def _player(self, words: list[str], seed: int) -> Any:
        return LinePlayer(words, self.budget, seed)
