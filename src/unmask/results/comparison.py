"""The schema of a comparison's `result.json`: what changed between two models, and at what cost."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from unmask.results.schema import (
    RULE_VERSION,
    SCHEMA_VERSION,
    Caveat,
    DetailedRecord,
    Estimate,
    Interval,
    ModelInfo,
    Protocol,
    Record,
)

Verdict = Literal["improved", "no reliable change", "negligible change", "overshot", "worse", "inconclusive"]
"""Overshot: the bias was reversed."""
CostSize = Literal["", "none", "negligible", "small", "moderate", "heavy"]
"""How much of its usefulness a model lost; empty: not measured."""
COSTS: dict[CostSize, str] = {
    "none": "at no measurable cost",
    "negligible": "at a negligible cost",
    "small": "at a small cost",
    "moderate": "at a cost",
    "heavy": "at a heavy cost",
}


class Change(Record):
    """A figure before and after, and whether the difference can be relied on."""

    labels: dict[str, str]
    """What is compared, as in the tests of an audit: `contrast`, and `group` and `gender` where they apply."""
    question: str
    before: Estimate | None
    """With its own interval, and the uncorrected p-value of its own test."""
    after: Estimate | None
    change: Estimate
    """After minus before: how many paired items it rests on, a paired interval, and a paired test.

    `p_adjusted` is corrected within the comparison, not over an audit. In `published` it is the p-value itself.
    """
    verdict: Verdict | None = None
    """Null where a change is neither good nor bad by itself: a mean, a correlation that was not clear."""
    margin: float = 0.0
    """The largest change that is negligible."""

    @property
    def values(self) -> tuple[float | None, float | None]:
        """The values before and after."""
        before, after = (None if estimate is None else estimate.value for estimate in (self.before, self.after))
        return before, after

    def update_change(self, **fields: Any) -> Change:
        """Copy with some fields of `change` replaced."""
        return self.model_copy(update={"change": self.change.model_copy(update=fields)})

    def to_row(self) -> dict[str, Any]:
        """The fields as one row of a table: those of `change`, and the value, interval and p-value of both sides."""
        row: dict[str, Any] = {"labels": self.labels, "question": self.question, "n": self.change.n}
        for side, estimate in (("before", self.before), ("after", self.after)):
            row[side] = estimate and estimate.value
            row[f"{side}_interval"] = estimate and estimate.interval
            row[f"{side}_p_value"] = estimate and estimate.p_value
        row["change"] = self.change.value
        row |= self.change.model_dump(include=_TESTED)
        return row | {"verdict": self.verdict}


_TESTED = {
    *("interval", "statistic", "statistic_name", "df", "p_value", "p_adjusted", "p_sign_flip"),
    *("effect_size", "effect_size_name", "effect_size_interval"),
}


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
    runs: list[str] = Field(default_factory=list)
    """The training runs that are the model after, if they are several."""
    verdict: Verdict
    inconclusive: str = ""
    """What one of the models cannot do that the measure relies on; empty if nothing is known."""
    cost: str = ""
    """What it did to the model's usefulness, in sentences; only the first comparison of each model has them."""
    cost_size: CostSize = ""
    items: int
    unpaired: int = 0
    """Items that only one of the audits has; they are left out."""
    changes: dict[str, Change]
    digits: int = 2
    """How many decimals its figures need."""
    caveats: list[Caveat] = Field(default_factory=list)
    noise_floor: float | None = None
    """The noise floors of both measurements together: a smaller change is noise. Null if neither scored anything."""

    @property
    def short_cost(self) -> str:
        """The cost in a few words, such as `at a heavy cost`; empty if it was not measured."""
        return COSTS.get(self.cost_size, "")

    @property
    def full_verdict(self) -> str:
        """The verdict with the cost, such as `improved, at a heavy cost`."""
        return ", ".join(filter(None, (self.verdict, self.short_cost)))

    @property
    def is_good(self) -> bool:
        """Whether the model improved without losing more than a little of its usefulness."""
        return self.verdict == "improved" and self.cost_size not in ("moderate", "heavy")

    def kinds(self) -> list[str]:
        """The groups of professions, in order."""
        return list(dict.fromkeys(one.labels["group"] for one in self.changes.values() if "group" in one.labels))

    def of(self, contrast: str, **labels: str) -> Change | None:
        """The change of a contrast, such as `stereotype`, or `difference` in a `group`."""
        wanted = {"contrast": contrast, **labels}
        return next((change for change in self.changes.values() if change.labels == wanted), None)


class UsefulnessChange(Record):
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
    figures: dict[str, UsefulnessChange]
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


class MeasureFigure(Record):
    """One figure of a measure, the same for every model."""

    name: str
    measure: str
    """The name of the measure."""
    extrinsic: bool
    """Whether it is about a classifier that was made of the model, not about the model itself."""
    what: str
    """What the figure is, in words."""


class ModelFigures(Record):
    """The figures of one model, by name; null where it has none."""

    model: str
    figures: dict[str, float | None]


class Correlation(Record):
    """How two figures go together over models."""

    first: str
    second: str
    n: int
    """Models that have both."""
    pearson: float | None
    pearson_interval: Interval | None = None
    pearson_p_value: float | None = None
    p_adjusted: float | None = None
    """Pearson's p after Holm's correction over all pairs of figures."""
    spearman: float | None
    spearman_interval: Interval | None = None
    spearman_p_value: float | None = None


class Agreement(Record):
    """Do the measures agree on which model is the more biased?"""

    figures: list[MeasureFigure]
    models: list[ModelFigures]
    correlations: list[Correlation]
    """Of every two figures, once."""
    headline: str = ""
    left_out: dict[str, str] = Field(default_factory=dict)
    """Figures that cannot be compared, and why: too few models, or the same for all."""

    def correlation(self, first: str, second: str) -> Correlation | None:
        """That of two figures, in whichever order."""
        wanted = {first, second}
        return next(
            (correlation for correlation in self.correlations if {correlation.first, correlation.second} == wanted),
            None,
        )


class ComparisonResult(Record):
    """The whole of a comparison's `result.json`."""

    kind: Literal["comparison"] = "comparison"
    schema_version: int = SCHEMA_VERSION
    rule_version: int = RULE_VERSION
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
    """Whether the measures agree over the models. Over three to seven, `headline` says why that is not tested."""
    caveats: list[Caveat] = Field(default_factory=list)
    """Such as: the models were not the ones audited, usefulness could not be measured."""
