"""Clauses: which finite verb a word belongs to, and what else belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from unmask.counterfactual.german.sentences import Sentence

BREAKS = frozenset(',;:()–—„“”"»«[]…')
JOINERS = frozenset({"und", "oder", "aber", "denn", "sondern", "doch", "sowie"})
OPENERS = ("KOUS", "KOUI", "PREL", "PWS", "PWAT", "PWAV")
SUBORDINATORS = frozenset(
    "dass weil wenn ob obwohl nachdem bevor während damit sodass bis seit seitdem sobald solange falls indem als wie wo"
    " warum weshalb wieso wann wer was ehe sofern zumal".split()
)
SINGULAR_N = ("schien", "ann", "bin", "lehn", "schrien")
COPULAS = frozenset({"sein", "werden", "bleiben", "heißen"})


@dataclass
class Clause:
    """A finite verb (or none) and the places of the words around it."""

    verb: int | None
    subordinate: bool
    places: list[int] = field(default_factory=list)

    @property
    def start(self) -> int:
        """The first place of the clause."""
        return self.places[0]


def is_plural(word: str) -> bool:
    """Whether a finite verb, in lower case, is a plural form (wir, sie, Sie)."""
    if word in ("sind", "tun", "seien"):
        return True
    return word.endswith(("en", "ern", "eln")) and not word.endswith(SINGULAR_N)


def clauses(sentence: Sentence) -> list[Clause]:
    """For every token the clause that it belongs to."""
    finite = [sentence.part(place).endswith("(FIN)") for place in range(len(sentence))]
    segments = _segments(sentence, finite)
    owners: list[Clause | None] = []
    for segment in segments:
        verbs = [place for place in segment if finite[place]]
        subordinate = _opens(sentence, segment)
        if subordinate and not verbs:
            verbs = _like_infinitive(sentence, segment)
        if verbs:
            owners.append(Clause(verbs[-1] if subordinate else verbs[0], subordinate))
        else:
            owners.append(None)
    for index, segment in enumerate(segments):
        if owners[index] is None:
            owners[index] = _owner(sentence, segments, owners, index, segment)
    of_token: list[Clause] = [Clause(None, False)] * len(sentence)
    for segment, owner in zip(segments, owners, strict=True):
        assert owner is not None
        owner.places.extend(segment)
        for place in segment:
            of_token[place] = owner
    return of_token


def _like_infinitive(sentence: Sentence, segment: list[int]) -> list[int]:
    """The verb at the end of a clause, where it looks like an infinitive: `dass sie es nicht wagen`."""
    words = [place for place in segment if sentence.lower[place] not in BREAKS and sentence.lower[place].isalpha()]
    if words and sentence.part(words[-1]).endswith("(INF)") and sentence.word(words[-1] - 1) != "zu":
        return [words[-1]]
    return []


def _owner(
    sentence: Sentence, segments: list[list[int]], owners: list[Clause | None], index: int, segment: list[int]
) -> Clause:
    opened = _opens(sentence, segment)
    for other in range(index + 1, len(segments)):
        owner = owners[other]
        if owner is None or owner.verb is None:
            continue
        if opened:
            return owner
        words = [place for place in segments[other] if sentence.lower[place] not in BREAKS]
        if owner.subordinate:
            continue
        if words and words[0] == owner.verb:
            return owner
        break
    for other in range(index - 1, -1, -1):
        owner = owners[other]
        if owner is not None and owner.verb is not None and not (owner.subordinate and _closed(owner, segments[other])):
            return owner
    for other in range(index + 1, len(segments)):
        owner = owners[other]
        if owner is not None and owner.verb is not None and not owner.subordinate:
            return owner
    return Clause(None, opened)


def _closed(owner: Clause, segment: list[int]) -> bool:
    """A subordinate clause ends with its verb."""
    return owner.verb is not None and segment[-1] <= owner.verb + 1


def _opens(sentence: Sentence, segment: list[int]) -> bool:
    words = [place for place in segment if sentence.lower[place] not in BREAKS and sentence.lower[place] not in JOINERS]
    for place in words[:2]:
        word = sentence.lower[place]
        if sentence.part(place).startswith(OPENERS) or (
            word in SUBORDINATORS and sentence.part(place).startswith(("KO", "PW"))
        ):
            # A question begins with its question word and has the verb next to it.
            asks = sentence.part(place).startswith("PW") and sentence.part(place + 1).endswith("(FIN)")
            return not (asks and segment[0] == 0)
        if word in SUBORDINATORS and sentence.part(words[-1]).endswith("(FIN)"):
            return True  # `als` and `während` may look like prepositions; the verb at the end says otherwise
        if not sentence.part(place).startswith("AP"):
            return False
    return False


def _segments(sentence: Sentence, finite: list[bool]) -> list[list[int]]:
    pieces: list[list[int]] = [[]]
    for place, word in enumerate(sentence.lower):
        if word in BREAKS and pieces[-1]:
            pieces.append([])
        pieces[-1].append(place)
    segments: list[list[int]] = []
    for piece in pieces:
        current: list[int] = []
        for position, place in enumerate(piece):
            if (
                sentence.lower[place] in JOINERS
                and any(finite[other] for other in current)
                and any(finite[other] for other in piece[position:])
            ):
                segments.append(current)
                current = []
            current.append(place)
        segments.append(current)
    return [segment for segment in segments if segment]
