"""Words as points: the vectors of a vocabulary, and the gender direction among them.

An encoder's vector of a word is the mean over eleven sentences that say almost nothing but the word. The sentences are
those of Bhang et al. (`unmask.lexicon.word_lists`). Sentences are embedded a few words at a time and only the mean of
each word is kept, so memory grows with the words, not with words × sentences.

In the published protocol the sentences are those of the paper's code: the article goes by the letter, and the places of
the vectors are counted in tokens, so in the four sentences with an article the first vector is that of the article.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unmask.errors import UnmaskError, quote
from unmask.lexicon.inflection import plural, singular
from unmask.lexicon.weat import gendered_sentences
from unmask.lexicon.word_lists import word_templates
from unmask.lexicon.words import indefinite_article
from unmask.measures.geometry import LAYERS
from unmask.models.roles import Encoder, Pooling, TokensInSentence, WordInSentence
from unmask.results import Competence
from unmask.statistics.erasure import normalise_rows
from unmask.statistics.proportions import wilson_interval

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.models.word_vectors import Vectors

MOST_CLUSTERED, MOST_CLASSIFIED = 500, 2500
CLUSTERED_SHARE, CLASSIFIED_SHARE = 12, 6
"""In a small vocabulary, one in so many words of each side is clustered, and classified."""
FEWEST_WORDS = 240
"""With these, the tests have 20 words of each side to cluster, and 40 to separate."""
POOLING: Pooling = "first+last"
WORDS_PER_BATCH = 256
MALE, FEMALE = "he", "she"
SIDES = np.array(["female", "male"])
"""The names of the second and of the first side of the gender contrast."""
WORD = "{word}"
GENDERED_PAIRS = tuple(
    pair.split("/")
    for pair in (
        "father/mother dad/mom husband/wife groom/bride uncle/aunt nephew/niece grandfather/grandmother king/queen"
        " prince/princess duke/duchess lord/lady monk/nun wizard/witch actor/actress waiter/waitress hero/heroine"
        " bull/cow rooster/hen stallion/mare lad/lass widower/widow"
    ).split()
)
"""Words that mean a gender, of which no direction is made: the gender direction must sort them."""
FEWEST_PAIRS = 10
"""With fewer pairs that have vectors, that is not checked."""
LEAST_SORTED = 0.75
"""The share of these pairs that must be in order."""

Query = WordInSentence | TokensInSentence


@dataclass(frozen=True)
class Contrast:
    """A direction of length 1, and the position of each word along it: above 0, on the first side."""

    direction: NDArray[np.float64]
    bias: NDArray[np.float64]
    excluded: NDArray[np.intp]
    """The indices of the words that the contrast was made of, which the tests do not use."""
    likeness: float = 0.0
    """The cosine between its two ends."""

    @property
    def spread(self) -> float:
        """The standard deviation of the words along it, without those that it was made of."""
        return float((np.delete(self.bias, self.excluded) if self.excluded.size else self.bias).std())

    def extremes(self, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The indices of the words farthest out on the first side and on the second, the outermost first."""
        order = np.argsort(-self.bias, kind="stable")
        if self.excluded.size:
            order = order[~np.isin(order, self.excluded)]
        return order[:count], order[::-1][:count]

    def select_clustered(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The indices of the words that are clustered, and whether each is of the first side."""
        first, second = self.extremes(min(MOST_CLUSTERED, self.bias.size // CLUSTERED_SHARE))
        return np.concatenate([first, second]), np.arange(first.size + second.size) < first.size

    def select_classified(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The indices of the words of each side that are classified, the outermost first."""
        return self.extremes(min(MOST_CLASSIFIED, self.bias.size // CLASSIFIED_SHARE))


@dataclass(frozen=True)
class Space:
    """Words, their vectors of length 1, and the contrast between men (the first side) and women."""

    words: list[str]
    matrix: NDArray[np.float32]
    gender: Contrast
    vectors: str
    """A description of the vectors."""
    direction: str
    """A description of the gender direction."""
    left_out: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    is_static: bool = False
    """Whether these are word vectors, not those of an encoder."""
    competence: list[Competence] = field(default_factory=list)
    """Whether the gender direction sorts words that mean a gender."""

    def indices(self, words: Sequence[str]) -> NDArray[np.intp]:
        """The indices of those of the words that are in the space."""
        rows = {word: index for index, word in enumerate(self.words)}
        return np.array([rows[word] for word in dict.fromkeys(words) if word in rows], dtype=np.intp)


def make_contrast(first: NDArray[np.floating], second: NDArray[np.floating], matrix: NDArray[np.floating]) -> Contrast:
    """The contrast between two vectors, neither of which is a word of the matrix."""
    ends = np.stack([first, second]).astype(np.float64)
    direction = normalise_rows(ends[:1] - ends[1:])[0]
    likeness = float(np.prod(normalise_rows(ends), axis=0).sum())
    with threadpool_limits(1):  # the last bit depends on the number of threads
        return Contrast(direction, matrix @ direction, np.empty(0, dtype=np.intp), likeness)


def make_space(
    words: Sequence[str],
    matrix: NDArray[np.floating],
    male: NDArray[np.floating],
    female: NDArray[np.floating],
    *,
    unit_ends: bool = False,
    pairs: NDArray[np.floating] | None = None,
    **description: Any,
) -> Space:
    """A space from vectors of any length and the two ends of the gender direction; `description` are its other fields.

    The bias of a word is the cosine of its vector with the direction, which is the difference of the ends, or with
    `unit_ends` of the ends scaled to length 1. Then it is w·m − w·f of the papers, up to the length of m − f. `pairs`
    are the vectors of male and of female words in turn, for the check of competence.
    """
    if len(words) < FEWEST_WORDS:
        raise UnmaskError(
            f"geometry needs {FEWEST_WORDS} words with vectors, and there are {len(words)}; give more words"
        )
    lengths = np.linalg.norm(matrix, axis=1)
    invalid = [word for word, length in zip(words, lengths, strict=True) if not 0 < length < np.inf]
    if invalid:
        raise UnmaskError(
            f"{len(invalid)} words have a vector that is zero or not finite ({quote(invalid)}); leave them out"
        )
    rows = normalise_rows(matrix).astype(np.float32)
    ends = normalise_rows(np.stack([male, female]))
    contrast = make_contrast(ends[0], ends[1], rows) if unit_ends else make_contrast(male, female, rows)
    if not np.abs(contrast.direction).any():
        raise UnmaskError(
            f"the male and the female end of {description['direction']} are the same vector; there is no direction"
        )
    competence = [] if pairs is None else check_pairs(pairs, contrast.direction)
    return Space(list(words), rows, contrast, competence=competence, **description)


def check_pairs(vectors: NDArray[np.floating], direction: NDArray[np.float64]) -> list[Competence]:
    """Whether a direction puts male words beyond their female counterparts; rows are male and female in turn."""
    pairs = len(vectors) // 2
    if pairs < FEWEST_PAIRS:
        return []
    task = "place words such as father and mother on their sides of the gender direction"
    if not np.isfinite(vectors).all():
        return [Competence(task=task, n=pairs, value=None, chance=0.5, least=LEAST_SORTED)]
    positions = (normalise_rows(vectors.astype(np.float64)) @ direction).reshape(-1, 2)
    share = float((positions[:, 0] > positions[:, 1]).mean())
    bounds = wilson_interval(share, pairs)
    return [Competence(task=task, n=pairs, value=share, interval=bounds, chance=0.5, least=LEAST_SORTED)]


def embed_static(words: Sequence[str], vectors: Vectors, *, left_out: dict[str, int] | None = None) -> Space:
    """A space of word vectors; the direction is he − she."""
    for end in (MALE, FEMALE):
        if end not in vectors:
            raise UnmaskError(f"there is no vector for {end!r}, which the gender direction needs; give other vectors")
    embedded, missing = vectors.known(words)
    matrix = vectors.vectors(embedded) if embedded else np.zeros((0, 2), np.float32)
    is_nonzero = np.linalg.norm(matrix, axis=1) > 0
    zeros = {} if is_nonzero.all() else {"with a vector of zeros": int((~is_nonzero).sum())}
    male, female = normalise_rows(vectors.vectors([MALE, FEMALE]))
    gendered = [word for pair in GENDERED_PAIRS if all(word in vectors for word in pair) for word in pair]
    return make_space(
        list(compress(embedded, is_nonzero)),
        matrix[is_nonzero],
        male,
        female,
        pairs=vectors.vectors(gendered) if gendered else None,
        vectors=f"word vectors ({vectors.form})",
        direction="he − she",
        unit_ends=True,
        left_out=(left_out or {}) | zeros,
        missing=missing,
        is_static=True,
    )


def embed_words(
    words: Sequence[str],
    encoder: Encoder,
    *,
    layers: int = LAYERS,
    pooling: Pooling = POOLING,
    published: bool = False,
    left_out: dict[str, int] | None = None,
    progress: Progress | None = None,
) -> Space:
    """A space of an encoder; the direction is between the means of 80 male and of 80 female sentences."""
    make_sentences = make_published_sentences if published else make_word_sentences
    is_missing = np.zeros(len(words), dtype=bool)
    if not published and hasattr(encoder, "unknown"):
        is_missing = np.asarray(encoder.unknown([make_word_sentences(word)[0] for word in words]), dtype=bool)
    embedded, missing = (list(compress(words, is_selected)) for is_selected in (~is_missing, is_missing))
    matrix = _average_sentences(embedded, encoder, make_sentences, layers=layers, pooling=pooling, progress=progress)
    pairs = None if published else _embed_pairs(encoder, layers=layers, pooling=pooling)
    queries: list[Query] = []
    for sentence in gendered_sentences():
        if published:
            text = sentence.text.removesuffix(".")
            token = 1 + len(text[: sentence.span[0]].split())
            queries.append(TokensInSentence(text, token, token + 1))
        else:
            queries.append(WordInSentence(sentence.text, sentence.span))
    gendered = encoder.embed(queries, layers=layers, pooling=pooling)
    genders = np.array([sentence.gender for sentence in gendered_sentences()])
    male, female = (gendered[genders == gender].astype(np.float64).mean(axis=0) for gender in ("male", "female"))
    tokens, direction = f"{pooling} of the word's pieces, mean", "mean of male words minus mean of female words, in 80"
    if published:
        tokens, direction = "tokens at fixed places, sum", "male minus female gender words, in 80"
    return make_space(
        embedded,
        matrix,
        male,
        female,
        pairs=pairs,
        vectors=f"words in 11 sentences, last {layers} layers, {tokens}",
        direction=f"{direction} sentences each{' without a full stop' if published else ''}",
        unit_ends=published,
        left_out=left_out or {},
        missing=missing,
    )


def _embed_pairs(encoder: Encoder, *, layers: int, pooling: Pooling) -> NDArray[np.float32]:
    """The vectors of the gendered pairs that the encoder can read, in a single sentence each."""
    queries = [make_word_sentences(word)[0] for pair in GENDERED_PAIRS for word in pair]
    if hasattr(encoder, "unknown"):
        is_known = ~np.asarray(encoder.unknown(queries), dtype=bool).reshape(-1, 2).any(axis=1)
        queries = list(compress(queries, np.repeat(is_known, 2)))
    return encoder.embed(queries, layers=layers, pooling=pooling) if queries else np.zeros((0, 2), np.float32)


def make_word_sentences(word: str) -> list[WordInSentence]:
    """A word, or a phrase joined by underscores, in each template as English requires."""
    if not word.strip("_- "):
        raise UnmaskError(f"{word!r} is not a word that fits into a sentence; give one with letters")
    forms = {"singular": singular(word).replace("_", " "), "plural": plural(word).replace("_", " ")}
    sentences = []
    for template in word_templates():
        form = forms[template.number]
        before, _, after = template.template.replace("{a}", indefinite_article(form)).partition(WORD)
        sentences.append(WordInSentence(before + form + after, (len(before), len(before) + len(form))))
    return sentences


def make_published_sentences(word: str) -> list[TokensInSentence]:
    """A word in each template, and the two tokens whose vectors the paper's code adds.

    Underscores stay, and their tokens are dropped later. Singular and plural are ours, not those of pattern.en, which
    the code uses.
    """
    sentences = []
    for template in word_templates():
        form = singular(word) if template.number == "singular" else plural(word)
        text = template.template.replace("{a}", published_article(form)).replace(WORD, form)
        start, end = (3, -2) if template.template.endswith(f"{WORD}.") else (2, -4)
        sentences.append(TokensInSentence(text, start, end))
    return sentences


def published_article(word: str) -> str:
    """`a` or `an` as in the code of Bhang et al.: by the letter, and `an` before *honor*."""
    return "an" if word.startswith(("a", "e", "i", "o", "u", "honor")) else "a"


def _average_sentences(
    words: Sequence[str],
    encoder: Encoder,
    make_sentences: Callable[[str], Sequence[Query]],
    *,
    layers: int,
    pooling: Pooling,
    progress: Progress | None,
) -> NDArray[np.float32]:
    """The mean vector of each word over its sentences."""
    averages: NDArray[np.float32] | None = None
    for start in range(0, len(words), WORDS_PER_BATCH):
        batch = [make_sentences(word) for word in words[start : start + WORDS_PER_BATCH]]
        queries = [query for sentences in batch for query in sentences]
        vectors = encoder.embed(queries, layers=layers, pooling=pooling)
        starts = np.cumsum([0, *(len(sentences) for sentences in batch)])[:-1]
        means = np.add.reduceat(vectors, starts, axis=0) / np.array([[len(sentences)] for sentences in batch])
        if averages is None:
            averages = np.empty((len(words), means.shape[1]), dtype=np.float32)
        averages[start : start + len(batch)] = means
        if progress:
            progress(min(start + WORDS_PER_BATCH, len(words)), len(words))
    return np.zeros((0, 2), np.float32) if averages is None else averages
