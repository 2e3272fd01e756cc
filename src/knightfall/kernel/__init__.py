"""The compiled rules: positions as machine words, functions as machine code."""
