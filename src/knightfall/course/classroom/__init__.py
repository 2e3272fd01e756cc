"""A whole class: everybody's submission in one league, and a page for each."""
