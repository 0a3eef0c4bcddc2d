"""Hard debiasing of word vectors: neutralise and equalise (Bolukbasi et al. 2016).

All vectors are brought to length 1. The gender direction g is the first principal component of the definitional pairs,
each centred on its own mean. Every word but those that mean a gender is *neutralised*: its part along g is taken away,
and its length brought back to 1. Then each pair to *equalise* is put symmetrically: with μ the mean of the pair and
ν = μ - (μ·g)g, its words become ν ± √(1 - |ν|²) g, so that every neutral word is equally near to both.

What this hides rather than removes is the subject of Gonen and Goldberg (2019): neutralised words that were biased the
same way still lie together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.gender import gender_words
from unmask.lexicon.table import read_rows
from unmask.lexicon.word_lists import DEFINITIONAL_PAIRS
from unmask.mitigations.method import Job, Method
from unmask.models.word_vectors import FORMATS, Vectors
from unmask.options import Options, option
from unmask.statistics.erasure import normalise_rows

Pairs = Sequence[tuple[str, str]]


class HardDebiasOptions(Options):
    """Lists of your own, in place of the built-in ones."""

    definitional: str | None = option(
        None, "CSV with the columns female and male: the pairs that define gender.", path=True
    )
    equalise: str | None = option(None, "CSV with the columns female and male: the pairs to equalise.", path=True)
    format: str | None = option(
        None, "word2vec, word2vec-text or glove. Default: the format of the file.", choices=FORMATS
    )


@dataclass(frozen=True)
class HardDebiased:
    """Debiased vectors, and what was done to them."""

    vectors: Vectors
    direction: NDArray[np.float64]
    """Of length 1, from male to female."""
    neutralised: int
    equalised: list[tuple[str, str]]


def hard_debias(
    vectors: Vectors,
    *,
    definitional: Pairs = DEFINITIONAL_PAIRS,
    equalise: Pairs | None = None,
    specific: Iterable[str] | None = None,
) -> HardDebiased:
    """Debias word vectors.

    `definitional` pairs define the direction, `equalise` pairs are put symmetrically, and the words in `specific` keep
    their gender. By default the last two are the lexicon's pairs and gendered words.
    """
    lexicon = gender_words("all").words
    if equalise is None:
        equalise = [
            (word, term.male)
            for word, term in lexicon.items()
            if term.gender == "female" and word not in ("her", "hers")
            if term.male in lexicon and lexicon[term.male].female == word
        ]
    keep = set(lexicon if specific is None else specific)
    keep |= {word for pair in (*definitional, *equalise) for word in pair}
    matrix = normalise_rows(vectors.matrix)
    direction = gender_direction(vectors, definitional)
    neutral = np.array([word.lower().replace("_", " ") not in keep and word not in keep for word in vectors.words])
    matrix[neutral] = normalise_rows(matrix[neutral] - np.outer(matrix[neutral] @ direction, direction))
    spellings: dict[tuple[str, str], None] = {}
    for female, male in equalise:
        for write in (str, str.lower, str.title, str.upper):
            pair = (write(female), write(male))
            if pair[0] in vectors and pair[1] in vectors and pair[0] != pair[1]:
                spellings[pair] = None
    for pair in spellings:
        rows = [vectors.find_row(word) for word in pair]
        matrix[rows] = equalise_pair(matrix[rows], direction)
    debiased = Vectors(vectors.words, matrix.astype(np.float32))
    return HardDebiased(debiased, direction, int(neutral.sum()), list(spellings))


def gender_direction(vectors: Vectors, pairs: Pairs = DEFINITIONAL_PAIRS) -> NDArray[np.float64]:
    """Compute the first principal component of the pairs, each centred; of length 1, pointing to the female words."""
    present = [pair for pair in pairs if all(word in vectors for word in pair)]
    if len(present) < 2:
        raise UnmaskError(
            f"only {len(present)} of {len(pairs)} definitional pairs have vectors, and a direction needs 2; give other"
            " vectors, or pairs of their language and case"
        )
    ends = np.stack([normalise_rows(vectors.vectors(pair)) for pair in present])
    centred = ends - ends.mean(axis=1, keepdims=True)
    _, _, components = np.linalg.svd(centred.reshape(-1, centred.shape[-1]), full_matrices=False)
    direction: NDArray[np.float64] = components[0]
    return direction if ((ends[:, 0] - ends[:, 1]) @ direction).sum() > 0 else -direction


def equalise_pair(pair: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put two vectors of length 1 at equal distance from everything that has no part along the direction."""
    mean = pair.mean(axis=0)
    shared = mean - (mean @ direction) * direction
    along = np.sqrt(max(0.0, 1.0 - shared @ shared))
    side = 1.0 if (pair[0] - pair[1]) @ direction >= 0 else -1.0
    return np.stack([shared + side * along * direction, shared - side * along * direction])


def apply(job: Job) -> dict[str, Any]:
    """Neutralise and equalise the vectors."""
    subject, options = job.subject, job.options
    if job.language != "en":
        raise UnmaskError(f"the words that keep their gender are English, not {job.language!r}; leave out --language")
    pairs: dict[str, Any] = {
        name: [(row["female"], row["male"]) for row in read_rows(Path(path), "en", "pairs", ("female", "male"))]
        for name in ("definitional", "equalise")
        if (path := getattr(options, name))
    }
    result = hard_debias(subject.vectors, **pairs)
    before, after = (
        float(np.abs(normalise_rows(vectors.matrix) @ result.direction).mean())
        for vectors in (subject.vectors, result.vectors)
    )
    form = options.format or subject.vectors.form
    if form != subject.vectors.form:
        compressed = ".gz" if subject.file.endswith(".gz") else ""
        stem = Path(subject.file.removesuffix(".gz")).stem
        subject.file = f"{stem}{'.bin' if form == 'word2vec' else '.txt'}{compressed}"
    subject.vectors = replace(result.vectors, form=form)
    return {
        "neutralised": result.neutralised,
        "equalised": [list(pair) for pair in result.equalised],
        "mean_part_along_gender": {"before": before, "after": after},
    }


METHOD = Method(
    about="Word vectors lose their part along the gender direction (neutralise), and pairs such as she and he are put"
    " symmetrically (equalise).",
    citation="Bolukbasi et al. (2016), Man is to Computer Programmer as Woman is to Homemaker? Debiasing Word"
    " Embeddings",
    options=HardDebiasOptions,
    apply=apply,
    changes="vectors",
    needs_text=False,
)
