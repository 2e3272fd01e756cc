"""A submission in the course's tournament, and what is to be said of it afterwards."""
