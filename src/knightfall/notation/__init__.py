"""Games as text: read and written in one place."""
