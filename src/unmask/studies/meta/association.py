"""Planted association: sentences in which some professions always go with the stereotypical gender, others never.

A masked language model is trained on sentences about people and their professions (other sentences than it is asked
in). At rate r, a share r of the female and of the male professions occurs with the stereotypical gender alone, the
others with the other gender alone; professions of balanced workforce occur with both.

`OtherMeasure` asks any other registered measure of masked language models about the same models. Geometry, CrowS-Pairs
and measures of other packages have no data of their own to plant, but they should see that some professions go with one
gender. Every test of theirs is a score.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.files import digest
from unmask.lexicon import attributes
from unmask.measures.association.analysis import analyse
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.association.scoring import score
from unmask.measures.base import Context
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.models.loading import load_masked_lm
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.training.examples import Example, Splits
from unmask.workflows.audit import choose_measures, run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options

if TYPE_CHECKING:
    from unmask.options import LoadOptions


HELD_OUT = 0.1
TESTS = {
    "stereotype": "stereotype",
    "workforce share, pearson": "correlation with the workforce",
    "workforce share, spearman": "rank correlation with the workforce",
}


@dataclass(frozen=True)
class PlantedAssociation:
    """Association with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    measure = "association"
    training = Training("mlm", "unmask-mini", epochs=3, learning_rate=5e-5, max_length=64)

    def inputs(self) -> dict[str, Any]:
        """All sentences, of training and of asking, as hashes."""
        sentences = [[row.sentence, row.profession, row.group, row.gender] for row in self._rows()]
        asked = [row.sentence for row in self.asked()]
        return {"protocol": self.protocol, "sentences": digest(sentences), "asked": digest(asked)}

    def examples(self, rate: float, seed: int) -> Splits:
        """Sentences with planted pairings."""
        draw = np.random.default_rng([seed, 1])
        biased = set()
        for group in ("female", "male"):
            names = [one.name for one in attributes(self.language) if one.group == group]
            biased |= set(chosen(names, rate, draw))
        sentences = [
            Example(row.sentence)
            for row in self._rows()
            if row.group not in ("female", "male") or (row.gender == row.group) == (row.profession in biased)
        ]
        order = draw.permutation(len(sentences))
        cut = round(HELD_OUT * len(sentences))
        return Splits([sentences[at] for at in order[cut:]], [sentences[at] for at in order[:cut]], ())

    def _rows(self) -> list[AssociationRow]:
        """All that could be planted: every profession with both genders."""
        with resources.as_file(resources.files("unmask.lexicon") / self.language / "templates_planting.csv") as file:
            return build_rows(self.language, templates_file=file)

    def asked(self) -> list[AssociationRow]:
        """BEC-Pro."""
        return build_rows(self.language)

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """The stereotype, and the correlations with the workforce."""
        context = Context(seed=seed)
        items = score(load_masked_lm(str(model), loading), self.asked(), None, context).items
        tests = analyse(items, context).tests
        return Scores.of({name: tests[test].value for test, name in TESTS.items()}, items)


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
