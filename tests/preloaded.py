"""What a warm process has loaded; see `warm_python`."""

import gc
from contextlib import suppress
from importlib import import_module

import warm_python  # noqa: F401
import warm_up

warm_up.compile_everything()
# What files of tests import, for those who run them.  Not what starts threads.
for name in ("scipy.stats", "hypothesis", "schemathesis", "httpx", "wasmtime", "sklearn"):
    with suppress(ImportError):
        import_module(name)
gc.collect()
gc.freeze()  # the garbage collector of a copy need not look at it, and so copy it
