"""What the pages of a class have in common: tables, boards with captions, a line of ratings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from knightfall.course.classroom.roster import Student
from knightfall.course.classroom.table import ClassTable, Row
from knightfall.display.numbers import plus_minus
from knightfall.display.page import text
from knightfall.picture import svg
from knightfall.position import Position

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
figure.wide svg { max-width: none; } figcaption { font-size: 0.92rem; }
.soft { color: var(--soft); } .bad { color: var(--bad); } .good { color: var(--good); }
@media print { body { max-width: none; } figure { break-inside: avoid; } }
"""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table of HTML cells."""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll"><table{named}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>\n"
    )


def board(fen: str, played: str, better: str, caption: str) -> str:
    """A position, the wrong move as a hollow arrow and the right one as a solid one."""
    position = Position.from_fen(fen)
    cell = position.knight(position.to_move)
    start = "" if cell is None else position.board.name(cell)
    picture = svg(position, arrows=[(start, better)], mistakes=[(start, played)], size=300)
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>\n"


# One line from the weakest to the strongest; the course's opponents have names, classmates have
# none, for a page is for one student's eyes.

_WIDTH, _HEIGHT, _EDGE, _LINE, _LEVELS = 860, 160, 60, 76, 5


def rating_line(table: ClassTable, row: Row) -> str:
    """Where somebody stands among all, with the error."""
    everybody = [*table.students, *table.opponents]
    low = min(min(each.elo for each in everybody), row.elo - min(row.error, 600.0))
    high = max(max(each.elo for each in everybody), row.elo + min(row.error, 600.0))
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
    ends = [-1e9] * _LEVELS  # where the text of each row of names ends
    for opponent in sorted(table.opponents, key=lambda each: each.elo):
        at, name = x(opponent.elo), opponent.name.rpartition(":")[2]
        free = [level for level, end in enumerate(ends) if at - 4 * len(name) > end]
        level = free[0] if free else min(range(_LEVELS), key=ends.__getitem__)
        ends[level] = at + 4 * len(name)
        parts.append(
            f'<path d="M{at:.1f} {_LINE - 6}V{_LINE + 6}" stroke="currentColor"/>'
            f'<text x="{at:.1f}" y="{_LINE + 20 + 14 * level}" text-anchor="middle" '
            f'fill-opacity=".75">{text(name)}</text>'
        )
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


def check_section(student: Student) -> str:
    """Return what `course check` says of a submission; "" if it was not checked."""
    found = student.examination
    if found is None:
        return ""
    lines = "".join(f"<li>{text(line)}</li>\n" for line in found.complaints)
    listed = f"<ul>\n{lines}</ul>\n" if lines else ""
    return (
        f"<h2>Is it right?</h2>\n<p>{found.tally} checks passed. <code>knightfall course check"
        f"</code> explains each, with the position.</p>\n{listed}"
    )
