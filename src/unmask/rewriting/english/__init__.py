"""English: one pass over the words, and a decision at each gendered one."""

from unmask.rewriting.english.rewriter import EnglishRewriter

__all__ = ["EnglishRewriter"]
