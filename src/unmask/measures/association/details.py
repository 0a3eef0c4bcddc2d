"""The details of an association result: facts and tables apart from its estimates."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from unmask.results import Interval, Record

Answer = Literal["supported", "partly supported", "not supported", "contradicted", "no evidence against", "cannot tell"]


class Hypothesis(Record):
    """One of the paper's hypotheses, and whether the numbers support it."""

    name: str
    statement: str
    answer: Answer
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


FEWEST_SENTENCES = 3
"""Real sentences that a profession needs."""


class SentenceCount(Record):
    """How many sentences of a corpus name a profession and a person."""

    profession: str
    group: str
    found: int
    used: int
    """In the sample; 0 if too few were found."""
    female: int
    male: int
    """Of those used: how many have a female and a male person word in the text."""


class AgreementValue(Record):
    """The female − male difference of a profession in templates and in real sentences."""

    profession: str
    templates: float
    sentences: float


class TemplateValue(Record):
    """The stereotype in the sentences of one template; without a stereotype, the female − male difference."""

    template: str
    value: float | None
    interval: Interval | None = None


class LeftOut(Record):
    """How far the stereotype goes down and up without one of the professions, pairs or templates."""

    factor: str
    low: float
    low_without: str
    """What is left out where the stereotype is lowest."""
    high: float
    high_without: str


class AssociationDetails(Record):
    """The values of single professions and templates, and the answers to the paper's hypotheses."""

    hypotheses: list[Hypothesis] = Field(default_factory=list)
    professions: list[ProfessionValue] = Field(default_factory=list)
    templates: list[TemplateValue] = Field(default_factory=list)
    left_out: list[LeftOut] = Field(default_factory=list)
    alpha_pairs: float | None = None
    """Cronbach's α: do the pairs of person words agree on which professions go with female ones?"""
    alpha_templates: float | None = None
    """Cronbach's α: do the templates?"""
    several_pieces: list[str] = Field(default_factory=list)
    """Person words that the model's vocabulary splits into several tokens: scored as whole words in `sound`, by the
    first token alone in `published`."""
    sentences: list[SentenceCount] = Field(default_factory=list)
    """Of real sentences, as far as is known."""
    agreement: list[AgreementValue] = Field(default_factory=list)
    """Of professions that both templates and real sentences have."""


class TableRow(Record):
    """A row of the paper's Table 4: mean associations before and after, and Wilcoxon's test of their change.

    The test asks whether associations of female person words changed differently from those of male ones.
    """

    group: str
    n: int
    female_before: float
    female_after: float
    female_change: float
    male_before: float
    male_after: float
    male_change: float
    w: float
    """R's V: the sum of the ranks of positive female − male changes."""
    z: float | None
    r: float | None
    """−|Z|/√(2n), always negative, as the paper gives it."""
    p_value: float | None


class ProfessionChange(Record):
    """A profession before and after, as in the paper's Figures 3 to 5."""

    profession: str
    group: str
    workforce_share: float | None
    female_before: float | None
    female_after: float | None
    male_before: float | None
    male_after: float | None
    change: float | None
    """Of the female − male difference; the figures are sorted by its absolute value."""
    interval: Interval | None = None


class HypothesisChange(Record):
    """One of the paper's hypotheses before and after."""

    name: str
    statement: str
    before: str
    after: str
    evidence_before: str
    evidence_after: str


class AssociationChanges(Record):
    """The changes of single professions, and the paper's tables of them."""

    table: list[TableRow] = Field(default_factory=list)
    professions: list[ProfessionChange] = Field(default_factory=list)
    hypotheses: list[HypothesisChange] = Field(default_factory=list)
