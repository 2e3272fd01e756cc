"""Results of a run, compared with counts of every game."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies  # noqa: F401 (lifts the time limit for examples)
from arena_helpers import ENGINE, VERSIONS, fake_pair, fake_plan, fake_run, play_on
from hypothesis import given
from hypothesis import strategies as st

from knightfall.arena.results import Effort, EntrantResult, Wins, results
from knightfall.arena.store import Run, Store
from knightfall.position import Position, Side

BOOK = ("4/1N2/2n1/4 b", "4/1N2/2n1/4 w", "N3/4/4/3n w", "4/1N2/2n1/4 b", "3N/4/4/n2* b")


def by_hand(run: Run, entrant: int, match: int) -> EntrantResult:
    """Return an entrant's result, computed from its games replayed move by move."""
    first, second, hunter, runner = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    losses: Counter[Any] = Counter()
    effort = [0, 0, 0, 0]
    sides: dict[str, Counter[str]] = {"w": first, "b": second}
    for line in run.games(match=match):
        if line.repeats is not None or entrant not in (line.first, line.second):
            continue
        side: Side = "w" if entrant == line.first else "b"
        game = run.pair(line.pair).games[line.game]
        position = Position.from_fen(line.opening)
        role = hunter if position.hunter == side else runner
        for tally in (sides[side], role):
            tally["games"] += 1
            tally["won"] += game.winner == side
        if game.winner != side:
            losses[game.reason] += 1
        for at, move in enumerate(game.moves(position)):
            if position.to_move == side:
                effort[0] += 1
                effort[1] += int(game.column("depths")[at])
                effort[2] += int(game.column("nodes")[at])
                effort[3] += int(game.column("microseconds")[at])
            position = position.play(move)
    wins = [Wins(tally["won"], tally["games"]) for tally in (first, second, hunter, runner)]
    return EntrantResult(*wins, losses=dict(losses), effort=Effort(*effort))


@given(
    matches=st.integers(1, 4),
    pairs=st.integers(1, 9),
    share=st.floats(0, 1),
    repeats=st.integers(1, 3),
    book=st.sampled_from([(), BOOK]),
    steps=st.integers(1, 9),
    ways=st.sampled_from([None, 1, 2]),
)
def test_every_number_is_what_counting_by_hand_gives(
    matches: int,
    pairs: int,
    share: float,
    repeats: int,
    book: tuple[str, ...],
    steps: int,
    ways: int | None,
) -> None:
    plan = fake_plan(matches, pairs, repeats=repeats, book=book)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder, "s.sqlite")) as store:
        store.begin(fake_plan(1, 3, seed=5), ENGINE, VERSIONS).append([])
        play_on(store.last(), 3)  # another run, which must not be counted
        run = store.begin(plan, ENGINE, VERSIONS)
        play_on(run, round(share * plan.total), steps, ways)
        found = results(run)
        assert (found.played, found.entrants) == (run.played, plan.entrants)
        for number, match in enumerate(found.matches):
            lines = list(run.games(match=number))
            counted = [line.pair for line in lines[::2] if line.repeats is None]
            scores = Counter(run.pair(at).score for at in counted)
            assert match.pairs == (scores[0], scores[1], scores[2])
            assert match.repeats == len(lines) // 2 - len(counted)
            assert match.games == 2 * len(counted)
            assert (match.a, match.b) == (0, number + 1)
            assert match.of_a == by_hand(run, match.a, number)
            assert match.of_b == by_hand(run, match.b, number)
            assert match.of_a.total.won == match.of_b.total.lost
            by_round = found.pair_scores(number)
            assert len(by_round) == len(lines) // 2
            for line, score in zip(lines[::2], by_round, strict=True):
                if line.repeats is not None:
                    assert np.isnan(score)
                else:
                    assert score == run.pair(line.pair).score
        everyone = [found.entrant(number) for number in range(matches + 1)]
        assert everyone[0] == sum((match.of_a for match in found.matches), EntrantResult())
        assert everyone[1:] == [match.of_b for match in found.matches]


def test_without_games_there_are_no_means(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.sqlite") as store:
        (match,) = results(store.begin(fake_plan(), ENGINE, VERSIONS)).matches
    assert (match.pairs, match.games, match.repeats) == ((0, 0, 0), 0, 0)
    assert match.of_a.total.rate is None
    effort = match.of_a.effort
    assert effort.mean_depth is effort.mean_nodes is effort.mean_microseconds is None


def test_means_are_for_a_move() -> None:
    effort = Effort(moves=4, depths=6, nodes=10, microseconds=3)
    assert effort.mean_depth == 1.5
    assert effort.mean_nodes == 2.5
    assert effort.mean_microseconds == 0.75
    assert Wins(1, 4).rate == 0.25
    assert Wins(1, 4).lost == 3


def test_rounds_of_one_series_are_the_same_openings(tmp_path: Path) -> None:
    fake_run(tmp_path / "s.sqlite", fake_plan(4, 12))
    with Store.open(tmp_path / "s.sqlite", read_only=True) as store:
        run = store.last()
        played = {number: list(run.games(match=number))[::2] for number in range(4)}
    for one, other in ((0, 2), (1, 3)):  # fake_plan makes two series
        pairs = zip(played[one], played[other], strict=True)
        assert all((a.opening, a.seed) == (b.opening, b.seed) for a, b in pairs)
    assert [line.opening for line in played[0]] != [line.opening for line in played[1]]


def test_results_are_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that results are of one moment even if another process writes between two queries."""
    file = tmp_path / "s.sqlite"
    with Store.open(file) as store, Store.open(file) as writer:
        run = store.begin(fake_plan(2, 10), ENGINE, VERSIONS)
        play_on(run, 4)
        theirs, ask = writer.last(), run.file.rows

        def interrupted(query: str, values: Any = (), kinds: Any = None) -> list[Any]:
            answer = ask(query, values, kinds)
            if theirs.played < 20:
                theirs.append([fake_pair(theirs.plan.task(theirs.played))])
            return answer

        monkeypatch.setattr(run.file, "rows", interrupted)
        found = results(run)
        assert theirs.played > 4
    assert found.played == 4
    assert sum(match.games for match in found.matches) == 8
    assert [match.repeats for match in found.matches] == [0, 0]
