"""Inference: does a model infer a gender from an occupation?

    The nurse is waiting for the bus.  →  The woman is waiting for the bus.

The right answer is *neutral*. To call it entailed with the stereotypical gender, or contradicted with the other one, is
biased inference; the opposite is plain error. The score counts the former:

    s = (e_p + c_a + 1 − n_n) / 3        FN = 1 − (share of neutral answers in all sets)

with e_p the share of entailments in the pro-stereotypical set, c_a that of contradictions in the anti-stereotypical
one, n_n that of neutral answers with occupations that have no stereotype.

P. Anantaprayoon, M. Kaneko and N. Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural
Language Inference by Considering All Labels. LREC-COLING 2024. FN: S. Dev, T. Li, J. M. Phillips and V. Srikumar
(2020). On Measuring and Mitigating Biased Inferences of Word Embeddings. AAAI 2020.
"""

from unmask.measures.inference.caveats import precision_caveats
from unmask.measures.inference.changes import compare
from unmask.measures.inference.interpret import interpret
from unmask.measures.inference.labels import is_inference, order_of
from unmask.measures.inference.protocol import PROTOCOLS, Protocol
from unmask.measures.inference.score import Scored, score
from unmask.probes.inference import LABELS

__all__ = [
    "LABELS",
    "PROTOCOLS",
    "Protocol",
    "Scored",
    "compare",
    "interpret",
    "is_inference",
    "order_of",
    "precision_caveats",
    "score",
]
