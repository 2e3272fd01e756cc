"""The notebooks of `examples/notebooks` run, and the extra is named where it is missing."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from knightfall.errors import KnightfallError

pytest.importorskip("anywidget", reason="the extra notebook is not installed")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))

QUICKER: dict[str, dict[str, Any]] = {
    "explore_an_opening": {
        "OPENING": "7/2n1*2/2****1/2****1/2*N**1/7/7 w",
        "AGENTS": ["greedy(improved)"],
    },
    "write_a_heuristic": {"PAIRS": 1, "NODES": 200, "OPENINGS": 1, "GAMES": 2},
}
"""Values for the settings in the first cell of each notebook, which otherwise takes ten seconds."""


def code_cells(notebook: Path) -> list[str]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, space: dict[str, Any]) -> Any:
    """Run a cell in this process, and return the value that a notebook shows below it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), space)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), space) if last else None


def test_there_are_two() -> None:
    assert {notebook.stem for notebook in NOTEBOOKS} == QUICKER.keys()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings, *cells = code_cells(notebook)
    space: dict[str, Any] = {"__name__": "__main__"}
    run_cell(settings, space)
    assert QUICKER[notebook.stem].keys() <= space.keys()
    space.update(QUICKER[notebook.stem])
    shown = [run_cell(cell, space) for cell in cells]
    assert sum(value is not None for value in shown) >= 3
    assert len(capsys.readouterr().out.splitlines()) >= 2
    if notebook.stem == "explore_an_opening":
        line = space["solution"].pv[: len(space["visited"])]
        assert line
        end = type(space["start"]).from_fen(space["visited"][-1])
        for move in line:
            space["start"] = space["start"].play(move)
        assert end == space["start"] == space["board"].position


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_stored_without_outputs(notebook: Path) -> None:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_run_in_a_kernel(notebook: Path) -> None:
    """Run a notebook as it is, in Jupyter's kernel."""
    nbformat = pytest.importorskip("nbformat", reason="pip install jupyterlab")
    nbclient = pytest.importorskip("nbclient", reason="pip install jupyterlab")
    pytest.importorskip("ipykernel", reason="pip install jupyterlab")
    content = nbformat.read(notebook, 4)
    nbformat.validate(content)
    nbclient.NotebookClient(content, timeout=600, kernel_name="python3").execute()
    kinds = {
        kind
        for cell in content.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", ())
    }
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= kinds


def test_without_the_extra_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("knightfall.notebook")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(KnightfallError) as refused:
        import knightfall.notebook  # noqa: F401
    assert "\n" not in str(refused.value)
    assert "install 'knightfall[notebook]'" in str(refused.value)
