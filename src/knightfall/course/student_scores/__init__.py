"""Use a student's score, `custom_score(game, player)`, as a heuristic.

`student_score` parses the name and loads the function.  `compiled_score` compiles it with Numba for
a bitboard that has the interface of the course's board; `compiled_board` and `cells` are the Numba
types of that board and of its lists of cells.
"""
