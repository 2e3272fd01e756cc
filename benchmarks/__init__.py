"""Fixed workloads that measure knightfall: ratios within one run, never bare seconds.

``python benchmarks/run.py`` (or ``knightfall bench``) runs them.
"""
