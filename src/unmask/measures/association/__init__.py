"""Association: does a profession raise or lower the probability of a male or female person word?

    association = ln p(target | target masked) − ln p(target | target and attribute masked)

The first term is the probability of the person word beside the profession, the second (the *prior*) its probability
in the same sentence without it. A positive value: the profession makes the person word more likely.

M. Bartl, M. Nissim and A. Gatt (2020). Unmasking Contextual Stereotypes: Measuring and Mitigating BERT's Gender Bias.
Proceedings of the Second Workshop on Gender Bias in NLP. After Kurita et al. (2019).
"""

from unmask.measures.association.caveats import precision_caveats
from unmask.measures.association.change_words import judge
from unmask.measures.association.compare import compare
from unmask.measures.association.interpret import interpret
from unmask.measures.association.pairing import Measured
from unmask.measures.association.protocol import PROTOCOLS, Protocol
from unmask.measures.association.score import Scored, score

__all__ = [
    "PROTOCOLS",
    "Measured",
    "Protocol",
    "Scored",
    "compare",
    "interpret",
    "judge",
    "precision_caveats",
    "score",
]
