"""Numba without SciPy's linear algebra, until somebody multiplies matrices.

When Numba gets ready to load machine code it imports `scipy.linalg` to see whether there is a BLAS:
a quarter of a command's start, and no kernel of ours needs it.  SciPy is among our dependencies, so
the answer is known.  A user's heuristic that does use ``np.dot`` has Numba ask again, and then gets
the real one.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType

_ASKED_FOR = ("scipy.linalg", "scipy.linalg.cython_blas")


def load_numba() -> None:
    """Import what looks for a BLAS, with empty modules in SciPy's place for as long as it looks."""
    if _ASKED_FOR[0] in sys.modules or find_spec("scipy") is None:
        return
    import scipy

    sys.modules.update({name: ModuleType(name) for name in _ASKED_FOR})
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        for name in _ASKED_FOR:
            del sys.modules[name]
        vars(scipy).pop("linalg", None)
