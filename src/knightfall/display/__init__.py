"""Display of results: numbers, tables and reports for terminals, pipes and notebooks."""
