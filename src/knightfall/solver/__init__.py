"""Exact values of positions: the solver, the atlas of openings, certificates."""
