"""Compilation of all kernels: the decorator, the cache folder, and the message to the user.

Numba checks only whether a cached function's own file has changed, and would miss an edit in
*another* file.  The machine code of a module is therefore kept in a folder named after a hash of
the module and everything it imports (`source_hashes`): an edit there means a new folder, so that
stale machine code is never loaded.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.core import config, event, typeinfer
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.core.runtime import rtsys

from knightfall import user_folders
from knightfall.isolation import sigint
from knightfall.kernel.source_hashes import hash_of


def _load_numba_without_blas() -> None:
    """Import the part of Numba that looks for a BLAS, with empty modules in place of SciPy's.

    Before it loads machine code, Numba imports `scipy.linalg` to see whether there is a BLAS.  That
    takes a quarter of a command's start-up time, and no kernel here needs it.  For a user's
    heuristic with ``np.dot``, Numba looks again and finds the real BLAS.
    """
    names = ("scipy.linalg", "scipy.linalg.cython_blas")
    if names[0] in sys.modules or find_spec("scipy") is None:
        return
    import scipy

    sys.modules.update({name: ModuleType(name) for name in names})
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        for name in names:
            del sys.modules[name]
        vars(scipy).pop("linalg", None)


_load_numba_without_blas()

F = TypeVar("F", bound=Callable[..., Any])

# -- the disk cache ----------------------------------------------------------------------------
#
# Numba's own cache trusts its files: a truncated file makes every later run fail, and a full disk
# the present one.  Here each file begins with a checksum; a file that does not match is deleted
# without unpickling it, and a file that cannot be written is not kept.


KEPT_VERSIONS = 4
"""How many other versions of a module's machine code are kept, for several checkouts."""


@cache
def cache_folder() -> Path | None:
    """Return the folder of all machine code; None if it cannot be written.

    Also None if the folder belongs to another user, who could place code there that is run here.
    """
    folder = user_folders.cache_folder() / "machine-code"
    try:
        user_folders.make_private(folder)
    except OSError:
        return None
    return folder


@cache
def module_folder(module: str) -> Path | None:
    """Return the folder for the machine code of a module's present source, or None."""
    kept = cache_folder()
    if kept is None:
        return None
    try:
        folder = kept / f"{module}-{hash_of(module, lazy=False)}"
        is_new = not folder.exists()
        user_folders.make_private(folder)
        with suppress(OSError):  # it is read-only for users' code
            os.utime(folder)
        if is_new:
            _prune(folder, module)
    except (OSError, ValueError):  # ValueError: a module that has no file, as in a notebook
        return None
    return folder


def _prune(folder: Path, module: str) -> None:
    """Delete the machine code of other versions of a module, except the newest `KEPT_VERSIONS`."""
    with suppress(OSError):  # another process may be pruning, too
        others = [other for other in folder.parent.glob(f"{module}-*") if other != folder]
        others.sort(key=lambda other: other.stat().st_mtime, reverse=True)
        for stale in others[KEPT_VERSIONS:]:
            shutil.rmtree(stale, ignore_errors=True)


_CHECKSUM = 32  # bytes


def _checksum(content: bytes) -> bytes:
    """Return the checksum of a file's content.

    It includes Numba's version, because another version must not read the file.
    """
    return hashlib.sha256(numba.__version__.encode() + content).digest()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of one function: an index of its signatures, and machine code for each."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code to a file with a new name, and then the index."""
        overloads = self._load_index()
        former = overloads.get(key)
        base = self._index_name.removesuffix(".nbi")
        overloads[key] = name = f"{base}.{secrets.token_hex(8)}.nbc"
        self._save_data(name, data)
        self._save_index(overloads)
        if former is not None:
            self._remove(self._data_path(former))

    def load(self, key: Any) -> Any:
        """Return the code for a signature; None if there is no undamaged file."""
        name = self._load_index().get(key)
        return None if name is None else self._read(self._data_path(name))

    def _load_index(self) -> dict[Any, str]:
        found = self._read(self._index_path)
        if not isinstance(found, tuple) or len(found) != 2 or found[0] != self._source_stamp:
            return {}
        return found[1] if isinstance(found[1], dict) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._source_stamp, overloads)))

    def _dump(self, content: Any) -> bytes:
        written: bytes = super()._dump(content)
        return _checksum(written) + written

    def _read(self, path: str) -> Any:
        try:
            content = Path(path).read_bytes()
        except OSError:
            return None
        if content[:_CHECKSUM] == _checksum(content[_CHECKSUM:]):
            with suppress(Exception):  # unpickling can raise anything
                return pickle.loads(content[_CHECKSUM:])
        self._remove(path)
        return None

    @staticmethod
    def _remove(path: str) -> None:
        with suppress(OSError):
            os.unlink(path)


class _Folder(UserProvidedCacheLocator):  # type: ignore[misc]
    """A cache folder that may be read-only, as it is for users' code."""

    def ensure_cache_path(self) -> None:
        """Create the folder if it does not exist."""
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Place(CompileResultCacheImpl):  # type: ignore[misc]
    """Restricts Numba's choice of a cache folder to the one that `_disk_cache` sets."""

    _locator_classes = (_Folder,)


class MachineCode(FunctionCache):  # type: ignore[misc]
    """The disk cache of one function's machine code.  A file error in it never stops a command.

    `cannot_keep` is called with the error if a file cannot be written.
    """

    _impl_class = _Place

    def __init__(self, function: Callable[..., Any], cannot_keep: Callable[[OSError], None]):
        super().__init__(function)
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self._cannot_keep = cannot_keep

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled function from the cache; None if it is not there.

        Machine code needs Numba's runtime, and none of the declarations that Numba would load and
        register before each function, which takes as long as importing Numba.  They are loaded when
        something is compiled.
        """
        try:
            rtsys.initialize(context)
            return self._load_overload(signature, context)
        except Exception:  # undamaged but unusable: it is compiled and written again
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a compiled function to the cache, if possible."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            self._cannot_keep(error)


def _disk_cache(function: Callable[..., Any]) -> MachineCode | None:
    """Return the disk cache of a function; None if there cannot be one."""
    folder = module_folder(function.__module__)
    if folder is None:
        return None
    # Numba's cache folder is set to ours only while Numba chooses one.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return MachineCode(function, _announcer.cannot_keep)
    except (OSError, RuntimeError):  # the folder cannot be used
        return None
    finally:
        config.CACHE_DIR = before


# -- compilation -------------------------------------------------------------------------------


def compiled(signature: Any, *, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """Compile a function for an explicit signature; it runs without the GIL.

    Division by zero is inf or nan, not an error, unless `error_model` says otherwise.
    """

    def decorate(function: F) -> F:
        dispatcher = compile_later(function, cache=cache, **options)
        with typeinfer.register_dispatcher(dispatcher):  # it may call itself
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def compile_later(function: Callable[..., Any], *, cache: bool, **options: Any) -> Any:
    """Return a dispatcher that is compiled on its first call or by `dispatcher.compile`.

    Division by zero is inf or nan, not an error, unless `error_model` says otherwise.
    """
    options.setdefault("error_model", "numpy")
    dispatcher = numba.njit(nogil=True, **options)(function)
    kept = _disk_cache(function) if cache else None
    if kept is not None:
        dispatcher._cache = kept  # as `njit(cache=True)` does with Numba's own cache
    return dispatcher


def c_address(dispatcher: Any, signature: Any) -> int:
    """Return the address of the C function that Numba creates for every compiled function.

    The dispatcher must outlive every use of the address.
    """
    result = dispatcher.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


class _Announcer(event.Listener):  # type: ignore[misc]
    """Prints once per process, before the first compilation, that code is being compiled."""

    def __init__(self) -> None:
        self.said = False
        self.told_why = False

    def on_start(self, happening: Any) -> None:
        if not self.said:
            self.said = True
            kept = "kept for the next run"
            if cache_folder() is None:
                kept = "not kept: the cache folder cannot be written, set KNIGHTFALL_CACHE_DIR"
            self._say(f"compiling for this machine takes some seconds ({kept})…")

    def on_end(self, happening: Any) -> None:
        pass

    def cannot_keep(self, error: OSError) -> None:
        """Print once per process why machine code cannot be kept for the next process."""
        if not self.told_why:
            self.told_why = True
            self._say(
                f"the compiled code cannot be kept: {error.strerror or error}; "
                "set KNIGHTFALL_CACHE_DIR"
            )

    @staticmethod
    def _say(text: str) -> None:
        if os.environ.get("KNIGHTFALL_QUIET") != "1":
            print(f"knightfall: {text}", file=sys.stderr, flush=True)


_announcer = _Announcer()


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the message about compiling, for code that every process compiles again."""
    before = _announcer.said
    _announcer.said = True
    try:
        yield
    finally:
        _announcer.said = before


class _InterruptDelay(event.Listener):  # type: ignore[misc]
    """Delays `KeyboardInterrupt` while Numba compiles or loads a function.

    LLVM calls back into Python, where the exception would be lost or crash the process.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.calm = ExitStack()

    def on_start(self, happening: Any) -> None:
        if current_thread() is main_thread():
            if self.depth == 0 and sigint.raises():
                self.calm.enter_context(sigint.DeferredSigint())
            self.depth += 1

    def on_end(self, happening: Any) -> None:
        if current_thread() is main_thread():
            self.depth -= 1
            if self.depth == 0:
                self.calm.close()


event.register("numba:compiler_lock", _InterruptDelay())
event.register("numba:compile", _announcer)
