"""Limits and containment of processes that run user code.

Memory, processor time, environment variables, and an end together with the parent.  Each is applied
only where the system supports it; elsewhere user code has a little more freedom (see
docs/security.md).  Supervisors import this module, so it imports little.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from knightfall.position import Side

_SET_PDEATHSIG, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 1, 4, 36

# -- memory, processor time, environment -----------------------------------------------------

SUBMISSION_MEMORY = 1 << 30
"""Bytes of memory that a submission of the course and its children may use together."""

SHARED_MEMORY = 64 << 20
"""Size in bytes of the file system in memory at ``/dev/shm``, where agents may write files."""

MOST_OPEN = 256
"""How many files, pipes and sockets each of its processes may have open: the system does not count
what pipes and sets of watched files take."""

MOST_PROCESSES = 64
"""How many processes a submission of the course may have at a time."""

THREADS_EACH = 4
"""Threads per process for which the system's limit on processes, which counts threads, has room."""

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
    import random

    number = 2 * seed + (side == "b")
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number % 2**32)


def limit_memory(bytes: int) -> None:
    """Limit the memory of this process, of each of its children, and their files' size and number.

    The supervisor limits the memory that they use together.
    """
    with suppress(ImportError):
        import resource

        for what, most in (
            (resource.RLIMIT_DATA, bytes),
            (resource.RLIMIT_AS, 8 * bytes),  # larger, because reserved memory need not be used
            (resource.RLIMIT_FSIZE, bytes),
            (resource.RLIMIT_NOFILE, MOST_OPEN),
        ):
            with suppress(OSError, ValueError):
                _, hard = resource.getrlimit(what)
                limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(what, (limit, limit))


def limit_processes() -> None:
    """Limit how many threads all processes of this user may have, in this user namespace."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = MOST_PROCESSES * THREADS_EACH
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


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
    return {**REPEATABLE, **_with_absolute_paths(os.environ), "PYTHONHASHSEED": "0"}


def submission_environment(home: str, **more: str) -> dict[str, str]:
    """Return the environment of a process that runs a submission in the folder `home`.

    It has what Python needs, and none of the user's secrets.
    """
    kept = {key: value for key, value in os.environ.items() if key.upper().startswith(INHERITED)}
    return {**_with_absolute_paths(kept), **REPEATABLE, "HOME": home, **more}


def _with_absolute_paths(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for a process with another working folder."""
    found = dict(environment)
    if found.get("PYTHONPATH"):
        paths = [os.path.abspath(path) for path in found["PYTHONPATH"].split(os.pathsep) if path]
        found["PYTHONPATH"] = os.pathsep.join(paths)
    return found


def offer_to_oom_killer() -> None:
    """Make this process the first to be killed when memory runs out, and disable core dumps."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


_expendable: list[bool] = []


def be_expendable() -> None:
    """Mark this process as expendable: it need not load users' files in another process first."""
    _expendable[:] = [True]


def is_expendable() -> bool:
    """Return whether this process is marked as expendable."""
    return bool(_expendable)


# -- containment -----------------------------------------------------------------------------


def exit_with_parent() -> None:
    """Let the system kill this process when its parent ends."""
    _prctl(_SET_PDEATHSIG, int(signal.SIGKILL))


def forbid_inspection(forbidden: bool = True) -> None:
    """Forbid processes of the same user to read or change this one's memory and descriptors."""
    _prctl(_SET_DUMPABLE, int(not forbidden))


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends, so that they can be found."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


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

    `group` is the process group to kill first; None if the child has put its own child into a
    process namespace: all processes there end when that one is killed.
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
    for pid in () if group else children(child):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    if group or not children(child):  # else it ends once all processes in the namespace have ended
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(child, 0)


def children(parent: int) -> list[int]:
    """Return the children of a process, also of its other threads; empty if it has ended."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{parent}/task"):
            with suppress(OSError), open(f"/proc/{parent}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def descendants(root: int) -> set[int]:
    """Return the living descendants of a process, as far as /proc shows them."""
    below: dict[int, set[int]] = {}
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with suppress(OSError, ValueError):
                    with open(f"/proc/{entry}/stat") as file:
                        state, parent = file.read().rpartition(")")[2].split()[:2]
                    if state != "Z":
                        below.setdefault(int(parent), set()).add(int(entry))
    found, fresh = set[int](), {root}
    while fresh:
        fresh = {pid for parent in fresh for pid in below.get(parent, ())} - found
        found |= fresh
    return found


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
