"""What a heuristic is worth at equal nodes and at equal time."""
