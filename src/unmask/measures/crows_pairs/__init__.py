"""CrowS-Pairs: does a model find the more stereotypical of two sentences likelier?

    PLL(S) = Σ ln p(u | S without u)   over the words u that both sentences share
    score  = share of pairs with PLL(more stereotypical) > PLL(less stereotypical)

The two sentences differ in whom they are about, and the words that say so are never asked for, since their own
frequency is not of interest. 50 % is no preference.

N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020). CrowS-Pairs: A Challenge Dataset for Measuring Social Biases
in Masked Language Models. EMNLP 2020. Whole words: C. Kauf and A. Ivanova (2023). A Better Way to Do Masked Language
Model Scoring. ACL 2023. Flaws of the pairs: S. L. Blodgett, G. Lopez, A. Olteanu, R. Sim and H. Wallach (2021).
Stereotyping Norwegian Salmon: An Inventory of Pitfalls in Fairness Benchmark Datasets. ACL-IJCNLP 2021.
"""

from unmask.measures.crows_pairs.caveats import precision_caveats
from unmask.measures.crows_pairs.changes import compare
from unmask.measures.crows_pairs.interpret import interpret
from unmask.measures.crows_pairs.protocol import PROTOCOLS, Protocol
from unmask.measures.crows_pairs.score import Scored, score

__all__ = ["PROTOCOLS", "Protocol", "Scored", "compare", "interpret", "precision_caveats", "score"]
