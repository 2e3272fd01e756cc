"""Loading of users' Python files by path; errors name the file and the line.

Loading records which other modules of the user a file imports and which files it reads.  The file's
behaviour depends on all of them, so after an edit in any of them the file is loaded again, and
games that were played before the edit count as another agent's.
"""

from __future__ import annotations

import ast
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
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from knightfall.errors import FileFault, KnightfallError, nearest
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.user_folders import cache_folder, data_folder, folders_are_fixed, make_private

_WHERE = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir")

REVISION = r"(?:@((?!-)[^\s,()*+]+))?"


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function in a user's file, in its present version or that of a git revision.

    Written ``mine.py:name`` or ``mine.py:name@HEAD``.  Paths are normalised.
    """

    path: str
    name: str
    revision: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", _normal(self.path))

    def __str__(self) -> str:
        return f"{self.path}:{self.name}{f'@{self.revision}' if self.revision else ''}"

    def absolute(self) -> UserFunction:
        """Return the function with absolute path and commit, which are valid in any folder."""
        path = os.path.join(os.getcwd(), os.path.expanduser(self.path))
        commit = commit_of(path, self.revision) if self.revision else ""
        return replace(self, path=path, revision=commit)

    def load(self, what: str) -> Any:
        """Load the file and return its object `name`; `what` is its role, for error messages."""
        shown = self._shown
        module = load(self.file(what), shown).module
        found = getattr(module, self.name, None)
        if found is None:
            callables = [key for key, value in vars(module).items() if callable(value)]
            hint = nearest(self.name, callables)
            raise KnightfallError(f"{what} {self}: {shown} defines no {self.name!r}{hint}")
        return found

    def sources(self) -> tuple[str, ...]:
        """Return the user's files that the function depends on: its own, and its imports and reads.

        This loads the file.  Files of a git revision are left out: the commit identifies them.
        """
        found = load(self.file("agent"), self._shown).stamps
        return tuple(path for path in found if not Path(path).is_relative_to(kept_revisions()))

    def files_to_copy(self) -> tuple[str, ...]:
        """Return the files that a copy of the function needs: its own, and the modules beside it.

        They are found by parsing; no code is run.  A file of a git revision needs no copy.
        """
        if self.revision:
            return ()
        return tuple(map(str, parsed_modules(self.file("agent"))))

    def folders(self) -> list[str]:
        """Return the folders that must be readable for the file to be loaded, as far as they exist.

        For a git revision these are the checked-out copy and the repository, too.
        """
        folder = os.path.dirname(os.path.abspath(os.path.expanduser(self.path)))
        found = [folder]
        with suppress(KnightfallError):
            found.append(str(self.file("agent").parent))
        if self.revision:
            found += [path for path in (_git(folder, *_WHERE) or "").splitlines() if path]
        return found

    @property
    def _shown(self) -> str:
        return f"{self.path}@{self.revision}" if self.revision else self.path

    def file(self, what: str) -> Path:
        """Return the path of the function's file; for a git revision, of the checked-out copy.

        `what` is the role of the function, for the error message.
        """
        try:
            file = Path(path_here(self.path)).expanduser()
            if self.revision:
                file = at_revision(str(file.absolute()), self.revision)
            exists = file.is_file()
        except (OSError, RuntimeError) as error:  # too long a name, or ~name of an unknown user
            raise KnightfallError(f"{what} {self}: {error}") from None
        if not exists:
            raise KnightfallError(f"{what} {self}: there is no file {self.path!r}")
        return file.resolve()


@dataclass(frozen=True, slots=True)
class PackageFunction(UserFunction):
    """A function of an installed package, written as ``scheme:name``, such as ``mine:cosy``."""

    scheme: str = ""

    def __str__(self) -> str:
        return f"{self.scheme}{self.name}"

    def absolute(self) -> UserFunction:
        """Return the function itself: its package is importable from any folder."""
        return self

    def files_to_copy(self) -> tuple[str, ...]:
        """Return nothing: an installed package is not copied."""
        return ()


LOCAL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)~([0-9a-f]{8})(?![\w.])", re.ASCII)


@dataclass(frozen=True, slots=True)
class LocalFunction(UserFunction):
    """A function, class or object of this process, as in a notebook, written ``name~1f2e3d4c``.

    The digits, its `revision`, are random: a function that was edited, or another process, gets
    others, so that its games are never taken for those of this function.
    """

    def __str__(self) -> str:
        return f"{self.name}~{self.revision}"

    def absolute(self) -> UserFunction:
        """Return the function itself: it has no path."""
        return self

    def load(self, what: str) -> Any:
        """Return the function; `what` is its role, for the error message."""
        if self not in _local:
            raise KnightfallError(
                f"{what} {self.name!r} was defined in another process, such as a notebook, and is "
                f"not available here: put it into a file and name it, as in mine.py:{self.name}"
            )
        return _local[self]

    def sources(self) -> tuple[str, ...]:
        """Return nothing: the function has no file."""
        return ()

    def file(self, what: str) -> Path:
        """Return the file, or the cell of a notebook, that defines the function, for messages."""
        found = self.load(what)
        code = getattr(getattr(found, "py_func", found), "__code__", None)
        return Path("" if code is None else code.co_filename)


_local: dict[LocalFunction, Any] = {}


def local_function(found: Any) -> LocalFunction:
    """Return the name under which agents can use a function, class or object of this process."""
    for known, one in _local.items():
        if one is found:
            return known
    called = getattr(found, "__name__", type(found).__name__)
    name = re.sub(r"[^A-Za-z0-9_]|^[0-9]", "", called) or "function"
    known = LocalFunction("", name, os.urandom(4).hex())
    _local[known] = found
    return known


def without_digits(text: str) -> str:
    """Return a text with the functions of this process named without their random digits."""
    return LOCAL.sub(r"\1", text)


def parse_function(text: str) -> UserFunction | None:
    """Return the function that ``file.py:name`` or ``file.py:name@revision`` names, else None.

    ``name~1f2e3d4c`` names a function of this process.
    """
    if local := LOCAL.fullmatch(text):
        return LocalFunction("", local[1], local[2])
    match = re.fullmatch(rf"(.+\.py):([A-Za-z_][A-Za-z0-9_]*){REVISION}", text, re.ASCII)
    return None if match is None else UserFunction(match[1], match[2], match[3] or "")


def _normal(path: str) -> str:
    """Return a path without ``.`` and ``..``, unless removing ``..`` would pass a symbolic link."""
    normal = os.path.normpath(path)
    if ".." in Path(path).parts and os.path.realpath(path) != os.path.realpath(normal):
        return path
    return normal


# -- modules beside a file -------------------------------------------------------------------

MOST_MODULES = 4000
"""Maximum number of modules of a folder that are parsed."""

LARGEST_SOURCE = 4 << 20
"""Maximum size in bytes of a source file that is parsed."""


def parse_source(file: Path) -> ast.Module:
    """Parse a Python file; raise `KnightfallError` if it is unreadable, too large or invalid."""
    try:
        if file.stat().st_size > LARGEST_SOURCE:
            raise KnightfallError(
                f"{file} is too large: at most {LARGEST_SOURCE:,} bytes are accepted"
            )
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
    except (RecursionError, MemoryError):  # Python raises either one, often without a message
        raise KnightfallError(
            f"{file}: its expressions are nested too deeply for Python's parser"
        ) from None
    except ValueError as error:
        raise KnightfallError(f"{file}: {error}") from None


def parsed_modules(
    file: Path, *, broken: bool = True, leave_out: Collection[str] = ()
) -> dict[Path, ast.Module]:
    """Parse a file and all modules beside it that it imports, directly or not; the file is first.

    Imported modules that cannot be parsed count as empty; with `broken`, so does the file itself.
    Modules whose top-level name is in `leave_out` are not followed.
    """
    found: dict[Path, ast.Module] = {}
    todo = [file]
    while todo and len(found) < MOST_MODULES:
        here = todo.pop()
        if here in found:
            continue
        try:
            found[here] = parse_source(here)
        except KnightfallError:
            if here == file and not broken:
                raise
            found[here] = ast.Module([], [])
        todo += _imported_files(found[here], here, file.parent, leave_out)
    return found


def _imported_files(
    tree: ast.Module, here: Path, top: Path, leave_out: Collection[str]
) -> Iterator[Path]:
    """Yield the files in the folder `top` that a module imports."""
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
            if parts[0] in leave_out:
                continue
            for end in range(1, len(parts) + 1):
                at = base.joinpath(*parts[:end])
                for candidate in (at.with_name(at.name + ".py"), at / "__init__.py"):
                    if is_file(candidate):
                        yield candidate


def is_file(file: Path) -> bool:
    """Return whether a file exists; False if its name is invalid or it is not accessible."""
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


# -- copies of the files of a run ------------------------------------------------------------


def snapshots_folder() -> Path:
    """Return the folder of the snapshots: copies of users' files from which runs play."""
    return _snapshots_in(os.environ.get("KNIGHTFALL_CACHE_DIR"))


@cache
def _snapshots_in(override: str | None) -> Path:
    return cache_folder().resolve() / "snapshots"


def snapshot_root(path: str) -> str:
    """Return the part of a path that leads to a tree of copies; "" if it has none.

    The rest of the path is that of the original.
    """
    found = _root_pattern().match(path)
    return found[0] if found else ""


def original_paths(text: str) -> str:
    """Return a text with the paths of copies replaced by those of the originals."""
    return _root_pattern().sub("", text) if text else text


PRIVATE_COPY = "knightfall-copy-"
"""Prefix of the temporary folders with copies of a snapshot for one process."""


def _root_pattern() -> re.Pattern[str]:
    """Return the pattern of the path of a tree in a snapshot, or in a private copy of one."""
    return _pattern(str(snapshots_folder()), os.path.realpath(tempfile.gettempdir()))


@cache
def _pattern(snapshots: str, temporary: str) -> re.Pattern[str]:
    # In a sandbox the temporary folder is another one than where the copy was made.
    anywhere = rf"(?:{re.escape(temporary)}|(?:/[^/\s]+)+)/{PRIVATE_COPY}"
    return re.compile(rf"(?:{re.escape(snapshots)}/run_[a-z0-9_]+|{anywhere}[a-z0-9_]+)/\d+(?=/)")


def _resolved_path(path: str) -> str:
    """Return a path without symbolic links; one in a tree of copies keeps those of the tree."""
    here = os.path.abspath(path)
    return here if snapshot_root(here) else os.path.realpath(here)


def path_here(path: str) -> str:
    """Return the path from which to load a file: that of its copy in a snapshot, if it exists here.

    On another machine of a cluster it does not; the path is then that of the original.
    """
    original = re.sub(r"^.*/snapshots/run_[a-z0-9_]{8}/\d+(?=/)", "", path)
    return original if original != path and not os.path.exists(path) else path


# -- errors ----------------------------------------------------------------------------------


def line_in(path: str, error: BaseException) -> int | None:
    """Return the line of a file where an error arose, or None if it arose outside of the file."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return lines[-1] if lines else None


def describe(path: str, error: BaseException, shown: str) -> str:
    """Return an error as one line: file, line number, type and message."""
    line = line_in(path, error)
    where = f"{shown}, line {line}" if line else shown
    what = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{where}: {type(error).__name__}: {what}"


# -- loading ---------------------------------------------------------------------------------

Stamp = tuple[int, int]
"""Modification time and size of a file: they change when it is edited."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A loaded module, and the stamps of all files that it depends on."""

    module: Any
    stamps: dict[str, Stamp | None]


@dataclass(frozen=True, slots=True)
class LoadContext:
    """The context manager `enter(*arguments)` inside which a file is loaded."""

    enter: Callable[..., AbstractContextManager[object]] = nullcontext
    arguments: tuple[Any, ...] = ()


NO_CONTEXT = LoadContext()
"""The default: only the modules in the file's own folder are added to what it can import."""

_loaded: dict[tuple[Path, LoadContext], _Loaded] = {}
_loading = threading.RLock()


def load(file: Path, shown: str, context: LoadContext = NO_CONTEXT) -> _Loaded:
    """Load a file, or return it from the cache if none of the files it depends on has changed.

    Error messages call it `shown`.
    """
    key = file, context
    with _loading:
        known = _loaded.get(key)
        if known is None or any(stamp(path) != then for path, then in known.stamps.items()):
            known = _loaded[key] = _load_module(file, shown, context)
        return known


def _load_module(file: Path, shown: str, context: LoadContext) -> _Loaded:
    spec = importlib.util.spec_from_file_location(f"knightfall_user_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise KnightfallError(f"{shown} cannot be loaded as a Python file")
    if not is_expendable():
        _check_loadable(file, shown, context)
    module = importlib.util.module_from_spec(spec)
    try:
        with (
            _own_modules(file.parent) as imported,
            _recording_reads() as read,
            _surroundings_kept(),
            context.enter(*context.arguments),
            _importable(module, file.stem),
        ):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except KnightfallError as error:
        raise KnightfallError(f"{shown}: {error}") from None
    except BaseException as error:  # a file that calls sys.exit() is reported like any error
        raise FileFault(describe(str(file), error, shown), line_in(str(file), error)) from None
    found = {path for path in imported | read if _is_users(path, file.parent)}
    return _Loaded(module, {path: stamp(path) for path in sorted(found | {str(file)})})


def _check_loadable(file: Path, shown: str, context: LoadContext) -> None:
    """Load a file in another process first, because it may exit, crash or never end."""
    try:
        wrong = run_isolated(try_to_load, file, context)
    except ChildExited as exited:
        wrong = str(exited)
    if wrong:
        raise KnightfallError(f"{shown} cannot be loaded: it {wrong}")


def try_to_load(file: Path, context: LoadContext = NO_CONTEXT) -> str:
    """Load a file in an expendable process; return why it cannot be loaded, "" if it can.

    Ordinary errors count as safe: loading the file in this process will raise them again.
    """
    try:
        load(file, str(file), context)
    except KeyboardInterrupt:
        return "raises KeyboardInterrupt"
    except BaseException:
        pass
    return ""


def stamp(path: str) -> Stamp | None:
    """Return modification time and size of a file; None if it cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@contextmanager
def _surroundings_kept() -> Iterator[None]:
    """Restore the working folder and the environment variables when a file has been loaded.

    knightfall reads them later, too, for example to find its copies and its machine code.  New
    variables stay, because a library may read them late, except for knightfall's own.  In the
    process of an agent, where the folders are fixed, all changes stay.
    """
    if folders_are_fixed():
        yield
        return
    before, here = dict(os.environ), os.getcwd()
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            if name.startswith("KNIGHTFALL_"):
                del os.environ[name]
        os.environ.update(before)
        with suppress(OSError):  # it was deleted
            os.chdir(here)


@contextmanager
def _own_modules(folder: Path) -> Iterator[set[str]]:
    """Let a file import the modules in its folder, as a script could; yield the imported files.

    They are imported afresh and removed from `sys.modules` afterwards, because the next file may
    have a module of the same name in its folder.
    """
    here = str(folder)
    mine = {
        name: module
        for name, module in list(sys.modules.items())
        if name != "__main__" and _source(module).startswith(os.path.join(here, ""))
    }
    mine = {name: module for name, module in mine.items() if _is_users(_source(module), folder)}
    for name in mine:
        del sys.modules[name]
    before, imported = set(sys.modules), set[str]()
    # Byte code is matched by its source's time in seconds and size, which quick edits may keep.
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
    """Register a file as a module while it is loaded, so that modules of its folder can import it.

    If another module has the name already, that one stays registered.
    """
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


@cache  # thousands of modules, which do not move
def _resolved(file: str) -> str:
    return _resolved_path(file)


# -- files that belong to the user -----------------------------------------------------------

_reads = threading.local()


@contextmanager
def _recording_reads() -> Iterator[set[str]]:
    """Collect the files that this thread opens only for reading while the block runs."""
    _install_open_hook()
    outer, written = getattr(_reads, "recorded", None), set[str]()
    recorded = _reads.recorded = set[str](), written
    found = set[str]()
    try:
        yield found
    finally:
        _reads.recorded = outer
        found.update(recorded[0] - written)


@cache
def _install_open_hook() -> None:
    sys.addaudithook(_record_open)


def _record_open(event: str, details: tuple[Any, ...]) -> None:
    recorded = getattr(_reads, "recorded", None) if event == "open" else None
    if recorded is None or not isinstance(details[0], str | bytes | os.PathLike):
        return
    with suppress(Exception):  # the call that opens the file reports what is wrong
        path, flags = _resolved_path(os.fsdecode(details[0])), details[2]
        writing = bool(flags & (os.O_WRONLY | os.O_RDWR)) if isinstance(flags, int) else False
        recorded[writing].add(path)


def _is_users(path: str, folder: Path) -> bool:
    """Return whether a file is the user's, as opposed to Python's, a package's or knightfall's."""
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
    """Return the folders of Python and knightfall, each with whether a user's may lie inside.

    If it may (such as /usr), the folder is ignored when it contains the user's folder.
    """
    strong = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), "/proc", "/sys"]
    strong += [str(Path(__file__).parent), str(cache_folder() / "machine-code"), str(data_folder())]
    weak = [sys.prefix, sys.base_prefix]
    return (
        *((Path(place).resolve(), False) for place in strong),
        *((Path(place).resolve(), True) for place in weak),
    )


# -- files of a git revision, with the folder they lie in ----------------------------------------


def kept_revisions() -> Path:
    """Return the folder of the checked-out revisions."""
    return cache_folder().resolve() / "revisions"


def commit_of(path: str, revision: str) -> str:
    """Return the commit that a revision names in the git repository of a file."""
    folder = os.path.dirname(path)
    commit = _git(
        folder, "rev-parse", "--verify", "--quiet", "--short=12", f"{revision}^{{commit}}"
    )
    if commit is None:
        if _git(folder, "rev-parse", "--show-toplevel") is None:
            raise KnightfallError(f"{path}@{revision}: {folder} is not in a git repository")
        raise KnightfallError(f"{path}@{revision}: git has no revision {revision!r} here")
    return commit


def at_revision(path: str, revision: str) -> Path:
    """Return the path of a file's copy at a revision; its folder is checked out once."""
    if (path, revision) in _at_revision:
        return _at_revision[path, revision]
    folder, name = os.path.split(path)
    commit = commit_of(path, revision)
    inside = _git(folder, "rev-parse", "--show-prefix") or ""
    kept = hashlib.sha256(inside.encode()).hexdigest()[:8]
    there = kept_revisions() / f"{commit}-{kept}"
    file = there / inside / name
    make_private(there.parent)  # the files are code that will be run
    if not (there.is_dir() or _check_out(folder, inside, commit, there)) or not file.is_file():
        raise KnightfallError(f"{path}@{revision}: there was no such file at {commit}")
    if commit == revision:  # not a branch or tag, which may move
        _at_revision[path, revision] = file
    return file


_at_revision: dict[tuple[str, str], Path] = {}


def _check_out(folder: str, inside: str, commit: str, there: Path) -> bool:
    """Check out a folder at a commit into `there`; return False if the commit lacks it.

    The repository stays unchanged, its index included.
    """
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
            if not there.is_dir():  # another process was faster
                raise
    return True


def _git(folder: str, *command: str, **environment: str) -> str | None:
    """Run git in a folder and return its output; None if it fails."""
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
            raise KnightfallError(
                "git is not installed: a function at a revision, as mine.py:name@HEAD, needs it"
            ) from None
        return None  # the folder does not exist
    return os.fsdecode(ran.stdout).strip() if ran.returncode == 0 else None
