"""The lab: the server behind the page, for everything that needs Python on this machine.

The server process itself computes nothing and runs no user code, except for the views that
installed extensions add (`page_parts`), which it calls in a thread.  It passes requests on to other
processes: one plays a run (`play_run`), one reads the store (`archive`), one loads a user's file
(`library`), some search positions (`thinkers`).  So the server always responds at once.
"""
