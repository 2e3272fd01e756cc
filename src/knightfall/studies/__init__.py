"""The five published studies: what they reported, what they claimed, and playing them again."""
