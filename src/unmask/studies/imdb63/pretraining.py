"""Does bias come from the pretrained model? The paper's second question, in three figures.

- The share of the variance over cells that pretrained models explain, beyond what conditions do, against the share that
  they explain when models are shuffled within each training condition (`statistics.explained`). The three cells of the
  classifier of original reviews move together, since they are of one training.
- The correlation of the models' means with the logarithm of their number of parameters, over models.
- A model that was not pretrained (its name has "scratch" in it, or the column `scratch` says so) against the others,
  over model means with a pooled variance: with one such model, whether it could be another of the others.

      t = (mean of scratch − mean of others) / (s · √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.results.numbers import number
from unmask.statistics.crossed import IntervalEstimate
from unmask.statistics.explained import shares
from unmask.statistics.relation import pearson_estimate
from unmask.studies.imdb63.answer import NOTHING, UNTESTED, Answer, Evidence, corrected
from unmask.studies.imdb63.measured import COLUMNS, models_of

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
BIASES = {"absolute": "absolute bias", "total": "total bias"}


def pretraining(cells: pd.DataFrame, *, seed: int) -> Answer:
    """(b): how much models differ, whether size goes with it, and what a model without pretraining does."""
    scratch = without_pretraining(cells)
    trained = [model for model in models_of(cells) if model not in scratch]
    found: dict[tuple[str, str], Evidence] = {}
    for bias in BIASES:
        found["share", bias] = _share(cells[cells["model"].isin(trained)], bias, seed)
    logs = np.log10(cells.drop_duplicates("model").set_index("model")["size"].reindex(trained).to_numpy(dtype=float))
    sized = np.isfinite(logs)
    for bias, name in BIASES.items():
        if sized.sum() > 2:
            related = pearson_estimate(logs[sized], model_means(cells, bias, trained)[sized])
            found["size", bias] = Evidence(f"{name}, correlation with log size", related, int(sized.sum()), digits=2)
    for bias, name in BIASES.items():
        if scratch and trained:
            both = [model_means(cells, bias, models) for models in (scratch, trained)]
            against = " and ".join(number(float(one.mean()), 4) for one in both)
            title = f"{name}, without − with pretraining"
            found["scratch", bias] = Evidence(title, difference(*both), len(both[0]) + len(both[1]), f"means {against}")
    evidence = corrected(list(found.values()))
    said = [_words(what, BIASES[bias], one) for (what, bias), one in zip(found, evidence, strict=True)]
    return Answer(
        "Is bias from the pretrained model?",
        "yes; biases differ with the pretrained model, and grow with its size.",
        " ".join(said),
        evidence,
        "Models differ in architecture, size, vocabulary and settings of training, not in pretraining alone, so that a"
        " difference between them is not yet one of what they read. A handful of models is few for a correlation.",
    )


def without_pretraining(cells: pd.DataFrame) -> list[str]:
    """The models that were not pretrained."""
    flagged = set(cells.loc[cells["scratch"].eq(True), "model"]) if "scratch" in cells.columns else set()
    return [model for model in models_of(cells) if model in flagged or "scratch" in model.lower()]


def model_means(cells: pd.DataFrame, bias: str, models: list[str]) -> Array:
    """The mean of each model over its cells, each cell seen against its condition, so that a gap does not move it."""
    centred = cells[bias] - cells.groupby(["terms", "kind"])[bias].transform("mean") + cells[bias].mean()
    means: Array = centred.groupby(cells["model"]).mean().reindex(models).to_numpy(dtype=float)
    return means


def difference(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> IntervalEstimate:
    """The mean of one sample minus that of another, with a pooled variance; one of them may hold a single value."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not a.size or not b.size:
        return IntervalEstimate(None)
    value, df = float(a.mean() - b.mean()), a.size + b.size - 2
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    if df < 1 or squares <= (1e-12 * abs(value)) ** 2:
        return IntervalEstimate(value)
    error = float(np.sqrt(squares / df * (1 / a.size + 1 / b.size)))
    reach = float(stats.t.isf((1 - confidence) / 2, df)) * error
    p = float(2 * stats.t.sf(abs(value) / error, df))
    return IntervalEstimate(value, error, df, (value - reach, value + reach), value / error, p)


def _share(cells: pd.DataFrame, bias: str, seed: int) -> Evidence:
    name = f"{BIASES[bias]}, share of the variance between models"
    wide = cells.pivot(index="model", columns=["terms", "kind"], values=bias).reindex(columns=list(COLUMNS))
    blocks = ["original" if kind == "original" else f"{kind}-{terms}" for terms, kind in COLUMNS]
    found = shares(wide.to_numpy(dtype=float), blocks, seed=seed)
    if found is None:
        return Evidence(name, IntervalEstimate(None), len(cells))
    against = f"{found.chance:.0%} by chance; between conditions {found.columns:.0%}".replace("%", " %")
    return Evidence(
        name, IntervalEstimate(found.rows, p_value=found.p_value), len(cells), against, digits=2, null=found.chance
    )


def _words(what: str, bias: str, one: Evidence) -> str:
    """What a figure says, in a sentence."""
    value = number(one.estimate.value)
    if what == "share":
        if one.p_adjusted is None:
            return f"Whether models differ in {bias} could not be tested."
        share = f"{one.estimate.value or 0:.0%} of its variance is between models; {one.against.split(';')[0]}"
        share = share.replace("%", " %").replace("  %", " %")
        return f"Models differ in {bias} ({share})." if one.clear else f"In {bias}, {NOTHING} between models ({share})."
    if what == "size":
        if one.clear:
            return f"Larger models have a {'larger' if one.above else 'smaller'} {bias} (r = {value})."
        if not one.tested:
            return f"Relation of size and {bias}: {UNTESTED}."
        return f"No reliable relation of size and {bias} (r = {value})."
    if one.clear:
        return f"Without pretraining the {bias} is {'larger' if one.above else 'smaller'} ({one.against})."
    if not one.tested:
        return f"Without pretraining, a difference in {bias} is {UNTESTED} ({one.against})."
    return f"Without pretraining, {NOTHING} in {bias} ({one.against})."
