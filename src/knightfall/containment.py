"""What the system offers to keep processes of somebody else's code together, away from all others.

Everything here is asked for and not insisted upon: where there is no such thing, that code has a
little more freedom.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWPID = 0x10000000, 0x20000000
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 1, 4, 36

ROUNDS = 100
"""How often we look for descendants that are still there: some fork while they are ended."""


def _linux() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    libc = _linux()
    if libc is not None:
        libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def enter_namespace() -> bool:
    """Have the processes that this one starts see and signal nobody but themselves; whether so.

    The first of them is the one whose end is the end of all.
    """
    _prctl(_SET_CHILD_SUBREAPER, 1)  # for where it is not so
    libc = _linux()
    if libc is None or not hasattr(libc, "unshare"):
        return False
    user, group = os.geteuid(), os.getegid()
    if user == 0:  # who would lose its power over others' files in a user namespace
        return bool(libc.unshare(_CLONE_NEWPID) == 0)
    if not _may_map() or libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID) != 0:
        return False
    with suppress(OSError):  # a user unknown to itself still owns its files
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def _may_map() -> bool:
    return os.access("/proc/self/uid_map", os.W_OK)


def be_private() -> None:
    """Let no process of the same user look into this one's memory or change it."""
    _prctl(_SET_DUMPABLE, 0)


def end_with_parent() -> None:
    """Be killed when the parent ends."""
    _prctl(_SET_PDEATHSIG, int(signal.SIGKILL))


def be_modest() -> None:
    """Be the first to go when memory runs out, and leave no image of it behind."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(bytes: int) -> None:
    """Let this process and what it starts have so much memory each, and write no huge files."""
    with suppress(ImportError):
        import resource

        for what, most in (
            (resource.RLIMIT_DATA, bytes),
            (resource.RLIMIT_AS, 8 * bytes),  # a reservation is not yet memory
            (resource.RLIMIT_FSIZE, bytes),
        ):
            with suppress(OSError, ValueError):
                _, hard = resource.getrlimit(what)
                limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(what, (limit, limit))


SPARE_SECONDS = 5
"""Processor time beyond its limit that a move may take, in whole seconds: for other threads."""


def limit_processor(seconds: float | None) -> None:
    """Let this process have so much processor time from now on, and some; None lifts that."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = resource.RLIM_INFINITY
        if seconds is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            soft = int(used.ru_utime + used.ru_stime + seconds) + SPARE_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def end_all(watcher: int, agent: int | None) -> None:
    """End a child of this process and all it has started.

    `agent` leads the group that we know of; None where there is a namespace, which does it all.
    """
    if agent:
        with suppress(OSError):
            os.killpg(agent, signal.SIGKILL)
        for _ in range(ROUNDS):
            found = descendants(os.getpid()) - {watcher}
            if not found:
                break
            for pid in found:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    with suppress(OSError):
        os.kill(watcher, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(watcher, 0)  # in a namespace, that is when everybody in it has ended


def descendants(root: int) -> set[int]:
    """The living processes that descend from one, as far as the system tells."""
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
