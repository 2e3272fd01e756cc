"""Commands start without SciPy's linear algebra; a heuristic that needs it still works."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import knightfall.search.deepening
assert "scipy.linalg" not in sys.modules
import numba, numpy
dot = numba.njit("f8(f8[:], f8[:])")(lambda a, b: numpy.dot(a, b))
print(dot(numpy.arange(4.0), numpy.arange(4.0)))
from scipy import linalg
print(float(linalg.det(numpy.eye(3))))
"""


def test_matrices_are_multiplied_by_whoever_asks() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "14.0\n1.0\n"), done.stderr
