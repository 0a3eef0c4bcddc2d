"""German text in another gender: pronouns, nouns for persons, and the articles and adjectives that agree with them.

A noun phrase is read in every case and number that its article, adjectives and noun allow; where all readings give the
same phrase in the other gender, or the sentence leaves one reading, the phrase is rewritten with all that agrees with
it, else it is left and reported. A pronoun is rewritten where it speaks of a person and not of a thing that is
masculine or feminine by grammar only.
"""

from unmask.rewriting.german.rewriter import GermanRewriter

__all__ = ["GermanRewriter"]
