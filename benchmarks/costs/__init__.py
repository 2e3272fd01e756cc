"""The cost of a node with each heuristic, measured by ``python -m benchmarks.costs``.

The results are part of the package (`knightfall.studies.node_costs`); the measurement is not.
"""
