"""Positions from real play with the solver's truth, and what is learned from them."""
