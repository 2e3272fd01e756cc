"""Weights of a sum of heuristics, tuned by play and confirmed where the tuning never looked."""
