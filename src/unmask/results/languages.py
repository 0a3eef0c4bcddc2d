"""What languages are called, once, for every table and page."""

LANGUAGES = {"en": "English", "de": "German", "ja": "Japanese", "zh": "Chinese"}
"""By their code; one that is not here goes by its code."""
