"""Matches, tournaments and leagues: plans, runners, the store, results, reports and charts."""
