"""What a result of the geometry measure holds beside its estimates."""

from __future__ import annotations

from pydantic import Field

from unmask.results import Interval, Record


class Reference(Record):
    """What contrasts between other words give, to compare gender with."""

    contrasts: int
    mean: float
    low: float
    high: float
    """95 % of the contrasts lie between `low` and `high`."""
    p_value: float
    """The share of contrasts, gender among them, that reach what gender does."""
    values: list[float] = Field(default_factory=list)
    """Of each contrast, so that another model can be compared with them."""


class WordTest(Record):
    """How far words of opposite bias lie apart, by one test."""

    name: str
    """clustering, probe, classification or neighbours."""
    words: str
    """By whose bias the words were chosen: `own`, or the name of the model before."""
    removed: bool
    """Whether the gender direction was taken out of the space first."""
    n: int
    """Words, or professions for neighbours."""
    value: float | None
    """The share of words on the right side; for neighbours, a correlation."""
    interval: Interval | None = None
    """Over other words; none for clusters, which all words make together."""
    as_tight: Interval | None = None
    """Of clusters: from the least to the most that others give which are as tight."""
    v_measure: float | None = None
    chance: float | None = None
    """What labels dealt out anew come to, on average."""
    chance_high: float | None = None
    """What 97.5 % of such deals stay below."""
    p_chance: float | None = None
    """The share of such deals that reach the value; tiny for any direction, since words were chosen by it."""
    reference: Reference | None = None


class ClusterCount(Record):
    """The most biased words in so many clusters, each taken for what most of it is."""

    clusters: int
    removed: bool
    accuracy: float
    v_measure: float
    chance: float
    chance_high: float
    p_chance: float | None = None
    """The share of deals of the labels that reach the accuracy."""


class Neighbourhood(Record):
    """A profession, its bias, and the share of male words among those nearest to it: beyond the median of all words."""

    profession: str
    bias: float
    male: float
    male_removed: float | None = None
    """The same once the gender direction is taken out."""
    stereotype: float | None = None
    """As people see it: from −1, female, to 1, male."""


class BiasedWord(Record):
    """A word, and how far it lies along the gender direction: above 0, on the side of men."""

    word: str
    bias: float


class Geometry(Record):
    """What is special to the geometry of words."""

    vectors: str
    """What the vectors are, in words."""
    direction: str
    """What the gender direction is, in words."""
    likeness: float
    """The cosine between the two ends of it."""
    dimensions: int
    words: int
    left_out: dict[str, int] = Field(default_factory=dict)
    """Words that were not asked about, counted by the reason."""
    missing: list[str] = Field(default_factory=list)
    """Words that were asked for and have no vector."""
    male_share: float
    """Of all words, those with a bias above 0."""
    contrasts: list[str] = Field(default_factory=list)
    """Some of the other contrasts, by the words of their two groups."""
    tests: list[WordTest] = Field(default_factory=list)
    scan: list[ClusterCount] = Field(default_factory=list)
    professions: list[Neighbourhood] = Field(default_factory=list)
    most_male: list[BiasedWord] = Field(default_factory=list)
    most_female: list[BiasedWord] = Field(default_factory=list)

    def test(self, name: str, *, words: str = "own", removed: bool = False) -> WordTest | None:
        """One of the tests."""
        wanted = (name, words, removed)
        return next((one for one in self.tests if (one.name, one.words, one.removed) == wanted), None)


class WordTestChange(Record):
    """How far words of opposite bias lie apart, before and after."""

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
    """What is left in the model before if its own gender direction is simply taken out."""
    lost: Reference | None = None
    """What other contrasts of the model before lost (changes, after minus before); its p-value is two-sided: whether
    gender changed otherwise than they did. Null where the model before could not be asked again."""
    others: Reference | None = None
    """What is left of other contrasts in the model before, if the direction of each is taken out; its p-value is the
    share of them that leave as much as the model after does."""


class GeometryChange(Record):
    """What is special to the geometry of words before and after."""

    words: int
    """Words that both models know."""
    unknown: list[str] = Field(default_factory=list)
    """Words that only one of them knows; they are left out."""
    tests: list[WordTestChange]
    professions_before: list[Neighbourhood] = Field(default_factory=list)
    professions_after: list[Neighbourhood] = Field(default_factory=list)
    """With the bias of before, and the words around them after; empty where that could not be measured."""

    def test(self, name: str) -> WordTestChange | None:
        """One of the tests."""
        return next((one for one in self.tests if one.name == name), None)
