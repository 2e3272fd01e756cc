r"""Supervise the process of an agent, which may hang, crash, print or forge answers.

::

    HostProcess  <=pipes=>  supervisor  <=pipes=>  agent
                                \_ starter _ watcher _/

The client is the process that has a `HostProcess` and sends the requests.  The supervisor runs no
user code.  It forwards requests and answers, and adds the time that each answer took by its own
clock, which an agent can neither set nor delay, and how much of that time the two processes waited
for a core; with a "?" if processes of the agent that have ended may have had it.  Each request
begins with a random token, and its answer must begin with the same token; any other line, or one
that is too long, ends the agent.

The agent and its parent, the watcher, run in a sandbox where the system allows it (see
`knightfall.isolation.sandbox`).  There they have process ids of their own, so that the agent
cannot see, signal or outlive other processes.  The starter is their parent outside: bubblewrap, or
this program.  Elsewhere they have a session of their own; on Linux, processes that the agent leaves
behind become children of the supervisor, which finds and kills them.  The supervisor also counts
the memory and the processes that a submission of the course and its children use together.

This program imports little, so that it starts quickly.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

from knightfall.isolation import limits, sandbox
from knightfall.processor_cores import seconds_waited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

LOOK = 1.0
"""Seconds between two checks that the client still exists."""

COUNT = 0.1
"""Seconds between two measurements of the memory and processes that a submission uses."""

DYING = 1.0
"""Seconds to wait for the exit status of a process that has closed its connection."""

MOST_BYTES = 1 << 20
"""Largest line in bytes: a report takes a few hundred, the names of an agent's files a few
thousand."""

MOST_KNOWN = 2 * limits.MOST_PROCESSES
"""How many processes of an agent are looked at; a submission may not have that many."""

SHORT_WAIT = 0.001
"""Seconds of waiting for a core that decide nothing."""

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
"""Units of processor time a second, in which the system reports it."""

AT_ONCE = 1 << 16
"""Size of one read in bytes."""


class TooLong(Exception):
    """A line is longer than allowed."""


class LineReader:
    """Splits a byte stream from an untrusted process into lines of limited length."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._rest = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes, without line ends.  Raise `TooLong`."""
        *whole, rest = piece.split(b"\n")
        if whole:
            whole[0] = bytes(self._rest) + whole[0]
            self._rest.clear()
        self._rest += rest
        if len(self._rest) > self._most or any(len(line) > self._most for line in whole):
            raise TooLong(f"a line of more than {self._most:,} bytes")
        return whole


# -- the supervisor --------------------------------------------------------------------------


class Orders:
    """What a supervisor runs: the agent, the kind of its sandbox, and the folders in it.

    The kind is empty for an agent that needs no sandbox.  A submission is `limited`: its memory and
    its processes are counted.  See `sandbox.bubblewrap` for the folders.
    """

    def __init__(
        self,
        kind: str,
        hosted: str = "",
        text: str = "",
        limited: bool = False,
        scratch: str = "",
        place: str = "",
        readable: Sequence[str] = (),
        hidden: Sequence[str] = (),
    ) -> None:
        self.kind, self.hosted, self.text, self.limited = kind, hosted, text, limited
        self.scratch, self.place = scratch, place
        self.readable, self.hidden = readable, hidden

    def words(self) -> list[str]:
        """Return the orders as command-line arguments."""
        words = [self.kind, self.hosted, self.text, "limited" if self.limited else ""]
        words += [self.scratch, self.place, str(len(self.readable))]
        return [*words, *self.readable, *self.hidden]

    @staticmethod
    def from_words(words: Sequence[str]) -> Orders:
        """Return the orders that command-line arguments describe."""
        kind, hosted, text, limited, scratch, place, count, *folders = words
        readable, hidden = folders[: int(count)], folders[int(count) :]
        return Orders(kind, hosted, text, bool(limited), scratch, place, readable, hidden)


def supervise(orders: Orders) -> NoReturn:
    """Run the agent for the client, which is at the other end of standard input and output.

    This ends when the client or the agent ends.  The scratch folder is then removed, even if the
    client was killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asking = os.getppid()
    questions, answers = take_streams()
    agent_reads, to_agent = os.pipe()
    agent_answers, agent_writes = os.pipe()
    exit_reader, exit_writer = os.pipe()
    limits.adopt_orphans()
    program = [sys.executable, "-P", "-m", "knightfall.isolation.agent_host"]
    program += orders.words()[:5]
    starter = start(program, orders, (agent_reads, agent_writes, exit_writer))
    for theirs in (agent_reads, agent_writes, exit_writer):
        os.close(theirs)
    limits.forbid_inspection()
    os.set_blocking(to_agent, False)
    agent = os.read(exit_reader, 20)  # its process id; not valid here if it is in a namespace
    in_namespace = orders.kind in ("bubblewrap", "namespaces")
    if in_namespace:
        watchers = limits.children(starter)
        known = [child for watcher in watchers for child in limits.children(watcher)][:1]
    else:
        watchers, known = [os.getpid()], [int(agent)] if agent else []
    try:
        connection = to_agent, agent_answers, exit_reader
        relay = Relay((questions, answers, asking), connection, known, watchers, orders.limited)
        end = relay.run() if agent else "could not be started in its sandbox"
        if end:
            with suppress(OSError):
                os.write(answers, b"! " + end.encode() + b"\n")
    finally:
        limits.kill_tree(starter, None if in_namespace else int(agent or b"0"))
        if orders.scratch:
            from knightfall.isolation.scratch_folder import remove_folder

            remove_folder(orders.scratch)
        os._exit(0)


def take_streams() -> tuple[int, int]:
    """Return duplicates of standard input and output, and detach the originals.

    From then on standard input is empty, and standard output goes to standard error.
    """
    streams = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return streams


# -- starting the agent ----------------------------------------------------------------------


def start(program: list[str], orders: Orders, passed: tuple[int, ...]) -> int:
    """Run a program in the sandbox of the given kind; return the process id of the starter.

    The program inherits the file descriptors `passed` and the standard ones, and no others.  The
    numbers of those in `passed` are appended to its arguments.
    """
    supervisor = os.getpid()
    starter = os.fork()
    if starter:
        return starter
    try:
        limits.exit_with_parent()
        if os.getppid() != supervisor:
            os._exit(1)
        limits.offer_to_oom_killer()
        for descriptor in passed:
            os.set_inheritable(descriptor, True)
        _run([*program, *map(str, passed)], orders, passed)
    finally:
        os._exit(127)


def _run(program: list[str], orders: Orders, passed: tuple[int, ...]) -> None:
    """Replace this process by the program, or by one that starts it in a sandbox."""
    kind, scratch = orders.kind, orders.scratch
    if kind in ("bubblewrap", "namespaces"):
        os.environ.update(sandbox.environment())
    if kind == "bubblewrap":
        folders = orders.readable, orders.hidden, scratch, orders.place
        program = sandbox.bubblewrap(program, *folders, orders.limited)
    elif kind:
        from knightfall.isolation import namespaces

    if kind == "namespaces":
        here = os.getcwd()
        namespaces.enter_namespaces()
        limits.exit_with_parent()  # again: a change of privileges cancels it
        first = os.fork()
        if first:
            for descriptor in passed:
                os.close(descriptor)
            os._exit(0 if os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0 else 1)
        limits.exit_with_parent()
        namespaces.make_read_only(scratch, orders.limited)
        os.chdir(here)
    if kind and kind != "bubblewrap":
        namespaces.give_up_privileges()
    os.execvp(program[0], program)


def _try(kind: str) -> NoReturn:
    """Exit with status 0 if Python starts in a kind of sandbox here."""
    program = [sys.executable, "-P", "-c", "import knightfall.isolation.agent_host"]
    tried = start(program, Orders(kind), ())
    os._exit(min(1, os.waitpid(tried, 0)[1]))


# -- relaying --------------------------------------------------------------------------------


class Relay:
    """Forwards one request at a time to the agent, and its answer back.

    `agent` holds the process id of the agent, if it is known.  All its processes are descendants of
    the `roots`; if `limited`, their memory and number are limited.
    """

    def __init__(
        self,
        asking: tuple[int, int, int],
        connection: tuple[int, int, int],
        agent: list[int],
        roots: list[int],
        limited: bool,
    ) -> None:
        self._questions, self._answers, self._asking = asking
        self._to_agent, self._agent_answers, self._exit_reader = connection
        self._agent, self._roots = agent, roots
        self._counted = roots if limited else []
        self._from_host, self._from_agent = LineReader(), LineReader()
        self._word: bytes | None = None  # the token that the answer must begin with
        self._since = self._waited = self._next_count = 0.0
        self._computed: dict[int, float] = {}  # processor time of the processes at the request
        self._newest = ""  # the last process that was started before it
        self._until = float("inf")  # deadline for the exit status after the agent closed its pipe

    def run(self) -> str:
        """Forward requests and answers until either side ends.

        Return how the agent ended, "" if the client ended.
        """
        poll = select.poll()
        for source in (self._questions, self._agent_answers, self._exit_reader):
            poll.register(source, select.POLLIN)
        while True:
            look = COUNT if self._counted else LOOK
            left = min(look, self._until - time.monotonic())
            ready = {source for source, _ in poll.poll(max(0.0, left) * 1000)}
            now = time.monotonic()
            if os.getppid() != self._asking:
                return ""
            if self._counted and now >= self._next_count:
                if excess := describe_excess(self._counted):
                    return excess
                self._next_count = time.monotonic() + COUNT
            # The connection is read first: the agent may have answered and then died.
            if self._agent_answers in ready:
                piece = os.read(self._agent_answers, AT_ONCE)
                if not piece:
                    poll.unregister(self._agent_answers)
                    self._until = now + DYING
                try:
                    self._pass_back(self._from_agent.feed(piece), now)
                except (TooLong, _Unasked) as broken:
                    return f"sent an invalid answer: {broken}"
            elif self._exit_reader in ready:  # the watcher writes its whole message at once
                return os.read(self._exit_reader, 100).decode() or "killed its watcher process"
            elif now >= self._until:
                return "closed the connection"
            if self._questions in ready:
                piece = os.read(self._questions, AT_ONCE)
                if not piece:
                    return ""
                self._pass_on(self._from_host.feed(piece))

    def _waiting(self) -> float:
        """Return the seconds that this process and the agent's have waited for a core so far."""
        return seconds_waited() + sum(map(seconds_waited, self._players()))

    def _players(self) -> set[int]:
        """Return the process that loaded the agent, the fork of it that plays the game, and the
        programs that this fork has started.
        """
        agents = list(self._agent)
        for pid in agents:  # the list grows
            agents += limits.children(pid)
            if len(agents) > limits.MOST_PROCESSES:
                break
        return set(agents)

    def _idle(self, seconds: float) -> tuple[float, bool]:
        """Return how many of the seconds since the request no process of the agent computed.

        An agent has not waited for a core while its own processes and threads had one.  Also return
        whether this is certain: what processes computed that have ended since may be unknown.
        """
        family = _family(self._roots)
        for pid in family:
            seconds -= max(0.0, _processor_time(pid) - self._computed.get(pid, 0.0))
        certain = self._newest == _newest_process() and self._computed.keys() <= set(family)
        return seconds, certain and len(family) <= MOST_KNOWN

    def _pass_on(self, lines: list[bytes]) -> None:
        for line in lines:
            self._waited = self._waiting()
            self._newest = _newest_process()
            self._computed = {pid: _processor_time(pid) for pid in _family(self._roots)}
            self._word, self._since = line.partition(b" ")[0], time.monotonic()
            with suppress(OSError):  # an agent that does not read will not answer, either
                os.write(self._to_agent, line + b"\n")

    def _pass_back(self, lines: list[bytes], now: float) -> None:
        for line in lines:
            word, self._word = self._word, None
            if word is None or not line.startswith(word + b" "):
                raise _Unasked("an answer to no request")
            took = round((now - self._since) * 1e6)
            waited, certain = self._waiting() - self._waited, True
            if waited > SHORT_WAIT:
                idle, certain = self._idle(now - self._since)
                waited = min(waited, idle)
            waited = max(0, round(waited * 1e6))
            left = b"%d,%d%s %s\n" % (took, waited, b"" if certain else b"?", line)
            while left:
                left = left[os.write(self._answers, left) :]


class _Unasked(Exception):
    """Raised when the agent writes a line that does not answer a pending request."""


# -- what a submission uses ------------------------------------------------------------------


def _family(roots: list[int]) -> list[int]:
    """Return processes and their descendants, though not many more than `MOST_KNOWN`."""
    pids = list(roots)
    for pid in pids:  # the list grows
        pids += limits.children(pid)
        if len(pids) > MOST_KNOWN:
            break
    return pids


def _newest_process() -> str:
    """Return the number of the last process or thread that was started on this system."""
    with suppress(OSError), open("/proc/loadavg") as file:
        return file.read().split()[-1]
    return ""


def _processor_time(pid: int) -> float:
    """Return the seconds that a process, with all its threads and its ended children, computed."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
        return sum(map(int, file.read().rpartition(b")")[2].split()[11:15])) / TICKS
    return 0.0


def describe_excess(roots: list[int]) -> str:
    """Return which limit of a submission processes and their descendants exceed; "" if none."""
    pids = _family(roots)
    if len(pids) - len(roots) > limits.MOST_PROCESSES:
        return f"started more than {limits.MOST_PROCESSES} processes"
    if sum(_status(pid, ("Threads",)) for pid in pids) > MOST_THREADS:
        return f"started more than {MOST_THREADS} threads"
    # Most processes share memory with the one that they were forked from.  The sum that counts a
    # shared page once is slow to read, so it is read only if the simple sum exceeds the limit.
    most, shared = limits.SUBMISSION_MEMORY, _in_shared_memory(roots[0]) + _in_sockets(roots[0])
    if shared + sum(map(_resident, pids)) > most and shared + sum(map(_share, pids)) > most:
        return f"used more than {most >> 30} GB of memory"
    return ""


def _resident(pid: int) -> int:
    """Return the bytes of memory that a process uses, apart from files' contents."""
    return _status(pid, ("RssAnon", "RssShmem", "VmSwap", *_OWN)) << 10


def _share(pid: int) -> int:
    """Return the same bytes, each page divided by the number of processes that share it."""
    found = _sum_of(f"/proc/{pid}/smaps_rollup", ("Pss_Anon", "Pss_Shmem", "SwapPss"))
    return found + _status(pid, _OWN) << 10 if found else _resident(pid)


_OWN = ("HugetlbPages", "VmPTE")
"""Huge pages and tables of pages, in kilobytes: a process shares them with no other."""


def _status(pid: int, names: tuple[str, ...]) -> int:
    """Return the sum of some numbers in the status of a process."""
    return _sum_of(f"/proc/{pid}/status", names)


def _sum_of(file: str, names: tuple[str, ...]) -> int:
    """Return the sum of the first numbers of the lines of a file that begin with these names."""
    found = 0
    with suppress(OSError, ValueError), open(file) as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name in names:
                found += int(value.split()[0])
    return found


MOST_THREADS = limits.MOST_PROCESSES * limits.THREADS_EACH

INODE = 1 << 10
"""Bytes of memory that an empty file takes."""


def _in_shared_memory(pid: int) -> int:
    """Return the bytes of memory that files in ``/dev/shm`` take, in the sandbox of a process."""
    if pid == os.getpid():
        return 0  # there is no sandbox
    try:
        used = os.statvfs(f"/proc/{pid}/root/dev/shm")
    except OSError:
        return 0
    blocks, files = used.f_blocks - used.f_bfree, used.f_files - used.f_ffree
    return blocks * used.f_frsize + files * INODE


def _in_sockets(pid: int) -> int:
    """Return how many bytes the sockets in the sandbox of a process can hold unread, at most."""
    if pid == os.getpid():
        return 0  # there is no sandbox
    try:
        with open(f"/proc/{pid}/net/unix", "rb") as lines, open(_SOCKET_BYTES) as size:
            return sum(1 for _ in lines) * int(size.read())
    except (OSError, ValueError):
        return 0


_SOCKET_BYTES = "/proc/sys/net/core/wmem_default"


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] in sandbox.KINDS:
        _try(sys.argv[1])
    given = Orders.from_words(sys.argv[1:])
    if hasattr(os, "fork"):
        supervise(given)
    from knightfall.isolation.agent_host import serve

    serve(given.hosted, given.text, *take_streams(), before=b"- ")
