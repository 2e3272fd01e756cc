"""``knightfall play`` and ``watch``: a game against an agent, and one between two agents."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from knightfall.board import Board
from knightfall.cli.help_format import PlainCommand
from knightfall.cli.options import (
    STARTPOS,
    Json,
    MaybeFen,
    agent_argument,
    agent_named,
    agent_names,
    position_named,
    whole_number,
)
from knightfall.cli.terminal import (
    INTERRUPTED,
    console,
    print_json,
    report_json,
    say,
)
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation.sigint import enable_keyboard_interrupt

if TYPE_CHECKING:
    from knightfall.agents import Agent
    from knightfall.cli.game_views import JsonView, TerminalView
    from knightfall.cli.interactive_game import InteractiveGame
    from knightfall.position import Position, Side
    from knightfall.search.budget import Report

OPPONENT = "alphabeta(improved, depth=3)"


class PlayCommand(PlainCommand):
    """A command in which ``--resume`` without a value means the last game."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line."""
        full = []
        for at, word in enumerate(args):
            full.append(word)
            if word == "--resume" and (at + 1 == len(args) or args[at + 1].startswith("-")):
                full.append("last")
        return super().parse_args(ctx, full)


As = Annotated[
    Literal["first", "second"] | None,
    typer.Option(
        "--as",
        help="Whether you are the first or the second player; first by default.",
        show_default=False,
    ),
]
OnBoard = Annotated[
    str | None,
    typer.Option(
        "--board", metavar="WxH", help="Start on an empty board of this size.", show_default=False
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="AGENT",
        help=f"Your opponent; {OPPONENT} by default.",
        show_default=False,
        autocompletion=agent_names,
    ),
]
Resume = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="[GAME]",
        help="Resume a saved game by its name or file; the last one if none is given.",
        show_default=False,
    ),
]


Yes = Annotated[
    bool,
    typer.Option("--yes", help="With --resume, run the code in the agent's file without asking."),
]


def play(
    fen: MaybeFen = None,
    board: OnBoard = None,
    seat: As = None,
    against: Against = None,
    resume: Resume = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Play against an agent.

    Without a FEN the board is empty, and each player first places a knight.  Type a cell to move
    there; help lists the other words.  The game is saved after every move.  With --json each line
    of output is an object, and the same words are read from standard input.  A resumed game against
    an agent in a Python file runs that file, so it asks first, unless --yes is given.

    \b
    Examples:
      knightfall play
      knightfall play --as second --against "id(bfs_reach, time=500ms)"
      knightfall play --against random --board 4x4
      knightfall play --resume
    """
    from knightfall.cli.game_views import JsonView, TerminalView
    from knightfall.cli.interactive_game import InteractiveGame, load

    if resume is not None and (fen or board or seat or against):
        raise KnightfallError(
            "--resume takes position, players and agent from the saved game: leave out FEN, "
            "--board, --as and --against"
        )
    if fen is not None and board is not None:
        raise KnightfallError(f"FEN {fen!r} and --board {board!r}: choose one")
    if yes and resume is None:
        raise KnightfallError(
            "--yes works only with --resume: an agent named by --against runs without asking"
        )
    if resume is not None:
        game = load(resume)
        if not yes:
            _ask_for_code(game, json)
    else:
        if board is not None:
            fen = Board.named(board).text
        start = position_named(STARTPOS if fen is None else fen)
        agent = agent_named(against or OPPONENT, quiet=json)
        game = InteractiveGame([start], "b" if seat == "second" else "w", agent)
    _run(game, JsonView() if json else TerminalView())


play.command_class = PlayCommand  # type: ignore[attr-defined]


def _ask_for_code(game: InteractiveGame, json: bool) -> None:
    """Ask before a saved game runs the code of its agent's file, which the user may not know.

    Raise KnightfallError if there is no terminal to ask on, and exit with 1 if the answer is no.
    """
    import sys

    from knightfall.display.printable import printable

    files = ", ".join(dict.fromkeys(game.agent.files))
    if not files:
        return
    if json or not sys.stdin.isatty():
        raise KnightfallError(
            f"this game's agent runs the code of {files}: read it first, then add --yes"
        )
    asked = f"This game's agent runs the code of {printable(files)}. Do you trust it?"
    if not typer.confirm(asked, err=True):
        say("knightfall: nothing was run, and the saved game is unchanged")
        raise typer.Exit(1)


# -- the game ------------------------------------------------------------------------------------


def _run(game: InteractiveGame, view: JsonView | TerminalView) -> None:
    from knightfall.agents.remote_player import player

    keeper = _Keeper(game)
    enable_keyboard_interrupt()
    try:
        if game.winner is None:
            keeper.save()
        opponent = player(game.agent, game.start.board)
        view.begin(game)
        while game.winner is None:
            if game.your_turn:
                view.your_turn(game)
                if not _turn(game, view):
                    view.left(game, keeper.save())
                    return
            else:
                try:
                    with view.thinking(game.agent.name):
                        report = opponent.analyse(game.position)
                except AgentFailure as failure:
                    if failure.reason != "forfeit":
                        raise
                    game.agent_resigned = True
                else:
                    game.play(report.move)
                    view.answered(game, report)
            keeper.save()
        view.over(game)
    except EOFError:
        view.left(game, keeper.save())
    except KnightfallError:  # for example a user's heuristic failed
        if not keeper.discard():
            view.left(game, keeper.save())
        raise
    except KeyboardInterrupt:
        view.left(game, keeper.save())
        raise typer.Exit(INTERRUPTED) from None


def _turn(game: InteractiveGame, view: JsonView | TerminalView) -> bool:
    """Ask for input until the game changes; return False if the player leaves."""
    while True:
        word = view.ask().strip().lower()
        if word in game.position.legal_moves:
            game.play(word)
            return True
        if word == "undo":
            moves = game.undo()
            view.took_back(game, moves)
            if moves:
                return True
        elif word == "resign":
            game.resigned = True
            return True
        elif word == "hint":
            from knightfall.agents import agent
            from knightfall.cli.game_views import ADVISER

            with view.thinking(ADVISER):
                report = agent(ADVISER).analyse(game.position)
            view.advise(report)
        elif word == "board":
            view.your_turn(game)
        elif word == "fen":
            view.show_fen(game)
        elif word == "help":
            view.show_words()
        elif word == "quit":
            return False
        elif word:
            view.wrong(game, word)


class _Keeper:
    """Save the game after each move; if that fails, warn once and let the game continue."""

    def __init__(self, game: InteractiveGame) -> None:
        self._game = game
        self._complained = False
        self._new = game.file is None

    def save(self) -> str | None:
        """Save the game; return the command that resumes it, or None if saving failed."""
        from knightfall.cli.interactive_game import resume_command, save

        try:
            save(self._game)
        except OSError as error:
            if not self._complained:
                self._complained = True
                say(f"warning: this game cannot be saved: {error}")
            return None
        return resume_command(self._game)

    def discard(self) -> bool:
        """Delete the file if the game is new and has no moves; return whether it was deleted."""
        if self._new and not self._game.moves and self._game.file is not None:
            self._game.file.unlink(missing_ok=True)
            return True
        return False


# -- watch ------------------------------------------------------------------------------------


First = Annotated[str, agent_argument("FIRST", "The first player, N.")]
Second = Annotated[str, agent_argument("SECOND", "The second player, n.")]
Seed = Annotated[
    int, whole_number("--seed", "Seed of the placement, and of agents that name no seed.", least=0)
]


def watch(
    first: First, second: Second, fen: MaybeFen = None, seed: Seed = 0, json: Json = False
) -> None:
    """Watch two agents play each other.

    Without a FEN the knights are placed at random, from the seed.

    \b
    Examples:
      knightfall watch AB_Improved MM_Open
      knightfall watch "id(bfs_reach, nodes=2500)" "greedy(improved)" --seed 7
      knightfall watch random random 5x5 --json
    """
    from knightfall.agents.remote_player import players as ready
    from knightfall.cli.game_views import introduce, print_move, print_result
    from knightfall.notation import RESIGNED, Scoresheet
    from knightfall.position import other

    start = _placement(seed) if fen is None else position_named(fen)
    players: dict[Side, Agent] = {
        "w": _player(first, seed, quiet=json),
        "b": _player(second, seed, quiet=json or first == second),
    }
    asked = dict(zip(players, ready(players.values(), start.board), strict=True))
    screen = None if json else console()
    if screen is not None:
        introduce(screen, start, players)
    position, resigned = start, False
    reports: list[Report] = []
    while position.winner is None:
        side = position.to_move
        try:
            report = asked[side].analyse(position)
        except AgentFailure as failure:
            if failure.reason != "forfeit":
                raise
            resigned = True
            break
        position = position.play(report.move)
        reports.append(report)
        if screen is not None:
            print_move(screen, len(reports), side, report)
    moves = [report.move for report in reports]
    ended = (other(position.to_move), RESIGNED) if resigned else ()
    game = Scoresheet.played(start, moves, *ended)
    if screen is not None:
        print_result(screen, game, players)
    else:
        who = {"first": str(players["w"]), "second": str(players["b"])}
        print_json({**who, **game.to_dict(), "thinking": [report_json(one) for one in reports]})


def _player(text: str, seed: int, *, quiet: bool) -> Agent:
    """Return the agent of a string, with this seed unless the string names one."""
    agent = agent_named(text, quiet=quiet)
    if not re.search(r"[(,]\s*seed\s*=", text):
        agent = replace(agent, seed=seed)
    return agent


def _placement(seed: int) -> Position:
    from knightfall.position import Position

    rng = random.Random(seed)
    position = Position.start()
    for _ in range(2):
        position = position.play(rng.choice(position.legal_moves))
    return replace(position, last=None)
