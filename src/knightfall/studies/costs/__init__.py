"""What heuristics cost, and so what they get for equal time."""
