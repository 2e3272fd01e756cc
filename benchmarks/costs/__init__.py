"""What a node costs with each heuristic: ``python -m benchmarks.costs`` measures it anew.

What was measured is part of the program (`knightfall.studies.costs`), how it is measured is not.
"""
