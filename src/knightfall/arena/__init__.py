"""Tournaments that are fair, reproducible, resumable and honest."""
