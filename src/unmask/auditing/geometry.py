"""Run the geometry measure on an encoder, or on word vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import USUAL, Settings
from unmask.errors import UnmaskError
from unmask.measures import geometry
from unmask.measures.geometry import associations
from unmask.measures.geometry.embedding import FEMALE, LAYERS, MALE, static
from unmask.measures.geometry.protocol import Run
from unmask.models.kinds import is_vectors
from unmask.models.loading import load_encoder
from unmask.models.vectors import load_vectors
from unmask.probes import asked as probe

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress

VECTORS = "vectors"
WORDS = "own words"
OF_ENCODERS = ("layers", "pooling", "full")
"""Settings that say nothing of word vectors."""


def measure(model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Measure every vocabulary that is asked for."""
    if "en" not in settings.languages:
        raise UnmaskError(f"geometry asks about English words, not {settings.languages[0]!r} ones; give --language en")
    return of_vectors(model, settings, progress) if is_vectors(model) else of_encoder(model, settings, progress)


def of_vectors(model: Any, settings: Settings, progress: Progress | None) -> Measured:
    """Measure word vectors: the first 50,000 of a file, of which no more are asked about, or where a list is, all.

    Files are in the order of frequency, so that these have the words of the association tests, too.
    """
    _refuse_encoders_settings(settings)
    vectors = load_vectors(model, most=probe.words_read(settings.words, listed=settings.word_list is not None))
    for end in (MALE, FEMALE):
        if end in vectors and not vectors.vectors([end]).any():
            raise UnmaskError(
                f"the vector of {end!r} is all zeros, so there is no gender direction; give other vectors"
            )
    published = settings.protocol == "published"
    if settings.word_list is not None:
        corpus, words = WORDS, probe.own_words(settings.word_list)
    else:
        corpus, words = VECTORS, probe.asked_of(vectors, published=published, offline=settings.loading.offline)
    space = static(words.words, vectors, left_out=words.left_out)
    chosen = {name: value for name, value in settings.resolved("geometry").items() if name not in OF_ENCODERS}
    found = Measured(vectors.info(), chosen | {"geometry_words": [corpus]})
    tests = None if published else associations.of_vectors(vectors, seed=settings.seed)
    _add(found, space, Run("en", corpus, settings.seed, True, settings.contrasts, tests, progress), settings)
    return found


def _refuse_encoders_settings(settings: Settings) -> None:
    """Refuse what word vectors do not have: layers, pieces, another vocabulary."""
    given = [f"--{name}" for name in OF_ENCODERS if getattr(settings, name) != USUAL.get(name, False)]
    given += [f"--corpus {corpus}" for corpus in settings.corpora]
    if given:
        raise UnmaskError(
            f"{given[0]} is for encoders; word vectors have one vector a word, and are asked about all their words;"
            " leave it out"
        )


def of_encoder(model: Any, settings: Settings, progress: Progress | None) -> Measured:
    """Measure an encoder."""
    corpora = corpora_of(settings)
    words = {corpus: _asked(corpus, settings) for corpus in corpora}
    encoder = load_encoder(model, settings.loading)
    protocol = geometry.PROTOCOLS[settings.protocol]
    usual = min(LAYERS, getattr(encoder, "depth", LAYERS))
    layers = usual if settings.layers == LAYERS else settings.layers
    found = Measured(
        info_of(encoder),
        settings.resolved("geometry") | {"layers": layers, "geometry_words": list(corpora)},
    )
    tests = None
    if settings.protocol == "sound":
        tests = associations.of_encoder(encoder, layers=layers, pooling=settings.pooling, seed=settings.seed)
    for corpus in corpora:
        space = protocol.embed(
            words[corpus].words,
            encoder,
            layers=layers,
            pooling=settings.pooling,
            left_out=words[corpus].left_out,
            progress=progress,
        )
        run = Run("en", corpus, settings.seed, False, settings.contrasts, tests, progress)
        _add(found, space, run, settings)
        tests = None  # they are the model's, whatever the words
    return found


def corpora_of(settings: Settings) -> Sequence[str]:
    """Which vocabularies to ask an encoder about."""
    if settings.word_list is not None:
        return (WORDS,)
    named = tuple(corpus for corpus in settings.corpora if corpus in probe.CORPORA)
    return tuple(probe.PUBLISHED) if settings.full else named or (probe.NOUNS,)


def _asked(corpus: str, settings: Settings) -> probe.Asked:
    if settings.word_list is not None:
        return probe.own_words(settings.word_list)
    if corpus == probe.NOUNS:
        return probe.asked_nouns(settings.words or probe.DEFAULT_WORDS)
    published = settings.protocol == "published"
    return probe.asked_vocabulary(corpus, published=published, offline=settings.loading.offline)


def _add(found: Measured, space: geometry.Space, run: Run, settings: Settings) -> None:
    stereotypes = probe.stereotypes(published=settings.protocol == "published")
    items, measurement = geometry.PROTOCOLS[settings.protocol].measure(space, stereotypes, run)
    data = hashlib.sha256("\n".join(space.words).encode()).hexdigest()
    found.add(measurement.model_copy(update={"data_hash": data}), items)
