"""The sentences that Context-Debias learns from: which words are stereotypes, which gendered, and who stands where.

As in the published preprocessing, a sentence with words of one gender is that gender's; one with words of both is of no
use; and one with a stereotype word counts as such only where no gendered word stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, listed
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.stereotypes import stereotypes, word_list
from unmask.mitigations.whole_words import WholeWords

GENDERS = ("female", "male")


def word_lists(language: str, genders: tuple[Path, Path] | None, own: Path | None) -> dict[str, list[str]]:
    """The words of each kind, in lower case: ours, or those of files (female and male; stereotypes).

    A stereotype word that is gendered (*waiter*) counts as gendered alone.
    """
    if genders:
        found = {gender: word_list(path) for gender, path in zip(GENDERS, genders, strict=True)}
    else:
        terms = gender_words("all", language)
        known = terms.before_names | terms.words
        known.pop("miss", None)  # mostly a verb
        found = {gender: [word for word, term in known.items() if term.gender == gender] for gender in GENDERS}
    both = set(found["female"]) & set(found["male"])
    if both:
        raise UnmaskError(f"{listed(sorted(both))} in the lists of both genders; give each word in one of them")
    if language != "en" and not own:
        raise UnmaskError(f"there are no stereotype words for {language!r}; give some with --set stereotypes=FILE")
    words = word_list(own) if own else stereotypes(language)
    gendered = {*found["female"], *found["male"]}
    return {"stereotype": [word for word in words if word not in gendered], **found}


def sorted_by_words(
    texts: Iterable[str], lists: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The sentences of each kind, and how many are of no use."""
    finders = {kind: WholeWords(words) for kind, words in lists.items()}
    found: dict[str, list[str]] = {kind: [] for kind in lists}
    others = {"of_both_genders": 0, "without_such_words": 0}
    for text in texts:
        here = [gender for gender in GENDERS if finders[gender].spans(text)]
        if len(here) == 2:
            others["of_both_genders"] += 1
        elif here:
            found[here[0]].append(text)
        elif finders["stereotype"].spans(text):
            found["stereotype"].append(text)
        else:
            others["without_such_words"] += 1
    return found, others


def seen(texts: Iterable[str], words: Sequence[str]) -> dict[str, Any]:
    """How many stereotype words stand in the texts, and which of BEC-Pro's professions they are, or are part of."""
    finder = WholeWords(words)
    met = {text[start:end].lower() for text in texts for start, end in finder.spans(text)}
    professions = [one.name for one in attributes("en")]
    part = WholeWords(met)
    return {
        "stereotype_words": len(met),
        "bec_pro_professions": [name for name in professions if name in met],
        "bec_pro_professions_in_part": [name for name in professions if name not in met and part.spans(name)],
        "of_bec_pro_professions": len(professions),
    }
