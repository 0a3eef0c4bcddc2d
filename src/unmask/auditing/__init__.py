"""Audits: pick the measures that fit a model and run them, or analyse recorded scores."""
