"""Fixed workloads that measure knightfall: ratios within one run, never bare seconds.

``python -m benchmarks`` runs them, and ``make bench-docs`` writes docs/performance.md from what
all of them measured.  One module per benchmark, each with a ``SUMMARY`` and a ``run() -> Result``.
"""
