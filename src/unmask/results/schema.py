"""The schema of `result.json`. Numbers that cannot be had are null, never NaN."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from unmask.results.geometry import Geometry
from unmask.results.record import Interval, Protocol, Record

SCHEMA_VERSION = 1


class Group(Record):
    """The mean score of a group of items."""

    labels: dict[str, str]
    """What the items have in common, for instance `group` and `gender`."""
    n: int
    mean: float | None
    sd: float | None = None
    interval: Interval | None = None
    """95 %: over professions and person words, or over texts; null in `published`, which gave none."""
    unit: str = ""
    """Of the mean, where the measure does not say it: that of a plug-in."""


class Effect(Record):
    """A signed-rank test over all single pairs, as papers report it (the pairs are not independent)."""

    n: int
    w: float
    v: float
    z: float | None
    r: float | None
    p_value: float | None


class Test(Record):
    """A question put to the items, with its answer."""

    __test__: ClassVar[bool] = False  # not a test of pytest's

    labels: dict[str, str] = Field(default_factory=dict)
    """What it compares, for instance `contrast` and `group`."""
    question: str
    n: int
    """How many items or pairs of items it rests on."""
    estimate: float | None
    """In the unit of the measure: nats (differences of natural logarithms) for association, ratings for sentiment,
    shares of answers for inference, shares of words or correlations for geometry."""
    interval: Interval | None
    """95 % interval of the estimate."""
    unit: str = ""
    """Of the estimate, where the measure does not say it: that of a plug-in."""
    statistic: float | None
    statistic_name: str
    df: float | None = None
    p_value: float | None
    p_adjusted: float | None = None
    """Holm's correction over the tests of the whole audit; in `published` the p-value itself, as in the paper."""
    effect_size: float | None = None
    effect_size_name: str = ""
    effect_size_interval: Interval | None = None
    p_sign_flip: float | None = None
    """p when the sign of each pair of person words is a coin toss: exact up to 14 pairs, drawn beyond.

    For both correlations it is that of the covariance.
    """
    wilcoxon: Effect | None = None
    """The paper's test over all single pairs, beside ours."""


class Hypothesis(Record):
    """One of the paper's hypotheses and what the numbers say to it."""

    name: str
    statement: str
    answer: Literal["supported", "partly supported", "not supported", "contradicted", "no evidence against"]
    evidence: str


class ProfessionValue(Record):
    """The mean associations of one profession, as in the paper's Figures 3 to 6."""

    profession: str
    group: str
    workforce_share: float | None
    female: float | None
    male: float | None
    difference: float | None
    difference_interval: Interval | None = None


class Part(Record):
    """Some of the texts, and how their ratings differ: those with a term, of a length, with a label."""

    name: str
    n: int
    bias: float | None
    """The mean of male minus female ratings."""
    interval: Interval | None = None
    absolute: float | None = None
    """The mean of their sizes."""


class Ratings(Record):
    """What is special to ratings of texts in a female and a male version."""

    terms: str
    """Which words were exchanged: pronouns, family, all, or the user's file."""
    rating: str
    """What a rating is, in words: the probability of a label, an expected rank, the model's own output."""
    scale: float
    """The span of a rating: 1 for a probability; for an output without bounds, twice the standard deviation."""
    texts: int
    """Different texts; those given twice, or that differ in gender alone, count once (all count in `published`)."""
    duplicates: int
    changed: int
    """Texts that have a term, so that the two versions differ; only these can have a bias."""
    below: int
    """Changed texts that rate higher in the female version."""
    equal: int
    above: int
    """Changed texts that rate higher in the male version."""
    flips: int | None = None
    """Changed texts whose label depends on the version; null for a regression."""
    long_texts: str = ""
    """How texts that are too long were read: head, head+tail or window; empty if that is not known."""
    most_tokens: int | None = None
    """What the model reads at once."""
    cut: int | None = None
    """Changed texts of which a part was not read; null if that is not known."""
    outside: int | None = None
    """Changed texts none of whose terms was read: their bias is 0 by construction."""
    partly_outside: int | None = None
    """Changed texts some of whose terms were not read."""
    detectable: float | None = None
    """The smallest mean bias that a 5 % test would find four times out of five, with so many texts."""
    by_pair: list[Part] = Field(default_factory=list)
    """What one place of a pair of terms adds to the rating of the male version, the other pairs held equal."""
    by_term: list[Part] = Field(default_factory=list)
    """Texts that have a term; they have others, too."""
    by_length: list[Part] = Field(default_factory=list)
    by_label: list[Part] = Field(default_factory=list)


class Distribution(Record):
    """How a model answered some pairs of sentences: shares of its answers, and mean probabilities."""

    name: str
    labels: dict[str, str]
    """What the pairs have in common: `set`, or `occupation_type` and `gender`."""
    n: int
    shares: dict[str, float]
    """Of entailment, neutral and contradiction among the answers."""
    intervals: dict[str, Interval | None] = Field(default_factory=dict)
    """95 % each, over occupations and sentences."""
    probabilities: dict[str, float] = Field(default_factory=dict)
    """The mean probability of each label; empty where only answers were recorded."""


class GenderWords(Record):
    """A pair of gender words, and what the measure is with these alone."""

    name: str
    n: int
    score: float | None
    stereotype: float | None
    stereotype_interval: Interval | None = None


class OccupationValue(Record):
    """An occupation: how often the model resolves it to a gender, and to which."""

    occupation: str
    kind: str
    """female, male or neutral: the stereotype."""
    n: int
    """Pairs with a gender."""
    resolved: float
    """The share of answers other than neutral."""
    lean: float | None
    """From −1, always taken for a woman, to 1, always for a man."""
    female: dict[str, float]
    """Shares of answers where the hypothesis speaks of a woman."""
    male: dict[str, float]


class Inference(Record):
    """What is special to inference of a gender from an occupation."""

    sets: list[Distribution]
    """Pro-stereotypical (PS), anti-stereotypical (AS), non-stereotypical (NS), and the control where there is one."""
    by_type: list[Distribution]
    """By occupation type and gender of the hypothesis."""
    by_pair: list[GenderWords] = Field(default_factory=list)
    occupations: list[OccupationValue]
    """The most often resolved first."""
    templates: int
    labels: str = ""
    """How it is known which output is which label."""
    inconclusive: str = ""
    """Why the score cannot be read as bias; empty if it can."""
    alike: float | None = None
    """In which share of the sentences that do not leave the gender open a woman and a man get exactly the same
    probabilities; None where there are none, or they are not known."""


class Caveat(Record):
    """What a reader must know before trusting the number."""

    code: str
    text: str


class Origin(Record):
    """Where a measure comes from that is not of this package, and what it says of itself."""

    package: str
    version: str
    about: str
    citation: str = ""


class Measurement(Record):
    """One measure of one corpus."""

    name: str
    language: str
    corpus: str
    protocol: Protocol = "sound"
    attributes: str = "professions"
    """What the words are called that persons are put beside: professions, emotion words."""
    headline: str = ""
    """The finding in words, for somebody who has not read the paper; empty until p-values are adjusted."""
    items: int
    groups: dict[str, Group]
    tests: dict[str, Test]
    hypotheses: list[Hypothesis] = Field(default_factory=list)
    professions: list[ProfessionValue] = Field(default_factory=list)
    ratings: Ratings | None = None
    """For the sentiment measure."""
    inference: Inference | None = None
    """For the inference measure."""
    geometry: Geometry | None = None
    """For the geometry measure."""
    plugin: Origin | None = None
    """For a measure of another package."""
    caveats: list[Caveat] = Field(default_factory=list)
    noise_floor: float | None = None
    """The largest change of a score when inputs are scored again in another batch; null if nothing was scored."""
    distinct_inputs: int | None = None
    several_pieces: list[str] = Field(default_factory=list)
    """Person words that the model's vocabulary splits, scored as whole words."""
    data_hash: str = ""
    """SHA-256 of the sentences or recorded scores."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What tells a measurement from others: measure, language, corpus, protocol, and the terms of sentiment."""
        return self.name, self.language, self.corpus, self.protocol, self.ratings.terms if self.ratings else ""

    def kinds(self) -> list[str]:
        """The groups of professions, in order."""
        return list(dict.fromkeys(group.labels["group"] for group in self.groups.values()))

    def mean_of(self, group: str, gender: str) -> Group | None:
        """The mean of the person words of a gender with a group of professions."""
        wanted = {"group": group, "gender": gender}
        return next((one for one in self.groups.values() if one.labels == wanted), None)

    def test(self, contrast: str, **labels: str) -> Test | None:
        """The test of a contrast, such as `stereotype`, or `difference` in a `group`."""
        wanted = {"contrast": contrast, **labels}
        return next((one for one in self.tests.values() if one.labels == wanted), None)


class ModelInfo(Record):
    """Which model it was, exactly."""

    name: str
    revision: str | None = None
    """The commit of a model of the hub."""
    architecture: str
    parameters: int | None = None
    weight_hash: str | None = None
    """SHA-256 over the names and bytes of all weights; the same wherever the model is loaded from."""
    tokenizer: str | None = None
    vocabulary: int | None = None
    dtype: str | None = None
    device: str | None = None
    mitigation: str | None = None
    """The method by which `unmask mitigate` made it, if it did."""
    parent_weight_hash: str | None = None
    """Of the model that the mitigation started from."""


class AuditResult(Record):
    """The whole of `result.json`."""

    kind: Literal["audit"] = "audit"
    schema_version: int = SCHEMA_VERSION
    unmask_version: str
    created: str
    """UTC, ISO 8601."""
    model: ModelInfo
    configuration: dict[str, str | int | float | bool | list[str] | None]
    """Every setting as it was resolved."""
    libraries: dict[str, str]
    seed: int
    measurements: list[Measurement]
