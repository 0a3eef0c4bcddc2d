"""Numbers → a page, a table."""
