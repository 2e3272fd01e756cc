"""``knightfall stats``: output, JSON and errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cli_runner
import pytest
from cli_runner import run

from knightfall.statistics.pairs import of_games, of_pairs
from knightfall.statistics.sprt import Sprt, forecast

ROOT = Path(__file__).parents[2]
KEYS = ["elo", "elo_error", "nelo", "nelo_error", "los", "llr", "lower", "upper"]


def answer(*args: str) -> dict[str, Any]:
    told: dict[str, Any] = cli_runner.answer(*args, "--json")
    return told


def text(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert "nan" not in result.stdout
    return result.stdout


# -- for scripts -----------------------------------------------------------------------------


def test_pairs_for_scripts() -> None:
    told = answer("stats", "pairs", "34", "54", "63", "64", "75")
    verdict = of_pairs((34, 54, 63, 64, 75))
    assert list(told)[:8] == KEYS
    for name in KEYS[:5]:
        assert told[name] == getattr(verdict, name)
    assert told["llr"] is told["lower"] is told["upper"] is told["verdict"] is None
    assert (told["pairs"], told["score"]) == (290, verdict.score)


def test_games_for_scripts() -> None:
    told = answer("stats", "games", "136", "96", "111", "--sprt", "0,30", "--alpha", "0.01")
    assert list(told)[:8] == KEYS
    assert told["nelo"] == of_games(136, 96, 111).nelo == pytest.approx(49.77, rel=0.01)
    test = Sprt(0, 30, alpha=0.01)
    assert told["llr"] == test.llr_of_games(136, 96, 111)
    assert (told["lower"], told["upper"]) == test.bounds
    assert told["games"] == 343


def test_tests_for_scripts() -> None:
    told = answer("stats", "pairs", "10", "0", "80", "0", "30", "--sprt", "0,50")
    assert told["llr"] == pytest.approx(4.676, abs=0.001)
    assert told["verdict"] == "H1"
    given = ["223", "9863", "21279", "10037", "246", "--sprt", "0.5,2.5", "--model", "logistic"]
    told = answer("stats", "pairs", *given)
    assert told["llr"] == pytest.approx(-3.07, rel=0.01)
    assert told["verdict"] == "H0"
    triple = answer("stats", "pairs", "10", "80", "30", "--sprt", "0,50")
    assert triple == answer("stats", "pairs", "10", "0", "80", "0", "30", "--sprt", "0,50")
    told = answer("stats", "pairs", "1", "0", "1", "0", "1", "--sprt=-5,0", "--beta=.1")
    assert told["verdict"] is None
    assert told["lower"] == pytest.approx(Sprt(-5, 0, beta=0.1).bounds[0])


def test_infinities_are_words() -> None:
    told = answer("stats", "pairs", "0", "0", "0", "0", "5")
    assert told["elo"] == told["elo_error"] == told["nelo"] == told["nelo_error"] == "inf"
    assert answer("stats", "games", "0", "5", "0")["elo"] == "-inf"
    nothing = answer("stats", "pairs", "0", "0", "0", "0", "0", "--sprt", "0,5")
    assert (nothing["elo"], nothing["elo_error"], nothing["los"]) == (0, "inf", 0.5)
    assert (nothing["llr"], nothing["verdict"]) == (0, None)
    huge = str(2**63 - 1)
    assert answer("stats", "pairs", huge, "0", huge, "0", huge, "--sprt", "0,5")["elo"] == 0


def test_plans_for_scripts() -> None:
    told = answer(
        "stats", "plan", "0,10", "--true-elo", "-20", "--true-elo", "7.5", "--split", ".8"
    )
    assert [each["true_elo"] for each in told["plans"]] == [-20, 7.5]
    expected = forecast(Sprt(0, 10), 7.5, 0.8)
    assert told["plans"][1]["pairs"] == expected.pairs
    assert told["plans"][1]["passes"] == expected.passes
    assert (told["split"], told["model"]) == (0.8, "normalized")
    five = answer("stats", "plan", "-5,0", "--model", "logistic")["plans"]
    assert [each["true_elo"] for each in five] == [-7.5, -5, -2.5, 0, 2.5, 5]
    passes = [each["passes"] for each in five]
    assert passes == sorted(passes)


# -- for people ------------------------------------------------------------------------------


def test_people_read_it_too() -> None:
    shown = text("stats", "pairs", "10", "0", "80", "0", "30", "--sprt", "0,50")
    for part in (
        "58.45 ± 35.48",
        "74.07 ± 43.96",
        "99.95 %",
        "[10, 0, 80, 0, 30]",
        "4.68 (−2.94, 2.94) [0, 50]",
        "is better",
        "accepts H1: 50 nElo rather than 0",
    ):
        assert part in shown
    assert "is worse" in text("stats", "pairs", "30", "0", "80", "0", "10")
    assert "cannot be told apart" in text("stats", "pairs", "10", "0", "80", "0", "12")
    assert "∞ ± ∞" in text("stats", "games", "3", "0", "0")
    assert "−∞ ± ∞" in text("stats", "games", "0", "3", "0")
    assert "nothing is known" in text("stats", "pairs", "0", "0", "0", "0", "0")
    undecided = text("stats", "games", "5", "4", "0", "--sprt", "-5,5", "--model", "logistic")
    assert "neither −5 nor 5 Elo is accepted yet" in undecided
    assert "accepts H0: 0 nElo" in text("stats", "games", "1", "900", "0", "--sprt", "0,5")


def test_plans_are_a_table() -> None:
    lines = text("stats", "plan", "0,10").splitlines()
    assert "equal agents split 67 %" in lines[0]
    assert lines[2].split() == ["true", "nElo", "Elo", "passes", "pairs", "games"]
    assert len(lines) == 3 + 6 + 2
    assert lines[-1].startswith("pair: two games")
    assert lines[4].split()[:2] == ["0", "0.00"]
    assert "passes" in text("stats", "plan", "-1000,1000")


@pytest.mark.parametrize("args", [[], ["--help"]])
def test_help_shows_examples(args: list[str]) -> None:
    assert "knightfall stats" in text("stats", *args)
    assert "Example" in text("stats", *args)


TERMS = {
    "nElo": "normalized Elo, relative to how much results vary",
    "LOS": "likelihood of superiority",
    "LLR": "log-likelihood ratio",
    "pair": "two games from one opening",
}


@pytest.mark.parametrize(
    ("args", "terms"),
    [
        (["pairs", "10", "80", "30", "--sprt", "0,50"], {"nElo", "LOS", "LLR", "pair"}),
        (["pairs", "10", "80", "30"], {"nElo", "LOS", "pair"}),
        (["games", "136", "96", "111"], {"nElo", "LOS"}),
        (["plan", "0,10"], {"nElo", "pair"}),
        (["plan", "0,10", "--model", "logistic"], {"pair"}),
    ],
)
def test_terms_are_explained_once(args: list[str], terms: set[str]) -> None:
    shown = text("stats", *args)
    for term, words in TERMS.items():
        assert shown.count(f"{term}: {words}") == (term in terms)


def test_help_explains_the_terms_that_it_uses() -> None:
    for words in (["stats", "pairs"], ["match"]):
        told = " ".join(text(*words, "--help").split())
        assert "normalized Elo, which is the advantage relative to how much results vary" in told
        assert "LOS, the likelihood that" in told
        assert "LLR, the log-likelihood ratio" in told
        assert "two games from one opening" in told
    assert "The hunter can take escape cells" in " ".join(text("atlas", "show", "-h").split())


# -- bad input -------------------------------------------------------------------------------

FIVE = ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["stats", "pairs", "1", "2", "3", "4"], "WW"),
        (["stats", "pairs", *FIVE, "6"], "6"),
        (
            ["stats", "pairs", "-1", "2", "3", "4", "5"],
            "'-1' is not accepted: give a whole number, at least 0",
        ),
        (
            ["stats", "pairs", "1", "2", "3", "4", "-5"],
            "'-5' is not accepted: give a whole number, at least 0",
        ),
        (
            ["stats", "pairs", "a", "2", "3", "4", "5"],
            "'a' is not accepted: give a whole number, at least 0",
        ),
        (
            ["stats", "pairs", "", "2", "3", "4", "5"],
            "'' is not accepted: give a whole number, at least 0",
        ),
        (
            ["stats", "pairs", "-", "2", "3", "4", "5"],
            "'-' is not accepted: give a whole number, at least 0",
        ),
        (["stats", "pairs", "1.5", "2", "3", "4", "5"], "'1.5'"),
        (["stats", "pairs", "9" * 20, "2", "3", "4", "5"], "9" * 20),
        (["stats", "games", "1", "2"], "D"),
        (["stats", "20,0"], "'20,0' is not a command: try knightfall stats plan 0,20"),
        (["stats", "0,x"], "'x' is not an Elo difference"),
        (["stats", "plan", "20,0"], "less than the second, as in 0,20"),
        (["stats", "plan", "10,10"], "less than the second, as in 10,20"),
        (["stats", "games", "1", "-2", "3"], "'-2'"),
        (["stats", "pairs", *FIVE, "--sprt", "5"], "'5' is not two Elo differences"),
        (["stats", "pairs", *FIVE, "--sprt", ""], "'' is not two Elo differences"),
        (["stats", "pairs", *FIVE, "--sprt", "a,5"], "'a' is not an Elo difference"),
        (["stats", "pairs", *FIVE, "--sprt", "1,2,3"], "'2,3' is not an Elo difference"),
        (["stats", "pairs", *FIVE, "--sprt", "nan,5"], "'nan' is not an Elo difference"),
        (["stats", "pairs", *FIVE, "--sprt", "0,1e999"], "inf"),
        (["stats", "pairs", *FIVE, "--sprt", "5,0"], "5,0"),
        (["stats", "pairs", *FIVE, "--sprt"], "requires an argument"),
        (["stats", "pairs", *FIVE, "--sprt", "0,5", "--alpha", "0"], "alpha 0 "),
        (["stats", "pairs", *FIVE, "--sprt", "0,5", "--alpha", "x"], "'x'"),
        (["stats", "pairs", *FIVE, "--sprt", "0,5", "--beta", "-1"], "beta -1 "),
        (["stats", "pairs", *FIVE, "--sprt", "0,5", "--model", "logisitc"], "'logistic'?"),
        (["stats", "pairs", *FIVE, "--sprt", "0,5", "--model", ""], "''"),
        (["stats", "pairs", *FIVE, "--model", "logistic"], "--sprt"),
        (["stats", "pairs", *FIVE, "--alfa", "3"], "--alfa"),
        (["stats", "nope"], "nope"),
        (["stats", "plan"], "ELO0,ELO1"),
        (["stats", "plan", "10"], "'10'"),
        (["stats", "plan", "0,10", "--split", "1"], "1 is not accepted as the share"),
        (["stats", "plan", "0,10", "--split", "x"], "'x'"),
        (["stats", "plan", "0,10", "--true-elo", "5000"], "5000"),
        (["stats", "plan", "0,10", "--true-elo", "x"], "'x'"),
    ],
)
def test_bad_input_is_named(args: list[str], named: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


# -- the page --------------------------------------------------------------------------------


def test_everything_the_page_shows_is_true() -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    shown = [
        (command.strip(), output.strip())
        for block in blocks
        for command, output in re.findall(r"^\$ (.*?)\n(.*?)(?=^\$ |\Z)", block, re.M | re.S)
    ]
    assert len(shown) >= 3
    for command, output in shown:
        name, *args = command.split()
        assert name == "knightfall"
        assert output == "\n".join(line.rstrip() for line in text(*args).splitlines()).strip()


def test_every_python_example_of_the_page_runs() -> None:
    import doctest

    results = doctest.testfile(str(ROOT / "docs" / "statistics.md"), module_relative=False)
    assert results.attempted > 5
    assert results.failed == 0


def test_the_table_of_the_page_is_what_the_plan_says() -> None:
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", page, re.M)
    assert len(rows) == 5
    for bounds, elo, *pairs in rows:
        lines = [line.split() for line in text("stats", "plan", bounds).splitlines()[4:7]]
        assert [line[-2] for line in lines] == pairs
        assert lines[2][1] == elo
