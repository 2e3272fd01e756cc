"""A student's page, which shows no other student's results, and the parts that pages share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from knightfall.arena.results import no_verdict
from knightfall.course.checker.check_report import BY_ID, Outcome
from knightfall.course.classroom.game_lessons import Blunder, Lessons, Misunderstanding
from knightfall.course.classroom.roster import Student
from knightfall.course.trial.game_judging import KINDS, OWN_CLOCK, SUBSTITUTE, TRIES
from knightfall.display.numbers import count, interval, percent, plus_minus, signed
from knightfall.display.report import document, text
from knightfall.errors import KnightfallError
from knightfall.picture import svg
from knightfall.position import Position

if TYPE_CHECKING:
    from knightfall.course.classroom.class_games import Conditions
    from knightfall.course.classroom.class_report import ClassTable, StudentRow

# -- parts of pages ----------------------------------------------------------------------------


STYLE = """
th, td { padding: 0.35em 0.7em; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--edge); font-variant-numeric: tabular-nums; white-space: nowrap; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; white-space: normal; }
th:first-child, td:first-child, .class th:nth-child(2), .class td:nth-child(2), .words th,
.words td { text-align: left; }
.words td:last-child { white-space: normal; min-width: 16rem; }
tbody tr:nth-child(even) { background: var(--band); }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { width: 100%; height: auto; max-width: 22rem; display: block; }
figure.wide svg { max-width: 42rem; } figcaption { font-size: 0.92rem; }
.soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
.example { display: grid; grid-template-columns: minmax(0, 19rem) minmax(0, 1fr); gap: 0 1.5rem; }
@media (max-width: 45rem) { .example { grid-template-columns: minmax(0, 1fr); } }
pre { overflow-x: auto; font-size: 0.85rem; }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Return an HTML table; titles and cells are HTML already."""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n"
    )


def board(fen: str, played: str, better: str, caption: str, links: str = "") -> str:
    """Return an HTML figure of a position, with arrows: hollow for `played`, solid for `better`.

    `links` is HTML that follows the caption.
    """
    position = Position.from_fen(fen)
    cell = position.knight(position.to_move)
    start = "" if cell is None else position.board.name(cell)
    picture = svg(position, arrows=[(start, better)], mistakes=[(start, played)], size=300)
    below = f"<br>{links}" if links else ""
    return f"<figure>{picture}<figcaption>{caption}{below}</figcaption></figure>\n"


def blunder_figure(one: Blunder, page: str) -> str:
    """Return a figure of a blunder; `page` is the address of the playable page, "" for no links."""
    others = f", as do {one.winning - 1} more" if one.winning > 1 else ", the only move that does"
    caption = (
        f"Against {text(one.opponent)}, ply {one.ply}: <strong>{text(one.move)}</strong> loses "
        f"in {_plies(one.lost_in)}, <strong>{text(one.better)}</strong> wins in "
        f"{_plies(one.won_in)}{others}."
    )
    before = one.moves.split(".")[: one.ply - 1]
    game = {
        "fen": one.opening or one.fen,
        "moves": ".".join(before),
        "lines": "_".join([one.moves, ".".join([*before, one.better])]),
        "note": f"{'.'.join([*before, one.move])}:loses in {_plies(one.lost_in)}",
    }
    links = page_links(page, one.fen, game if one.moves else None)
    return board(one.fen, one.move, one.better, caption, links)


def page_links(page: str, fen: str, game: dict[str, str] | None = None) -> str:
    """Return links that open a position in the playable page: to look at it, and to play it.

    `game` is the address of the game that the position is from, if it is known.  A finished game
    cannot be played.
    """
    if not page:
        return ""
    position = Position.from_fen(fen)
    linked = [("Open on the board", game or {"fen": fen, "moves": ""})]
    if position.legal_moves:
        played = {"fen": fen, "moves": "", "vs": "perfect", "you": position.to_move}
        linked.append(("Play it yourself", {**played, "challenge": "1"}))
    return " · ".join(
        f'<a href="{text(page)}#{text(urlencode(words))}">{title}</a>' for title, words in linked
    )


# One line from the weakest to the strongest.  The course's opponents are named; classmates are not,
# because the page is for one student.

_WIDTH, _HEIGHT, _EDGE, _LINE, _LEVELS = 520, 160, 36, 76, 5


def opponent_marks(table: ClassTable, x: Callable[[float], float], line: int) -> Iterator[str]:
    """Yield marks of the course's opponents on a line of ratings, with their names below it."""
    ends = [-1e9] * _LEVELS  # the right end of the last name in each row of names
    for opponent in sorted(table.opponents, key=lambda each: each.elo):
        at, name = x(opponent.elo), opponent.name.rpartition(":")[2]
        free = [level for level, end in enumerate(ends) if at - 4.5 * len(name) > end]
        level = free[0] if free else min(range(_LEVELS), key=ends.__getitem__)
        ends[level] = at + 4.5 * len(name)
        yield (
            f'<path d="M{at:.1f} {line - 6}V{line + 6}" stroke="currentColor"/>'
            f'<text x="{at:.1f}" y="{line + 20 + 14 * level}" text-anchor="middle" '
            f'fill-opacity=".75">{text(name)}</text>'
        )


def rating_line(table: ClassTable, row: StudentRow) -> str:
    """Return a chart of all ratings on a line, with the student's own and its error."""
    all_rows = [*table.students, *table.opponents]
    low = min(min(each.elo for each in all_rows), row.elo - min(row.error, 600.0))
    high = max(max(each.elo for each in all_rows), row.elo + min(row.error, 600.0))
    span = max(1.0, high - low)

    def x(elo: float) -> float:
        inside = min(max(elo, low), high)
        return _EDGE + (inside - low) / span * (_WIDTH - 2 * _EDGE)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">',
        f"<title>{text(row.name)}: {plus_minus(row.elo, row.error)} Elo</title>",
        f'<path d="M{_EDGE} {_LINE}H{_WIDTH - _EDGE}" stroke="currentColor" stroke-opacity=".3"/>',
    ]
    for other in table.students:
        if other is not row:
            parts.append(f'<circle cx="{x(other.elo):.1f}" cy="{_LINE}" r="4" fill-opacity=".3"/>')
    parts += opponent_marks(table, x, _LINE)
    left, right, at = x(row.elo - row.error), x(row.elo + row.error), x(row.elo)
    side = "start" if at < _WIDTH / 4 else "end" if at > 3 * _WIDTH / 4 else "middle"
    parts.append(
        f'<path d="M{left:.1f} 40H{right:.1f}M{left:.1f} 34V46M{right:.1f} 34V46" '
        f'stroke="#2f6fc4" stroke-width="2"/><circle cx="{at:.1f}" cy="40" r="6" fill="#2f6fc4"/>'
        f'<path d="M{at:.1f} 46V{_LINE}" stroke="#2f6fc4" stroke-dasharray="2 3"/>'
        f'<text x="{at:.1f}" y="24" text-anchor="{side}" font-weight="bold">'
        f"{plus_minus(row.elo, row.error)} Elo</text></svg>"
    )
    return f'<figure class="wide">{"".join(parts)}</figure>\n'


def example(outcome: Outcome, board_page: str) -> str:
    """Return an outcome's position, if it has one, beside what is wrong there."""
    said = [
        *outcome.why,
        *(
            f"{what}: {words}."
            for what, words in (("Expected", outcome.expected), ("Got", outcome.got))
            if words
        ),
    ]
    words = "".join(f"<p>{text(line)}</p>\n" for line in said)
    if outcome.trace:
        words += f"<pre>{text(chr(10).join(outcome.trace))}</pre>\n"
    drawing = "\n".join(map(text, outcome.picture.splitlines()))
    picture = f"<pre>{drawing}</pre>" if drawing else ""
    with suppress(KnightfallError):
        drawn = svg(Position.from_fen(outcome.fen), size=300)
        links = page_links(board_page, outcome.fen)
        picture = f"<figure>{drawn}<figcaption>{links}</figcaption></figure>"
    if not picture:
        return words
    return f'<div class="example">{picture}\n<div>{words}</div></div>\n'


def _check_section(student: Student, explained: str = "") -> str:
    """Return the section with the results of `course check`; "" if it was not checked.

    `explained` is HTML that explains the complaints; without it, they are listed.
    """
    found = student.examination
    if found is None:
        return ""
    lines = "".join(f"<li>{text(line)}</li>\n" for line in found.complaints)
    listed = explained or (f"<ul>\n{lines}</ul>\n" if lines else "")
    more = "" if explained else " for an explanation of each, with the position"
    return (
        f"<h2>Checks</h2>\n<p>{found.tally} checks passed. Run <code>knightfall course check"
        f"</code>{more or ' to repeat them'}.</p>\n{listed}"
    )


def _explained(student: Student, board_page: str) -> str:
    """Return each failed check and each warning with its explanation."""
    found = student.examination
    complaints = [
        one for one in (found.outcomes if found else ()) if one.mark in ("wrong", "warning")
    ]
    return "".join(
        f"<h3>{text(BY_ID[one.id].name)}{', a warning' if one.mark == 'warning' else ''}: "
        f"{text(one.short)}</h3>\n{example(one, board_page)}"
        for one in sorted(complaints, key=lambda one: one.mark == "warning")
    )


# -- the page ----------------------------------------------------------------------------------


def student_page(
    found: ClassTable, row: StudentRow, conditions: Conditions, clock: str, board_page: str = ""
) -> str:
    """Return the page of a student who is ranked.

    Its boards link to the playable page at the address `board_page`, unless that is empty.
    """
    body = _body(found, row, conditions, clock, board_page)
    return document(text(row.name), "".join(body), STYLE)


def unranked_page(student: Student, clock: str, board_page: str = "") -> str:
    """Return the page of a student who is not ranked: why, and what `course check` found.

    `board_page` is as for `student_page`.
    """
    never, read = student.never_moved, student.submission
    body = (
        f"<h1>{text(student.name)}</h1>\n<p>This submission has no rank and no rating:</p>\n"
        f'<p class="bad">{text(student.problem)}</p>\n'
    )
    if never is not None:
        if never.line:
            body += f"<p>The answer comes from <code>{text(never.line)}</code>.</p>\n"
        body += (
            f"<figure>{svg(Position.from_fen(never.fen), size=300)}<figcaption>The first position "
            "in which it was asked.</figcaption></figure>\n"
        )
    body += _check_section(student, _explained(student, board_page))
    if read is not None:
        body += (
            f"<h2>How this was measured</h2>\n<p>{text(read.file.name)}, generation "
            f"{read.generation}: {text(read.why)}. {text(clock)}</p>\n"
        )
    return document(text(student.name), body, STYLE)


def _body(
    found: ClassTable, row: StudentRow, conditions: Conditions, clock: str, board_page: str
) -> Iterator[str]:
    submission, estimate = row.submission, row.estimate
    place = found.students.index(row) + 1
    yield f"<h1>{text(row.name)}</h1>\n"
    zero = f" ({text(found.anchor)} is 0)" if found.anchor else ""
    yield (
        f"<p>Rating <strong>{plus_minus(row.elo, row.error)} Elo</strong>{zero}, "
        f"{_ordinal(place)} of {len(found.students)}. Won <strong>{percent(estimate.score)}"
        f"</strong> ({interval(estimate.low, estimate.high, unit=' %')}) of "
        f"{count(row.games, 'game')} against the course’s opponents. "
        "Errors and intervals are 95 %.</p>\n"
    )
    yield rating_line(found, row)
    yield (
        '<p class="soft">Dots are classmates, marks are the course’s opponents. '
        f"{_told_apart(found, row, conditions)}</p>\n"
    )
    yield "<h2>Results</h2>\n"
    yield table(
        ["Opponent", "Won", "Lost"],
        [(text(name), str(won), str(lost)) for name, (won, lost) in row.against.items()],
    )
    if sum(row.among):
        lost, split, both = row.among
        yield (
            f"<p>Against {'classmates' if conditions.classmates > 1 else 'a classmate'}: "
            f"{2 * both + split} won, {2 * lost + split} lost.</p>\n"
        )
    yield from _unusual(row.lessons)
    if not conditions.successor:
        yield from _lessons(row.lessons, "custom_score" in submission.names, board_page)
    yield _check_section(row.student)
    solved = "Moves were judged by an exact solver: won and lost mean against best play."
    if conditions.successor:
        solved = "Moves were not judged: the exact solver does not support boards of 99 cells."
    choice = " ".join(f"{text(line)}." for line in submission.choice())
    own_clock = f"It {OWN_CLOCK}. " if row.lessons.own_clock else ""
    yield "<h2>How this was measured</h2>\n"
    yield (
        f"<p>{text(submission.file.name)}, generation {submission.generation}: "
        f"{text(submission.why)}. {choice} {text(clock)} {own_clock}"
        f"{count(conditions.pairs, 'opening')} against each opponent, each played from both seats "
        f"and the same for all students. {solved}</p>\n"
    )


def _told_apart(found: ClassTable, row: StudentRow, conditions: Conditions) -> str:
    """Return a sentence that says how many classmates' ratings are within the error of this one."""
    if not conditions.counted and row.late:
        return no_verdict([text(row.late)], ticks=True)
    others = (other for other in found.students if other is not row)
    near = sum(not found.told_apart(other, row) for other in others)
    if not near:
        return "The rating differs by more than its error from every other one in the class."
    return f"The difference to {count(near, 'other')} in the class is within its error."


def _ordinal(number: int) -> str:
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


# -- lessons -----------------------------------------------------------------------------------


def _unusual(lessons: Lessons) -> Iterator[str]:
    yield "<h2>Games lost off the board</h2>\n"
    if lessons.unusual:
        yield table(
            ["", "Games", "First example"],
            [
                (kind, str(times), text(detail))
                for kind in KINDS
                for times, detail in [lessons.unusual.get(kind, (0, ""))]
                if times
            ],
            "words",
        )
    else:
        yield "<p>None: no resignation, timeout, illegal answer or crash.</p>\n"


def _lessons(lessons: Lessons, custom: bool, page: str) -> Iterator[str]:
    yield from _resigned(lessons)
    yield "<h2>Won positions kept and lost</h2>\n"
    kept = lessons.keeping
    if kept.of:
        yield (
            f"<p>Winning moves were played in <strong>{percent(kept.rate)}</strong> "
            f"({interval(*kept.interval, unit=' %')}) of the positions in which some moves won and "
            f"some lost: {kept.count:,} of {kept.of:,}. Random moves would have won in "
            f"{percent(lessons.chance)}.</p>\n"
        )
    if lessons.blunders:
        figures = "".join(blunder_figure(one, page) for one in lessons.blunders)
        yield (
            "<p>The mistakes that decided lost games come first, the latest in their games before "
            "others: for these a short search is enough. The hollow arrow was played, the solid "
            f'one wins.</p>\n<div class="boards">\n{figures}</div>\n'
        )
    elif kept.of:
        yield "<p>No won position was lost.</p>\n"
    yield from _opinion(lessons, "<code>custom_score</code>" if custom else "the score", page)


def _resigned(lessons: Lessons) -> Iterator[str]:
    if not lessons.resigned:
        return
    lost = lessons.resigned - lessons.resigned_won
    yield (
        f"<p>Resigned {count(lessons.resigned, 'game')}: {lost} lost and "
        f"{lessons.resigned_won} won by the solver."
    )
    if lessons.tries:
        yield (
            f" Resigning cost about {lessons.cost:.1f} games: {SUBSTITUTE}, continuing from there "
            f"against the same opponent ({TRIES} tries each), wins "
            f"{percent(lessons.saved / lessons.tries)}. Play on in lost positions: the opponent "
            "still has to find the winning moves."
        )
    yield "</p>\n"


def _plies(after: int) -> str:
    """Return the length of the rest of a game in words, including the move itself."""
    return count(after + 1, "ply", "plies")


def _opinion(lessons: Lessons, score: str, page: str) -> Iterator[str]:
    yield "<h2>The heuristic without a search</h2>\n"
    opinion = lessons.opinion
    if opinion is None:
        yield f"<p>It could not be measured: {text(lessons.no_opinion)}.</p>\n"
        return
    yield (
        f"<p>Without any search, {score} would have chosen a winning move in "
        f"<strong>{percent(opinion.right / opinion.of)}</strong> of "
        f"{count(opinion.of, 'position')} in which some moves won and some lost; random moves win "
        f"in {percent(opinion.chance)}.</p>\n"
    )
    if opinion.deepest is None:
        yield "<p>It never preferred a losing move to all winning ones.</p>\n"
        return
    yield f"<p>Its deepest misunderstanding:</p>\n{_deepest(opinion.deepest, score, page)}"


def _deepest(one: Misunderstanding, score: str, page: str) -> str:
    apart = (
        "" if one.gap == float("inf")
        else f" The difference is {one.gap:.1f} standard deviations of all its scores."
    )  # fmt: skip
    caption = (
        f"{score} values <strong>{text(one.liked)}</strong> {signed(one.liked_score, 2)} and "
        f"<strong>{text(one.better)}</strong> {signed(one.better_score, 2)}.{apart} But "
        f"{text(one.liked)} loses in {_plies(one.lost_in)}, and {text(one.better)} wins in "
        f"{_plies(one.won_in)}."
    )
    return board(one.fen, one.liked, one.better, caption, page_links(page, one.fen))
