"""Isolate a process from the rest of a Linux system, without the help of another program.

Three steps.  `enter_namespaces` gives this process's children process ids of their own, no network
and no shared memory with others.  `make_read_only`, called by the first of these children, replaces
``/proc``, by which processes find each other, and forbids writing anywhere but in a scratch folder.
`give_up_privileges` takes away what root can do beyond the owner of its files.

`filter_system_calls` is for code in any sandbox: it forbids system calls that no agent
needs, and that could read other processes or take memory that the supervisor does not count.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from contextlib import suppress

from knightfall.isolation.limits import SHARED_MEMORY

_NEW_MOUNTS, _NEW_USER, _NEW_PROCESSES = 0x00020000, 0x10000000, 0x20000000
_NEW_IPC, _NEW_NETWORK = 0x08000000, 0x40000000
_APART = _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_NETWORK

_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8  # flags of mount and mount_setattr
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR, _HERE, _WHOLE_TREE = 442, -100, 0x8000

_DEVICES = ("null", "zero", "full", "random", "urandom")
"""Files in /dev that can still be used as devices; disks and memory cannot, even by root."""

_DROP_FROM_BOUND, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 24, 38, 47, 4
_LAST_CAPABILITY, _READ_ANY_FILE = 63, 2
_CAPABILITY_VERSION = 0x20080522


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def enter_namespaces() -> None:
    """Give this process its own mounts, network and shared memory, and its children own ids.

    An ordinary user needs a user namespace for it.  Raise OSError where the system refuses.
    """
    if sys.platform != "linux":
        raise OSError("namespaces exist on Linux only")
    user, group = os.geteuid(), os.getegid()
    if user == 0:  # in a user namespace root could not read other users' files
        _checked(_libc().unshare(_APART), "unshare")
        return
    _checked(_libc().unshare(_APART | _NEW_USER), "unshare")
    for name, text in (
        ("uid_map", f"{user} {user} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def make_read_only(writable: str = "", limited: bool = False) -> None:
    """Replace /proc and forbid writing in this process's mounts, except to one folder.

    If `limited`, /dev/zero, which can be mapped as shared memory, is empty.  Call it in the first
    process of a process namespace.  Raise OSError where the system refuses.
    """
    _mount(None, "/", _RECURSIVE | _PRIVATE)
    devices = [f"/dev/{name}" for name in _DEVICES]
    for path in (*devices, *([writable] if writable else [])):
        _mount("/dev/null" if limited and path == "/dev/zero" else path, path, _BIND)
    _set_flags("/", _READ_ONLY | _NO_SETUID | _NO_DEVICES, 0, _WHOLE_TREE)
    for path in devices:
        _set_flags(path, 0, _NO_DEVICES)
    if writable:
        _set_flags(writable, 0, _READ_ONLY)
    flags = _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS
    _mount("proc", "/proc", flags | _READ_ONLY, "proc")
    if os.path.isdir("/run") and not sys.executable.startswith("/run/"):  # sockets of services
        _mount("tmpfs", "/run", flags | _READ_ONLY, "tmpfs")
    _mount("tmpfs", "/dev/shm", flags, "tmpfs", f"size={SHARED_MEMORY},mode=1777")


def _mount(source: str | None, target: str, flags: int, kind: str = "", data: str = "") -> None:
    _checked(
        _libc().mount(
            *(None if source is None else os.fsencode(source), os.fsencode(target)),
            *(kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None),
        ),
        f"mount {target}",
    )


def _set_flags(path: str, on: int, off: int, how: int = 0) -> None:
    """Set and clear flags of a mount, and with `how` = `_WHOLE_TREE` of all mounts below it."""
    wanted = struct.pack("=QQQQ", on, off, 0, 0)
    called = _libc().syscall(
        *(ctypes.c_long(_MOUNT_SETATTR), _HERE, os.fsencode(path)),
        *(how, wanted, ctypes.c_size_t(len(wanted))),
    )
    _checked(called, f"mount_setattr {path}")


def give_up_privileges() -> None:
    """Drop all capabilities for good, as far as this process has any.

    Root keeps the capability to read all files, which is needed for files of other users.
    """
    if sys.platform != "linux":
        return
    libc, kept = _libc(), _READ_ANY_FILE if os.geteuid() == 0 else -1
    for capability in range(_LAST_CAPABILITY + 1):
        if capability != kept:
            libc.prctl(_DROP_FROM_BOUND, ctypes.c_ulong(capability), 0, 0, 0)
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), 0, 0, 0)
    bits = 1 << kept if kept >= 0 else 0
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    libc.capset(header, struct.pack("=6I", bits, bits, 0, 0, 0, 0))


# -- system calls ----------------------------------------------------------------------------------

_COMMON_CALLS = (425, 428, 429, 430, 438, 442, 444, 447)
"""io_uring_setup, open_tree, move_mount, fsopen, pidfd_getfd, mount_setattr,
landlock_create_ruleset, memfd_secret."""

_CALLS = {
    # For each architecture: its number, its number of the system call "seccomp", and those of the
    # calls that are forbidden: ptrace, process_vm_readv and _writev, memfd_create, shmget, msgget,
    # semget, mount, unshare, setns, add_key, request_key, keyctl, vmsplice, bpf.
    "x86_64": (
        *(0xC000003E, 317),
        (101, 310, 311, 319, 29, 68, 64, 165, 272, 308, 248, 249, 250, 278, 321),
    ),
    "aarch64": (
        *(0xC00000B7, 277),
        (117, 270, 271, 279, 194, 186, 190, 40, 97, 268, 217, 218, 219, 75, 280),
    ),
}
_CLONE, _CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
"""The numbers of clone, which must not make namespaces, and of clone3, which says in memory what it
shall make: it does not exist, and libraries use clone instead."""

_LIMITED_CALLS = {"x86_64": (54, 41, 9, 72), "aarch64": (208, 198, 222, 25)}
"""The numbers of setsockopt, socket, mmap and fcntl, which are restricted for submissions."""

_IGNORED_CALLS = {"x86_64": (141, 142, 144, 203, 314), "aarch64": (140, 118, 119, 122, 274)}
"""The numbers of setpriority, sched_setparam, _setscheduler, _setaffinity and _setattr.

They have no effect: an agent could take the core of another game, or wait for it and claim that it
had none.
"""

_LOCAL_SOCKET = 1  # the first argument of socket: AF_UNIX
_SHARED_ANONYMOUS = 0x21  # flags of mmap: MAP_SHARED, MAP_ANONYMOUS
_LOCKING = (6, 7, 37, 38)  # the second argument of fcntl: F_SETLK, _SETLKW, F_OFD_SETLK, _SETLKW
_NEW = 0x7E020000  # flags of clone: all that begin with CLONE_NEW
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_ANSWERS = (_ALLOW, _FAIL, _FAIL | errno.ENOSYS, _FAIL | errno.EPERM)
_X32 = 0x40000000
"""The first number of a second set of calls on x86-64, which would bypass the list."""
_USE_FILTER, _KEEP_SPEED = 1, 4


def filter_system_calls(limited: bool) -> bool:
    """Forbid this process and its children the calls listed above; return whether that worked.

    They would read other processes, take memory that belongs to no process, change mounts, or make
    namespaces.  Calls that choose cores or priorities have no effect.  If `limited`, sockets other
    than local ones of the usual size, shared memory without a file and locks of parts of files are
    forbidden, too: they take memory that the supervisor cannot see.
    """
    machine = os.uname().machine if sys.platform == "linux" else ""
    if machine not in _CALLS:
        return False
    restricted = _LIMITED_CALLS[machine] if limited else ()
    calls = *_CALLS[machine], _IGNORED_CALLS[machine], _CLONE[machine]
    program = _filter_program(*calls, restricted)
    kept = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("@HP", len(program) // 8, ctypes.addressof(kept))
    seccomp = _CALLS[machine][1]
    libc = _libc()
    libc.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), 0, 0, 0)
    # Without the flag, older kernels would slow down everything that the process computes.
    return bool(libc.syscall(ctypes.c_long(seccomp), _USE_FILTER, _KEEP_SPEED, whole) == 0)


def _filter_program(
    machine: int,
    _: int,
    forbidden: tuple[int, ...],
    ignored: tuple[int, ...],
    clone: int,
    restricted: tuple[int, ...],
) -> bytes:
    """Return the program with which the kernel decides about each system call.

    It reads the architecture, the number of the call (at 0) and the low halves of its arguments
    (from 16 on, 8 bytes each).
    """
    allow, ignore, miss, refuse = -4, -3, -2, -1  # stand for jumps to the last four instructions
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 0, refuse, machine), (_LOAD, 0, 0, 0)]
    steps.append((_AT_LEAST, refuse, 0, _X32))
    steps += [(_EQUAL, refuse, 0, number) for number in (*forbidden, *_COMMON_CALLS)]
    steps += [(_EQUAL, ignore, 0, number) for number in ignored]
    steps.append((_EQUAL, miss, 0, _CLONE3))
    steps += [(_EQUAL, 0, 2, clone), (_LOAD, 0, 0, 16), (_ANY, refuse, allow, _NEW)]
    if restricted:
        setsockopt, socket, mmap, fcntl = restricted
        steps += [
            (_EQUAL, refuse, 0, setsockopt),
            *((_EQUAL, 0, 2, socket), (_LOAD, 0, 0, 16), (_EQUAL, allow, refuse, _LOCAL_SOCKET)),
            *((_EQUAL, 0, 3, mmap), (_LOAD, 0, 0, 16 + 3 * 8), (_AND, 0, 0, _SHARED_ANONYMOUS)),
            (_EQUAL, refuse, allow, _SHARED_ANONYMOUS),
            *((_EQUAL, 0, 1 + len(_LOCKING), fcntl), (_LOAD, 0, 0, 16 + 8)),
            *((_EQUAL, refuse, 0, how) for how in _LOCKING),
        ]
    steps += [(_RETURN, 0, 0, answer) for answer in _ANSWERS]
    packed = b""
    for at, (code, *jumps, value) in enumerate(steps):
        to = (len(steps) - 1 - at + jump if jump < 0 else jump for jump in jumps)
        packed += struct.pack("=HBBI", code, *to, value)
    return packed


def is_alone() -> bool:
    """Return whether limits on a user's processes count those of this user namespace only."""
    release = os.uname().release.split(".")
    with suppress(OSError, ValueError):
        with open("/proc/self/uid_map") as file:
            separate = file.read().split() != ["0", "0", "4294967295"]
        return separate and os.geteuid() != 0 and (int(release[0]), int(release[1])) >= (5, 14)
    return False
