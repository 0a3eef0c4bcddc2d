"""Geometry: do words with the same bias lie together, and is that more than the gender direction itself?

H. Gonen and Y. Goldberg (2019), Lipstick on a Pig; Bhang, Kang and Nam, Lipstick on a Pig "Again". See
docs/geometry.md. `Geometry` and `GeometryChange` are the details of its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from unmask.errors import UnmaskError
from unmask.measures.base import Context, KeyEstimate, Measure, Scored, implemented_in
from unmask.options import Options, option
from unmask.results import Interval, Measurement, Record

if TYPE_CHECKING:
    from unmask.models.handle import ModelHandle

LAYERS, POOLING, CONTRASTS = 4, "first+last", 99
NOUNS, VECTORS, WORDS = "nouns", "vectors", "own words"
OWN = "own"
"""Marks items and tests of the words that are most biased in the model itself, not in another one."""
OF_ENCODERS = ("layers", "pooling", "full")
"""Options that word vectors do not have."""


class GeometryOptions(Options):
    """Which words, and how they become vectors."""

    layers: int = option(LAYERS, "Encoders: concatenate the last N layers.", minimum=1)
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
    def _check_word_options(self) -> GeometryOptions:
        options = self.word_options
        if len(options) > 1:
            raise UnmaskError(f"{options[0]} and {options[1]} both select the words of geometry; give one of them")
        return self

    @property
    def word_options(self) -> list[str]:
        """The options that are set and select words."""
        is_set = {"--words": self.words is not None, "--word-list": self.word_list is not None, "--full": self.full}
        return [name for name, value in is_set.items() if value]


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
    corpus_descriptions = {
        NOUNS: "in the package, for encoders",
        "word2vec": "the papers’ vocabulary, for encoders",
        "glove": "the papers’ vocabulary, for encoders",
    }
    other_corpora = {VECTORS: "the words of the file", WORDS: "own words"}
    user_corpora = (WORDS,)
    Options = GeometryOptions
    encoder_options = OF_ENCODERS
    main = False
    keys = ("word",)
    score_column = "bias"
    shown_columns = (
        *("word", "bias", "side", "cluster", "cluster_removed", "predicted", "predicted_removed", "male_neighbours"),
        *("male_neighbours_removed", "stereotype", "words", "model", "compared", "language", "corpus"),
    )
    recorded_columns = "those that unmask audit has written"
    column_digits = {"bias": 4}
    spoken_columns = frozenset({"word"})
    primary = "stereotype"
    margin = 0.1
    deciding_change = "classification"
    unit = "stereotype of professions, r"
    compared_items = "words of both models"
    hub_task = "feature-extraction"
    trial_options = {"words": 400}
    key_estimates = (
        KeyEstimate(
            "professions",
            "r of bias with what people say",
            test="stereotype",
            card="r of professions with what people say",
            gate=True,
        ),
        KeyEstimate("told apart", "share that a classifier of words gets right"),
        KeyEstimate("neighbours", "r of bias with the words around"),
        KeyEstimate("WEAT/SEAT", "mean effect size d"),
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
            raise UnmaskError(f"geometry measures English words, not {languages[0]!r}; give --language en")
        named = [corpus for corpus in corpora if corpus in self.corpora]
        word_options = options.word_options
        if word_options and named and not (word_options == ["--words"] and named == [NOUNS]):
            raise UnmaskError(
                f"{word_options[0]} and --corpus {named[0]} both select the words of geometry; give one of them"
            )
        return super().units(options, context, ("en",), named)

    def default_corpora(self, options: GeometryOptions, context: Context) -> Sequence[str]:
        """Frequent nouns, or what the options choose."""
        del context
        if options.word_list is not None:
            return (WORDS,)
        return tuple(self.corpora)[1:] if options.full else (NOUNS,)

    def score(self, model: Any, items: Any, options: GeometryOptions, context: Context) -> list[Scored]:
        """The words of one vocabulary with their bias and the results of the tests."""
        from unmask.models.handle import make_handle

        del items
        return [Scored(frame) for frame, _ in self.measure(make_handle(model), options, [context])]

    def resolved(self, model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options that concern the model, and the vocabularies."""
        from unmask.measures.geometry.scoring import count_layers

        if model.kind == "vectors":
            used = {name: value for name, value in dict(options).items() if name not in OF_ENCODERS}
            return used | {"geometry_words": [WORDS if options.word_list else VECTORS]}
        layers = count_layers(model.encoder(), options)
        return dict(options) | {"layers": layers, "geometry_words": [unit.corpus for unit in units]}

    def asked_corpora(
        self, measurements: Sequence[Measurement], configuration: dict[str, Any]
    ) -> list[tuple[str, str]]:
        """The papers' vocabularies; other words are chosen by options."""
        if configuration.get("full"):
            return []
        corpora = super().asked_corpora(measurements, configuration)
        return [(language, corpus) for language, corpus in corpora if corpus in self.corpora and corpus != NOUNS]

    def recognises(self, columns: set[str]) -> bool:
        """Words with their bias and cluster."""
        return {"word", "bias", "cluster"} <= columns

    def adjust_tests(self, measurement: Measurement) -> Measurement:
        """As for any measure; intervals of association tests also get the level at which these are judged."""
        from unmask.measures.geometry.word_tests import widen_interval

        adjusted = super().adjust_tests(measurement)
        sizes = adjusted.details.get("targets", {})
        tests = {
            name: widen_interval(test, sizes[name]) if name in sizes else test for name, test in adjusted.tests.items()
        }
        return adjusted.model_copy(update={"tests": tests})

    measure = implemented_in("scoring")
    read_items = implemented_in("analysis")
    analyse = implemented_in("analysis")
    headline = implemented_in("analysis")
    interpret = implemented_in("analysis")
    blocks = implemented_in("report")
    method = implemented_in("report")
    compare = implemented_in("compare")
    key_estimate_value = implemented_in("compare")
    comparison_report = implemented_in("comparison_report")


class Matching(Record):
    """How like gender the unrelated contrasts are."""

    contrasts: int
    spread: float
    """The standard deviation of all words along the gender direction."""
    likeness: float
    """The cosine between its two ends."""
    mean_spread: float
    spreads: Interval
    """The lowest and the highest of the contrasts."""
    mean_likeness: float
    likenesses: Interval
    comparable: bool
    """Whether both means are near enough to gender's."""
    examples: list[str] = Field(default_factory=list)
    """Some of the contrasts, by the words of their two groups."""


class Reference(Record):
    """The values of unrelated contrasts in a test, to compare gender with."""

    contrasts: int
    mean: float
    low: float
    high: float
    """95 % of further contrasts are expected between `low` and `high`."""
    p_value: float | None
    """Two-sided, of the hypothesis that gender is one more such contrast."""
    reached: int
    """How many contrasts reach the value of gender."""
    values: list[float] = Field(default_factory=list)
    """Of each contrast, so that another model can be compared with them."""


class WordTest(Record):
    """How well one test separates words of opposite bias."""

    name: str
    """clustering, probe, classification or neighbours."""
    words: str
    """By whose bias the words were selected: `own`, or the name of the model before."""
    removed: bool
    """Whether the gender direction was removed first."""
    n: int
    """Words, or professions for neighbours."""
    value: float | None
    """The share of words on the correct side; for neighbours, a correlation."""
    interval: Interval | None = None
    """Over other words; none for clusters, which all words form together."""
    as_tight: Interval | None = None
    """For clusters: the lowest and highest value of clusters that are as tight."""
    v_measure: float | None = None
    chance: float | None = None
    """The mean value with shuffled labels."""
    chance_high: float | None = None
    """97.5 % of shuffled labels stay below."""
    p_chance: float | None = None
    """The share of shuffles that reach the value; tiny for any direction, since words were selected by it."""
    reference: Reference | None = None

    @property
    def accuracy(self) -> float | None:
        """The value to show. Clusters have no names, but the papers' code compares their numbers: 6 % means 94 %."""
        is_reversed = self.name == "clustering" and self.value is not None and self.value < 0.5
        return 1 - self.value if is_reversed and self.value is not None else self.value


class ClusterCount(Record):
    """The most biased words in a number of clusters, each of which counts as the side of most of its words."""

    clusters: int
    removed: bool
    accuracy: float
    v_measure: float
    chance: float
    chance_high: float
    p_chance: float | None = None
    """The share of shuffled labels that reach the accuracy."""


class Neighbourhood(Record):
    """A profession, its bias, and the share of male words (above the median word) among those nearest to it."""

    profession: str
    bias: float
    male: float
    male_removed: float | None = None
    """The same without the gender direction."""
    stereotype: float | None = None
    """People's view, from −1 (female) to 1 (male)."""


class BiasedWord(Record):
    """A word and its bias; above 0 is the male side."""

    word: str
    bias: float


class Geometry(Record):
    """The details of a measurement."""

    vectors: str
    """A description of the vectors."""
    direction: str
    """A description of the gender direction."""
    likeness: float
    """The cosine between its two ends."""
    dimensions: int
    words: int
    left_out: dict[str, int] = Field(default_factory=dict)
    """Words that were not measured, counted by reason."""
    missing: list[str] = Field(default_factory=list)
    """Requested words that have no vector."""
    male_share: float
    """The share of words with a bias above 0."""
    matching: Matching | None = None
    """How like gender the unrelated contrasts are; None if there are none."""
    tests: list[WordTest] = Field(default_factory=list)
    scan: list[ClusterCount] = Field(default_factory=list)
    targets: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """How many words each set of targets of the association tests has."""
    professions: list[Neighbourhood] = Field(default_factory=list)
    most_male: list[BiasedWord] = Field(default_factory=list)
    most_female: list[BiasedWord] = Field(default_factory=list)

    def test(self, name: str, *, words: str = OWN, removed: bool = False) -> WordTest | None:
        """One of the tests."""
        wanted = (name, words, removed)
        return next((test for test in self.tests if (test.name, test.words, test.removed) == wanted), None)


class WordTestChange(Record):
    """How well one test separates words of opposite bias before and after."""

    name: str
    """clustering, probe, classification or neighbours."""
    n: int
    """Words, or professions for neighbours."""
    before: float | None
    after: float | None
    """Of the words that were most biased before."""
    own: float | None = None
    """Of the words that are most biased after."""
    removed: float | None = None
    """The value in the model before once its own gender direction is removed."""
    lost: Reference | None = None
    """The changes (after minus before) of unrelated contrasts of the model before: did gender change differently?
    None if the model before could not be loaded again, or has no contrasts that are like gender."""
    others: Reference | None = None
    """What is left of unrelated contrasts in the model before once their own direction is removed."""


class GeometryChange(Record):
    """The details of a comparison."""

    words: int
    """Words that both models know."""
    unknown: list[str] = Field(default_factory=list)
    """Words that only one model knows; they are left out."""
    tests: list[WordTestChange]
    professions_before: list[Neighbourhood] = Field(default_factory=list)
    professions_after: list[Neighbourhood] = Field(default_factory=list)
    """With the bias of before, and the words around them after; empty if that could not be measured."""

    def test(self, name: str) -> WordTestChange | None:
        """One of the tests."""
        return next((test for test in self.tests if test.name == name), None)
