"""Sentences of a corpus that name a profession and a person, for the association measure.

    *He* worked as a *carpenter* until the war.   →   [MASK] worked as a [MASK] until the war.

The same question as with templates, in sentences that people wrote. Both words of a pair are scored in the same place,
*he*, which stands there, and *she*; so every sentence gives a female and a male association. A sentence can be used if

- it names one profession once: the whole phrase as the list writes it, in the singular, as a noun, and neither in the
  genitive (*the judge's car*) nor before another noun or an adjective (*a carpenter bee*, *secretary general*). So
  *Judge Smith* and *Mr. Carpenter* are no professions. Of two that overlap, the longer counts;
- it has one person word of the list, once, whose counterpart fits in its place. *His*, *him* and *her* are not in the
  list, because *her* is both of the others. A noun is neither in the genitive nor before *of* (*the son of a mason*);
- nothing else says the gender: no other gendered word and no first name, as `unmask rewrite --names` finds them. Else
  the counterpart would contradict its sentence (*She lost his job*);
- it has 4 to 40 words.

Whether the person is the one with the profession is not decided.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon import Attribute, Person
from unmask.lexicon.sentences import split_sentences
from unmask.lexicon.tagging import tag_words
from unmask.measures.association import REAL
from unmask.measures.association.data import AssociationRow, Span
from unmask.measures.association.details import FEWEST_SENTENCES, SentenceCount
from unmask.measures.association.table import STEREOTYPED
from unmask.rewriting import rewriter
from unmask.rewriting.result import carry_case
from unmask.training.examples import read_examples

FEWEST_WORDS, MOST_WORDS = 4, 40
FEWEST_PROFESSIONS = 3
"""Professions that the female and the male group need."""
PRONOUNS = ("he", "she")
_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
_GENITIVE = re.compile(r"['’](?:s\b|(?!\w))")
_NOUN_ENDS = re.compile(r"['’](?:s\b|(?!\w))|\s+of\b")


@dataclass(frozen=True)
class SentenceRow(AssociationRow):
    """A sentence with one of the words of a pair; `template` is the identity of the sentence, without that word."""

    written: str
    """The gender of the word that stands in the text."""


@dataclass(frozen=True)
class SentenceSample:
    """Two rows for each sentence, and how many sentences were found."""

    rows: list[SentenceRow]
    counts: list[SentenceCount]


@dataclass(frozen=True)
class FoundSentence:
    """A sentence that can be used, and where its words are."""

    text: str
    person: Person
    person_span: Span
    profession: Attribute
    profession_span: Span

    @property
    def identity(self) -> str:
        """The same for sentences that differ in the gender of the person alone."""
        start, end = self.person_span
        frame = f"{self.text[:start]}{{{self.person.pair}}}{self.text[end:]}"
        return hashlib.sha256(frame.encode()).hexdigest()[:16]


class SentenceFinder:
    """Finds the sentences that can be used."""

    def __init__(self, people: Iterable[Person], professions: Iterable[Attribute]) -> None:
        self._professions = {profession.name: profession for profession in professions}
        self._people = {person.target.lower(): person for person in reversed(list(people))}
        self._profession = _match_any(self._professions, re.NOFLAG)
        self._person = _match_any(self._people, re.IGNORECASE)
        self._rewriter = rewriter("swap", names=True, quick=True)

    def find_all(self, texts: Iterable[str]) -> Iterator[FoundSentence]:
        """The sentences of texts that can be used, in order."""
        for text in texts:
            if self._profession.search(text) and self._person.search(text):
                for sentence in split_sentences(text, "en"):
                    if found := self.find(" ".join(sentence.split())):
                        yield found

    def find(self, sentence: str) -> FoundSentence | None:
        """The place of the person and of the profession; None if the sentence cannot be used."""
        professions, people = (list(words.finditer(sentence)) for words in (self._profession, self._person))
        if len(professions) != 1 or len(people) != 1:
            return None
        if not FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS:
            return None
        profession, person = professions[0], people[0]
        word = person.group().lower()
        if word not in PRONOUNS and _NOUN_ENDS.match(sentence, person.end()):
            return None
        if not _is_noun(sentence, profession) or self._says_gender(sentence, person.span()):
            return None
        return FoundSentence(
            sentence,
            self._people[word],
            person.span(),
            self._professions[profession.group()],
            profession.span(),
        )

    def _says_gender(self, sentence: str, person: Span) -> bool:
        """Whether anything but the person word says a gender, or the word is part of an expression or a name."""
        rewritten = self._rewriter.rewrite(sentence)
        return bool(rewritten.left) or any((change.start, change.end) != person for change in rewritten.changes)


def _match_any(words: Iterable[str], flags: re.RegexFlag) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w/-])", flags)


def _is_noun(sentence: str, profession: re.Match[str]) -> bool:
    """Whether a profession is a noun here, neither in the genitive nor before another noun or an adjective."""
    if _GENITIVE.match(sentence, profession.end()):
        return False
    tokens = list(_TOKEN.finditer(sentence))
    tags = tag_words([token.group() for token in tokens])
    last = next(index for index, token in enumerate(tokens) if token.end() >= profession.end())
    is_part = last + 1 < len(tags) and tags[last + 1].startswith(("NN", "AJ"))
    return tags[last].startswith("N") and not is_part


def sample_sentences(
    path: Path, people: Sequence[Person], professions: Sequence[Attribute], *, most: int, seed: int
) -> SentenceSample:
    """Find the sentences of a file, and draw a sample of those of each profession.

    Args:
        path: A file with a text a line, or with a column of texts.
        people: The person words, in pairs.
        professions: The professions to look for.
        most: How many sentences a profession may have; of more, a random sample is used.
        seed: Chooses the sample. A sentence is drawn by its own hash, so that other sentences do not matter.

    Returns:
        Two rows for each sentence, those of professions with too few sentences left out.
    """
    found: dict[str, dict[str, FoundSentence]] = {profession.name: {} for profession in professions}
    texts = (example.text for example in read_examples(path, "mlm"))
    for sentence in SentenceFinder(people, professions).find_all(texts):
        found[sentence.profession.name].setdefault(sentence.identity, sentence)
    counterparts = {(person.pair, person.gender): person for person in people}
    rows: list[SentenceRow] = []
    counts: list[SentenceCount] = []
    for profession in professions:
        sentences = found[profession.name]
        drawn = set(sorted(sentences, key=lambda name: hashlib.sha256(f"{seed}/{name}".encode()).digest())[:most])
        used = [sentences[name] for name in sentences if name in drawn] if len(drawn) >= FEWEST_SENTENCES else []
        written = [sentence.person.gender for sentence in used]
        counts.append(
            SentenceCount(
                profession=profession.name,
                group=profession.group,
                found=len(sentences),
                used=len(used),
                female=written.count("female"),
                male=written.count("male"),
            )
        )
        for sentence in used:
            rows += _build_rows(sentence, counterparts)
    _check_counts(counts, path)
    return SentenceSample(rows, counts)


def _build_rows(sentence: FoundSentence, people: Mapping[tuple[int, str], Person]) -> Iterator[SentenceRow]:
    """The sentence with the male and with the female word of the pair."""
    start, end = sentence.person_span
    profession = sentence.profession
    for gender in ("male", "female"):
        person = people[sentence.person.pair, gender]
        word = carry_case(sentence.text[start:end], person.target)
        longer = len(word) - (end - start)
        row = SentenceRow(
            language="en",
            corpus=REAL,
            template=sentence.identity,
            person=person.target,
            target=word,
            gender=gender,
            pair=person.pair,
            profession=profession.name,
            form=profession.name,
            group=profession.group,
            workforce_share=profession.workforce_share,
            sentence=sentence.text[:start] + word + sentence.text[end:],
            target_span=(start, start + len(word)),
            attribute_span=sentence.profession_span,
            written=sentence.person.gender,
        )
        if sentence.profession_span[0] > start:
            first, last = sentence.profession_span
            row = replace(row, attribute_span=(first + longer, last + longer))
        yield row


def _check_counts(counts: Sequence[SentenceCount], path: Path) -> None:
    """Raise an error if too few professions have enough sentences."""
    professions = {group: [count for count in counts if count.group == group] for group in STEREOTYPED}
    groups = professions if all(professions.values()) else {"": counts}
    used = {group: sum(count.used > 0 for count in members) for group, members in groups.items()}
    if min(used.values()) < FEWEST_PROFESSIONS:
        numbers = " and ".join(f"{number} {group}".rstrip() for group, number in used.items())
        each = " of each group" if len(used) > 1 else ""
        raise UnmaskError(
            f"{path} has {FEWEST_SENTENCES} usable sentences or more about {numbers} professions only, and"
            f" {FEWEST_PROFESSIONS}{each} are needed; give more text, or other --professions (docs/association.md)"
        )
