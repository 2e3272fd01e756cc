"""From labelled positions to a heuristic: features, two models, and how good they are."""
