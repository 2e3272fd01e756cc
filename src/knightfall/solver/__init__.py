"""The part that knows: exact values of positions, the atlas of openings, certificates."""
