"""A measured cell of the study: one classifier, rated with one term set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unmask
from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.protocol import PROTOCOLS
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.score import score
from unmask.models.loading import load_classifier
from unmask.models.sources import LoadOptions
from unmask.probes.reviews import Pair, refuse_unchanged, without_twins
from unmask.results import SCHEMA_VERSION, Measurement
from unmask.studies.cells import Say
from unmask.studies.imdb63 import texts, training
from unmask.studies.imdb63.grid import TERM_SETS
from unmask.studies.tuning import tokens_of

if TYPE_CHECKING:
    import pandas as pd

ITEMS, RESULT = "items.parquet", "measurement.json"
DROPPED = ["text", "female_changes", "male_changes"]
"""Kept once, in the cells of the texts."""
POSITIVE = "positive"


@dataclass(frozen=True)
class Measuring:
    """A cell: the classifier of a training, measured with a term set."""

    trained: training.Training
    terms: str
    """pro, weat or all."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    corpus: str = "imdb"
    kind = "measuring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which classifier, and which terms where it is measured with several sets."""
        return f"measuring-{self.trained.name.removeprefix('training-')}-with-{self.terms}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The classifier, and the versions of the test reviews."""
        return (self.trained.name, *self._texts)

    @property
    def _texts(self) -> tuple[str, str, str]:
        female, male = (texts.name_of("test", self.terms, form) for form in ("female", "male"))
        return texts.name_of("test", "", texts.ORIGINAL), female, male

    def inputs(self) -> dict[str, Any]:
        """How it is measured."""
        return {
            "terms": self.terms,
            "protocol": self.trained.protocol,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Rate both versions of every review."""
        del workspace
        protocol = PROTOCOLS[self.trained.protocol]
        originals, females, males = (texts.read(before[name]) for name in self._texts)
        pairs = [
            Pair(str(at), label, one.text, female, male)
            for at, ((one, label), (female, _), (male, _)) in enumerate(zip(originals, females, males, strict=True), 1)
        ]
        if not protocol.keeps_doubles:
            pairs = without_twins(pairs)
        refuse_unchanged(pairs, self.terms)
        made = before[self.trained.name] / training.MODEL
        model = load_classifier(str(made), self.loading, most_tokens=tokens_of(made))
        say(f"rating {sum(1 + pair.changed for pair in pairs):,} texts")
        rater = Rater(model, POSITIVE, single_precision=protocol.single_precision)
        scored = score(pairs, rater, seed=self.trained.seed)
        items = scored.items.assign(
            language="en", corpus=self.corpus, terms=TERM_SETS[self.terms], rating=scored.rating
        )
        measurement = protocol.analyse(items, self.trained.seed).model_copy(
            update={"noise_floor": scored.noise_floor, "distinct_inputs": scored.distinct_inputs}
        )
        items.drop(columns=DROPPED).to_parquet(draft / ITEMS, index=False)
        (draft / RESULT).write_text(measurement.model_dump_json(indent=2), encoding="utf-8")


def figures(folder: Path) -> dict[str, float | int | str | None]:
    """The figures of a measured cell that the study's tables show."""
    import pandas as pd

    from unmask.statistics.published import published_test

    items = pd.read_parquet(folder / ITEMS, columns=["p_female", "p_male", "bias", "changed", "changed_terms"])
    measurement = Measurement.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    ratings = measurement.read_details(Ratings)
    test, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    row = published_test(items["p_male"].to_numpy(), items["p_female"].to_numpy())
    changed = items.loc[items["changed"], "bias"].to_numpy()
    interval = test.interval or (None, None)
    return {
        "n": row.n,
        "below": row.below,
        "equal": row.zero,
        "above": row.above,
        "abs_nonzero": row.abs_nonzero,
        "tot_nonzero": row.tot_nonzero,
        "abs_all": row.abs_all,
        "tot_all": row.tot_all,
        "abs_changed": float(np.abs(changed).mean()),
        "tot_changed": float(changed.mean()),
        "low": interval[0],
        "high": interval[1],
        "effect": test.effect_size,
        "p": test.p_value,
        "p_adjusted": row.p_adjusted,
        "stars": row.stars or "-",
        "flips": None if ratings.flips is None else ratings.flips / max(ratings.changed, 1),
        "noise": measurement.noise_floor,
        "terms_per_text": _terms_a_text(items),
        "words_n": None if words is None else words.n,
        "words_p": None if words is None else words.p_value,
    }


def _terms_a_text(items: pd.DataFrame) -> float:
    changed = items.loc[items["changed"], "changed_terms"]
    return float((changed.str.count("; ") + 1).mean())
