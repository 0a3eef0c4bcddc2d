"""Geometry: do words that are biased alike lie together, and is that more than the gender direction itself?

Gonen and Goldberg (2019), Lipstick on a Pig; Bhang, Kang and Nam, Lipstick on a Pig "Again". See docs/geometry.md.
"""

from unmask.measures.geometry.change_words import judge
from unmask.measures.geometry.changes import compare
from unmask.measures.geometry.contrast import CONTRASTS, Contrast
from unmask.measures.geometry.interpret import interpret
from unmask.measures.geometry.protocol import PROTOCOLS, Protocol
from unmask.measures.geometry.score import OWN, Chosen, Scored, Stereotypes, score, score_chosen
from unmask.measures.geometry.space import Space

__all__ = [
    "CONTRASTS",
    "OWN",
    "PROTOCOLS",
    "Chosen",
    "Contrast",
    "Protocol",
    "Scored",
    "Space",
    "Stereotypes",
    "compare",
    "interpret",
    "judge",
    "score",
    "score_chosen",
]
