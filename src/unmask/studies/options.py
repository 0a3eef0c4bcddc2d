"""Options that all studies share."""

from __future__ import annotations

from pathlib import Path

from unmask.options import EngineOptions, option

PROTOCOLS = ("sound", "published")
PROTOCOL_HELP = "sound: corrected method. published: exact reproduction of the paper, errors included."
LANGUAGES = ("en", "ja", "zh")
"""The languages of the inference measure."""


class RunOptions(EngineOptions):
    """Where the steps of a study are stored, and what runs them."""

    out: Path = option(..., "The folder of the study. What is done there is kept, and the rest is done.")
