"""How every kernel is compiled: one decorator, one cache folder, one word to the user.

Numba stamps a cached function with its own file only, so an edit in *another* file would go
unnoticed.  The machine code of a module is therefore kept in a folder that is named after a hash
of the module and everything it imports (`kernel.sources`): an edit there means a new folder, and
stale machine code can never be loaded.
"""

from __future__ import annotations

import os
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

from knightfall import files
from knightfall.isolation import sigint
from knightfall.kernel.machine_code import MachineCode
from knightfall.kernel.sources import hash_of


def _load_numba_without_blas() -> None:
    """Import what looks for a BLAS, with empty modules in SciPy's place for as long as it looks.

    When Numba gets ready to load machine code it imports `scipy.linalg` to see whether there is a
    BLAS: a quarter of a command's start, and no kernel of ours needs it.  SciPy is among our
    dependencies, so the answer is known.  A user's heuristic that does use ``np.dot`` has Numba ask
    again, and then gets the real one.
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

KEPT_VERSIONS = 4
"""Other versions of a module whose machine code is kept (several checkouts may be in use)."""


@cache
def cache_folder() -> Path | None:
    """Return the folder of all machine code that is kept; None if it cannot be written.

    Or if it is not the user's alone: whoever can write to it can have his code run here.
    """
    folder = files.cache_folder() / "machine-code"
    try:
        files.make_private(folder)
    except OSError:
        return None
    return folder


@cache
def module_folder(module: str) -> Path | None:
    """Return the folder for the machine code of a module as it is now; None if there is none."""
    kept = cache_folder()
    if kept is None:
        return None
    try:
        folder = kept / f"{module}-{hash_of(module, lazy=False)}"
        is_new = not folder.exists()
        files.make_private(folder)
        os.utime(folder)
        if is_new:
            _prune(folder, module)
    except (OSError, ValueError):  # ValueError: a module that has no file, as in a notebook
        return None
    return folder


def _prune(folder: Path, module: str) -> None:
    with suppress(OSError):  # another process may be pruning, too
        others = [other for other in folder.parent.glob(f"{module}-*") if other != folder]
        others.sort(key=lambda other: other.stat().st_mtime, reverse=True)
        for stale in others[KEPT_VERSIONS:]:
            shutil.rmtree(stale, ignore_errors=True)


def _kept(function: Callable[..., Any]) -> MachineCode | None:
    """Return what is kept of a function; None if nothing can be."""
    folder = module_folder(function.__module__)
    if folder is None:
        return None
    # Numba is pointed at our folder while it looks for one, and only then.
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        return MachineCode(function, _announcer.cannot_keep)
    except (OSError, RuntimeError):  # no place for it
        return None
    finally:
        config.CACHE_DIR = before


def compiled(signature: Any, *, cache: bool = True, **options: Any) -> Callable[[F], F]:
    """Compile a function for an explicit signature; it runs without the GIL.

    Division follows the machine (x/0 is inf, not an error) unless `error_model` says otherwise.
    """

    def decorate(function: F) -> F:
        dispatcher = compile_later(function, cache=cache, **options)
        with typeinfer.register_dispatcher(dispatcher):  # it may call itself
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def compile_later(function: Callable[..., Any], *, cache: bool, **options: Any) -> Any:
    """A dispatcher that is compiled when it is first called or asked to (`dispatcher.compile`).

    Division follows the machine unless `error_model` says otherwise.
    """
    options.setdefault("error_model", "numpy")
    dispatcher = numba.njit(nogil=True, **options)(function)
    kept = _kept(function) if cache else None
    if kept is not None:
        dispatcher._cache = kept  # what `njit(cache=True)` does with Numba's own
    return dispatcher


def c_address(dispatcher: Any, signature: Any) -> int:
    """The address of the C function that Numba makes beside every compiled one.

    The dispatcher must outlive every use of it.
    """
    result = dispatcher.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


class _Announcer(event.Listener):  # type: ignore[misc]
    """Tells a person, once per process and before the first wait, that code is being compiled."""

    def __init__(self) -> None:
        self.said = False
        self.told_why = False

    def on_start(self, happening: Any) -> None:
        if not self.said:
            self.said = True
            kept = "kept for the next run"
            if cache_folder() is None:
                kept = "not kept: no cache folder of your own can be written, "
                kept += "set KNIGHTFALL_CACHE_DIR"
            self._say(f"compiling for this machine, some seconds ({kept})…")

    def on_end(self, happening: Any) -> None:
        pass

    def cannot_keep(self, error: OSError) -> None:
        """Say, once per process, why the next one will have to compile as well."""
        if not self.told_why:
            self.told_why = True
            self._say(
                f"what is compiled cannot be kept: {error.strerror or error}; "
                "set KNIGHTFALL_CACHE_DIR"
            )

    @staticmethod
    def _say(text: str) -> None:
        if os.environ.get("KNIGHTFALL_QUIET") != "1":
            print(f"knightfall: {text}", file=sys.stderr, flush=True)


_announcer = _Announcer()


@contextmanager
def quiet() -> Iterator[None]:
    """Compile without announcing it, for code that is compiled anew in every process."""
    before = _announcer.said
    _announcer.said = True
    try:
        yield
    finally:
        _announcer.said = before


class _Undisturbed(event.Listener):  # type: ignore[misc]
    """Keeps `KeyboardInterrupt` out of Numba while it compiles a function or loads one.

    LLVM calls back into Python, where the exception would get lost or crash the process.
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


event.register("numba:compiler_lock", _Undisturbed())
event.register("numba:compile", _announcer)
