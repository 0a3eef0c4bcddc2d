"""Usefulness: what a masked language model can still do after it was debiased.

Any bias can be removed by a model that has forgotten everything, so a change of bias is worth what it cost. Two things
are asked, before and after, of the same sentences:

- *masked words* (`score`, `compare`): how well does it fill in the words of held-out text that mentions no gender?
- *stated gender* (`score_stated`, `compare_stated`): where a sentence states a gender, does the pronoun still agree?
  *My sister cut herself* is no stereotype; a model that has unlearned it is broken, not fair.
"""

from unmask.measures.usefulness.masked_words import compare, score
from unmask.measures.usefulness.stated_gender import compare_stated, score_stated
from unmask.measures.usefulness.texts import Sentences, sentences

__all__ = ["Sentences", "compare", "compare_stated", "score", "score_stated", "sentences"]
