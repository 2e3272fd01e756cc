"""A score that a student of the course wrote, `custom_score(game, player)`, as a heuristic.

`named` is how it is written and loaded, `plain` asks it on the course's own board, and `compiled`
has Numba compile it for a board of machine words with the same interface: `game` and `cells` are
the types of that board and of its lists, `twin` makes the functions ready.
"""
