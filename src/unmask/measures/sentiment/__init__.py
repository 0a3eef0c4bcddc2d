"""Sentiment: does a text's rating change with the gender of its people?

    bias(text) = rating of the male version − rating of the female version

Above 0 the male version is rated higher (more positive), below 0 the female one. The *total* bias of a classifier is
the mean, which shows a direction; the *absolute* bias is the mean size, which shows how far single texts move.

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. Proceedings of the 4th Workshop on Gender Bias in NLP.
"""

from unmask.measures.sentiment.caveats import precision_caveats
from unmask.measures.sentiment.changes import compare
from unmask.measures.sentiment.interpret import interpret
from unmask.measures.sentiment.protocol import PROTOCOLS, Protocol
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.score import Scored, score, score_all

__all__ = [
    "PROTOCOLS",
    "Protocol",
    "Rater",
    "Scored",
    "compare",
    "interpret",
    "precision_caveats",
    "score",
    "score_all",
]
