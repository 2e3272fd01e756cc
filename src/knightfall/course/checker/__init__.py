"""The checker of ``knightfall course check``: tests a submission and explains what is wrong.

`run_checks.examine` starts a separate process (`checks_in_process.py`), in which the submission
(`submission_api.py`) runs on boards that record all calls (`recording_board.py`), in the positions
of `fixtures.py`.  The checks (`interface_checks.py`, `search_checks.py`, `get_move_checks.py`)
compare the results with reference searches (`textbook_search.py`).  Submissions for the successor
(`my_custom_player.py`) have checks of their own (`successor_checks.py`).
"""
