"""Judge agents, games and heuristics by exact values from the solver."""
