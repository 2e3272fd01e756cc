"""Games as text: one value, one reader, and a writer for each way of writing."""
