"""Tests that every name printed by an author resolves to its heuristic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cli_runner import answer, refused, run
from hypothesis import given
from hypothesis import strategies as st

from knightfall.agents import COURSE, parse_agent
from knightfall.errors import KnightfallError
from knightfall.heuristics import REGISTRY
from knightfall.heuristics.expression import Expression, parse_heuristic
from knightfall.heuristics.registry import (
    all_printed_names,
    canonical,
    meanings,
    printed_groups,
    printed_names,
    published_ids,
)
from knightfall.studies.published import studies
from knightfall.user_files import UserFunction

PRINTED = printed_groups()
WHOLE = [f"{study}:{name}" for study, names in PRINTED.items() for name in names]

IN_THE_DOCUMENTS = {
    "lookahead": "custom_heuristic_1 Custom_heuristic_1 Custom_heuristic_2 Custom_heuristic_3 "
    "AB_Custom AB_Custom_2 AB_Custom_3",
    "directional": "custom_score custom_score_2 custom_score_3 open_move_score center_score "
    "improved_score AB_Custom AB_Custom_2 AB_Custom_3",
    "reachability": "close_to_center_score far_from_center_score close_to_opponent_score "
    "far_from_opponent_score bfs_score custom_score Value_Center Value_Edges Close Far",
    "staged": "heuristic1 heuristic2 heuristic3 heuristic4 heuristic5 heuristic6 heuristic_main "
    "heuristic_main_staggered heuristic_mainalt heuristic_main_alt_01 heuristic_main_alt_03 "
    "heuristic_main_alt_less heuristic_main_alt_less_more heuristic_mainalt_staggered "
    "heuristic_mainalt_prop heursitic2 heurisic3 improved_score",
    "aggressive": "custom_score custom_score_2 custom_score_3 AB_Custom AB_Custom_2 AB_Custom_3",
}
"""Names read from the documents, including helpers such as get_directional_weights."""


@pytest.mark.parametrize("study", IN_THE_DOCUMENTS)
def test_every_printed_name_is_in_the_table(study: str) -> None:
    assert set(IN_THE_DOCUMENTS[study].split()) <= set(PRINTED[study])


@pytest.mark.parametrize("name", WHOLE)
def test_a_printed_name_is_read_as_its_id_and_prints_as_that(name: str) -> None:
    study, _, bare = name.partition(":")
    id = PRINTED[study][bare]
    assert published_ids()[id] in (study, "course")
    assert str(parse_heuristic(name)) == id
    assert str(parse_agent(f"id({name}, nodes=100)")) == f"id({id}, nodes=100)"
    assert name in printed_names(id)
    rows = answer("heuristics", name, "--json")["heuristics"]
    assert {row["stands_for"] for row in rows} == {id}
    assert {row["name"] for row in rows} == {name}


@pytest.mark.parametrize("name", sorted({name.partition(":")[2] for name in WHOLE}))
def test_a_name_without_its_study_is_found(name: str) -> None:
    text = run("heuristics", name).stdout
    assert all(id in text for id in meanings(name).values())
    if canonical(name):
        assert str(parse_heuristic(name)) == canonical(name)
    else:
        assert f"{name!r} is a name in several studies" in refused("eval", "--heuristic", name, FEN)


FEN = "7/7/1N5/7/7/4n2/7 w"


def test_the_names_of_agents_and_of_tables_agree() -> None:
    for study in ("lookahead", "directional", "aggressive"):
        for name, agent in COURSE[study].items():
            assert PRINTED[study][name] == agent.heuristic
    for study in studies().values():
        for printed, id in study.entrants.items():
            names = {printed, f"heuristic_{printed}"} & set(PRINTED[study.id])
            assert all(PRINTED[study.id][name] == id for name in names)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2*reachability:custom_score-open", "2*near_opponent+2*bfs_reach-open"),
        ("open-1/2*reachability:custom_score", "open-1/2*near_opponent-1/2*bfs_reach"),
        ("heuristic1-heuristic2", "mobility-open_space_difference"),
        ("close_to_center_score + bfs_score", "near_center+bfs_reach"),
        ("-staged:heuristic6", "-longest_win"),
        ("heuristic1.py:f", "heuristic1.py:f"),
        ("custom_score-2.py:f", "custom_score-2.py:f"),
        ("staged:heuristic1-x.py:f", "mobility-x.py:f"),
    ],
)
def test_expressions_of_printed_names(text: str, printed: str) -> None:
    assert str(parse_heuristic(text)) == printed
    assert str(parse_heuristic(printed)) == printed


@given(st.sampled_from(all_printed_names()), st.sampled_from(["-2", "-x", ""]))
def test_a_file_with_a_printed_name_prints_as_it_parses(name: str, more: str) -> None:
    file = UserFunction(f"./{name}{more}.py", "f")
    expression = Expression(((Fraction(1), file),))
    assert parse_heuristic(str(expression)) == expression


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("heuristic7", "unknown heuristic 'heuristic7'; did you mean 'heuristic"),
        ("staged:heuristic_mian", "did you mean 'staged:heuristic_main'?"),
        ("reachability:heuristic1", "unknown heuristic 'reachability:heuristic1'"),
        ("get_directional_weights", "unknown heuristic 'get_directional_weights'"),
        ("custom_score", "write lookahead:custom_score, directional:custom_score, reachab"),
        ("staged:heuristic1(1/2)", "staged:heuristic1 takes no parameter"),
    ],
)
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises(KnightfallError) as error:
        parse_heuristic(text)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_agent_may_be_a_printed_name_alone() -> None:
    assert parse_agent("lookahead:custom_score").heuristic == "lookahead_mobility"
    assert parse_agent("staged:heuristic1").name == "id(mobility, nodes=2500)"
    with pytest.raises(KnightfallError, match="is a name in several studies"):
        parse_agent("custom_score")
    with pytest.raises(KnightfallError, match="did you mean 'bfs_score'"):
        parse_agent("bfs_scor")


def test_names_with_a_space_and_as_coded_versions_are_told() -> None:
    assert "lookahead_mobility" in run("heuristics", "Custom_heuristic 1").stdout
    (row,) = answer("heuristics", "heuristic5", "--json")["heuristics"]
    assert row["as_coded"] == "coded:longest_win_difference"


def test_no_printed_name_hides_an_id() -> None:
    assert not set(all_printed_names()) & set(REGISTRY)
