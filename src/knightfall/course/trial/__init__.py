"""Play the course's tournament with a submission, judge its games and report the results."""
