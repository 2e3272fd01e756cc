"""Fixed workloads that measure knightfall: ratios within one run, never bare seconds.

``python benchmarks/run.py`` (or ``knightfall bench``) runs them.  One module per benchmark, each
with a ``SUMMARY`` and a ``run() -> Result``.
"""
