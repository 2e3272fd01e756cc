"""One game and one pair: who is asked for moves, and what is recorded."""
