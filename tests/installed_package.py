"""Install the wheel and the sdist into empty environments, and use them: ``make package``.

Both are built from the checkout.  The sdist must make the same wheel.  The wheel is installed
alone and with each extra, in the versions of constraints.txt; there ``knightfall doctor`` must find
nothing broken and the extra present, and a match must be played.  Nothing there can see the
checkout.  Names of extras on the command line choose some of them; torch, in ``net``, is gigabytes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = ("test", "dev", "docs")
PLAIN = "no extra"


def run(*command: object, folder: Path) -> str:
    """Return what a command prints; exit with all its output if it fails."""
    words = [str(word) for word in command]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    clean |= {f"KNIGHTFALL_{name}_DIR": str(folder / name) for name in ("CACHE", "DATA")}
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def content(wheel: Path) -> dict[str, int]:
    """Return the files of a wheel with their checksums."""
    with zipfile.ZipFile(wheel) as opened:
        return {one.filename: one.CRC for one in opened.infolist()}


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the sdist; check that the sdist makes the same wheel."""
    made = folder / "dist"
    run(sys.executable, "-m", "hatchling", "build", "-d", made, folder=ROOT)
    (wheel,), (sdist,) = made.glob("*.whl"), made.glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "again", folder=source)
    (again,) = (source / "again").glob("*.whl")
    if content(again) != content(wheel):
        sys.exit(f"{sdist.name} makes another wheel than the checkout")
    return wheel, sdist


def environment(folder: Path, package: Path, extra: str) -> Path:
    """Install a package into a new environment; return the folder of its programs."""
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    wanted = f"{package}[{extra}]" if extra != PLAIN else package
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run(*pip, "--no-compile", "-c", ROOT / "constraints.txt", wanted, folder=folder)
    return programs


def use(programs: Path, extra: str, folder: Path) -> str:
    """Use an installation; return what is wrong with it, or an empty text."""
    printed = run(programs / "python", "-m", "knightfall", "--version", folder=folder).strip()
    if printed != run(programs / "knightfall", "--version", folder=folder).strip():
        return f"python -m knightfall is another version: {printed}"
    told = json.loads(run(programs / "knightfall", "doctor", "--json", folder=folder))
    parts: dict[str, Any] = {one["part"]: one for one in told["findings"]}
    if not parts["knightfall"]["found"].startswith(printed.removeprefix("knightfall ")):
        return f"doctor reports {parts['knightfall']['found']}, but it is {printed}"
    if str(folder) not in parts["knightfall"]["found"]:
        return f"another knightfall was used: {parts['knightfall']['found']}"
    if extra not in (PLAIN, *FOR_DEVELOPERS) and parts[f"extra {extra}"]["state"] != "ok":
        return parts[f"extra {extra}"]["found"]
    absent = sorted(part for part, one in parts.items() if one["state"] == "missing")
    if extra == PLAIN and not any(part.startswith("extra ") for part in absent):
        return "all extras are there, although none was asked for"
    match = ["match", "greedy(improved)", "random", "--pairs", "5", "--workers", "0", "--json"]
    played = json.loads(run(programs / "knightfall", *match, folder=folder).splitlines()[-1])
    if not played:
        return "the match has no result"
    run(programs / "knightfall", "site", "page.html", "--single-file", folder=folder)
    return "" if (folder / "page.html").stat().st_size > 100_000 else "the page is empty"


def main() -> None:
    """Build, install and use everything; exit with 1 if anything is wrong."""
    known = list(PROJECT["optional-dependencies"])
    chosen = sys.argv[1:] or [*known]
    unknown = set(chosen) - {*known}
    if unknown:
        sys.exit(f"unknown extras: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        wheel, sdist = build(Path(scratch))
        tasks = [(sdist, PLAIN), *((wheel, extra) for extra in (PLAIN, *chosen))]
        for package, extra in tasks:
            folder = Path(tempfile.mkdtemp(dir=scratch)).resolve()
            began = time.monotonic()
            wrong = use(environment(folder, package, extra), extra, folder)
            failed |= bool(wrong)
            kind = "sdist" if package == sdist else "wheel"
            print(
                f"{kind}, {extra:9} {time.monotonic() - began:5.0f} s  {wrong or 'works'}",
                flush=True,
            )
            shutil.rmtree(folder)
    sys.exit(failed)


if __name__ == "__main__":
    main()
