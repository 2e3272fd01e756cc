"""The arithmetic of results: rates, pairs, sequential tests, ratings."""
