"""Limits and containment of processes that run user code.

Memory, processor time, environment variables, a process namespace, and an end together with the
parent.  Each is applied only where the system supports it; elsewhere user code has a little more
freedom (see docs/security.md).
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from knightfall.position import Side

_CLONE_NEWUSER, _CLONE_NEWPID = 0x10000000, 0x20000000
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 1, 4, 36

# -- memory, processor time, environment -----------------------------------------------------

SUBMISSION_MEMORY = 1 << 30
"""Bytes of memory that a submission of the course may use."""

SPARE_SECONDS = 5
"""Whole seconds of processor time allowed beyond the limit of a move, for other threads."""

INHERITED = ("PATH", "LANG", "LC_", "TZ", "TMP", "TEMP", "SYSTEMROOT", "PYTHON", "LD_LIBRARY")
"""Prefixes of the environment variables that a submission inherits; none may hold secrets."""

REPEATABLE = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")},
    "PYTHONHASHSEED": "0",
}
"""Environment variables that make results repeatable: sets of strings have a fixed order, and
libraries for linear algebra start no threads.  Threads would prevent forking, and would make
floating-point sums depend on the machine."""


def seed_random(seed: int, side: Side = "w") -> None:
    """Seed the random numbers of a game: Python's and, if it is loaded, NumPy's.

    The two sides get different seeds.
    """
    number = 2 * seed + (side == "b")
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number % 2**32)


def limit_memory(bytes: int) -> None:
    """Limit the memory of this process and its children, and the size of the files they write."""
    with suppress(ImportError):
        import resource

        for what, most in (
            (resource.RLIMIT_DATA, bytes),
            (resource.RLIMIT_AS, 8 * bytes),  # larger, because reserved memory need not be used
            (resource.RLIMIT_FSIZE, bytes),
        ):
            with suppress(OSError, ValueError):
                _, hard = resource.getrlimit(what)
                limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(what, (limit, limit))


def limit_processor_time(seconds: float | None) -> None:
    """Kill this process if it computes for more than `seconds` plus `SPARE_SECONDS` from now on.

    None removes the limit.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = resource.RLIM_INFINITY
        if seconds is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            soft = int(used.ru_utime + used.ru_stime + seconds) + SPARE_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def agent_environment() -> dict[str, str]:
    """Return the environment of an agent's process: the user's, plus settings for repeatability.

    Numbers of threads that the user has set are kept.
    """
    return {**REPEATABLE, **os.environ, "PYTHONHASHSEED": "0"}


def submission_environment(home: str, **more: str) -> dict[str, str]:
    """Return the environment of a process that runs a submission in the folder `home`.

    It has what Python needs, and none of the user's secrets.
    """
    kept = {key: value for key, value in os.environ.items() if key.upper().startswith(INHERITED)}
    if kept.get("PYTHONPATH"):  # make it absolute: the process has another working directory
        paths = [os.path.abspath(path) for path in kept["PYTHONPATH"].split(os.pathsep) if path]
        kept["PYTHONPATH"] = os.pathsep.join(paths)
    return {**kept, **REPEATABLE, "HOME": home, **more}


def offer_to_oom_killer() -> None:
    """Make this process the first to be killed when memory runs out, and disable core dumps."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


_expendable: list[bool] = []


def be_expendable() -> None:
    """Mark this process as expendable: it may load users' files without a test in another one."""
    _expendable[:] = [True]


def is_expendable() -> bool:
    """Return whether this process is marked as expendable."""
    return bool(_expendable)


# -- containment -----------------------------------------------------------------------------


def exit_with_parent() -> None:
    """Let the system kill this process when its parent ends."""
    _prctl(_SET_PDEATHSIG, int(signal.SIGKILL))


def forbid_inspection() -> None:
    """Forbid processes of the same user to read or change this one's memory."""
    _prctl(_SET_DUMPABLE, 0)


def enter_namespace() -> bool:
    """Put the children of this process into a process namespace of their own, if possible.

    There they see and signal only each other, and all end with the first of them.  Return whether
    it succeeded; if not, their orphans become children of this process.
    """
    _prctl(_SET_CHILD_SUBREAPER, 1)
    libc = _linux()
    if libc is None or not hasattr(libc, "unshare"):
        return False
    user, group = os.geteuid(), os.getegid()
    if user == 0:  # root would lose access to other users' files in a user namespace
        return bool(libc.unshare(_CLONE_NEWPID) == 0)
    if not os.access("/proc/self/uid_map", os.W_OK):
        return False
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID) != 0:
        return False
    with suppress(OSError):  # without the mapping it still owns its files
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def exit_like(status: int) -> NoReturn:
    """End this process in the way another one ended, given its status from `os.waitpid`."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        with suppress(OSError):
            os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


SEARCHES = 100
"""Number of searches for living descendants: some fork while they are being killed."""


def kill_tree(child: int, group: int | None) -> None:
    """Kill a child of this process and all its descendants.

    `group` is the process group to kill first; None if the child is in a namespace, which ends with
    it.
    """
    if group:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        for _ in range(SEARCHES):
            found = descendants(os.getpid()) - {child}
            if not found:
                break
            for pid in found:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(child, 0)  # in a namespace, this returns when all its processes have ended


def descendants(root: int) -> set[int]:
    """Return the living descendants of a process, as far as the system tells."""
    children: dict[int, set[int]] = defaultdict(set)
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with suppress(OSError, ValueError):
                    stat = Path(f"/proc/{entry}/stat").read_text()
                    state, parent = stat.rpartition(")")[2].split()[:2]
                    if state != "Z":
                        children[int(parent)].add(int(entry))
    found, fresh = set[int](), {root}
    while fresh:
        fresh = {pid for parent in fresh for pid in children[parent]} - found
        found |= fresh
    return found


def _linux() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    libc = _linux()
    if libc is not None:
        libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)
