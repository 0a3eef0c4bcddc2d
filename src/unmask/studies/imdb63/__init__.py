"""The 63 film review classifiers of Jentzsch and Turan (2022)."""
