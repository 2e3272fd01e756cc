"""Submissions that are nearly identical, and pages that show two of them side by side.

Programs are compared by their stretches: sequences of `STRETCH` syntax nodes, without names,
values, comments and layout.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

from knightfall.course.classroom.roster import Student
from knightfall.course.submission import reachable
from knightfall.display.numbers import percent
from knightfall.display.report import document, text
from knightfall.errors import KnightfallError

STRETCH = 16
"""Syntax nodes in a stretch: about a line and a half of a program."""

COMMON = 0.5
"""A stretch in more than this share of the programs, and in more than three, is not compared."""

FEW = 60
"""Minimum number of a program's own stretches; with fewer it is not compared."""

ALIKE = 0.7
"""Two programs are reported as nearly identical from this share of common stretches on."""

MOST_LINES = 4000
"""Maximum number of lines of a program that are shown."""


@dataclass(frozen=True)
class Program:
    """A student's code: its lines, and its syntax nodes in order, each with the line it is on.

    `files` holds the name and the text of each file; lines are numbered through all files.
    """

    files: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    lines: tuple[int, ...]
    digest: str
    """A hash of the files' bytes."""

    @property
    def shown(self) -> list[str]:
        """Return all lines, with a line that names the file before each but the first."""
        found: list[str] = []
        for name, content in self.files:
            found += [f"# ---- {name} ----"] if found else []
            found += content.splitlines() or [""]
        return found

    def stretches(self) -> list[int]:
        """Return the hashes of all stretches, in order."""
        count = len(self.kinds) - STRETCH + 1
        return [hash(self.kinds[at : at + STRETCH]) for at in range(count)]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two submissions, and the share of their code (sequences of syntax nodes) that both have."""

    a: str
    b: str
    share: float
    same: str = ""
    """A phrase for fully identical programs; empty if only a share of them is identical."""
    programs: tuple[Program, ...] = field(default=(), repr=False)
    """The two programs."""
    shared: frozenset[int] = field(default=frozenset(), repr=False)
    """The hashes of the stretches that both have and half of the class has not."""

    @property
    def words(self) -> str:
        """Return a phrase that says how much is identical."""
        return self.same or f"{percent(self.share, 0)} of their own code is the same"


def near_identical(students: Sequence[Student]) -> list[Likeness]:
    """Return the pairs of submissions whose share of equal code is at least `ALIKE`, sorted."""
    programs = {student.name: _program(student) for student in students}
    known = {name: program for name, program in programs.items() if program is not None}
    sets = {name: set(program.stretches()) for name, program in known.items()}
    # Copies count once; otherwise what a few have copied would count as common to the class.
    distinct = {program.kinds: sets[name] for name, program in known.items()}
    spread = Counter(stretch for found in distinct.values() for stretch in found)
    most = max(3, COMMON * len(distinct))
    own = {name: {s for s in found if spread[s] <= most} for name, found in sets.items()}
    found = []
    for a, b in combinations(known, 2):
        one, other = known[a], known[b]
        share, same, shared = 1.0, "", frozenset(sets[a])
        if one.digest == other.digest:
            same = "the same file, byte for byte"
        elif one.kinds == other.kinds:
            same = "the same but for names, numbers, comments and layout"
        elif min(len(own[a]), len(own[b])) >= FEW:
            shared = frozenset(own[a] & own[b])
            share = len(shared) / len(own[a] | own[b])
        else:
            continue
        if share >= ALIKE:
            found.append(Likeness(a, b, share, same, (one, other), shared))
    return sorted(found, key=lambda one: (-one.share, one.a, one.b))


def _program(student: Student) -> Program | None:
    """Return a student's program; None if the code cannot be parsed."""
    if student.submission is None:
        return None
    try:
        trees = reachable(student.submission.file)
    except KnightfallError:
        return None
    files, kinds, lines = list[tuple[str, str]](), list[str](), list[int]()
    before = 0  # lines of the files so far
    digest = hashlib.sha256()
    for file, tree in sorted(trees.items(), key=lambda item: item[0].name):
        written = _content(file)
        digest.update(written)
        content = _shown(written)
        before += bool(files)  # the line with the name of the file
        files.append((file.name, content))
        for kind, line in _kinds(tree):
            kinds.append(kind)
            lines.append(before + line - 1)
        before += len(content.splitlines() or [""])
    return Program(tuple(files), tuple(kinds), tuple(lines), digest.hexdigest())


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _shown(content: bytes) -> str:
    """Return a file's text with line breaks only where Python sees them."""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = (line.expandtabs(4) for line in text.split("\n"))
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _kinds(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the types of all syntax nodes in order, with their lines, without docstrings."""
    body = [node for node in getattr(tree, "body", ()) if not _is_text(node)]
    stack: list[tuple[ast.AST, int]] = [(tree, body[0].lineno if body else 1)]
    while stack:
        node, line = stack.pop()
        if _is_text(node):
            continue
        line = getattr(node, "lineno", line)
        if not isinstance(node, ast.expr_context):
            yield type(node).__name__, line
        stack += [(child, line) for child in reversed(list(ast.iter_child_nodes(node)))]


def _is_text(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, or a string used as a comment."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# -- side by side ------------------------------------------------------------------------------

STYLE = """
body { max-width: 92rem; }
.code { width: 100%; table-layout: fixed; font: 0.78rem/1.4 ui-monospace, monospace; }
.code col.number { width: 3.2em; } .code td { padding: 0 0.5em; white-space: pre-wrap;
  overflow-wrap: anywhere; vertical-align: top; }
.code th { text-align: left; padding: 0.3em 0.5em; font: 600 0.95rem system-ui, sans-serif; }
.code td:nth-child(odd) { text-align: right; color: var(--soft); user-select: none; }
.code td.same { background: var(--shared); box-shadow: inset 3px 0 var(--mark); }
:root { --shared: #f7dfa3; --mark: #c98a12; }
@media (prefers-color-scheme: dark) { :root { --shared: #4d3d17; --mark: #d9a441; } }
@media (max-width: 45rem) { .code { min-width: 46rem; } }
"""


def comparison_page(one: Likeness) -> str:
    """Return a page with two programs next to each other and their shared stretches marked."""
    return document(f"{text(one.a)} and {text(one.b)}", "".join(_comparison(one)), STYLE)


def _comparison(one: Likeness) -> Iterator[str]:
    yield f"<h1>{text(one.a)} and {text(one.b)}</h1>\n"
    marked = [_marked(program, one.shared) for program in one.programs]
    yield (
        f"<p>{text(one.words[0].upper() + one.words[1:])}. Marked lines begin code that both have: "
        f"{len(marked[0])} lines on the left and {len(marked[1])} on the right. Names, numbers, "
        "texts, comments and layout are not compared, and code that half of the class has is not "
        'marked unless everything is the same. <a href="../index.html">The class</a></p>\n'
    )
    yield (
        '<div class="scroll"><table class="code"><colgroup><col class="number"><col>'
        '<col class="number"><col></colgroup><thead><tr>'
        f'<th scope="col"></th><th scope="col">{text(one.a)}</th>'
        f'<th scope="col"></th><th scope="col">{text(one.b)}</th></tr></thead>\n<tbody>\n'
    )
    lines = [program.shown[:MOST_LINES] for program in one.programs]
    for pair in _aligned(*one.programs):
        cells = ""
        for at, said, same in zip(pair, lines, marked, strict=True):
            here = at is not None and at < len(said)
            kind = ' class="same"' if at in same else ""
            number, content = (str(at + 1), text(said[at])) if here and at is not None else ("", "")
            cells += f"<td>{number}</td><td{kind}>{content}</td>"
        yield f"<tr>{cells}</tr>\n"
    yield "</tbody></table></div>\n"


def _marked(program: Program, shared: frozenset[int]) -> set[int]:
    """Return the lines on which a node of a shared stretch begins."""
    return {
        line
        for at, stretch in enumerate(program.stretches())
        if stretch in shared
        for line in program.lines[at : at + STRETCH]
    }


def _aligned(one: Program, other: Program) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of lines, so that lines with the same syntax stand side by side."""
    keys, others = (_keys(program)[:MOST_LINES] for program in (one, other))
    matcher = SequenceMatcher(None, keys, others, autojunk=False)
    for _, low, high, start, end in matcher.get_opcodes():
        for at in range(max(high - low, end - start)):
            left, right = low + at, start + at
            yield left if left < high else None, right if right < end else None


def _keys(program: Program) -> list[tuple[str, ...]]:
    """Return a key of each line: the kinds of the nodes that begin on it, or its text."""
    found: list[list[str]] = [[] for _ in program.shown]
    for kind, line in zip(program.kinds, program.lines, strict=True):
        if line < len(found):
            found[line].append(kind)
    return [
        tuple(kinds or [said.strip()]) for kinds, said in zip(found, program.shown, strict=True)
    ]
