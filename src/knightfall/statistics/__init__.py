"""Statistics of results: rates, pairs, sequential tests, ratings."""
