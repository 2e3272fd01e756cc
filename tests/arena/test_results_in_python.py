"""Results in Python: their games, data frames, the list of runs, reprs, and notebooks."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import knightfall as kf
from knightfall.arena.chart_style import Chart
from knightfall.arena.results import RunReport
from knightfall.display.progress import progress
from knightfall.display.report import Displayable

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    how: dict[str, Any] = {"board": "5x5", "workers": 0, "progress": False}
    store = tmp_path_factory.mktemp("store") / "runs.sqlite"
    kf.match("greedy(open)", "random", pairs=2, store=store, **how)
    agents = ["greedy(improved)", "id(open, depth=2)", "random"]
    return kf.league(agents, pairs=2, store=store, **how)


def store_of(report: RunReport) -> Path:
    return Path(report.run.file.path)


def test_the_games_are_those_of_the_pairs(report: RunReport) -> None:
    games = report.games
    assert len(games) == 12
    assert repr(games) == "<Games: 12 of run 2>"
    assert list(games) == [games[at] for at in range(12)] == games[:]
    assert games[-1] == games[11]
    with pytest.raises(IndexError):
        games[12]
    for at, game in enumerate(games):
        record = report.run.pair(at // 2).games[at % 2]
        assert game.winner == game.final.winner == record.winner
        assert game.moves == record.moves(game.start)
        assert len(game.positions) == len(game.seconds) + 1 == len(game.moves) + 1
        assert [round(1e6 * one) for one in game.seconds] == record.column("microseconds").tolist()
        assert (list(game.nodes), list(game.depths), list(game.scores)) == tuple(
            record.column(name).tolist() for name in ("nodes", "depths", "scores")
        )
    assert kf.annotate(games[0], progress=False).winners[-1] == games[0].winner


def test_a_frame_has_a_row_for_each_game(report: RunReport) -> None:
    pytest.importorskip("pandas")
    frame = report.to_frame()
    assert list(frame["plies"]) == [len(game.moves) for game in report.games]
    assert list(frame["winner"]) == [game.winner for game in report.games]
    assert list(frame["first"]) == [game.tags["White"] for game in report.games]
    assert list(frame["nodes_w"]) == [sum(game.nodes[::2]) for game in report.games]


def test_without_pandas_the_error_says_how_to_install_it(
    report: RunReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(kf.KnightfallError, match=r"needs pandas .*install 'knightfall\[pandas\]'$"):
        report.to_frame()


def test_stored_runs_are_listed_and_reported(report: RunReport, tmp_path: Path) -> None:
    store = store_of(report)
    found = kf.runs(store=store)
    assert [(run.id, run.kind, run.played) for run in found] == [(1, "match", 2), (2, "league", 6)]
    assert found[1] == found[-1]
    assert "greedy(open), random" in str(found)
    assert "<table>" in found._repr_html_()
    for same in (kf.run(2, store=store), kf.run("2", store=store), kf.run(store=store)):
        assert same.to_dict() == report.to_dict()
    with pytest.raises(kf.KnightfallError, match=r"there is no run 3 in .*: its runs are 1, 2"):
        kf.run(3, store=store)
    with pytest.raises(kf.KnightfallError, match="no runs yet"):
        kf.runs(store=tmp_path / "missing.sqlite")


def test_every_result_has_a_repr_of_one_line(report: RunReport) -> None:
    start = "5/5/1N3/3n1/5 w"
    results: list[Any] = [
        report,
        kf.run(1, store=store_of(report)),
        kf.runs(store=store_of(report)),
        kf.solve(start, progress=False),
        kf.annotate(f"{start} c5 c4 e4", progress=False),
        kf.grade("greedy(open)", openings=1, board="4x4", progress=False),
        report.run,
        report.games,
        report.games[0],
        kf.agent("greedy(open)").analyse(kf.Position.from_fen(start)),
    ]
    for result in results:
        shown = repr(result)
        assert type(result).__name__ in shown
        assert " object at " not in shown
        assert "\n" not in shown
        assert len(shown) < 240, shown
    assert "16 plies" in repr(results[3])
    assert repr(results[1]).startswith("<MatchReport: greedy(open) against random · Games 4: ")


def test_no_result_has_the_repr_of_a_dataclass() -> None:
    import knightfall.course.classroom.class_report
    import knightfall.learning.tune_report
    import knightfall.studies.studies_report  # noqa: F401

    def below(kind: type) -> set[type]:
        return {kind}.union(*(below(one) for one in kind.__subclasses__()))

    kinds = {one for one in below(Displayable) if one.__module__.startswith("knightfall.")}
    assert len(kinds) > 12
    for kind in kinds:
        assert kind.__repr__ is Displayable.__repr__, kind


# -- in a notebook -----------------------------------------------------------------------------


def test_a_chart_is_a_picture_without_magic(report: RunReport) -> None:
    figure = report.plot()
    assert isinstance(figure, Chart)
    assert figure._repr_png_().startswith(PNG)


def test_a_search_is_shown_as_a_table() -> None:
    found = kf.agent("id(improved, depth=30)").analyse(kf.Position.from_fen("5/5/1N3/3n1/5 w"))
    html = found._repr_html_()
    assert html.startswith("<table>")
    for shown in (found.move, " ".join(found.pv), "−∞, proven", "within 16 plies"):
        assert f">{shown}" in html or shown in html


class Cell:
    """The output of a notebook's cell, as `display` and `update` leave it."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, data: dict[str, str], **how: Any) -> Cell:
        self.texts.append(data["text/plain"])
        return self

    def update(self, data: dict[str, str], **how: Any) -> None:
        self.texts[-1] = data["text/plain"]


@pytest.mark.parametrize("patience", [60.0, 0.0])
def test_progress_leaves_no_empty_output(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell()
    monkeypatch.setattr("knightfall.display.progress.in_notebook", lambda: True)
    monkeypatch.setattr("knightfall.display.progress._Notebook.after", patience)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=cell.display))
    with progress("games", 40, after=0.0) as shown:
        while patience == 0.0 and not cell.texts:
            pass
        shown(40)
    assert [text.partition(" · ")[0] for text in cell.texts] == ["40 games"][: patience == 0.0]
