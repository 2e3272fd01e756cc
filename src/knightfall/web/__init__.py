"""The page: the engine for browsers, and what draws it."""
