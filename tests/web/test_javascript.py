"""Run the JavaScript unit tests in node, compare its parser with Python's, check line lengths."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.web.engine import ABOUT
from knightfall.web.site import PAGE

ROOT = Path(__file__).parents[2]
UNIT = Path(__file__).parent / "unit"
LONGEST_LINE = 120
OLDEST_NODE = 18
"""The first version of node with a test runner."""


def node() -> str:
    """Return the path of node; skip the test if there is none that can run tests."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {version} has no test runner: {OLDEST_NODE} is needed")
    return found


def test_units() -> None:
    # Files, not the folder: node 20 would search a folder, node 22 does not find one.
    files = [str(path.relative_to(ROOT)) for path in sorted(UNIT.glob("*.test.js"))]
    assert files
    command = [node(), "--test", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)


WEIGHTS = [
    "", "2*", "0.25 * ", "2/6*", "0*", "123456789012345678/987654321098765431*",
    "123456789.987654321*",
]  # fmt: skip
FACTORS = ["phase*", "(1-phase)*", " ( 1 - phase ) * ", "phase *"]
IDS = ["open", "improved", "coded:main", "near_edges", "static_reach(1/3)", "static_reach( 0.40 )"]
PIECES = [
    *WEIGHTS, *FACTORS, *IDS, *"+-*,:() ", "stage(", "stage", "phase", "0.7:", "1/5 :", "0.7",
    "1/0*", "static_reach", "static_reach(2)", "nothing",
]  # fmt: skip


def random_sum(rng: random.Random, *, staged: bool) -> str:
    """Return a sum of terms with random weights, factors, stages and spaces."""
    text = rng.choice(["", "-"])
    for number in range(rng.randrange(1, 4)):
        text += rng.choice(["+", "-", " - ", " + "]) if number else ""
        text += rng.choice(WEIGHTS) + "".join(rng.choices(FACTORS, k=rng.randrange(3)))
        if staged and rng.random() < 0.4:
            leasts = rng.sample(["0.125: ", "1/3:", "0.50 : ", "7/9: ", "0.9:"], k=3)[: number + 1]
            leasts.sort(key=lambda least: -float(Fraction(least.strip(": "))))
            sums = [least + random_sum(rng, staged=False) for least in [*leasts, ""]]
            text += f"stage({', '.join(sums)})"
        else:
            text += rng.choice(IDS)
    return text


def test_heuristics_are_read_as_python_reads_them() -> None:
    """Check that both parsers refuse the same texts, and read the others as the same canonical text
    and numbers.
    """
    wasm = pytest.importorskip("wasm_engine", reason="wasmtime runs the browser's engine")
    rng = random.Random(1)
    texts = [random_sum(rng, staged=True) for _ in range(500)]
    texts += ["".join(rng.choices(PIECES, k=rng.randrange(1, 8))) for _ in range(3000)]
    module = (PAGE / "model" / "heuristics.js").as_uri()
    script = f"""
        import {{ parseHeuristic }} from "{module}";
        import {{ readFileSync }} from "node:fs";
        const [texts, {{ heuristics }}] = JSON.parse(readFileSync(0, "utf8"));
        const read = (text) => {{
          try {{ return parseHeuristic(text, heuristics); }} catch {{ return null; }}
        }};
        const infinite = (_, value) => (value === Infinity ? "Infinity" : value);
        console.log(JSON.stringify(texts.map(read), infinite));
    """
    command = [node(), "--input-type=module", "--eval", script]
    given = json.dumps([texts, json.loads(ABOUT.read_text(encoding="utf-8"))])
    done = subprocess.run(command, input=given, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, object_hook=_with_infinity)
    good = 0
    for text, page in zip(texts, found, strict=True):
        try:
            expression = parse_heuristic(text)
        except KnightfallError:
            assert page is None, text
            continue
        good += 1
        assert page == {"text": str(expression), "terms": wasm.terms_of(expression)}, text
    assert 500 < good < len(texts) - 500


def _with_infinity(row: dict[str, Any]) -> dict[str, Any]:
    return {key: math.inf if value == "Infinity" else value for key, value in row.items()}


def test_lines_are_short() -> None:
    """Check the length of all lines, because the formatter wraps neither comments nor strings."""
    long = [
        f"{path}:{number} has {len(line)} characters"
        for folder in (PAGE, UNIT, ROOT / "src" / "knightfall" / "notebook")
        for path in sorted(folder.rglob("*.js"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert long == []
