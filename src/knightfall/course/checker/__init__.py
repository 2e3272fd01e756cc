"""A grader in the spirit of the course's: is a `game_agent.py` right, and if not, what is wrong?

`examine.examine` asks a process of its own (`process.py`, `child.py`), in which the submission
runs on boards that note what is done with them (`watched.py`), and compares that with searches as
plain as they can be (`reference.py`).  A `my_custom_player.py` of the successor has checks of its
own (`successor.py`).
"""
