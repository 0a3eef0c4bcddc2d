"""Any other registered measure of masked language models, asked about the models in which association was planted.

Geometry, CrowS-Pairs and measures of other packages have no data of their own to plant. But what was planted, that some
professions go with one gender, is what they should see too. Every test of theirs is a score.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.auditing.audit import choose_measures, run_audit
from unmask.auditing.options import AuditOptions, audit_options
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.studies.meta.association import PlantedAssociation
from unmask.studies.meta.experiment import Scores
from unmask.training.examples import Splits

if TYPE_CHECKING:
    from unmask.models.sources import LoadOptions

PLANTED = PlantedAssociation()


@dataclass(frozen=True)
class OtherMeasure:
    """A measure by its name."""

    measure: str
    language: str = PLANTED.language
    protocol: str = PLANTED.protocol
    plants = PLANTED.measure
    training = PLANTED.training

    def inputs(self) -> dict[str, Any]:
        """Those of what is planted, so that its models are made once for all measures."""
        return PLANTED.inputs()

    def examples(self, rate: float, seed: int) -> Splits:
        """Sentences with planted pairings."""
        return PLANTED.examples(rate, seed)

    def reads(self, loading: LoadOptions) -> dict[str, Any]:
        """What decides its scores besides the model: the package that brings it, or pairs that are no part of ours."""
        measure = get_measure(self.measure)
        if measure.origin is not None:
            return {"package": measure.source}
        return measure.data_inputs(offline=loading.offline)

    def refuse_misfit(self, base: str, loading: LoadOptions) -> None:
        """Refuse a model that cannot be asked, and a measure that cannot be had."""
        self.reads(loading)
        choose_measures(ModelHandle(base, loading), self._options(0, loading))

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """What each of its tests estimates."""
        found = run_audit(str(model), self._options(seed, loading))
        measurements = found.result.measurements
        figures = {
            name if len(measurements) == 1 else f"{one.corpus}: {name}": test.value
            for one in measurements
            for name, test in one.tests.items()
        }
        return Scores.of(figures, found.items[self.measure])

    def _options(self, seed: int, loading: LoadOptions) -> AuditOptions:
        return audit_options()(measures=(self.measure,), languages=(self.language,), seed=seed, **dict(loading))
