"""The sandbox of an agent's process: which kind this system allows, and what can be read in it.

There are three kinds.  With ``bubblewrap``, the program of that name (``bwrap``) starts the process
with no network and no files but Python, knightfall and the agent's own folder.  With
``namespaces``, knightfall makes the sandbox itself, by system calls: the process has no network,
but it can read every file that the user can read.  ``none`` is for systems that allow neither.
Supervisors import this module, so it imports little.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from knightfall.isolation.limits import SHARED_MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

KINDS = {
    "bubblewrap": "no network, and no files but Python, knightfall and the agent's own folder",
    "namespaces": "no network, files are read-only; install bubblewrap to hide them, too",
    "none": "this system allows no sandbox, so they have your rights (see docs/security.md)",
}
"""The kinds of sandboxes, the best one first, each with its description for the user."""

VARIABLE = "KNIGHTFALL_SANDBOX"
"""The environment variable that selects a kind."""

_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
)
_SETTINGS = (
    *("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "timezone", "alternatives", "locale.alias"),
)
"""Files of /etc that programs and libraries need, and which hold no secrets."""


def environment() -> dict[str, str]:
    """Return the environment variables that make programs put temporary files in /dev/shm."""
    return {"TMPDIR": "/dev/shm", "NUMBA_CACHE_DIR": "/dev/shm/numba"}


# -- the command of bubblewrap ---------------------------------------------------------------------


def bubblewrap(
    program: list[str],
    readable: Iterable[str],
    hidden: Iterable[str],
    scratch: str,
    place: str,
    limited: bool = False,
) -> list[str]:
    """Return the command that runs a program in bubblewrap's sandbox.

    There it can read Python and the `readable` files and folders, except for entries of these
    folders whose name begins with a dot, and for the `hidden` folders.  It can write to the folder
    `scratch`, if there is one, whose content can also be read at `place`, if that is given.  If
    `limited`, /dev/zero, which can be mapped as shared memory, is empty.
    """
    command = [
        *("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"),
        *("--disable-userns", "--cap-drop", "ALL", "--as-pid-1", "--die-with-parent"),
    ]
    for path in _SYSTEM:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        else:
            command += ["--ro-bind-try", path, path]
    for name in _SETTINGS:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    places = {*_with_targets([place or scratch])} if scratch else set[str]()
    users = {*_with_targets(readable)} - places - {"/"}
    python, covers = _python() - places, dict[str, bool]()
    # A folder comes before what is in it.  What Python needs is visible even if it would be hidden.
    for path in sorted({*users, *python}, key=lambda path: (path.count("/"), path)):
        command += ["--ro-bind-try", path, path]
        if path in users:
            for covered, is_folder in _covers(path, hidden).items():
                covers[covered] = is_folder
                empty = ["--tmpfs"] if is_folder else ["--ro-bind", "/dev/null"]
                command += [*empty, covered]
    for shown in sorted(places):
        inside = sorted(path for path in python if path.startswith(os.path.join(shown, "")))
        for path in inside:  # their mount points must exist in the copy
            with suppress(OSError):
                os.makedirs(scratch + path[len(shown) :], exist_ok=True)
        command += ["--ro-bind", scratch, shown]
        for path in inside:
            command += ["--ro-bind", path, path]
    if scratch:
        command += ["--bind", scratch, scratch]
    here = os.getcwd()
    command += ["--dir", here]
    for covered, is_folder in covers.items():  # only now: mount points may have been made in them
        command += ["--remount-ro", covered] if is_folder else []
    return [
        *command,
        *("--proc", "/proc", "--dev", "/dev"),
        *(("--dev-bind", "/dev/null", "/dev/zero") if limited else ()),
        *("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm"),
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", here, "--", *program),
    ]


def _python() -> set[str]:
    """Return the folders and files that this interpreter reads modules and libraries from."""
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]
    found += [os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))]
    found += os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for finder in sys.meta_path:  # of packages in editable installations
        module = sys.modules.get(getattr(finder, "__module__", None) or type(finder).__module__)
        mapping = getattr(module, "MAPPING", None)
        if isinstance(mapping, dict):
            found += [path for path in mapping.values() if isinstance(path, str)]
    return {path for path in _with_targets(filter(None, found)) if path != "/"}


def _with_targets(paths: Iterable[str]) -> Iterator[str]:
    """Yield absolute paths, and where symbolic links in them lead to."""
    for path in paths:
        yield os.path.abspath(path)
        yield os.path.realpath(path)


def _covers(folder: str, hidden: Iterable[str]) -> dict[str, bool]:
    """Return the paths in a folder that the sandbox covers, each with whether it is a folder.

    These are the entries whose name begins with a dot, and the hidden folders.  Symbolic links are
    left out, because their targets do not exist in the sandbox.
    """
    found: dict[str, bool] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and not entry.is_symlink():
                found[entry.path] = entry.is_dir()
    for path in hidden:
        if path.startswith(os.path.join(folder, "")) and os.path.isdir(path):
            found[path] = True
    return found


# -- which kind ------------------------------------------------------------------------------------

_found: list[str] = []


def kind() -> str:
    """Return the best kind of sandbox that works here, or the one that the user demands.

    A message names it once.  Raise a `KnightfallError` if the demanded kind does not work.
    """
    if not _found:
        _found.append(_find())
    return _found[0]


def _find() -> str:
    from knightfall.errors import KnightfallError

    wanted = os.environ.get(VARIABLE, "")
    if wanted:
        if wanted not in KINDS:
            raise KnightfallError(f"{VARIABLE}={wanted} must be one of {', '.join(KINDS)}")
        if wanted != "none" and not works(wanted):
            raise KnightfallError(f"{VARIABLE}={wanted}: this system does not allow it")
        return wanted
    file, here = _memory(), _circumstances()
    known = _read(file)
    found = known.get("kind", "")
    if known.get("here") != here or found not in KINDS:
        found = next(kind for kind in KINDS if kind == "none" or works(kind))
    told = known.get("told") == found or _tell(found)
    now = {"here": here, "kind": found, "told": found if told else known.get("told")}
    if now != known:
        _write(file, now)
    return found


def _tell(kind: str) -> bool:
    """Print which kind is in use; return False in a process that must not print."""
    from knightfall.isolation.limits import is_expendable

    if is_expendable():
        return False
    if os.environ.get("KNIGHTFALL_QUIET") != "1":
        shown = "no sandbox" if kind == "none" else f"a sandbox ({kind})"
        from knightfall.display.printable import print_line

        print_line(f"knightfall: agents run in {shown}: {KINDS[kind]}", file=sys.stderr)
    return True


def _circumstances() -> list[str]:
    """Return facts that decide which kind works; if one has changed, kinds are tried again."""
    import shutil

    found = [sys.executable, sys.prefix, shutil.which("bwrap") or ""]
    for name in ("/proc/self/ns/mnt", "/proc/self/ns/user"):
        with suppress(OSError):
            found.append(os.readlink(name))
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id") as file:
        found.append(file.read().strip())
    if hasattr(os, "geteuid"):
        found.append(str(os.geteuid()))
    return found


def _memory() -> Path:
    from knightfall.user_folders import cache_folder

    return cache_folder() / "sandbox.json"


def _read(file: Path) -> dict[str, object]:
    import json

    with suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _write(file: Path, content: dict[str, object]) -> None:
    import json

    from knightfall.user_folders import atomic_write

    with suppress(OSError):  # the next process tries the kinds and prints the message again
        atomic_write(file, json.dumps(content))


def works(kind: str) -> bool:
    """Return whether Python starts in a kind of sandbox here."""
    import subprocess

    if sys.platform != "linux":
        return kind == "none"
    with suppress(OSError, subprocess.TimeoutExpired):
        tried = subprocess.run(
            [sys.executable, "-P", "-m", "knightfall.isolation.supervisor", kind],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            cwd="/",
            check=False,
        )
        return tried.returncode == 0
    return False
