"""The documentation is true: its examples run, and its generated pages are up to date."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from cli_runner import subcommands

import knightfall as kf

ROOT = Path(__file__).parents[2]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_package_example_runs_as_printed() -> None:
    results = doctest.testmod(kf)
    assert results.attempted >= 3
    assert results.failed == 0


@pytest.mark.parametrize("page", ["heuristics.md", "agents.md", "api-reference.md"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    made = generator().PAGES[page]()
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == made, "run make docs"


def python_blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_heuristics_shown_in_the_guide_work(tmp_path: Path) -> None:
    cosy, stroll, late_bloomer, notebook = python_blocks("docs/writing-a-heuristic.md")
    assert cosy == python_blocks("README.md")[0]
    (tmp_path / "mine.py").write_text(cosy)
    position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    # Eight open cells touch b5, and e2's knight has six moves.
    assert kf.evaluator(f"{tmp_path}/mine.py:cosy").value(position) == 8 - 0.5 * 6

    (tmp_path / "mine.py").write_text(stroll)
    walk = kf.evaluator(f"{tmp_path}/mine.py:stroll")
    assert walk.measure(position, step_limit=4) == (4, False)
    assert walk.measure(position) == (walk.value(position), True)

    (tmp_path / "mine.py").write_text(late_bloomer)
    with pytest.raises(kf.KnightfallError, match=r"line 8: NameError: name 'count' is not defined"):
        kf.evaluator(f"{tmp_path}/mine.py:late_bloomer")

    exec(compile(notebook, "notebook", "exec"), {"__name__": "notebook"})
    assert kf.evaluator("bold").value(position) == 6 - 3 * 6


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_citation_and_the_changes_name_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {kf.__version__}\n" in citation
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == kf.__version__


def test_every_environment_variable_is_explained() -> None:
    page = (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")
    read: set[str] = set()
    for folder in ("src", "benchmarks"):
        for file in (ROOT / folder).rglob("*.py"):
            read |= set(re.findall(r"KNIGHTFALL_[A-Z_]+", file.read_text(encoding="utf-8")))
    assert len(read) > 3
    for variable in read:
        assert f"`{variable}" in page, f"{variable} is not explained in docs/internals.md"


def test_every_option_is_explained() -> None:
    from typer.main import get_command

    from knightfall.cli.app import app

    group: Any = get_command(app)
    assert {"play", "course"} < set(subcommands(group))
    for name, command in subcommands(group).items():
        assert "Example" in command.help, f"{name} shows no example"
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert parameter.help, f"{name} {parameter.opts} is not explained"


def test_everything_a_heuristic_may_import_is_explained() -> None:
    import knightfall.heuristics as room

    guide = (ROOT / "docs" / "writing-a-heuristic.md").read_text(encoding="utf-8")
    studies = {"course", "lookahead", "directional", "reachability", "staged", "aggressive"}
    for name in set(room.__all__) - studies - {"REGISTRY"}:
        assert re.search(rf"`{name}\b|\b{name}\(", guide), f"{name} is not in the guide"
