"""WEAT and SEAT: do words of career, of mathematics and of science go with men, those of family and of the arts with
women?

For word vectors it is WEAT as Caliskan et al. (2017) have it. For an encoder it is SEAT (May et al. 2019) with one
change: a word's vector is the mean over its sentences, so that eight words are eight, and the test over all ways to
divide them is exact; sentences with the same word are no draws of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.lexicon.weat import Association, WordSentence, associations, sentences
from unmask.models.roles import Encoder, Pooling, WordInSentence
from unmask.models.word_vectors import Vectors
from unmask.results import Caveat, Estimate
from unmask.statistics.permutation import Weat, weat

FEWEST = 4
"""Words of a set that must have vectors."""

SHOWN = 5
"""So many of the missing words are named."""

Found = dict[str, NDArray[np.floating]]
"""The vectors of a set, by word."""
Sets = Sequence[Found]


@dataclass(frozen=True)
class Associations:
    """The tests that could be made, and what they went without."""

    tests: dict[str, Estimate]
    words: int
    """Different words of all tests."""
    missing: list[str]
    """Those of them without a vector, or with one of zeros."""
    left_out: list[str]
    """Tests with too few words."""

    def caveats(self) -> list[Caveat]:
        """What to say of the missing words; nothing if none is."""
        if not self.missing:
            return []
        some = ", ".join(self.missing[:SHOWN]) + ("…" if len(self.missing) > SHOWN else "")
        text = f"{len(self.missing):,} of the {self.words:,} words of WEAT have no vector ({some}) and are left out."
        if self.left_out:
            text += f" Too few words are left for {', '.join(self.left_out)}."
        return [Caveat(code="association-words-missing", text=text)]


def of_vectors(vectors: Vectors, *, seed: int) -> Associations:
    """The gender tests of word vectors."""

    def sets(one: Association) -> Sets:
        return [_known([word.text for word in words.words], vectors) for words in one.sets]

    return _tests(sets, "WEAT", seed)


def of_encoder(encoder: Encoder, *, layers: int, pooling: Pooling, seed: int) -> Associations:
    """The gender tests of an encoder."""

    def sets(one: Association) -> Sets:
        return [_means(encoder, asked, layers, pooling) for asked in sentences(one)]

    return _tests(sets, "SEAT", seed)


def _means(encoder: Encoder, asked: Sequence[WordSentence], layers: int, pooling: Pooling) -> Found:
    """The mean vector of each word over its sentences; words that the model has no pieces for are left out."""
    questions = [WordInSentence(each.text, each.span) for each in asked]
    unknown = encoder.unknown(questions) if hasattr(encoder, "unknown") else [False] * len(questions)
    lost = {each.word for each, is_unknown in zip(asked, unknown, strict=True) if is_unknown}
    kept = [at for at, each in enumerate(asked) if each.word not in lost]
    if not kept:
        return {}
    vectors = encoder.embed([questions[at] for at in kept], layers=layers, pooling=pooling)
    words = np.array([asked[at].word for at in kept])
    return _somewhere({str(word): vectors[words == word].mean(axis=0) for word in dict.fromkeys(words)})


def _tests(sets: Callable[[Association], Sets], kind: str, seed: int) -> Associations:
    found: dict[str, Estimate] = {}
    left_out: list[str] = []
    is_there: dict[str, bool] = {}
    for one in associations():
        name, vectors = f"{kind} {one.name}", sets(one)
        for words, some in zip(one.sets, vectors, strict=True):
            is_there |= {word.text: word.text in some for word in words.words}
        if min(len(some) for some in vectors) < FEWEST:
            left_out.append(name)
            continue
        x, y, a, b = (np.stack(list(some.values())) for some in vectors)
        found[name] = _test(name, one, weat(x, y, a, b, alternative="two-sided", seed=seed))
    return Associations(found, len(is_there), [word for word, there in is_there.items() if not there], left_out)


def _test(name: str, one: Association, result: Weat) -> Estimate:
    return Estimate(
        labels={"contrast": "association", "test": name},
        question=one.question,
        n=result.n_x + result.n_y,
        value=result.effect_size,
        interval=result.interval,
        statistic=result.statistic,
        statistic_name="sum of associations",
        p_value=result.p_value,
        effect_size=result.effect_size,
        effect_size_name="d",
        effect_size_interval=result.interval,
    )


def _known(words: Sequence[str], vectors: Vectors) -> Found:
    """Words that have a vector, as they are written or in lower case."""
    spelled = {word: next((form for form in (word, word.lower()) if form in vectors), None) for word in words}
    return _somewhere({word: vectors.vectors([form])[0] for word, form in spelled.items() if form is not None})


def _somewhere(found: Found) -> Found:
    """Without vectors of zeros, which point nowhere."""
    return {word: vector for word, vector in found.items() if vector.any()}
