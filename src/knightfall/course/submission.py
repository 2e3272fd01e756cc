"""What somebody handed in, found out by reading it: nothing of it is run.

A submission is a file or a folder.  Its generation is told by how its players are asked for a
move, by the names of its classes, and by the private names of the board that it uses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from knightfall.course.find import Player, find_file, player_of
from knightfall.course.modules import files_named, imports_numpy, reachable
from knightfall.course.reference import Reference
from knightfall.errors import KnightfallError, nearest

OLDEST = {
    "__board_state__", "__last_player_move__", "__player_symbols__", "__active_player__",
    "__inactive_player__", "__player_1__", "__player_2__",
}  # fmt: skip
"""Names that only the first board has."""


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


SAMPLE_SCORES = ("null_score", "open_move_score", "improved_score", "center_score")


# -- reading it ------------------------------------------------------------------------------


def read_submission(path: str) -> Submission:
    """What a file or folder holds."""
    file = find_file(path)
    trees = reachable(file)
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
        uses_numpy=any(imports_numpy(one) for one in trees.values()),
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
    trees = reachable(file, broken=True)
    return tuple(sorted(str(one) for one in {*trees, *files_named(trees, file.parent)}))


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
