"""What a run says: tallies, ratings, differences, and rules that end it."""
