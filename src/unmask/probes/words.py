"""A word in sentences that say next to nothing, so that an encoder's vectors of it are the word's own.

The eleven templates are those of Bhang et al. (`unmask.lexicon.word_lists`). `in_sentences` puts the word there as
English wants it: singular or plural, after `a` or `an` by its sound, a phrase with spaces. `published_in_sentences`
repeats what the paper's code asks for: places are counted in tokens, and in the four sentences with an article the
first place is the article, not the first piece of the word.
"""

from __future__ import annotations

from unmask.errors import UnmaskError
from unmask.lexicon.inflection import plural, singular
from unmask.lexicon.word_lists import WordTemplate, word_templates
from unmask.lexicon.words import indefinite_article
from unmask.models.roles import TokensInSentence, WordInSentence

WORD = "{word}"


def in_sentences(word: str) -> list[WordInSentence]:
    """A word (or a phrase joined by underscores) in each template, and where it stands."""
    one, several = _forms(word)
    found = []
    for frame in word_templates():
        form = one if frame.number == "singular" else several
        before, _, after = frame.template.replace("{a}", indefinite_article(form)).partition(WORD)
        found.append(WordInSentence(before + form + after, (len(before), len(before) + len(form))))
    return found


def published_in_sentences(word: str) -> list[TokensInSentence]:
    """A word in each template, and the two places whose vectors the paper's code adds.

    The article goes by the letter. Underscores stay, and their tokens are dropped later. Singular and plural are ours,
    not those of pattern.en, which the code asks.
    """
    found = []
    for frame in word_templates():
        form = singular(word) if frame.number == "singular" else plural(word)
        text = frame.template.replace("{a}", published_article(form)).replace(WORD, form)
        start, end = _published_places(frame)
        found.append(TokensInSentence(text, start, end))
    return found


def published_article(word: str) -> str:
    """`a` or `an` as in the code of Bhang et al.: by the letter, and `an` before *honor*."""
    return "an" if word.startswith(("a", "e", "i", "o", "u", "honor")) else "a"


def _published_places(frame: WordTemplate) -> tuple[int, int]:
    """Where the paper's code takes a word to start and to end, counted in tokens with the special ones."""
    return (3, -2) if frame.template.endswith(f"{WORD}.") else (2, -4)


def _forms(word: str) -> tuple[str, str]:
    """Singular and plural, with spaces."""
    if not word.strip("_- "):
        raise UnmaskError(f"{word!r} is no word to put into a sentence; give one with letters")
    return singular(word).replace("_", " "), plural(word).replace("_", " ")
