"""WEAT and SEAT: are words of career, mathematics and science associated with men, and those of family and arts with
women?

Word vectors are tested by WEAT as in Caliskan et al. (2017). Encoders are tested by SEAT (May et al. 2019) with one
change: the vector of a word is the mean over its sentences, so eight words count as eight and the test over all
partitions is exact. Sentences with the same word are not independent draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.lexicon.weat import Association, WordSentence, associations, sentences
from unmask.models.roles import Encoder, Pooling, WordInSentence
from unmask.models.word_vectors import Vectors
from unmask.results import Caveat, Estimate
from unmask.statistics.permutation import weat

FEWEST_WORDS = 4
"""How many words of each set must have vectors."""
SHOWN_WORDS = 5
"""How many of the missing words a caveat names."""

WordVectors = dict[str, NDArray[np.floating]]
"""The vectors of a set of words, without vectors of zeros, which have no direction."""


@dataclass(frozen=True)
class AssociationTests:
    """The association tests by name, and caveats about missing words."""

    tests: dict[str, Estimate] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)


def measure_weat(vectors: Vectors, *, seed: int) -> AssociationTests:
    """The gender tests of word vectors; a word may also be there in lower case."""

    def find_words(association: Association) -> list[WordVectors]:
        return [_find_vectors([word.text for word in words.words], vectors) for words in association.sets]

    return _run_tests("WEAT", find_words, seed)


def measure_seat(encoder: Encoder, *, layers: int, pooling: Pooling, seed: int) -> AssociationTests:
    """The gender tests of an encoder."""

    def embed_words(association: Association) -> list[WordVectors]:
        return [_average_sentences(encoder, queries, layers, pooling) for queries in sentences(association)]

    return _run_tests("SEAT", embed_words, seed)


def _find_vectors(words: Sequence[str], vectors: Vectors) -> WordVectors:
    forms = {word: next((form for form in (word, word.lower()) if form in vectors), None) for word in words}
    return {word: vectors.vectors([form])[0] for word, form in forms.items() if form is not None}


def _average_sentences(
    encoder: Encoder, word_sentences: Sequence[WordSentence], layers: int, pooling: Pooling
) -> WordVectors:
    """The mean vector of each word over its sentences, without words that the model does not know."""
    queries = [WordInSentence(sentence.text, sentence.span) for sentence in word_sentences]
    unknown = encoder.unknown(queries) if hasattr(encoder, "unknown") else [False] * len(queries)
    lost = {sentence.word for sentence, is_unknown in zip(word_sentences, unknown, strict=True) if is_unknown}
    kept = [index for index, sentence in enumerate(word_sentences) if sentence.word not in lost]
    if not kept:
        return {}
    vectors = encoder.embed([queries[index] for index in kept], layers=layers, pooling=pooling)
    words = np.array([word_sentences[index].word for index in kept])
    return {str(word): vectors[words == word].mean(axis=0) for word in dict.fromkeys(words)}


def _run_tests(name: str, find_vectors: Callable[[Association], list[WordVectors]], seed: int) -> AssociationTests:
    tests: dict[str, Estimate] = {}
    left_out: list[str] = []
    has_vector: dict[str, bool] = {}
    for association in associations():
        title = f"{name} {association.name}"
        sets = [{word: vector for word, vector in words.items() if vector.any()} for words in find_vectors(association)]
        for words, vectors in zip(association.sets, sets, strict=True):
            has_vector |= {word.text: word.text in vectors for word in words.words}
        if min(map(len, sets)) < FEWEST_WORDS:
            left_out.append(title)
            continue
        x, y, a, b = (np.stack(list(vectors.values())) for vectors in sets)
        result = weat(x, y, a, b, alternative="two-sided", seed=seed)
        tests[title] = Estimate(
            labels={"contrast": "association", "test": title},
            question=association.question,
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
    missing = [word for word, is_there in has_vector.items() if not is_there]
    if not missing:
        return AssociationTests(tests)
    examples = ", ".join(missing[:SHOWN_WORDS]) + ("…" if len(missing) > SHOWN_WORDS else "")
    text = f"{len(missing):,} of the {len(has_vector):,} words of WEAT have no vector ({examples}) and are left out."
    if left_out:
        text += f" Too few words are left for {', '.join(left_out)}."
    return AssociationTests(tests, [Caveat(code="association-words-missing", text=text)])
