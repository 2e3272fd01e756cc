"""The laboratory behind the page: what needs Python, served to a browser on this machine.

The server itself computes nothing and runs no user's code, but for the views that installed
extensions add (`page_parts`), which it calls in a thread.  It passes questions on to processes:
one plays a run (`play_run`), one reads the store (`archive`), one looks at a user's file
(`library`), some think about positions (`thinkers`).  So it always answers.
"""
