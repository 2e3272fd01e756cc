"""The compiled twin of the rules: positions as machine words, functions as machine code."""
