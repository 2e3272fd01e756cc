"""A grader in the spirit of the course's: is a `game_agent.py` right, and if not, what is wrong?

`examine.examine` asks a process of its own (`process.py`, `child.py`), in which the submission
(`submission_api.py`) runs on boards that note what is done with them (`recording_board.py`), in
the positions of `fixtures.py`.  The checks (`interface_checks.py`, `search_checks.py`,
`get_move_checks.py`) compare that with searches as plain as they can be (`textbook_search.py`).  A
`my_custom_player.py` of the successor has checks of its own (`successor_checks.py`).
"""
