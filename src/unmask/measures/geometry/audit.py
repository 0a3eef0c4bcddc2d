"""From a model to spaces of words, and from these to items and measurements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.geometry import LAYERS, NOUNS, OF_ENCODERS, VECTORS, WORDS, GeometryOptions, associations
from unmask.measures.geometry.embedding import FEMALE, MALE, static
from unmask.measures.geometry.protocol import PROTOCOLS, Run
from unmask.measures.geometry.space import Space
from unmask.probes import asked as probe

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.models.loading import ModelHandle
    from unmask.results import Measurement

Measured = tuple["pd.DataFrame", "Measurement"]


def measure_vectors(model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> Iterator[Measured]:
    """Measure word vectors: the first 50,000 of a file, of which no more are asked about, or all where a list is given.

    Files are in the order of frequency, so that these have the words of the association tests, too.
    """
    _refuse_encoder_options(options, [unit.corpus for unit in units])
    context = units[0]
    vectors = model.vectors(most=probe.words_read(options.words, listed=options.word_list is not None))
    for end in (MALE, FEMALE):
        if end in vectors and not vectors.vectors([end]).any():
            raise UnmaskError(
                f"the vector of {end!r} is all zeros, so there is no gender direction; give other vectors"
            )
    published = context.protocol == "published"
    if options.word_list is not None:
        corpus, words = WORDS, probe.own_words(options.word_list)
    else:
        corpus, words = VECTORS, probe.asked_of(vectors, published=published, offline=context.offline)
    space = static(words.words, vectors, left_out=words.left_out)
    tests = None if published else associations.of_vectors(vectors, seed=context.seed)
    yield _measure(space, Run("en", corpus, context.seed, True, options.contrasts, tests, context.progress), context)


def _refuse_encoder_options(options: GeometryOptions, corpora: Sequence[str]) -> None:
    """Word vectors have no layers, no tokens and no other vocabulary."""
    defaults = {name: field.default for name, field in type(options).model_fields.items()}
    given = [f"--{name}" for name in OF_ENCODERS if getattr(options, name) != defaults[name]]
    given += [f"--corpus {corpus}" for corpus in corpora if corpus not in (NOUNS, WORDS)]
    if given:
        raise UnmaskError(
            f"{given[0]} is for encoders; word vectors have one vector per word, and all their words are asked about;"
            " leave it out"
        )


def measure_encoder(model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> Iterator[Measured]:
    """Measure an encoder."""
    words = [_choose_words(options, unit) for unit in units]
    encoder = model.encoder()
    layers = layers_used(encoder, options)
    how: dict[str, Any] = {"layers": layers, "pooling": options.pooling}
    tests = None
    if units[0].protocol == "sound":
        tests = associations.of_encoder(encoder, **how, seed=units[0].seed)
    for unit, asked in zip(units, words, strict=True):
        embed = PROTOCOLS[unit.protocol].embed
        space = embed(asked.words, encoder, **how, left_out=asked.left_out, progress=unit.progress)
        run = Run("en", unit.corpus, unit.seed, False, options.contrasts, tests, unit.progress)
        yield _measure(space, run, unit)
        tests = None  # they are the model's, whatever the words


def layers_used(encoder: Any, options: GeometryOptions) -> int:
    """How many layers are averaged: all of a model that has fewer than the default."""
    return min(LAYERS, getattr(encoder, "depth", LAYERS)) if options.layers == LAYERS else options.layers


def _choose_words(options: GeometryOptions, context: Context) -> probe.Asked:
    if options.word_list is not None:
        return probe.own_words(options.word_list)
    if context.corpus == NOUNS:
        return probe.asked_nouns(options.words or probe.DEFAULT_WORDS)
    return probe.asked_vocabulary(context.corpus, published=context.protocol == "published", offline=context.offline)


def _measure(space: Space, run: Run, context: Context) -> Measured:
    stereotypes = probe.stereotypes(published=context.protocol == "published")
    items, measurement = PROTOCOLS[context.protocol].measure(space, stereotypes, run)
    data_hash = hashlib.sha256("\n".join(space.words).encode()).hexdigest()
    return items, measurement.model_copy(update={"data_hash": data_hash})
