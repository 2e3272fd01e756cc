"""Searches: minimax, alpha-beta and iterative deepening, all compiled, all with one signature."""
