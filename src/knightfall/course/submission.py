"""Submissions of the course: references to them, and what is found by reading their source.

A submission is a file or a folder; none of its code is run here.  Its generation is inferred from a
course board beside it, the arguments of `get_move`, the names of its classes, and the private names
of the board that it uses.
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
    Generation,
    GenerationEvidence,
    all_generations,
    default_generation,
    generation_named,
)
from knightfall.errors import KnightfallError, nearest
from knightfall.isolation.scratch_folder import leads_out
from knightfall.user_files import is_file, parse_source, parsed_modules, path_here

NOT_HANDED_IN = (
    "isolation", "sample_players", "agent_test", "tournament", "setup", "run_match",
    "isoviz", "viz",
)  # fmt: skip
"""Modules that the course provided beside the student's file."""

MOST_FILES = 4000
"""Maximum number of files of a folder that are examined."""


def reachable(file: Path, *, broken: bool = False) -> dict[Path, ast.Module]:
    """Parse a submission's file and its own modules; see `parsed_modules`."""
    return parsed_modules(file, broken=broken, leave_out=NOT_HANDED_IN)


def imports_numpy(tree: ast.Module) -> bool:
    """Return whether a module imports numpy or scipy."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] in ("numpy", "scipy") for name in modules):
            return True
    return False


def files_named(trees: dict[Path, ast.Module], folder: Path) -> set[Path]:
    """Return the files in a folder whose names appear as strings in some modules."""
    words = {
        node.value
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    words.add("data.pickle")  # read by the successor's DataPlayer
    named = {
        folder / word
        for word in words
        if word.strip() and "\0" not in word and not os.path.isabs(word)
    }
    return {one for one in named if is_file(one) and not leads_out(one, folder)}


# -- finding the file --------------------------------------------------------------------------


USUAL = ("game_agent.py", "my_custom_player.py", "competition_agent.py")
"""The names of the file that students complete; the first that exists is taken."""

DEEPEST = 4
"""How many levels of folders are searched for a submission."""


@dataclass(frozen=True, slots=True)
class PlayerClass:
    """A class with `get_move` or `get_action`; `takes` is the number of arguments after self."""

    name: str
    takes: int | None
    """None if it accepts any number of arguments."""
    acts: bool
    """Whether the method is `get_action`."""


def player_of(node: ast.ClassDef) -> PlayerClass | None:
    """Return a class's `PlayerClass` if it defines `get_move` or `get_action` itself, else None."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("get_move", "get_action"):
            taken = [each.arg for each in (*method.args.posonlyargs, *method.args.args)][1:]
            takes: int | None = max(2, len(taken) - len(method.args.defaults))
            if len(taken) < 2:  # *args: any number
                takes = None
            elif "moves" in taken[1]:
                takes = 3
            return PlayerClass(node.name, takes, acts=method.name == "get_action")
    return None


def find_file(path: str) -> Path:
    """Return the submission's file: the path itself, or the one found in that folder."""
    try:
        place = Path(path_here(path)).expanduser()
        if place.is_file():
            return place.absolute()
        if not place.is_dir():
            raise KnightfallError(f"there is no file or folder {path!r}")
        return _within(place.absolute(), path)
    except (OSError, RuntimeError) as error:  # name too long, unknown user
        raise KnightfallError(f"{path!r}: {error}") from None


def _within(folder: Path, shown: str) -> Path:
    """Return the one submission in a folder, searched level by level; raise if not exactly one."""
    level = [folder]
    for _ in range(DEEPEST):
        for usual in USUAL:
            found = [place / usual for place in level if (place / usual).is_file()]
            if len(found) == 1:
                return found[0]
            if found:
                raise KnightfallError(
                    f"{shown!r} holds {len(found)} submissions, such as {found[0]} and {found[1]}: "
                    "name one of them"
                )
        written = [file for place in level for file in _players_in(place)]
        if len(written) == 1:
            return written[0]
        if written:
            names = ", ".join(str(file.relative_to(folder)) for file in written[:3])
            raise KnightfallError(f"{shown!r} holds players in {names}: name the file you mean")
        level = [inner for place in level for inner in _folders(place)][:MOST_FILES]
    raise KnightfallError(
        f"{shown!r} holds no submission: neither {', '.join(USUAL)} nor another file with a class "
        "that has get_move or get_action"
    )


def _folders(place: Path) -> list[Path]:
    try:
        found = [inner for inner in place.iterdir() if inner.is_dir() and not inner.is_symlink()]
    except OSError:
        return []
    return sorted(inner for inner in found if not inner.name.startswith((".", "__")))


def _players_in(place: Path) -> Iterator[Path]:
    """Yield the Python files of a folder that define a player class."""
    for file in sorted(place.glob("*.py"))[:MOST_FILES]:
        if file.stem in NOT_HANDED_IN or not file.is_file():
            continue
        try:
            tree = parse_source(file)
        except KnightfallError:
            continue
        if any(player_of(node) for node in tree.body if isinstance(node, ast.ClassDef)):
            yield file


# -- references --------------------------------------------------------------------------------


_GENERATION = re.compile(r",\s*generation\s*=\s*(\w*)\s*$")
_CHOICE = re.compile(r"#([A-Za-z_]\w*)(?:\(\s*([A-Za-z_]\w*)?\s*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A submission's path, and the class, score and generation to use.

    An empty name or score means the one that the course's tournament used.
    """

    path: str
    name: str = ""
    score: str = ""
    generation: str = ""
    """Inferred from the submission if empty."""

    def __str__(self) -> str:
        score = f"({self.score})" if self.score else ""
        choice = f"#{self.name}{score}" if self.name else ""
        generation = f", generation={self.generation}" if self.generation else ""
        return f"{self.path}{choice}{generation}"

    def absolute(self) -> Reference:
        """Return the same reference with an absolute path."""
        return replace(self, path=os.path.join(os.getcwd(), os.path.expanduser(self.path)))


def parse_reference(text: str) -> Reference:
    """Parse ``PATH#Class(score), generation=G``; only the form is checked, not the file."""
    generation = _GENERATION.search(text)
    named = (text[: generation.start()] if generation else text).strip()
    if generation:
        generation_named(generation[1])  # raises for an unknown name
    choice = _CHOICE.search(named)
    path = named[: choice.start()].strip() if choice else named
    if not path or path == ".." or "\0" in path or "\n" in path:
        raise KnightfallError(
            f"{named!r} is not a submission: write a file or folder, optionally with a class and "
            "score, as in game_agent.py#AlphaBetaPlayer(custom_score_2)"
        )
    normal = os.path.normpath(path) if ".." not in path.split(os.sep) else path
    name, score = (choice[1], choice[2] or "") if choice else ("", "")
    return Reference(normal, name, score, generation[1] if generation else "")


# -- the board beside a submission -------------------------------------------------------------


PLACES = ("isolation.py", "isolation/isolation.py", "isolation/__init__.py")
"""Files in which `import isolation` finds a board, relative to the submission's folder or its
parent (from which a course script may be run)."""


def board_beside(submission: Path) -> BoardFile | None:
    """Return the course board in the submission's folder or its parent; None if there is none."""
    for place in (submission.parent, submission.parent.parent):
        for name in PLACES:
            if is_file(place / name):
                found = read_board(place / name)
                if found is not None:
                    return found
    return None


def read_board(file: Path) -> BoardFile | None:
    """Return the generation of the board in a file; None if it is not a known board.

    Older generations are tried first, because newer boards have fewer distinctive features.
    """
    try:
        tree = parse_source(file)
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
    """Facts about a submission, read from its source; `why` is the evidence for its generation."""

    file: Path
    generation: Generation
    why: str
    players: tuple[PlayerClass, ...]
    scores: tuple[str, ...]
    names: frozenset[str]
    open_ended: bool = False
    """Whether it has a star import, so that any name may exist in it."""

    @property
    def competition(self) -> bool:
        """Return whether this is the file for the course's competition, `competition_agent.py`."""
        return self.file.name == "competition_agent.py"

    @cached_property
    def default(self) -> str:
        """Return the class that the course's tournament uses; if there is none, a score's name."""
        return _usual([player.name for player in self.players] or list(self.scores))

    def choice(self, name: str = "") -> Iterator[str]:
        """Yield a line that says which class plays, if the file has several."""
        name = name or self.default
        others = ", ".join(player.name for player in self.players if player.name != name)
        if others:
            yield f"{name} plays; the file also has {others} (PATH#Class plays another)"

    def check(self, name: str, score: str = "") -> None:
        """Raise `KnightfallError` if the class or the score does not exist."""
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
"""Expressions that may evaluate to a function, on the right of an assignment."""

SAMPLE_SCORES = ("null_score", "open_move_score", "improved_score", "center_score")


# -- reading a submission --------------------------------------------------------------------


def read_submission(path: str, generation: str = "") -> Submission:
    """Read the submission in a file or folder; a given `generation` overrides the inferred one."""
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
            raise KnightfallError(
                f"{file} defines {has}, so it cannot be of generation {generation}"
            )
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
    """Read a reference's submission; raise `KnightfallError` if its class or score is missing."""
    found = read_submission(reference.path, reference.generation)
    found.check(reference.name, reference.score)
    return found


def sources(path: str) -> tuple[str, ...]:
    """Return the files that a submission's behaviour depends on.

    They are found by reading: the modules it imports, files whose names appear in its strings, and
    the board beside it, which decides its generation.
    """
    file = find_file(path)
    trees = reachable(file, broken=True)
    board = board_beside(file)
    own = {one for one in trees if one == file or not leads_out(one, file.parent)}
    found = {*own, *files_named(trees, file.parent), *([board.file] if board else [])}
    return tuple(sorted(map(str, found)))


def _bound(tree: ast.Module) -> tuple[set[str], bool]:
    """Return the names that a module defines, and whether a star import may add others."""
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


# -- players, scores, generation -------------------------------------------------------------


def _players(trees: dict[Path, ast.Module], file: Path, names: set[str]) -> Iterator[PlayerClass]:
    """Yield the player classes of a file, including imported ones and inherited methods."""
    classes: dict[str, ast.ClassDef] = {}
    for tree in reversed(trees.values()):  # the file's own classes take precedence
        classes.update({n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)})

    def player(name: str, seen: tuple[str, ...] = ()) -> PlayerClass | None:
        """Return the player class of this name, with its own or inherited methods; else None."""
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
                return replace(found, name=name)
        return None

    top = [node.name for node in ast.walk(trees[file]) if isinstance(node, ast.ClassDef)]
    for name in [*top, *sorted(names - set(top))]:
        found = player(name)
        if found is not None and name in names:
            yield found


def _scores(trees: dict[Path, ast.Module], file: Path, names: set[str]) -> Iterator[str]:
    """Yield the names of score functions, which take a game and a player."""
    seen: set[str] = set()
    for tree in trees.values():
        for node in tree.body:
            for name in _score_names(node):
                if name not in seen and (name in names or tree is trees[file]):
                    seen.add(name)
                    yield name


def _score_names(node: ast.stmt) -> Iterator[str]:
    """Yield the names of scores that a statement defines or assigns to `custom_score…`."""
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
    file: Path, trees: dict[Path, ast.Module], players: tuple[PlayerClass, ...]
) -> tuple[Generation, str]:
    """Return the generation with the strongest evidence, and a text that states this evidence."""
    names = frozenset(player.name for player in players)
    asked = _usual([player.name for player in players]) if players else ""
    found = GenerationEvidence(
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
            f"{file} has no class with get_move or get_action: it is not a course submission"
        )
    listed = ", ".join(sorted(names))
    raise KnightfallError(
        f"{file}: none of its players ({listed}) has get_move(game, time_left) or "
        "get_move(game, legal_moves, time_left), as the course requires"
    )
