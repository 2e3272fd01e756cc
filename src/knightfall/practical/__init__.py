"""Practical chances: moves after which real opponents go wrong."""
