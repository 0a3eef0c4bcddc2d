"""The paper's three questions, answered from the cells, with intervals and tests.

(a) Does bias come from the fine-tuning data? Biases of classifiers whose training reviews had the terms removed (R) or
    balanced (mix) minus those of the classifier of the original reviews, paired by model and term set. Models without
    pretraining are examined separately: a word that was removed has in them a vector that nothing has trained.
(b) Does it come from the pretrained model? Three figures:

    - The share of the variance over cells that pretrained models explain, beyond what conditions do, against the share
      that they explain when models are shuffled within each training condition. The three cells of the classifier of
      original reviews move together, since they are of one training.
    - The correlation of the models' means with the logarithm of their number of parameters, over models.
    - A model that was not pretrained (its name has "scratch" in it, or the column `scratch` says so) against the
      others, over model means with a pooled variance: with one such model, whether it could be another of the others.

          t = (mean of scratch − mean of others) / (s · √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2
(c) Does it depend on the term set? Differences between term sets, paired by model and training condition.

With x and y the biases of paired cells, clustered by model (df = models − 1), so that a finding must hold for other
models:

    difference = mean (x − y)        ratio = exp mean (ln x − ln y)

Absolute biases are compared by their ratio: they differ between models by factors. A bias of 0 has no ratio; its pair
is left out and counted. A test that finds nothing is "no reliable difference", never "no effect"; the interval says
what remains possible. What has no p-value is "not tested". p-values are adjusted by Holm's method within a question.

S. Jentzsch and C. Turan (2022), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.results.formatting import interval, number, p_value
from unmask.results.verdict import ALPHA
from unmask.statistics import jackknife
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.jackknife import IntervalEstimate
from unmask.statistics.permutation import variance_shares
from unmask.studies.imdb63.grid import COLUMNS, TERMS, basis, models_of, ordered

if TYPE_CHECKING:
    import pandas as pd


NOTHING = "no reliable difference"
UNTESTED = "not tested"


@dataclass(frozen=True)
class Evidence:
    """One figure behind an answer: what it is of, its estimate, and what it is to be seen against."""

    name: str
    estimate: IntervalEstimate
    n: int
    """So many pairs, cells or models."""
    against: str = ""
    """Such as what chance gives, or what was compared."""
    digits: int = 4
    null: float = 0.0
    """What it is where there is no effect."""
    p_adjusted: float | None = None
    clusters: int | None = None
    """So many models or trainings, each of which counts as one draw; None where it is no mean of clusters."""
    left_out: int = 0
    """So many pairs besides that have no ratio."""

    @property
    def tested(self) -> bool:
        """Whether there is a p-value among the tests of its question."""
        return self.p_adjusted is not None

    @property
    def clear(self) -> bool:
        """Whether it is more than chance, among the tests of its question."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA

    @property
    def above(self) -> bool:
        """Whether it lies above what it is without an effect."""
        return self.estimate.value is not None and self.estimate.value > self.null

    @property
    def figures(self) -> str:
        """The estimate and its interval: `0.93 [0.75, 1.17]`."""
        return f"{number(self.estimate.value, self.digits)} {interval(self.estimate.interval, self.digits)}".strip()

    @property
    def gaps(self) -> str:
        """How many pairs were left out, and why; empty if none."""
        return f"{self.left_out} left out, with a bias of 0" if self.left_out else ""

    @property
    def words(self) -> str:
        """The figure as a sentence."""
        aside = "; ".join(filter(None, (self.against, self.gaps)))
        aside = f" ({aside})" if aside else ""
        if self.estimate.value is None:
            return f"{self.name}: {UNTESTED}{aside}."
        said = f"{self.name}: {self.figures}{aside}"
        if self.p_adjusted is None:
            return f"{said}; {UNTESTED}."
        return f"{said}, p {p_value(self.p_adjusted)} after correction{'' if self.clear else f': {NOTHING}'}."


@dataclass(frozen=True)
class Answer:
    """A question of the paper, what it answered, what these cells answer, and why."""

    question: str
    paper: str
    answer: str
    evidence: tuple[Evidence, ...]
    caveat: str


def corrected(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The figures with their p-values adjusted by Holm's method, as the tests of one question."""
    adjusted = holm([one.estimate.p_value for one in evidence])
    return tuple(replace(one, p_adjusted=p) for one, p in zip(evidence, adjusted, strict=True))


def paired(
    cells: pd.DataFrame,
    column: str,
    level: str,
    of: str | int,
    minus: str | int,
    *,
    on: str,
    name: str,
    as_ratio: bool = False,
    cluster: str = "model",
) -> Evidence:
    """Compare `column` between two levels, paired by `cluster` and `on`: by the mean difference, or by the mean ratio.

    A ratio leaves out pairs with a zero, and counts them; the means beside it are of all pairs. No pairs give no
    estimate, one cluster no test.
    """
    wide = cells.pivot(index=[cluster, on], columns=level, values=column).reindex(columns=[of, minus]).dropna()
    against = f"means {number(wide[of].mean(), 4)} and {number(wide[minus].mean(), 4)}" if len(wide) else ""
    kept = wide[(wide > 0).all(axis=1)] if as_ratio else wide
    x, y = (kept[side].to_numpy(dtype=float) for side in (of, minus))
    clusters = kept.index.get_level_values(cluster).to_numpy(dtype=str)
    found = Evidence(
        name, IntervalEstimate(None), len(kept), against, clusters=len(set(clusters)), left_out=len(wide) - len(kept)
    )
    if not as_ratio:
        return replace(found, estimate=jackknife.clustered_mean(x - y, clusters))
    return replace(
        found, estimate=_exponential(jackknife.clustered_mean(np.log(x) - np.log(y), clusters)), digits=2, null=1.0
    )


def _exponential(logs: IntervalEstimate) -> IntervalEstimate:
    """A ratio from the estimate of its logarithm, whose standard error and test it keeps."""
    if logs.value is None:
        return logs
    between = None if logs.interval is None else (float(np.exp(logs.interval[0])), float(np.exp(logs.interval[1])))
    return replace(logs, value=float(np.exp(logs.value)), interval=between)


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


Array = NDArray[np.float64]
MODEL_BIASES = {"absolute": "absolute bias", "total": "total bias"}


def pretraining(cells: pd.DataFrame, *, seed: int) -> Answer:
    """(b): how much models differ, whether size goes with it, and what a model without pretraining does."""
    scratch = without_pretraining(cells)
    trained = [model for model in models_of(cells) if model not in scratch]
    found: dict[tuple[str, str], Evidence] = {}
    for bias in MODEL_BIASES:
        found["share", bias] = _share(cells[cells["model"].isin(trained)], bias, seed)
    logs = np.log10(cells.drop_duplicates("model").set_index("model")["size"].reindex(trained).to_numpy(dtype=float))
    sized = np.isfinite(logs)
    for bias, name in MODEL_BIASES.items():
        if sized.sum() > 2:
            related = pearson_estimate(logs[sized], model_means(cells, bias, trained)[sized])
            found["size", bias] = Evidence(f"{name}, correlation with log size", related, int(sized.sum()), digits=2)
    for bias, name in MODEL_BIASES.items():
        if scratch and trained:
            both = [model_means(cells, bias, models) for models in (scratch, trained)]
            against = " and ".join(number(float(one.mean()), 4) for one in both)
            title = f"{name}, without − with pretraining"
            found["scratch", bias] = Evidence(title, difference(*both), len(both[0]) + len(both[1]), f"means {against}")
    evidence = corrected(list(found.values()))
    said = [_words(what, MODEL_BIASES[bias], one) for (what, bias), one in zip(found, evidence, strict=True)]
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
    name = f"{MODEL_BIASES[bias]}, share of the variance between models"
    wide = cells.pivot(index="model", columns=["terms", "kind"], values=bias).reindex(columns=list(COLUMNS))
    blocks = ["original" if kind == "original" else f"{kind}-{terms}" for terms, kind in COLUMNS]
    found = variance_shares(wide.to_numpy(dtype=float), blocks, seed=seed)
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


DONE = {"R": "removing the terms from the training reviews", "mix": "balancing them"}
BIASES = {"absolute": "absolute bias", "extent": "size of the total bias", "total": "total bias"}


def answers(cells: pd.DataFrame, *, seed: int = 0) -> list[Answer]:
    """All three, in the paper's order; `seed` is of the shuffles behind the second."""
    cells = ordered(cells)
    means = basis(cells)
    known = cells.assign(absolute=cells[means.absolute], total=cells[means.total], extent=cells[means.total].abs())
    known = known.dropna(subset=["absolute", "total"])
    return [finetuning(known), pretraining(known, seed=seed), term_sets(known)]


def finetuning(cells: pd.DataFrame) -> Answer:
    """(a): what removing or balancing the terms changes."""
    scratch = without_pretraining(cells)
    apart = cells[cells["model"].isin(scratch)]
    if len(apart) < len(cells):
        cells = cells[~cells["model"].isin(scratch)]
    places = [(kind, bias) for kind in DONE for bias in BIASES]
    evidence = corrected(
        [
            paired(
                cells,
                bias,
                "kind",
                kind,
                "original",
                on="terms",
                name=f"{BIASES[bias]}, {kind} {'/' if bias == 'absolute' else '−'} original",
                as_ratio=bias == "absolute",
            )
            for kind, bias in places
        ]
    )
    return Answer(
        "Is bias from the fine-tuning data?",
        "no; removing or balancing the terms did not change biases considerably.",
        " ".join(filter(None, (_moved(dict(zip(places, evidence, strict=True))), _untrained(apart)))),
        evidence,
        "One training a cell, so that chance of training is in the differences. A classifier of balanced reviews has"
        " read twice as many. Removing words takes their own link to ratings out of the training, not that of the names"
        " and topics around them.",
    )


def _untrained(cells: pd.DataFrame) -> str:
    """The same for models without pretraining, in figures alone: there are too few of them to test."""
    if cells.empty:
        return ""
    names = " and ".join(dict.fromkeys(cells["model"].astype(str)))
    means = cells.groupby("kind", sort=False)[["absolute", "total"]].mean()
    figures = [f"{kind} {number(row['absolute'], 4)} ({number(row['total'], 4)})" for kind, row in means.iterrows()]
    return f"Left out here is {names}, without pretraining: mean absolute (total) bias {', '.join(figures)}."


def _moved(evidence: dict[tuple[str, str], Evidence]) -> str:
    """What is clear, by what was done to the reviews."""
    if not any(one.tested for one in evidence.values()):
        return "Not tested: too few models with original and changed training reviews."
    said = []
    for kind, done in DONE.items():
        tested = [bias for bias in BIASES if evidence[kind, bias].tested]
        if not tested:
            said.append(f"{capital(done)}: {UNTESTED}.")
            continue
        parts = []
        for bias in ("absolute", "extent"):
            one = evidence[kind, bias]
            if one.clear:
                parts.append(f"{'raises' if one.above else 'lowers'} the {BIASES[bias]} ({_shown(bias, one)})")
        if evidence[kind, "total"].clear:
            way = "male" if evidence[kind, "total"].above else "female"
            parts.append(f"moves the total bias towards {way} versions")
        if not parts:
            first = tested[0]
            parts.append(f"makes {NOTHING} ({_shown(first, evidence[kind, first])})")
        rest = " and ".join(name for bias, name in BIASES.items() if bias not in tested)
        said.append(f"{capital(done)} {' and '.join(parts)}{f'; {rest}: {UNTESTED}' if rest else ''}.")
    return " ".join(said)


def _shown(bias: str, one: Evidence) -> str:
    """A ratio with its sign and the pairs that it leaves out, a difference with what it is of."""
    if bias == "absolute":
        return "; ".join(filter(None, (f"absolute bias × {one.figures}", one.gaps)))
    return f"{BIASES[bias]} {one.figures}, {one.against}"


def term_sets(cells: pd.DataFrame) -> Answer:
    """(c): what more terms change, per text and, where the cells say how many terms a text has, per term."""
    ways = {"absolute": "absolute bias per text"}
    if cells["terms_per_text"].notna().any():
        cells = cells.assign(per_term=cells["absolute"] / cells["terms_per_text"])
        ways["per_term"] = "absolute bias per changed term"
    pairs = list(combinations(TERMS, 2))
    evidence = corrected(
        [
            paired(cells, column, "terms", big, small, on="kind", name=f"{name}, {big} / {small}", as_ratio=True)
            for column, name in ways.items()
            for small, big in pairs
        ]
    )
    wide = cells.pivot(index=["model", "kind"], columns="terms", values="absolute").reindex(columns=list(TERMS))
    wide = wide.dropna()
    rising = int(((wide["pro"] < wide["weat"]) & (wide["weat"] < wide["all"])).sum())
    said = [f"pro < weat < all in {rising} of {len(wide)} cases of model and training."]
    if not any(one.tested for one in evidence):
        above = " and biases above 0" if any(one.left_out for one in evidence) else ""
        said.insert(0, f"Not tested: too few models with several term sets{above}.")
    else:
        parts = {name: evidence[at * len(pairs) : (at + 1) * len(pairs)] for at, name in enumerate(ways.values())}
        said = [_ranked(name, found) for name, found in parts.items()] + said
    return Answer(
        "Does it depend on the term set?",
        "yes; the more terms, the larger the absolute bias.",
        " ".join(said),
        evidence,
        "The sets contain each other, and a larger one changes more words in a text: more bias a text is not more bias"
        " a word." + ("" if "per_term" in ways else " The cells do not say how many terms a text has."),
    )


def _ranked(name: str, evidence: tuple[Evidence, ...]) -> str:
    """Which of the ratios between sets are clear."""
    if not any(one.tested for one in evidence):
        return f"{capital(name)}: {UNTESTED}."
    sets = [one.name.split(", ")[1] for one in evidence]
    clear = [f"{pair} = {one.figures}" for pair, one in zip(sets, evidence, strict=True) if one.clear]
    untested = ", ".join(pair for pair, one in zip(sets, evidence, strict=True) if not one.tested)
    gaps = ", ".join(f"{pair}: {one.gaps}" for pair, one in zip(sets, evidence, strict=True) if one.gaps)
    nothing = any(one.tested and not one.clear for one in evidence)
    rest = [f"else {NOTHING}" if clear and nothing else "", f"{untested}: {UNTESTED}" if untested else "", gaps]
    aside = "; ".join(filter(None, (", ".join(clear), *rest)))
    said = "differs" if clear else f"shows {NOTHING}"
    return f"{capital(name)} {said} between term sets{f' ({aside})' if aside else ''}."
