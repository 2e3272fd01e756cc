"""What a warm process has loaded; see `warm_python`."""

import gc

import warm_python  # noqa: F401
import warm_up

warm_up.compile_everything()
gc.collect()
gc.freeze()  # the garbage collector of a copy need not look at it, and so copy it
