"""Association of two models: the headline of a comparison, and how a report shows it."""
