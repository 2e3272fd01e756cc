"""Export and import of runs: nothing is lost, and wrong files are refused."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import strategies  # noqa: F401 (lifts the time limit for examples)
from arena_helpers import ENGINE, VERSIONS, all_rows, fake_pair, fake_plan, fake_run, play_on
from helpers import times_the_examples
from hypothesis import given
from hypothesis import strategies as st

from knightfall.arena.export_run import COLUMNS, export_lines, export_parquet
from knightfall.arena.import_run import import_run
from knightfall.arena.plan import Entrant, Match, Plan
from knightfall.arena.store import Run, Store, StoredGame
from knightfall.errors import KnightfallError
from knightfall.position import Position

NAMES = ("AB_Improved", 'id("a\\b".py:f)', "naïve [♞], 50 %")
BOOK = ("4/1N2/2n1/4 w", "4/1N2/2n1/4 b", "N3/4/4/3n b", "4/1N2/2n1/4 b")
PLANS = {
    "plain": fake_plan(2, 9, names=NAMES),
    "a book with Black to move": fake_plan(2, 9, names=NAMES, book=BOOK, repeats=3),
    "large": fake_plan(1, 4, board="7x7", stop={"rule": "until", "error": 5}, files={"a.py": "12"}),
}


def exported(file: Path, format: str, run: int = 1) -> str:
    with Store.open(file, read_only=True) as store:
        return "".join(export_lines(store.run(run), format))


def imported(file: Path, text: str, again: bool = False) -> int:
    """Import a text; return the number of the run."""
    source = file.parent / "source"
    source.write_text(text, encoding="utf-8")
    with Store.open(file) as store:
        return import_run(store, source, again=again).id


# -- jsonl -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("played", [0, 1, 3, None])
def test_jsonl_holds_everything(tmp_path: Path, plan: Plan, played: int | None) -> None:
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    fake_run(one, plan, played)
    fake_run(two, fake_plan(seed=77), 3)
    text = exported(one, "jsonl")
    assert imported(two, text) == 2
    assert all_rows(one, 1) == all_rows(two, 2)
    assert exported(two, "jsonl", 2) == text
    assert all(json.loads(line) for line in text.splitlines())
    with Store.open(two) as store:  # and it goes on where it was
        run = store.begin(plan, ENGINE, VERSIONS)
        assert run.id == 2
        play_on(run, plan.total)
    fake_run(one, plan, finish=False)
    assert all_rows(one, 1)["pairs"] == all_rows(two, 2)["pairs"]


def test_the_same_run_is_not_added_twice_by_mistake(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    fake_run(file, fake_plan(), 3)
    text = exported(file, "jsonl")
    with pytest.raises(KnightfallError, match=r"run 1 in .*s\.sqlite has the same plan"):
        imported(file, text)
    assert imported(file, text, again=True) == 2
    assert imported(file, text, again=True) == 3
    one, two = all_rows(file, 1), all_rows(file, 2)
    assert [row[1] for row in all_rows(file)["runs"]] == [one["runs"][0][0]] * 3  # one key
    assert (one.pop("runs"), one) != (two.pop("runs"), two)  # attempts are counted
    assert one == two


def test_two_who_import_the_same_file_at_once(tmp_path: Path) -> None:
    fake_run(tmp_path / "s.sqlite", fake_plan(), 3)
    source, file = tmp_path / "source", tmp_path / "two.sqlite"
    source.write_text(exported(tmp_path / "s.sqlite", "jsonl"), encoding="utf-8")

    def quicker(pairs: int) -> None:
        if pairs == 3:
            with Store.open(file) as another:
                import_run(another, source)

    with (
        Store.open(file) as store,
        pytest.raises(KnightfallError, match=r"run 1 in .* has the same plan"),
    ):
        import_run(store, source, on_progress=quicker)
    assert len(all_rows(file)["runs"]) == 1


def test_a_run_that_grows_is_exported_as_of_one_moment(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    fake_run(file, fake_plan(1, 20), 4)
    with Store.open(file) as store, Store.open(file) as writer:
        lines = []
        for line in export_lines(store.last(), "jsonl"):
            lines.append(line)
            play_on(writer.last(), min(writer.last().played + 3, 20))
    assert len(lines) == 5
    assert imported(tmp_path / "two.sqlite", "".join(lines)) == 1


# -- text ------------------------------------------------------------------------------------------


def test_text_is_for_people_alone(tmp_path: Path) -> None:
    fake_run(tmp_path / "one.sqlite", fake_plan(), 2)
    text = exported(tmp_path / "one.sqlite", "text")
    said = stays_empty(tmp_path / "two.sqlite", text)
    assert "source, line 1: " in said
    assert "--format jsonl" in said


def test_text_reads_like_a_game(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    plan = fake_plan(1, 2, names=NAMES[:2], book=("4/N3/2n1/4 b", "4/N3/2n1/4 w"))
    fake_run(file, plan)
    head, *games = exported(file, "text").split("\n\n[")
    assert head.startswith('% {"format":"knightfall run 1"')
    assert len(games) == 4
    details = set()
    for number, written in enumerate(games):
        pair, half = divmod(number, 2)
        record = fake_pair(plan.task(pair))
        game, opening = record.games[half], record.task.opening
        tags = dict(re.findall(r'^\[?([A-Za-z]+) "(.*)"\]$', written, re.MULTILINE))
        assert (tags["Pair"], tags["Game"], tags["Opening"]) == (str(pair), str(half), opening)
        assert tags["White" if half == 0 else "Black"] == "AB_Improved"
        assert tags["Black" if half == 0 else "White"] == 'id(\\"a\\\\b\\".py:f)'
        assert tags["Result"] == ("1-0" if game.winner == "w" else "0-1")
        assert (tags["Reason"], tags["Seed"]) == (game.reason, str(record.task.seed))
        detail = re.sub(r'(["\\])', r"\\\1", game.detail)
        assert tags.get("Detail", "") == detail
        details.add(game.detail)
        *words, result = written.split("\n\n")[1].split()
        assert result == tags["Result"]
        assert [word for word in words if "." not in word] == list(
            game.moves(Position.from_fen(opening))
        )
        if words:
            assert words[0] == ("1." if opening.endswith("w") else "1...")
            assert words.count("2.") == (len(words) > 3)
    assert details == {"", 'it said "[x]" \\ and no more'}


# -- tables ----------------------------------------------------------------------------------------


def test_csv_has_a_line_for_each_game(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    fake_run(file, PLANS["a book with Black to move"])
    rows = list(csv.DictReader(io.StringIO(exported(file, "csv"))))
    assert tuple(rows[0]) == COLUMNS
    with Store.open(file, read_only=True) as store:
        run = store.last()
        for row, line in zip(rows, run.games(), strict=True):
            for name in COLUMNS[:-2]:
                if name == "winner_name":
                    value: Any = NAMES[line.first if line.winner == "w" else line.second]
                else:
                    value = getattr(line, name)
                if name in ("first", "second"):
                    value = NAMES[value]
                assert row[name] == ("" if value is None else str(value))
            game = run.pair(line.pair).games[line.game]
            opening = Position.from_fen(line.opening)
            assert row["moves"].split() == list(game.moves(opening))
            assert row["detail"] == game.detail


def test_games_that_a_damaged_table_lacks_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = Run.games
    fake_run(tmp_path / "s.sqlite", fake_plan(1, 2), 2)
    for missing in range(4):

        def incomplete(run: Run, missing: int = missing) -> Iterator[StoredGame]:
            return (game for at, game in enumerate(complete(run)) if at != missing)

        monkeypatch.setattr(Run, "games", incomplete)
        with pytest.raises(KnightfallError, match=f"lacks games of pair {missing // 2}"):
            exported(tmp_path / "s.sqlite", "csv")


def test_csv_of_nothing_has_its_headings(tmp_path: Path) -> None:
    fake_run(tmp_path / "s.sqlite", fake_plan(), 0)
    assert exported(tmp_path / "s.sqlite", "csv") == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("played", [0, 7, None])
def test_parquet_has_every_move(
    tmp_path: Path, played: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("knightfall.arena.export_run.GROUP", 5)
    file, out = tmp_path / "s.sqlite", tmp_path / "s.parquet"
    fake_run(file, PLANS["plain"], played)
    with Store.open(file, read_only=True) as store:
        run = store.last()
        with out.open("wb") as stream:
            export_parquet(run, stream)
        rows = parquet.read_table(out).to_pylist()
        for row, line in zip(rows, run.games(), strict=True):
            game = run.pair(line.pair).games[line.game]
            assert (row["run"], row["pair"], row["game"]) == (line.run, line.pair, line.game)
            assert (row["first"], row["second"]) == (NAMES[line.first], NAMES[line.second])
            assert row["winner_name"] == row["first" if row["winner"] == "w" else "second"]
            assert (row["repeats"], row["nodes_w"]) == (line.repeats, line.nodes_w)
            opening = Position.from_fen(line.opening)
            assert row["moves"] == list(game.moves(opening))
            for name in ("scores", "depths", "nodes", "microseconds"):
                column = game.column(name)  # type: ignore[arg-type]
                assert str(row[name]) == str(column.tolist())  # nan, too


def test_parquet_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    fake_run(tmp_path / "s.sqlite", fake_plan(), 1)
    with (
        Store.open(tmp_path / "s.sqlite") as store,
        pytest.raises(KnightfallError, match=r"pip install 'knightfall\[parquet\]'"),
    ):
        export_parquet(store.last(), io.BytesIO())


def test_formats_are_named(tmp_path: Path) -> None:
    fake_run(tmp_path / "s.sqlite", fake_plan(), 1)
    with pytest.raises(KnightfallError, match="unknown format 'xml'; known: csv, jsonl, text"):
        exported(tmp_path / "s.sqlite", "xml")


# -- what is wrong with a file ---------------------------------------------------------------------


def change(line: int, *path: Any, to: Any) -> Callable[[list[Any]], None]:
    """Return a function that changes one value in a line of JSON."""

    def edit(lines: list[Any]) -> None:
        at = lines[line]
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to

    return edit


def swapped_winner(lines: list[Any]) -> None:
    game = lines[2]["games"][1]
    game["winner"] = "b" if game["winner"] == "w" else "w"


BROKEN: dict[str, tuple[int, str, Callable[[list[Any]], Any]]] = {
    "format": (1, "format", change(0, "format", to="knightfall run 2")),
    "no plan": (1, "plan", change(0, "plan", to=None)),
    "bad plan": (1, "plan", change(0, "plan", "entrants", to=[{"agent": "x"}])),
    "bad match": (1, "plan", change(0, "plan", "matches", 0, "b", to=7)),
    "bad board": (1, "plan", change(0, "plan", "board", to="99x99")),
    "bad key": (1, "key", change(0, "key", to=5)),
    "too many": (1, "9 pairs", change(0, "pairs", to=9)),
    "cut off": (4, "ends after 3 of 4 pairs", lambda lines: lines.pop()),
    "one more": (5, "more pairs than the first line says (3)", change(0, "pairs", to=3)),
    "out of order": (3, '"pair" must be 1', lambda lines: lines.insert(2, lines[1])),
    "no opening": (3, '"opening" must be a text, not None', change(2, "opening", to=None)),
    "placement": (3, "no game can begin", change(2, "opening", to="4/4/4/4[Nn] w")),
    "one game": (
        3,
        "list of 2 items, not 1",
        lambda lines: lines[2]["games"].pop(),
    ),
    "seed": (3, "seed", change(2, "seed", to=-1)),
    "illegal move": (3, "move 1: 'a1' is not a legal", change(2, "games", 1, "moves", 0, to="a1")),
    "no cell": (
        3,
        '"games[1].moves[0]" must',
        change(2, "games", 1, "moves", 0, to=["x"]),
    ),
    "wrong winner": (3, "the winner must be", swapped_winner),
    "wrong reason": (3, "over", change(2, "games", 1, "reason", to="timeout")),
    "no reason": (3, "crash, not 'bored'", change(2, "games", 1, "reason", to="bored")),
    "not over": (3, "the game is not over", lambda lines: shorten(lines[2]["games"][1])),
    "few scores": (3, "scores", lambda lines: lines[2]["games"][1]["scores"].pop()),
    "bad score": (3, "scores", change(2, "games", 1, "scores", 0, to="high")),
    "bad depth": (3, "depths", change(2, "games", 1, "depths", 0, to=256)),
    "bad nodes": (3, "nodes", change(2, "games", 1, "nodes", 0, to=1.5)),
    "bad time": (3, "microseconds", change(2, "games", 1, "microseconds", to=None)),
    "detail": (3, "detail", change(2, "games", 1, "detail", to=None)),
}


def shorten(game: dict[str, Any]) -> None:
    for name in ("moves", "scores", "depths", "nodes", "microseconds"):
        game[name].pop()


@pytest.fixture(scope="module")
def four_pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an exported run of four pairs whose games end normally."""
    file = tmp_path_factory.mktemp("four") / "s.sqlite"
    plan = fake_plan(1, 4, board="5x5", names=NAMES[:2])
    with Store.open(file) as store:
        run = store.begin(plan, ENGINE, VERSIONS)
        run.append([fake_pair(task, unusual=0) for task in plan.tasks()])
    return exported(file, "jsonl")


def stays_empty(file: Path, text: str) -> str:
    """Return the error message of an import that is refused and stores nothing."""
    with pytest.raises(KnightfallError) as caught:
        imported(file, text)
    assert not any(all_rows(file).values())
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, four_pairs: str, name: str) -> None:
    line, said, edit = BROKEN[name]
    lines = [json.loads(text) for text in four_pairs.splitlines()]
    edit(lines)
    text = "\n".join(json.dumps(each) for each in lines)
    error = stays_empty(tmp_path / "s.sqlite", text)
    assert f"source, line {line}: " in error
    assert said in error


def test_what_is_no_run_at_all(tmp_path: Path, four_pairs: str) -> None:
    file = tmp_path / "s.sqlite"
    for text in ("", "\n", "1. e4 e5", "[1]", "{", "% {}", "[" * 100_000):
        assert "line 1" in stays_empty(file, text)
    assert "ends after 3 of 4 pairs" in stays_empty(file, four_pairs.rsplit("\n", 2)[0])
    with Store.open(file) as store:
        with pytest.raises(KnightfallError, match="nothing here': No such file"):
            import_run(store, tmp_path / "nothing here")
        (tmp_path / "bytes").write_bytes(b"\xff\xfe{}")
        with pytest.raises(KnightfallError, match="bytes' is not a text file"):
            import_run(store, tmp_path / "bytes")


@times_the_examples(3)
@given(seed=st.integers(0, 2**32))
def test_no_damage_goes_unnoticed_or_unexplained(four_pairs: str, seed: int) -> None:
    """Check that an exported file with a few changed letters is refused, or is imported with all
    its games.
    """
    rng, text = random.Random(seed), list(four_pairs)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        text[at : at + rng.randrange(3)] = rng.choice('0123456789abcdefgwb"[]{},.:- \nN*/')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "s.sqlite")
        said = ""
        try:
            imported(file, "".join(text))
        except KnightfallError as error:
            said = str(error)
        if said:
            assert re.search(r"source(, line \d+)?: ", said)
        assert len(all_rows(file)["games"]) == (0 if said else 8)


def _unchecked_plan(entrants: list[Any], matches: list[Any], **more: Any) -> Plan:
    more["book"] = tuple(more["book"])
    return Plan(
        entrants=tuple(Entrant(**entrant) for entrant in entrants),
        matches=tuple(Match(**match) for match in matches),
        **more,
    )


def forged(four_pairs: str, *, sealed: bool, **changes: Any) -> str:
    """Return an exported run with its first line changed; if `sealed`, with a matching key, too."""
    first, rest = four_pairs.split("\n", 1)
    head = json.loads(first)
    for name, value in changes.items():
        (head["plan"] if name in head["plan"] else head)[name] = value
    if sealed:
        head["key"] = _unchecked_plan(**head["plan"]).key(head["versions"]["knightfall"])
    return json.dumps(head) + "\n" + rest


def test_a_run_cannot_pass_for_another(tmp_path: Path, four_pairs: str) -> None:
    """Check that a file whose key does not match its plan and engine is refused."""
    file, other = tmp_path / "s.sqlite", fake_plan(1, 4, seed=77)
    for changes in (
        {"key": other.key(ENGINE)},
        {"key": ""},
        {"seed": 77},
        {"pairs": 9},
        {"versions": VERSIONS | {"knightfall": "another engine"}},
    ):
        said = stays_empty(file, forged(four_pairs, sealed=False, **changes))
        assert "line 1: its key is" in said or "pairs" in changes
    for versions in ({}, {"knightfall": 5}, []):
        assert "line 1" in stays_empty(file, forged(four_pairs, sealed=False, versions=versions))


def test_a_run_of_this_engine_must_follow_its_schedule(tmp_path: Path, four_pairs: str) -> None:
    """Check that a file is refused if a pair differs from the plan: it could not be resumed
    correctly.
    """
    from knightfall.arena import engine_version

    mine = VERSIONS | {"knightfall": engine_version.engine()}
    good = forged(four_pairs, sealed=True, versions=mine)
    (tmp_path / "good").write_text(good)
    with Store.open(tmp_path / "good.sqlite") as store:
        assert import_run(store, tmp_path / "good").played == 4
    bad = good.split("\n")
    pair = json.loads(bad[2])
    bad[2] = json.dumps(pair | {"seed": pair["seed"] + 1})
    said = stays_empty(tmp_path / "s.sqlite", "\n".join(bad))
    assert "line 3" in said
    assert "another opening or seed" in said


def test_names_that_cannot_be_shown_are_refused(tmp_path: Path, four_pairs: str) -> None:
    entrants = json.loads(four_pairs.split("\n")[0])["plan"]["entrants"]
    entrants[0]["name"] = "x\x1b[2J"
    said = stays_empty(tmp_path / "s.sqlite", forged(four_pairs, sealed=True, entrants=entrants))
    assert "cannot be printed" in said
