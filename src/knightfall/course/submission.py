"""What somebody handed in, found out by reading it: nothing of it is run.

A submission is a file or a folder.  Its generation is told by how its players are asked for a
move, by the names of its classes, and by the private names of the board that it uses.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from knightfall.course.reference import Reference
from knightfall.errors import KnightfallError, nearest

USUAL = ("game_agent.py", "my_custom_player.py", "competition_agent.py")
"""What the course called the file that students fill in; the first of them that is there."""

NOT_HANDED_IN = (
    "isolation", "sample_players", "agent_test", "tournament", "setup", "run_match",
    "isoviz", "viz",
)  # fmt: skip
"""Modules that the course itself put beside it."""

OLDEST = {
    "__board_state__", "__last_player_move__", "__player_symbols__", "__active_player__",
    "__inactive_player__", "__player_1__", "__player_2__",
}  # fmt: skip
"""Names that only the first board has."""

LARGEST = 4 << 20
"""Bytes of a file that somebody wrote by hand."""

DEEPEST = 4
"""Folders within folders in which a submission is looked for."""

MOST_FILES = 4000
"""Files of a folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Player:
    """A class that can be asked for moves; `takes` counts what `get_move` gets beside itself."""

    name: str
    line: int
    takes: int | None = None
    acts: bool = False


@dataclass(frozen=True)
class Submission:
    """A submission as its files tell; `why` says what gave its generation away."""

    file: Path
    generation: str
    why: str
    players: tuple[Player, ...]
    scores: tuple[str, ...]
    names: frozenset[str]
    uses_numpy: bool = False
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


SAMPLE_SCORES = ("null_score", "open_move_score", "improved_score", "center_score")


# -- finding it ------------------------------------------------------------------------------


def find_file(path: str) -> Path:
    """The file that somebody wrote: the path itself, or what lies in that folder."""
    try:
        place = Path(path).expanduser()
        if place.is_file():
            return place.absolute()
        if not place.is_dir():
            raise KnightfallError(f"there is no file or folder {path!r}")
        return _within(place.absolute(), path)
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown
        raise KnightfallError(f"{path!r}: {error}") from None


def _within(folder: Path, shown: str) -> Path:
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
    for file in sorted(place.glob("*.py"))[:MOST_FILES]:
        if file.stem in NOT_HANDED_IN or not file.is_file():
            continue
        try:
            tree = _tree(file)
        except KnightfallError:
            continue
        if any(_asked(node) for node in tree.body if isinstance(node, ast.ClassDef)):
            yield file


# -- reading it ------------------------------------------------------------------------------


def read_submission(path: str) -> Submission:
    """What a file or folder holds."""
    file = find_file(path)
    trees = _reachable(file)
    tree = trees[file]
    names, open_ended = _bound(tree)
    players = tuple(_players(trees, file, names))
    scores = tuple(_scores(trees, file, names))
    if players or not scores:
        generation, why = _generation(file, trees, players)
    else:
        generation, why = "2017b", "it has nothing but scores"
    return Submission(
        file=file,
        generation=generation,
        why=why,
        players=players,
        scores=scores,
        names=frozenset(names),
        uses_numpy=any(_imports_numpy(one) for one in trees.values()),
        open_ended=open_ended,
    )


def checked(reference: Reference) -> Submission:
    """The submission of a reference; refused if what is wanted of it is not there."""
    found = read_submission(reference.path)
    found.check(reference.name, reference.score)
    return found


def sources(path: str) -> tuple[str, ...]:
    """The files beside a submission that decide what it does: its modules, and what they name.

    They are found by reading: what it imports, wherever, and the files whose names are in it.
    """
    file = find_file(path)
    trees = _reachable(file, broken=True)
    words = {
        node.value
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    words.add("data.pickle")  # which the successor's players read
    named = set()
    for word in words:
        if word.strip() and "\0" not in word and not os.path.isabs(word):
            named.add(file.parent / word)
    found = {*trees, *(one for one in named if _is_file(one) and _inside(one, file.parent))}
    return tuple(sorted(str(one) for one in found))


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _inside(file: Path, folder: Path) -> bool:
    return Path(os.path.normpath(file)).is_relative_to(folder)


def _tree(file: Path) -> ast.Module:
    try:
        if file.stat().st_size > LARGEST:
            raise KnightfallError(f"{file} is too large to be a submission")
        text = file.read_bytes()
    except OSError as error:
        raise KnightfallError(f"{file}: {error.strerror or error}") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, str(file))
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise KnightfallError(f"{file}{where}: {type(error).__name__}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise KnightfallError(f"{file}: {error}") from None


def _reachable(file: Path, *, broken: bool = False) -> dict[Path, ast.Module]:
    """The modules beside a file that it imports, directly or not, itself first.

    With `broken`, those that cannot be read are there as well, as empty ones.
    """
    found: dict[Path, ast.Module] = {}
    todo = [file]
    while todo and len(found) < MOST_FILES:
        here = todo.pop()
        if here in found:
            continue
        try:
            found[here] = _tree(here)
        except KnightfallError:
            if here == file and not broken:
                raise
            found[here] = ast.Module([], [])
        todo += _imports(found[here], here, file.parent)
    return found


def _imports(tree: ast.Module, here: Path, top: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        names: list[tuple[Path, str]] = []
        if isinstance(node, ast.Import):
            names = [(top, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = top
            for _ in range(node.level):
                base = here.parent if base is top else base.parent
            module = node.module or ""
            names = [(base, module)] if module else []
            names += [(base, f"{module}.{alias.name}".strip(".")) for alias in node.names]
        for base, name in names:
            parts = name.split(".")
            if parts[0] in NOT_HANDED_IN:
                continue
            for end in range(1, len(parts) + 1):
                at = base.joinpath(*parts[:end])
                for candidate in (at.with_name(at.name + ".py"), at / "__init__.py"):
                    if _is_file(candidate):
                        yield candidate


def _imports_numpy(tree: ast.Module) -> bool:
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


def _asked(node: ast.ClassDef) -> Player | None:
    """The player that a class is by its own methods."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("get_move", "get_action"):
            taken = [each.arg for each in (*method.args.posonlyargs, *method.args.args)][1:]
            required = len(taken) - len(method.args.defaults)
            takes: int | None = (
                3 if any("moves" in name for name in taken[1:2]) else max(2, required)
            )
            if len(taken) < 2:  # or it takes whatever there is
                takes = None
            return Player(node.name, node.lineno, takes, acts=method.name == "get_action")
    return None


def _players(trees: dict[Path, ast.Module], file: Path, names: set[str]) -> Iterator[Player]:
    """The classes of a file that can be asked, also by what they inherit or import."""
    classes: dict[str, ast.ClassDef] = {}
    for tree in reversed(trees.values()):  # those of the file itself count most
        classes.update({n.name: n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)})

    def player(name: str, seen: tuple[str, ...] = ()) -> Player | None:
        node = classes.get(name)
        if node is None or name in seen:
            return None
        own = _asked(node)
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
    """The functions of a game and a player, which is what scores are."""
    seen: set[str] = set()
    for tree in trees.values():
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name in seen:
                continue
            taken = [*node.args.posonlyargs, *node.args.args]
            required = len(taken) - len(node.args.defaults)
            is_score = "score" in node.name and required == 2
            is_score |= [each.arg for each in taken[:2]] == ["game", "player"] and required == 2
            if is_score and (node.name in names or tree is trees[file]):
                seen.add(node.name)
                yield node.name


def _generation(
    file: Path, trees: dict[Path, ast.Module], players: tuple[Player, ...]
) -> tuple[str, str]:
    if any(player.acts for player in players) or file.name == "my_custom_player.py":
        return "successor", "its players have get_action"
    used = {
        node.attr for tree in trees.values() for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }  # fmt: skip
    names = {player.name for player in players}
    asked = _usual([player.name for player in players]) if players else ""
    takes = {player.takes for player in players if player.name == asked}
    if 2 in takes:
        return "2017b", "get_move takes game and time_left"
    oldest = sorted(used & OLDEST)
    if oldest:
        return "oldest", f"it uses the first board's {oldest[0]}"
    if "__get_moves__" in used and "_Board__get_moves" not in used:
        return "early", "it uses __get_moves__, as before the end of March 2017"
    if 3 in takes:
        return "2017a", "get_move takes game, legal_moves and time_left"
    if names & {"MinimaxPlayer", "AlphaBetaPlayer"}:
        return "2017b", "it has MinimaxPlayer or AlphaBetaPlayer"
    if "CustomPlayer" in names:
        return "2017a", "it has CustomPlayer"
    if not players:
        raise KnightfallError(
            f"{file} has no class with get_move or get_action: it is no submission of the course"
        )
    told = ", ".join(sorted(names))
    raise KnightfallError(
        f"{file}: the course asked for get_move(game, time_left) or get_move(game, legal_moves, "
        f"time_left), and none of its players ({told}) has that"
    )
