"""The laboratory behind the page: what needs Python, served to a browser on this machine.

The server itself computes nothing and runs nobody's code.  It passes questions on to processes:
one plays a run (`play_run`), one reads the store (`archive`), one looks at a user's file
(`look_at`), some think about positions (`thinkers`).  So it always answers.
"""
