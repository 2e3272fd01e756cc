"""The ladder of opponents on the page is the result of one league."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import rate_opponents
from knightfall.agents import parse_agent


def test_the_ratings_of_a_league_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[list[str]] = []

    def league(agents: list[str], *, pairs: int, workers: Any) -> Any:
        assert pairs == 7
        played.append(agents)
        ratings = SimpleNamespace(elo=lambda at: 100.04 * at - 50, error=lambda at: 10.06 + at)
        return SimpleNamespace(interrupted=len(played) > 1, ratings=ratings)

    monkeypatch.setattr("knightfall.arena.api.league", league)
    monkeypatch.setattr(rate_opponents, "FILE", tmp_path / "ladder.json")
    monkeypatch.setattr("sys.argv", ["ladder", "7", "8"])
    rate_opponents.main()
    found = json.loads((tmp_path / "ladder.json").read_text())
    assert [(row["name"], row["agent"]) for row in found] == list(rate_opponents.LADDER)
    assert [row["elo"] for row in found] == [round(100.04 * at - 50, 1) for at in range(len(found))]
    assert [row["error"] for row in found] == [round(10.06 + at, 1) for at in range(len(found))]
    assert [row["name"] for row in found if row["usual"]] == [rate_opponents.USUAL]
    # No agent of the league goes by the clock, so that it repeats.
    assert [parse_agent(agent).budget.time for agent in played[0]] == [None] * len(found)
    for row, line in zip(found, capsys.readouterr().out.splitlines(), strict=True):
        assert line.startswith(row["name"])
        assert line.endswith(f" {row['elo']:.0f} ± {row['error']:.0f}  {row['agent']}")
    before = (tmp_path / "ladder.json").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        rate_opponents.main()
    assert (tmp_path / "ladder.json").read_bytes() == before
