"""The SQLite file of runs, and runs on their way in and out of it."""
