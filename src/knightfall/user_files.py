"""A user's Python file: loaded by path, its errors told with its own line numbers.

While a file is loaded, it is noted which modules of the user's it imports and which files it reads.
They all decide what the file does, so an edit in any of them means that it is loaded anew, and that
what was played with it before is another matter.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from knightfall.errors import FileFault, KnightfallError, nearest
from knightfall.files import cache_folder, data_folder, make_private
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated

REVISION = r"(?:@((?!-)[^\s,()*+]+))?"


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function in a user's file, as it is or as it was at a git revision.

    Written ``mine.py:name`` and ``mine.py:name@HEAD``.  Spellings of one path are made equal.
    """

    path: str
    name: str
    revision: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _normal(self.path))

    def __str__(self) -> str:
        return f"{self.path}:{self.name}{f'@{self.revision}' if self.revision else ''}"

    def absolute(self) -> UserFunction:
        """The same, by its full path and its commit: good in any folder, at any time."""
        path = os.path.join(os.getcwd(), os.path.expanduser(self.path))
        commit = commit_of(path, self.revision) if self.revision else ""
        return replace(self, path=path, revision=commit)

    def load(self, what: str) -> Any:
        """Whatever the file calls by that name; `what` it should be is for the error."""
        shown = self._shown
        module = load(self.file(what), shown).module
        found = getattr(module, self.name, None)
        if found is None:
            callables = [key for key, value in vars(module).items() if callable(value)]
            hint = nearest(self.name, callables)
            raise KnightfallError(f"{what} {self}: {shown} defines no {self.name!r}{hint}")
        return found

    def sources(self) -> tuple[str, ...]:
        """The user's files that decide what it does: its own, and what that imports and reads.

        It is loaded for that.  Of a former version, its commit says enough.
        """
        found = load(self.file("agent"), self._shown).stamps
        return tuple(path for path in found if not Path(path).is_relative_to(kept_revisions()))

    @property
    def _shown(self) -> str:
        return f"{self.path}@{self.revision}" if self.revision else self.path

    def file(self, what: str) -> Path:
        """Return the file it is in, a former version's copy included; `what` is for the error."""
        try:
            file = Path(self.path).expanduser()
            if self.revision:
                file = at_revision(str(file.absolute()), self.revision)
            exists = file.is_file()
        except (OSError, RuntimeError) as error:  # a name too long, a user unknown
            raise KnightfallError(f"{what} {self}: {error}") from None
        if not exists:
            raise KnightfallError(f"{what} {self}: there is no file {self.path!r}")
        return file.resolve()


@dataclass(frozen=True, slots=True)
class PackageFunction(UserFunction):
    """A function in a module of an installed package, written by its scheme as in ``mine:cosy``."""

    scheme: str = ""

    def __str__(self) -> str:
        return f"{self.scheme}{self.name}"

    def absolute(self) -> UserFunction:
        """The same: it is found by its package."""
        return self


def parse_function(text: str) -> UserFunction | None:
    """The function that ``file.py:name`` or ``file.py:name@revision`` names; None if none."""
    match = re.fullmatch(rf"(.+\.py):([A-Za-z_][A-Za-z0-9_]*){REVISION}", text, re.ASCII)
    return None if match is None else UserFunction(match[1], match[2], match[3] or "")


def _normal(path: str) -> str:
    """``mine.py`` for ``./mine.py`` and ``there/../mine.py``, unless `there` is a link."""
    normal = os.path.normpath(path)
    if ".." in Path(path).parts and os.path.realpath(path) != os.path.realpath(normal):
        return path
    return normal


# -- errors ----------------------------------------------------------------------------------


def line_in(path: str, error: BaseException) -> int | None:
    """The line of a file in which an error arose, or None if the file had no part in it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else None


def describe(path: str, error: BaseException, shown: str) -> str:
    """One line: where in the file, and what."""
    line = line_in(path, error)
    where = f"{shown}, line {line}" if line else shown
    what = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{where}: {type(error).__name__}: {what}"


# -- loading ---------------------------------------------------------------------------------

Stamp = tuple[int, int]
"""What changes when a file is edited."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    module: Any
    stamps: dict[str, Stamp | None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a file finds when it is loaded, beside its neighbours: inside `enter(*arguments)`."""

    enter: Callable[..., AbstractContextManager[object]] = nullcontext
    arguments: tuple[Any, ...] = ()


ORDINARY = Surroundings()
"""Nothing but its neighbours."""

_loaded: dict[tuple[Path, Surroundings], _Loaded] = {}
_loading = threading.RLock()


def load(file: Path, shown: str, there: Surroundings = ORDINARY) -> _Loaded:
    key = file, there
    with _loading:
        known = _loaded.get(key)
        if known is None or any(stamp(path) != then for path, then in known.stamps.items()):
            known = _loaded[key] = _load_anew(file, shown, there)
        return known


def _load_anew(file: Path, shown: str, there: Surroundings) -> _Loaded:
    spec = importlib.util.spec_from_file_location(f"knightfall_user_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise KnightfallError(f"{shown} cannot be loaded as a Python file")
    if not is_expendable():
        _try(file, shown, there)
    module = importlib.util.module_from_spec(spec)
    try:
        with (
            _own_modules(file.parent) as imported,
            _noting_reads() as read,
            there.enter(*there.arguments),
            _importable(module, file.stem),
        ):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except KnightfallError as error:
        raise KnightfallError(f"{shown}: {error}") from None
    except BaseException as error:  # a file that calls sys.exit() is an error like any other
        raise FileFault(describe(str(file), error, shown), line_in(str(file), error)) from None
    found = {path for path in imported | read if _is_users(path, file.parent)}
    return _Loaded(module, {path: stamp(path) for path in sorted(found | {str(file)})})


def _try(file: Path, shown: str, there: Surroundings) -> None:
    """Have another process load a file first: it may exit, crash or never end."""
    try:
        wrong = run_isolated(try_to_load, file, there)
    except ChildExited as exited:
        wrong = str(exited)
    if wrong:
        raise KnightfallError(f"{shown} cannot be loaded: it {wrong}")


def try_to_load(file: Path, there: Surroundings = ORDINARY) -> str:
    """Load a file in an expendable process; return what makes that impossible, if anything.

    Ordinary errors are not: they are raised when the file is loaded in earnest.
    """
    try:
        load(file, str(file), there)
    except KeyboardInterrupt:
        return "raises KeyboardInterrupt"
    except BaseException:
        pass
    return ""


def stamp(path: str) -> Stamp | None:
    """What changes when a file is edited; None if it cannot be looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@contextmanager
def _own_modules(folder: Path) -> Iterator[set[str]]:
    """Let a file import its neighbours, as it could when run by itself; yields their files.

    It gets them as they are now, and nobody else gets them: the next file may have a neighbour of
    the same name.
    """
    here = str(folder)
    mine = {
        name: module
        for name, module in sys.modules.items()
        if name != "__main__" and _source(module).startswith(os.path.join(here, ""))
    }
    mine = {name: module for name, module in mine.items() if _is_users(_source(module), folder)}
    for name in mine:
        del sys.modules[name]
    before, imported = set(sys.modules), set[str]()
    # Byte code is known by its source's second and size: two quick edits would look alike.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    sys.path.insert(0, here)
    try:
        yield imported
    finally:
        sys.dont_write_bytecode = writes
        with suppress(ValueError):
            sys.path.remove(here)
        for name in set(sys.modules) - before:
            source = _source(sys.modules[name])
            if _is_users(source, folder):
                imported.add(source)
                del sys.modules[name]
        sys.modules.update(mine)


@contextmanager
def _importable(module: ModuleType, name: str) -> Iterator[None]:
    """Let a file's neighbours import it while it is loaded, unless something else has its name."""
    sys.modules.setdefault(name, module)
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]


def _source(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return (
        _resolved(os.path.abspath(file)) if isinstance(file, str) and file.endswith(".py") else ""
    )


@cache  # of thousands of modules, which do not move
def _resolved(file: str) -> str:
    return os.path.realpath(file)


# -- whose files -----------------------------------------------------------------------------

_reads = threading.local()


@contextmanager
def _noting_reads() -> Iterator[set[str]]:
    """The files that this thread opens for reading, and not for writing, inside the block."""
    _listen_to_opens()
    outer, written = getattr(_reads, "noted", None), set[str]()
    noted = _reads.noted = set[str](), written
    found = set[str]()
    try:
        yield found
    finally:
        _reads.noted = outer
        found.update(noted[0] - written)


@cache
def _listen_to_opens() -> None:
    sys.addaudithook(_hear)


def _hear(event: str, details: tuple[Any, ...]) -> None:
    noted = getattr(_reads, "noted", None) if event == "open" else None
    if noted is None or not isinstance(details[0], str | bytes | os.PathLike):
        return
    with suppress(Exception):  # whatever is wrong with it, the one who opens it shall hear
        path, flags = os.path.realpath(os.fsdecode(details[0])), details[2]
        writing = bool(flags & (os.O_WRONLY | os.O_RDWR)) if isinstance(flags, int) else False
        noted[writing].add(path)


def _is_users(path: str, folder: Path) -> bool:
    """Whether a file belongs to the user whose folder that is: not to Python, not to us."""
    if not path or path.endswith((".pyc", ".so", ".pyd")) or not os.path.isfile(path):
        return False
    parts = Path(path)
    if {"site-packages", "dist-packages"} & set(parts.parts):
        return False
    return not any(
        parts.is_relative_to(place) and not (weak and folder.is_relative_to(place))
        for place, weak in _not_users()
    )


@cache
def _not_users() -> tuple[tuple[Path, bool], ...]:
    """Folders of Python's and ours; in the weak ones, such as /usr, there may be users' as well."""
    strong = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), "/proc", "/sys"]
    strong += [str(Path(__file__).parent), str(cache_folder() / "machine-code"), str(data_folder())]
    weak = [sys.prefix, sys.base_prefix]
    return (
        *((Path(place).resolve(), False) for place in strong),
        *((Path(place).resolve(), True) for place in weak),
    )


# -- a file as it was at a git revision, with the folder it lay in -------------------------------


def kept_revisions() -> Path:
    """Return the folder that keeps folders as they were at a revision."""
    return cache_folder().resolve() / "revisions"


def commit_of(path: str, revision: str) -> str:
    """Return the commit that a revision names in the repository a file lies in."""
    folder = os.path.dirname(path)
    commit = _git(
        folder, "rev-parse", "--verify", "--quiet", "--short=12", f"{revision}^{{commit}}"
    )
    if commit is None:
        if _git(folder, "rev-parse", "--show-toplevel") is None:
            raise KnightfallError(
                f"{path}@{revision}: {folder} is in no git repository that could know it"
            )
        raise KnightfallError(f"{path}@{revision}: git knows no revision {revision!r} here")
    return commit


def at_revision(path: str, revision: str) -> Path:
    """Return the path of a file as it was; its folder is checked out for that, once."""
    if (path, revision) in _at_revision:
        return _at_revision[path, revision]
    folder, name = os.path.split(path)
    commit = commit_of(path, revision)
    inside = _git(folder, "rev-parse", "--show-prefix") or ""
    kept = hashlib.sha256(inside.encode()).hexdigest()[:8]
    there = kept_revisions() / f"{commit}-{kept}"
    file = there / inside / name
    make_private(there.parent)  # it is code that will be run
    if not (there.is_dir() or _check_out(folder, inside, commit, there)) or not file.is_file():
        raise KnightfallError(f"{path}@{revision}: there was no such file at {commit}")
    if commit == revision:  # and not a name, which may stand for another one next time
        _at_revision[path, revision] = file
    return file


_at_revision: dict[tuple[str, str], Path] = {}


def _check_out(folder: str, inside: str, commit: str, there: Path) -> bool:
    """Write a folder as it was, if it was; its repository stays as it is, the index included."""
    with tempfile.TemporaryDirectory(dir=there.parent) as draft:
        tree, index = Path(draft, "tree"), Path(draft, "index")
        tree.mkdir()
        command = (f"--work-tree={tree}", "checkout", "--quiet", commit, "--", inside or ".")
        options = {"GIT_INDEX_FILE": str(index), "GIT_LITERAL_PATHSPECS": "1"}
        if _git(folder, *command, **options) is None:
            return False
        try:
            os.replace(tree, there)
        except OSError:
            if not there.is_dir():  # somebody else was quicker
                raise
    return True


def _git(folder: str, *command: str, **environment: str) -> str | None:
    """Return what git prints, called in a folder; None if it fails."""
    try:
        ran = subprocess.run(
            ["git", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        if shutil.which("git") is None:
            raise KnightfallError("a former version is asked of git, which is not here") from None
        return None  # there is no such folder
    return os.fsdecode(ran.stdout).strip() if ran.returncode == 0 else None
