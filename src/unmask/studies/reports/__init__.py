"""The pages of studies."""
