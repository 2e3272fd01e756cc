"""The oracle: agents and games held against the exact truth."""
