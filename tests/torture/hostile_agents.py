"""Agents that do harm, deliberately or not, and how each of them loses its game.

Each is the text of a file with a function `choose`.  They cannot harm a machine on which an agent
runs in a process namespace of its own; those that could elsewhere are marked `alone`.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
import ctypes, gc, os, signal, sys, threading, time

def connections():
    '''What is open beside the standard streams.'''
    return [fd for fd in range(3, 64) if is_open(fd)]

def is_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False

def shout(data):
    '''Write into every connection there is.'''
    for fd in connections():
        try:
            os.write(fd, data)
        except OSError:
            pass

def word():
    '''What our answer must begin with: it lies in a frame above ours.'''
    frame = sys._getframe()
    while 'word' not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals['word']

def detach(work):
    '''Run something in a process that has left our session, and whose parent is gone.'''
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            work()
        os._exit(0)

def parent(pid):
    '''The parent of a process.'''
    with open(f'/proc/{pid}/stat') as file:
        return int(file.read().rpartition(')')[2].split()[1])

HERE = os.path.dirname(__file__)

def others():
    '''The processes that play with us, but are not ours, as far as we can see them.'''
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f'/proc/{name}/cmdline') as file:
                    command = file.read()
            except OSError:
                continue
            if HERE in command and not (inner() and __file__ in command):
                yield int(name)

def inner():
    '''Whether we have process numbers of our own: then processes with our name are ours.'''
    with open('/proc/1/cmdline') as file:
        return __file__ in file.read()

def foreign_ends():
    '''The descriptors of other processes that can be opened, except for ours.'''
    own = {os.readlink(f'/proc/self/fd/{fd}') for fd in connections()}
    for pid in others():
        try:
            for name in os.listdir(f'/proc/{pid}/fd'):
                path = f'/proc/{pid}/fd/{name}'
                if os.readlink(path).startswith('pipe:') and os.readlink(path) not in own:
                    yield os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue

libc = ctypes.CDLL(None)
"""


@dataclass(frozen=True)
class Hostile:
    """An agent with the reason for which it loses, and a part of the message about it.

    `quick` ones run in the test suite; `alone` ones are safe only where agents cannot see other
    processes; `top` is the top-level code of its file.
    """

    name: str
    body: str
    reason: str
    said: str
    time: str = "20s"
    top: str = ""
    quick: bool = False
    alone: bool = False

    def source(self, mark: str) -> str:
        """Return the text of the agent's file; processes that it leaves behind are recognised by
        `mark`.
        """
        lines = "".join(f"    {line}\n" for line in self.body.strip().splitlines())
        return f"{PRELUDE}\nMARK = {mark!r}\n{self.top}\n\ndef choose(position):\n{lines}"


SHORT = "100ms"

BAD_MANNERS = (
    Hostile("raises", "raise IndexError('no idea')", "crash", "IndexError: no idea", quick=True),
    Hostile("leaves", "sys.exit(3)", "crash", "SystemExit: 3"),
    Hostile("exits", "os._exit(3)", "crash", "ended with exit status 3", quick=True),
    Hostile("exits as if all were well", "os._exit(0)", "crash", "exit status 0"),
    Hostile("segfaults", "ctypes.string_at(0)", "crash", "was killed by SIGSEGV", quick=True),
    Hostile("aborts", "os.abort()", "crash", "was killed by SIGABRT"),
    Hostile("kills itself", "os.kill(os.getpid(), 9)", "crash", "was killed by SIGKILL"),
    Hostile("interrupts", "raise KeyboardInterrupt", "crash", "KeyboardInterrupt", quick=True),
    Hostile("recurses", "return choose(position)", "crash", "RecursionError"),
    Hostile("has no memory", "raise MemoryError", "crash", "MemoryError"),
    Hostile(
        "exits when loaded", "return 'a1'", "crash", "exit status 7", top="os._exit(7)", quick=True
    ),
    Hostile(
        "interrupts when loaded",
        "return 'a1'",
        "crash",
        "KeyboardInterrupt",
        top="raise KeyboardInterrupt",
    ),
    Hostile("babbles", "raise ValueError('x' * 10_000_000)", "crash", "ValueError: xxx"),
    Hostile("has no words", "raise ValueError('\\ud800\\x00')", "crash", "ValueError: ?"),
    Hostile(
        "cannot be printed",
        "class Odd(Exception):\n    def __str__(self): raise OSError('odd')\nraise Odd",
        "crash",
        "odd",
    ),
)
"""Agents that do not play."""

BAD_ANSWERS = (
    Hostile("gives up", "return None", "forfeit", "returned no move", quick=True),
    Hostile("old style", "return (-1, -1)", "illegal", "(-1, -1)"),
    Hostile("another cell", "return 'b3'", "illegal", "'b3'"),
    Hostile("garbage", "return 'x' * 10_000_000", "illegal", "xxx", quick=True),
    Hostile(
        "agrees with everybody",
        "class Yes(str):\n"
        "    __hash__ = str.__hash__\n"
        "    def __eq__(self, other): return True\n"
        "return Yes('b3')",
        "illegal",
        "'b3' is not a legal move",
        quick=True,
    ),
    Hostile(
        "changes the rules",
        "type(position).legal_moves = property(lambda self: ('b3',))\nreturn 'b3'",
        "illegal",
        "'b3' is not a legal move",
    ),
    Hostile(
        "cannot be shown",
        "class Odd:\n    def __repr__(self): raise OSError('odd')\nreturn Odd()",
        "crash",
        "odd",
    ),
    Hostile(
        "confuses itself",
        "import builtins\nbuiltins.isinstance = lambda *a: True\nreturn 5",
        "crash",
        "",
    ),
)
"""Agents whose answer is not a move."""

BAD_TIMES = (
    Hostile("hangs", "while True: pass", "timeout", "did not answer within 0.1 s", time=SHORT),
    Hostile(
        "sleeps in C",
        "ctypes.PyDLL(None).sleep(1000)",  # while it holds the interpreter's lock
        "timeout",
        "did not answer within 0.1 s",
        time=SHORT,
        quick=True,
    ),
    Hostile(
        "cannot be told to stop",
        "for number in range(1, 65):\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "while True: pass",
        "timeout",
        "did not answer within 0.1 s",
        time=SHORT,
    ),
    Hostile("stops", "os.kill(os.getpid(), signal.SIGSTOP)", "timeout", "0.1 s", time=SHORT),
    Hostile(
        "stops all clocks",
        "sleep = time.sleep\n"
        "for clock in ('perf_counter', 'monotonic', 'time', 'process_time'):\n"
        "    setattr(time, clock, lambda: 0.0)\n"
        "sleep(0.4)\n"
        "return position.legal_moves[0]",
        "timeout",
        "answered after 0.",
        time=SHORT,
        quick=True,
    ),
    Hostile(
        "lies about the time",
        "from knightfall.agents import agent_protocol\n"
        "real = agent_protocol.asdict\n"
        "agent_protocol.asdict = lambda report: {**real(report), 'seconds': -1e9}\n"
        "libc.usleep(400_000)\n"
        "return position.legal_moves[0]",
        "timeout",
        "answered after 0.",
        time=SHORT,
        quick=True,
    ),
)
"""Agents that take more time than they have.  (Late answers come within the grace period.)"""

BAD_TALK = (
    Hostile(
        "shouts",
        "shout(b'garbage\\n')\nreturn 'a1'",
        "crash",
        "an answer to no request",
        quick=True,
    ),
    Hostile(
        "never ends a line",
        "while True: shout(b'x' * 65536)",
        "crash",
        "a line of more than 1,048,576 bytes",
        quick=True,
    ),
    Hostile(
        "only ends lines", "while True: shout(b'\\n' * 65536)", "crash", "an answer to no request"
    ),
    Hostile(
        "speaks as it was spoken of old",
        'shout(b\'{"number": 1, "reason": "no moves", "detail": ""}\\n\')\ntime.sleep(9)',
        "crash",
        "an answer to no request",
    ),
    Hostile(
        "forges a reason",
        'shout(word() + b\' {"reason": "no moves", "detail": ""}\\n\')\ntime.sleep(9)',
        "crash",
        "the unknown failure reason 'no moves'; expected timeout",
        quick=True,
    ),
    Hostile(
        "forges a reason that is a list",
        'shout(word() + b\' {"reason": [[]], "detail": {}}\\n\')\ntime.sleep(9)',
        "crash",
        "the unknown failure reason a list; expected timeout",
    ),
    Hostile(
        "forges a report",
        "from knightfall.agents import agent_protocol\n"
        "real = agent_protocol.asdict\n"
        "agent_protocol.asdict = lambda report: {**real(report), 'depth': -5, 'nodes': 10**30}\n"
        "return position.legal_moves[0]",
        "crash",
        '"depth" must be a whole number from 0 to 10000, not -5',
        quick=True,
    ),
    Hostile(
        "forges a line",
        "from knightfall.agents import agent_protocol\n"
        "real = agent_protocol.asdict\n"
        "agent_protocol.asdict = lambda report: {**real(report), 'pv': ['\\x1b[2J'] * 9}\n"
        "return position.legal_moves[0]",
        "crash",
        "has unknown cells",
    ),
    Hostile(
        "says too little",
        "from knightfall.agents import agent_protocol\n"
        "agent_protocol.asdict = lambda report: {'move': report.move}\n"
        "return position.legal_moves[0]",
        "crash",
        '"score" is missing',
    ),
    Hostile(
        "nests",
        "shout(word() + b' ' + b'[' * 100_000 + b'\\n')\ntime.sleep(9)",
        "crash",
        "not JSON",
        quick=True,
    ),
    Hostile("is not text", "shout(word() + b' \\xff\\xfe\\n')\ntime.sleep(9)", "crash", "not JSON"),
    Hostile(
        "answers twice",
        'shout(word() + b\' {"reason": "crash", "detail": "one"}\\n\')\n'
        'shout(word() + b\' {"reason": "crash", "detail": "two"}\\n\')\n'
        "time.sleep(9)",
        "crash",
        "",  # either one, depending on which process is faster
    ),
    Hostile(
        "dies in the middle of a word",
        'shout(word() + b\' {"move": "a\')\nos._exit(0)',
        "crash",
        "ended with exit status 0",
    ),
    Hostile("cuts the line", "os.closerange(3, 99)", "crash", "ended with exit status"),
    Hostile(
        "talks to itself",
        "for fd in connections():\n"
        "    try: os.write(os.open(f'/proc/self/fd/{fd}', os.O_WRONLY), b'x' * 4096 + b'\\n')\n"
        "    except OSError: pass\n"
        "return position.legal_moves[0]",
        "crash",
        "",
    ),
)
"""Agents that misuse the connection."""

SLEEPER = "lambda: os.execvp('sleep', ['sleep', MARK])"

BAD_COMPANY = (
    Hostile(
        "leaves a daemon behind",
        f"detach({SLEEPER})\ntime.sleep(0.2)\nraise ValueError('enough')",
        "crash",
        "enough",
        quick=True,
    ),
    Hostile(
        "leaves a crowd behind",
        f"for _ in range(30): detach({SLEEPER})\ntime.sleep(0.5)\nos._exit(3)",
        "crash",
        "exit status 3",
    ),
    Hostile(
        "leaves a daemon that shouts",
        "def shouting():\n    while True: shout(b'x' * 65536)\ndetach(shouting)\ntime.sleep(9)",
        "crash",
        "",
    ),
    Hostile(
        "outlives its parents",
        "libc.prctl(1, 0)\n"
        "for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\n"
        f"detach({SLEEPER})\n"
        "os.setpgid(0, 0) if os.getpgrp() != os.getpid() else None\n"
        "while True: pass",
        "timeout",
        "did not answer",
        time="500ms",
    ),
    Hostile(
        "has a copy of itself answer",
        "if os.fork() == 0:\n"
        "    shout(word() + b' {}\\n')\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "return position.legal_moves[0]",
        "crash",
        '"move" is missing',
    ),
    Hostile(
        "kills its parent",
        "os.kill(os.getppid(), 9)\ntime.sleep(0.2)\nraise ValueError('still here')",
        "crash",
        "",
        quick=True,
    ),
    Hostile(
        "kills its whole family",
        "pid = os.getpid()\nwhile pid: pid = parent(pid); os.kill(pid, 9)",
        "crash",
        "was killed by SIGKILL",
        alone=True,
        quick=True,
    ),
    Hostile(
        "kills everybody",
        "os.kill(-1, 9)\ntime.sleep(9)",
        "crash",
        "was killed by SIGKILL",
        alone=True,
        quick=True,
    ),
    Hostile(
        "never lets its threads end",
        "def hang():\n"
        "    while True: time.sleep(1)\n"
        "threading.Thread(target=hang).start()\n"
        "os.fork()\n"
        "raise ValueError('enough')",
        "crash",
        "enough",
    ),
    Hostile(
        "takes everything away",
        "import resource\n"
        "os.chdir('/'); os.environ.clear(); os.umask(0o777)\n"
        "sys.path.clear(); sys.modules.clear()\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\n"
        "raise ValueError('nothing left')",
        "crash",
        "",
    ),
)
"""Agents that attack other processes, or leave some behind."""

FORGED = (
    "answer = {'move': position.legal_moves[0], 'score': 0.0, 'proven': False, 'plies': None,\n"
    "    'depth': 0, 'nodes': 0, 'seconds': 0, 'pv': [], 'cut': 0, 'note': ''}\n"
    "line = b'7,0 ' + word() + b' ' + json.dumps(answer).encode() + b'\\n'\n"
)
"""Code for an answer as the supervisor sends it, after 7 µs."""

BAD_NEIGHBOURS = (
    Hostile(
        "writes into its opponent's connection",
        "for end in foreign_ends():\n"
        "    try: os.write(end, b'garbage\\n' * 100)\n"
        "    except OSError: pass\n"
        "time.sleep(0.5)\n"
        "raise ValueError('enough')",
        "crash",
        "enough",
        alone=True,
        quick=True,
    ),
    Hostile(
        "answers in the supervisor's place",
        f"import json\n{FORGED}"
        "for end in foreign_ends(): os.write(end, line)\n"
        "time.sleep(0.4)\n"
        "return position.legal_moves[0]",
        "timeout",
        "answered after 0.",
        time=SHORT,
        alone=True,
        quick=True,
    ),
    Hostile(
        "stops its supervisor for a while",
        "found = [*others()]\n"
        "for pid in found: os.kill(pid, signal.SIGSTOP)\n"
        "time.sleep(0.4)\n"
        "for pid in found: os.kill(pid, signal.SIGCONT)\n"
        "return position.legal_moves[0]",
        "timeout",
        "answered after 0.",
        time=SHORT,
        alone=True,
    ),
    Hostile(
        "sets the clock",
        "time.clock_settime(time.CLOCK_REALTIME, time.time())",
        "crash",
        "PermissionError",
        alone=True,
        quick=True,
    ),
    Hostile(
        "looks at the others",
        "raise ValueError(f'sees {len([*others()])} others')",
        "crash",
        "sees 0 others",
        alone=True,
        quick=True,
    ),
    Hostile(
        "reads memory and environment of others",
        "opened = []\n"
        "for pid in (1, *others()):\n"
        "    for what in ('mem', 'environ', 'maps', 'fd/0', 'cwd', 'exe'):\n"
        "        try: opened.append(os.open(f'/proc/{pid}/{what}', os.O_RDONLY))\n"
        "        except OSError: pass\n"
        "raise ValueError(f'opens {len(opened)} of them')",
        "crash",
        "opens 0 of them",
        alone=True,
    ),
    Hostile(
        "calls home",
        "import socket\nraise ValueError(f'reaches {socket.if_nameindex()}')",
        "crash",
        "reaches [(1, 'lo')]",
        alone=True,
        quick=True,
    ),
    Hostile(
        "edits files",
        "import knightfall\n"
        "opened = []\n"
        "for path in (__file__, knightfall.__file__, '/proc/sys/kernel/core_pattern',\n"
        "             '/etc/passwd', os.path.expanduser('~/.profile'), HERE + '/new'):\n"
        "    try: opened.append(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND))\n"
        "    except OSError: pass\n"
        "raise ValueError(f'opens {len(opened)} of them')",
        "crash",
        "opens 0 of them",
        alone=True,
        quick=True,
    ),
    Hostile(
        "asks the system for more",
        "done = [libc.unshare(0x10000000), libc.mount(b'none', b'/dev/shm', b'tmpfs', 0, None),\n"
        "        libc.ptrace(16, os.getppid(), 0, 0), libc.shmget(0, 1 << 30, 0o1600),\n"
        "        libc.setuid(1), libc.memfd_create(b'', 0), libc.vmsplice(1, None, 0, 0),\n"
        "        libc.semget(0, 32000, 0o1600),\n"
        "        libc.syscall(CLONE.get(os.uname().machine, 0), 0x10000011, 0, 0, 0, 0),\n"
        "        sum(libc.syscall(key, b'user', b'k', b'x', 1, -3) == -1\n"
        "                                for key in KEYS.get(os.uname().machine, (0, 0, 0))) - 4]\n"
        "raise ValueError(f'is refused {done.count(-1)} times')",
        "crash",
        "is refused 10 times",
        top="KEYS = {'x86_64': (248, 249, 250), 'aarch64': (217, 218, 219)}\n"
        "CLONE = {'x86_64': 56, 'aarch64': 220}",
        alone=True,
        quick=True,
    ),
)
"""Agents that attack other agents, their supervisor, the clock, or the machine."""

HOSTILE = (*BAD_MANNERS, *BAD_ANSWERS, *BAD_TIMES, *BAD_TALK, *BAD_COMPANY, *BAD_NEIGHBOURS)
