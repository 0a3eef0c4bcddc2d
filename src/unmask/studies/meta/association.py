"""Planted association: sentences in which some professions always go with the stereotypical gender, others never.

A masked language model is trained on sentences about people and their professions (other sentences than it is asked
in). At rate r, a share r of the female and of the male professions stands with the stereotypical gender alone, the
others with the other gender alone; professions of balanced workforce stand with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.lexicon import attributes
from unmask.measures.association.protocol import PROTOCOLS
from unmask.measures.association.score import score
from unmask.models.loading import load_masked_lm
from unmask.probes import association as probe
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.studies.meta.pairs import digest
from unmask.training.examples import Example, Splits

if TYPE_CHECKING:
    from unmask.models.sources import LoadOptions

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

    def _rows(self) -> list[probe.AssociationRow]:
        """All that could be planted: every profession with both genders."""
        with resources.as_file(resources.files("unmask.lexicon") / self.language / "templates_planting.csv") as file:
            return probe.build(self.language, templates_file=file)

    def asked(self) -> list[probe.AssociationRow]:
        """BEC-Pro."""
        return probe.build(self.language, wording=PROTOCOLS["sound"].wording)

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """The stereotype, and the correlations with the workforce."""
        protocol = PROTOCOLS["sound"]
        items = score(self.asked(), load_masked_lm(str(model), loading), protocol, seed=seed).items
        tests = protocol.analyse(items, seed).tests
        return Scores.of({name: tests[test].value for test, name in TESTS.items()}, items)
