"""The report on the studies: as data, as Markdown, as a page."""
