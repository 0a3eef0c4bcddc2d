"""The schema of a comparison's `result.json`: what changed between two models, and at what cost."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from unmask.results.agreement import Agreement
from unmask.results.record import DetailedRecord, Interval, Protocol, Record
from unmask.results.schema import SCHEMA_VERSION, Caveat, ModelInfo

Verdict = Literal["improved", "no reliable change", "overshot", "worse"]
"""Overshot: the bias was reversed."""


class Change(Record):
    """A figure before and after, and whether the difference can be relied on."""

    labels: dict[str, str]
    """What is compared, as in the tests of an audit: `contrast`, and `group` and `gender` where they apply."""
    question: str
    n: int
    """How many paired items, or pairs of items, it rests on."""
    before: float | None
    before_interval: Interval | None = None
    before_p_value: float | None = None
    """Of its own test against zero, uncorrected."""
    after: float | None
    after_interval: Interval | None = None
    after_p_value: float | None = None
    change: float | None
    """After minus before."""
    interval: Interval | None = None
    """95 % interval of the change: paired, over professions and person words, words, or pairs of sentences."""
    statistic: float | None = None
    statistic_name: str = "t"
    df: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    """The stereotype's own p; Holm's correction over the differences and the workforce, and over the means.

    In `published` the p-value itself, as in the paper.
    """
    p_sign_flip: float | None = None
    effect_size: float | None = None
    effect_size_name: str = ""
    effect_size_interval: Interval | None = None
    verdict: Verdict | None = None
    """Null where a change is neither good nor bad by itself: a mean, a correlation that was not clear."""


class Comparison(DetailedRecord):
    """One measure of one corpus, on one model and on another."""

    name: str
    language: str
    corpus: str
    variant: str = ""
    """What else tells it from others: the term set of sentiment."""
    protocol: Protocol
    attributes: str = "professions"
    before: str
    """The name of the model that it starts from."""
    after: str
    verdict: Verdict
    headline: str
    """What changed, in words, for somebody who has not read the paper."""
    cost: str = ""
    """What it did to the model's usefulness, in words; empty where that was not measured."""
    items: int
    unpaired: int = 0
    """Items that only one of the audits has; they are left out."""
    changes: dict[str, Change]
    digits: int = 2
    """How many decimals its figures need."""
    caveats: list[Caveat] = Field(default_factory=list)
    noise_floor: float | None = None
    """The noise floors of both measurements together: a smaller change is noise. Null if neither scored anything."""

    def kinds(self) -> list[str]:
        """The groups of professions, in order."""
        return list(dict.fromkeys(one.labels["group"] for one in self.changes.values() if "group" in one.labels))

    def of(self, contrast: str, **labels: str) -> Change | None:
        """The change of a contrast, such as `stereotype`, or `difference` in a `group`."""
        wanted = {"contrast": contrast, **labels}
        return next((one for one in self.changes.values() if one.labels == wanted), None)


class Figure(Record):
    """A figure of a model's usefulness before and after, paired over the same sentences or examples."""

    before: float
    after: float
    change: float
    interval: Interval | None = None
    p_value: float | None = None


class Usefulness(Record):
    """What a model can still do."""

    what: str
    """masked words, stated gender, or the name of a task."""
    after: str
    """The name of the model that is compared with the one before."""
    data: str
    """Where the sentences or examples come from."""
    data_hash: str
    n: int
    """How many sentences or examples."""
    figures: dict[str, Figure]
    """By name: `loss` (nats a masked piece; less is better), `accuracy` (a share; more is better)."""


class Side(Record):
    """One of the models compared."""

    name: str
    """Short, and different from that of every other side."""
    model: ModelInfo
    audit: str | None = None
    """The audit folder, or null where the model was audited for the comparison."""
    created: str
    """When it was audited: UTC, ISO 8601."""
    lineage: str = ""
    """Of a model after, where that is known: that it was made from the model before, and how, or that it was not."""


class ComparisonResult(Record):
    """The whole of a comparison's `result.json`."""

    kind: Literal["comparison"] = "comparison"
    schema_version: int = SCHEMA_VERSION
    unmask_version: str
    created: str
    configuration: dict[str, str | int | float | bool | list[str] | None]
    libraries: dict[str, str]
    seed: int
    before: Side
    after: list[Side]
    comparisons: list[Comparison]
    usefulness: list[Usefulness] = Field(default_factory=list)
    agreement: Agreement | None = None
    """Whether the measures agree, where four models or more were compared."""
    caveats: list[Caveat] = Field(default_factory=list)
    """Such as: the models were not the ones audited, usefulness could not be measured."""
