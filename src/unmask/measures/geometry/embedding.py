"""From words to a space: an encoder's vectors of words in sentences, or word vectors as they are.

Sentences are made and embedded some words at a time, and only the sum of each word's vectors is kept, so memory grows
with the words, not with words × sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.weat import gendered_sentences
from unmask.measures.geometry.space import Space, make
from unmask.models.roles import Encoder, Pooling, TokensInSentence, WordInSentence
from unmask.probes.words import in_sentences as sentences_of
from unmask.probes.words import published_in_sentences as published_sentences_of
from unmask.statistics.erasure import normalise_rows

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.models.word_vectors import Vectors

WORDS_AT_ONCE = 256
LAYERS = 4
POOLING: Pooling = "first+last"
MALE, FEMALE = "he", "she"

Question = WordInSentence | TokensInSentence


def contextual(
    words: Sequence[str],
    encoder: Encoder,
    *,
    layers: int = LAYERS,
    pooling: Pooling = POOLING,
    left_out: dict[str, int] | None = None,
    progress: Progress | None = None,
) -> Space:
    """The mean of a word's vectors in 11 sentences; the direction is between the means of 80 male and female ones."""
    asked: list[tuple[Question, str]] = [
        (WordInSentence(one.text, one.span), one.gender) for one in gendered_sentences()
    ]
    known, unknown = _known(encoder, words)
    matrix = in_sentences(known, encoder, sentences_of, layers=layers, pooling=pooling, progress=progress)
    return make(
        known,
        matrix,
        *_ends(encoder, asked, layers, pooling),
        vectors=f"words in 11 sentences, last {layers} layers, {pooling} of the word's pieces, mean",
        direction="mean of male words minus mean of female words, in 80 sentences each",
        left_out=left_out,
        missing=unknown,
    )


def published_contextual(
    words: Sequence[str],
    encoder: Encoder,
    *,
    layers: int = LAYERS,
    pooling: Pooling = POOLING,
    left_out: dict[str, int] | None = None,
    progress: Progress | None = None,
) -> Space:
    """As the paper's code has it: tokens at fixed places, the article in four sentences of eleven among them."""
    questions: list[tuple[Question, str]] = []
    for one in gendered_sentences():
        text = one.text.removesuffix(".")
        place = 1 + len(text[: one.span[0]].split())
        questions.append((TokensInSentence(text, place, place + 1), one.gender))
    matrix = in_sentences(words, encoder, published_sentences_of, layers=layers, pooling=pooling, progress=progress)
    return make(
        words,
        matrix,
        *_ends(encoder, questions, layers, pooling),
        vectors=f"words in 11 sentences, last {layers} layers, tokens at fixed places, sum",
        direction="male minus female gender words, in 80 sentences each without a full stop",
        unit_ends=True,
        left_out=left_out,
    )


def static(words: Sequence[str], vectors: Vectors, *, left_out: dict[str, int] | None = None) -> Space:
    """Word vectors as they are; the direction is he − she."""
    for end in (MALE, FEMALE):
        if end not in vectors:
            raise UnmaskError(f"there is no vector for {end!r}, which the gender direction needs; give other vectors")
    known = [word for word in words if word in vectors]
    matrix = vectors.vectors(known) if known else np.zeros((0, 2), np.float32)
    there = np.linalg.norm(matrix, axis=1) > 0
    lost = dict(left_out or {})
    if not there.all():
        lost["with a vector of zeros"] = int((~there).sum())
    male, female = normalise_rows(vectors.vectors([MALE, FEMALE]))
    return make(
        [word for word, is_there in zip(known, there, strict=True) if is_there],
        matrix[there],
        male,
        female,
        vectors=f"word vectors ({vectors.form})",
        direction="he − she",
        unit_ends=True,
        left_out=lost,
        missing=[word for word in words if word not in vectors],
    )


def in_sentences(
    words: Sequence[str],
    encoder: Encoder,
    sentences: Callable[[str], Sequence[Question]],
    *,
    layers: int,
    pooling: Pooling,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """The mean vector of each word over its sentences."""
    found: NDArray[np.float32] | None = None
    for start in range(0, len(words), WORDS_AT_ONCE):
        some = [sentences(word) for word in words[start : start + WORDS_AT_ONCE]]
        vectors = encoder.embed([one for each in some for one in each], layers=layers, pooling=pooling)
        starts = np.cumsum([0, *(len(each) for each in some)])[:-1]
        means = np.add.reduceat(vectors, starts, axis=0) / np.array([[len(each)] for each in some])
        if found is None:
            found = np.empty((len(words), means.shape[1]), dtype=np.float32)
        found[start : start + len(some)] = means
        if progress:
            progress(min(start + WORDS_AT_ONCE, len(words)), len(words))
    return np.zeros((0, 2), np.float32) if found is None else found


def _known(encoder: Encoder, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words that the encoder has pieces for, and those that it has not."""
    if not hasattr(encoder, "unknown"):
        return list(words), []
    unknown = encoder.unknown([sentences_of(word)[0] for word in words])
    known = [word for word, is_unknown in zip(words, unknown, strict=True) if not is_unknown]
    return known, [word for word, is_unknown in zip(words, unknown, strict=True) if is_unknown]


def _ends(
    encoder: Encoder, questions: Sequence[tuple[Question, str]], layers: int, pooling: Pooling
) -> list[NDArray[np.float64]]:
    """The mean vectors of the male and of the female questions."""
    vectors = encoder.embed([question for question, _ in questions], layers=layers, pooling=pooling)
    genders = np.array([gender for _, gender in questions])
    return [vectors[genders == side].astype(np.float64).mean(axis=0) for side in ("male", "female")]
