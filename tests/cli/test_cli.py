"""The command line, run inside the test process: every command, help and bad input."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import processes
import pytest
from arena_helpers import fake_plan, fake_run
from cli_runner import FEN, answer, refused, run, stderr_of, subcommands
from helpers import random_positions
from typer.main import get_command

from knightfall import __version__
from knightfall.agents import AGENT_KINDS, COURSE, parse_agent
from knightfall.cli.app import RENAMED, app
from knightfall.heuristics import REGISTRY
from knightfall.position import Position

COMMANDS = (
    "play",
    "watch",
    "analyse",
    "solve",
    "grade",
    "annotate",
    "tournament",
    "match",
    "league",
    "worth",
    "reproduce",
    "runs list",
    "runs show",
    "runs games",
    "runs replay",
    "runs plot",
    "runs export",
    "runs import",
    "runs backup",
    "runs delete",
    "atlas show",
    "atlas build",
    "atlas certify",
    "atlas verify",
    "stats pairs",
    "stats games",
    "stats plan",
    "eval",
    "check",
    "perft",
    "heuristics",
    "agents",
    "doctor",
    "site",
    "serve",
    "learn data",
    "learn fit",
    "learn tune",
    "learn chances",
)


# -- help ------------------------------------------------------------------------------------


PANELS = {
    "Play": ["play", "watch", "uci"],
    "Ask": ["analyse", "solve", "eval", "annotate", "atlas"],
    "Measure": ["tournament", "match", "league", "worth", "grade", "stats"],
    "Runs": ["runs"],
    "Build and learn": ["heuristics", "agents", "check", "doctor", "learn", "serve", "site"],
    "Teach": ["course", "reproduce"],
}
WIDTH = 80


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_lists_every_command_in_its_panel(word: str) -> None:
    text = run(word).stdout
    _, *sections = text.split("\n\n")
    listed = {
        title.rstrip(":"): [row.split()[0] for row in rows]
        for title, *rows in (section.splitlines() for section in sections)
        if title.rstrip(":") in PANELS
    }
    assert listed == PANELS
    assert list(listed) == list(PANELS)
    assert sum(map(len, listed.values())) == 24
    assert "perft" not in text
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize("group", ["", "runs", "stats", "atlas", "learn", "course"])
def test_help_cuts_off_no_summary(group: str) -> None:
    text = run(*group.split(), "--help").stdout
    summaries = text.split("\n\nPlay:" if not group else "\n\nCommands:")[1]
    assert "..." not in summaries
    if group not in ("", "runs"):  # these have something else to show
        assert run(group).stdout == text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_json_and_shows_examples(command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert "--json" in result.stdout or "jsonl" in result.stdout
    shown = "runs" if command == "runs list" else command
    assert f"\n    knightfall {shown}" in result.stdout


def every_command(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all commands and groups with their names, those of extensions included."""
    found = get_command(app) if group is None else group
    yield " ".join(path), found
    for name, one in subcommands(found).items():
        yield from every_command(one, (*path, name))


@pytest.mark.parametrize(("name", "command"), [*every_command()])
def test_usage_names_arguments_then_options(name: str, command: Any) -> None:
    usage = run(*name.split(), "--help").stdout.split("\n\n")[0].replace("\n", " ")
    words = " ".join(usage.split()).removeprefix(f"Usage: knightfall {name}".rstrip()).split()
    assert words[-1] == "[OPTIONS]"
    assert not any("{" in word or "[[" in word or "<" in word for word in words)
    inside = [param for param in command.params if param.param_type_name == "argument"]
    optional = [word.startswith("[") for word in words[:-1]]
    assert optional == sorted(optional)
    assert any(optional) == any(not param.required for param in inside)


@pytest.mark.parametrize(("name", "command"), [*every_command()])
def test_every_option_and_argument_is_explained(name: str, command: Any) -> None:
    """Check that the help names all options and arguments, each with a text beside or below it."""
    lines = run(*name.split(), "--help").stdout.splitlines()
    for param in command.params:
        text = getattr(param, "help", None)
        if getattr(param, "hidden", False):
            continue
        assert text.endswith("."), param.name
        assert not (param.metavar or "").removesuffix("...").endswith("."), param.name
        names = param.opts if param.param_type_name == "option" else [param.metavar or param.name]
        shown = [
            at
            for at, line in enumerate(lines)
            if line.startswith("  ") and line.strip().lower().startswith(names[0].lower())
        ]
        assert shown, param.name
        start = text.split()[0]
        assert any(start in " ".join(lines[at : at + 2]).split() for at in shown), param.name


EXAMPLES = [
    (name, line.strip())
    for name, command in every_command()
    for line in command.help.splitlines()
    if line.strip().startswith("knightfall ") and line.startswith("  ")
]


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_every_example_of_the_help_parses(name: str, line: str) -> None:
    for part in line.partition("   (")[0].split(" | "):
        args = shlex.split(part.partition(" > ")[0])[1:]
        group: Any = get_command(app)
        while args and args[0] in subcommands(group):
            group = subcommands(group)[args.pop(0)]
        assert not (subcommands(group) and args), f"{name}: no command {args}"
        group.make_context("knightfall", args)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_former_name_is_answered_with_the_new_one(old: str, new: str) -> None:
    said = refused(old, "7")
    assert said == f"knightfall: command {old!r} was renamed; use: knightfall {new}\n"
    command, *rest = new.split()
    shown = run(command, *rest, "--help")
    assert shown.exit_code == 0


@pytest.mark.parametrize("option", ["--out", "--output-dir", "--svg", "--threads", "--opponents"])
def test_no_command_has_an_option_of_a_former_spelling(option: str) -> None:
    for name, command in every_command():
        assert option not in [word for param in command.params for word in param.opts], name


def test_alone_it_shows_the_first_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the text printed without arguments: its heuristic loads, and its commands work."""
    result = run()
    assert (result.exit_code, stderr_of(result)) == (0, "")
    assert "knightfall --help" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= WIDTH
    lines = [
        line.removeprefix("     ") for line in result.stdout.splitlines() if line[:5] == " " * 5
    ]
    code = "\n".join(line for line in lines if not line.startswith("knightfall "))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    Path("mine.py").write_text(code)
    play, check, match = (line for line in lines if line.startswith("knightfall "))
    assert play == "knightfall play"
    for command, more in ((check, []), (match, ["--pairs", "2", "--workers", "0"])):
        done = run(*command.split()[1:], *more)
        assert done.exit_code == 0, done.output


def test_version() -> None:
    assert run("--version").stdout == f"knightfall {__version__}\n"


# -- legal moves and perft ---------------------------------------------------------------------


@pytest.mark.parametrize("position", random_positions(6, 5, 12, seed=1), ids=str)
def test_legal_moves_without_an_agent(position: Position) -> None:
    told = answer("analyse", "--no-agent", "--json", position.fen)
    assert told == {"moves": list(position.legal_moves)}
    text = run("analyse", "--no-agent", position.fen).stdout.strip()
    assert text == (" ".join(position.legal_moves) or "no legal moves: the game is over")


@pytest.mark.parametrize("position", random_positions(4, 4, 8, seed=2), ids=str)
@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_perft(position: Position, depth: int) -> None:
    assert answer("perft", "--json", position.fen, str(depth)) == {"nodes": position.perft(depth)}


def test_perft_of_more_plies_than_the_kernel_counts_in_one_go() -> None:
    position = Position.from_fen("4/1N2/2n1/4 w")
    assert position.perft(11) > 0
    assert answer("perft", "--json", position.fen, "11") == {"nodes": position.perft(11)}
    assert run("perft", position.fen, "11").stdout.strip() == f"{position.perft(11):,}"


# -- analyse -----------------------------------------------------------------------------------


def test_analyse_tells_what_the_agent_reports() -> None:
    position = Position.from_fen(FEN)
    report = parse_agent("id(improved, nodes=5000)").analyse(position)
    told = answer("analyse", "--json", FEN, "--agent", "id(improved, nodes=5000)")
    assert told.pop("seconds") > 0
    assert told == {
        "move": report.move,
        "score": report.score,
        "proven": False,
        "plies": None,
        "depth": report.depth,
        "nodes": report.nodes,
        "pv": list(report.pv),
        "cut": 0,
        "note": "",
        "agent": "id(improved, nodes=5000)",
        "moves": list(position.legal_moves),
    }
    text = run("analyse", FEN, "--agent", "id(improved, nodes=5000)").stdout
    assert " ".join(position.legal_moves) in text
    assert "choose one" in refused("analyse", FEN, "--agent", "random", "--no-agent")


def mover_wins(position: Position) -> bool:
    return any(not mover_wins(position.play(move)) for move in position.legal_moves)


@pytest.mark.parametrize("position", random_positions(4, 4, 12, seed=4, min_placed=2), ids=str)
def test_analyse_tells_a_proven_end(position: Position) -> None:
    if position.winner is not None:
        return
    told = answer("analyse", "--json", position.fen, "--agent", "id(open, depth=20)")
    assert told["proven"]
    assert told["score"] == ("inf" if mover_wins(position) else "-inf")
    assert told["plies"] % 2 == mover_wins(position)
    text = run("analyse", position.fen, "--agent", "id(open, depth=20)").stdout
    end = "win" if mover_wins(position) else "loss"
    assert f"{end} in {told['plies']} {'ply' if told['plies'] == 1 else 'plies'}" in text


def test_analyse_by_default_and_by_course_name() -> None:
    told = answer("analyse", "--json", "4/4/1N2/2n1 w")
    assert told["move"] in Position.from_fen("4/4/1N2/2n1 w").legal_moves
    assert told["agent"] == "id(improved, time=300ms)"
    text = run("analyse", FEN, "--agent", "MM_Open").stdout
    for part in ("MM_Open = minimax(open, depth=3)", "move", "nodes a second", "depth  3"):
        assert part in text
    assert "nodes" not in run("analyse", FEN, "--agent", "random").stdout


def test_analyse_refuses_a_position_that_is_over() -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    assert over.winner
    assert "is over" in refused("analyse", over.fen, "--agent", "greedy(open)")
    assert "is over" in refused("analyse", over.fen, "--agent", "random")


# -- watch -------------------------------------------------------------------------------------


def replayed(told: dict[str, Any]) -> Position:
    position = Position.from_fen(told["fen"])
    for move in told["moves"]:
        position = position.play(move)
    return position


def test_watch_plays_a_whole_legal_game() -> None:
    told = answer("watch", "greedy(improved)", "random", "--json", "--seed", "3")
    end = replayed(told)
    assert end.winner == told["winner"]
    assert end.fen == told["final"]
    assert told["reason"] == "no moves left"
    assert [report["move"] for report in told["thinking"]] == told["moves"]


def test_watch_draws_the_placement_from_the_seed() -> None:
    fens = [
        answer("watch", "random", "random", "--json", "--seed", str(n))["fen"] for n in (1, 1, 2)
    ]
    assert fens[0] == fens[1] != fens[2]
    for fen in fens:
        position = Position.from_fen(fen)
        assert position.placed
        assert len(position.open) == 47
        assert position.to_move == "w"


def test_watch_gives_its_seed_to_agents_without_one() -> None:
    told = answer("watch", "random", "random(seed=9)", FEN, "--json", "--seed", "4")
    assert (told["first"], told["second"]) == ("random(seed=4)", "random(seed=9)")
    assert told["fen"] == FEN
    assert told["moves"][0] == parse_agent("random(seed=4)").choose(Position.from_fen(FEN))
    own = answer("watch", "random( seed = 0 )", "random", FEN, "--json", "--seed", "4")
    assert own["first"] == "random"


def test_watch_shows_every_move_and_the_board() -> None:
    told = answer("watch", "MM_Open", "greedy(improved)", FEN, "--json")
    text = run("watch", "MM_Open", "greedy(improved)", FEN).stdout
    assert "MM_Open = minimax(open, depth=3)" in text
    assert f"from {FEN}" in text
    for number, move in enumerate(told["moves"], start=1):
        assert any(
            line.startswith(f"{number:>3}. ") and f" {move} " in line for line in text.splitlines()
        )
    winner, loser = ("MM_Open", "greedy(improved)")[:: 1 if told["winner"] == "w" else -1]
    assert f"{'♘' if told['winner'] == 'w' else '♞'} {winner} won" in text
    assert f"{loser} has no moves left" in text
    assert "\x1b" not in text


def test_watch_lets_agents_place_their_knights() -> None:
    told = answer("watch", "random", "random", "4/4/4/4[Nn] w", "--json")
    assert replayed(told).winner == told["winner"]


def test_watch_of_a_game_that_is_over_tells_who_won() -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    told = answer("watch", "random", "random", over.fen, "--json")
    assert (told["moves"], told["winner"]) == ([], over.winner)


# -- the registry --------------------------------------------------------------------------------


def test_heuristics_lists_the_registry() -> None:
    rows = answer("heuristics", "--json")["heuristics"]
    assert [row["id"] for row in rows] == list(REGISTRY)
    for row in rows:
        declared = REGISTRY[row["id"]]
        assert (row["study"], row["formula"]) == (declared.study, declared.formula)
        assert row["summary"] == declared.summary


def test_heuristics_tells_all_about_one() -> None:
    text = run("heuristics", "improved").stdout
    assert REGISTRY["improved"].summary in text
    rows = answer("heuristics", "static_reach", "--json")["heuristics"]
    lines = run("heuristics", "static_reach").stdout.splitlines()
    fields = {line.partition(" ")[0]: line.partition(" ")[2].strip() for line in lines}
    for word in ("formula", "summary", "study"):
        assert fields[word] == rows[0][word]
    assert fields["symmetric"] == "yes"
    at = next(place for place, line in enumerate(lines) if line.startswith("ids"))
    assert [line.split()[-1] for line in lines[at:-1]] == rows[0]["ids"]
    assert f'"id({rows[0]["ids"][0]}, nodes=2500)"' in fields["try"]
    tries = [
        line.partition("id(")[2].partition(",")[0]
        for line in run("heuristics", "near_center+bfs_reach").stdout.splitlines()
        if line.startswith("try")
    ]
    assert tries == ["near_center", "bfs_reach"]
    assert rows[0]["ids"] == [f"static_reach(1/{n})" for n in range(2, 11)]
    rows = answer("heuristics", "near_center+bfs_reach", "--json")["heuristics"]
    assert [row["id"] for row in rows] == ["near_center", "bfs_reach"]


def test_heuristics_looks_at_a_users_file(tmp_path: Path) -> None:
    file = tmp_path / "[bold]mine.py"
    file.write_text(
        "def cosy(board, open, me, opp, to_move):\n"
        '    "Likes [red]company[/red]."\n'
        "    return 1.0\n"
    )
    text = run("heuristics", f"{file}:cosy").stdout
    assert f"{file}:cosy" in text
    assert "Likes [red]company[/red]." in text
    row = answer("heuristics", f"{file}:cosy", "--json")["heuristics"][0]
    assert (row["study"], row["compiled"]) == ("user", True)


def test_agents_lists_kinds_and_names() -> None:
    told = answer("agents", "--json")
    assert [kind["kind"] for kind in told["kinds"]] == list(AGENT_KINDS)
    for kind in told["kinds"]:
        assert parse_agent(kind["example"]).kind == kind["kind"]
    assert list(told["names"]) == list(COURSE)
    for group, names in COURSE.items():
        assert list(told["names"][group]) == list(names)
        for name, agent in names.items():
            expansion = told["names"][group][name]
            if agent.heuristic or agent.kind == "random":
                assert parse_agent(expansion) == agent


# -- positions by name ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fen"),
    [
        ("startpos", "7/7/7/7/7/7/7[Nn] w"),
        ("8x8", "8/8/8/8/8/8/8/8[Nn] w"),
        ("10x3", "10/10/10[Nn] w"),
        ("4x5", "4/4/4/4/4[Nn] w"),
        ("4×5", "4/4/4/4/4[Nn] w"),
    ],
)
def test_an_empty_board_has_a_name(name: str, fen: str) -> None:
    for command in (
        lambda position: ["analyse", "--no-agent", position, "--json"],
        lambda position: ["perft", position, "2", "--json"],
    ):
        assert answer(*command(name)) == answer(*command(fen))
    for agent in ("greedy(open)", "random"):
        told, known = (answer("analyse", p, "--agent", agent, "--json") for p in (name, fen))
        assert told["move"] == known["move"]
    assert answer("watch", "random", "random", name, "--json")["fen"] == fen
    assert repr(fen) in refused("eval", "--heuristic", "open", name)  # nothing to evaluate yet


def test_solve_knows_boards_by_name() -> None:
    told = answer("solve", "4x4", "--no-distance", "--json")
    assert told["winner"] == answer("solve", "4/4/4/4[Nn] w", "--no-distance", "--json")["winner"]
    assert told["winner"] == "b"  # by reflection


# -- the shell -----------------------------------------------------------------------------------


def completed(*words: str, **environment: str) -> list[str]:
    """Return the completions that bash offers after these words."""
    done = processes.run(
        [sys.executable, "-c", "from knightfall.cli import main; main()"],
        env={
            **os.environ,
            **environment,
            "_KNIGHTFALL_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(("knightfall", *words)),
            "COMP_CWORD": str(len(words)),
        },
        text=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_shell_completes_commands_options_and_names(tmp_path: Path) -> None:
    assert completed("gra") == ["grade"]
    assert completed("per") == []  # hidden
    assert "show" not in completed("show", "")  # a former name
    assert completed("runs", "de") == ["delete"]
    assert {"--openings", "--chart", "--json"} <= set(completed("grade", "--"))
    assert completed("grade", "AB_I") == ["AB_Improved"]
    assert completed("watch", "AB_Open", "alph") == ["alphabeta("]
    data = {"KNIGHTFALL_DATA_DIR": str(tmp_path)}
    assert completed("runs", "games", "", **data) == []
    for seed in (1, 2):
        fake_run(tmp_path / "arena.sqlite", fake_plan(1, 2, seed=seed))
    assert completed("runs", "games", "", **data) == ["1", "2"]
    assert list(tmp_path.iterdir()) == [tmp_path / "arena.sqlite"]


def test_python_m_is_the_command_line() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "knightfall", "analyse", "--no-agent", FEN],
        capture_output=True,
        text=True,
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == run("analyse", "--no-agent", FEN).stdout


# -- bad input -----------------------------------------------------------------------------------

BAD_FENS = {
    "": "empty",
    "7/7/1N5/7/7/4n2/7": "no side to move",
    "7/7/1N5/7/7/4n2/7 x": "'x'",
    "7/7/1N4/7/7/4n2/7 w": "row 3 has 6 cells",
    "7/7/1N5/7/7/4n2/6 w": "row 7 has 6 cells",
    "7/7/1N5/7/1N5/4n2/7 w": "2 knights 'N'",
    "7/7/7/7/7/4n2/7 w": "0 knights 'N'",
    "7/7/1N5/7/7/7/7 w": "0 knights 'n'",
    "7/7/1Q5/7/7/4n2/7 w": "'Q'",
    "13/13/13/13/N11n w": "65 cells",
    "2/2/Nn w": "too small",
    "7/7/7/7/7/7/7[Nx] w": "'x'",
    "7/7/7/7/7/7/7[Nn] b": "turn",
}
WITH_FEN = {
    "moves": lambda fen: ["analyse", "--no-agent", fen],
    "moves --json": lambda fen: ["analyse", "--no-agent", "--json", fen],
    "perft": lambda fen: ["perft", fen, "3"],
    "analyse": lambda fen: ["analyse", fen, "--agent", "random"],
    "eval": lambda fen: ["eval", "--heuristic", "open", fen],
    "watch": lambda fen: ["watch", "random", "random", fen],
    "play": lambda fen: ["play", "--against", "random", fen],
}


@pytest.mark.parametrize("command", WITH_FEN)
def test_bad_fens(command: str) -> None:
    for fen, complaint in BAD_FENS.items():
        assert complaint in refused(*WITH_FEN[command](fen)), fen


@pytest.mark.parametrize("command", WITH_FEN)
def test_an_unquoted_fen_is_told_to_be_quoted(command: str) -> None:
    args = WITH_FEN[command]("FEN")
    at = args.index("FEN")
    said = refused(*args[:at], *FEN.split(), *args[at + 1 :])
    assert "in quotes" in said
    assert f'"{FEN}"' in said


BAD_AGENTS = {
    "alfabeta(open)": "did you mean 'alphabeta'?",
    "AB_Improve": "did you mean 'AB_Improved'?",
    "id(improvd)": "did you mean 'improved'?",
    "id": "needs a heuristic",
    "id(open, nodes=many)": "nodes=many",
    "id(open, nodes=0)": "nodes=0",
    "id(open, time=5)": "time=5",
    "id(open, time=-1s)": "time=-1s",
    "minimax(open, depth=99)": "depth=99",
    "minimax(open, nodes=5)": "'nodes=5'",
    "id(open, depth=3, depth=4)": "given twice",
    "random(seed=x)": "seed=x",
    "id(no_such_file.py:f)": "no_such_file.py",
    "(((": "cannot be read",
}


@pytest.mark.parametrize("agent", BAD_AGENTS)
def test_bad_agents(agent: str) -> None:
    assert BAD_AGENTS[agent] in refused("analyse", FEN, "--agent", agent)
    assert BAD_AGENTS[agent] in refused("watch", "random", agent, FEN)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["frobnicate"], "frobnicate"),
        (["--frobnicate"], "--frobnicate"),
        (["analyse"], "FEN"),
        (["analyse", "--no-agent", FEN, "extra"], "extra"),
        (["analyse", "--no-agent", FEN, "--frob"], "--frob"),
        (["perft", FEN, "deep"], "'deep'"),
        (["perft", FEN, "2.5"], "'2.5'"),
        (["perft", FEN, "-1"], "-1"),
        (["perft", FEN], "DEPTH"),
        (["play", "--as", "third"], "'third' is not one of 'first', 'second'"),
        (["eval", "--heuristic", "open", "--for", "x", FEN], "'x' is not one of 'w', 'b'"),
        (["watch", "random"], "SECOND"),
        (["watch", "random", "random", "--seed", "pi"], "'pi'"),
        (["heuristics", "opn"], "did you mean 'open'?"),
        (["heuristics", "static_reach(2)"], "between 0 and 1"),
    ],
    ids=" ".join,
)
def test_bad_command_lines(args: list[str], named: str) -> None:
    assert named in refused(*args)


def test_what_a_user_typed_is_neither_markup_nor_a_control_sequence() -> None:
    assert "[red]" in refused("analyse", "--no-agent", "[red]7/7[/red] w")
    assert "\x1b" not in refused("analyse", "--no-agent", "\x1b[31m7/7 w")
    assert "\x1b" not in refused("analyse", FEN, "--agent", "id(\x1b[31m.py:f)")


# -- unexpected errors ---------------------------------------------------------------------------


def test_an_unexpected_error_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fen: str) -> Position:
        raise RuntimeError(f"no luck with\n{fen}")

    monkeypatch.setattr(Position, "from_fen", staticmethod(fail))
    monkeypatch.delenv("KNIGHTFALL_DEBUG", raising=False)
    result = run("analyse", "--no-agent", FEN)
    assert result.exit_code == 1
    assert result.stderr == (
        f"knightfall: internal error: RuntimeError: no luck with {FEN} "
        "(set KNIGHTFALL_DEBUG=1 to see the traceback)\n"
    )
    monkeypatch.setenv("KNIGHTFALL_DEBUG", "1")
    assert "Traceback" in run("analyse", "--no-agent", FEN).stderr


def test_an_interrupt_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(fen: str) -> Position:
        raise KeyboardInterrupt

    monkeypatch.setattr(Position, "from_fen", staticmethod(interrupt))
    result = run("analyse", "--no-agent", FEN)
    assert (result.exit_code, result.stderr) == (130, "knightfall: interrupted\n")


def test_a_warning_is_one_line_and_said_once(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(
        "import json\n"
        "def slow(board, open, me, opp, to_move):\n"
        "    return float(len(json.dumps([int(me)])))\n"
    )
    agent = f"greedy({file}:slow)"
    said = stderr_of(run("watch", agent, agent, "4/4/4/4[Nn] w"))
    assert said.startswith("warning: ")
    assert said.count("\n") == 1
    assert "plain Python" in said


def test_an_error_in_a_users_heuristic_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def broken(board, open, me, opp, to_move):\n    return 1 / (me - me)\n")
    said = refused("analyse", FEN, "--agent", f"greedy({file}:broken)")
    assert "broken.py:broken, line 2" in said


def test_random_garbage_never_shows_a_traceback() -> None:
    rng = random.Random(5)
    letters = "7/Nn*[] wb-x\x00é🐎'\"\\"
    for _ in range(60):
        garbage = "".join(rng.choice(letters) for _ in range(rng.randrange(1, 25)))
        for args in (["analyse", "--no-agent", garbage], ["eval", "--heuristic", garbage, FEN]):
            result = run(*args)
            assert result.exit_code in (0, 2)
            assert "Traceback" not in result.output
            assert "internal" not in result.output
