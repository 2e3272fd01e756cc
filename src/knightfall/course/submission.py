"""What somebody handed in: how it is named, and what is found out by reading it.

A submission is a file or a folder; nothing of it is run.  Its generation is that of the course's
board beside it; without one it is told by how its players are asked for a move, by the names of
its classes, and by the private names of the board that it uses.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from knightfall.course.generations import (
    BoardFile,
    BoardSource,
    Evidence,
    Generation,
    all_generations,
    default_generation,
    generation_named,
)
from knightfall.course.submission_files import (
    Player,
    files_named,
    find_file,
    is_file,
    player_of,
    reachable,
    tree_of,
)
from knightfall.errors import KnightfallError, nearest

# -- its name ----------------------------------------------------------------------------------


_GENERATION = re.compile(r",\s*generation\s*=\s*(\w*)\s*$")
_CHOICE = re.compile(r"#([A-Za-z_]\w*)(?:\(\s*([A-Za-z_]\w*)?\s*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A file or folder, and what is wanted of it; by default what the course's tournament took."""

    path: str
    name: str = ""
    score: str = ""
    generation: str = ""
    """Found out by reading it if it is empty."""

    def __str__(self) -> str:
        score = f"({self.score})" if self.score else ""
        choice = f"#{self.name}{score}" if self.name else ""
        generation = f", generation={self.generation}" if self.generation else ""
        return f"{self.path}{choice}{generation}"

    def absolute(self) -> Reference:
        """The same by its full path: good in any folder."""
        return replace(self, path=os.path.join(os.getcwd(), os.path.expanduser(self.path)))


def parse_reference(text: str) -> Reference:
    """Return what a text names, checked for its form; nothing is looked at."""
    generation = _GENERATION.search(text)
    named = (text[: generation.start()] if generation else text).strip()
    if generation:
        generation_named(generation[1])  # which refuses what is none
    choice = _CHOICE.search(named)
    path = named[: choice.start()].strip() if choice else named
    if not path or path == ".." or "\0" in path or "\n" in path:
        raise KnightfallError(
            f"{named!r} names no submission: write a file or folder, and perhaps a class with its "
            "score, as in game_agent.py#AlphaBetaPlayer(custom_score_2)"
        )
    normal = os.path.normpath(path) if ".." not in path.split(os.sep) else path
    name, score = (choice[1], choice[2] or "") if choice else ("", "")
    return Reference(normal, name, score, generation[1] if generation else "")


# -- the board beside it -----------------------------------------------------------------------


PLACES = ("isolation.py", "isolation/isolation.py", "isolation/__init__.py")
"""Where `import isolation` finds a board, seen from the folder of a submission or from its parent:
a script of the course may lie there."""


def board_beside(submission: Path) -> BoardFile | None:
    """Return the board that a submission was written for, if it lies beside it."""
    for place in (submission.parent, submission.parent.parent):
        for name in PLACES:
            if is_file(place / name):
                found = read_board(place / name)
                if found is not None:
                    return found
    return None


def read_board(file: Path) -> BoardFile | None:
    """Return what a file tells about the board in it; None if there is none that is known.

    The later a board, the less it has that others have not: the oldest are asked first.
    """
    try:
        tree = tree_of(file)
    except KnightfallError:
        return None
    source = BoardSource(tree)
    for generation in reversed(all_generations()):
        sign = generation.board_sign(source)
        if sign:
            return BoardFile(file, generation, sign)
    return None


# -- the submission ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Submission:
    """A submission as its files tell; `why` says what gave its generation away."""

    file: Path
    generation: Generation
    why: str
    players: tuple[Player, ...]
    scores: tuple[str, ...]
    names: frozenset[str]
    open_ended: bool = False
    """Whether it imports all there is of some module, so that it may hold any name."""

    @property
    def competition(self) -> bool:
        """Whether it is what the course's competition asked for."""
        return self.file.name == "competition_agent.py"

    @cached_property
    def default(self) -> str:
        """The class that the course's tournament would have asked; a score if there is none."""
        return _usual([player.name for player in self.players] or list(self.scores))

    def choice(self, name: str = "") -> Iterator[str]:
        """Yield a line that says which class plays, if the file has several of them."""
        name = name or self.default
        others = ", ".join(player.name for player in self.players if player.name != name)
        if others:
            yield f"{name} plays; the file also has {others} (PATH#Class plays another)"

    def check(self, name: str, score: str = "") -> None:
        """Refuse a class or a score that is not there."""
        if self.open_ended:
            return
        if name and name not in self.names:
            there = ", ".join([*(player.name for player in self.players), *self.scores])
            raise KnightfallError(
                f"{self.file} has no class {name!r}{nearest(name, self.names)} (it has {there})"
            )
        if score and score not in self.names and score not in SAMPLE_SCORES:
            there = ", ".join(self.scores) or "none"
            raise KnightfallError(
                f"{self.file} has no score {score!r}{nearest(score, self.scores)} (it has {there}, "
                f"and the course has {', '.join(SAMPLE_SCORES)})"
            )


def _usual(known: list[str]) -> str:
    for usual in ("AlphaBetaPlayer", "CustomPlayer", "MinimaxPlayer"):
        if usual in known:
            return usual
    return known[0]


MAY_BE_FUNCTION = ast.Name | ast.Attribute | ast.Call | ast.Lambda | ast.Subscript
"""What may stand for a function to the right of an assignment."""

SAMPLE_SCORES = ("null_score", "open_move_score", "improved_score", "center_score")


# -- reading it ------------------------------------------------------------------------------


def read_submission(path: str, generation: str = "") -> Submission:
    """Return what a file or folder holds; `generation` is believed if it is given."""
    file = find_file(path)
    trees = reachable(file)
    tree = trees[file]
    names, open_ended = _bound(tree)
    players = tuple(_players(trees, file, names))
    scores = tuple(_scores(trees, file, names))
    if generation:
        of, why = generation_named(generation), "as you say"
        acts = any(player.acts for player in players)
        if acts != of.on_11x9:
            has = "get_action" if acts else "get_move"
            raise KnightfallError(f"{file} has {has}, so its generation is not {generation!r}")
    elif players or not scores:
        of, why = _generation(file, trees, players)
    else:
        of, why = default_generation(), "it has nothing but scores"
    return Submission(
        file=file,
        generation=of,
        why=why,
        players=players,
        scores=scores,
        names=frozenset(names),
        open_ended=open_ended,
    )


def checked(reference: Reference) -> Submission:
    """The submission of a reference; refused if what is wanted of it is not there."""
    found = read_submission(reference.path, reference.generation)
    found.check(reference.name, reference.score)
    return found


def sources(path: str) -> tuple[str, ...]:
    """Return the files that decide what a submission does: its modules, and what they name.

    They are found by reading: what it imports, wherever, and the files whose names are in it; and
    the board beside it, which tells its generation.
    """
    file = find_file(path)
    trees = reachable(file, broken=True)
    board = board_beside(file)
    found = {*trees, *files_named(trees, file.parent), *([board.file] if board else [])}
    return tuple(sorted(map(str, found)))


def _bound(tree: ast.Module) -> tuple[set[str], bool]:
    """The names that a module holds, and whether it may hold others."""
    names: set[str] = set()
    every = False
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                every |= alias.name == "*"
                names.add((alias.asname or alias.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        todo += ast.iter_child_nodes(node)
    return names, every


# -- what is in it ---------------------------------------------------------------------------


def _players(trees: dict[Path, ast.Module], file: Path, names: set[str]) -> Iterator[Player]:
    """The classes of a file that can be asked, also by what they inherit or import."""
    classes: dict[str, ast.ClassDef] = {}
    for tree in reversed(trees.values()):  # those of the file itself count most
        classes.update({n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)})

    def player(name: str, seen: tuple[str, ...] = ()) -> Player | None:
        node = classes.get(name)
        if node is None or name in seen:
            return None
        own = player_of(node)
        if own is not None:
            return own
        for base in node.bases:
            called = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
            found = player(called, (*seen, name))
            if found is not None:
                return Player(name, node.lineno, found.takes, found.acts)
        return None

    top = [node.name for node in ast.walk(trees[file]) if isinstance(node, ast.ClassDef)]
    for name in [*top, *sorted(names - set(top))]:
        found = player(name)
        if found is not None and name in names:
            yield found


def _scores(trees: dict[Path, ast.Module], file: Path, names: set[str]) -> Iterator[str]:
    """Yield the names of scores: functions of a game and a player, however they are made."""
    seen: set[str] = set()
    for tree in trees.values():
        for node in tree.body:
            for name in _score_names(node):
                if name not in seen and (name in names or tree is trees[file]):
                    seen.add(name)
                    yield name


def _score_names(node: ast.stmt) -> Iterator[str]:
    """Yield the scores that a statement defines, or assigns to one of the course's names."""
    if isinstance(node, ast.FunctionDef):
        taken = [*node.args.posonlyargs, *node.args.args]
        required = len(taken) - len(node.args.defaults)
        called_so = "score" in node.name or [one.arg for one in taken[:2]] == ["game", "player"]
        if called_so and required == 2:
            yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, MAY_BE_FUNCTION):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.startswith("custom_score"):
                yield target.id


def _generation(
    file: Path, trees: dict[Path, ast.Module], players: tuple[Player, ...]
) -> tuple[Generation, str]:
    """Return the generation and the sign by which it is known: the surest there is."""
    names = frozenset(player.name for player in players)
    asked = _usual([player.name for player in players]) if players else ""
    found = Evidence(
        file=file,
        acts=any(player.acts for player in players),
        takes=frozenset(player.takes for player in players if player.name == asked),
        players=names,
        used=frozenset(
            node.attr
            for tree in trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
        ),
        board=board_beside(file) if players else None,
    )
    signs = [
        (strength, place, generation, words)
        for place, generation in enumerate(all_generations())
        for strength, words in generation.signs(found)
    ]
    if signs:
        _, _, generation, words = min(signs, key=lambda sign: sign[:2])
        return generation, words
    if not players:
        raise KnightfallError(
            f"{file} has no class with get_move or get_action: it is no submission of the course"
        )
    told = ", ".join(sorted(names))
    raise KnightfallError(
        f"{file}: the course asked for get_move(game, time_left) or get_move(game, legal_moves, "
        f"time_left), and none of its players ({told}) has that"
    )
