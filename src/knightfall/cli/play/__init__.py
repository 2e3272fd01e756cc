"""A person's game against an agent."""
