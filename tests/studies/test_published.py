"""What the studies published: the figures add up but for the known slips, and all can be played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from importlib import resources

import pytest
from misprints import misprints

from knightfall.agents import COURSE, parse_agent
from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.published import STUDIES, published_ids
from knightfall.studies.published.contradictions import contradictions
from knightfall.studies.published.published import FILE, Study, agent_of, studies

ALL = list(studies().values())
CLAIMS = [claim for study in ALL for claim in study.claims]


def named(study: Study) -> str:
    return study.id


# -- who played ------------------------------------------------------------------------------


def test_there_are_the_five_studies_in_the_order_of_the_registry() -> None:
    assert [study.id for study in ALL] == [name for name in STUDIES if name != "course"]
    assert resources.files("knightfall.studies.published").joinpath(FILE).is_file()


@pytest.mark.parametrize("study", ALL, ids=named)
def test_every_heuristic_exists_or_is_not_reproducible(study: Study) -> None:
    known = published_ids()
    for id in study.heuristics:
        assert str(parse_heuristic(id)) == id
        assert known[id] in (study.id, "course")
    told = set(study.entrants.values())
    assert told == set(study.heuristics) | set(study.not_reproducible)
    for table in (study.totals, study.tournaments, study.averages):
        assert not table or set(table) == told
    # The staged study's results file has nine of its twelve heuristics.
    assert set(study.wins) == told or (study.id == "staged" and set(study.wins) < told)


def test_every_heuristic_can_be_played_again() -> None:
    assert not any(study.not_reproducible for study in ALL)
    assert studies()["staged"].entrants["mainalt_prop"] == "main_prop"


def test_tournaments_that_are_told_otherwise_do_not_count_twice() -> None:
    lookahead, aggressive = studies()["lookahead"], studies()["aggressive"]
    # Of seven one is shown whole, and one is the same again.
    assert len(lookahead.other_tournaments("improved")) == 5
    # Of nine one is shown whole, and the second is the seventh, where lookahead_ratio is legible.
    assert len(aggressive.other_tournaments("improved")) == 7
    legible = aggressive.other_tournaments("lookahead_ratio")
    assert legible == pytest.approx([0.557, 0.686, 0.5, 0.571])
    assert studies()["staged"].other_tournaments("improved") == []
    assert (lookahead.games("improved"), aggressive.games("lookahead_ratio")) == (490, 350)


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


# -- the figures -----------------------------------------------------------------------------


def test_recomputing_finds_the_known_misprints_and_nothing_else() -> None:
    found = [(slip.study, slip.where) for study in ALL for slip in misprints(study)]
    assert found == [
        ("lookahead", "tournaments 1 and 3"),
        ("reachability", "far_opponent, total"),
        ("staged", "main_alt, total"),
        ("staged", "main, total"),
    ]
    (wrong,) = misprints(studies()["reachability"])
    assert wrong.text == "64.86 % is printed, 64.14 % follows from the table"


@pytest.mark.parametrize("study", ALL, ids=named)
def test_totals_are_those_of_the_tables(study: Study) -> None:
    """The same once more, in floating point."""
    for id, wins in study.wins.items():
        total = 100 * sum(wins) / (7 * study.games_per_opponent)
        if id in study.totals and id not in ("far_opponent", "main", "main_alt"):
            assert abs(total - float(study.totals[id])) < 0.051
        if study.shown_whole:
            shown = study.tournaments[id][study.shown_whole - 1]
            assert shown is not None
            assert abs(total - float(shown)) < 0.051


def test_figures_are_what_the_studies_go_by() -> None:
    assert str(studies()["lookahead"].figure("lookahead_mobility")) == "74.5"
    assert str(studies()["reachability"].figure("static_reach(1/2)")) == "70.00"
    assert str(studies()["staged"].figure("main")) == "78.57"
    assert str(studies()["aggressive"].figure("lookahead_ratio")) == "56.6"  # of five
    with pytest.raises(KnightfallError, match="no result of 'open'"):
        studies()["staged"].figure("open")


def worse_wins(study: Study) -> Study:
    return replace(study, wins={**study.wins, "improved": (9, 5, 9, 9, 6, 5, 3)})


def too_many_wins(study: Study) -> Study:
    return replace(study, wins={**study.wins, "improved": (11, 3, 9, 9, 6, 5, 4)})


def another_average(study: Study) -> Study:
    return replace(study, averages={**study.averages, "center_pull": Decimal("68.5")})


def impossible_rate(study: Study) -> Study:
    row = (Decimal("71.5"), *study.tournaments["center_pull"][1:])
    return replace(study, tournaments={**study.tournaments, "center_pull": row})


def repeated_later(study: Study) -> Study:
    rows = {id: (*row[:6], row[1]) for id, row in study.tournaments.items()}
    return replace(study, tournaments=rows, averages={})


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (worse_wins, {"improved, tournament 1"}),
        (too_many_wins, {"improved, wins"}),
        (another_average, {"center_pull, average"}),
        (impossible_rate, {"center_pull, tournament 1"}),
        (repeated_later, {"tournaments 2 and 7"}),
    ],
)
def test_a_wrong_figure_is_found(spoil: Callable[[Study], Study], where: set[str]) -> None:
    study = studies()["lookahead"]
    known = {slip.where for slip in misprints(study)}
    # A tournament that no longer equals another is no misprint any more.
    assert {slip.where for slip in misprints(spoil(study))} - known == where


def test_tournaments_that_may_differ_in_what_is_not_shown_are_not_the_same() -> None:
    study = studies()["aggressive"]
    ratio = study.tournaments["lookahead_ratio"]
    hidden = {**study.tournaments, "lookahead_ratio": (*ratio[:6], None, *ratio[7:])}
    second, seventh = ([row[n] for row in hidden.values()] for n in (1, 6))
    assert second == seventh
    assert not misprints(replace(study, tournaments=hidden))


# -- the claims and the errata ---------------------------------------------------------------


def test_claims_are_about_heuristics_that_can_be_played() -> None:
    assert len(CLAIMS) == 23
    for claim in CLAIMS:
        study = studies()[claim.study]
        assert set(claim.who) | set(claim.than) <= set(study.heuristics)
        assert not set(claim.who) & set(claim.than)
        assert set(claim.published) == set(claim.who) | set(claim.than)
        assert bool(claim.pairs) == (claim.form != "second_player_wins")
        assert (claim.between is not None) == (claim.form in ("better_by", "alike"))
        assert (claim.tournaments is not None) == (claim.form == "won_tournaments")


def test_the_best_is_compared_with_all_others() -> None:
    (best,) = [claim for claim in CLAIMS if claim.sentence.endswith("best of all")]
    assert len(best.pairs) == 18
    (main,) = [claim for claim in CLAIMS if claim.sentence == "main is the best"]
    assert [b for _, b in main.pairs] == [
        id for id in studies()["staged"].heuristics if id != "main"
    ]


def test_three_claims_do_not_follow_from_their_own_figures() -> None:
    found = {study.id: one.text for study in ALL for one in contradictions(study)}
    assert {id: text.removeprefix("The study's own figures: ") for id, text in found.items()} == {
        "directional": "weighted_difference 84.3 %, improved 72.9 %; "
        "weighted_difference 84.3 %, weighted_moves 71.4 %.",
        "reachability": "near_opponent+bfs_reach 75.86 %, static_reach(1/10) 76.29 %.",
        "aggressive": "lookahead_ratio is ahead of improved in 2 of 5 readable tournaments.",
    }


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
        "tournaments 2 and 7",
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
