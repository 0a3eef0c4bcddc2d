"""The schema of an audit's `result.json`. Numbers that cannot be computed are null, never NaN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import to_jsonable_python

from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.statistics.jackknife import IntervalEstimate

SCHEMA_VERSION = 4
RULE_VERSION = 2
"""Of the rules by which intervals, p-values and verdicts come about; numbers of two versions are not compared."""
Interval = tuple[float, float]
Protocol = Literal["sound", "published"]
R = TypeVar("R", bound="Record")


class Record(BaseModel):
    """A part of a result: frozen, without unknown fields, NaN or infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with some fields replaced. Unlike pydantic's own, the copy is validated."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate(values | dict(update))


class DetailedRecord(Record):
    """A result with facts that only its measure has."""

    name: str
    """The measure."""
    headline: list[str] = Field(default_factory=list)
    """The finding as sentences for readers who do not know the paper; empty until p-values are adjusted."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Facts and tables that only this measure has, as `model_dump` of a record gives them."""

    @property
    def headline_text(self) -> str:
        """The headline as running text."""
        return " ".join(self.headline)

    @field_validator("details", mode="before")
    @classmethod
    def _convert_details(cls, details: Any) -> Any:
        """Store what JSON would give back, so that a result equals itself after it was written and read."""
        return to_jsonable_python(details)

    def read_details(self, kind: type[R]) -> R:
        """The facts of the measure, validated as the record that the measure declares for them."""
        try:
            return kind.model_validate(self.details)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"])) or "details"
            raise UnmaskError(
                f"this result of {self.name} has no valid {where} ({problem['msg']}); audit the model again"
            ) from None


class Effect(Record):
    """A signed-rank test over all single pairs, as papers report it (the pairs are not independent)."""

    n: int
    w: float
    v: float
    z: float | None
    r: float | None
    p_value: float | None


class Estimate(Record):
    """One number with its uncertainty: the answer to a question, or the mean of a group of items."""

    labels: dict[str, str] = Field(default_factory=dict)
    """What it is about, for instance `contrast` and `group`, or `group` and `gender`."""
    question: str = ""
    n: int
    """How many items or pairs of items it rests on."""
    value: float | None
    """In the unit of the measure: nats (differences of natural logarithms) for association, ratings for sentiment,
    shares of answers for inference, shares of words or correlations for geometry."""
    sd: float | None = None
    interval: Interval | None = None
    """95 %; of a test that is corrected, at the level at which it is judged; null in `published` where the paper gives
    none."""
    neutral: float = 0.0
    """The value that means no bias."""
    unit: str = ""
    """Empty where it is the unit of the measure."""
    statistic: float | None = None
    statistic_name: str = ""
    df: float | None = None
    standard_error: float | None = None
    scale: Literal["linear", "fisher"] = "linear"
    """Of the standard error, and the one on which the interval is symmetric; `fisher` for correlations."""
    detectable: float | None = None
    """The smallest effect that a test of this size finds with a probability of 80 %."""
    p_value: float | None = None
    p_adjusted: float | None = None
    """The p-value that is judged: of a primary test its own; of other tests after Holm's correction over those of the
    measurement; in `published` the p-value itself, as in the paper. None: the test only restates another one."""
    effect_size: float | None = None
    effect_size_name: str = ""
    effect_size_neutral: float = 0.0
    effect_size_interval: Interval | None = None
    p_sign_flip: float | None = None
    """p when the sign of each pair of person words is a coin toss: exact up to 14 pairs, drawn beyond.

    For both correlations it is that of the covariance.
    """
    wilcoxon: Effect | None = None
    """The paper's test over all single pairs, in addition to ours."""

    @classmethod
    def from_statistic(cls, statistic: IntervalEstimate, *, n: int, statistic_name: str = "t", **fields: Any) -> Self:
        """An estimate with the value, interval and test of a statistic."""
        return cls(
            n=n,
            value=statistic.value,
            interval=statistic.interval,
            statistic=statistic.statistic,
            statistic_name=statistic_name,
            df=statistic.df,
            standard_error=statistic.standard_error,
            scale=statistic.scale,
            detectable=statistic.detectable,
            **{"p_value": statistic.p_value} | fields,
        )


class Caveat(Record):
    """What a reader must know before trusting the number."""

    code: str
    text: str


class Competence(Record):
    """Whether a model can do something that a measure relies on."""

    task: str
    """What it should do: `prefer the pronoun that agrees with a stated gender`."""
    n: int
    """How often it was asked."""
    value: float | None
    """The share that it got right; None if its scores are not numbers."""
    interval: Interval | None = None
    chance: float
    """The share that a model gets right which knows nothing."""
    least: float
    """The share that the measure needs."""

    @property
    def passed(self) -> bool:
        """Whether the model gets enough right, and more than by chance."""
        if self.value is None or self.value < self.least:
            return False
        return self.interval is None or self.interval[0] > self.chance

    def describe(self, subject: str = "the model") -> str:
        """How much the model got right, as a sentence without a full stop."""
        if self.value is None:
            return f"asked to {self.task}, {subject} does not give numbers"
        verb = "can" if self.passed else "cannot reliably"
        right, chance, least = (f"{100 * share:.0f}\u00a0%" for share in (self.value, self.chance, self.least))
        figures = f"right in {right} of {self.n:,}; guessing gives {chance}, and {least} are needed"
        if self.value >= self.least and self.interval and not self.passed:
            low, high = (f"{100 * end:.0f}" for end in self.interval)
            figures = f"right in {right} of {self.n:,}, but the 95\u00a0% interval, {low} to {high}\u00a0%, includes"
            figures += f" the {chance} that guessing gives"
        return f"{subject} {verb} {self.task} ({figures})"


class Origin(Record):
    """Where a measure comes from that is not of this package, and what it says of itself."""

    package: str
    version: str
    about: str
    citation: str = ""


class Measurement(DetailedRecord):
    """One measure of one corpus."""

    name: str
    language: str
    corpus: str
    variant: str = ""
    """What else tells it from others: the term set of sentiment."""
    protocol: Protocol = "sound"
    attributes: str = "professions"
    """What the words are called that persons are put beside: professions, emotion words."""
    items: int
    groups: dict[str, Estimate]
    tests: dict[str, Estimate]
    plugin: Origin | None = None
    """For a measure of another package."""
    competence: list[Competence] = Field(default_factory=list)
    """Whether the model can do what the measure relies on; empty if that was not checked, as of recorded scores."""
    caveats: list[Caveat] = Field(default_factory=list)
    noise_floor: float | None = None
    """The largest change of a score when inputs are scored again in another batch; null if nothing was scored."""
    distinct_inputs: int | None = None
    data_hash: str = ""
    """SHA-256 of the sentences or recorded scores."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What tells a measurement from others: measure, language, corpus, protocol, variant."""
        return self.name, self.language, self.corpus, self.protocol, self.variant

    @property
    def description(self) -> str:
        """The measurement in a few words; the sound protocol is not mentioned."""
        protocol = "" if self.protocol == "sound" else self.protocol
        return ", ".join(filter(None, (self.name, self.language, self.corpus, self.variant, protocol)))

    def explain_incompetence(self, subject: str = "the model") -> str:
        """What the model cannot do that the measure relies on; empty if it can, or nothing is known."""
        return "; ".join(check.describe(subject) for check in self.competence if not check.passed)

    def kinds(self) -> list[str]:
        """The groups of professions, in order."""
        return list(dict.fromkeys(group.labels["group"] for group in self.groups.values()))

    def mean_of(self, group: str, gender: str) -> Estimate | None:
        """The mean of the person words of a gender with a group of professions."""
        wanted = {"group": group, "gender": gender}
        return next((group for group in self.groups.values() if group.labels == wanted), None)

    def test(self, contrast: str, **labels: str) -> Estimate | None:
        """The test of a contrast, such as `stereotype`, or `difference` in a `group`."""
        wanted = {"contrast": contrast, **labels}
        return next((test for test in self.tests.values() if test.labels == wanted), None)


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
    rule_version: int = RULE_VERSION
    unmask_version: str
    created: str
    """UTC, ISO 8601."""
    model: ModelInfo
    configuration: dict[str, str | int | float | bool | list[str] | None]
    """Every setting as it was resolved."""
    libraries: dict[str, str]
    seed: int
    measurements: list[Measurement]

    @property
    def measure_names(self) -> list[str]:
        """The names of the measures, each once."""
        return list(dict.fromkeys(measurement.name for measurement in self.measurements))
