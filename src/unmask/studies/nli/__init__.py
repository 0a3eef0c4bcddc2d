"""Gender inferred from occupations, for a list of models: Table 3 of Anantaprayoon, Kaneko and Okazaki (2024)."""
