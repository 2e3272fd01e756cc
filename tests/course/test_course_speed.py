"""The benchmark `course_library` compares equal games; nothing is timed here."""

from __future__ import annotations

from benchmarks import course_library


def test_both_boards_search_the_same_trees() -> None:
    # It raises if nodes, moves or random numbers differ.
    result = course_library.run(depth=2, rounds=1)
    assert all(row["nodes"] > 50 for row in result.rows)
    assert [ratio.goal for ratio in result.ratios.values() if ratio.goal] == ["≥ 3"]
