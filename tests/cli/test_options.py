"""No option is ignored: each reaches the called function, or a named test asserts its effect.

`ARRIVES` gives, for a command that hands its options on, the function that receives them and what
each option must become there.  `ASSERTED` names, for options that a command acts on itself, the
test that fails if it does not.  An option in neither fails `test_every_option_is_accounted_for`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main
from cli_runner import FEN, run, subcommands

import knightfall
from knightfall.arena.worth import NODES, TIMES
from knightfall.cli.app import app
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.statistics.sprt import Sprt

TESTS = Path(__file__).parents[1]


class Arrives(NamedTuple):
    """A command line without options, the function that is called, and the options it takes.

    Each option is given as words of the command line, with the arguments that they become; an
    argument by position is named by its number.
    """

    line: list[str]
    called: str
    options: dict[str, tuple[list[str], dict[str, Any]]]


def one(name: str, text: str, argument: str, value: Any) -> tuple[str, Any]:
    return name, ([name, text], {argument: value})


def flag(name: str, argument: str, value: Any = True) -> tuple[str, Any]:
    return name, ([name], {argument: value})


RUN = (
    one("--seed", "7", "seed", 7),
    one("--board", "5x6", "board", "5x6"),
    one("--book", "book.txt", "book", "book.txt"),
    flag("--stratify", "stratify"),
    one("--workers", "3", "workers", 3),
    one("--dask", "tcp://there:8786", "dask", "tcp://there:8786"),
    one("--store", "there.sqlite", "store", "there.sqlite"),
    flag("--again", "again"),
)
"""The options of every command that plays a run."""

TEST = Sprt(3, 20, alpha=0.1, beta=0.2, model="logistic")
BOUNDS = ["--sprt", "3,20"]


def sprt(name: str, text: str, **changed: Any) -> tuple[str, Any]:
    """Return an option of a sequential test, given together with the bounds it needs."""
    return name, ([*BOUNDS, name, text], {"sprt": Sprt(3, 20, **changed)})


ARRIVES = {
    "tournament": Arrives(
        ["tournament"],
        "knightfall.arena.api.tournament",
        dict([
            ("--test", (["--test", "open", "--test", "main"], {"tests": ["open", "main"]})),
            one("--against", "random", "against", ["random"]),
            one("--protocol", "2017a", "protocol", "2017a"),
            one("--pairs", "11", "pairs", 11),
            flag("--course-only", "course_only"),
            one("--budget", "nodes=9", "budget", "nodes=9"),
            one("--num-matches", "4", "num_matches", 4),
            one("--time-limit", "90ms", "time_limit", "90ms"),
            one("--timer-threshold", "9ms", "timer_threshold", "9ms"),
            *RUN,
            flag("--in-process", "in_process"),
        ]),
    ),
    "match": Arrives(
        ["match", "random", "greedy(open)"],
        "knightfall.arena.api.match",
        dict([
            one("--pairs", "11", "pairs", 11),
            ("--sprt", (BOUNDS, {"sprt": Sprt(3, 20)})),
            sprt("--model", "logistic", model="logistic"),
            sprt("--alpha", "0.1", alpha=0.1),
            sprt("--beta", "0.2", beta=0.2),
            one("--budget", "nodes=9", "budget", "nodes=9"),
            *RUN,
            flag("--in-process", "in_process"),
        ]),
    ),
    "league": Arrives(
        ["league", "random", "greedy(open)", "greedy(center)"],
        "knightfall.arena.api.league",
        dict([
            one("--gauntlet", "2", "gauntlet", 2),
            one("--until", "12.5", "until", 12.5),
            one("--pairs", "11", "pairs", 11),
            one("--budget", "nodes=9", "budget", "nodes=9"),
            *RUN,
            flag("--in-process", "in_process"),
        ]),
    ),
    "worth": Arrives(
        ["worth", "main"],
        "knightfall.arena.api.worth",
        dict([
            one("--nodes", "5,7", "nodes", ["5", "7"]),
            one("--times", "1ms,2ms", "times", ["1ms", "2ms"]),
            flag("--no-time", "times", ()),
            one("--pairs", "11", "pairs", 11),
            *RUN,
        ]),
    ),
    "grade": Arrives(
        ["grade", "random"],
        "knightfall.oracle.grade.grade",
        dict([
            one("--openings", "7", "openings", 7),
            one("--seed", "7", "seed", 7),
            one("--board", "5x6", "board", "5x6"),
            one("--workers", "3", "workers", 3),
            one("--dask", "tcp://there:8786", "dask", "tcp://there:8786"),
            flag("--in-process", "in_process"),
        ]),
    ),
    "check": Arrives(
        ["check", "open"],
        "knightfall.oracle.check.check",
        dict([one("--board", "5x6", "board", "5x6")]),
    ),
    "solve": Arrives(
        ["solve", FEN],
        "knightfall.solver.solve.solve",
        dict([
            flag("--no-distance", "distance", False),
            flag("--no-atlas", "atlas", False),
            one("--workers", "2", "threads", 2),
            one("--table-mb", "5", "table_mb", 5),
            one("--nodes", "77", "nodes", 77),
            one("--time", "250ms", "seconds", 0.25),
        ]),
    ),
    "atlas certify": Arrives(
        ["atlas", "certify", "5x5"],
        "knightfall.cli.commands.atlas.chosen_map",
        dict([one("--workers", "3", "0", 3), one("--dask", "there:1", "1", "there:1")]),
    ),
    "atlas build": Arrives(
        ["atlas", "build", "5x5"],
        "knightfall.cli.commands.atlas.chosen_map",
        dict([one("--workers", "3", "0", 3), one("--dask", "there:1", "1", "there:1")]),
    ),
    "course run": Arrives(
        ["course", "run", "game_agent.py"],
        "knightfall.course.trial.submission_tournament.trial",
        dict([
            one("--against", "Random", "opponents", ["Random"]),
            one("--pairs", "11", "pairs", 11),
            one("--time", "90ms", "time", "90ms"),
            one("--clock", "wall", "clock", "wall"),
            one("--generation", "2017a", "generation", "2017a"),
            one("--seed", "7", "seed", 7),
            one("--workers", "3", "workers", 3),
            one("--dask", "tcp://there:8786", "dask", "tcp://there:8786"),
            one("--store", "there.sqlite", "store", "there.sqlite"),
            flag("--again", "again"),
        ]),
    ),
    "course class": Arrives(
        ["course", "class", "all"],
        "knightfall.course.classroom.classroom.hold_class",
        dict([
            one("--output", "there", "1", "there"),
            one("--against", "Random", "opponents", ["Random"]),
            one("--pairs", "11", "pairs", 11),
            one("--classmates", "2", "classmates", 2),
            one("--time", "90ms", "time", "90ms"),
            one("--clock", "wall", "clock", "wall"),
            one("--generation", "Ann=2017a", "generations", ["Ann=2017a"]),
            one("--seed", "7", "seed", 7),
            one("--workers", "3", "workers", 3),
            one("--dask", "tcp://there:8786", "dask", "tcp://there:8786"),
            one("--format", "junit", "formats", ["junit"]),
            one("--points", "there.toml", "points", "there.toml"),
            one("--page", "https://there/", "board_page", "https://there/"),
        ]),
    ),
    "course check": Arrives(
        ["course", "check", "game_agent.py"],
        "knightfall.course.checker.check_runner.examine",
        dict([
            one("--generation", "2017a", "generation", "2017a"),
            one("--seconds", "2.5", "seconds", 2.5),
        ]),
    ),
    "course new": Arrives(
        ["course", "new", "there"],
        "knightfall.course.commands.begin",
        dict([one("--generation", "2017a", "1", "2017a")]),
    ),
    "course path": Arrives(
        ["course", "path"],
        "knightfall.course.generations.generation_named",
        dict([one("--generation", "2017a", "0", "2017a")]),
    ),
    "learn data": Arrives(
        ["learn", "data", "there"],
        "knightfall.learning.data.DataSettings.of",
        dict([
            one("--positions", "777", "0", 777),
            one("--seed", "7", "1", 7),
            one("--board", "5x6", "2", ["5x6"]),
            one("--shard", "99", "3", 99),
        ]),
    ),
    "learn data, workers": Arrives(
        ["learn", "data", "there"],
        "knightfall.learning.shard_builder.generate",
        dict([one("--workers", "3", "workers", 3), one("--dask", "tcp://there:8786", "dask", "tcp://there:8786")]),
    ),
    "learn tune, workers": Arrives(
        ["learn", "tune", "improved+0.5*bfs_reach", "there"],
        "knightfall.learning.tuning.run_tuning",
        dict([one("--workers", "3", "workers", 3), one("--dask", "tcp://there:8786", "dask", "tcp://there:8786")]),
    ),
    "match, generation": Arrives(
        ["match", "course:game_agent.py", "random"],
        "knightfall.arena.api.match",
        dict([
            one("--generation", "2017a", "a",
                "course(game_agent.py, generation=2017a, time=150ms, clock=ticks)"),
        ]),
    ),
    "reproduce, plans": Arrives(
        ["reproduce", "staged", "--output", "there"],
        "knightfall.studies.plans.study_plan",
        dict([
            one("--budget", "nodes", "1", "nodes"),
            one("--pairs", "11", "3", 11),
            one("--seed", "7", "4", 7),
        ]),
    ),
    "reproduce, runs": Arrives(
        ["reproduce", "staged", "--output", "there", "--budget", "nodes"],
        "knightfall.studies.reproduction.play_all",
        dict([
            one("--workers", "3", "2", RunnerOptions(3, None)),
            one("--dask", "there:1", "2", RunnerOptions(None, "there:1")),
            flag("--again", "again"),
        ]),
    ),
    "reproduce, store": Arrives(
        ["reproduce", "staged", "--output", "there", "--budget", "nodes"],
        "knightfall.arena.store.Store.open",
        dict([one("--store", "there.sqlite", "0", "there.sqlite")]),
    ),
    "reproduce, fit": Arrives(
        ["reproduce", "staged", "--output", "there", "--budget", "course", "--fit"],
        "knightfall.studies.reproduction.fit_conditions",
        dict([
            one("--seed", "7", "seed", 7),
            one("--workers", "3", "options", RunnerOptions(3, None)),
            one("--dask", "there:1", "options", RunnerOptions(None, "there:1")),
        ]),
    ),
    "learn fit": Arrives(
        ["learn", "fit", "data", "there"],
        "knightfall.learning.fitting.fit",
        dict([
            one("--kind", "linear", "kinds", ["linear"]),
            one("--epochs", "3", "epochs", 3),
            one("--seed", "7", "seed", 7),
            flag("--ablate", "ablate"),
        ]),
    ),
    "learn tune": Arrives(
        ["learn", "tune", "improved+0.5*bfs_reach", "there"],
        "knightfall.learning.tune_settings.TuneSettings.of",
        dict([
            one("--nodes", "70", "nodes", 70),
            one("--second", "210", "second", 210),
            one("--generations", "3", "generations", 3),
            one("--population", "5", "population", 5),
            one("--pairs", "11", "pairs", 11),
            one("--against", "random", "against", ["random"]),
            one("--board", "5x6", "board", "5x6"),
            one("--seed", "7", "seed", 7),
            one("--step", "0.25", "step", 0.25),
            one("--sprt", "3,20", "sprt", (3.0, 20.0)),
        ]),
    ),
    "learn chances": Arrives(
        ["learn", "chances", "there"],
        "knightfall.learning.fit_reply_model.learn",
        dict([
            one("--games", "44", "1", 44),
            one("--seed", "7", "2", 7),
            one("--workers", "3", "3", RunnerOptions(3, None)),
            one("--dask", "there:1", "3", RunnerOptions(None, "there:1")),
        ]),
    ),
    "learn leaderboard": Arrives(
        ["learn", "leaderboard", "there", "random"],
        "knightfall.learning.leaderboard.leaderboard",
        dict([
            one("--positions", "44", "positions", 44),
            one("--board", "5x6", "board", "5x6"),
            one("--seed", "7", "seed", 7),
            one("--workers", "3", "options", RunnerOptions(3, None)),
            one("--dask", "there:1", "options", RunnerOptions(None, "there:1")),
        ]),
    ),
    "annotate": Arrives(
        ["annotate", "b5 e2"],
        "knightfall.oracle.annotate.annotate",
        dict([one("--store", "there.sqlite", "store", "there.sqlite")]),
    ),
    "serve": Arrives(
        ["serve"],
        "knightfall.web.lab.server.listen",
        dict([one("--host", "127.0.0.9", "0", "127.0.0.9"), one("--port", "9123", "1", 9123)]),
    ),
}  # fmt: skip


def given(arrives: Arrives, words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the command with these words added; return the arguments with which the function is
    called.
    """
    calls: list[dict[str, Any]] = []

    def stop(*args: Any, **named: Any) -> None:
        calls.append({**{str(at): value for at, value in enumerate(args)}, **named})
        raise SystemExit

    monkeypatch.setattr(arrives.called, stop)
    result = run(*arrives.line, *words)
    assert len(calls) == 1, result.output
    return calls[0]


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for name, arrives in ARRIVES.items() for option in arrives.options],
)
def test_an_option_arrives(
    name: str, option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    arrives = ARRIVES[name]
    words, wanted = arrives.options[option]
    before = given(arrives, [word for word in words if word in BOUNDS and option != "--sprt"],
                   monkeypatch)  # fmt: skip
    after = given(arrives, words, monkeypatch)
    for argument, value in wanted.items():
        assert after[argument] == value
        assert before[argument] != value, "the value is the same without the option"
    changed = {name for name, value in after.items() if differ(value, before.get(name))}
    assert changed == set(wanted)


def differ(one: Any, other: Any) -> bool:
    """Return whether two arguments differ; objects that are compared only by identity count as
    equal.
    """
    return type(one).__eq__ is not object.__eq__ and bool(one != other)


def test_what_is_not_asked_for_is_as_the_help_says(monkeypatch: pytest.MonkeyPatch) -> None:
    found = given(ARRIVES["worth"], [], monkeypatch)
    assert (found["a"], found["b"], found["pairs"]) == ("main", "improved", 100)
    assert (found["nodes"], found["times"]) == (NODES, TIMES)
    found = given(ARRIVES["grade"], [], monkeypatch)
    assert [found[key] for key in ("openings", "seed", "board", "workers")] == [50, 0, "7x7", None]
    found = given(ARRIVES["course check"], [], monkeypatch)
    assert found["seconds"] == 10.0


# -- options whose effect a test of its own asserts ------------------------------------------------

EFFECTS = "cli/test_option_effects.py"
STORES = f"{EFFECTS}::test_runs_are_those_of_the_store_that_is_given"

ASSERTED = {
    "play": {
        "--board": "cli/test_cli_play.py::test_a_board_instead_of_a_position",
        "--as": "cli/test_cli_play.py::test_undo_when_the_agent_moved_first",
        "--against": "cli/test_cli_play.py::test_the_protocol_tells_every_state_and_every_answer",
        "--resume": "cli/test_cli_play.py::test_resume_by_name_by_file_and_the_last_one",
        "--yes": "cli/test_cli_play.py::test_a_resumed_game_does_not_run_a_file_unasked",
    },
    "watch": {"--seed": "cli/test_cli.py::test_watch_draws_the_placement_from_the_seed"},
    "analyse": {
        "--agent": "cli/test_cli.py::test_analyse_tells_what_the_agent_reports",
        "--no-agent": "cli/test_cli.py::test_legal_moves_without_an_agent",
    },
    "eval": {
        "--heuristic": "cli/test_cli_eval.py::test_every_value_is_the_formulas",
        "--fens": "cli/test_cli_eval.py::test_a_file_of_fens",
        "--for": "cli/test_cli_eval.py::test_the_view_is_the_movers_unless_said",
        "--explain": "studies/test_wished.py::test_the_cluster_is_drawn",
        "--chart": "studies/test_wished.py::test_the_cluster_is_drawn",
    },
    "annotate": {"--chart": "oracle/test_annotate.py::test_annotate_tells_what_the_oracle_found"},
    "grade": {
        "--chart": "oracle/test_annotate.py::test_a_grade_draws_itself",
        "--force": "oracle/test_annotate.py::test_a_grade_draws_itself",
    },
    "course check": {
        "--format": "course/test_course_grades.py::test_check_prints_either_format",
        "--points": "course/test_course_grades.py::test_check_prints_either_format",
    },
    "site": {"--single-file": f"{EFFECTS}::test_a_page_is_one_file_if_that_is_asked_for"},
    "serve": {
        "--store": f"{EFFECTS}::test_the_lab_serves_the_store_that_it_is_given",
        "--key": f"{EFFECTS}::test_a_key_is_in_the_address_that_is_opened",
        "--no-browser": f"{EFFECTS}::test_a_browser_opens_unless_it_is_not_wanted",
    },
    "uci": dict.fromkeys(
        ("--heuristic", "--workers", "--table-mb"),
        "engines/test_uci_server.py::test_the_command_sets_the_defaults_of_the_options",
    ),
    "reproduce": {
        "--output": f"{EFFECTS}::test_reproduce_fits_only_if_asked_to",
        "--no-league": f"{EFFECTS}::test_reproduce_leaves_out_what_is_not_wanted",
        "--no-grades": f"{EFFECTS}::test_reproduce_leaves_out_what_is_not_wanted",
        "--fit": f"{EFFECTS}::test_reproduce_fits_only_if_asked_to",
    },
    "runs list": {"--store": "cli/test_cli_runs.py::test_runs_of_another_store"},
    "runs delete": {
        "--yes": "cli/test_cli_runs.py::test_deleting_needs_a_word",
        "--store": "cli/test_cli_runs.py::test_deleting_from_another_store",
    },
    "runs show": {"--store": STORES},
    "runs games": {
        "--won-by": "cli/test_cli_runs.py::test_games_can_be_picked",
        "--lost-by": "cli/test_cli_runs.py::test_games_can_be_picked",
        "--reason": "cli/test_cli_runs.py::test_games_can_be_picked",
        "--limit": "cli/test_cli_runs.py::test_games_can_be_picked",
        "--store": STORES,
    },
    "runs replay": {
        "--delay": f"{EFFECTS}::test_a_replay_waits_as_long_as_it_is_told",
        "--store": STORES,
    },
    "runs plot": {
        "--kind": "cli/test_cli_plot.py::test_a_kind_and_a_file",
        "--output": "cli/test_cli_plot.py::test_a_kind_and_a_file",
        "--force": "cli/test_cli_plot.py::test_files_are_replaced_only_by_force",
        "--store": STORES,
    },
    "runs export": {
        "--format": f"{EFFECTS}::test_a_run_is_written_in_the_format_that_is_asked_for",
        "--output": "cli/test_cli_runs.py::test_export_goes_to_stdout_or_a_file",
        "--force": "cli/test_cli_runs.py::test_export_goes_to_stdout_or_a_file",
        "--store": STORES,
    },
    "runs import": {
        "--again": "cli/test_cli_runs.py::test_import_adds_a_run",
        "--store": f"{EFFECTS}::test_a_run_is_imported_into_the_store_that_is_given",
    },
    "runs backup": {
        "--force": "arena/test_backup.py::test_what_cannot_be_a_backup_is_said",
        "--store": STORES,
    },
    "atlas certify": {"--output": "cli/test_cli_output.py::test_the_folder_of_a_file_is_made"},
    "atlas build": {
        "--output": "solver/test_atlas.py::test_a_board_that_is_there_is_not_solved_again",
        "--again": "solver/test_atlas.py::test_a_board_that_is_there_is_not_solved_again",
    },
    "learn fit": {
        "--chart": f"{EFFECTS}::test_what_was_learned_is_drawn_where_it_is_told",
        "--force": f"{EFFECTS}::test_what_was_learned_is_drawn_where_it_is_told",
    },
    "learn tune": {
        "--chart": f"{EFFECTS}::test_what_was_learned_is_drawn_where_it_is_told",
        "--force": f"{EFFECTS}::test_what_was_learned_is_drawn_where_it_is_told",
    },
    "stats pairs": {
        "--sprt": "cli/test_cli_stats.py::test_tests_for_scripts",
        "--model": "cli/test_cli_stats.py::test_tests_for_scripts",
        "--alpha": f"{EFFECTS}::test_statistics_heed_every_option_of_their_test",
        "--beta": "cli/test_cli_stats.py::test_tests_for_scripts",
    },
    "stats games": {
        "--sprt": "cli/test_cli_stats.py::test_games_for_scripts",
        "--model": f"{EFFECTS}::test_statistics_heed_every_option_of_their_test",
        "--alpha": "cli/test_cli_stats.py::test_games_for_scripts",
        "--beta": f"{EFFECTS}::test_statistics_heed_every_option_of_their_test",
    },
    "stats plan": {
        "--true-elo": "cli/test_cli_stats.py::test_plans_for_scripts",
        "--split": "cli/test_printed_lists.py::test_a_test_s_forecast_stands_under_its_headings",
        "--model": "cli/test_printed_lists.py::test_a_test_s_forecast_stands_under_its_headings",
        "--alpha": "cli/test_printed_lists.py::test_a_test_s_forecast_stands_under_its_headings",
        "--beta": "cli/test_printed_lists.py::test_a_test_s_forecast_stands_under_its_headings",
    },
}


def commands(found: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all commands with their names, subcommands included."""
    found = typer.main.get_command(app) if found is None else found
    inside = subcommands(found)
    for name, one in inside.items():
        yield from commands(one, (*path, name))
    if not inside:
        yield " ".join(path), found


def test_every_option_is_accounted_for() -> None:
    """Check that each option of each command is in `ARRIVES` or `ASSERTED` (--json is tested in
    test_cli.py).
    """
    arrive = {(label.partition(",")[0], option) for label, arrives in ARRIVES.items()
              for option in arrives.options}  # fmt: skip
    asserted = {(command, option) for command, options in ASSERTED.items() for option in options}
    there = {
        (command, parameter.opts[0])
        for command, found in commands()
        for parameter in found.params
        if parameter.param_type_name == "option" and parameter.opts[0] not in ("--json", "--help")
    }
    assert there == arrive | asserted


@pytest.mark.parametrize("test", sorted({t for tests in ASSERTED.values() for t in tests.values()}))
def test_the_tests_that_are_named_are_there(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_flag_is_off_until_it_is_given() -> None:
    def flags(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        for parameter in command.params:
            if getattr(parameter, "is_flag", False):
                yield f"{name} {parameter.opts[0]}", parameter.default
        for below, one in subcommands(command).items():
            yield from flags(one, f"{name} {below}".strip())

    found = dict(flags(typer.main.get_command(app), ""))
    assert {name for name, default in found.items() if default} == set()
    assert {"match --json", "course path --json", "atlas show --json"} <= found.keys()


def test_every_parameter_of_a_command_is_read() -> None:
    """Check that each command reads all its parameters; an unread one would be an option without
    effect.
    """
    package = Path(knightfall.__file__).parent
    files = [*package.glob("cli/commands/*.py"), *package.glob("*/*command*.py")]
    assert {"arena.py", "commands.py"} < {file.name for file in files}
    for file in files:
        tree = ast.parse(file.read_text("utf-8"))
        for node in [one for one in tree.body if isinstance(one, ast.FunctionDef)]:
            names = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            assert names <= read, (file.name, node.name)


@pytest.mark.parametrize(
    "command",
    [
        "course class ~nobody-of-that-name/class",
        "course check ~nobody-of-that-name/mine",
        "runs import ~nobody-of-that-name/run.jsonl",
        "runs list --store ~nobody-of-that-name/runs.sqlite",
        "annotate ~nobody-of-that-name/game.txt",
        "atlas verify ~nobody-of-that-name/proof.txt",
        "serve --no-browser ~nobody-of-that-name/mine.py",
    ],
)
def test_the_folder_of_an_unknown_user(command: str) -> None:
    """Check that every command treats it as a folder that does not exist."""
    done = run(*command.split())
    assert "internal error" not in done.output
    assert "nobody-of-that-name" in done.output
    assert done.exit_code in (0, 2)
