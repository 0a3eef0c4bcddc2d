"""What a user asks for: pick the measures that fit a model and run them; or analyse recorded scores alone."""

from unmask.auditing.job import LIBRARIES, Findings, analyse, run
from unmask.auditing.settings import CONTRASTS, LANGUAGES, LAYERS, MEASURES, POOLING, SEED, Settings

__all__ = [
    "CONTRASTS",
    "LANGUAGES",
    "LAYERS",
    "LIBRARIES",
    "MEASURES",
    "POOLING",
    "SEED",
    "Findings",
    "Settings",
    "analyse",
    "run",
]
