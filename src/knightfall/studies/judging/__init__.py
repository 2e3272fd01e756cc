"""The studies' tournaments played again, and their claims held against the results."""
