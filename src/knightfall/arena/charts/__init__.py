"""Runs as pictures."""
