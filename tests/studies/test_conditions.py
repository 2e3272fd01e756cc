"""Tests of the studies' conditions: likelihoods by hand, and fits that recover the truth."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
import scipy

from knightfall.agents import parse_agent
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions
from knightfall.studies import fit_conditions as fitting
from knightfall.studies import playing_conditions as trials
from knightfall.studies.fit_conditions import as_json, choose_condition, read_fits, recorded_fits
from knightfall.studies.playing_conditions import (
    Condition,
    Prediction,
    known_condition,
    plausible,
    predict,
    variants,
)
from knightfall.studies.printed_tables import PrintedTable, read_cell
from knightfall.studies.published import Study, studies

ALL = list(studies().values())
DOCS = Path(__file__).parents[2] / "docs" / "studies"


def named(study: Study) -> str:
    return study.id


# -- who plays -----------------------------------------------------------------------------------


@pytest.mark.parametrize("study", ALL, ids=named)
def test_every_agent_of_a_condition_is_one(study: Study) -> None:
    assert set(study.as_coded) <= set(study.heuristics)
    for heuristic in study.wished("course"):
        assert parse_agent(Condition().test_agent(study, heuristic)).kind == "student"
    for condition in variants(study):
        plan = trials.faithful_plan(study, condition, 2, 0)
        for entrant in plan.entrants:
            agent = parse_agent(entrant.agent)
            assert str(agent) == entrant.agent
            if agent.kind == "student":
                assert agent.student_options is not None
                assert (agent.student_options.lost, agent.student_options.ties) == (
                    condition.lost,
                    condition.ties,
                )
            else:
                assert entrant.name == "Random"
        assert plan.entrants[0].name == "improved"


def test_opponents_are_the_students_own_classes() -> None:
    early = Condition(board="early", time=30_000)
    assert (
        early.opponent("2017a:AB_Improved") == "student(improved, depth=5, time=30ms, board=early)"
    )
    assert (
        early.opponent("2017a:MM_Null") == "student(null, depth=3, time=30ms, minimax, board=early)"
    )
    assert Condition().opponent("AB_Center") == "student(center, time=25ms)"
    assert Condition().opponent("Random") == "random"


def test_heuristics_are_as_they_were_coded() -> None:
    def agent(study: str, heuristic: str) -> str:
        return Condition().test_agent(studies()[study], heuristic)

    assert agent("staged", "main") == agent("staged", "main_alt") == agent("staged", "main_less")
    assert agent("aggressive", "open_cluster") == agent("aggressive", "aggressive")
    assert agent("reachability", "near_center") == (
        "student(coded:near_center, time=25ms, ends=either)"
    )
    assert agent("reachability", "improved") == "student(improved, time=25ms)"
    # The wished sum is composed of the terms as they were coded.
    assert agent("reachability", "phase*near_edges+(1-phase)*near_center+bfs_reach") == (
        "student(phase*coded:near_edges+(1-phase)*coded:near_center+bfs_reach, time=25ms, "
        "ends=either)"
    )


def test_without_their_mistakes() -> None:
    mended = Condition(ties="last", board="early", time=7).never_resigning()
    assert mended == Condition(lost="keeps", board="early", time=7)


# -- likelihood ----------------------------------------------------------------------------------


def made_up(study: Study, rates: np.ndarray, pairs: int = 400, seed: int = 1) -> Prediction:
    """Return a prediction that is based on simulated games with these chances to win."""
    rng = np.random.default_rng(seed)
    heuristics = sorted(study.heuristics, key=lambda id: id != "improved")
    opponents = [name.rpartition(":")[2] for name in study.opponents]
    scores = rng.binomial(2, rates[..., None], (*rates.shape, pairs)).astype(np.int8)
    return predict(heuristics, opponents, scores)


def test_cells_by_hand() -> None:
    study = studies()["directional"]
    prediction = made_up(study, np.full((4, 7), 0.7))
    cells = prediction.cells(study)
    assert len(cells) == 28
    for cell in cells:
        row = prediction.heuristics.index(cell.heuristic)
        column = prediction.opponents.index(cell.opponent)
        won = study.wins[cell.heuristic][column]
        p, v = prediction.rates[row, column], prediction.variances[row, column]
        spread = sqrt(p * (1 - p) / 10 + v)
        assert cell.z == pytest.approx((won / 10 - p) / spread)
        assert exp(cell.loglikelihood) == pytest.approx(scipy.stats.norm.pdf(won / 10, p, spread))
    (total,) = (cell for cell in prediction.totals(study) if cell.heuristic == "improved")
    rates, variances = prediction.rates[0], prediction.variances[0]
    assert total.predicted == pytest.approx(rates.mean())
    expected = sum(p * (1 - p) / 10 + v for p, v in zip(rates, variances, strict=True)) / 49
    assert total.spread == pytest.approx(sqrt(expected))


def with_wins(study: Study, wins: Mapping[str, tuple[int, ...]]) -> Study:
    """Return the study with a single printed table, which has these wins."""
    cells = {id: tuple(map(read_cell, row)) for id, row in wins.items()}
    return replace(study, tables=(PrintedTable("made up", "here", cells, {}),))


def test_every_published_cell_is_evidence() -> None:
    """Compare with a count in the tables' texts: every cell is used exactly once."""
    total = 0
    for study in ALL:
        prediction = made_up(study, np.full((len(study.heuristics), 7), 0.7))
        cells = prediction.cells(study)
        keys = [(cell.tournament, cell.heuristic, cell.opponent) for cell in cells]
        assert len(set(keys)) == len(keys)
        wanted = set()
        for number, played in enumerate(study.played, 1):
            for table in played.tables:
                for id, row in table.cells.items():
                    for column, cell in enumerate(row):
                        if str(cell) != "?|?":
                            wanted.add((number, id, prediction.opponents[column]))
        assert set(keys) == wanted
        total += len(cells)
        evidence = fitting._evidence(study, prediction)
        games = dict.fromkeys(study.heuristics, 0)
        for cell in evidence:
            games[cell.heuristic] += cell.games
        assert games == {id: study.overall_rate(id)[1] for id in study.heuristics}
    assert total == 28 + 28 + 133 + 63 + 189


def test_a_cell_of_a_later_tournament_moves_the_fit() -> None:
    study = studies()["aggressive"]
    prediction = made_up(study, np.full((4, 7), 0.7))
    last = study.tables[-1]
    row = (read_cell("0|10"), *last.cells["open_cluster"][1:])
    changed = replace(last, cells={**last.cells, "open_cluster": row})
    other = replace(study, tables=(*study.tables[:-1], changed))
    both = [
        {(c.tournament, c.heuristic, c.opponent): c for c in prediction.cells(one)}
        for one in (study, other)
    ]
    differs = [key for key in both[0] if both[0][key] != both[1][key]]
    assert differs == [(9, "open_cluster", "Random")]
    assert fitting.loglikelihood(list(both[1].values())) < fitting.loglikelihood(
        list(both[0].values())
    )


def test_a_true_condition_gives_one_per_cell() -> None:
    """Check that results drawn from the predicted chances have a mean chi-square of about 1 per
    cell.
    """
    study, rng = studies()["reachability"], np.random.default_rng(2)
    rates = rng.uniform(0.5, 0.9, (19, 7))
    prediction = made_up(study, rates, pairs=200)
    found = []
    for _ in range(40):
        wins = {
            id: tuple(int(won) for won in rng.binomial(100, rates[row]))
            for row, id in enumerate(prediction.heuristics)
        }
        found += [cell.z**2 for cell in prediction.cells(with_wins(study, wins))]
    assert np.mean(found) == pytest.approx(1, abs=0.08)


def test_no_prediction_is_certain() -> None:
    one = predict(["improved"], ["Random"], np.full((1, 1, 10), 2, np.int8))
    assert 0.9 < one.rates[0, 0] < 1
    assert one.variances[0, 0] > 0


# -- fits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["lookahead", "staged"])
def test_a_fit_finds_what_was_put_in(id: str) -> None:
    study, rng = studies()[id], np.random.default_rng(3)
    rows = len(study.heuristics)
    truth = replace(plausible(study)[0], time=16_000)
    found, rates = {}, {}
    for variant in variants(study):
        for time in (8_000, 16_000, 32_000):
            condition = replace(variant, time=time)
            rates[condition] = rng.uniform(0.4, 0.95, (rows, 7))
            found[condition] = made_up(study, rates[condition])
    heuristics = found[truth].heuristics
    games = 200
    wins = {
        name: tuple(int(won) for won in rng.binomial(games, rates[truth][row]))
        for row, name in enumerate(heuristics)
    }
    published = with_wins(replace(study, games_per_opponent=games), wins)
    fit = choose_condition(published, found)
    assert fit.condition == truth
    assert fit.tried[0].variant == replace(truth, time=25_000).words()
    assert fit.choices == 3 * len(plausible(study))
    assert len(fit.tried) == len(variants(study))
    best = fit.tried[0]
    assert best.loglikelihood == pytest.approx(
        sum(cell.loglikelihood for cell in found[truth].cells(published))
    )
    assert best.chi_square == pytest.approx(
        sum(cell.z**2 for cell in found[truth].cells(published))
    )
    for half in fit.halves:
        assert half.time == 16_000
        assert half.chi_square / half.cells < 2
    assert sum(half.cells for half in fit.halves) == 7 * rows
    # Each half is judged by the tables of the other half, every second row.
    shown = [name for name in published.heuristics if name in published.wins]
    assert len(fit.halves) == 2
    for part, half in enumerate(fit.halves):
        others = shown[1 - part :: 2]
        cells = [cell for cell in found[truth].cells(published) if cell.heuristic in others]
        assert half.cells == len(cells)
        assert half.chi_square == pytest.approx(sum(cell.z**2 for cell in cells))
        assert half.variant == replace(truth, time=25_000).words()


def test_each_half_is_fitted_on_its_own_rows() -> None:
    """Check the fits of even and odd rows, simulated with two times: each finds its own."""
    study, rng = studies()["lookahead"], np.random.default_rng(4)
    rows, games, times = len(study.heuristics), 300, (8_000, 32_000)
    tried = [replace(variant, time=time) for variant in variants(study) for time in times]
    rates = {condition: rng.uniform(0.3, 0.95, (rows, 7)) for condition in tried}
    found = {condition: made_up(study, rates[condition]) for condition in tried}
    truths = [replace(plausible(study)[0], time=time) for time in times]
    shown = [name for name in study.heuristics if name in study.wins]
    wins = {}
    for row, name in enumerate(found[truths[0]].heuristics):
        truth = truths[shown.index(name) % 2]
        wins[name] = tuple(int(won) for won in rng.binomial(games, rates[truth][row]))
    fit = choose_condition(with_wins(replace(study, games_per_opponent=games), wins), found)
    assert [half.time for half in fit.halves] == list(times)
    assert all(half.chi_square / half.cells > 5 for half in fit.halves)


def test_what_an_author_wrote_is_not_chosen_by_numbers() -> None:
    for study in ALL:
        assert set(plausible(study)) <= set(variants(study))
        assert len(plausible(study)) == (1 if known_condition(study) else len(variants(study)))


def test_trials_are_played_once_and_by_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    wanted = [("directional", Condition(lost=lost, time=500)) for lost in ("legal", "forfeits")]
    told: list[int] = []
    first = trials.play_trials(wanted, lambda id: 2, 0, DEFAULT, told.append)
    assert told == [0, 1, 2]
    assert first[wanted[0]].rates.shape == (4, 7)
    assert not np.array_equal(first[wanted[0]].rates, first[wanted[1]].rates)
    again = trials.play_trials(wanted, lambda id: 2, 0, DEFAULT, told.append)
    assert told[3:] == [2]
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "other"))
    elsewhere = trials.play_trials(wanted, lambda id: 2, 0, RunnerOptions(2))
    for other in (again, elsewhere):
        assert all(np.array_equal(first[one].rates, other[one].rates) for one in wanted)
    (tmp_path / "trials.json").write_text("{")
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    assert trials.play_trials(wanted[:1], lambda id: 2, 0)[wanted[0]].rates.shape == (4, 7)


def test_a_fit_by_the_command_s_own_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    study = studies()["directional"]
    found = fitting.fit([study], times=(300, 600), pairs=lambda study: 1)
    assert read_fits(as_json(found)).keys() == {"directional"}
    assert found["directional"].condition.lost == "legal"
    assert found["directional"].choices == 3  # two times, and one between them
    times = {one.time: one.loglikelihood for one in found["directional"].times}
    assert {300, 400, 600} == set(times)  # 400 is between the given times
    assert times[found["directional"].condition.time] == max(times.values())


# -- what is on record ---------------------------------------------------------------------------


def test_the_recorded_fits() -> None:
    fits = recorded_fits()
    assert set(fits) <= set(studies())
    assert {id: (one.condition.lost, one.condition.ties) for id, one in fits.items()} == {
        "lookahead": ("legal", "first"),
        "directional": ("legal", "first"),
        "reachability": ("forfeits", "first"),
        "staged": ("forfeits", "last"),
        "aggressive": ("forfeits", "first"),
    }
    assert json.loads(as_json(fits)) == json.loads(as_json(read_fits(as_json(fits))))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda text: text[:100], "cannot be read"),
        (lambda text: re.sub('"lost": "legal"', '"lost": "weeps"', text, count=1), "weeps"),
        (lambda text: re.sub(r'"time": \d+', '"time": -1', text, count=1), "time"),
    ],
)
def test_a_damaged_record_is_refused(spoil: object, told: str) -> None:
    assert callable(spoil)
    with pytest.raises(KnightfallError, match=told):
        read_fits(spoil(as_json(recorded_fits())))


def test_what_is_on_record_is_what_was_published() -> None:
    assert (DOCS / "fit.json").read_text("utf-8") == as_json(recorded_fits()), "run make studies"


def test_the_committed_report_by_other_means() -> None:
    """Compare the chi-squares and p-values of the committed report with a computation from
    report.json alone.
    """
    report = json.loads((DOCS / "report.json").read_text("utf-8"))
    for study in report["studies"]:
        fit, published = study["fit"], studies()[study["id"]]
        rows = {row["heuristic"]: row for row in study["rows"]}
        squares = []
        for cell in fit["cells"]:
            column = study["opponents"].index(cell["opponent"])
            won = published.played[cell["tournament"] - 1].wins(cell["heuristic"])[column]
            assert won is not None
            assert cell["published"] == pytest.approx(100 * won / cell["games"], abs=1e-5)
            rate = rows[cell["heuristic"]]["measured"]["course"]["against"][column]
            # Half a pair won and half a pair lost are added to ours.
            pairs = rate["games"] / 2
            assert cell["predicted"] == pytest.approx(
                (pairs * rate["rate"] + 50) / (pairs + 1), abs=1e-4
            )
            p = cell["predicted"] / 100
            assert cell["error"] ** 2 / 1e4 >= p * (1 - p) / cell["games"]
            squares.append(((cell["published"] - cell["predicted"]) / cell["error"]) ** 2)
        assert fit["chi_square"] == pytest.approx(sum(squares), rel=1e-4)
        likely = sum(
            scipy.stats.norm.logpdf(one["published"], one["predicted"], one["error"])
            for one in fit["cells"]
        )
        percent = len(squares) * log(100)  # rates are from 0 to 1 there
        assert fit["loglikelihood"] == pytest.approx(likely + percent, abs=1e-2)
        assert fit["p_value"] == pytest.approx(
            scipy.stats.chi2.sf(sum(squares), len(squares)), abs=1e-3
        )
        likely = [one for one in fit["tried"] if one["plausible"]]
        chosen = max(likely, key=lambda one: one["loglikelihood"])
        assert chosen["variant"] == fit["condition"]
        assert max(fit["times"], key=lambda one: one["loglikelihood"])["time"] == fit["time"]
