"""The pairs of words that define gender: those of Bolukbasi et al. (2016), which Liang et al. (2020) use too."""

from __future__ import annotations

PAIRS = (
    ("woman", "man"),
    ("girl", "boy"),
    ("she", "he"),
    ("mother", "father"),
    ("daughter", "son"),
    ("gal", "guy"),
    ("female", "male"),
    ("her", "his"),
    ("herself", "himself"),
    ("Mary", "John"),
)
"""Female first."""
