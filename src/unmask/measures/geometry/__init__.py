"""Geometry: do words that are biased alike lie together, and is that more than the gender direction itself?

Gonen and Goldberg (2019), Lipstick on a Pig; Bhang, Kang and Nam, Lipstick on a Pig "Again". See docs/geometry.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel, Context, Figure, Measure, Scored, implemented_in
from unmask.options import Options, option

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.loading import ModelHandle
    from unmask.report.blocks import Block
    from unmask.results import Comparison, Measurement

LAYERS, POOLING, CONTRASTS = 4, "first+last", 99
NOUNS, VECTORS, WORDS = "nouns", "vectors", "own words"
OF_ENCODERS = ("layers", "pooling", "full")
"""Options that word vectors do not have."""


class GeometryOptions(Options):
    """Which words, and how they become vectors."""

    layers: int = option(LAYERS, "Encoders: average the last N layers.", minimum=1)
    pooling: str = option(
        POOLING,
        "How the tokens of a word become one vector: first+last, mean or first.",
        choices=("first+last", "mean", "first"),
    )
    words: int | None = option(
        None,
        "Ask about the N most frequent words. Default: 2,000 nouns of an encoder, all of a file of word vectors.",
        minimum=1,
    )
    word_list: Path | None = option(None, "A file of your own words, one per line; professions are added.")
    full: bool = option(False, "Encoders: ask about the papers' vocabularies, which takes much longer.")
    contrasts: int = option(
        CONTRASTS,
        "Compare gender with N contrasts between other words; p-values are no finer than 1 in N + 1.",
        minimum=19,
    )

    @model_validator(mode="after")
    def _one_choice_of_words(self) -> GeometryOptions:
        given = [f"--{name}" for name, is_given in self.choices_of_words.items() if is_given]
        if len(given) > 1:
            raise UnmaskError(f"{given[0]} and {given[1]} both say which words geometry asks about; give one of them")
        return self

    @property
    def choices_of_words(self) -> dict[str, bool]:
        """The ways to choose words, and whether each is given."""
        return {"words": self.words is not None, "word-list": self.word_list is not None, "full": self.full}


class GeometryMeasure(Measure):
    """Where words lie along and around the gender direction."""

    name = "geometry"
    question = "Do words of women and of men lie apart, also when the gender direction is removed?"
    citations = (
        "H. Gonen and Y. Goldberg (2019), Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in"
        " Word Embeddings But do not Remove Them. NAACL 2019.",
        "A. Caliskan, J. J. Bryson and A. Narayanan (2017), Semantics derived automatically from language corpora"
        " contain human-like biases. Science 356.",
    )
    roles = ("vectors", "encoder")
    needs = "an encoder such as BERT, or word vectors"
    protocols = ("sound", "published")
    corpora = {
        NOUNS: "frequent nouns",
        "word2vec": "nouns of word2vec’s vocabulary",
        "glove": "nouns of GloVe’s vocabulary",
    }
    other_corpora = {VECTORS: "the words of the file", WORDS: "own words"}
    Options = GeometryOptions
    encoder_options = OF_ENCODERS
    main = False
    keys = ("word",)
    score_column = "bias"
    shown_columns = (
        *("word", "bias", "side", "cluster", "cluster_removed", "predicted", "predicted_removed", "male_neighbours"),
        *("male_neighbours_removed", "stereotype", "words", "model", "compared", "language", "corpus"),
    )
    recorded_columns = "that unmask audit has written"
    column_digits = {"bias": 4}
    spoken_columns = frozenset({"word"})
    primary = "stereotype"
    unit = "stereotype of professions, r"
    compared_items = "words of both models"
    hub_task = "feature-extraction"
    figures = (
        Figure(
            "professions",
            "r of bias with what people say",
            test="stereotype",
            card="r of professions with what people say",
            gate=True,
        ),
        Figure("told apart", "share that a classifier of words gets right"),
        Figure("neighbours", "r of bias with the words around"),
        Figure("WEAT/SEAT", "mean effect size d"),
    )

    def runs_by_default(self, model: ModelHandle, options: Any) -> bool:
        """Beside another measure only in English, in `sound`, and unless options are given that are not its own."""
        if model.kind in ("encoder", "vectors"):
            return True
        others = options.given_names - set(self.Options.model_fields)
        return model.kind != "classifier" and "en" in options.languages and options.protocol == "sound" and not others

    def units(
        self, options: GeometryOptions, context: Context, languages: Sequence[str], corpora: Sequence[str]
    ) -> list[Context]:
        """One context for each vocabulary; words are English, whatever else is measured in other languages."""
        if "en" not in languages:
            raise UnmaskError(f"geometry asks about English words, not {languages[0]!r} ones; give --language en")
        named = [corpus for corpus in corpora if corpus in self.corpora]
        given = [f"--{name}" for name, is_given in options.choices_of_words.items() if is_given]
        if given and named and not (given == ["--words"] and named == [NOUNS]):
            raise UnmaskError(
                f"{given[0]} and --corpus {named[0]} both say which words geometry asks about; give one of them"
            )
        return super().units(options, context, ("en",), named)

    def default_corpora(self, options: GeometryOptions, context: Context) -> Sequence[str]:
        """Frequent nouns, or what the options choose."""
        del context
        if options.word_list is not None:
            return (WORDS,)
        return tuple(self.corpora)[1:] if options.full else (NOUNS,)

    def measure(
        self, model: ModelHandle, options: GeometryOptions, units: Sequence[Context]
    ) -> Iterator[tuple[pd.DataFrame, Measurement]]:
        """Make a space of each vocabulary and put it to the tests; the vectors themselves are not kept."""
        from unmask.measures.geometry.audit import measure_encoder, measure_vectors

        yield from (measure_vectors if model.kind == "vectors" else measure_encoder)(model, options, units)

    def score(self, model: Any, items: Any, options: GeometryOptions, context: Context) -> list[Scored]:
        """The words of one vocabulary with their bias and what the tests made of them."""
        from unmask.models.loading import make_handle

        del items
        return [Scored(frame) for frame, _ in self.measure(make_handle(model), options, [context])]

    def analyse(self, items: pd.DataFrame, context: Context) -> Measurement:
        """The tests that recorded items still allow."""
        from unmask.measures.geometry.protocol import PROTOCOLS

        return PROTOCOLS[context.protocol].analyse(items, context.seed)

    def headline(self, measurement: Measurement) -> list[str]:
        """Whether professions follow stereotypes, and whether gender is left without its direction."""
        from unmask.measures.geometry.interpret import headline

        return headline(measurement)

    def interpret(self, measurement: Measurement) -> Measurement:
        """Add the headline and the caveats."""
        from unmask.measures.geometry.interpret import interpret

        return interpret(measurement)

    def resolved(self, model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options that concern the model, and the vocabularies."""
        from unmask.measures.geometry.audit import layers_used

        found = dict(options)
        if model.kind == "vectors":
            return {name: value for name, value in found.items() if name not in OF_ENCODERS} | {
                "geometry_words": [WORDS if options.word_list else VECTORS]
            }
        return found | {
            "layers": layers_used(model.encoder(), options),
            "geometry_words": [unit.corpus for unit in units],
        }

    def asked_corpora(
        self, measurements: Sequence[Measurement], configuration: dict[str, Any]
    ) -> list[tuple[str, str]]:
        """The papers' vocabularies; other words are chosen by options."""
        if configuration.get("full"):
            return []
        asked = super().asked_corpora(measurements, configuration)
        return [(language, corpus) for language, corpus in asked if corpus in self.corpora and corpus != NOUNS]

    def recognises(self, columns: set[str]) -> bool:
        """Words with their bias and cluster."""
        return {"word", "bias", "cluster"} <= columns

    def read_items(
        self, path: Path, context: Context, *, language: str | None, score_column: str | None
    ) -> pd.DataFrame:
        """Items that an audit has written."""
        from unmask.probes.recorded_words import read_words

        del score_column
        return read_words(path, language, context.protocol)

    def blocks(self, measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
        """Key figures, tables, figures and examples."""
        from unmask.measures.geometry.report import blocks

        return blocks(measurement, items)

    def method(self, measurements: Sequence[Measurement]) -> list[Block]:
        """How it is measured."""
        from unmask.measures.geometry.report import method

        return method(measurements)

    def facts(self, measurement: Measurement) -> list[tuple[str, str]]:
        """What the provenance of a measurement states."""
        from unmask.measures.geometry.report import facts

        return facts(measurement)

    def compare(self, before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
        """The words that were most biased before, put to the tests in both models."""
        from unmask.measures.geometry.compare import compare

        del seed
        return compare(before, after)

    def figure_value(
        self, figure: Figure, measurement: Measurement, comparison: Comparison | None = None
    ) -> float | None:
        """Word tests are in the details; association tests are averaged."""
        from unmask.measures.geometry.figures import figure_value

        return (
            super().figure_value(figure, measurement)
            if figure.test
            else figure_value(figure.name, measurement, comparison)
        )

    comparison_report = implemented_in("comparison_report")
