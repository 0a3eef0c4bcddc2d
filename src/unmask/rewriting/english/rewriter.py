"""English text in another gender: one pass over the words, and a decision at each gendered one.

A word is looked up as it is written; only where one is found is anything else asked: is it part of an expression, a
verb, a name, a title; is *her* a *his* or a *him* (`possessives`); which verb must agree with *they*
(`verb_agreement`). So the cost of ordinary words is one look-up, and the tagger sees only the sentences that cannot be
decided without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unmask.lexicon.gender import GenderWords, Term, gender_words
from unmask.lexicon.words import indefinite_article
from unmask.rewriting.english import possessives, senses, verb_agreement
from unmask.rewriting.english.context import TextSpan
from unmask.rewriting.english.possessives import DOUBT, Doubt, settle_doubts
from unmask.rewriting.result import Kind, Left, Replacement, Rewritten, apply_changes, carry_case, case_variants

if TYPE_CHECKING:
    from unmask.rewriting.options import RewriteOptions

_WORD = re.compile(r"[^\W_]+")
_CLITIC = re.compile(r"['’](?:s|d|ll)\b", re.IGNORECASE)
_DOT = re.compile(r"\.(?=\s)|['’]s\b")
_LINKED = re.compile(r"(?<!\w)(his|hers?)(?:\s+(?:and|or)\s+|/)\Z", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(['’])(s?)(?!\w)", re.IGNORECASE)


@dataclass(slots=True)
class WordEntry:
    """What may begin at a word: expressions and terms of several words, longest first, and the word itself."""

    term: Term | None = None
    phrases: tuple[tuple[re.Pattern[str], Term | str], ...] = ()


class EnglishRewriter:
    """Rewrites English documents."""

    def __init__(self, settings: RewriteOptions) -> None:
        """Read the words and, where they are asked for, the names."""
        self._to = settings.to
        self._quick = settings.quick
        self._words = gender_words(settings.terms)
        self._entries = _build_entries(self._words)
        self._exchange = None
        if settings.names:
            from unmask.rewriting.english.name_exchange import build_exchange

            self._exchange = build_exchange(settings.names_from)

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        changes: list[Replacement] = []
        left: list[Left] = []
        doubts: list[Doubt] = []
        names = self._exchange_names(text)
        named = {start for change in names for start in range(change.start, change.end)} if names else ()
        get = self._entries.get
        end_of_last = 0
        for match in _WORD.finditer(text):
            entry = get(match.group())
            if entry is None:
                continue
            start = match.start()
            if start < end_of_last:
                continue
            entry_match = self._match_entry(text, start, entry)
            if entry_match is None or (start in named and not isinstance(entry_match[0], str)):
                continue
            what, end = entry_match
            end_of_last = end
            if senses.is_part_of_address(text, start, end):
                continue
            if isinstance(what, Term) and what.word == "s)he":
                if text[start - 1 : start] != "(":
                    continue
                start -= 1
            span = TextSpan(text, start, end)
            if isinstance(what, str):
                left.append(Left(start, span.word, span.word.lower(), what))
                names = [name for name in names if name.end <= start or name.start >= end]
            else:
                span, term, reason = self._rewrite_word(span, what, changes, doubts)
                if reason:
                    left.append(Left(span.start, span.word, term.word.lower(), reason))
                end_of_last = span.end
        if doubts:
            for doubt, after in zip(doubts, settle_doubts(text, doubts), strict=True):
                changes[doubt.change] = replace(changes[doubt.change], after=after)
        changes = _sort_changes([*changes, *names])
        if self._to == "remove":
            changes = list(_remove_spaces(text, changes))
        return Rewritten(apply_changes(text, changes) if changes else text, tuple(changes), tuple(left))

    def _match_entry(self, text: str, start: int, entry: WordEntry) -> tuple[Term | str, int] | None:
        for pattern, what in entry.phrases:
            if match := pattern.match(text, start):
                return what, match.end()
        return (entry.term, _WORD.match(text, start).end()) if entry.term else None  # type: ignore[union-attr]

    def _rewrite_word(
        self, span: TextSpan, term: Term, changes: list[Replacement], doubts: list[Doubt]
    ) -> tuple[TextSpan, Term, str]:
        """Add the changes of a word; returns the span that was read, its term, and why it is left, if it is."""
        title = senses.find_title(span, term, self._words, self._to)
        reason = title if isinstance(title, str) else "" if title else senses.why_left(span, term)
        if reason:
            return span, term, reason
        if title and not isinstance(title, str):
            term, span = title
        if self._to == "remove":
            if not (term.male and term.female):
                return span, term, term.why
            changes.append(_remove_word(span, term.word.lower(), "word", dotted=term.role == "title"))
            return span, term, ""
        readings = _read_pronoun(span, term, quick=self._quick)
        term = readings[0]
        target = term.becomes(self._to)
        if not target:
            return span, term, term.why or ("no neutral word" if self._to == "neutral" else "means anyone")
        stretch = senses.find_both_named(span, self._words, target, self._to)
        if stretch is None:
            stretch = senses.find_beside_neutral(span, self._words, target, self._to)
            if stretch is not None and self._to == "swap":
                return span, term, "both genders are named"
        if stretch is None and target.lower() == term.word.lower():
            return span, term, ""
        span = stretch or span
        if len(readings) > 1 and target != term.word:
            his, him = (carry_case(span.word, reading.becomes(self._to)) for reading in readings)
            doubts.append(Doubt(len(changes), span.start, span.end, his, him))
        changes.extend(self._write_changes(span, term, target))
        return span, term, ""

    def _write_changes(self, span: TextSpan, term: Term, target: str) -> Iterator[Replacement]:
        """The change of a word, with the article before it and whatever hangs on it."""
        after = carry_case(span.word if len(span.word) > 1 else "X", target)
        if span.word.islower() and term.word[:1].isupper():
            after = after.lower()
        if term.role != "pronoun" and (article := _change_article(span, after)):
            yield article
        if term.role == "pronoun":
            yield Replacement(span.start, span.end, span.word, after, term.word.lower(), "word")
            if target == "they":
                yield from verb_agreement.change_verbs(span)
            return
        end, hanging = _change_apostrophe(span, term, after)
        yield Replacement(span.start, end, span.text[span.start : end], after + hanging, term.word.lower(), "word")

    def _exchange_names(self, text: str) -> list[Replacement]:
        if self._exchange is None:
            return []
        from unmask.rewriting.english import name_detection

        names = name_detection.find_names(text, self._exchange)
        partners = {} if self._to == "remove" else self._exchange.partners([name.name for name in names], self._to)
        changes = []
        for name in names:
            term, before = name.name.lower(), text[name.start : name.end]
            if self._to == "remove":
                changes.append(_remove_word(TextSpan(text, name.start, name.end), term, "name"))
            elif (after := partners.get(name.name)) is not None:
                changes.append(Replacement(name.start, name.end, before, carry_case(before, after), term, "name"))
        return changes


def _sort_changes(changes: list[Replacement]) -> list[Replacement]:
    """The changes as they stand in the text; a verb or article that lies within another change is a misreading."""
    ordered: list[Replacement] = []
    for change in sorted(changes, key=lambda change: (change.start, change.kind in ("verb", "article"))):
        if not ordered or change.start >= ordered[-1].end:
            ordered.append(change)
    return ordered


def _read_pronoun(span: TextSpan, term: Term, *, quick: bool) -> list[Term]:
    """What one word writes two ways: *her* for *his* or *him*, *his* for *her* or *hers*; two of them only in doubt."""
    if term.role != "pronoun" or term.word not in ("her", "his"):
        return [term]
    linked = _LINKED.search(span.around(10)[0])
    if linked and linked[1].lower() != term.word:  # his or her, hers or his: of one kind
        is_hers = linked[1].lower() == "hers"
        if term.word == "her":
            return [replace(term, male="his", neutral="their")]
        return [replace(term, female="hers", neutral="theirs") if is_hers else term]
    if term.word == "his":
        alone = possessives.weigh_standing_alone(span.text, span.start, span.end) > 0
        return [replace(term, female="hers", neutral="theirs") if alone else term]
    evidence = possessives.weigh_possessive(span.text, span.start, span.end)
    readings = [replace(term, male="his", neutral="their"), term]
    if abs(evidence) < DOUBT and not quick:
        return readings
    return readings[:1] if evidence > 0 else readings[1:]


def _change_article(span: TextSpan, after: str) -> Replacement | None:
    """*a* or *an* before a word that now begins with another sound."""
    previous, clitic, gap = span.before
    if previous.lower() not in ("a", "an") or clitic or not gap.isspace():
        return None
    new = indefinite_article(after)
    if previous.lower() != indefinite_article(span.word) or new == previous.lower():
        return None
    end = span.start - len(gap)
    start = end - len(previous)
    return Replacement(
        start, end, previous, new.upper() if previous == "AN" else carry_case(previous, new), new, "article"
    )


def _change_apostrophe(span: TextSpan, term: Term, after: str) -> tuple[int, str]:
    """The apostrophe of a possessive: *ladies'* but *gentlemen's*."""
    match = _POSSESSIVE.match(span.text, span.end)
    if not match:
        return span.end, ""
    sign, letter = match.groups()
    ends_in_s = after.lower().endswith("s")
    if not letter and span.word.lower().endswith("s") and not ends_in_s and match.end() < len(span.text):
        return match.end(), sign + ("S" if after.isupper() else "s")
    if letter and term.plural and ends_in_s:
        return match.end(), sign
    return span.end, ""


def _remove_word(span: TextSpan, term: str, kind: Kind, *, dotted: bool = False) -> Replacement:
    """A word taken out, with what hangs on it."""
    hanging = (_DOT if dotted else _CLITIC).match(span.text, span.end)
    end = hanging.end() if hanging else span.end
    return Replacement(span.start, end, span.text[span.start : end], "", term, kind)


def _remove_spaces(text: str, changes: list[Replacement]) -> Iterator[Replacement]:
    """Removed words with one space beside them, the one before if there is one, or the hyphen between two of them."""
    done, opening = 0, False
    for change in changes:
        start, end = change.start, change.end
        opening = start == 0 or text[start - 1] in '\n\r\t"“‘([<>' or (opening and start == done)
        if done and text[done:start] == "-":
            start = done
        elif not opening and text[start - 1] == " " and start > done:
            start -= 1
        elif opening and text[end : end + 1] == " ":
            end += 1
        done = end
        yield replace(change, start=start, end=end, before=text[start:end])


def _build_entries(words: GenderWords) -> dict[str, WordEntry]:
    """Every spelling of every first word, and what may begin with it."""
    entries: dict[str, WordEntry] = {}
    phrases: dict[str, list[tuple[str, Term | str]]] = {}
    gendered = set(words.words) | set(words.before_names)
    for phrase, why in words.phrases.items():
        if gendered.intersection(re.findall(r"\w+", phrase.lower())):
            phrases.setdefault(_first_word(phrase).lower(), []).append((phrase, why))
    for word, term in words.words.items():
        if _first_word(word) == word:
            for spelling in case_variants(word):
                entries[spelling] = WordEntry(term)
        else:
            phrases.setdefault(_first_word(word), []).append((word, term))
    for word, term in words.before_names.items():
        for spelling in case_variants(word):
            entries.setdefault(spelling, WordEntry(term))
    if "he" in words.words:
        for either in ("s/he", "s)he"):
            phrases.setdefault("s", []).append((either, Term(either, "either", "he", "she", "they", role="pronoun")))
    for first, those in phrases.items():
        longest_first = sorted(those, key=lambda entry: -len(entry[0]))
        compiled = tuple(
            (_compile_phrase(phrase, inflected=isinstance(what, str)), what) for phrase, what in longest_first
        )
        for spelling in case_variants(first):
            entries.setdefault(spelling, WordEntry()).phrases = compiled
    return entries


def _first_word(phrase: str) -> str:
    return _WORD.match(phrase).group()  # type: ignore[union-attr]


def _compile_phrase(phrase: str, *, inflected: bool) -> re.Pattern[str]:
    parts = [re.escape(part).replace("'", "['’]") for part in phrase.split()]
    gap, ending = (r"[\s-]+", r"(?:e?s)?") if inflected else (r"\s+", "")
    joined = rf"(?<![\w'’]){gap.join(parts)}{ending}(?!\w)"
    return re.compile(joined, 0 if phrase.istitle() else re.IGNORECASE)
