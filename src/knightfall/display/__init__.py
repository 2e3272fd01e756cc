"""How results are shown: numbers, tables and reports, on a screen, in a pipe and in a notebook."""
