"""Rate a whole class: all submissions play, and each student gets a page."""
