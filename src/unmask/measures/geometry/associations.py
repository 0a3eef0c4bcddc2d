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

from unmask.lexicon.associations import Association, associations, sentences
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
        found = []
        for asked in sentences(one):
            vectors = encoder.embed(
                [WordInSentence(each.text, each.span) for each in asked], layers=layers, pooling=pooling
            )
            words = np.array([each.word for each in asked])
            found.append(np.stack([vectors[words == word].mean(axis=0) for word in dict.fromkeys(words)]))
        return found

    return _tests(sets, "SEAT", seed)


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
