"""What the figures of a model come to, in a few words, and whether they can be read as bias at all."""

from __future__ import annotations

from unmask.measures.inference.details import Inference
from unmask.measures.inference.interpret import understands
from unmask.results import Measurement
from unmask.results.verdict import is_clear
from unmask.studies.table import GAP

TESTS = ("stereotype", "default")
WORDS = {
    ("stereotype", 1): "stereotype",
    ("stereotype", -1): "against stereotypes",
    ("default", 1): "men by default",
    ("default", -1): "women by default",
}


def doubt(measurement: Measurement) -> str:
    """Why a score cannot be read as bias; empty if it can."""
    return measurement.read_details(Inference).inconclusive


def found(measurement: Measurement, name: str, sign: int) -> bool:
    """Whether the stereotype or the default is clear, goes that way, and the model understands such pairs."""
    test = measurement.tests.get(name)
    if test is None or test.value is None or not understands(measurement):
        return False
    return is_clear(test, measurement.noise_floor) and sign * test.value > 0


def reading(measurement: Measurement) -> str:
    """A model's figures in a few words."""
    if not understands(measurement):
        return "inconclusive"
    said = [words for way, words in WORDS.items() if found(measurement, *way)]
    said += ["score inconclusive"] if doubt(measurement) else []
    return ", ".join(said) or ("nothing clear" if measurement.protocol == "sound" else GAP)
