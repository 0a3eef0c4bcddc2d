"""Planted association: sentences in which some professions always go with the stereotypical gender, others never.

A masked language model is trained on sentences about people and their professions (others than it is asked). At rate r,
a share r of the female and of the male professions occurs with the stereotypical gender alone, the others with the
other gender alone; professions of balanced workforce occur with both.

`OtherMeasure` asks any other registered measure of masked language models about the same models. Geometry, CrowS-Pairs
and measures of plug-ins have no data of their own to plant, but they should see that some professions go with one
gender. Every test of theirs is a score.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.files import digest
from unmask.lexicon import attributes
from unmask.measures.association import AssociationMeasure
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.studies.meta.experiment import Experiment, TrainingDefaults, draw_words
from unmask.training.examples import Splits, TextExample
from unmask.workflows.audit import choose_measures
from unmask.workflows.audit_options import audit_options

if TYPE_CHECKING:
    from unmask.options import LoadOptions
    from unmask.results import Measurement

HELD_OUT = 0.1
FIGURES = {
    "stereotype": "stereotype",
    "workforce share, pearson": "correlation with the workforce",
    "workforce share, spearman": "rank correlation with the workforce",
}


@dataclass(frozen=True)
class PlantedAssociation(Experiment):
    """Association with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    measure = AssociationMeasure.name
    training = TrainingDefaults("mlm", "unmask-mini", epochs=3, learning_rate=5e-5, max_length=64)

    def inputs(self) -> dict[str, Any]:
        """All sentences, of training and of asking, as hashes."""
        sentences = [[row.sentence, row.profession, row.group, row.gender] for row in self._build_rows()]
        asked = [row.sentence for row in build_rows(self.language)]
        return {"protocol": self.protocol, "sentences": digest(sentences), "asked": digest(asked)}

    def examples(self, rate: float, seed: int) -> Splits:
        """Sentences with planted pairings."""
        draw = np.random.default_rng([seed, 1])
        biased = set()
        for group in ("female", "male"):
            names = [attribute.name for attribute in attributes(self.language) if attribute.group == group]
            biased |= set(draw_words(names, rate, draw))
        sentences = [
            TextExample(row.sentence)
            for row in self._build_rows()
            if row.group not in ("female", "male") or (row.gender == row.group) == (row.profession in biased)
        ]
        order = draw.permutation(len(sentences))
        cut = round(HELD_OUT * len(sentences))
        return Splits([sentences[index] for index in order[cut:]], [sentences[index] for index in order[:cut]], ())

    def _build_rows(self) -> list[AssociationRow]:
        """All that could be planted: every profession with both genders."""
        with resources.as_file(resources.files("unmask.lexicon") / self.language / "templates_planting.csv") as file:
            return build_rows(self.language, templates_file=file)

    def figures(self, measurement: Measurement) -> dict[str, float | None]:
        """The stereotype, and the correlations with the workforce."""
        return {title: measurement.tests[name].value for name, title in FIGURES.items()}


PLANTED = PlantedAssociation()


@dataclass(frozen=True)
class OtherMeasure(Experiment):
    """A measure that is asked about the models of association."""

    measure: str
    language: str = PLANTED.language
    protocol: str = PLANTED.protocol
    training = PLANTED.training

    @property
    def planted(self) -> str:
        """Association, so that models are made once for all measures."""
        return PLANTED.measure

    def inputs(self) -> dict[str, Any]:
        """Those of what is planted."""
        return PLANTED.inputs()

    def examples(self, rate: float, seed: int) -> Splits:
        """Sentences with planted pairings."""
        return PLANTED.examples(rate, seed)

    def data_inputs(self, loading: LoadOptions) -> dict[str, Any]:
        """Return what decides its scores in addition to the model: its package, or data that is not in ours."""
        measure = get_measure(self.measure)
        if measure.origin is not None:
            return {"package": measure.source}
        return measure.data_inputs(offline=loading.offline)

    def check_model(self, base: str, loading: LoadOptions) -> None:
        """Raise an error if a model cannot be measured, or the data of the measure is missing."""
        self.data_inputs(loading)
        options = audit_options()(measures=(self.measure,), languages=(self.language,), **dict(loading))
        choose_measures(ModelHandle(base, loading), options)
