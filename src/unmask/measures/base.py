"""What a measure is. Built-in measures and plug-ins implement the same class.

    options ─► build ─► score(model) ─► items ─► analyse ─► Measurement ─► headline, blocks
                                                   └► compare(before, after) ─► Comparison

A measure declares what it needs and what it is called, and implements `score`, `analyse` and `headline`; everything
else has a default. Importing a measure must be quick: modules that need pandas, SciPy or torch are imported inside
methods.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unmask.errors import UnmaskError, check_choice, quote
from unmask.options import Options
from unmask.results import Caveat, Competence, Estimate, Measurement, Origin
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.checkpoints import Role
    from unmask.models.handle import ModelHandle
    from unmask.models.roles import Progress
    from unmask.report.blocks import Block
    from unmask.report.change_blocks import ComparisonReport
    from unmask.results import AuditResult, Comparison
    from unmask.statistics.simulation import Simulation

SEED = 42
PROTOCOLS = ("sound", "published")
HALF_PRECISION = Caveat(
    code="half-precision",
    text="The model computes in half precision, so that small effects are lost in rounding. Load it in float32.",
)

INCONCLUSIVE = "Inconclusive: {}. These numbers show neither bias nor its absence."

MODEL_TYPES = {
    "masked-lm": "a masked language model",
    "classifier": "a classifier",
    "encoder": "an encoder without a head",
    "vectors": "a table of word vectors",
}
to_estimate = Estimate.from_statistic
"""An estimate of `unmask.statistics` as a result states it."""


def without_correction(test: Estimate) -> Estimate:
    """A test with its 95 % interval, whatever other tests it was corrected for."""
    if test.p_adjusted is None or test.p_adjusted == test.p_value or not (test.standard_error and test.df):
        return test
    from unmask.statistics.jackknife import SCALES, student_interval

    assert test.value is not None  # it has a standard error
    plain = student_interval(test.value, test.standard_error, test.df, scale=SCALES[test.scale])
    return test.model_copy(update={"interval": plain.interval})


def set_adjusted_p(test: Estimate, p_adjusted: float | None) -> Estimate:
    """A test with its corrected p-value, and its interval at the level at which the test is judged then."""
    update: dict[str, Any] = {"p_adjusted": p_adjusted}
    if p_adjusted and test.p_value and p_adjusted > test.p_value and test.standard_error and test.df and test.interval:
        from unmask.statistics.jackknife import LEVEL, SCALES, student_interval

        assert test.value is not None  # it has an interval
        level = LEVEL * test.p_value / p_adjusted
        wide = student_interval(test.value, test.standard_error, test.df, scale=SCALES[test.scale], level=level)
        update |= {"interval": wide.interval, "detectable": wide.detectable}
    return test.model_copy(update=update)


@dataclass(frozen=True)
class Context:
    """The settings of a measurement, apart from the measure's own options."""

    language: str = "en"
    corpus: str = ""
    protocol: str = "sound"
    seed: int = SEED
    offline: bool = False
    workspace: Path | None = None
    """A folder for partial results, from which an interrupted audit continues."""
    progress: Progress | None = None
    """Called with the number of inputs that are done, and of all inputs."""


@dataclass(frozen=True)
class Scored:
    """Items with their scores, and how they were computed."""

    items: pd.DataFrame
    noise_floor: float | None = None
    """The largest change of a score when inputs are scored again in another batch."""
    distinct_inputs: int | None = None
    data_hash: str = ""
    """SHA-256 of the inputs; empty: that of the text columns of the items."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Measurement.details` that only scoring knows."""


@dataclass(frozen=True)
class ComparedModel:
    """One side of a comparison: a model's name, what was measured, the items, and how to ask the model again."""

    name: str
    measurement: Measurement
    items: pd.DataFrame
    result: AuditResult | None = None
    """The audit that the measurement is of."""
    reload: Callable[[], ModelHandle] | None = None
    """Returns the model; raises `UnmaskError` where it cannot be loaded, or has other weights than were audited."""


@dataclass(frozen=True)
class KeyEstimate:
    """A number that stands for a measurement: a test, a group, or what `Measure.key_estimate_value` computes."""

    name: str = ""
    """Its name in a table of several models; empty: models are not correlated by it."""
    what: str = ""
    """What the number is, in a few words."""
    test: str = ""
    group: str = ""
    """The test or group of the measurement that holds it."""
    card: str = ""
    """Its name in a model card; empty: cards leave it out."""
    gate: bool = False
    """Whether a new gate policy has a rule for it."""


class _ImplementedIn:
    """See `implemented_in`."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.package = owner.__module__

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(import_module(f".{self.module}", self.package), self.name)


def implemented_in(module: str) -> Any:
    """A method that is a function of the same name in a module beside the measure, imported when it is first called.

    The function is called without the measure:

        class AssociationMeasure(Measure):
            analyse = implemented_in("analysis")  # association/analysis.py: def analyse(items, context)
    """
    return _ImplementedIn(module)


class Measure(ABC):
    """A way to measure bias."""

    name: ClassVar[str]
    """As users type it: small letters, digits and hyphens."""
    title: ClassVar[str] = ""
    """As headings show it; empty: the name with a capital letter."""
    question: ClassVar[str]
    """What it asks, in one line."""
    citations: ClassVar[tuple[str, ...]] = ()
    roles: ClassVar[tuple[Role, ...]]
    """The roles of a model that it can ask, in order of preference: masked-lm, classifier, encoder, vectors."""
    needs: ClassVar[str]
    """The model that it needs, in words, for a message."""
    languages: ClassVar[tuple[str, ...]] = ("en",)
    protocols: ClassVar[tuple[str, ...]] = ("sound",)
    corpora: ClassVar[Mapping[str, str]] = {}
    """The corpora that can be named, and how headings call them."""
    other_corpora: ClassVar[Mapping[str, str]] = {}
    """How headings call corpora that cannot be named, such as words of the user's own."""
    user_corpora: ClassVar[tuple[str, ...]] = ()
    """Those of `other_corpora` that a user's files make: the same name may stand for other words."""
    corpus_descriptions: ClassVar[Mapping[str, str]] = {}
    """What the help of the command line says of `corpora`."""
    variants: ClassVar[Mapping[str, str]] = {}
    """The built-in variants of a measurement, and how headings call them."""
    variant_column: ClassVar[str] = ""
    """The column of the items that holds the variant."""
    Options: ClassVar[type[Options]] = Options
    encoder_options: ClassVar[tuple[str, ...]] = ()
    """Options that do not apply to word vectors."""
    dataset: ClassVar[str] = ""
    """The dataset that it needs, which may have to be downloaded."""
    by_default: ClassVar[bool] = True
    """Whether an audit runs it by default."""
    main: ClassVar[bool] = True
    """Whether it is a main measure of the models that it fits. Others only run in addition."""
    origin: Origin | None = None
    """The package that brings it; None for built-in measures."""

    # The items table.
    split: ClassVar[tuple[str, ...]] = ("language", "corpus")
    """Columns that tell measurements apart; each combination is analysed by itself."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Columns that pair the items of two models."""
    samples: ClassVar[tuple[str, ...]] = ()
    """Columns whose values are samples, such as templates: a comparison is meant to hold for others of each.
    Empty: every item is a sample of its own."""
    score_column: ClassVar[str] = ""
    """The column by which items are extreme; empty: the last column of numbers."""
    shown_columns: ClassVar[tuple[str, ...]] = ()
    """Columns that a report shows, in this order; empty: all."""
    column_titles: ClassVar[Mapping[str, str]] = {}
    """How a report calls columns, where it is not their name."""
    column_digits: ClassVar[Mapping[str, int]] = {}
    spoken_columns: ClassVar[frozenset[str]] = frozenset()
    """Columns in the language of the items."""
    recorded_columns: ClassVar[str] = "of its own"
    """The columns that recorded scores need, in words, for help and messages."""
    takes_score_column: ClassVar[bool] = False
    """Whether the user can name the column of recorded scores."""

    # How the numbers are shown.
    primary: ClassVar[str] = ""
    """The test that speaks for the measure. Its p-value is not corrected for any other test."""
    deciding_change: ClassVar[str] = ""
    """The change that decides the verdict of a comparison; empty: that of the primary test."""
    margin: ClassVar[float] = 0.0
    """The largest value of the primary test that is negligible; it also limits what a new gate policy allows."""
    restated: ClassVar[tuple[str, ...]] = ()
    """Tests that ask the question of another one again, such as a rank correlation; they have no adjusted p-value."""
    narrow: ClassVar[tuple[str, ...]] = ()
    """Patterns (`bias, *`) of tests about the words that were asked alone. A model that has learned nothing may have
    preferences between single words, so these tests may reject more often than in 5 % of such models."""
    trial_options: ClassVar[Mapping[str, Any]] = {}
    """Options with which many models can be measured in little time, for calibration."""
    unit: ClassVar[str] = ""
    """What the primary test's value is, in words."""
    noise_unit: ClassVar[str] = ""
    digits: ClassVar[int] = 2
    uses_templates: ClassVar[bool] = False
    """Whether its sentences are made from templates."""
    corpora_of_texts: ClassVar[tuple[str, ...]] = ()
    """The corpora of such a measure that are not made from templates."""
    of_classifiers: ClassVar[bool] = False
    """Whether it is about a classifier made of a model, rather than about the model itself."""
    hub_task: ClassVar[str] = "other"
    """The task of the hub in whose terms a model card states the result."""
    key_estimates: ClassVar[tuple[KeyEstimate, ...]] = ()
    """Numbers for correlations over models, model cards and gates; the last two use all tests where none is named."""
    compared_items: ClassVar[str] = "items scored by both models"
    """What two models have in common, in words."""
    change_units: ClassVar[Mapping[str, str]] = {}
    """Units of changes by their contrast. A default plot shows only changes with the same unit."""
    comparison_method: ClassVar[str] = ""
    """How two models are compared; empty: how any measure compares them."""
    changes_note: ClassVar[str] = ""
    """What a reader must know about the numbers in the default table of changes."""

    @property
    def about(self) -> str:
        """What it asks, for lists."""
        return self.question

    @property
    def heading(self) -> str:
        """The name of the measure in a heading."""
        return self.title or self.name[:1].upper() + self.name[1:]

    # Which models it fits, and what it measures.

    def fits(self, model: ModelHandle, options: Any) -> bool:
        """Whether a model can be measured; `options` are those of the whole audit."""
        del options
        return any(role in self.roles for role in model.roles)

    def runs_by_default(self, model: ModelHandle, options: Any) -> bool:
        """Whether an audit of a fitting model runs it by default."""
        del model, options
        return self.by_default

    def check(self, options: Any, context: Context) -> None:  # noqa: B027  # most measures have nothing to check
        """Raise an error for options that cannot be measured, before anything slow starts."""

    def default_corpora(self, options: Any, context: Context) -> Sequence[str]:
        """The corpora that are measured in a language if the user names none."""
        del options, context
        return tuple(self.corpora)[:1] or ("items",)

    def units(self, options: Any, context: Context, languages: Sequence[str], corpora: Sequence[str]) -> list[Context]:
        """What is measured: one context for each language and corpus."""
        units = []
        for language in dict.fromkeys(languages):
            check_choice(language, self.languages, f"language of {self.name}")
            unit = replace(context, language=language)
            named = [corpus for corpus in dict.fromkeys(corpora) if corpus in self.corpora]
            units += [replace(unit, corpus=corpus) for corpus in named or self.default_corpora(options, unit)]
        return units

    def data_inputs(self, *, offline: bool) -> dict[str, Any]:
        """What its scores depend on, apart from the model and this package: a hash of downloaded data."""
        del offline
        return {}

    # The pipeline.

    def build(self, options: Any, context: Context) -> Any:
        """What to ask in one language and corpus; called before the model is loaded."""
        del options, context
        return None

    def export(self, options: Any, context: Context) -> pd.DataFrame:
        """What `build` makes, one row per sentence, with the columns of the paper's released files.

        A measure that implements this can be exported with `unmask export`.
        """
        raise NotImplementedError

    def load(self, model: ModelHandle, options: Any) -> Any:
        """The model in the role that the measure asks."""
        del options
        role = next((role for role in self.roles if role in model.roles), None)
        if role is None:
            raise UnmaskError(self.explain_misfit(model))
        return model.load(role)

    @abstractmethod
    def score(self, model: Any, items: Any, options: Any, context: Context) -> Scored | Sequence[Scored] | pd.DataFrame:
        """Ask the model. `items` is what `build` returned. One row of the result is one item."""

    @abstractmethod
    def analyse(self, items: pd.DataFrame, context: Context) -> Measurement:
        """Items → estimates, without a model. `p_adjusted` and `headline` are filled in later."""

    def check_competence(self, model: Any, items: pd.DataFrame, options: Any, context: Context) -> list[Competence]:
        """Ask the model what it must be able to do before its bias can be measured; `items` are scored already.

        A model that fails is inconclusive, whatever its numbers are.
        """
        del model, items, options, context
        return []

    @abstractmethod
    def headline(self, measurement: Measurement) -> list[str]:
        """The finding in sentences, when `p_adjusted` is known."""

    def interpret(self, measurement: Measurement) -> Measurement:
        """Add the headline, and what else depends on adjusted p-values."""
        return measurement.model_copy(update={"headline": self.headline(measurement)})

    def conclude(self, measurement: Measurement) -> Measurement:
        """Add adjusted p-values, and what follows from them: the headline, or that nothing can be concluded."""
        adjusted = self.adjust_tests(measurement)
        if reason := adjusted.explain_incompetence():
            return adjusted.model_copy(update={"headline": [INCONCLUSIVE.format(reason)]})
        return self.interpret(adjusted)

    def adjust_tests(self, measurement: Measurement) -> Measurement:
        """Correct the secondary tests together (Holm); the primary test does not depend on what else is asked.

        The interval of a corrected test is widened to the level at which the test is judged, so that the two agree. A
        test that a protocol has adjusted itself stays as it is.
        """
        open_tests = {
            name: test
            for name, test in measurement.tests.items()
            if test.p_adjusted is None and name not in self.restated
        }
        adjusted = {self.primary: open_tests[self.primary].p_value} if self.primary in open_tests else {}
        secondary = {name: test.p_value for name, test in open_tests.items() if name != self.primary}
        adjusted |= dict(zip(secondary, holm(list(secondary.values())), strict=True))
        return measurement.model_copy(
            update={
                "tests": {
                    name: set_adjusted_p(test, adjusted[name]) if name in adjusted else test
                    for name, test in measurement.tests.items()
                }
            }
        )

    def measure(
        self, model: ModelHandle, options: Any, units: Sequence[Context]
    ) -> Iterator[tuple[pd.DataFrame, Measurement]]:
        """Run the whole pipeline: build everything, load the model once, then score and analyse each unit."""
        with self.blamed():
            built = [self.build(options, unit) for unit in units]
        yield from self.measure_items(model, options, units, built)

    def measure_items(
        self, model: ModelHandle, options: Any, units: Sequence[Context], built: Sequence[Any]
    ) -> Iterator[tuple[pd.DataFrame, Measurement]]:
        """Load the model once, then score and analyse what was built for each unit."""
        with self.blamed():
            loaded = self.load(model, options)
            is_half = model.info().dtype in ("float16", "bfloat16")
            for unit, items in zip(units, built, strict=True):
                for scored in self._check_scored(self.score(loaded, items, options, unit), unit):
                    caveats = [HALF_PRECISION] * is_half + self.model_caveats(model, scored.items)
                    measurement = self._add_scoring(self.analyse(scored.items, unit), scored, unit, caveats)
                    checks = self.check_competence(loaded, scored.items, options, unit)
                    competence = [*measurement.competence, *checks]
                    yield scored.items, measurement.model_copy(update={"competence": competence})

    def _check_scored(self, scored: Any, unit: Context) -> list[Scored]:
        """Scored items as a list, with the columns that tell units apart; anything else is a mistake of the measure."""
        import pandas as pd

        stated = {"language": unit.language} | ({"corpus": unit.corpus} if self.corpora else {})
        checked = []
        for part in scored if isinstance(scored, list | tuple) else [scored]:
            part = part if isinstance(part, Scored) else Scored(part)
            if not isinstance(part.items, pd.DataFrame) or part.items.empty:
                what = "no items" if isinstance(part.items, pd.DataFrame) else f"a {type(part.items).__name__}"
                raise UnmaskError(f"{self.source}: score returned {what}; return a DataFrame with at least one row")
            columns = [*self.keys, *self.samples, self.score_column] if type(self).compare is Measure.compare else []
            if absent := [column for column in filter(None, columns) if column not in {*part.items, *self.split}]:
                raise UnmaskError(
                    f"{self.source}: the items of {self.name} lack the columns {quote(absent)}; correct its keys,"
                    " samples or score_column"
                )
            missing = {column: value for column, value in stated.items() if column not in part.items}
            checked.append(replace(part, items=part.items.assign(**missing)) if missing else part)
        return checked

    def _add_scoring(
        self, measurement: Any, scored: Scored, context: Context, caveats: Sequence[Caveat]
    ) -> Measurement:
        """Add to a measurement what scoring knows, and caveats about the model."""
        if not isinstance(measurement, Measurement) or measurement.name != self.name:
            what = measurement.name if isinstance(measurement, Measurement) else type(measurement).__name__
            raise UnmaskError(
                f"{self.source}: analyse returned {what!r}; return a Measurement whose name is {self.name!r}"
            )
        data_hash = scored.data_hash or measurement.data_hash
        if not data_hash:
            text = scored.items.select_dtypes(exclude="number").to_csv(index=False)
            data_hash = hashlib.sha256(text.encode()).hexdigest()
        return measurement.model_copy(
            update={
                "language": context.language,
                "items": len(scored.items),
                "plugin": self.origin,
                "noise_floor": scored.noise_floor,
                "distinct_inputs": scored.distinct_inputs,
                "data_hash": data_hash,
                "details": measurement.details | dict(scored.details),
                "caveats": [*caveats, *measurement.caveats],
            }
        )

    def model_caveats(self, model: ModelHandle, items: pd.DataFrame) -> list[Caveat]:
        """What a reader must know of this model's items, from what is known of the model."""
        del model, items
        return []

    def analyse_recorded(self, items: pd.DataFrame, context: Context) -> list[Measurement]:
        """Analyse recorded items, each language and corpus by itself."""
        columns = [column for column in self.split if column in items]
        measurements = []
        with self.blamed():
            for _, subset in items.groupby(columns, sort=False) if columns else [((), items)]:
                part = subset.reset_index(drop=True)
                unit = replace(context, language=str(part["language"].iloc[0])) if "language" in part else context
                measurements.append(self._add_scoring(self.analyse(part, unit), Scored(part), unit, []))
        return measurements

    def simulations(self) -> Sequence[Simulation]:
        """Ways to draw scored items at random, with which `unmask study run calibration` counts wrong findings."""
        return ()

    @property
    def source(self) -> str:
        """The package that brings the measure, for messages."""
        return f"{self.origin.package} {self.origin.version}".rstrip() if self.origin else f"unmask, {self.name}"

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Note on an unexpected error which package's measure raised it."""
        try:
            yield
        except UnmaskError:
            raise
        except Exception as error:
            if self.origin is not None:
                error.add_note(f"This was raised by the measure {self.name!r} of {self.source}, not by Unmask.")
            raise

    def resolved(self, model: ModelHandle, options: Any, units: Sequence[Context]) -> dict[str, Any]:
        """The options as they were used, for `result.json`."""
        del model
        return dict(options) | ({"corpora": [unit.corpus for unit in units]} if self.corpora else {})

    def asked_corpora(
        self, measurements: Sequence[Measurement], configuration: dict[str, Any]
    ) -> list[tuple[str, str]]:
        """The language and corpus that each measurement of an audit was asked for, to repeat it."""
        del configuration
        return [(measurement.language, measurement.corpus) for measurement in measurements]

    # Recorded scores.

    def recognises(self, columns: set[str]) -> bool:
        """Whether a table with these columns holds its items."""
        del columns
        return False

    def read_items(self, path: Path, context: Context, *, language: str | None, score_column: str | None) -> Any:
        """Read recorded items from JSON lines, CSV, TSV or Parquet."""
        from unmask.measures.recorded import read_recorded

        del score_column
        return read_recorded(path, (), language=language, default_language=context.language)

    # How the numbers are read.

    def margin_of(self, measurement: Measurement) -> float:
        """The largest value of the primary test that is negligible, on the scale of a measurement."""
        del measurement
        return self.margin

    def not_interpretable(self, measurement: Measurement, *, group: bool = False) -> str:
        """Why a test's value, or a group's, cannot be read as bias; empty if it can."""
        del measurement, group
        return ""

    def key_estimate_value(
        self, figure: KeyEstimate, measurement: Measurement, comparison: Comparison | None = None
    ) -> float | None:
        """The value of one of `key_estimates`, or None; `comparison` is that of a model after with the model before."""
        del comparison
        estimate = measurement.tests.get(figure.test) or measurement.groups.get(figure.group)
        return estimate.value if estimate else None

    def explain_misfit(self, model: ModelHandle) -> str:
        """Why a model cannot be measured, and what can."""
        return f"{model.name} is {MODEL_TYPES[model.kind]}; {self.name} needs {self.needs}"

    # What a report shows.

    def blocks(self, measurement: Measurement, items: pd.DataFrame | None) -> list[Block] | None:
        """Key figures, tables, figures and examples; None: those that any measurement has."""
        del measurement, items
        return None

    def method(self, measurements: Sequence[Measurement]) -> list[Block]:
        """How it is measured; empty: what the measure says of itself."""
        del measurements
        return []

    def facts(self, measurement: Measurement) -> list[tuple[str, str]]:
        """Names and values for the provenance of a measurement; empty: those that any measurement has."""
        del measurement
        return []

    def extremeness(self, items: pd.DataFrame) -> Any:
        """How extreme each item is; None: by the size of `score_column`."""
        del items
        return None

    # Two models.

    @property
    def can_compare(self) -> bool:
        """Whether two models can be compared: it says how items are paired, or has a `compare` of its own."""
        return bool(self.keys and self.score_column) or type(self).compare is not Measure.compare

    def compare(self, before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
        """Compare the items of two models, paired by `keys`."""
        from unmask.measures.comparison import compare_scores

        return compare_scores(self, before, after, seed=seed)

    def conclude_comparison(self, comparison: Comparison, before: Measurement, after: Measurement) -> Comparison:
        """Withhold the verdict where one of the models cannot do what the measure relies on."""
        sides = ("the model before", before), ("the model after", after)
        if reason := "; ".join(filter(None, (side.explain_incompetence(name) for name, side in sides))):
            headline = [INCONCLUSIVE.format(reason)]
            changes = {
                name: change.model_copy(update={"verdict": "inconclusive"}) if change.verdict else change
                for name, change in comparison.changes.items()
            }
            update = {"verdict": "inconclusive", "inconclusive": reason, "headline": headline, "changes": changes}
            comparison = comparison.model_copy(update=update)
        return comparison

    def comparison_report(self, comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
        """What a report shows of a comparison; by default the first change, a plot and a table of all changes."""
        from unmask.report.change_blocks import ComparisonReport, first_change

        del items
        return ComparisonReport(first_change(comparison))
