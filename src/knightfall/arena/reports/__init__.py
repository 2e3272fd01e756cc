"""Reports on runs: what a match, a tournament, a league or a worth says, in words and as data."""
