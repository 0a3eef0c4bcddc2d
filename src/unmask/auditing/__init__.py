"""What a user asks for: pick the measures that fit a model and run them; or analyse recorded scores alone."""

from unmask.auditing.job import LIBRARIES, Findings, analyse, run
from unmask.auditing.settings import LANGUAGES, MEASURES, SEED, Settings

__all__ = ["LANGUAGES", "LIBRARIES", "MEASURES", "SEED", "Findings", "Settings", "analyse", "run"]
