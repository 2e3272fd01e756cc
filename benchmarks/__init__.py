"""Benchmarks of knightfall on fixed workloads, as ratios within one run.

``python -m benchmarks`` runs them, and ``make bench-docs`` writes docs/performance.md from all
results. Each module is one benchmark with a ``SUMMARY`` and a ``run() -> Result``.
"""
