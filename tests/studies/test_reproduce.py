"""Tests of `reproduce`: verdicts against separate code, and the content of the pages."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from math import inf, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy
import typer
from arena_helpers import fake_pair
from chart_runs import naive_pairs
from typer.testing import CliRunner

import knightfall as kf
from knightfall.arena import api
from knightfall.arena.plan import Entrant, Plan, tournament_matches
from knightfall.arena.store import Store
from knightfall.cli.terminal import GuardedGroup
from knightfall.isolation.parallel_map import RunnerOptions
from knightfall.position import Position
from knightfall.studies import oracle_grades as grades
from knightfall.studies import plans
from knightfall.studies.claims import ONCE, meaning
from knightfall.studies.commands import PAIRS, reproduce
from knightfall.studies.common_sections import needed_section
from knightfall.studies.comparisons import MARKS
from knightfall.studies.document import rendered
from knightfall.studies.markdown import BEGIN, END
from knightfall.studies.node_costs import compiled_costs
from knightfall.studies.oracle_grades import HeuristicGrade
from knightfall.studies.playing_conditions import Condition
from knightfall.studies.published import Claim, read_studies, studies
from knightfall.studies.report_builder import correlation
from knightfall.studies.run_results import (
    TOURNAMENT_SIZES,
    NeededGames,
    Rating,
    Tournament,
    needed_games,
    tournament_of,
)
from knightfall.studies.studies_report import StudiesReport
from knightfall.studies.study_files import FIRST, study_files

app = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)
app.command(name="reproduce")(reproduce)
app.command(name="other")(lambda: None)  # a single command would not form a group

PAGES = ("studies.md", "index.html")
NO_PICTURES = mock.patch("knightfall.studies.studies_charts._svg", return_value="<svg></svg>")
"""Replaces the charts in tests that do not need them, to save time."""
DOCS = Path(__file__).parents[2] / "docs" / "studies"


def run(folder: Path, *args: str, code: int = 0) -> Any:
    """Run the command with a store and an output folder of its own."""
    where = ["--store", str(folder / "runs.sqlite"), "--output", str(folder / "out")]
    found = CliRunner().invoke(app, ["reproduce", *args, *where])
    assert found.exit_code == code, found.output
    return found


@pytest.fixture
def small_league(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave four heuristics in the league: with all, it plays a hundred times as many games."""
    some = ("improved", "open", "bfs_reach", "main")
    monkeypatch.setattr(plans, "league_heuristics", lambda chosen: some)


@pytest.fixture(scope="module")
def all_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run every study at every budget with very few games and without charts."""
    folder = tmp_path_factory.mktemp("all")
    with NO_PICTURES:
        run(folder, "all", "--pairs", "2", "--no-league", "--workers", "0")
    return folder


@pytest.fixture(scope="module")
def deeper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run one study with enough games for verdicts of every kind, without charts."""
    folder = tmp_path_factory.mktemp("deeper")
    args = ["staged", "--pairs", "60", "--budget", "never"]
    with NO_PICTURES:
        run(folder, *args, "--no-league", "--workers", "0")
    return folder


@pytest.mark.usefixtures("small_league")
def test_without_matplotlib_all_but_the_charts_is_written(tmp_path: Path) -> None:
    args = ["lookahead", "--pairs", "2", "--budget", "course", "--workers", "0", "--no-grades"]
    with pytest.MonkeyPatch.context() as patch:  # mock.patch.dict would drop new imports
        for name in ("matplotlib", "matplotlib.figure"):
            patch.setitem(sys.modules, name, None)
        found = run(tmp_path, *args)
    (line,) = [line for line in found.stderr.splitlines() if "matplotlib" in line]
    assert line.startswith("knightfall: no charts: matplotlib cannot be imported")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*PAGES, "report.json"}
    for page in PAGES:
        text = (tmp_path / "out" / page).read_text("utf-8")
        assert ".svg" not in text
        assert "corner_averse" in text
    with NO_PICTURES:
        again = run(tmp_path, *args)
    assert "matplotlib" not in again.stderr
    assert (tmp_path / "out" / "lookahead.svg").exists()


def test_the_table_of_needed_games_does_without_its_chart() -> None:
    none = NeededGames((70, 140), (), 3, 4)
    assert not any("svg" in part for part in needed_section(none, {}))
    assert any("svg" in part for part in needed_section(none, {"needed-games": "what it shows"}))


def report_of(folder: Path) -> Any:
    return json.loads((folder / "out" / "report.json").read_text("utf-8"))


# -- separate code: SQL, plain arithmetic, textbook distributions ------------------------------


class Query:
    """One study's tournament at one budget, read from the table of games."""

    def __init__(self, folder: Path, study: str, budget: str) -> None:
        db = sqlite3.connect(folder / "runs.sqlite")
        rows = db.execute(
            """
            SELECT a.name, b.name, o.fen,
                   sum((g.game = 0 AND g.winner = 'w') OR (g.game = 1 AND g.winner = 'b')), count(*)
            FROM runs r JOIN pairs p ON p.run = r.id
            JOIN games g ON g.run = r.id AND g.pair = p.number
            JOIN matches m ON m.run = r.id AND m.number = p.match
            JOIN entrants a ON a.run = r.id AND a.number = m.a
            JOIN entrants b ON b.run = r.id AND b.number = m.b
            JOIN openings o ON o.run = r.id AND o.number = p.opening
            WHERE json_extract(r.plan, '$.options.study') = ?
              AND json_extract(r.plan, '$.options.budget') = ?
            GROUP BY p.number ORDER BY p.number
            """,
            (study, budget),
        ).fetchall()
        db.close()
        self.study = studies()[study]
        self._rounds: dict[str, list[float]] = {}
        self.won: dict[str, dict[str, list[float]]] = {}
        self.openings: dict[str, dict[str, list[str]]] = {}
        for heuristic, opponent, opening, won, games in rows:
            assert games == 2
            self.won.setdefault(heuristic, {}).setdefault(opponent, []).append(won / 2)
            self.openings.setdefault(heuristic, {}).setdefault(opponent, []).append(opening)

    def against(self, opponents: tuple[int, ...] | None) -> Query:
        """Return the tournament restricted to some of the opponents."""
        if opponents is None:
            return self
        names = [self.study.opponents[at].rpartition(":")[2] for at in opponents]
        found = copy(self)
        found._rounds = {}
        found.won = {
            id: {name: row for name, row in mine.items() if name in names}
            for id, mine in self.won.items()
        }
        return found

    def by_round(self, heuristic: str) -> list[float]:
        if heuristic not in self._rounds:
            columns = zip(*self.won[heuristic].values(), strict=True)
            self._rounds[heuristic] = [fmean(scores) for scores in columns]
        return self._rounds[heuristic]

    def squares_by_round(self, heuristic: str) -> list[float]:
        rows = [squares(row) for row in self.won[heuristic].values()]
        return [fmean(column) for column in zip(*rows, strict=True)]

    def rate(self, heuristic: str, opponent: str | None = None) -> float:
        mine = self.won[heuristic]
        return 100 * fmean(x for name, row in mine.items() if opponent in (None, name) for x in row)

    def games(self, heuristic: str) -> int:
        return 2 * sum(map(len, self.won[heuristic].values()))


def squares(row: list[float]) -> list[float]:
    """Return squared deviations from the mean."""
    mean = fmean(row)
    return [(x - mean) ** 2 for x in row]


def variance(row: list[float]) -> float:
    """Return `statistics.pvariance` without its slow fractions."""
    return fmean(squares(row))


def interval(a: list[float], b: list[float]) -> tuple[float, float, float, float]:
    """Return mean, standard error and 95 % interval of a − b, computed with two added differences
    of ±0.5.
    """
    gaps = [x - y for x, y in zip(a, b, strict=True)]
    mean, se = fmean(gaps), sqrt(variance([*gaps, 0.5, -0.5]) / len(gaps))
    reach = scipy.special.stdtrit(len(gaps) + 1, 0.975) * se
    return mean, se, max(-1.0, mean - reach), min(1.0, mean + reach)


def tail(mean: float, se: float, limit: float, side: int, freedom: int) -> float:
    """Return the two-sided p-value of a mean right (side 1) or left (−1) of a limit."""
    if side * (mean - limit) <= 0:
        return 1.0
    return (
        0.0
        if abs(limit) == inf
        else float(2 * scipy.special.stdtr(freedom, -abs(mean - limit) / se))
    )


LIMITS: dict[str, Callable[[Claim], tuple[float, float, float, float]]] = {
    # wanted above, wanted below, refuted below, refuted above
    "better": lambda claim: (0, inf, 1, inf),
    "steadier": lambda claim: (0, inf, 0.2, inf),
    "not_better": lambda claim: (-inf, 1, -inf, 0),
    "better_by": lambda claim: (*claim.between, *claim.between),  # type: ignore[misc]
    "alike": lambda claim: (*claim.between, *claim.between),  # type: ignore[misc]
}


def verdict_again(claim: Claim, query: Query) -> str:
    if claim.form == "won_tournaments":
        return tournaments_again(claim, query)
    above, below, too_low, too_high = LIMITS[claim.form](claim)
    p_for, p_against = [], []
    for a, b in claim.pairs:
        if claim.form == "steadier":
            mine, theirs = query.squares_by_round(a), query.squares_by_round(b)
            opponents = len(query.won[a])
            scale = 100 / sqrt(claim.games_per_opponent // 2 * opponents)
            scale /= sqrt(fmean(mine)) + sqrt(fmean(theirs))
            mean, se, low, _ = interval(theirs, mine)
        else:
            scale = 100
            mean, se, low, _ = interval(query.by_round(a), query.by_round(b))
        freedom = len(query.by_round(a)) + 1
        mean, se, low = scale * mean, scale * se, scale * low
        wanted = max(tail(mean, se, above, 1, freedom), tail(mean, se, below, -1, freedom))
        against = min(tail(mean, se, too_low, -1, freedom), tail(mean, se, too_high, 1, freedom))
        if low > 0 and claim.form in ("better", "steadier"):
            against = 1.0
        if low > 0 and claim.form == "not_better":
            wanted = 1.0
        p_for.append(wanted)
        p_against.append(against)
    if max(p_for) < 0.05:
        return "holds"
    return "does not hold" if len(p_against) * min(p_against) < 0.05 else "cannot be told apart"


def tournaments_again(claim: Claim, query: Query) -> str:
    (a,), (b,) = claim.who, claim.than
    _, _, low, high = interval(query.by_round(a), query.by_round(b))
    pairs, opponents = claim.games_per_opponent // 2, query.won[a]
    together = sum(
        variance(
            [*(x - y for x, y in zip(query.won[a][o], query.won[b][o], strict=True)), 0.5, -0.5]
        )
        for o in opponents
    )
    spread = sqrt(4 * pairs * together)
    least, most = (
        scipy.stats.norm.cdf((ahead * 2 * pairs * len(opponents) - 0.5) / spread)
        for ahead in (low, high)
    )
    won, of = claim.tournaments or (0, 0)
    bottom, top = (
        scipy.stats.beta.ppf(0.025, won, of - won + 1),
        scipy.stats.beta.ppf(0.975, won + 1, of - won),
    )
    if bottom <= least and most <= top:
        return "holds"
    return "does not hold" if most < bottom or least > top else "cannot be told apart"


def each_study(folder: Path) -> Iterator[tuple[Any, str, Query]]:
    report = report_of(folder)
    for study in report["studies"]:
        for budget in report["budgets"]:
            yield study, budget, Query(folder, study["id"], budget)


@pytest.mark.parametrize("which", ["all_studies", pytest.param("deeper", marks=pytest.mark.slow)])
def test_verdicts_follow_from_the_games(which: str, request: pytest.FixtureRequest) -> None:
    kinds, folder = set(), request.getfixturevalue(which)
    for study, budget, everyone in each_study(folder):
        for claim, told in zip(studies()[study["id"]].claims, study["claims"], strict=True):
            assert (told["sentence"], told["where"]) == (claim.sentence, claim.where)
            played = claim.measure in ("games", "power") and claim.form not in (
                "fact",
                "untestable",
            )
            if not played:
                assert budget not in told["verdicts"] or claim.measure == "depth"
                continue
            query = everyone.against(claim.against)
            if claim.measure == "power":
                if budget != "course":
                    continue
                query = Query(folder, study["id"], plans.POWER)
            verdict = told["verdicts"][ONCE if claim.measure == "power" else budget]
            kinds.add(verdict["verdict"])
            assert verdict["verdict"] == verdict_again(claim, query), claim.sentence
            assert verdict["games"] == query.games(claim.who[0])
            if claim.form != "steadier":
                found = [interval(query.by_round(a), query.by_round(b)) for a, b in claim.pairs]
                ends = [(100 * mean, 100 * low, 100 * high) for mean, _, low, high in found]
                mine = [verdict[key] for key in ("difference", "low", "high")]
                assert any(mine == pytest.approx(each, abs=1e-5) for each in ends)
    if which == "deeper":
        assert kinds == {"holds", "does not hold", "cannot be told apart"}


def reported(folder: Path, text: str) -> Any:
    """Return the one claim of the report whose sentence contains these words."""
    claims = [claim for study in report_of(folder)["studies"] for claim in study["claims"]]
    (found,) = [claim for claim in claims if text in claim["sentence"]]
    return found["verdicts"][ONCE]


def test_a_ply_and_a_board_follow_from_the_games(all_studies: Path) -> None:
    plies = [Query(all_studies, "aggressive", f"ply {depth}") for depth in plans.PLIES]
    for one in plies:
        assert set(one.won) == {"improved"}
        assert one.openings == plies[0].openings  # the same at each depth
    rows = [one.won["improved"]["lookahead_ratio"] for one in plies]
    scores = [fmean(column) for column in zip(*rows, strict=True)]
    mean, _, low, high = interval(scores, [1 - score for score in scores])
    found = reported(all_studies, "a ply deeper")
    assert (found["difference"], found["low"], found["high"]) == pytest.approx(
        (100 * mean, 100 * low, 100 * high), abs=1e-5
    )
    boards = [Query(all_studies, "staged", f"board {size}") for size in plans.SIZES]
    means = [fmean(one.won["main_less_more"]["main"]) for one in boards]
    found = reported(all_studies, "size of the board")
    assert found["difference"] == pytest.approx(200 * (means[1] - means[0]), abs=1e-5)
    starts = [one.openings["main_less_more"]["main"] for one in boards]
    assert [row[0].count("/") for row in starts] == [6, 7]


def test_forfeits_follow_from_the_games(all_studies: Path) -> None:
    db = sqlite3.connect(all_studies / "runs.sqlite")
    shares = {}
    for budget in ("course", plans.FORFEITS):
        ((forfeits, games),) = db.execute(
            """
            SELECT sum(g.reason = 'forfeit'
                       AND ((g.game = 0 AND g.winner = 'b') OR (g.game = 1 AND g.winner = 'w'))),
                   count(*)
            FROM runs r JOIN games g ON g.run = r.id
            WHERE json_extract(r.plan, '$.options.study') = 'directional'
              AND json_extract(r.plan, '$.options.budget') = ?
            """,
            (budget,),
        )
        shares[budget] = 100 * forfeits / games
    db.close()
    assert shares["course"] == 0
    found = reported(all_studies, "prevents forfeits")
    assert found["difference"] == pytest.approx(shares[plans.FORFEITS], abs=1e-5)
    assert found["difference"] > 10


def test_every_wish_is_measured_by_its_games(all_studies: Path) -> None:
    """Compare the results of wishes with their games, which use the openings of the study, at every
    budget of the wish.
    """
    for study in report_of(all_studies)["studies"]:
        wishes = studies()[study["id"]].wishes
        assert [wish["wish"] for wish in study["wishes"]] == [wish.wish for wish in wishes]
        for wish, told in zip(wishes, study["wishes"], strict=True):
            assert bool(told["finding"]) == (wish.finding is not None)
            pairs = [(one.who, than) for one in wish.comparisons for than in one.than]
            assert [(one["who"], one["than"]) for one in told["comparisons"]] == pairs
            for one in told["comparisons"]:
                # Two pairs are too few for expensive heuristics at equal nodes.
                dear = {one["who"], one["than"]} & set(plans.DEAR)
                assert set(one["gaps"]) == set(wish.budgets) - ({"nodes"} if dear else set())
                for budget, gap in one["gaps"].items():
                    query = Query(all_studies, study["id"], budget)
                    more = Query(all_studies, study["id"], f"{plans.WISHES} {budget}")
                    query.won |= more.won
                    query.openings |= more.openings
                    assert query.openings[one["who"]] == query.openings[one["than"]]
                    scores = [query.by_round(one[side]) for side in ("who", "than")]
                    mean, _, low, high = interval(*scores)
                    assert [gap["points"], gap["low"], gap["high"]] == pytest.approx(
                        [100 * mean, 100 * low, 100 * high], abs=1e-5
                    )
                    rate = one["rates"][budget]["rate"]
                    assert rate == pytest.approx(query.rate(one["who"]), abs=1e-5)


@pytest.mark.parametrize("committed", [False, True])
def test_no_wish_is_without_a_result(committed: bool, all_studies: Path) -> None:
    """Check that every wish has a result, in a new report and in the committed one."""
    there = DOCS if committed else all_studies / "out"
    report = StudiesReport.from_dict(json.loads((there / "report.json").read_text("utf-8")))
    text, page = ((there / name).read_text("utf-8") for name in PAGES)
    for study in report.studies:
        wishes = studies()[study.id].wishes
        assert [wish.wish for wish in study.wishes] == [wish.wish for wish in wishes]
        for one in (text, page):
            assert one.count(f'id="{study.id}-wishes"') == bool(wishes)
        part = text.partition(f'<a id="{study.id}-wishes"></a>')[2]
        for number, wish in enumerate(study.wishes, 1):
            assert wish.measured, wish.wish
            told = part.partition(f"**Wish {number}. {wish.wish}**")[2].partition("\n**Wish")[0]
            assert f"In the study: {wish.where}. To run it:" in told
            assert all(line in told for line in wish.commands)
            if wish.finding:
                assert wish.finding.words in told
            for one in wish.comparisons:
                row = told.partition(f"| `{one.who}` | `{one.than}` |")[2].partition("\n")[0]
                assert all(f"{gap}<br>wins " in row for gap in one.gaps.values())
                assert one.found_by in told
    assert "Not measured" not in text


def test_a_wish_without_games_or_finding_is_not_measured(all_studies: Path) -> None:
    report = StudiesReport.from_dict(report_of(all_studies))
    (staged,) = [study for study in report.studies if study.id == "staged"]
    shortest, in_time, mirrored = staged.wishes
    assert all(wish.measured for wish in staged.wishes)
    assert not replace(mirrored, finding=None).measured
    unplayed = tuple(replace(one, gaps={}) for one in in_time.comparisons)
    assert not replace(in_time, comparisons=unplayed).measured
    assert not replace(shortest, comparisons=()).measured


def test_depths_follow_from_the_games(all_studies: Path) -> None:
    db = sqlite3.connect(all_studies / "runs.sqlite")
    rows = db.execute(
        """
        SELECT a.name, sum(iif(g.game = 0, g.depth_w, g.depth_b)) * 1.0
               / sum(iif(g.game = 0, g.moves_w, g.moves_b))
        FROM runs r JOIN games g ON g.run = r.id
        JOIN pairs p ON p.run = r.id AND p.number = g.pair
        JOIN matches m ON m.run = r.id AND m.number = p.match
        JOIN entrants a ON a.run = r.id AND a.number = m.a
        WHERE json_extract(r.plan, '$.options.study') = 'lookahead'
          AND json_extract(r.plan, '$.options.budget') = 'course'
        GROUP BY a.name, p.number
        """
    ).fetchall()
    db.close()
    mean = {id: fmean(depth for name, depth in rows if name == id) for id, _ in rows}
    (told,) = [
        claim
        for study in report_of(all_studies)["studies"]
        for claim in study["claims"]
        if claim["sentence"] == "lookahead_mobility does not reduce the depth that is searched"
    ]
    assert set(told["verdicts"]) == {"course", "time"}
    expected = mean["lookahead_mobility"] - mean["improved"]
    assert told["verdicts"]["course"]["difference"] == pytest.approx(expected, abs=1e-5)


def test_rates_follow_from_the_games(all_studies: Path) -> None:
    for study, budget, query in each_study(all_studies):
        for row in study["rows"]:
            if row["not_reproducible"]:
                assert not row["measured"]
                continue
            found = row["measured"][budget]
            assert found["total"]["rate"] == pytest.approx(query.rate(row["heuristic"]), abs=1e-5)
            assert found["total"]["low"] <= found["total"]["rate"] <= found["total"]["high"]
            assert found["total"]["games"] == query.games(row["heuristic"])
            for opponent, rate in zip(study["opponents"], found["against"], strict=True):
                assert rate["rate"] == pytest.approx(
                    query.rate(row["heuristic"], opponent), abs=1e-5
                )


def test_all_heuristics_play_the_same_openings_once(all_studies: Path) -> None:
    for _, _, query in each_study(all_studies):
        first = query.openings["improved"]
        assert all(openings == first for openings in query.openings.values())
        assert all(len(set(row)) == len(row) for row in first.values())


# -- plans -------------------------------------------------------------------------------------


def test_budgets_reach_all_who_deepen_and_nobody_else() -> None:
    study, usual = studies()["lookahead"], Condition()
    agents = {
        budget: {one.name: one.agent for one in plans.study_plan(study, budget, usual, 2).entrants}
        for budget in plans.BUDGETS
    }
    nodes = compiled_costs().nodes("open")
    assert agents["time"]["AB_Open"] == f"id(open, nodes={nodes}, plain)"
    assert agents["nodes"]["AB_Open"] == "id(open, nodes=2500, plain)"
    assert agents["course"]["AB_Open"] == "student(open, time=25ms)"
    assert agents["never"]["AB_Open"] == "student(open, time=25ms, keeps)"
    for name in ("Random", "MM_Open", "MM_Center", "MM_Improved", "improved"):
        assert len({agents[budget][name] for budget in ("time", "nodes")}) == 1
    assert agents["course"]["MM_Open"] == "student(open, depth=3, time=25ms, minimax)"
    early = plans.study_plan(studies()["staged"], "nodes", usual, 2)
    assert early.repeats == 1
    assert early.entrants[0].name == "improved"
    assert "alphabeta(open, depth=5)" in [one.agent for one in early.entrants]


def test_the_league_has_every_heuristic_once() -> None:
    ids = plans.league_heuristics(studies().values())
    assert ids[0] == "improved"
    assert len(set(ids)) == len(ids) == 44
    published = {id for study in studies().values() for id in study.heuristics}
    assert published | {"null", "open", "center"} <= set(ids)
    plan = plans.league_plan(ids, "nodes", 100)
    assert len(plan.matches) == 44 * 43 // 2
    assert plan.rounds == 5
    assert PAIRS == plans.PAIRS


# -- repeated runs -----------------------------------------------------------------------------

SMALL = ("directional", "--pairs", "2", "--budget", "course", "--no-grades")


def files(folder: Path) -> dict[str, str]:
    """Return all files of a report, without the date and the timings."""
    found = {}
    for path in sorted((folder / "out").iterdir()):
        text = path.read_text("utf-8")
        if path.suffix == ".json":
            data = json.loads(text)
            del data["timings"]
            text = json.dumps(data)
        found[path.name] = re.sub(f"{BEGIN}.*?{END}", "", text, flags=re.DOTALL)
    return found


@pytest.mark.usefixtures("small_league")
def test_same_seed_same_report_after_any_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    first = run(whole, *SMALL, "--workers", "0")
    assert "from the store: 0 games; to play now: " in first.stderr
    real = api.play_to_end

    def impatient(run: Any, runner: Any, told: Any) -> Any:
        def interrupt(standing: Any) -> None:
            if standing.fresh >= 10:
                raise KeyboardInterrupt

        return real(run, runner, interrupt)

    with monkeypatch.context() as patch:
        patch.setattr(api, "play_to_end", impatient)
        stopped = run(parts, *SMALL, "--workers", "0", code=130)
        assert "repeat the command to continue" in stopped.output
        run(parts, *SMALL, "--workers", "0", code=130)
    db = sqlite3.connect(parts / "runs.sqlite")
    ((pairs,),) = db.execute("SELECT count(*) FROM pairs")
    assert 20 <= pairs < 56
    db.close()
    last = run(parts, *SMALL, "--workers", "2")
    assert f"from the store: {2 * pairs} games (--again" in last.stderr
    ((total,),) = sqlite3.connect(parts / "runs.sqlite").execute("SELECT count(*) FROM pairs")
    assert f"; to play now: {2 * (total - pairs)}\n" in last.stderr
    assert files(whole) == files(parts)
    assert {"league.svg", "directional.svg", "index.html", "studies.md"} <= set(files(whole))
    before = (whole / "out" / "report.json").read_bytes()
    with NO_PICTURES:
        assert "; to play now: 0\n" in run(whole, *SMALL).stderr
        assert (whole / "out" / "report.json").read_bytes() == before  # nothing was played again
        run(whole, *SMALL, "--seed", "1", "--workers", "0")
    for name in ("report.json", "studies.md"):
        assert files(whole)[name] != files(parts)[name]


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["staggered"], "lookahead, directional, reachability, staged, aggressive"),
        (["directionl"], "directional"),
        (["--budget", "depth"], "course, time, nodes, never, all"),
        (["--fit", "--budget", "nodes"], "--fit needs --budget course, never or all, not nodes"),
        (["--pairs", "0"], "at least 1"),
        (["--workers", "1", "--dask", "x:1"], "choose one"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, args: list[str], said: str) -> None:
    found = run(tmp_path, *args, code=2)
    assert said in found.output
    assert len(found.output.strip().splitlines()) == 1


def test_the_name_of_one_study_is_no_list_of_letters() -> None:
    with pytest.raises(kf.KnightfallError, match="unknown study 'staggered'"):
        kf.reproduce("staggered")


def test_an_output_that_cannot_be_is_told_first(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    assert "is a file: name a folder" in run(tmp_path, code=2).output
    assert not (tmp_path / "runs.sqlite").exists()


# -- pages -------------------------------------------------------------------------------------

VOID = {"meta", "br", "link", "img", "hr"}


class Checker(HTMLParser):
    """A parser that checks that elements are closed, ids are unique, and nothing is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe")
        for name, value in attrs:
            assert name != "src"
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("pictures", [False, True])
def test_the_page_is_well_formed_and_needs_nothing_else(pictures: bool, all_studies: Path) -> None:
    """Check that a new page, and the committed one with charts, is valid HTML and loads nothing."""
    text = ((DOCS if pictures else all_studies / "out") / "index.html").read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open
    assert len(set(checker.ids)) == len(checker.ids)
    assert all(link.startswith("#") and link[1:] in checker.ids for link in checker.links)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert text.count("<svg") >= 5
    assert text.count("<path ") > 100 or not pictures
    assert "prefers-color-scheme: dark" in text


def test_verdicts_are_explained_before_the_first_table(all_studies: Path) -> None:
    for name, table in (("studies.md", "\n|---|"), ("index.html", "<table")):
        text = (all_studies / "out" / name).read_text("utf-8")
        before = text.partition(table)[0].replace("</span>", "")
        assert "the opposite is shown at 95 %" in before
        for verdict, mark in MARKS.items():
            assert f"{mark} {verdict}" in before


def test_the_page_is_read_in_ten_minutes() -> None:
    """Check that the text outside collapsed sections is short enough for ten minutes, and has every
    study and claim.
    """
    text = (DOCS / "studies.md").read_text("utf-8")
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    words = [word for word in shown.split() if re.search("[a-z]", word)]
    assert len(words) < 3500
    assert "<details>" not in shown
    for study in read_studies(study_files()[FIRST]).values():
        part = shown.partition(f'<a id="{study.id}"></a>')[2].partition("\n## ")[0]
        assert "**Printed.**" in part
        assert "**Conditions.**" in part
        assert all(f"| {claim.sentence} |" in part for claim in study.claims)


def test_tables_scroll_by_themselves(all_studies: Path) -> None:
    text = (all_studies / "out" / "index.html").read_text("utf-8")
    assert ".scroll { overflow-x: auto;" in text
    tables = text.count("<table")
    assert tables > 20
    assert text.count('<div class="scroll"><table ') == text.count("</table></div>") == tables


def test_the_page_says_what_the_markdown_says(all_studies: Path) -> None:
    """Compare the words of the HTML page with those of the Markdown page, without markup."""
    text, page = ((all_studies / "out" / name).read_text("utf-8") for name in PAGES)
    page = re.sub(r"<figure>.*?</figure>", "", page.rpartition("</nav>")[2], flags=re.DOTALL)
    page = unescape(re.sub(r"<[^>]+>", "", page))
    text = re.sub(r"^(# .*|!\[.*|\|---.*|```.*)$|^- ", "", text, flags=re.MULTILINE)
    text = re.sub(r"<[^>]+>|\]\(#\w+\)|[\[#|`*]", "", text)
    page = page.replace("*", "")  # in sums of heuristics
    assert len(text) > 10_000
    assert "".join(text.split()) == "".join(page.split())


def test_every_claim_is_overall_rate_per_budget(all_studies: Path) -> None:
    """Check that the report states each claim's source and meaning, and a row for each budget that
    matters.
    """
    text = (all_studies / "out" / "studies.md").read_text("utf-8")
    for study in studies().values():
        part = text.partition(f'<a id="{study.id}"></a>')[2]
        part = part.partition(f'<a id="{study.id}-errata"></a>')[0]
        for number, claim in enumerate(study.claims, 1):
            title = f"**{number}. {claim.sentence}**"
            assert text.count(title) == 1
            told = part.partition(title)[2].partition("\n**")[0]
            assert f"In the study: {claim.where}. Taken to mean: {meaning(claim)}." in told
            once = claim.form in ("fact", "untestable") or claim.measure not in ("games", "depth")
            budgets = ("course", "time") if claim.measure == "depth" else plans.BUDGETS
            shown = [] if once else [plans.TITLES[budget] for budget in budgets]
            for budget in plans.TITLES.values():
                assert told.count(f"| {budget} |") == (budget in shown)
            assert any(mark in told for mark in MARKS.values())
            assert text.count(f"\n| {claim.sentence} |") == 1
    report = StudiesReport.from_dict(report_of(all_studies))
    total = sum(len(study.claims) for study in studies().values())
    once, depth = sum(report.verdicts(ONCE).values()), 2
    by_budget = [sum(report.verdicts(budget).values()) for budget in plans.BUDGETS]
    games = total - once - depth
    assert by_budget == [games + depth, games + depth, games, games]
    assert f"Five studies make {total} claims" in text


def test_the_order_of_the_table_is_told(all_studies: Path) -> None:
    text = (all_studies / "out" / "studies.md").read_text("utf-8")
    assert text.count("The order of the published table, ") == len(studies())
    (lookahead, *_) = report_of(all_studies)["studies"]
    assert sum(lookahead["order"]["course"].values()) == 6


def test_claims_that_need_what_was_not_played_are_told_so(tmp_path: Path) -> None:
    with NO_PICTURES:
        run(tmp_path, "staged", "--pairs", "1", "--budget", "nodes", "--no-league", "--no-grades")
    text = (tmp_path / "out" / "studies.md").read_text("utf-8")
    # Seven by choices, one by computing power, one by the size of the board.
    assert text.count("Not judged: what it takes was not played or computed in this run.") == 9
    assert text.count("Not measured: none of its games were played in this run.") == 2


def test_every_published_number_is_in_the_report(all_studies: Path) -> None:
    text = (all_studies / "out" / "studies.md").read_text("utf-8")
    for study in studies().values():
        part = text.partition(f'<a id="{study.id}"></a>')[2]
        for heuristic in study.entrants.values():
            row = part.partition(f"| `{heuristic}` |")[2].partition("\n")[0]
            assert f"**{study.figure(heuristic)}**" in row
        for rates in (study.totals, study.averages):
            assert all(str(rate) in part for rate in rates.values())
        for heuristic, wins in study.wins.items():
            row = part.partition("Opponent by opponent")[2].partition(f"| `{heuristic}` |")[2]
            games = study.games_against(heuristic)
            told = re.findall(rf"published (\d+)/{games} ", row.partition("\n")[0])
            assert [int(won) for won in told] == list(wins)
        for erratum in study.errata:
            assert erratum.text in part
        for heuristic, why in study.not_reproducible.items():
            assert f"`{heuristic}` is not reproducible: {why}" in part


def test_every_printed_table_is_in_the_report(all_studies: Path) -> None:
    """Check that every printed cell is in the collapsed section of its study, in its place."""
    text = (all_studies / "out" / "studies.md").read_text("utf-8")
    page = (all_studies / "out" / "index.html").read_text("utf-8")
    assert page.count("<summary>Everything that was printed</summary>") == len(studies())
    for study in studies().values():
        part = text.partition(f'<a id="{study.id}"></a>')[2]
        fold = part.partition("Everything that was printed")[2].partition("</details>")[0]
        rest = fold
        names = {heuristic: name for name, heuristic in study.entrants.items()}
        for table in study.tables:
            mark = "**" if table.cells else ""
            _, title, rest = rest.partition(f"{table.name}{mark} ({table.place})")
            assert title, table.name
            told = rest.partition("\n**")[0]
            for heuristic, row in table.cells.items():
                cells = " | ".join(str(cell).replace("|", "–") for cell in row)
                label = f"`{heuristic}`"
                if names[heuristic] != heuristic:
                    label += f" ({names[heuristic]})"
                assert f"| {label} | {cells} | " in told
            for rate in table.rates.values():
                assert f"| {rate} |" in told
            assert table.illegible in told
            for numbers in table.unplaced.values():
                assert ", ".join(map(str, numbers.lost)) in told
            assert all(name in told for name in table.without_result)
        for example in study.examples:
            assert f"**Example: {example.name}** ({example.place})" in fold
            assert all(f"{name}: {number}" in fold for name, number in example.numbers.items())
            words = " ".join(fold.partition(f"**Example: {example.name}**")[2].split())
            for name, rows in example.grids.items():
                grid = " ".join(rows).replace("-", "·")
                assert f"{name}: ```text {grid} ```" in words
    aggressive = text.partition('<a id="aggressive"></a>')[2]
    assert "12 tables, 9 distinct tournaments and 189 distinct legible cells" in aggressive
    assert "64.3 (sum of the cells)" in aggressive
    assert aggressive.count("(sum of the cells)") == 3
    cells = [len(study["fit"]["cells"]) for study in report_of(all_studies)["studies"]]
    assert cells == [28, 28, 133, 63, 189]


def test_numbers_that_differ_from_run_to_run_are_in_one_place(all_studies: Path) -> None:
    timings = report_of(all_studies)["timings"]
    for name in ("studies.md", "index.html"):
        text = (all_studies / "out" / name).read_text("utf-8")
        assert text.count(BEGIN) == text.count(END) == 1
        inside = text.partition(BEGIN)[2].partition(END)[0]
        assert timings["date"] in inside
        assert f"{timings['games']:,} games" in inside
        assert text.count(timings["date"]) == 1
    swept = 2 * 4 * 4 * 1 * 2  # resigning or not, times, opponents, one pair
    mighty = 2 * 2 * 7 * 1  # main and improved with ten times the time, one pair
    careless = 2 * 4 * 7 * 1  # the directional study without its safety move, one pair
    matches = 2 * (3 * 2 + 2 * 6)  # two pairs at each of three depths, six on either board
    wished = 2 * 7 * 2 * (10 * 4 + 5)  # ten at all budgets, five at equal time
    others = swept + mighty + careless + matches + wished
    assert timings["games"] == 2 * 43 * 7 * 2 * 4 + others


def test_a_report_survives_being_written_and_read(all_studies: Path) -> None:
    data = report_of(all_studies)
    report = StudiesReport.from_dict(data)
    assert json.loads(json.dumps(report.to_dict())) == data
    with NO_PICTURES:
        text = rendered(report)["studies.md"]
    assert text == (all_studies / "out" / "studies.md").read_text("utf-8")


def test_the_committed_report_is_what_its_numbers_make() -> None:
    if not (DOCS / "report.json").exists():
        pytest.skip("no report is committed yet: make studies")
    report = StudiesReport.from_dict(json.loads((DOCS / "report.json").read_text("utf-8")))
    for name, text in rendered(report).items():
        assert (DOCS / name).read_text("utf-8") == text, f"{name}: run make studies"
    assert report.widest <= 1
    assert {study.id for study in report.studies} <= set(studies())
    assert report.league is not None
    assert report.league.correlations
    assert report.sweep is not None
    # The goal of the re-run: the published numbers are explained.
    cells = [cell for fit in report.fits for cell in fit.cells]
    totals = [cell for fit in report.fits for cell in fit.totals]
    assert (len(cells), len(totals)) == (441, 43)
    assert sum(cell.z**2 for cell in cells) / len(cells) <= 1.1
    # mainalt_prop, which no text defines, stays unexplained.
    outside = [cell.heuristic for fit in report.fits for cell in fit.outside]
    assert len(set(outside) - {"main_prop"}) <= 4
    for fit in report.fits:
        (improved,) = (cell for cell in fit.totals if cell.heuristic == "improved")
        assert abs(improved.published - improved.predicted) < 4.5


# -- grades of the heuristics ------------------------------------------------------------------


def test_grades_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    first = grades.grades(["improved"], openings=2)
    told: list[int] = []
    monkeypatch.setattr(grades, "grade_of", lambda *_: pytest.fail("computed twice"))
    assert grades.grades(["improved"], openings=2, progress=told.append) == first
    assert told == [1]
    assert 0 < first[0].kept <= 100
    assert grades.missing_grades(["improved", "open"], openings=2) == 1
    assert grades.missing_grades(["improved"], openings=3) == 1
    (tmp_path / "grades.json").write_text("no JSON")
    assert grades.missing_grades(["improved"], openings=2) == 1


def test_grades_do_not_depend_on_who_computes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    with ThreadPoolExecutor(2) as threads:
        for options in (RunnerOptions(1), RunnerOptions(2), RunnerOptions(executor=threads)):
            monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / str(len(found))))
            graded = grades.grades(["improved", "open"], openings=2, options=options)
            found.append([replace(grade, seconds=0.0) for grade in graded])
    assert found[0] == found[1] == found[2]
    assert [grade.heuristic for grade in found[0]] == ["improved", "open"]


def test_rank_correlation() -> None:
    names = [f"h{number}" for number in range(12)]
    ratings = [Rating(name, 10.0 * at, 1, 50, 10) for at, name in enumerate(names)]
    same = [HeuristicGrade(name, 80.0 + at, 1, 100, 0) for at, name in enumerate(names)]
    found = correlation(ratings, same)
    assert found is not None
    assert found.spearman == pytest.approx(1)
    assert found.kendall == pytest.approx(1)
    assert found.low > 0.9
    mixed = [HeuristicGrade(f"h{5 * at % 12}", 80.0 + at, 1, 100, 0) for at in range(12)]
    found = correlation(ratings, mixed)
    assert found is not None
    assert -1 < found.low < found.spearman < found.high < 1
    assert correlation(ratings[:4], same[:4]) is None


def test_needed_games_on_made_up_results() -> None:
    rng = np.random.default_rng(1)
    chances = {"a": 0.5, "b": 0.53, "c": 0.65, "d": 0.65}
    scores = np.array([rng.binomial(2, p, (7, 3000)) for p in chances.values()], np.int8)
    nothing = np.zeros((4, 7)), np.zeros((4, 7)), np.zeros(4)
    found = needed_games([Tournament(tuple(chances), tuple("1234567"), scores, *nothing)])
    assert (found.told_apart, found.not_told_apart) == (5, 1)
    by_gap = {curve.least: curve for curve in found.curves}
    assert by_gap[10].couples == 4
    for curve in found.curves:
        assert all(later > earlier - 0.05 for earlier, later in pairwise(curve.chances))
    # The difference of two independent binomials of n games is nearly normal.
    (close,) = (curve for curve in found.curves if curve.least == 2)
    gap = (scores[1].mean() - scores[0].mean()) / 2
    for games, chance in zip(TOURNAMENT_SIZES, close.chances, strict=True):
        assert chance == pytest.approx(scipy.stats.norm.cdf(gap * sqrt(games / 0.5)), abs=0.06)
    assert close.needed == pytest.approx(0.5 * (1.645 / gap) ** 2, rel=0.35)


def test_a_tournament_s_figures_are_those_of_its_games(tmp_path: Path) -> None:
    who = tuple(Entrant(f"random(seed={at})", name) for at, name in enumerate("abcde"))
    plan = Plan(
        "tournament", who, tournament_matches(3, 2), 30, board="4x4", options={"tests": 3}
    )  # fmt: skip
    with Store.open(tmp_path / "s.sqlite") as store:
        run = store.begin(plan, "engine 1", {"knightfall": "1"})
        run.append([fake_pair(plan.task(at), unusual=0.9) for at in range(plan.total)])
        run.finish({})
        found = tournament_of(run)
        pairs = naive_pairs(run)
        games = [
            (plan.matches[pair.task.number % len(plan.matches)], "wb"[at], game)
            for pair in run.pairs()
            for at, game in enumerate(pair.games)
        ]
    assert (found.heuristics, found.opponents) == (("a", "b", "c"), ("d", "e"))
    shares = set()
    for test, id in enumerate("abc"):
        of_test = [one for one in games if one[0].a == test]
        moves = nodes = 0
        for _, side, game in of_test:
            first = Position.from_fen(plan.task(0).opening).to_move  # the same for all openings
            mine = slice(0 if side == first else 1, None, 2)
            moves += len(game.cells[mine])
            nodes += int(game.column("nodes")[mine].sum())
        assert found.nodes[test] == pytest.approx(nodes / moves)
        for opponent in range(2):
            scores = pairs[test, 3 + opponent]
            assert found.scores[test, opponent].tolist() == scores
            assert found.against(id)[opponent].rate == pytest.approx(100 * sum(scores) / 60)
            resigned = [
                (game.winner == side)
                for match, side, game in of_test
                if match.b == 3 + opponent and game.reason == "forfeit"
            ]
            assert found.forfeits[test, opponent] == pytest.approx(100 * resigned.count(False) / 60)
            assert found.conceded[test, opponent] == pytest.approx(100 * resigned.count(True) / 60)
            shares |= {len(resigned)}
        total = sum(sum(pairs[test, 3 + opponent]) for opponent in range(2))
        assert found.total(id).rate == pytest.approx(100 * total / 120)
        lead = found.ahead(id)
        assert lead.points == pytest.approx(found.total(id).rate - found.total("a").rate)
        assert lead.low <= lead.points <= lead.high
        assert np.array_equal(found.measured[id], found.scores[test] / 2)
    assert len(shares) > 1
