"""Compiled searches with a common signature: minimax, alpha-beta and iterative deepening."""
