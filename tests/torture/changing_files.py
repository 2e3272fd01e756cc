"""Change the users' files while runs play from them: nothing may be lost, and no result may change.

``python tests/torture/changing_files.py`` prints a table.  Each command plays once undisturbed.
Then an agent, a heuristic or a submission of it changes its own file and the others' when it is
loaded and whenever it moves, in each of several ways (without a sandbox, which would refuse that).
The command must leave the rows and files of the undisturbed run, and name the changed files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from kills import different, left_behind

from knightfall.isolation import sandbox

WAYS = {
    "appends": "open(path, 'a').write('# more\\n')",
    "empties": "open(path, 'w').close()",
    "deletes": "os.path.exists(path) and os.remove(path)",
    "renames": "os.path.exists(path) and os.rename(path, path + '.away')",
    "links": "os.path.islink(path) or (os.remove(path), os.symlink('/dev/zero', path))",
    "makes folders": "os.path.isdir(path) or (os.remove(path), os.mkdir(path))",
    "makes pipes": "os.path.isfile(path) and (os.remove(path), os.mkfifo(path))",
    # A submission's processes cannot make files of more than 1 GB.
    "makes endless": "os.truncate(path, min(1 << 42, getrlimit(RLIMIT_FSIZE)[0] % (1 << 64)))",
}
"""What happens to a file, as an expression of Python."""

VANDAL = """
import os
from resource import RLIMIT_FSIZE, getrlimit
HOME = {home!r}

def vandalise():
    '''Change all files of users; the folder that is there says how.'''
    for way, change in {ways!r}.items():
        if os.path.isdir(HOME + '/' + way):
            for folder, _, names in os.walk(HOME + '/files'):
                for name in names:
                    if name.endswith('.py'):
                        try: eval(change, {{**globals(), 'path': os.path.join(folder, name)}})
                        except OSError: pass

vandalise()
"""
FUNCTIONS = """
def choose(position):
    vandalise()
    return position.legal_moves[0]

def score(board, open, me, opp, to_move):
    return 1.0
"""
GOOD = "def choose(position):\n    return position.legal_moves[-1]\n"
SUBMISSION = """
class AlphaBetaPlayer:
    def __init__(self, score_fn=None):
        pass

    def get_move(self, game, time_left):
        {deed}
        return game.get_legal_moves()[{which}]
"""

SMALL = ("--board", "4x4", "--workers", "0")
EVIL = "python(files/evil.py:choose, time=20s)"
INNOCENT = "python(files/good.py:choose, time=20s)"
COMMANDS = {
    "match": ("match", EVIL, INNOCENT, "--pairs", "2", *SMALL),
    "tournament": ("tournament", "--test", EVIL, "--against", INNOCENT, "--pairs", "1", *SMALL),
    "league": ("league", EVIL, INNOCENT, "random", "--pairs", "1", *SMALL[:2], "--workers", "2"),
    "worth": ("worth", "files/evil.py:score", "open", "--nodes", "20", "--no-time", "--pairs",
              "1", *SMALL),
    "grade": ("grade", EVIL, "--openings", "1", "--board", "4x4", "--chart", "out.svg"),
    "course run": ("course", "run", "files/class/evil", "--against", "Random", "--pairs", "1"),
    "course class": ("course", "class", "files/class", "--against", "Random", "--pairs", "1",
                     "--classmates", "1", "--output", "out"),
}  # fmt: skip
QUICK = (("match", "makes endless"),)

PATIENCE = 600.0
"""Seconds after which a command counts as hung."""


def furnish(home: Path) -> None:
    """Make the files of users anew, and remove what a command has left."""
    shutil.rmtree(home, ignore_errors=True)
    vandal = VANDAL.format(home=str(home), ways=WAYS)
    texts = {
        "evil.py": vandal + FUNCTIONS,
        "good.py": GOOD,
        "class/evil/game_agent.py": vandal + SUBMISSION.format(deed="vandalise()", which=0),
        "class/good/game_agent.py": SUBMISSION.format(deed="pass", which=-1),
    }
    for name, text in texts.items():
        file = home / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def played(command: str, home: Path, way: str = "") -> tuple[int, dict[str, object], str]:
    """Return the exit code of a command, what it leaves, and what it prints."""
    furnish(home)
    if way:
        (home / way).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "knightfall", *COMMANDS[command]],
        cwd=home,
        env={**os.environ, "KNIGHTFALL_DATA_DIR": str(home), sandbox.VARIABLE: "none"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    code, said = done.returncode, done.stdout.decode(errors="replace")
    shutil.rmtree(home / "files")  # before files are read: some are endless now
    left = {
        name: content
        for name, content in left_behind(home / "out" if "class" in command else home).items()
        if not name.endswith("index.html")
    }
    return code, left, said


def fault(command: str, way: str, home: Path, expected: dict[str, object]) -> str:
    """Return what is wrong when files change in a way during a command; "" if nothing."""
    code, left, said = played(command, home, way)
    if code:
        return f"exit {code}: {' '.join(said[-300:].split())}"
    if lost := different(left, expected):
        return f"{lost} is not as it was"
    if "Traceback" in said:
        return "a traceback was printed"
    return "" if "edited during the run" in said else "no line names the changed files"


def quick() -> list[str]:
    """Return what is wrong in a few cases."""
    with tempfile.TemporaryDirectory() as place:
        return _tried(Path(place) / "home", QUICK)


def _tried(home: Path, cases: tuple[tuple[str, str], ...], show: bool = False) -> list[str]:
    """Play each command undisturbed and in its ways; return what is wrong."""
    wrong: list[str] = []
    for command in dict.fromkeys(command for command, _ in cases):
        start, before = time.perf_counter(), len(wrong)
        code, expected, said = played(command, home)
        if code or not expected:
            wrong.append(f"{command}: exit {code}: {said[-300:]}")
            continue
        ways = [way for one, way in cases if one == command]
        for way in ways:
            if found := fault(command, way, home, expected):
                wrong.append(f"{command}, the file {way}: {found}")
        if show:
            took = time.perf_counter() - start
            row = f"{command:<28}{len(ways):>7}{len(wrong) - before:>8}{took:>9.1f} s"
            print(row, flush=True)
    return wrong


def main() -> int:
    """Print the table; return the number of failures."""
    cases = tuple((command, way) for command in COMMANDS for way in WAYS)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        print(f"{'command':<28}{'edits':>7}{'wrong':>8}{'took':>11}", flush=True)
        wrong = _tried(home, cases, show=True)
    print(*wrong, sep="\n")
    return len(wrong)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--quick"]:
        print(*quick(), sep="\n")
    else:
        sys.exit(1 if main() else 0)
