"""What is to be played: entrants, matches, openings, in which order."""
