"""Tests that annotations agree with the plain solver, and how grades and annotations look."""

from __future__ import annotations

import io
import json
import os
import random
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from arena_helpers import fake_plan, fake_run
from cli_runner import refused, run
from helpers import random_game
from oracle_helpers import BOARD, mover_wins, naive_winning_moves

import knightfall as kf
from knightfall.notation import Scoresheet
from knightfall.oracle import annotate as annotate_module
from knightfall.oracle.annotate import Annotation, annotate, chart_lines, chart_svg, progress_total
from knightfall.oracle.grade import grade
from knightfall.position import Position, other
from knightfall.solver.solve import Solver

GAME = "4/4/4/4[Nn] w d3 c2 c1 d4 a2 b3 b4 d2"
"""The second player places badly; the first gives the win back at move 5."""


# -- annotate ----------------------------------------------------------------------------------


def check(annotation: Annotation) -> None:
    """Check everything that an annotation says with the plain solver."""
    game = annotation.game
    assert not annotation.partial
    for position, winner in zip(game.positions, annotation.winners, strict=True):
        expected = position.to_move if mover_wins(position) else other(position.to_move)
        assert winner == expected
    for position, move, remark in zip(
        game.positions[:-1], game.moves, annotation.remarks, strict=True
    ):
        winning = naive_winning_moves(position)
        assert remark.winning == tuple(winning)
        assert (remark.side, remark.move) == (position.to_move, move)
        assert remark.legal == len(position.legal_moves)
        if not winning:
            assert remark.quality == "lost"
        elif move not in winning:
            assert remark.quality == "blunder"
        elif len(position.legal_moves) == 1:
            assert remark.quality == "only"
        elif len(winning) == len(position.legal_moves):
            assert remark.quality == "safe"
        else:
            assert remark.quality == "keeps"


@pytest.mark.parametrize("seed", range(6))
def test_annotations_of_random_games_agree_with_the_plain_solver(seed: int) -> None:
    line = list(random_game(Position.start(4, 4), random.Random(seed)))
    moves = [
        position.board.name(position.last[1]) for position in line[1:] if position.last is not None
    ]
    heard: list[int] = []
    annotation = annotate(Scoresheet.played(line[0], moves), progress=heard.append)
    check(annotation)
    assert annotation.game.winner == line[-1].winner
    assert heard == sorted(heard)
    assert heard[-1] == progress_total(annotation.game)
    begun = Scoresheet.played(line[0], moves[:3])
    assert progress_total(begun) == sum(len(one.legal_moves) for one in line[:3])
    # From the middle of the game on nothing changes but the numbers.
    later = annotate(Scoresheet.played(line[4], moves[4:]))
    assert later.winners == annotation.winners[4:]
    chart = chart_lines(annotation)
    for at, winner in enumerate(annotation.winners):
        for side in ("w", "b"):
            assert chart[side].ljust(99)[at] == ("█" if winner == side else " ")
    marks = [at for at, mark in enumerate(chart["blunders"]) if mark == "▲"]
    assert marks == [remark.ply for remark in annotation.blunders]
    # The winner changes at blunders and nowhere else.
    swings = [
        ply
        for ply in range(1, len(annotation.winners))
        if annotation.winners[ply] != annotation.winners[ply - 1]
    ]
    assert swings == marks
    drawing = chart_svg(annotation)
    root = ElementTree.fromstring(drawing)
    dots = [each for each in root.iter() if each.get("class") == "blunder"]
    assert [int(dot.get("data-ply", "")) for dot in dots] == marks


def test_the_image_names_bars_and_plies_inside_its_frame() -> None:
    annotation = annotate(GAME)
    root = ElementTree.fromstring(chart_svg(annotation))
    width, height = int(root.get("width", "")), int(root.get("height", ""))
    bars = [each for each in root.iter() if (each.get("class") or "").startswith("wins")]
    tops = {str(bar.get("class")): int(bar.get("y", "")) for bar in bars}
    (tall,) = {int(bar.get("height", "")) for bar in bars}
    assert tops["wins w"] + tall == tops["wins b"]
    texts = [each for each in root.iter() if each.tag.endswith("}text")]
    for each in texts:
        assert 0 < float(each.get("x", "")) < width
        assert 0 < float(each.get("y", "")) < height
    heights = {each.text: float(each.get("y", "")) for each in texts}
    assert tops["wins w"] < heights["first"] < tops["wins b"] < heights["second"]
    plies = {each.text: float(each.get("x", "")) for each in texts if str(each.text).isdigit()}
    assert list(plies) == [str(ply) for ply in range(0, len(annotation.winners), 5)]
    assert min(heights[ply] for ply in plies) > tops["wins b"] + tall
    # The number of a ply stands below the middle of its column; the first bar begins with ply 0.
    column = sum(int(bar.get("width", "")) for bar in bars) / len(annotation.winners)
    left = min(int(bar.get("x", "")) for bar in bars)
    assert [x - left for x in plies.values()] == [(int(ply) + 0.5) * column for ply in plies]
    # What comes later is drawn above: the frame's paper, the bars, the line between, the blunders.
    drawn = [each.get("class") or each.tag.rpartition("}")[2] for each in root.iter()]
    assert (
        drawn.index("rect") < drawn.index("wins b") < drawn.index("path") < drawn.index("blunder")
    )
    # A blunder is a dot where the winner's bar changes sides, with its move beyond the new bar.
    dots = [each for each in root.iter() if each.get("class") == "blunder"]
    assert {remark.side for remark in annotation.blunders} == {"w", "b"}
    for remark, (title, circle, label) in zip(annotation.blunders, dots, strict=True):
        better = " ".join(remark.winning or ())
        assert title.text == f"{remark.ply}. {remark.move} gives the win away; {better} kept it"
        assert float(circle.get("cx", "")) == left + remark.ply * column
        assert float(circle.get("cy", "")) == tops["wins b"]
        assert label.text == remark.move
        assert float(label.get("x", "")) == left + (remark.ply + 0.5) * column
        if annotation.winners[remark.ply] == "w":
            assert float(label.get("y", "")) < tops["wins w"]
        else:
            assert float(label.get("y", "")) > tops["wins b"] + tall


def test_placements_on_the_real_board() -> None:
    annotation = annotate("b5 e2 d4")
    first, second, third = annotation.remarks
    assert (first.quality, second.quality, third.quality) == ("lost", "blunder", "safe")
    assert first.placement
    assert second.placement
    assert not third.placement
    assert second.winning is not None
    assert len(second.winning) in (24, 25)  # the known number of winning replies
    assert annotation.winners == ("b", "b", "w", "w")


def test_ctrl_c_before_the_end_of_the_game_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Solver):
        def wins(self, position: Position) -> bool:
            raise KeyboardInterrupt

    monkeypatch.setattr(annotate_module, "Solver", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        annotate(GAME)


def test_ctrl_c_leaves_the_end_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    game = GAME
    whole = annotate(game)

    class Interrupted(Solver):
        def winning_moves(self, position: Position, tick: Any = lambda: None) -> tuple[str, ...]:
            if not position.placed:
                raise KeyboardInterrupt
            return super().winning_moves(position, tick)

    monkeypatch.setattr(annotate_module, "Solver", Interrupted)
    part = annotate(game)
    assert part.partial
    assert [remark.quality for remark in part.remarks[:2]] == ["unknown", "unknown"]
    assert part.remarks[2:] == whole.remarks[2:]
    assert part.winners == (None, None, *whole.winners[2:])
    assert chart_lines(part)["w"].startswith("··")
    ElementTree.fromstring(chart_svg(part))
    result = run("annotate", GAME)
    assert result.exit_code == 130
    assert "not judged" in result.stdout
    assert result.stderr.startswith("knightfall: interrupted")


# -- result objects ----------------------------------------------------------------------------


def test_a_grade_shows_itself_as_the_command_does(tmp_path: Path) -> None:
    found = kf.grade("greedy(improved)", openings=15, seed=3, board=BOARD)
    assert isinstance(found, kf.Grade)
    args = ["grade", "greedy(improved)", "--openings", "15", "--seed", "3", "--board", "4x5"]

    def timeless_text(text: str) -> list[str]:
        return re.sub(r"itself, .*", "itself", text).splitlines()

    assert timeless_text(str(found)) == timeless_text(run(*args).stdout)
    told = answer(*args, "--json")
    assert {**told, "seconds": 0} == {**json.loads(json.dumps(found.to_dict())), "seconds": 0}
    bars = {line.index("▪") for line in str(found).splitlines() if "▪" in line}
    assert len(bars) == 1  # they begin in one column
    html = found._repr_html_()
    assert html.count("<table>") == 2
    for row in found.wins_kept.values():
        assert f"{row.kept.count}</td>" in html
    assert not found.timed
    timed = kf.grade("id(open, time=1ms)", openings=1, board=BOARD)
    assert "does not repeat exactly" in str(timed)
    assert "does not repeat exactly" not in str(found)


def test_a_grade_draws_itself(tmp_path: Path) -> None:
    found = kf.grade("greedy(improved)", openings=15, seed=3, board=BOARD)
    assert found.reliability is not None
    keeping, curve = found.plot().axes
    assert keeping.get_position().x1 < curve.get_position().x0
    kinds = [name for name, row in found.wins_kept.items() if row.kept.of]
    assert [label.get_text() for label in keeping.get_yticklabels()] == kinds
    rates = [100 * (found.wins_kept[kind].kept.rate or 0) for kind in kinds]
    assert list(keeping.lines[0].get_xdata()) == pytest.approx(rates)
    assert all(line.get_visible() for line in keeping.get_xgridlines())
    assert not keeping.spines["left"].get_visible()
    won = [100 * (each.won.rate or 0) for each in found.reliability.bins]
    assert list(curve.lines[0].get_ydata()) == pytest.approx(won)
    bars = curve.collections[0].get_segments()
    for each, ((_, low), (_, high)) in zip(found.reliability.bins, bars, strict=True):
        assert (low / 100, high / 100) == pytest.approx(each.won.interval)
    assert len(kf.grade("random", openings=3, board=BOARD).plot().axes) == 1

    args = ["grade", "random", "--openings", "2", "--board", "4x4", "--chart"]
    for name, begin in {"a.svg": b"<?xml", "a.png": b"\x89PNG", "a.pdf": b"%PDF"}.items():
        assert run(*args, str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert "exists" in refused(*args, str(tmp_path / "a.svg"))
    assert run(*args, str(tmp_path / "a.svg"), "--force").exit_code == 0
    assert ".svg, .png or .pdf" in refused(*args, str(tmp_path / "a.jpg"))


def test_an_annotation_shows_itself_as_the_command_does() -> None:
    found = kf.annotate(GAME)
    assert isinstance(found, kf.Annotation)
    assert f"{found}\n" == run("annotate", GAME).stdout
    assert json.loads(json.dumps(found.to_dict())) == answer("annotate", GAME, "--json")
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + len(found.remarks)
    assert found.to_svg() in html


def test_an_annotation_draws_itself() -> None:
    found = kf.annotate(GAME)
    (axes,) = found.plot().axes
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == [1 if winner == "w" else -1 for winner in found.winners]
    assert [text.get_text() for text in axes.texts] == [each.move for each in found.blunders]
    # Bars stand on the line in the middle, a blunder's dot where they change sides, and its move
    # beyond the new bar.
    plies = range(len(found.winners))
    assert [bar.get_x() for bar in axes.patches] == list(plies)
    assert {bar.get_width() for bar in axes.patches} == {1}
    middle, *dots = axes.lines
    assert list(middle.get_ydata()) == [0, 0]
    assert [tuple(dot.get_xydata()[0]) for dot in dots] == [
        (each.ply, 0) for each in found.blunders
    ]
    for text, each in zip(axes.texts, found.blunders, strict=True):
        across, up = text.xy
        assert across == each.ply + 0.5
        assert abs(up) > 1
        assert (up > 0) == (heights[each.ply] > 0)
    seats = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    assert {text.get_text(): at for at, text in seats} == {"first": 0.5, "second": -0.5}
    named = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    assert [(at, text.get_text()) for at, text in named] == [
        (ply + 0.5, str(ply)) for ply in plies[::5]
    ]


def test_without_unicode_signs_are_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kf.annotate(GAME)
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    shown = str(found)
    monkeypatch.undo()
    assert not set(shown) & set("♘♞█▲·▪")
    assert "\n  1. N d3  " in shown


# -- the command line --------------------------------------------------------------------------


def answer(*args: str, input: str | None = None) -> Any:
    result = run(*args, input=input)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_grade_tells_what_the_oracle_found() -> None:
    args = ["greedy(improved)", "--openings", "20", "--seed", "3", "--board", "4x5"]
    told = answer("grade", *args, "--json")
    found = grade("greedy(improved)", openings=20, seed=3, board=BOARD)
    assert told.pop("seconds") > 0
    again = answer("grade", *args, "--json")
    del again["seconds"]
    assert told == again
    assert (told["agent"], told["board"]) == ("greedy(improved)", "4x5")
    assert (told["games"], told["partial"]) == (20, False)
    overall, row = told["keeps"]["overall"], found.wins_kept["overall"]
    assert list(told["keeps"]) == ["overall", "hunter", "runner", "opening", "middle", "end"]
    assert overall["kept"]["rate"] == row.kept.rate
    assert (overall["kept"]["low"], overall["kept"]["high"]) == row.kept.interval
    assert overall["standard_error"] == row.error
    assert overall["without_losing_move"] == row.forced
    assert found.reliability is not None
    assert found.reliability.auc is not None
    assert told["reliability"]["auc"]["value"] == found.reliability.auc.value
    assert len(told["reliability"]["bins"]) == len(found.reliability.bins)

    shown = run("grade", *args).stdout
    assert "20 games against itself" in shown
    assert f"{row.won:,} won for the mover: {row.kept.of:,} with a real choice" in shown
    assert row.kept.rate is not None
    line = next(line for line in shown.splitlines() if line.startswith("overall"))
    assert f" {row.kept.count} " in line
    assert f"{100 * row.kept.rate:.1f} %" in line
    assert f"AUC {found.reliability.auc.value:.3f}" in shown


def test_grade_of_an_agent_without_scores() -> None:
    assert (
        answer("grade", "random", "--openings", "2", "--board", "4x4", "--json")["reliability"]
        is None
    )
    shown = run("grade", "random", "--openings", "2", "--board", "4x4").stdout
    assert "gives no scores" in shown


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["nobody"], "'nobody'"),
        (["random", "--openings", "0"], "openings=0"),
        (["random", "--openings", "2353"], "2352"),
        (["random", "--openings", "x"], "'x'"),
        (["random", "--seed", "-1"], "-1"),
        (["random", "--board", "7"], "'7'"),
        (["random", "--board", "2x7"], "2×7"),
        (["random", "--board", "9x9"], "9×9"),
        (["random", "--workers", "257"], "workers=257"),
        (["id(nothing)"], "'nothing'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_grade_refuses(args: list[str], named: str) -> None:
    assert named in refused("grade", *args)


def test_annotate_tells_what_the_oracle_found(tmp_path: Path) -> None:
    file = tmp_path / "swing.svg"
    told = answer("annotate", GAME, "--json", "--chart", str(file))
    annotation = annotate(GAME)
    check(annotation)
    assert told["fen"] == "4/4/4/4[Nn] w"
    assert told["moves"] == list(annotation.game.moves)
    assert told["winners"] == list(annotation.winners)
    assert [each["verdict"] for each in told["remarks"]] == [
        remark.quality for remark in annotation.remarks
    ]
    assert [each["winning"] for each in told["remarks"]] == [
        list(remark.winning or ()) for remark in annotation.remarks
    ]
    assert file.read_text(encoding="utf-8") == chart_svg(annotation)
    shown = run("annotate", GAME).stdout
    for remark in annotation.remarks:
        line = next(line for line in shown.splitlines() if line.startswith(f"{remark.ply:>3}. "))
        assert remark.move in line
        assert ("??" in line) == (remark.quality == "blunder")
        if remark.quality == "blunder":
            assert remark.winning is not None
            assert all(move in line for move in remark.winning[:6])
    assert [remark.ply for remark in annotation.blunders] == [2, 5]


def test_annotate_finds_games_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    expected = answer("annotate", GAME, "--json")
    assert answer("annotate", "-", "--json", input=GAME) == expected
    notes = tmp_path / "game.txt"
    notes.write_text(GAME + "\n")
    assert answer("annotate", str(notes), "--json") == expected
    games = tmp_path / "games"
    games.mkdir()
    words = GAME.split()
    for name, moves in (("older", words[2:4]), ("newer", words[2:])):
        saved = {
            "format": "knightfall game 1",
            "start": "4/4/4/4[Nn] w",
            "moves": moves,
            "you": "first",
            "agent": "random",
            "resigned": True,
        }
        (games / f"{name}.json").write_text(json.dumps(saved))
    os.utime(games / "older.json", ns=(0, 0))
    resigned = expected | {"winner": "b", "reason": "resigned"}
    assert answer("annotate", "newer", "--json") == resigned
    assert answer("annotate", "last", "--json") == resigned
    os.utime(games / "newer.json", ns=(10**9, 10**9))
    fake_run(tmp_path / "arena.sqlite", fake_plan(1, 3), played=0)
    assert answer("annotate", "last", "--json") == resigned  # the newer run has no game
    assert answer("annotate", str(games / "newer.json"), "--json") == resigned
    assert answer("annotate", "older", "--json")["moves"] == words[2:4]
    shown = run("annotate", "newer").stdout
    assert "The first player resigned in a" in shown
    watched = run("watch", "random", "random", "4/4/4/4[Nn] w", "--json").stdout
    told = answer("annotate", "-", "--json", input=watched)
    assert told["winner"] == json.loads(watched)["winner"]
    assert told["reason"] == "no moves left"


@pytest.mark.parametrize(
    ("game", "named"),
    [
        ("", "''"),
        ("b5 e2 b5", "move 3: 'b5'"),
        ("b5 e2 a1", "move 3: 'a1'"),
        ("b5 q9", "move 2: 'q9'"),
        ("b5 e2 zz", "move 3: 'zz'"),
        ("nowhere", "'nowhere'"),
        ("no/such/file.txt", "'no/such/file.txt'"),
        ("7/7/1N5/7/7/4n2/7 w", "'7/7/1N5/7/7/4n2/7 w'"),
        ("7/7/7 w b5", "'7/7/7 w'"),
        ('{"moves": 3}', '"start" is missing'),
        ('{"fen": "4/4/4/4[Nn] w", "moves": 3}', "3"),
        ('{"fen": "4/4/4/4[Nn] w", "moves": [3]}', "3"),
        ('{"fen": "4/4/4/4[Nn] w", "moves": []}', "'4/4/4/4[Nn] w'"),
        ("{", "'{'"),
        ("a" * 5000, "unknown game 'aaa"),
        ("~nobody-of-that-name/game.txt", "unknown game '~nobody-of-that-name/game.txt'"),
    ],
)
def test_annotate_refuses(
    game: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    assert named in refused("annotate", game)


def test_annotate_refuses_what_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "image.png"
    file.write_bytes(b"\x89PNG\xff\xfe")
    assert str(file) in refused("annotate", str(file))
    assert "''" in refused("annotate", "-", input="")
    assert "is a file" in refused("annotate", GAME, "--chart", str(file / "swing.svg"))
