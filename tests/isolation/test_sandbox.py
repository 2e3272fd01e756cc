"""Tests of the sandbox of agents: what they can see, read, write and use, in each kind of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from knightfall.agents import parse_agent
from knightfall.agents import remote_player as host
from knightfall.agents.remote_player import RemotePlayer
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.isolation import limits, namespaces, sandbox
from knightfall.position import Position

START = Position.from_fen("5/5/1N3/3n1/5 w")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sandboxes exist on Linux only")

Telling = Callable[..., str]


@pytest.fixture(params=["bubblewrap", "namespaces"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run agents in each kind of sandbox that works here."""
    host._idle.end()
    monkeypatch.setenv(sandbox.VARIABLE, request.param)
    monkeypatch.setattr(sandbox, "_found", [])
    if not sandbox.works(request.param):
        pytest.skip(f"{request.param} does not work here")
    yield request.param
    host._idle.end()


@pytest.fixture
def tell(tmp_path: Path) -> Telling:
    """Return the value that an expression has in an agent's sandbox, as text."""

    def ask(expression: str, head: str = "", folder: Path = tmp_path, revision: str = "") -> str:
        file = folder / "mine.py"
        if not revision:
            file.write_text(
                f"import os, sys\n{head}\n"
                f"def choose(position):\n    raise ValueError('<' + str(({expression})) + '>')\n"
            )
        player = RemotePlayer(parse_agent(f"python({file}:choose{revision}, time=60s)"))
        try:
            with pytest.raises(AgentFailure, match="ValueError: <") as failed:
                player.analyse(START)
        finally:
            player.close()
        return str(failed.value).partition("<")[2][:-1]

    return ask


# -- what an agent can see and change ----------------------------------------------------------


def test_it_sees_only_its_own_processes(kind: str, tell: Telling) -> None:
    assert tell("[int(name) for name in os.listdir('/proc') if name.isdigit()][0]") == "1"
    seen = tell(
        "{open('/proc/' + name + '/cmdline').read().split(chr(0))[5]"
        " for name in os.listdir('/proc') if name.isdigit()}"
    )
    assert seen == "{'knightfall.agents.agent_protocol:HostedAgent'}"


def test_it_has_no_descriptors_but_its_own(kind: str, tell: Telling, tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        seen = tell(
            "sorted({os.readlink('/proc/self/fd/' + name).partition(':')[0]"
            " for name in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + name)})"
        )
    assert seen == "['/dev/null', 'pipe']"


def test_it_has_no_rights_of_root(kind: str, tell: Telling) -> None:
    wanted = "NoNewPrivs:1"
    found = tell(
        "[''.join(line.split()) for line in open('/proc/self/status')"
        " if line.startswith(('CapEff', 'CapBnd', 'NoNew'))]"
    )
    capabilities = {f"{name}:{0:016x}" for name in ("CapEff", "CapBnd")}
    if kind == "namespaces" and os.geteuid() == 0:  # to read files of other users
        capabilities = {f"{name}:{4:016x}" for name in ("CapEff", "CapBnd")}
    assert set(eval(found)) == {*capabilities, wanted}


def test_it_can_write_to_memory_only(kind: str, tell: Telling) -> None:
    head = (
        "import tempfile\n"
        "def can(path):\n"
        "    try: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)); return True\n"
        "    except OSError: return False\n"
    )
    folders = "(os.path.dirname(__file__), os.getcwd(), '/', '/usr', '/proc/self', '/dev')"
    assert tell(f"[can(folder + '/new') for folder in {folders}]", head) == str([False] * 6)
    assert tell("can(__file__), can(tempfile.gettempdir() + '/new')", head) == "(False, True)"
    free = int(tell("os.statvfs(tempfile.gettempdir()).f_blocks * 4096", head))
    assert free <= limits.SHARED_MEMORY


def test_it_has_no_network(kind: str, tell: Telling) -> None:
    assert tell("socket.if_nameindex()", "import socket") == "[(1, 'lo')]"


def numbers(calls: str) -> dict[str, int]:
    """Return system calls by name, of a text with a name and a number in each line."""
    return {name: int(number) for name, number in map(str.split, calls.split(", "))}


EVERYWHERE = numbers(
    "io_uring_setup 425, open_tree 428, move_mount 429, fsopen 430, pidfd_getfd 438, "
    "mount_setattr 442, landlock_create_ruleset 444, memfd_secret 447"
)
X86_64 = numbers(
    "shmget 29, semget 64, msgget 68, ptrace 101, mount 165, add_key 248, request_key 249, "
    "keyctl 250, unshare 272, vmsplice 278, setns 308, process_vm_readv 310, process_vm_writev "
    "311, memfd_create 319, bpf 321"
)
AARCH64 = numbers(
    "mount 40, vmsplice 75, unshare 97, ptrace 117, msgget 186, semget 190, shmget 194, "
    "add_key 217, request_key 218, keyctl 219, setns 268, process_vm_readv 270, "
    "process_vm_writev 271, memfd_create 279, bpf 280"
)
"""The numbers of the forbidden system calls, from the tables of the Linux kernel."""

RESTRICTED = {
    "x86_64": numbers("setsockopt 54, socket 41, mmap 9, fcntl 72"),
    "aarch64": numbers("setsockopt 208, socket 198, mmap 222, fcntl 25"),
}
"""The numbers of the system calls whose arguments are restricted for submissions."""

IGNORED = {
    "x86_64": numbers(
        "setpriority 141, sched_setparam 142, sched_setscheduler 144, sched_setaffinity 203, "
        "sched_setattr 314"
    ),
    "aarch64": numbers(
        "setpriority 140, sched_setparam 118, sched_setscheduler 119, sched_setaffinity 122, "
        "sched_setattr 274"
    ),
}
"""The numbers of the system calls that have no effect."""

CLONE = {
    machine: {"clone": number, "clone3": namespaces._CLONE3}
    for machine, number in namespaces._CLONE.items()
}


def test_the_numbers_of_system_calls_are_those_of_linux() -> None:
    assert set(namespaces._COMMON_CALLS) == set(EVERYWHERE.values())
    assert set(namespaces._CALLS["x86_64"][2]) == set(X86_64.values())
    assert set(namespaces._CALLS["aarch64"][2]) == set(AARCH64.values())
    assert {name: row[1] for name, row in namespaces._CALLS.items()} == {
        "x86_64": 317, "aarch64": 277,
    }  # fmt: skip
    for table, kept in (
        (RESTRICTED, namespaces._LIMITED_CALLS),
        (IGNORED, namespaces._IGNORED_CALLS),
    ):
        assert {machine: tuple(calls.values()) for machine, calls in table.items()} == kept
    for header, known in (
        (
            "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
            EVERYWHERE | X86_64 | RESTRICTED["x86_64"] | IGNORED["x86_64"] | CLONE["x86_64"],
        ),
        (
            "/usr/include/asm-generic/unistd.h",
            EVERYWHERE | AARCH64 | RESTRICTED["aarch64"] | IGNORED["aarch64"] | CLONE["aarch64"],
        ),
    ):
        if os.path.exists(header):  # else this machine has no compiler for C
            defined = dict(
                re.findall(r"#define __NR3?2?6?4?_(\w+)\s+(\d+)", Path(header).read_text())
            )
            assert {name: int(defined.get(name, at)) for name, at in known.items()} == known


@pytest.mark.parametrize("limited", [False, True])
def test_forbidden_system_calls_fail_and_others_do_not(limited: bool) -> None:
    machine = os.uname().machine
    if machine not in namespaces._CALLS:
        pytest.skip(f"no system calls are filtered on {machine}")
    calls = EVERYWHERE | {"x86_64": X86_64, "aarch64": AARCH64}[machine]
    calls |= RESTRICTED[machine] if limited else {}
    calls.pop("fcntl", None)
    clone = CLONE[machine]
    code = (
        "import ctypes, errno, fcntl, mmap, os, socket, tempfile, threading\n"
        "from knightfall.isolation.namespaces import filter_system_calls\n"
        f"LIMITED = {limited}\n"
        "assert filter_system_calls(LIMITED)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"for name, number in {calls}.items():\n"
        "    ctypes.set_errno(0)\n"
        "    found = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)\n"
        "    assert (found, ctypes.get_errno()) == (-1, errno.EPERM), name\n"
        f"for name, number in {clone}.items():\n"
        "    for new in (0x00020000, 0x02000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):\n"
        "        assert libc.syscall(ctypes.c_long(number), new | 17, 0, 0, 0, 0) == -1, name\n"
        "        expected = errno.ENOSYS if name == 'clone3' else errno.EPERM\n"
        "        assert ctypes.get_errno() == expected, name\n"
        "thread = threading.Thread(target=print, args=(True, not LIMITED))\n"
        "thread.start(); thread.join()\n"
        "cores = os.sched_getaffinity(0)\n"
        "os.sched_setaffinity(0, {min(cores)})\n"
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
        "os.sched_setparam(0, os.sched_param(0))\n"
        "os.setpriority(os.PRIO_PROCESS, 0, 19)\n"
        "assert os.sched_getaffinity(0) == cores\n"
        "assert os.sched_getscheduler(0) != os.SCHED_IDLE\n"
        "assert os.getpriority(os.PRIO_PROCESS, 0) < 19\n"
        "def allowed(call, *args):\n"
        "    try:\n"
        "        call(*args).close()\n"
        "    except PermissionError:\n"
        "        return False\n"
        "    return True\n"
        "file = tempfile.TemporaryFile()\n"
        "def lock(how):\n"
        "    how(file, fcntl.LOCK_EX)\n"
        "    return file\n"
        "print(allowed(lock, fcntl.flock), end=' ')\n"
        "file = tempfile.TemporaryFile()\n"
        "print(allowed(lock, fcntl.lockf))\n"
        "kinds = (mmap.MAP_PRIVATE, mmap.MAP_SHARED)\n"
        "print(*(allowed(socket.socket, kind) for kind in (socket.AF_UNIX, socket.AF_INET)))\n"
        "print(*(allowed(mmap.mmap, -1, 4096, how | mmap.MAP_ANONYMOUS) for how in kinds))\n"
        "assert os.getppid() and os.listdir('/')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"True {not limited}\n" * 4, "")


# -- what it can read --------------------------------------------------------------------------


def test_it_can_read_its_folder_but_nothing_hidden_in_it(
    tell: Telling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not sandbox.works("bubblewrap"):
        pytest.skip("bubblewrap does not work here")
    monkeypatch.setenv(sandbox.VARIABLE, "bubblewrap")
    monkeypatch.setattr(sandbox, "_found", [])
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "here" / "store"))
    here = tmp_path / "here"
    for folder in (here / "store", here / ".git", here / "data"):
        folder.mkdir(parents=True)
        (folder / "file").write_text("1")
    (here / ".env").write_text("SECRET=1")
    (here / "helper.py").write_text(f"import json\nweights = json.load(open('{here}/data/file'))")
    (tmp_path / "elsewhere").write_text("2")
    host._idle.end()
    assert tell("helper.weights", "import helper", here) == "1"
    assert tell("sorted(os.listdir(os.path.dirname(__file__)))", "", here) == str(
        [".env", ".git", "data", "helper.py", "mine.py", "store"]
    )
    hidden = f"('{here}/store', '{here}/.git')"
    assert tell(f"[os.listdir(path) for path in {hidden}]", "", here) == "[[], []]"
    head = (
        "def read(path):\n"
        "    try: return open(path).read()\n"
        "    except PermissionError: return ''\n"
    )
    assert tell(f"read('{here}/.env')", head, here) == ""
    others = f"('{tmp_path}/elsewhere', '/etc/shadow', '/run', '/sys', '/var')"
    assert tell(f"[os.path.exists(path) for path in {others}]", "", here) == str([False] * 5)


def test_a_link_to_a_file_and_a_path_from_here(
    kind: str, tell: Telling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    (there / "real.py").write_text("def choose(position): return position.legal_moves[1]\n")
    (here / "linked.py").symlink_to(there / "real.py")
    monkeypatch.chdir(here)
    for path in (here / "linked.py", "linked.py", "../there/real.py"):
        player = RemotePlayer(parse_agent(f"python({path}:choose)"))
        assert player.analyse(START).move == START.legal_moves[1]
        player.close()


def test_a_file_of_a_git_revision(kind: str, tell: Telling, tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path), "-c", "user.name=me", "-c", "user.email=me@here")
    file = tmp_path / "mine.py"
    file.write_text("def choose(position): raise ValueError('<former>')\n")
    for command in (("init", "--quiet"), ("add", "mine.py"), ("commit", "--quiet", "-m", "first")):
        subprocess.run([*git, *command], check=True)
    file.write_text("def choose(position): raise ValueError('<present>')\n")
    assert tell("", revision="@HEAD") == "former"


def test_machine_code_is_loaded_but_not_kept(kind: str, tell: Telling) -> None:
    head = (
        "from knightfall.agents import parse_agent\n"
        "from knightfall.kernel.compile import _announcer, cache_folder\n"
        "agent = parse_agent('id(improved, depth=2)')\n"
    )
    parse_agent("id(improved, depth=2)").choose(START)  # compiles it, if it is not
    said = "agent.choose(position) in position.legal_moves, _announcer.said"
    assert tell(said, head) == "(True, False)"
    assert tell("os.access(cache_folder(), os.W_OK)", head) == "False"


# -- which kind is in force --------------------------------------------------------------------


def test_the_first_run_tells_which_kind_is_in_force(tmp_path: Path, own_cache: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def choose(position): return position.legal_moves[0]\n")
    command = [sys.executable, "-m", "knightfall", "analyse", "--agent", f"python({file}:choose)"]
    environment = dict(os.environ)
    for name in (sandbox.VARIABLE, "KNIGHTFALL_QUIET"):
        environment.pop(name, None)
    said = []
    for _ in range(2):
        ran = subprocess.run(
            [*command, START.fen], env=environment, capture_output=True, text=True, check=True
        )
        said.append([line for line in ran.stderr.splitlines() if "sandbox" in line])
    kind = json.loads((own_cache / "sandbox.json").read_text())["kind"]
    assert kind == next(kind for kind in sandbox.KINDS if kind == "none" or sandbox.works(kind))
    assert len(said[0]) == 1
    assert sandbox.KINDS[kind] in said[0][0]
    assert said[1] == []


TOOLS = {
    "bubblewrap": (
        *("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"),
        *("--disable-userns", "--cap-drop", "ALL", "--as-pid-1", "--die-with-parent"),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--bind", "/tmp", "/tmp"),
        *("--size", "100000", "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/"),
        *("--", "true"),
    ),
    "namespaces": (
        *("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--fork"),
        *("sh", "-c", "mount --make-rprivate / && mount -t proc proc /proc"),
    ),
}
"""Commands that succeed where a kind of sandbox is allowed; they use nothing of knightfall."""


@pytest.mark.parametrize("kind", TOOLS)
def test_a_kind_works_where_the_system_allows_it(kind: str) -> None:
    """The other tests skip a kind that does not work, even if knightfall is the reason."""
    if shutil.which(TOOLS[kind][0]) is None or subprocess.run(TOOLS[kind]).returncode:
        pytest.skip(f"this system does not allow {kind}")
    assert sandbox.works(kind)


def test_a_kind_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_found", [])
    monkeypatch.setenv(sandbox.VARIABLE, "jail")
    with pytest.raises(KnightfallError, match=r"=jail must be one of bubblewrap, namespaces, none"):
        sandbox.kind()
    monkeypatch.setenv(sandbox.VARIABLE, "bubblewrap")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(KnightfallError, match="=bubblewrap: this system does not allow it"):
        sandbox.kind()


def test_without_bubblewrap_the_next_kind_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_found", [])
    monkeypatch.delenv(sandbox.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("KNIGHTFALL_CACHE_DIR", str(tmp_path))
    wanted = "namespaces" if sandbox.works("namespaces") else "none"
    assert sandbox.kind() == wanted


# -- the games of one process ----------------------------------------------------------------------

HEAD = "from isolation import Board\nimport os\nfrom itertools import count\nnumbers = count()\n"
"""The beginning of a file that can be handed in; an agent of another kind begins with the rest."""

COUNTS = """
def number(): return next(numbers)
"""
"""Code that remembers in memory how often it was asked."""

COUNTS_IN_A_FILE = """
def number():
    os.makedirs({folder!r}, exist_ok=True)
    with open({folder!r} + "/number", "a") as file:
        file.write("x")
        return file.tell() - 1
"""
"""Code that remembers it in a file."""

INSPECTS = """
def number():
    try:
        open(f"/proc/{os.getppid()}/mem", "rb")
    except PermissionError:
        return "refused"
"""

AGENT = "def choose(position): raise ValueError(f'<{number()}>')\n"
SUBMISSION = """
class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=None, timeout=10.0): pass
    def get_move(self, game, time_left): raise ValueError(f'<{number()}>')
"""


def numbers_of(code: str, folder: Path, submitted: bool) -> list[str]:
    """Return what `number` of an agent returns in the first move of each of three games."""
    host._idle.end()
    file = folder / "game_agent.py"
    head = HEAD if submitted else HEAD.partition("\n")[2]
    file.write_text(head + code + (SUBMISSION if submitted else AGENT))
    text = f"course:{file}" if submitted else f"python({file}:choose)"
    found = []
    for seed in range(3):
        with RemotePlayer(replace(parse_agent(text), seed=seed)) as player:
            with pytest.raises(AgentFailure, match="<") as failed:
                player.analyse(START)
            found.append(str(failed.value).partition("<")[2].partition(">")[0])
    return found


@pytest.mark.parametrize(
    ("code", "submitted"),
    [
        (COUNTS, True),
        (COUNTS_IN_A_FILE.format(folder="/dev/shm/mine"), True),
        (COUNTS_IN_A_FILE.format(folder="/dev/shm"), False),
        (COUNTS_IN_A_FILE.format(folder="."), True),
    ],
    ids=["memory", "shared folder", "shared file", "beside"],
)
def test_each_game_begins_as_it_was_loaded(
    code: str, submitted: bool, kind: str, tmp_path: Path
) -> None:
    """Check that no game finds what an earlier one has left, in memory or in a file."""
    assert numbers_of(code, tmp_path, submitted) == ["0", "0", "0"]
    (last,) = host._idle.kept
    assert last.has_ended_game() == (code == COUNTS)  # else the process ended with its files


@pytest.mark.parametrize("submitted", [False, True])
def test_a_game_cannot_inspect_the_process_that_it_is_a_fork_of(
    submitted: bool, kind: str, tmp_path: Path
) -> None:
    assert numbers_of(INSPECTS, tmp_path, submitted) == ["refused"] * 3


def test_without_a_sandbox_a_submission_plays_one_game_in_a_process(
    no_sandbox: None, tmp_path: Path
) -> None:
    """Check that it is not forked there: its processes might outlive the game."""
    assert numbers_of(COUNTS, tmp_path, submitted=True) == ["0", "0", "0"]
    assert not host._idle.kept


def test_an_edited_helper_of_a_submission_is_loaded_again(kind: str, tmp_path: Path) -> None:
    """Check that the process of an earlier text plays no game of a later one."""
    helper = tmp_path / "helper.py"
    code = "import helper\ndef number(): return helper.NUMBER\n"
    helper.write_text("NUMBER = 1\n")
    assert numbers_of(code, tmp_path, submitted=True) == ["1", "1", "1"]
    helper.write_text("NUMBER = 22\n")
    agent = parse_agent(f"course:{tmp_path}/game_agent.py")
    with RemotePlayer(agent) as player, pytest.raises(AgentFailure, match="<22>"):
        player.analyse(START)
