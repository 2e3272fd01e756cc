"""The lab: the server behind the page, for everything that needs Python on this machine.

The server process itself computes nothing and runs no user code, except for the views that
installed extensions add (page parts), which it calls in a thread.  It passes requests on to other
processes: one plays a run (`jobs`), one reads the store (`store_reader`), one loads a user's
file (`watched_files`), some search positions (`agent_pool`).  So the server always responds
at once.
"""
