"""What a user asks for: pick the measures that fit a model and run them; or analyse recorded scores alone."""

from unmask.auditing.job import LIBRARIES, Findings, analyse, run
from unmask.auditing.settings import LANGUAGES, MEASURES, OF, SEED, Settings
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.embedding import LAYERS, POOLING

__all__ = [
    "CONTRASTS",
    "LANGUAGES",
    "LAYERS",
    "LIBRARIES",
    "MEASURES",
    "OF",
    "POOLING",
    "SEED",
    "Findings",
    "Settings",
    "analyse",
    "run",
]
