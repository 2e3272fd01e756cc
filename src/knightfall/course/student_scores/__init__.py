"""A score that a student of the course wrote, `custom_score(game, player)`, as a heuristic.

`student_score` is how it is written and loaded; `compiled_score` has Numba compile it for a board
of machine words with the interface of the course's: `compiled_board` and `cells` are the types of
that board and of its lists.
"""
