"""WEAT and SEAT: do words of career, of mathematics and of science go with men, those of family and of the arts with
women?

For word vectors it is WEAT as Caliskan et al. (2017) have it. For an encoder it is SEAT (May et al. 2019) with one
change: a word's vector is the mean over its sentences, so that eight words are eight, and the test over all ways to
divide them is exact; sentences with the same word are no draws of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.lexicon.associations import Association, WordSentence, associations, sentences
from unmask.models.interfaces import Encoder, Pooling, WordInSentence
from unmask.models.vectors import Vectors
from unmask.results import Test
from unmask.statistics.weat import Weat, weat

FEWEST = 4
"""Words of a set that must have vectors."""

Sets = Sequence[NDArray[np.floating]]


def of_vectors(vectors: Vectors, *, seed: int) -> dict[str, Test]:
    """The gender tests of word vectors."""

    def sets(one: Association) -> Sets:
        return [vectors.vectors(_known([word.text for word in words.words], vectors)) for words in one.sets]

    return _tests(sets, "WEAT", seed)


def of_encoder(encoder: Encoder, *, layers: int, pooling: Pooling, seed: int) -> dict[str, Test]:
    """The gender tests of an encoder."""

    def sets(one: Association) -> Sets:
        return [_means(encoder, asked, layers, pooling) for asked in sentences(one)]

    return _tests(sets, "SEAT", seed)


def _means(encoder: Encoder, asked: Sequence[WordSentence], layers: int, pooling: Pooling) -> NDArray[np.floating]:
    """The mean vector of each word over its sentences; words that the model has no pieces for are left out."""
    questions = [WordInSentence(each.text, each.span) for each in asked]
    unknown = encoder.unknown(questions) if hasattr(encoder, "unknown") else [False] * len(questions)
    lost = {each.word for each, is_unknown in zip(asked, unknown, strict=True) if is_unknown}
    kept = [at for at, each in enumerate(asked) if each.word not in lost]
    if not kept:
        return np.zeros((0, 1))
    vectors = encoder.embed([questions[at] for at in kept], layers=layers, pooling=pooling)
    words = np.array([asked[at].word for at in kept])
    return np.stack([vectors[words == word].mean(axis=0) for word in dict.fromkeys(words)])


def _tests(sets: Callable[[Association], Sets], kind: str, seed: int) -> dict[str, Test]:
    found = {}
    for one in associations():
        vectors = sets(one)
        if min(len(some) for some in vectors) >= FEWEST:
            name = f"{kind} {one.name}"
            found[name] = _test(name, one, weat(*vectors, alternative="two-sided", seed=seed))
    return found


def _test(name: str, one: Association, result: Weat) -> Test:
    return Test(
        labels={"contrast": "association", "test": name},
        question=one.question,
        n=result.n_x + result.n_y,
        estimate=result.effect_size,
        interval=result.interval,
        statistic=result.statistic,
        statistic_name="sum of associations",
        p_value=result.p_value,
        effect_size=result.effect_size,
        effect_size_name="d",
        effect_size_interval=result.interval,
    )


def _known(words: Sequence[str], vectors: Vectors) -> list[str]:
    """Words that have a vector, as they are written or in lower case."""
    spelled = [next((form for form in (word, word.lower()) if form in vectors), None) for word in words]
    return [word for word in spelled if word is not None]
