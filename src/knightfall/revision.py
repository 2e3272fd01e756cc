"""A file as it was at a git revision, with the folder it lay in."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from knightfall.errors import KnightfallError
from knightfall.files import cache_folder, make_private


def kept_revisions() -> Path:
    """Where folders are kept as they were."""
    return cache_folder().resolve() / "revisions"


def commit_of(path: str, revision: str) -> str:
    """The commit that a revision names in the repository a file lies in."""
    folder = os.path.dirname(path)
    commit = _git(
        folder, "rev-parse", "--verify", "--quiet", "--short=12", f"{revision}^{{commit}}"
    )
    if commit is None:
        if _git(folder, "rev-parse", "--show-toplevel") is None:
            raise KnightfallError(
                f"{path}@{revision}: {folder} is in no git repository that could know it"
            )
        raise KnightfallError(f"{path}@{revision}: git knows no revision {revision!r} here")
    return commit


def at_revision(path: str, revision: str) -> Path:
    """Where to find a file as it was; its folder is checked out for that, once."""
    if (path, revision) in _found:
        return _found[path, revision]
    folder, name = os.path.split(path)
    commit = commit_of(path, revision)
    inside = _git(folder, "rev-parse", "--show-prefix") or ""
    kept = hashlib.sha256(inside.encode()).hexdigest()[:8]
    there = kept_revisions() / f"{commit}-{kept}"
    file = there / inside / name
    make_private(there.parent)  # it is code that will be run
    if not (there.is_dir() or _check_out(folder, inside, commit, there)) or not file.is_file():
        raise KnightfallError(f"{path}@{revision}: there was no such file at {commit}")
    if commit == revision:  # and not a name, which may stand for another one next time
        _found[path, revision] = file
    return file


_found: dict[tuple[str, str], Path] = {}


def _check_out(folder: str, inside: str, commit: str, there: Path) -> bool:
    """Write a folder as it was, if it was; its repository stays as it is, the index included."""
    with tempfile.TemporaryDirectory(dir=there.parent) as draft:
        tree, index = Path(draft, "tree"), Path(draft, "index")
        tree.mkdir()
        command = (f"--work-tree={tree}", "checkout", "--quiet", commit, "--", inside or ".")
        options = {"GIT_INDEX_FILE": str(index), "GIT_LITERAL_PATHSPECS": "1"}
        if _git(folder, *command, **options) is None:
            return False
        try:
            os.replace(tree, there)
        except OSError:
            if not there.is_dir():  # somebody else was quicker
                raise
    return True


def _git(folder: str, *command: str, **environment: str) -> str | None:
    """What git says, in one folder; None if it fails."""
    try:
        ran = subprocess.run(
            ["git", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        if shutil.which("git") is None:
            raise KnightfallError("a former version is asked of git, which is not here") from None
        return None  # there is no such folder
    return os.fsdecode(ran.stdout).strip() if ran.returncode == 0 else None
