"""The gender tests of WEAT and SEAT: sets of words, and sentences that say next to nothing but the word.

`en/weat.csv` has the words of tests 6, 7 and 8 of Caliskan, Bryson and Narayanan (2017) and of the variants b of May et
al. (2019). `en/weat_tests.csv` has the two sets of targets and the two sets of attributes of each test.
`en/weat_templates.csv` has the templates of May et al. for each type of word:

- `name`, `thing`, `person` (a noun for one, with a singular and a plural), `mass` (a noun without a plural);
- `adjective`; the pronouns `subject` (*he*), `object` (*him*) and `possessive` (*hers*).

The sentences that May et al. released treat an executive, parents, children, cousins and relatives as things (*A child
is a thing.*), and have *a management*. We correct these six words unless the released sentences are asked for
(`released` in the file). For the arts they released only a random part, a different one in each test, so that both sets
of targets had the same size; a partition test does not need that, so all are here.

A. Caliskan, J. J. Bryson and A. Narayanan (2017). Semantics derived automatically from language corpora contain
human-like biases. Science 356, 183–186. C. May, A. Wang, S. Bordia, S. R. Bowman and R. Rudinger (2019). On measuring
social biases in sentence encoders. NAACL-HLT, 622–628.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from unmask.errors import check_choice
from unmask.lexicon.table import read_groups, read_rows
from unmask.lexicon.words import indefinite_article

Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A word of a test, and what a sentence has to know of it."""

    text: str
    """As it stands in the test: *parents*."""
    kind: str
    singular: str
    """*parent*; the word itself where the kind has no number."""
    plural: str
    released_kind: str
    """What the released sentences take it for."""


@dataclass(frozen=True)
class WordSet:
    """Words that stand for the same thing, such as career."""

    name: str
    words: tuple[Word, ...]


@dataclass(frozen=True)
class Association:
    """A test: do the first targets go with the first attributes, and the second with the second?"""

    name: str
    """6, 6b, 7, 7b, 8 or 8b."""
    question: str
    targets: tuple[WordSet, WordSet]
    attributes: tuple[WordSet, WordSet]

    @property
    def sets(self) -> tuple[WordSet, WordSet, WordSet, WordSet]:
        """Both targets, both attributes: x, y, a and b of `unmask.weat`."""
        return (*self.targets, *self.attributes)


@dataclass(frozen=True)
class WordSentence:
    """A sentence, the place of the word in it (start and end in characters), and the word as the test has it."""

    text: str
    span: Span
    word: str
    gender: str = ""
    """Of a sentence about one gender."""


@cache
def associations() -> tuple[Association, ...]:
    """The gender tests, in their order."""
    sets: dict[str, list[Word]] = {}
    for row in read_rows(None, "en", "weat", ("set", "word", "kind")):
        text, kind = row["word"], row["kind"]
        word = Word(text, kind, row["singular"] or text, row["plural"] or text, row["released"] or kind)
        sets.setdefault(row["set"], []).append(word)
    tests = []
    for row in read_rows(None, "en", "weat_tests", ("name", "question", "x", "y", "a", "b")):
        x, y, a, b = (WordSet(row[column], tuple(sets[row[column]])) for column in "xyab")
        tests.append(Association(row["name"], row["question"], (x, y), (a, b)))
    return tuple(tests)


def association(name: str) -> Association:
    """The test of a name, such as 6b."""
    by_name = {test.name: test for test in associations()}
    return by_name[check_choice(name, by_name, "association test")]


def sentences(test: Association, *, released: bool = False) -> tuple[list[WordSentence], ...]:
    """The sentences of each set, in the order of `sets`; with `released`, those of May et al. slips included."""
    return tuple(
        [
            sentence
            for word in words.words
            for sentence in _build_sentences(word, word.released_kind if released else word.kind)
        ]
        for words in test.sets
    )


def gendered_sentences() -> list[WordSentence]:
    """80 sentences about men and 80 about women, from which the direction of gender is taken: the targets of test 6b.

    They end in a full stop. Those of Bhang et al. are the same without it; to take it off leaves spans as they are.
    """
    male, female, _, _ = sentences(association("6b"))
    return [replace(sentence, gender="male") for sentence in male] + [
        replace(sentence, gender="female") for sentence in female
    ]


def _build_sentences(word: Word, kind: str) -> list[WordSentence]:
    forms = {"word": word.text, "singular": word.singular, "plural": word.plural}
    built = []
    for template in read_groups("en", "weat_templates", "kind", "template")[kind]:
        form = next(form for form in forms if f"{{{form}}}" in template)
        before, after = template.replace("{a}", indefinite_article(word.singular)).split(f"{{{form}}}")
        text = before + forms[form] + after
        span = (len(before), len(before) + len(forms[form]))
        built.append(WordSentence(text[0].upper() + text[1:], span, word.text))
    return built
