"""A fresh exercise: what a student of the course fills in, with tests and the task in words.

The files of each generation lie beside this as they are handed out, but for the `.txt` behind
their names, so that no tool takes them for ours.
"""
