"""Tests of the published data: figures add up except for known slips, and all can be played."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
import typer
from misprints import misprints
from typer.core import TyperGroup

from benchmarks import run
from knightfall.agents import COURSE, parse_agent
from knightfall.cli.app import app
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.registry import STUDIES, published_ids
from knightfall.studies.comparisons import contradictions
from knightfall.studies.printed_tables import PrintedTable, read_cell, same_tournament
from knightfall.studies.published import (
    CHANCE,
    Claim,
    Study,
    agent_of,
    read_studies,
    studies,
)
from knightfall.studies.study_files import FIRST, study_files

ALL = list(studies().values())
FIVE = list(read_studies(study_files()[FIRST]).values())
"""The studies whose documents were read for these tests; other files may add more."""
CLAIMS = [claim for study in ALL for claim in study.claims]


def named(study: Study) -> str:
    return study.id


# -- who played ------------------------------------------------------------------------------


def test_the_core_has_the_heuristics_of_the_first_five_studies() -> None:
    assert [study.id for study in FIVE] == [name for name in STUDIES if name != "course"]
    assert ALL[:5] == FIVE


@pytest.mark.parametrize("study", FIVE, ids=named)
def test_every_heuristic_exists_or_is_not_reproducible(study: Study) -> None:
    known = published_ids()
    for id in study.heuristics:
        assert str(parse_heuristic(id)) == id
        assert known[id] in (study.id, "course")
    told = set(study.entrants.values())
    assert told == set(study.heuristics) | set(study.not_reproducible)
    for table in (study.tournaments, study.averages):
        assert not table or set(table) == told
    # The staged study's results file has nine of its twelve heuristics.
    assert set(study.wins) == told or (study.id == "staged" and set(study.wins) < told)


def test_every_heuristic_can_be_played_again() -> None:
    assert not any(study.not_reproducible for study in ALL)
    assert studies()["staged"].entrants["heuristic_mainalt_prop"] == "main_prop"


@pytest.mark.parametrize("study", ALL, ids=named)
def test_every_agent_is_one_of_our_arena(study: Study) -> None:
    for heuristic in study.heuristics:
        text = agent_of(heuristic)
        agent = parse_agent(text)
        assert str(agent) == text
        assert (agent.heuristic, agent.budget.nodes, agent.plain) == (heuristic, 2500, True)
    for text in study.opponents:
        parse_agent(text)
    assert len(study.opponents) == 7
    assert agent_of("improved", 8) == "id(improved, nodes=8, plain)"


@pytest.mark.parametrize("id", ["lookahead", "directional", "aggressive"])
def test_names_mean_the_agents_of_that_name(id: str) -> None:
    study = studies()[id]
    known = {**COURSE["2017b"], **COURSE[id]}
    assert list(study.entrants) == ["AB_Improved", "AB_Custom", "AB_Custom_2", "AB_Custom_3"]
    for name, heuristic in study.entrants.items():
        assert known[name] == parse_agent(agent_of(heuristic))


# -- the tables ------------------------------------------------------------------------------


def test_every_table_of_every_document_is_there() -> None:
    """Compare the numbers of tables, tournaments and cells with a count by hand."""
    counted = {study.id: (len(study.tables), len(study.played), cells_of(study)) for study in FIVE}
    assert counted == {
        "lookahead": (8, 6, 28),
        "directional": (1, 1, 28),
        "reachability": (9, 9, 133),
        "staged": (1, 1, 63),
        "aggressive": (12, 9, 189),
    }


def cells_of(study: Study) -> int:
    """Return the number of known table cells in a study, counting each tournament once."""
    return sum(
        won is not None
        for tournament in study.played
        for heuristic in study.heuristics
        for won in tournament.wins(heuristic)
    )


def test_the_aggressive_study_shows_eight_tournaments_whole_and_three_of_them_twice() -> None:
    """Compare the repetitions found with a text comparison of whole columns."""
    study = studies()["aggressive"]
    columns = [
        {id: " ".join(map(str, row)) for id, row in one.cells.items()} for one in study.tables
    ]
    same = {
        (a, b)
        for a, b in combinations(range(12), 2)
        if (both := columns[a].keys() & columns[b].keys())
        and all(alike(columns[a][id], columns[b][id]) for id in both)
    }
    assert {(a + 1, b + 1) for a, b in same} == {(2, 7), (5, 9), (6, 10)}
    names = [tuple(table.name for table in one.tables) for one in study.played]
    assert {name for name in names if len(name) > 1} == {
        (f"screenshot {a}", f"screenshot {b}") for a, b in ((2, 7), (5, 9), (6, 10))
    }
    improved = [one.rate("improved") for one in study.played]
    assert (len(improved), improved.count(None)) == (9, 1)


def alike(one: str, other: str) -> bool:
    """Return whether two columns agree in every number that is legible in both."""
    for a, b in zip(one.split(), other.split(), strict=True):
        pairs = zip(a.split("|"), b.split("|"), strict=True)
        if any("?" not in pair and pair[0] != pair[1] for pair in pairs):
            return False
    return True


def test_the_garbled_screenshot_is_of_no_other_tournament() -> None:
    """Check that the numbers of the garbled screenshot fit no other screenshot, so that it shows a
    ninth tournament.
    """
    study = studies()["aggressive"]
    (garbled,) = (one for one in study.tables if one.unplaced)
    assert garbled.name == "screenshot 8"
    for other in study.tables:
        if other is garbled:
            continue
        for id in ("improved", "aggressive"):
            lost = [10 - won for won in other.wins(id, 10) if won is not None]
            assert not in_order(garbled.unplaced[id].lost, lost), (other.name, id)
    losses = [cell.lost for cell in garbled.cells["open_cluster"]]
    assert losses == [3, 3, 2, 5, 7, 3, 4]
    (ninth,) = (one for one in study.played if garbled in one.tables)
    assert (ninth.wins("improved"), ninth.rate("improved")) == ((), None)
    # This rate is computed from the cells; that of lookahead_ratio is printed as well.
    assert ninth.printed_rate("open_cluster") is None
    assert [str(ninth.total(id)) for id in ("lookahead_ratio", "open_cluster")] == ["45.7", "61.4"]


def in_order(few: Sequence[int], many: Sequence[int]) -> bool:
    """Return whether `few` is a subsequence of `many`."""
    rest = iter(many)
    return all(one in rest for one in few)


def test_sums_stand_for_rates_that_are_garbled() -> None:
    first = studies()["aggressive"].played[0]
    assert not first.tables[0].rates
    assert [str(first.total(id)) for id in ("improved", "aggressive")] == ["64.3", "60.0"]
    missing = {
        (study.id, table.name, heuristic)
        for study in ALL
        for table in study.tables
        for heuristic in {*table.cells} - {*table.rates}
    }
    assert missing == {
        ("aggressive", "screenshot 1", "improved"),
        ("aggressive", "screenshot 1", "aggressive"),
        ("aggressive", "screenshot 8", "open_cluster"),
    }


@pytest.mark.parametrize("study", ALL, ids=named)
def test_every_table_says_where_it_is_and_what_cannot_be_read(study: Study) -> None:
    assert len({table.name for table in study.tables}) == len(study.tables)
    for table in study.tables:
        assert table.place
        cells = [cell for row in table.cells.values() for cell in row]
        assert all(cell.has_losses == ("|" in str(cell)) for cell in cells)
        unclear = any("?" in str(cell) for cell in cells)
        unclear |= bool(table.unplaced) or any(id not in table.rates for id in table.heuristics)
        assert bool(table.illegible) == unclear


def test_cells_are_read_as_they_are_written() -> None:
    for text, won, lost, wins in (
        ("8|2", 8, 2, 8),
        ("8|?", 8, None, 8),
        ("?|2", None, 2, 8),
        ("?|?", None, None, None),
        (8, 8, None, 8),
    ):
        cell = read_cell(text)
        assert (cell.won, cell.lost, cell.wins(10)) == (won, lost, wins)
        assert str(cell) == str(text)
    for wrong in ("8", "8|", "8/2", "", "8|2|"):
        with pytest.raises(KnightfallError, match="invalid cell"):
            read_cell(wrong)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"9|1", "5|5", "9|1", "9|1",', '"9|1", "5|5", "9-1", "9|1",', "invalid cell"),
        ('["9|1", "5|5", "9|1", "9|1",', '["9|1", "5|5", "9|1",', "6 cells, expected 7"),
        ("average_of = [2, 3", "average_of = [99, 3", "has table 99"),
        ("rates = { improved = 67.1,", "rates = { imroved = 67.1,", "'imroved' is not one of"),
        ("module = ", "modul = ", '"module" is missing in'),
    ],
)
def test_a_damaged_table_is_refused(old: str, new: str, told: str) -> None:
    text = study_files()[FIRST]
    assert old in text
    with pytest.raises(KnightfallError, match=told):
        read_studies(text.replace(old, new, 1))


def test_what_the_texts_state_is_what_the_tables_have() -> None:
    """Compare the numbers of matches, games and tournaments in the texts with the tables; a match
    has two games in the later course and four in the earlier one.
    """
    for study in ALL:
        stated = study.stated
        per_match = 4 if study.protocol == "2017a" else 2
        if "matches" in stated:
            assert stated["matches"] * per_match == study.games_per_opponent
        assert stated.get("games", study.games_per_opponent) == study.games_per_opponent
    assert studies()["lookahead"].stated["tournaments"] == len(studies()["lookahead"].average_of)
    assert studies()["aggressive"].stated["tournaments"] == 1 + len(studies()["aggressive"].played)
    (table,) = studies()["staged"].tables
    assert table.without_result == ("heuristic5", "heuristic6")
    assert not {*table.without_result} & {*studies()["staged"].entrants}


# -- the figures -----------------------------------------------------------------------------


def test_recomputing_finds_the_known_misprints_and_nothing_else() -> None:
    found = [(slip.study, slip.where) for study in ALL for slip in misprints(study)]
    assert found == [
        ("lookahead", "row 1 of Table 1 and row 3 of Table 1"),
        ("reachability", "far_opponent, total"),
        ("staged", "main_alt, total"),
        ("staged", "main, total"),
        ("aggressive", "screenshot 2 and screenshot 7"),
        ("aggressive", "screenshot 5 and screenshot 9"),
        ("aggressive", "screenshot 6 and screenshot 10"),
    ]
    (wrong,) = misprints(studies()["reachability"])
    assert wrong.text == "64.86 % is printed, 64.14 % follows from the table"


@pytest.mark.parametrize("study", ALL, ids=named)
def test_rates_are_those_of_the_cells(study: Study) -> None:
    """Compare each printed rate with that of the known cells of all tables of its tournament."""
    for tournament in study.played:
        for id in study.heuristics:
            printed, made = tournament.printed_rate(id), tournament.rate_of_cells(id)
            if printed is None or made is None or id in ("far_opponent", "main", "main_alt"):
                continue
            assert abs(100 * made - float(printed)) < 0.051, (id, tournament.tables[0].name)


def test_figures_are_what_the_studies_go_by() -> None:
    assert str(studies()["lookahead"].figure("lookahead_mobility")) == "74.5"
    assert str(studies()["reachability"].figure("static_reach(1/2)")) == "70.00"
    assert str(studies()["staged"].figure("main")) == "78.57"
    with pytest.raises(KnightfallError, match="no result of 'open'"):
        studies()["staged"].figure("open")


def test_games_that_were_printed_twice_count_once() -> None:
    """Compare with a sum by hand of the aggressive study's screenshots."""
    study = studies()["aggressive"]
    won = {
        "improved": [45, 44, 51, 46, 45, 46, 45, 39],
        "aggressive": [42, 44, 53, 42, 44, 49, 39, 43],
        "lookahead_ratio": [48, 36, 39, 32, 35, 40],
        "open_cluster": [53, 51, 43, 41, 48],
    }
    figures = {}
    for id, totals in won.items():
        games = 70 * len(totals)
        assert study.games(id) == games == 7 * study.games_against(id)
        assert sum(study.wins[id]) == sum(totals)
        assert study.overall_rate(id) == (pytest.approx(sum(totals) / games), games)
        figures[id] = (str(study.figure(id)), games)
    assert figures == {
        "improved": ("64.5", 560),
        "aggressive": ("63.6", 560),
        "lookahead_ratio": ("54.8", 420),
        "open_cluster": ("67.4", 350),
    }
    assert not any(study.other_tournaments(id) for id in study.heuristics)


def test_totals_without_cells_count_once_too() -> None:
    lookahead, staged = studies()["lookahead"], studies()["staged"]
    # One of seven is printed in full, and one repeats it.
    assert lookahead.other_tournaments("improved") == pytest.approx(
        [0.614, 0.714, 0.671, 0.657, 0.614]
    )
    assert lookahead.games("improved") == 490  # the printed average is of all seven
    assert lookahead.overall_rate("improved")[1] == 420
    bare = {id: staged.other_tournaments(id) for id in staged.heuristics}
    assert {id: rates for id, rates in bare.items() if rates} == {
        "main_less": [pytest.approx(0.7286)],
        "main_less_more": [pytest.approx(0.7357)],
        "main_prop": [pytest.approx(0.6786)],
    }


def other_row(study: Study, id: str, text: str) -> Study:
    first = study.tables[0]
    cells = {**first.cells, id: tuple(map(read_cell, text.split()))}
    return replace(study, tables=(replace(first, cells=cells), *study.tables[1:]))


def other_rates(study: Study, number: int, rates: Mapping[str, Decimal]) -> Study:
    tables = list(study.tables)
    tables[number - 1] = replace(tables[number - 1], rates=rates)
    return replace(study, tables=tuple(tables))


def worse_wins(study: Study) -> Study:
    return other_row(study, "improved", "9|1 5|5 9|1 9|1 6|4 5|5 3|7")


def too_many_wins(study: Study) -> Study:
    return other_row(study, "improved", "11|? 3|7 9|1 9|1 6|4 5|5 4|6")


def games_missing(study: Study) -> Study:
    return other_row(study, "improved", "9|1 5|4 9|1 9|1 6|4 5|5 4|6")


def another_average(study: Study) -> Study:
    return replace(study, averages={**study.averages, "center_pull": Decimal("68.5")})


def impossible_rate(study: Study) -> Study:
    return other_rates(study, 2, {**study.tables[1].rates, "center_pull": Decimal("71.5")})


def repeated_later(study: Study) -> Study:
    return replace(other_rates(study, 8, study.tables[2].rates), averages={})


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (worse_wins, {"improved, total"}),
        (too_many_wins, {"tournament shown whole, improved"}),
        (games_missing, {"tournament shown whole, improved"}),
        (another_average, {"center_pull, average"}),
        (impossible_rate, {"row 1 of Table 1, center_pull"}),
        (repeated_later, {"row 2 of Table 1 and row 7 of Table 1"}),
    ],
)
def test_a_wrong_figure_is_found(spoil: Callable[[Study], Study], where: set[str]) -> None:
    study = studies()["lookahead"]
    known = {slip.where for slip in misprints(study)}
    # A changed tournament no longer counts as a repetition.
    assert {slip.where for slip in misprints(spoil(study))} - known == where


def test_one_cell_that_differs_makes_another_tournament() -> None:
    study = studies()["aggressive"]
    first, again = study.tables[1], study.tables[6]
    assert same_tournament(first, again, 10)
    row = (read_cell("8|2"), *again.cells["aggressive"][1:])
    other = replace(again, cells={**again.cells, "aggressive": row})
    assert not same_tournament(first, other, 10)
    assert len(replace(study, tables=(first, other)).played) == 2
    # An illegible cell is filled in from the other table, whatever their order.
    hidden = replace(again, cells={**again.cells, "improved": (read_cell("?|?"),) * 7})
    for tables in ((first, hidden), (hidden, first)):
        (one,) = replace(study, tables=tables).played
        assert one.wins("improved") == (9, 7, 10, 5, 4, 6, 3)
        assert sum(filter(None, one.wins("lookahead_ratio"))) == 48


def test_a_few_equal_numbers_do_not_make_one_tournament() -> None:
    """Check that a few equal totals do not make two tables one tournament. Totals of 70 games may
    be equal by chance: screenshots 2 and 7 agree in two, and 5 and 11 in that of `improved`.
    """
    rates = {"improved": Decimal("64.3"), "aggressive": Decimal("62.9")}
    one, other = (PrintedTable(name, "", {}, rates) for name in ("one", "other"))
    assert not same_tournament(one, other, 10)


# -- the worked examples ---------------------------------------------------------------------


def grid_sum(rows: Sequence[str]) -> Fraction:
    return sum(
        (Fraction(one) for row in rows for one in row.split() if one not in "-X"), Fraction(0)
    )


def test_the_worked_examples_by_their_own_squares() -> None:
    """Check that three of the four printed sums are those of the printed squares, and the last is
    1.25 too small.
    """
    geometric, by_steps = studies()["reachability"].examples
    assert [str(n) for n in geometric.numbers.values()] == ["5.25", "4.1875", "1.0625"]
    assert [str(n) for n in by_steps.numbers.values()] == ["6.65", "5.033", "1.62"]
    assert grid_sum(geometric.grids["Player 1, values"]) == Fraction("5.25")
    assert grid_sum(geometric.grids["Player 2, values"]) == Fraction("4.1875")
    assert grid_sum(by_steps.grids["Player 1, values"]) == Fraction("6.65")
    assert grid_sum(by_steps.grids["Player 2, values"]) == Fraction(377, 60)
    for example in (geometric, by_steps):
        one, two, difference = example.numbers.values()
        assert abs(one - two - difference) < Decimal("0.005")
        free = "".join(example.grids["board"]).replace(" ", "")
        assert len(free) == 25
        for player in "12":
            values = " ".join(example.grids[f"Player {player}, values"]).split()
            # A square has a value if it is free or the player's own.
            filled = [value not in "-X" for value in values]
            assert filled == [cell in f"-{player}" for cell in free]


def steps(board: str, start: int, *, over_blocked: bool) -> list[int | None]:
    """Return a knight's distances on a 5x5 board by a simple search."""
    found: dict[int, int] = {start: 0}
    for length in range(25):
        for cell in [one for one, steps in found.items() if steps == length]:
            for to in range(25):
                way = {abs(cell // 5 - to // 5), abs(cell % 5 - to % 5)}
                if way == {1, 2} and (over_blocked or board[to] == "-"):
                    found.setdefault(to, length + 1)
    return [found.get(cell) for cell in range(25)]


def test_where_the_worked_examples_go_wrong() -> None:
    """Compare the printed numbers of wrong squares with those that follow from the distances and
    the board.
    """
    geometric, by_steps = studies()["reachability"].examples
    wrong = []
    for example, over_blocked in ((geometric, True), (by_steps, False)):
        board = "".join(example.grids["board"]).replace(" ", "")
        for player in "12":
            true = steps(board, board.index(player), over_blocked=over_blocked)
            values = " ".join(example.grids[f"Player {player}, values"]).split()
            rows = example.grids.get(f"Player {player}, distances")
            printed = " ".join(rows).split() if rows else [None] * 25
            for at, (length, shown, value) in enumerate(zip(true, printed, values, strict=True)):
                if shown not in (None, "X") and int(shown) != length:
                    wrong.append((example.name, player, divmod(at, 5), shown, str(length)))
                if value not in "-X":
                    known = length if shown is None else int(shown)
                    exact = Fraction(1, 2**known) if over_blocked else Fraction(1, known + 1)
                    if Fraction(value) != exact:
                        wrong.append((example.name, player, divmod(at, 5), value, str(exact)))
    assert wrong == [
        ("static_reach(1/2)", "2", (3, 0), "4", "2"),
        ("static_reach(1/2)", "2", (3, 2), "0.125", "1/4"),
        ("static_reach(1/2)", "2", (3, 4), "4", "2"),
        ("bfs_reach", "2", (1, 3), "1/3", "1/4"),
    ]


def test_the_weights_of_the_squares() -> None:
    """Compare the printed weights, which have one digit, with the formula of the text."""
    (example,) = studies()["directional"].examples
    rows = [row.split() for row in example.grids["weights"]]
    assert (len(rows), {len(row) for row in rows}) == (7, {7})
    for y, row in enumerate(rows):
        for x, shown in enumerate(row):
            weight = (1 - abs(x - 3) / 6) * (1 - abs(y - 3) / 6)
            assert shown == "?" if y == 2 else abs(float(shown) - weight) <= 0.0501


# -- the claims and the errata ---------------------------------------------------------------


PLACES = {
    "lookahead": """
        Custom_heuristic 2, second sentence
        Custom_heuristic 2, last two sentences
        Results, sentence under the first table
        Results, first bullet, first half
        Results, first bullet, second half
        Results, second bullet, second sentence
        Results, second bullet, last sentence
        Results, third bullet
    """,
    "directional": """
        2. Heuristic functions, first paragraph
        2. Heuristic functions, second paragraph, first sentence
        Heuristic One, second sentence, first half
        Heuristic One, second sentence, second half
        Heuristic Three, second sentence
        Heuristic Three, last sentence
        3. Results and evaluation, second paragraph
        3. Results and evaluation, third paragraph
        3. Results and evaluation, fourth paragraph, first sentence
        3. Results and evaluation, fourth paragraph, second sentence
    """,
    "reachability": """
        Positional Heuristics, first paragraph, second sentence
        Positional Heuristics, paragraph under the first table, first sentence
        Positional Heuristics, paragraph under the first table, second sentence
        Positional Heuristics, paragraph under the first table, third and fourth sentences
        Positional Heuristics, paragraph under the second table, second sentence
        Positional Heuristics, paragraph under the second table, third sentence
        Positional Heuristics, paragraph under the second table, last sentence
        Generalized Versions, paragraph under the table of r, first sentence
        Generalized Versions, paragraph under the table of r, second sentence
        Generalized Versions, last paragraph, first half of the first sentence
        Generalized Versions, last paragraph, second half of the first sentence
        Combinations of the Two, last paragraph, first sentence
        Combinations of the Two, last paragraph, first half of the second sentence
        Combinations of the Two, last paragraph, second half of the second sentence
        Conclusions, item 1
        Conclusions, item 2, first sentence
        Conclusions, item 2, third sentence
        Conclusions, item 2, last two sentences
    """,
    "staged": """
        heuristic6, second paragraph, second sentence, first half
        heuristic6, second paragraph, second sentence, second half
        heuristic6, second paragraph, second sentence, second half, for the middle game
        heuristic6, second paragraph, last sentence
        heuristic4, second sentence
        heuristic4, third sentence
        heuristic4, last sentence
        heuristic3, its one sentence
        heuristic2, second sentence, first half
        heuristic2, second sentence, second half
        heuristic2, last sentence
        heuristic2, last sentence, in brackets
        heuristic1, first sentence
        heuristic_main, last sentence
        heuristic_main_staggered, second sentence
        heuristic_main_staggered, last sentence, first half
        heuristic_main_staggered, last sentence, second half
        heuristic_mainalt, second sentence
        heuristic_mainalt_staggered, its one sentence
        Recommendations, first sentence, first half
        Recommendations, first sentence, second half
        Recommendations, second sentence
        Recommendations, second sentence, in brackets
        Recommendations, third sentence
        Recommendations, fourth sentence
    """,
    "aggressive": """
        AB_Custom, Results & Analysis, first sentence, first half
        AB_Custom, Results & Analysis, first sentence, second half
        AB_Custom, Results & Analysis, third sentence
        AB_Custom, Results & Analysis, end of the first paragraph
        AB_Custom, Results & Analysis, second paragraph; Conclusion, first sentence
        AB_Custom_2, Results & Analysis, first sentence
        AB_Custom_2, Results & Analysis, second sentence
        AB_Custom_2, Results & Analysis, second paragraph
        AB_Custom_3, Description, paragraph on moves with the same estimate
        AB_Custom_3, Results, first sentence
        Conclusion, first paragraph, third sentence
        Conclusion, second paragraph
    """,
}
"""Every place of the five documents that makes a claim, read from the documents.

`test_claims` checks that each claim gets a verdict.
"""


@pytest.mark.parametrize("study", FIVE, ids=named)
def test_every_place_that_claims_something_has_its_claim(study: Study) -> None:
    places = [line.strip() for line in PLACES[study.id].strip().splitlines()]
    told = [claim.where for claim in study.claims]
    assert sorted(told) == sorted(places)
    assert len(set(told)) == len(told)


def test_claims_are_about_heuristics_that_can_be_played() -> None:
    known = {*published_ids(), CHANCE}
    for claim in CLAIMS:
        study, named = studies()[claim.study], set(claim.who) | set(claim.than)
        played = claim.measure in ("games", "power", "ply", "board")
        assert named <= (set(study.heuristics) if played else known)
        assert (CHANCE in named) <= (claim.measure == "choices")
        assert not set(claim.who) & set(claim.than)
        assert set(claim.published) == named & set(study.heuristics)
        assert bool(claim.pairs) == (claim.form not in ("fact", "untestable"))
        assert (claim.between is not None) == (claim.form in ("better_by", "alike"))
        assert (claim.tournaments is not None) == (claim.form == "won_tournaments")
        assert (claim.fact is not None) == (claim.form == "fact" or claim.measure == "board")
        assert bool(claim.reason) == (claim.form == "untestable")
        assert claim.phase is None or claim.measure == "choices"
        assert claim.against is None or claim.measure == "games"


def by_sentence(text: str) -> Claim:
    (found,) = [claim for claim in CLAIMS if text in claim.sentence]
    return found


def test_claims_are_what_the_authors_wrote() -> None:
    """Check five claims that earlier versions of the data misquoted."""
    sums = by_sentence("the best of the four sums")
    assert all(id.endswith("+bfs_reach") for id in (*sums.who, *sums.than))
    assert len(sums.pairs) == 3
    mild = by_sentence("mild signs")
    assert (len(mild.who), mild.than, mild.between) == (3, ("improved",), (0, 5))
    assert by_sentence("open_space_next does worse").pairs == (("open_space", "open_space_next"),)
    assert by_sentence("about five points").between == (2.5, 7.5)
    assert by_sentence("about 10 to 15").between == (5, 22.5)
    lookahead = [pair for claim in studies()["lookahead"].claims for pair in claim.pairs]
    assert not {("corner_averse", "improved"), ("center_pull", "improved")} & set(lookahead)
    alphabeta = by_sentence("against the alpha-beta opponents")
    assert alphabeta.against == (4, 5, 6)


def test_the_best_is_compared_with_all_others() -> None:
    main = by_sentence("main is the best")
    assert [b for _, b in main.pairs] == [
        id for id in studies()["staged"].heuristics if id != "main"
    ]


def test_five_claims_do_not_follow_from_their_own_figures() -> None:
    found = [(study.id, one.text) for study in ALL for one in contradictions(study)]
    assert [(id, text.removeprefix("The study's own figures: ")) for id, text in found] == [
        (
            "directional",
            "weighted_difference 84.3 %, improved 72.9 %; weighted_moves 71.4 %, improved 72.9 %.",
        ),
        (
            "directional",
            "weighted_difference 84.3 %, improved 72.9 %; "
            "weighted_difference 84.3 %, weighted_moves 71.4 %.",
        ),
        ("staged", "main_less 72.86 %, main_less_more 73.57 %."),
        ("staged", "main_alt 73.57 %, main 78.57 %."),
        ("aggressive", "lookahead_ratio is ahead of improved in 2 of 5 readable tournaments."),
    ]


@pytest.mark.parametrize("study", ALL, ids=named)
def test_what_a_program_can_find_is_among_the_errata(study: Study) -> None:
    def found_by(how: str) -> list[str]:
        return [erratum.where for erratum in study.errata if erratum.found_by == how]

    assert found_by("arithmetic") == [slip.where for slip in misprints(study)]
    assert len(found_by("claims")) == len(contradictions(study))
    assert all(erratum.text.endswith(".") for erratum in study.errata)


def test_what_only_a_reader_can_find_is_there_too() -> None:
    read = {e.where for study in ALL for e in study.errata if e.found_by == "reading"}
    assert read == {
        "open_cluster, code",
        "open_cluster, code repaired",
        "lookahead_ratio, code",
        "ten tournaments",
        "screenshot 1, win rates",
        "screenshot 8",
        "centre",
        "phase",
        "heuristic2, heuristic3 and heuristic4, indentation",
        "heuristic5, code",
        "heuristic5, words",
        "heuristic6, code",
        "corner_averse, code",
        "directional weights, code",
        "cost of weighted_difference",
        "opponents AB_Open, AB_Center and AB_Improved",
        "open_cluster, code on other boards",
        "open_cluster, 20 % of the board",
        "table of sums",
        "mainalt_prop",
        "worked example, static_reach(1/2)",
        "worked example, bfs_reach",
    }


# -- wishes ------------------------------------------------------------------------------------

WISHES = {
    "lookahead": "",
    "directional": "",
    "reachability": """
        Conclusions, second sentence
        Conclusions, second sentence, of combinations
        Conclusions, third and fourth sentences
        Conclusions, fifth sentence
    """,
    "staged": """
        heuristic6, first paragraph, last sentence
        Possible improvements, first item
        Possible improvements, second item
    """,
    "aggressive": """
        AB_Custom_3, Less occupied cluster search; Conclusion, first paragraph, last sentence
    """,
}
"""Every place of the five documents that makes a wish, read from the documents."""


@pytest.mark.parametrize("study", FIVE, ids=named)
def test_every_wish_of_every_document_is_there(study: Study) -> None:
    places = [line.strip() for line in WISHES[study.id].strip().splitlines()]
    assert [wish.where for wish in study.wishes] == places
    for wish in study.wishes:
        assert wish.commands
        assert wish.comparisons or wish.finding
        for one in wish.comparisons:
            assert parse_heuristic(one.who)
            assert one.who not in one.than
            for budget in wish.budgets:
                known = {*study.heuristics, *study.wished(budget)}
                assert {one.who, *one.than} <= known


def test_commands_of_wishes_are_understood() -> None:
    """Check that the command line parses every command of a wish, without running it."""
    group: Any = typer.main.get_command(app)
    lines = {
        line
        for study in ALL
        for wish in study.wishes
        for line in (*wish.commands, *(one.found_by for one in wish.comparisons if one.found_by))
    }
    assert len(lines) > 10
    for line in sorted(lines):
        program, *words = shlex.split(line)
        if program == "python":
            *module, name = words
            assert module == ["-m", "benchmarks", "--only"]
            assert name in run.BY_NAME
            continue
        assert program == "knightfall"
        command = group
        while isinstance(command, TyperGroup):
            command = command.get_command(command.make_context(line, [*words]), words.pop(0))
        context = command.make_context(line, words)
        for text in ("expression", "heuristic"):
            given = context.params.get(text) or ()
            for one in [given] if isinstance(given, str) else given:
                parse_heuristic(one)
        for name in ("a", "b", "agent"):
            if name in context.params:
                parse_agent(context.params[name])
        for heuristic in context.params.get("test") or ():
            parse_heuristic(heuristic)


def test_tuned_weights_are_those_of_their_command() -> None:
    """Check that a tuned sum has the terms that its command tunes."""
    tuned = [one for study in ALL for wish in study.wishes for one in wish.comparisons]
    for one in tuned:
        weighted = re.search(r"\d\*", one.who) is not None
        assert bool(one.found_by) == weighted
        if one.found_by:
            given = parse_heuristic(shlex.split(one.found_by)[3])
            assert [*map(str, parse_heuristic(one.who).atoms())] == [*map(str, given.atoms())]


def test_a_wish_that_nothing_measures_is_refused() -> None:
    text = study_files()[FIRST]
    spoilt = text.replace('finding = "reflections"\n', "")
    assert spoilt != text
    with pytest.raises(KnightfallError, match="staged: the author's wish 'reflections"):
        read_studies(spoilt)
