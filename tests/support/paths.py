"""Where the tests and the project are."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent
GOLD = TESTS / "gold"
"""Expected outputs, and numbers from the papers."""
