"""OpenSpiel's bots as agents, and our agents as its bots."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import run, stderr_of
from helpers import need
from naive import NAIVE
from naive_search import search

need("pyspiel", "open_spiel")

import numpy as np  # noqa: E402
import pyspiel  # noqa: E402
from open_spiel.python.algorithms import evaluate_bots  # noqa: E402

import knightfall as kf  # noqa: E402
from knightfall.agents import parse_agent  # noqa: E402
from knightfall.agents.parse import agent_parts  # noqa: E402
from knightfall.arena.plan import GameRecord  # noqa: E402
from knightfall.errors import AgentFailure, KnightfallError  # noqa: E402
from knightfall.openings import openings, seed_of  # noqa: E402
from knightfall.openspiel import AgentBot  # noqa: E402
from knightfall.openspiel_bots.agent import BotPlayer, load_game  # noqa: E402
from knightfall.position import Position  # noqa: E402

PLAIN = Position.from_fen("7/7/1N5/7/7/4n2/7 w")

BOTS = '''
import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts


def tree_search(game, player, seed):
    rng = np.random.RandomState(seed)
    return mcts.MCTSBot(game, 2.0, 12, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)


def compiled_search(game, player, seed):
    rollouts = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, rollouts, 2.0, 12, 100, True, seed, False)


class Follows(pyspiel.Bot):
    """Plays the first move of a state of its own, which only follows what the bot is told."""

    def __init__(self, game, player, seed):
        super().__init__()
        self.player = player

    def restart_at(self, state):
        self.state = state.clone()

    def inform_action(self, state, player, action):
        assert player == 1 - self.player == state.current_player()
        assert str(state) == str(self.state)
        self.state.apply_action(action)

    def step(self, state):
        assert str(state) == str(self.state) and state.history() == self.state.history()
        assert self.player == state.current_player()
        action = self.state.legal_actions()[0]
        self.state.apply_action(action)
        return action


class Illegal:
    def __init__(self, game, player, seed):
        pass

    def step(self, state):
        return 99


def nothing(game, player, seed):
    return None


def fails(game, player, seed):
    raise LookupError("no weights")
'''


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a file of bots into a new working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots.py").write_text(BOTS, encoding="utf-8")
    return tmp_path


# -- agent strings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("openspiel(mcts)", "openspiel(mcts, simulations=1000)"),
        ("openspiel( mcts , simulations=30,seed=4)", "openspiel(mcts, simulations=30, seed=4)"),
        (
            "openspiel(mcts, uct_c=1.40, rollouts=3)",
            "openspiel(mcts, simulations=1000, rollouts=3, uct_c=1.4)",
        ),
        ("openspiel(mcts, time=50ms)", "openspiel(mcts, time=50ms)"),
        ("openspiel(uniform_random)", "openspiel(uniform_random)"),
        ("openspiel(a/b.py:make, time=1s)", "openspiel(a/b.py:make, time=1s)"),
    ],
)
def test_an_agent_prints_as_a_string_that_parses(text: str, full: str) -> None:
    found = parse_agent(text)
    assert str(found) == full
    assert parse_agent(full) == found
    kind, bot, _ = agent_parts(full) or ("", "", ())
    assert (kind, bot) == ("openspiel", found.heuristic)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("openspiel", "needs a bot first, as in openspiel(mcts, simulations=100)"),
        ("openspiel(simulations=3)", "needs a bot first"),
        ("openspiel(two words)", "'two words' is not a bot: accepted are mcts,"),
        ("openspiel(mcts, simulations=1)", "simulations=1 must be a whole number from 2 to"),
        ("openspiel(mcts, rollouts=0)", "rollouts=0 must be a whole number from 1 to"),
        ("openspiel(mcts, uct_c=-1)", "uct_c=-1 must be a number from 0"),
        ("openspiel(mcts, nodes=9)", "cannot use 'nodes=9'; openspiel takes time, seed, simul"),
        ("openspiel(mcts, time=1s, simulations=9)", "either simulations or time, not both"),
        ("openspiel(uniform_random, rollouts=9)", "rollouts: only mcts takes time, simulations"),
        ("openspiel(uniform_random, time=1s)", "time: only mcts takes time, simulations"),
        ("openspiel(bots.py:make, simulations=9)", "cannot use 'simulations=9'"),
    ],
)
def test_what_is_no_agent_is_refused(text: str, says: str) -> None:
    with pytest.raises(KnightfallError) as refused:
        parse_agent(text)
    assert says in str(refused.value)


def test_bots_that_openspiel_lacks_for_this_game_are_refused() -> None:
    for name in ("mtcs", "uniform_restricted_actions"):  # the second one is for poker
        with pytest.raises(KnightfallError, match=f"no bot '{name}' for this game; it has mcts, "):
            kf.agent(f"openspiel({name})")


# -- bots as agents -----------------------------------------------------------------------------


def test_the_moves_are_those_of_their_bot() -> None:
    """Compare with a bot made here, and check that the seed alone decides."""
    game = pyspiel.load_game("knights_isolation")
    agent = kf.agent("openspiel(mcts, simulations=80, seed=5)")
    report = agent.analyse(PLAIN)
    seed = seed_of(f"5 {PLAIN.fen}", 31)
    rollouts = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(game, rollouts, 2.0, 80, 100, True, seed, False)
    assert PLAIN.board.cell(report.move) == pyspiel.Bot.step(bot, game.new_initial_state(PLAIN.fen))
    assert (report.nodes, report.pv[0]) == (80, report.move)
    assert -1 <= report.score <= 1
    code = "import sys, knightfall as kf; p = kf.Position.from_fen(sys.argv[1]);"
    code += "print(kf.agent(sys.argv[2]).analyse(p).pv)"
    elsewhere = subprocess.run(
        [sys.executable, "-c", code, PLAIN.fen, str(agent)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert elsewhere.stdout.strip() == str(report.pv)
    seeds = [kf.agent(f"openspiel(uniform_random, seed={n})").choose(PLAIN) for n in range(1, 30)]
    assert set(seeds) == set(PLAIN.legal_moves)


def test_proven_scores_are_true() -> None:
    agent = kf.agent("openspiel(mcts, simulations=3000)")
    for fen in openings(kf.Board.of(4, 4))[::100]:
        position = Position.from_fen(fen)
        report, solved = agent.analyse(position), kf.solve(position)
        assert report.proven
        assert (report.score > 0) == (solved.winner == "w")
        if report.score > 0:
            assert solved.winning_moves is not None
            assert report.move in solved.winning_moves


def test_a_time_limits_the_search() -> None:
    few = kf.agent("openspiel(mcts, time=5ms)").analyse(PLAIN)
    many = kf.agent("openspiel(mcts, time=120ms)").analyse(PLAIN)
    assert few.nodes < many.nodes  # a busy machine may leave the few no time at all
    hurried = kf.agent("openspiel(mcts, time=0.001ms)").analyse(PLAIN)
    assert hurried.move in PLAIN.legal_moves
    assert hurried.pv[:1] == (hurried.move,)


def play(a: str, b: str, folder: Path, pairs: int = 1, board: str = "5x5") -> list[GameRecord]:
    """Return the games of a match; agent `a` is the first player of every first game."""
    result = kf.match(a, b, pairs=pairs, board=board, workers=0, store=str(folder / "runs.sqlite"))
    return [game for pair in result.run.pairs() for game in pair.games]


def test_matches_repeat_and_tree_search_beats_random_moves(tmp_path: Path) -> None:
    agents = "openspiel(mcts, simulations=20)", "openspiel(uniform_random)"
    games = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        games.append(play(*agents, tmp_path / name, pairs=6))
    assert [game.cells for game in games[0]] == [game.cells for game in games[1]]
    assert {game.reason for game in games[0]} == {"no moves"}
    won = [game.winner == "wb"[number % 2] for number, game in enumerate(games[0])]
    assert sum(won) >= 9


def test_every_registered_bot_plays_whole_games(tmp_path: Path) -> None:
    game = pyspiel.load_game("knights_isolation(board=5x4)")
    names = pyspiel.bots_that_can_play_game(game)
    assert "uniform_random" in names
    for name in names:
        played = play(f"openspiel({name})", "random", tmp_path, board="5x4")
        assert {game.reason for game in played} == {"no moves"}


def own_game(first: str, second: str, seed: int) -> list[str]:
    """Return the moves of a game of two bots of the file, in this process."""
    players = [BotPlayer(f"bots.py:{first}", seed, "w"), BotPlayer(f"bots.py:{second}", seed, "b")]
    position, moves = Position.from_fen(openings(kf.Board.of(5, 5))[33]), []
    while position.winner is None:
        moves.append(players[len(moves) % 2].analyse(position).move)
        position = position.play(moves[-1])
    return moves


@pytest.mark.parametrize("search", ["tree_search", "compiled_search"])
def test_bots_of_a_file_play_by_seed_and_follow_the_game(bots: Path, search: str) -> None:
    """Check that the bot `Follows`, which checks what it is told, is told of every move."""
    games = [own_game(search, "Follows", seed) for seed in (1, 2, 1, 3)]
    assert games[0] == games[2]
    assert len({tuple(moves) for moves in games}) > 1
    assert len(own_game("Follows", search, 1)) > 4


def test_a_bot_begins_again_at_a_position_that_does_not_follow(bots: Path) -> None:
    player = BotPlayer("bots.py:Follows", 0, "w")
    for fen in ("7/7/1N5/7/7/4n2/7 w", "7/7/7/7/1N5/4n2/7 w", "5/N3n/5/5/5 w"):
        position = Position.from_fen(fen)
        assert player.analyse(position).move == position.legal_moves[0]


def test_a_bot_of_a_file_plays_a_match_in_a_process_of_its_own(bots: Path) -> None:
    games = play("openspiel(bots.py:Follows)", "openspiel(uniform_random)", bots)
    assert [(game.reason, game.detail) for game in games] == [("no moves", "")] * 2


@pytest.mark.parametrize(
    ("bot", "reason", "says"),
    [
        ("Illegal", "illegal", "returned 'action 99', which is not a legal move"),
        ("nothing", "crash", "returned None, which has no step(state)"),
        ("fails", "crash", "LookupError: no weights"),
    ],
)
def test_a_bot_that_fails_says_why(bots: Path, bot: str, reason: str, says: str) -> None:
    with pytest.raises(AgentFailure) as failure:
        BotPlayer(f"bots.py:{bot}", 0, "w").analyse(PLAIN)
    assert failure.value.reason == reason
    assert says in str(failure.value)


def test_the_documented_bot_plays_as_our_alpha_beta_does(bots: Path) -> None:
    """Check that each of its moves is one of the best in the tests' full search."""
    page = Path(__file__).parents[2] / "docs" / "openspiel.md"
    _, block = page.read_text(encoding="utf-8").split("```python\n")
    (bots / "bots.py").write_text(block.partition("```")[0], encoding="utf-8")
    for fen in openings(kf.Board.of(7, 7))[::1100]:
        position = Position.from_fen(fen)
        move = BotPlayer("bots.py:AlphaBetaBot", 0, "w").analyse(position).move
        values = search(position, 3, NAIVE["improved"]).moves
        assert values[move] == max(values.values())


def test_a_name_that_a_file_lacks_is_refused(bots: Path) -> None:
    with pytest.raises(KnightfallError, match=r"bots\.py defines no 'follows'; did you mean"):
        BotPlayer("bots.py:follows", 0, "w")
    (bots / "bots.py").write_text("table = {}\n")
    with pytest.raises(KnightfallError, match="'table' is neither a function nor a class"):
        BotPlayer("bots.py:table", 0, "w")


# -- agents as bots -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["id(improved, nodes=300)", "perfect(nodes=2000)"])
def test_a_bot_plays_the_moves_of_its_agent(text: str) -> None:
    bot, agent = AgentBot(text), kf.agent(text)
    game = pyspiel.load_game("knights_isolation(board=5x5)")
    for start in (None, openings(kf.Board.of(5, 5))[100]):
        state = game.new_initial_state(start) if start else game.new_initial_state()
        bot.restart_at(state)
        twin = agent.for_game(kf.Board.of(5, 5))
        while not state.is_terminal():
            action = bot.step(state)
            assert state.action_to_string(action) == twin.choose(state.position)
            state.apply_action(action)
    assert str(bot) == text


def test_bots_play_in_both_match_loops_of_openspiel() -> None:
    game = pyspiel.load_game("knights_isolation(board=5x5,placement=random)")
    bots = [AgentBot("perfect(nodes=100000)"), pyspiel.make_uniform_random_bot(1, 3)]
    rng = np.random.RandomState(3)
    total = 0.0
    for seed in range(8):
        start = game.new_initial_state()
        while start.is_chance_node():
            start.apply_action(rng.choice([action for action, _ in start.chance_outcomes()]))
        wins = kf.solve(start.position).winner == "w"
        for returns in (
            pyspiel.evaluate_bots(start.clone(), bots, seed),
            evaluate_bots.evaluate_bots(start.clone(), bots, rng),
        ):
            assert returns[0] == 1.0 or not wins
            total += returns[0]
    assert total > 0


def test_an_agent_of_a_file_is_a_bot(bots: Path) -> None:
    (bots / "mine.py").write_text(
        "def last(position):\n    return position.legal_moves[-1]\n\n\n"
        "def wrong(position):\n    return 'z9'\n"
    )
    game = pyspiel.load_game("knights_isolation(board=5x5)")
    bot = AgentBot("python(mine.py:last)")
    state = game.new_initial_state()
    while not state.is_terminal():
        action = bot.step(state)
        assert action == state.legal_actions()[-1]
        state.apply_action(action)
    bot.restart()
    with pytest.raises(AgentFailure, match="which is not a legal move"):
        AgentBot("python(mine.py:wrong)").step(game.new_initial_state())
    with pytest.raises(KnightfallError, match="unknown agent 'idd'"):
        AgentBot("idd")


# -- without OpenSpiel --------------------------------------------------------------------------

HINT = "pip install 'knightfall[openspiel]'"


def test_without_openspiel_the_import_names_the_extra() -> None:
    code = "import sys; sys.modules['pyspiel'] = None; import knightfall.openspiel"
    imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    *_, last = imported.stderr.splitlines()
    assert "knightfall.openspiel needs pyspiel (not installed): " in last
    assert last.endswith(HINT)


def test_without_openspiel_the_commands_name_the_extra(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # type: ignore[arg-type]
    load_game.cache_clear()
    # These agents appear in no other test: this process may know that those can play.
    for bot in ("mcts, seed=17", "bots.py:Follows, time=17s"):
        refused = run("match", f"openspiel({bot})", "random", "--store", "runs.sqlite")
        assert refused.exit_code == 2
        (line,) = stderr_of(refused).splitlines()
        assert line.startswith("knightfall: an openspiel agent needs pyspiel (not installed): ")
        assert line.endswith(HINT)
    assert "openspiel(mcts, simulations=100)" in run("agents").stdout
