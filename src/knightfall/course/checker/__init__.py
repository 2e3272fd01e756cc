"""The checker of ``knightfall course check``: tests a submission and explains what is wrong.

`check_runner.examine` starts a separate process, in which the submission (`submission_api.py`) runs
on boards that record all calls (`recording_board.py`).  The checks (`submission_api.py`,
`search_checks.py`, `get_move_checks.py`) compare the results with reference searches.  Submissions
for the successor (`my_custom_player.py`) have checks of their own (`successor_checks.py`).
"""
