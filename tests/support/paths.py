"""Paths of the tests and of the project."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent
GOLD = TESTS / "gold"
"""Expected outputs, and numbers from the papers."""
