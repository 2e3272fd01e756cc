"""Every figure of a report is under its own heading: printed text, JSON and games agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from arena_helpers import ENGINE, VERSIONS, play_on
from chart_runs import naive_pairs
from printed_table import html_rows, printed_rows

from knightfall.arena.plan import Entrant, Match, Plan, round_robin, tournament_matches
from knightfall.arena.report_statistics import compare_with_baseline, outcomes_of, rate_entrants
from knightfall.arena.reports import report_on
from knightfall.arena.results import RunReport
from knightfall.arena.run_loop import scoreboard_of
from knightfall.arena.store import Run, Store
from knightfall.arena.worth import worth_plan
from knightfall.display.numbers import interval, mean, percent, plus_minus, signed
from knightfall.display.report import as_text
from knightfall.position import Position
from knightfall.statistics import pairs as statistics
from knightfall.statistics.sprt import Sprt

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "s.sqlite") as opened:
        yield opened


def entrants(number: int) -> tuple[Entrant, ...]:
    return tuple(Entrant(f"random(seed={at + 1})", NAMES[at]) for at in range(number))


def played(store: Store, plan: Plan, pairs: int | None = None) -> Run:
    """Return a run of made-up games in which all figures are different."""
    run = store.begin(plan, ENGINE, VERSIONS)
    play_on(run, plan.total if pairs is None else pairs)
    return run


def league_of(store: Store) -> Run:
    who = entrants(4)
    return played(store, Plan("league", who, round_robin(who), 12, board="4x4", seed=3))


def match_of(store: Store, **more: Any) -> Run:
    return played(store, Plan("match", entrants(2), (Match(0, 1),), 40, board="4x5", **more))


def tournament_of(store: Store, pairs: int = 14, **stop: Any) -> Run:
    options = {"protocol": "2017b", "tests": 3}
    plan = Plan(
        "tournament", entrants(5), tournament_matches(3, 2), pairs, board="4x5", seed=4,
        options=options, stop=stop,
    )  # fmt: skip
    return played(store, plan)


def of_entrant(run: Run, entrant: int) -> dict[str, Any]:
    """Return an entrant's figures except ratings, computed from its games one by one."""
    won, games = {}, {}
    moves = depths = nodes = microseconds = 0
    for line in run.games():
        if line.repeats is not None or entrant not in (line.first, line.second):
            continue
        side = "w" if entrant == line.first else "b"
        position = Position.from_fen(line.opening)
        game = run.pair(line.pair).games[line.game]
        for key in ("all", side, "hunter" if position.hunter == side else "runner"):
            games[key] = games.get(key, 0) + 1
            won[key] = won.get(key, 0) + (game.winner == side)
        mine = slice(0 if position.to_move == side else 1, None, 2)
        moves += len(game.cells[mine])
        depths += int(game.column("depths")[mine].sum())
        nodes += int(game.column("nodes")[mine].sum())
        microseconds += int(game.column("microseconds")[mine].sum())
    share = {key: won[key] / games[key] for key in games}
    scores = [
        2 - score if b == entrant else score
        for (a, b), row in naive_pairs(run).items()
        if entrant in (a, b)
        for score in row
    ]
    counts = [scores.count(score) for score in (0, 1, 2)]
    found = statistics.of_pairs((counts[0], 0, counts[1], 0, counts[2]))
    return {
        "name": NAMES[entrant], "agent": f"random(seed={entrant + 1})",
        "games": games["all"], "won": won["all"], "lost": games["all"] - won["all"],
        "pairs": counts, "rate": share["all"], "low": found.low, "high": found.high,
        "as_first": share["w"], "as_second": share["b"],
        "as_hunter": share["hunter"], "as_runner": share["runner"],
        "mean_depth": depths / moves, "mean_nodes": nodes / moves,
        "mean_microseconds": microseconds / moves,
    }  # fmt: skip


SHARES = ("rate", "low", "high", "as_first", "as_second", "as_hunter", "as_runner")


def agree(data: list[dict[str, Any]], run: Run, entrants: Sequence[int]) -> None:
    """Check each entrant's figures in JSON against its games, and that no two columns of figures
    are equal.
    """
    for one, entrant in zip(data, entrants, strict=True):
        counted = of_entrant(run, entrant)
        assert one["pairs"] == counted.pop("pairs")
        assert {key: one[key] for key in counted} == pytest.approx(counted)
        assert set(one) - set(counted) == {"pairs", "elo", "elo_error", "losses"}
    shown = {tuple(percent(one[key]) for one in data) for key in SHARES}
    assert len(shown) == len(SHARES), "some could be exchanged unnoticed"


# -- league ----------------------------------------------------------------------------------


def test_a_league_s_figures_stand_under_their_headings(store: Store) -> None:
    run = league_of(store)
    report = report_on(run)
    data = report.to_dict()
    ratings = rate_entrants(run.plan, outcomes_of(run))
    order = [NAMES.index(one["name"]) for one in data["agents"]]
    assert order == ratings.ranking(range(4))
    agree(data["agents"], run, order)
    for number, one in zip(order, data["agents"], strict=True):
        assert (one["elo"], one["elo_error"]) == (ratings.elo(number), ratings.error(number))
    figures = ("Elo", "Games", "Won", "95 % interval", "hunter", "runner", "depth", "nodes")
    assert printed_rows(str(report), "Agent", *figures) == [
        {
            "column 1": str(place),
            "Agent": one["name"],
            "Elo": plus_minus(one["elo"], one["elo_error"]),
            "Games": f"{one['games']:,}",
            "Won": percent(one["rate"]),
            "95 % interval": interval(one["low"], one["high"]),
            "hunter": percent(one["as_hunter"]),
            "runner": percent(one["as_runner"]),
            "depth": mean(one["mean_depth"]),
            "nodes": mean(one["mean_nodes"]),
        }
        for place, one in enumerate(data["agents"], start=1)
    ]
    first = f"{plus_minus(data['seat_elo'], data['seat_elo_error'])} Elo"
    assert f"Moving first is worth {first}" in str(report)
    found = ratings.ratings
    assert (data["seat_elo"], data["seat_elo_error"]) == (found.seat_elo, found.seat_error)


def test_a_league_s_squares_are_row_against_column(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = league_of(store)
    report = report_on(run)
    data = report.to_dict()
    ratings, scores = rate_entrants(run.plan, outcomes_of(run)), naive_pairs(run)
    order = [NAMES.index(one["name"]) for one in data["agents"]]
    places = [str(place) for place in range(1, 5)]
    differences, won_and_lost = [], []
    for place, a in enumerate(order):
        gaps = {"column 1": str(place + 1), "column 2": NAMES[a]}
        games = dict(gaps)
        for other, b in enumerate(order):
            if a == b:
                gaps[places[other]] = games[places[other]] = ""
                assert data["differences"][place][other] is data["crosstable"][place][other] is None
                continue
            won = sum(scores.get((a, b), ())) + sum(2 - one for one in scores.get((b, a), ()))
            gap = ratings.difference(a, b)
            assert data["differences"][place][other] == list(gap)
            assert data["crosstable"][place][other] == [won, 24 - won]
            gaps[places[other]] = plus_minus(*gap)
            games[places[other]] = f"{won} – {24 - won}"
        differences.append(gaps)
        won_and_lost.append(games)
    above, _, below = str(report).partition("Won – lost (row against column)")
    assert printed_rows(above.partition("Elo differences")[2], *places) == differences
    assert printed_rows(below, *places, rows=4) == won_and_lost
    # The squares of a league of the greatest printable width are printed, those of a wider one not.
    monkeypatch.setattr("knightfall.arena.reports.league.WIDEST", 4)
    assert str(report) == f"{above}Won – lost (row against column){below}"
    monkeypatch.setattr("knightfall.arena.reports.league.WIDEST", 3)
    assert "row against column" not in str(report)
    assert report.to_dict() == data


def test_a_league_s_live_table_is_that_of_its_ratings(store: Store) -> None:
    run = league_of(store)
    ratings = rate_entrants(run.plan, outcomes_of(run))
    shown = as_text(type(report_on(run)).live(scoreboard_of(run)), None)
    assert printed_rows(shown, "Agent", "Elo", "± 95 %") == [
        {
            "column 1": str(place),
            "Agent": NAMES[one],
            "Elo": signed(ratings.elo(one)),
            "± 95 %": f"{ratings.error(one):.0f}",
        }
        for place, one in enumerate(ratings.ranking(range(4)), start=1)
    ]


# -- match -----------------------------------------------------------------------------------

TEST = {"rule": "sprt", "elo0": -7.0, "elo1": 30.0, "alpha": 0.1, "beta": 0.02, "model": "logistic"}


def block(report: RunReport) -> list[str]:
    """Return the expected first lines of a match's report, computed from its pairs."""
    (scores,) = naive_pairs(report.run).values()
    lost, split, won = (scores.count(score) for score in (0, 1, 2))
    found = statistics.of_pairs((lost, 0, split, 0, won))
    test = Sprt(**{key: value for key, value in TEST.items() if key != "rule"})
    lower, upper = test.bounds
    llr = test.llr((lost, 0, split, 0, won))
    wins = sum(scores)
    return [
        "Ann against Bob",
        f"Elo   {plus_minus(found.elo, found.elo_error, 1)}   "
        f"nElo {plus_minus(found.nelo, found.nelo_error, 1)}   LOS {100 * found.los:.1f} %",
        f"Games 80: {wins} won, {80 - wins} lost, {percent(found.score)} "
        f"({interval(found.low, found.high)})",
        f"Pairs [LL, WL, WW] [{lost}, {split}, {won}]",
        f"LLR   {signed(llr, 2).lstrip('+')} ({signed(lower, 2)}, {upper:.2f}) [-7, 30] logistic",
    ]


def test_a_match_s_block_says_what_its_pairs_say(store: Store) -> None:
    report = report_on(match_of(store, stop=TEST, seed=2))
    wanted = block(report)
    numbers = re.findall(r"[−+]?\d+(?:\.\d+)?", "\n".join(wanted[1:]))
    assert len(set(numbers)) == len(numbers), f"some are equal, so could be exchanged: {numbers}"
    assert str(report).split("\n")[2:7] == wanted
    shown = as_text(type(report).live(scoreboard_of(report.run)), None)
    assert shown.split("\n")[:5] == wanted
    data = report.to_dict()
    ann, bob = data["agents"]
    assert (ann["elo"], ann["elo_error"]) == (data["elo"], data["elo_error"])
    assert (bob["elo"], bob["elo_error"]) == (0, 0)
    assert data["verdict"] is None
    assert data["words"] == str(report).split("\n")[-1] == "Not decided yet, after 40 pairs."
    lost, split, won = data["counts"]
    found = statistics.of_pairs((lost, 0, split, 0, won))
    figures = ("score", "low", "high", "elo", "elo_error", "nelo", "nelo_error", "los")
    assert {key: data[key] for key in figures} == {key: getattr(found, key) for key in figures}
    assert f"LLR   {data['llr']:.2f} (".replace("-", "−") in str(report)
    assert f" ({signed(data['lower'], 2)}, {data['upper']:.2f}) " in str(report)


def test_a_match_tells_each_agent_s_seats_and_roles(store: Store) -> None:
    run = match_of(store, seed=3)
    report = report_on(run)
    lines = str(report).split("\n")[7:9]  # below the block of four lines
    agents = report.to_dict()["agents"]
    agree(agents, run, [0, 1])
    for number, one in enumerate(agents):
        begin = (
            f"{NAMES[number]}: {percent(one['as_first'])} as N, {percent(one['as_second'])} as n; "
            f"{percent(one['as_hunter'])} hunting, {percent(one['as_runner'])} running; "
            f"depth {mean(one['mean_depth'])}, {mean(one['mean_nodes'])} nodes a move; lost by "
        )
        assert lines[number].startswith(begin)
        lost = lines[number].removeprefix(begin).split(", ")
        assert lost == [f"{times} {why}" for why, times in sorted_losses(one["losses"])]
        counted: dict[str, int] = {}
        for game in run.games(lost_by=[number]):
            counted[game.reason] = counted.get(game.reason, 0) + 1
        assert one["losses"] == counted
        assert len(counted) > 2


def sorted_losses(losses: dict[str, int]) -> list[tuple[str, int]]:
    order = ["no moves", "timeout", "forfeit", "illegal", "crash"]
    return sorted(losses.items(), key=lambda item: order.index(item[0]))


# -- tournament ------------------------------------------------------------------------------


def course_cells(run: Run, rounds: int | None = None) -> dict[tuple[int, int], tuple[int, int]]:
    """Return games won and lost by (test agent, opponent), in all rounds or only the first ones."""
    found = {}
    for couple, scores in naive_pairs(run).items():
        some = scores if rounds is None else scores[:rounds]
        found[couple] = sum(some), 2 * len(some) - sum(some)
    return found


def test_the_course_s_table_is_won_and_lost_by_opponent(store: Store) -> None:
    run = tournament_of(store)
    report = report_on(run)
    cells = course_cells(run)
    data = report.to_dict()
    assert data["table"] == [[list(cells[test, at]) for test in range(3)] for at in (3, 4)]
    assert len({*cells.values()}) == 6
    titles = [f"{name}\nWon | Lost" for name in NAMES[:3]]
    *rows, footer = html_rows(report._repr_html_(), "Opponent\n", *titles)
    for opponent, row in zip((3, 4), rows, strict=True):
        assert row["Opponent\n"] == NAMES[opponent]
        for test, title in enumerate(titles):
            won, lost = cells[test, opponent]
            assert row[title].split() == [str(won), "|", str(lost)]
    for test, title in enumerate(titles):
        assert footer[title] == percent((cells[test, 3][0] + cells[test, 4][0]) / 56)


FIGURES = ("Win rate", "95 % interval", "Elo (Ann = 0)", "as hunter", "as runner", "depth",
           "nodes a move")  # fmt: skip


def test_a_tournament_s_figures_stand_under_their_headings(store: Store) -> None:
    run = tournament_of(store)
    report = report_on(run)
    data = report.to_dict()
    ratings = rate_entrants(run.plan, outcomes_of(run)).anchored(0)
    agree(data["tests"], run, range(3))
    rows = printed_rows(str(report), "Test agent", *FIGURES)
    for number, (one, row) in enumerate(zip(data["tests"], rows, strict=True)):
        assert (one["elo"], one["elo_error"]) == (ratings.elo(number), ratings.error(number))
        assert row == {
            "Test agent": NAMES[number],
            "Win rate": percent(one["rate"]),
            "95 % interval": interval(one["low"], one["high"]),
            "Elo (Ann = 0)": plus_minus(one["elo"], one["elo_error"]) if number else "0",
            "as hunter": percent(one["as_hunter"]),
            "as runner": percent(one["as_runner"]),
            "depth": mean(one["mean_depth"]),
            "nodes a move": mean(one["mean_nodes"]),
        }
    first = plus_minus(data["seat_elo"], data["seat_elo_error"])
    assert f"56 games each. Moving first is worth {first} Elo." in str(report)
    found = ratings.ratings
    assert (data["seat_elo"], data["seat_elo_error"]) == (found.seat_elo, found.seat_error)


def span(one: Any) -> str:
    return f"({signed(100 * one.low, 1)} to {signed(100 * one.high, 1)})"


def test_a_tournament_s_comparisons_are_told_in_order(store: Store) -> None:
    run = tournament_of(store)
    report = report_on(run)
    wanted = compare_with_baseline(run.plan, outcomes_of(run))
    data = report.to_dict()["differences"]
    for at, (one, found) in enumerate(zip(data, wanted, strict=True), start=1):
        figures = {"a": NAMES[at], "b": "Ann", "pairs": found.pairs, "p": found.p,
                   "points": 100 * found.difference, "low": 100 * found.low,
                   "high": 100 * found.high, "real": found.real, "same": False}  # fmt: skip
        assert {key: one[key] for key in figures} == figures
        points = signed(one["points"], 1)
        assert re.search(
            rf"^{NAMES[at]} +{re.escape(points)} +{re.escape(span(found))} +{one['verdict']}$",
            str(report),
            re.MULTILINE,
        )


def test_the_same_agent_entered_twice_is_no_comparison(store: Store) -> None:
    who = (*entrants(1), Entrant("random(seed=1)", "Ann again"), *entrants(3)[1:])
    options = {"protocol": "2017b", "tests": 3}
    plan = Plan("tournament", who, tournament_matches(3, 1), 4, board="4x5", options=options)
    data = report_on(played(store, plan)).to_dict()
    assert [(one["same"], one["real"], one["p"] == 1) for one in data["differences"]] == [
        (True, False, True),
        (False, False, False),
    ]
    assert (data["protocol"], data["mixture"]) == ("2017b", [])


def test_beyond_the_course_s_games_both_numbers_keep_their_places(store: Store) -> None:
    """Check a table with two figures in each cell: the course's own games are on the left, all
    games on the right.
    """
    run = tournament_of(store, 24, rule="decided", within=0.02, course=5)
    report = report_on(run)
    few, every = course_cells(run, 5), course_cells(run)
    data = report.to_dict()
    assert data["course_table"] == [[list(few[test, at]) for test in range(3)] for at in (3, 4)]
    titles = [f"{name}\nWon | Lost    all" for name in NAMES[:3]]
    *rows, footer = html_rows(report._repr_html_(), "Opponent\n", *titles)
    for opponent, row in zip((3, 4), rows, strict=True):
        for test, title in enumerate(titles):
            (won, lost), (more, less) = few[test, opponent], every[test, opponent]
            share = f"{100 * more / (more + less):.1f}"
            assert row[title].split() == [str(won), "|", str(lost), share, "%"]
    for test, title in enumerate(titles):
        shares = [
            f"{100 * (cells[test, 3][0] + cells[test, 4][0]) / games:.1f}"
            for cells, games in ((few, 20), (every, 96))
        ]
        assert footer[title].replace("%", "").split() == shares
    outcomes = outcomes_of(run)
    assert (
        "The course's tournament, 5 pairs against each opponent: 20 games won and lost. "
        "Beside it the share won of all 96."
    ) in str(report)
    early = compare_with_baseline(run.plan, outcomes[: 5 * 6])
    late = compare_with_baseline(run.plan, outcomes, sequential=True)
    rows = printed_rows(str(report), "20 games", "so far")
    assert [(row["column 1"], row["20 games"], row["so far"]) for row in rows] == [
        (NAMES[at], signed(100 * one.difference, 1), signed(100 * other.difference, 1))
        for at, (one, other) in enumerate(zip(early, late, strict=True), start=1)
    ]
    assert [row["column 4"] for row in rows] == [span(one) for one in late]
    assert [row["column 5"] for row in rows] == [one["verdict"] for one in data["differences"]]
    live = as_text(type(report).live(scoreboard_of(run)), None)
    for opponent in (3, 4):
        (line,) = re.findall(rf"^{NAMES[opponent]} .*", live, re.MULTILINE)
        cells = re.findall(r"(\d+) \| (\d+) +([\d.]+) %", line)
        assert cells == [
            (*map(str, few[test, opponent]), f"{100 * every[test, opponent][0] / 48:.1f}")
            for test in range(3)
        ]
    for at, other in enumerate(late, start=1):
        (line,) = re.findall(rf"^{NAMES[at]}  .*", live, re.MULTILINE)
        word = data["differences"][at - 1]["verdict"] if other.settled(0.02) else "…"
        points = signed(100 * other.difference, 1)
        assert re.split(r" {2,}", line) == [NAMES[at], points, span(other), word]


def test_a_note_on_another_budget_stands_above_its_own_column(store: Store) -> None:
    agents = ("id(open, nodes=9)", "id(center, nodes=9)", "id(center, nodes=5)", "random")
    who = tuple(Entrant(agent, name) for agent, name in zip(agents, NAMES, strict=False))
    options = {"protocol": "2017b", "tests": 3}
    plan = Plan("tournament", who, tournament_matches(3, 1), 4, board="4x5", options=options)
    page = report_on(played(store, plan))._repr_html_()
    notes = ("", "", "other budget")
    titles = [f"{name}\n{note}\nWon | Lost" for name, note in zip(NAMES, notes, strict=False)]
    assert html_rows(page, "Opponent\n\n", *titles)


# -- worth -----------------------------------------------------------------------------------


@pytest.fixture
def worth(store: Store, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(
        "knightfall.arena.worth.nodes_within",
        lambda a, b, times, openings: [(time // 20, time // 5) for time in times],
    )
    plan = worth_plan("center", "open", nodes=["10", "30"], times=["1ms"], board="4x5", pairs=30)
    return played(store, plan)


def test_what_a_heuristic_is_worth_stands_under_its_headings(worth: Run) -> None:
    report = report_on(worth)
    data = report.to_dict()
    scores = naive_pairs(worth)
    wanted = []
    for at, one in enumerate(data["budgets"]):
        of = scores[2 * at, 2 * at + 1]
        lost, split, won = (of.count(score) for score in (0, 1, 2))
        found = statistics.of_pairs((lost, 0, split, 0, won))
        assert one["pairs"] == [lost, split, won]
        assert one["rate"] == sum(of) / 60
        assert (one["low"], one["high"]) == (found.low, found.high)
        assert (one["elo"], one["elo_error"]) == (found.elo, found.elo_error)
        efforts = [worth_effort(worth, at, entrant) for entrant in (2 * at, 2 * at + 1)]
        for agent, effort in zip(one["agents"], efforts, strict=True):
            assert {key: agent[key] for key in effort} == pytest.approx(effort)
        keys = ("mean_nodes", "mean_depth", "mean_microseconds")
        both = [" / ".join(mean(agent[key]) for agent in one["agents"]) for key in keys]
        wanted.append(
            {
                "Equal": one["budget"],
                "Won": percent(one["rate"]),
                "95 % interval": interval(one["low"], one["high"]),
                "Elo": plus_minus(one["elo"], one["elo_error"]),
                "nodes a move": both[0],
                "depth": both[1],
                "µs a move": both[2],
            }
        )
    assert printed_rows(str(report), *wanted[0], rows=3) == wanted
    assert [one["budget"] for one in data["budgets"]] == ["nodes=10", "nodes=30", "time=1ms"]
    live = as_text(type(report).live(scoreboard_of(worth)), None)
    assert printed_rows(live, "Budget", "Won", "95 % interval") == [
        {"Budget": row["Equal"], "Won": row["Won"], "95 % interval": row["95 % interval"]}
        for row in wanted
    ]


def worth_effort(run: Run, match: int, entrant: int) -> dict[str, float]:
    """Return the mean cost of an entrant's moves in a match."""
    sums = dict.fromkeys(("depths", "nodes", "microseconds"), 0)
    moves = 0
    for line in run.games(match=match):
        mover = Position.from_fen(line.opening).to_move
        side = "w" if line.first == entrant else "b"
        game = run.pair(line.pair).games[line.game]
        mine = slice(0 if mover == side else 1, None, 2)
        moves += len(game.cells[mine])
        for name in sums:
            sums[name] += int(game.column(name)[mine].sum())
    return {
        "mean_depth": sums["depths"] / moves,
        "mean_nodes": sums["nodes"] / moves,
        "mean_microseconds": sums["microseconds"] / moves,
    }


def test_worth_over_all_budgets_is_told_by_measure(worth: Run) -> None:
    report = report_on(worth)
    data, scores = report.to_dict(), naive_pairs(worth)
    by_opening = [
        (sum(scores[0, 1][at : at + 1]) + sum(scores[2, 3][at : at + 1])) / 4 for at in range(30)
    ]
    assert data["equal_nodes"]["rate"] == pytest.approx(sum(by_opening) / 30)
    assert data["equal_time"]["rate"] == pytest.approx(sum(scores[4, 5]) / 60)
    assert data["equal_nodes"]["openings"] == data["equal_time"]["openings"] == 30
    nodes, time = data["equal_nodes"], data["equal_time"]
    words = " ".join(data["words"])
    shown = [
        f"{percent(one['rate'])} ({interval(one['low'], one['high'])})" for one in (nodes, time)
    ]
    assert f"At equal nodes center wins {shown[0]}:" in words
    assert re.search(rf"at equal time[a-z ,]* it wins {re.escape(shown[1])}:", words)
    assert shown[0] != shown[1]
    assert data["price"] == 4  # A gets a twentieth of the microseconds as nodes, B a fifth
    assert "A node costs center 4.0 times as much time as open" in words
