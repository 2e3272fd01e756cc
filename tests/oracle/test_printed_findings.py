"""Tests that printed grades, checks, annotations and explanations agree with their JSON."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from printed_table import html_rows, printed_rows

import knightfall as kf
from knightfall.board import Board
from knightfall.display.numbers import percent
from knightfall.heuristics.explain import Cluster, Contribution, Explanation
from knightfall.oracle.annotate import Remark
from knightfall.oracle.check import (
    Agreement,
    Check,
    CheckResult,
    Cost,
    _cost_result,
    _truth_result,
)
from knightfall.oracle.grade import FirstBlunder, Grade, Reliability, WinsKept, wins_kept_by_kind
from knightfall.position import Position
from knightfall.statistics.rates import Auc, Bin, Share

# -- grade -----------------------------------------------------------------------------------

GRADE = Grade(
    player="id(main, nodes=9)",
    board=Board.of(5, 6),
    openings=31,
    seed=77,
    games=29,
    wins_kept={
        "overall": WinsKept(901, 450, 123, Share(251, 327), 0.0213, 0.456),
        "hunter": WinsKept(500, 300, 99, Share(171, 201), 0.0345, 0.512),
        "runner": WinsKept(401, 150, 24, Share(80, 126), 0.0111, 0.398),
    },
    first_blunder=FirstBlunder(Share(7, 29), {3: 4, 5: 9, 8: 6, 13: 3}),
    reliability=Reliability(
        scored=612,
        proven=Share(51, 53),
        auc=Auc(0.7654, 0.0321),
        bins=[Bin(-4.0, -1.5, Share(20, 160)), Bin(-1.0, 2.5, Share(90, 210))],
    ),
    seconds=83.0,
)
"""A grade in which no two figures are equal."""


def limits(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f} %"


def test_wins_kept_stand_under_their_headings() -> None:
    keeps = GRADE.to_dict()["keeps"]
    titles = ("kept", "of", "rate", "95 %", "std. error", "at random")
    assert printed_rows(str(GRADE), *titles) == [
        {
            "column 1": name,
            "kept": str(told["kept"]["count"]),
            "of": str(told["kept"]["of"]),
            "rate": percent(told["kept"]["rate"]),
            "95 %": limits(told["kept"]["low"], told["kept"]["high"]),
            "std. error": f"{100 * told['standard_error']:.2f} %",
            "at random": percent(told["at_random"]),
        }
        for name, told in keeps.items()
    ]
    overall = GRADE.wins_kept["overall"]
    low, high = overall.kept.interval
    assert keeps["overall"] == {
        "positions": 901,
        "won": 450,
        "without_losing_move": 123,
        "kept": {"count": 251, "of": 327, "rate": 251 / 327, "low": low, "high": high},
        "standard_error": 0.0213,
        "at_random": 0.456,
    }
    assert low < 251 / 327 < high


def test_all_decisions_come_first_then_roles_then_phases_as_a_game_goes() -> None:
    kinds = ["overall", "hunter", "runner", "opening", "middle", "end"]
    assert list(wins_kept_by_kind([])) == kinds


def test_a_grade_s_heading_and_counts_are_told_in_their_places() -> None:
    shown = str(GRADE).split("\n")
    assert shown[0] == "id(main, nodes=9) on 5×6, seed 77"
    assert shown[1] == "PARTIAL: the first 29 of 31 games against itself, 83.0 s"
    assert shown[2] == (
        "901 positions, 450 won for the mover: 327 with a real choice, 123 without a losing move"
    )
    told = GRADE.to_dict()
    plain = ("agent", "board", "openings", "seed", "games", "partial", "seconds")
    assert [told[key] for key in plain] == ["id(main, nodes=9)", "5x6", 31, 77, 29, True, 83.0]


def test_the_first_blunder_is_told_by_its_quartiles() -> None:
    told = GRADE.to_dict()["first_blunder"]
    assert told["games_by_ply"] == {"3": 4, "5": 9, "8": 6, "13": 3}
    assert told["quartiles"] == (5, 5, 8)
    none = told["games_without"]
    low, high = limits(none["low"], none["high"]).split("–")
    assert f"none in 7 of 29 games: {percent(7 / 29)} ({low}–{high})" in str(GRADE)
    later = FirstBlunder(Share(7, 29), {2: 1, 4: 1, 9: 1, 17: 1, 20: 1})
    assert later.quartiles == (4, 9, 17)
    assert list(later.parts())[1] == "otherwise at move 9 (median), half between 4 and 17"


def test_scores_against_truth_stand_under_their_headings() -> None:
    told = GRADE.to_dict()["reliability"]
    rows = printed_rows(str(GRADE), "score", "positions", "won", "95 %", rows=2)
    assert rows == [
        {
            "score": f"{one['lowest']:g} to {one['highest']:g}".replace("-", "−"),
            "positions": str(one["won"]["of"]),
            "won": percent(one["won"]["rate"]),
            "95 %": limits(one["won"]["low"], one["won"]["high"]),
            "column 5": "▪" * round(20 * one["won"]["rate"]),
        }
        for one in told["bins"]
    ]
    assert [one["won"]["count"] for one in told["bins"]] == [20, 90]
    auc = told["auc"]
    assert (auc["value"], auc["standard_error"]) == (0.7654, 0.0321)
    assert auc["low"] < 0.7654 < auc["high"]
    assert f"AUC 0.765 ± 0.032 (95 %: {auc['low']:.3f} to {auc['high']:.3f}) over 612 scores" in (
        str(GRADE)
    )
    assert "and 53 proven scores, only 51 of them right" in str(GRADE)
    assert (told["scored"], told["proven_right"]["count"], told["proven_right"]["of"]) == (
        612,
        51,
        53,
    )


# -- check -----------------------------------------------------------------------------------


def test_what_was_found_stands_beside_its_promise() -> None:
    cost, truth = Cost(240.0, 80.0), Agreement(95, Auc(0.71, 0.02), Auc(0.64, 0.03))
    findings = (
        CheckResult("pure", "the same again"),
        CheckResult("symmetric", "differs when mirrored", wrong=True, example={"fen": "x"}),
        _cost_result(cost),
        _truth_result(truth),
    )
    check = Check("mine", Board.of(5, 6), 97, findings, cost, truth)
    told = check.to_dict()
    assert printed_rows(str(check), "promise", "what was found") == [
        {
            "promise": about,
            "what was found": f"{'' if found['ok'] else 'WRONG: '}{found['text']}",
        }
        for about, found in told["findings"].items()
    ]
    assert str(check).split("\n")[0] == "mine on 5×6, 97 positions from random games"
    assert str(check).endswith("\n\nwrong: symmetric")
    assert [(about, found["ok"]) for about, found in told["findings"].items()] == [
        ("pure", True),
        ("symmetric", False),
        ("cost", True),
        ("truth", True),
    ]
    plain = ("heuristic", "board", "positions", "ok")
    assert [told[key] for key in plain] == ["mine", "5x6", 97, False]
    assert told["findings"]["cost"]["text"] == (
        "3 times improved: 240 ns an evaluation, 80 ns for improved"
    )
    assert told["findings"]["truth"]["text"] == (
        "tells won positions from lost ones better than null: AUC 0.710 ± 0.039, "
        "improved 0.640 ± 0.059, null 0.5"
    )
    assert told["cost"] == {"nanoseconds": 240.0, "improved": 80.0, "ratio": 3.0}
    assert told["truth"] == {
        "positions": 95,
        "auc": 0.71,
        "error": 0.02,
        "improved": {"auc": 0.64, "error": 0.03},
        "null": {"auc": 0.5, "error": 0.0},
    }


# -- annotate --------------------------------------------------------------------------------

GAME = "4/4/4/4[Nn] w d3 c2 c1 d4 a2 b3 b4 d2"


def test_every_move_stands_beside_what_is_said_of_it() -> None:
    found = kf.annotate(GAME)
    told = found.to_dict()
    knight = {"w": "♘", "b": "♞"}
    words = [remark.words for remark in found.remarks]
    lines = [
        f"{one['ply']:>3}. {knight[one['side']]} {one['move']:<4}{said}"
        for one, said in zip(told["remarks"], words, strict=True)
    ]
    assert str(found).split("\n")[2 : 2 + len(lines)] == lines
    assert html_rows(found._repr_html_(), "", "", "move", "") == [
        {
            "column 1": f"{one['ply']}.",
            "column 2": knight[one["side"]],
            "move": one["move"],
            "column 4": said,
        }
        for one, said in zip(told["remarks"], words, strict=True)
    ]
    for one, remark in zip(told["remarks"], found.remarks, strict=True):
        assert (one["ply"], one["side"], one["move"]) == (remark.ply, remark.side, remark.move)
        assert one["legal"] == remark.legal
        assert one["winning"] == list(remark.winning or ())
        assert one["verdict"] == remark.quality


@pytest.mark.parametrize(
    ("winning", "legal", "placement", "words"),
    [
        (("a1", "b2", "c3"), 5, False, "keeps the win, as 3 of 5 moves do"),
        (("a1", "b2", "c3"), 5, True, "keeps the win, as 3 of 5 placements do"),
        (("a1",), 5, False, "!  keeps the win: the only move of 5 that does"),
        (("b2", "c3", "d4"), 5, False, "?? gives the win away: b2 c3 and d4 kept it"),
        (("a1",), 1, False, "wins, and the only move"),
        (("a1", "b2", "c3"), 3, False, "wins, like every move here"),
        ((), 4, False, "lost already"),
        (None, 4, False, "not judged"),
    ],
)
def test_a_remark_counts_winning_moves_of_legal_ones(
    winning: tuple[str, ...] | None, legal: int, placement: bool, words: str
) -> None:
    assert Remark(7, "w", "a1", legal, winning, placement).words == words


def test_the_chart_has_a_row_for_each_side() -> None:
    found = kf.annotate(GAME)
    lines = str(found).split("\n")
    for side, knight in (("w", "♘"), ("b", "♞")):
        (row,) = (line for line in lines if line.startswith(f"{knight} wins  "))
        bars = row.removeprefix(f"{knight} wins  ").ljust(len(found.winners))
        assert [bar == "█" for bar in bars] == [winner == side for winner in found.winners]


def test_each_player_s_summary_counts_its_own_choices() -> None:
    found = kf.annotate(GAME)
    for side, seat in (("w", "first"), ("b", "second")):
        mine = [remark for remark in found.remarks if remark.side == side]
        kept = sum(remark.quality == "keeps" for remark in mine)
        lost = [str(remark.ply) for remark in mine if remark.quality == "blunder"]
        (line,) = re.findall(rf"^. {seat}: (.*)$", str(found), re.MULTILINE)
        assert line.startswith(f"kept {kept} of {kept + len(lost)} win")
        assert line.endswith(f"lost at {' '.join(lost)}" if lost else ("win", "wins")[kept != 1])


def test_players_are_named_by_seat_and_name_in_text_and_notebook() -> None:
    found = kf.annotate(GAME)
    tagged = replace(found, game=replace(found.game, tags={"White": "Ann", "Black": "Bob"}))
    text, page = str(tagged), tagged._repr_html_()
    for knight, who in (("♘", "first, Ann"), ("♞", "second, Bob")):
        (line,) = re.findall(rf"^({knight} {who}: .*)$", text, re.MULTILINE)
        assert f"<p>{line}</p>" in page
    words = [page.index(part) for part in (f"from {found.game.start.fen}", "<table>", "<svg",
                                           "player won.", "first, Ann", "second, Bob")]  # fmt: skip
    assert words == sorted(words)
    told = tagged.to_dict()
    assert told["partial"] is False
    assert told["winners"] == list(found.winners)


# -- explain ---------------------------------------------------------------------------------


def test_shares_stand_under_their_headings() -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    shares = (
        Contribution("reach", 3.0, -0.25),
        Contribution("near", 7.0, 0.5),
        Contribution("never", 0.0, 4.0),
    )
    found = Explanation(position, "mine", 2.75, shares, "w")
    told = found.to_dict()
    rows = printed_rows(str(found), "count", "weight", "share")
    bars = [row.pop("column 5") for row in rows]
    assert rows == [
        {
            "column 1": one["name"],
            "count": f"{one['count']:g}",
            "weight": f"{one['weight']:+.3f}",
            "share": f"{one['share']:+.3f}",
        }
        for one in sorted(told["shares"], key=lambda one: -abs(one["share"]))
        if one["share"]
    ]
    assert bars == ["│████████████", "███│"]
    assert f"-0.750  {'███│':>13}\n" in f"{found}\n"
    assert [(one["name"], one["count"], one["weight"]) for one in told["shares"]] == [
        ("reach", 3.0, -0.25),
        ("near", 7.0, 0.5),
        ("never", 0.0, 4.0),
    ]
    assert (told["fen"], told["heuristic"], told["for"]) == (position.fen, "mine", "w")
    assert told["value"] == 2.75
    drawn = Explanation(position, "mine", 2.75, shares, "b", Cluster((0, 1, 7), 8, True)).to_dict()
    assert drawn["cluster"] == {"cells": ["a7", "b7", "a6"], "center": "b6", "counts": True}
    assert drawn["for"] == "b"
    assert str(found).split("\n")[:2] == [
        "mine of 7/7/1N5/7/7/4n2/7 w",
        "+2.750 for the first player (N), who moves",
    ]
