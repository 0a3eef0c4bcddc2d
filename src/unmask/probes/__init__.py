"""What we ask a model, as a table."""
