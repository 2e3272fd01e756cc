"""``python -m benchmarks.lost_games``: count the lost games that an agent wins.

An agent plays the runner from random 7×7 openings that the hunter wins, as it nearly always does.
With exact play the agent would lose them all.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

from knightfall.agents import Agent, agent
from knightfall.board import Board
from knightfall.display.printable import print_line
from knightfall.errors import AgentFailure
from knightfall.openings import openings, shuffled
from knightfall.position import Position, Side, other
from knightfall.solver.atlas import lookup
from knightfall.statistics.rates import Share


@dataclass(frozen=True)
class LostGames:
    """The share of games won from lost positions, and the agent's mean nodes and time per move."""

    won: Share
    nodes_a_move: float
    milliseconds_a_move: float


def lost_games(player: Agent, opponent: Agent, games: int, seed: int = 0) -> LostGames:
    """Let an agent play the runner in `games` openings that are lost for the runner."""
    won = played = moves = nodes = 0
    seconds = 0.0
    for fen in shuffled(openings(Board.of(7, 7)), seed):
        if played == games:
            break
        position = Position.from_fen(fen)
        runner = other(position.hunter or "w")
        entry = lookup(position)
        if entry is None or entry.mover_wins != (position.to_move == position.hunter):
            continue
        played += 1
        player, opponent = player.for_game(position.board), opponent.for_game(position.board)
        while position.winner is None:
            thinker = player if position.to_move == runner else opponent
            start = time.process_time()
            try:
                report = thinker.analyse(position)
            except AgentFailure:  # a student's agent resigns
                break
            if thinker is player:
                seconds += time.process_time() - start
                moves, nodes = moves + 1, nodes + report.nodes
            position = position.play(report.move)
        winner: Side = position.winner or other(position.to_move)
        won += winner == runner
    return LostGames(Share(won, played), nodes / max(1, moves), 1000 * seconds / max(1, moves))


def main() -> None:
    """Play agents as runners against opponents and print a table."""
    reads = argparse.ArgumentParser(description=lost_games.__doc__)
    reads.add_argument("--players", nargs="+", required=True, help="agents that run")
    reads.add_argument("--against", nargs="+", required=True, help="agents that hunt")
    reads.add_argument("--games", type=int, default=200)
    reads.add_argument("--seed", type=int, default=0)
    given = reads.parse_args()
    for opponent in given.against:
        for player in given.players:
            found = lost_games(agent(player), agent(opponent), given.games, given.seed)
            low, high = found.won.interval
            print_line(
                f"{opponent:<30} {player:<32} {found.won.rate:6.1%} [{low:.1%}, {high:.1%}] "
                f"of {found.won.of}  {found.nodes_a_move:9.0f} nodes "
                f"{found.milliseconds_a_move:6.1f} ms a move"
            )


if __name__ == "__main__":
    main()
