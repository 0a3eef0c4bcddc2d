"""The paper's three questions, answered with intervals and tests.

(a) Does bias come from the fine-tuning data? Biases of classifiers whose training reviews had the terms removed (R) or
    balanced (mix) minus those of the classifier of the original reviews, paired by model and term set. Models without
    pretraining are examined separately: nothing has trained their vector of a word that was removed.
(b) Does it come from the pretrained model? Three figures:

    - The share of the variance that pretrained models explain beyond what conditions do, compared with the share that
      they explain when models are shuffled within each training condition. The three measurements of the classifier of
      original reviews move together, because they are of one training.
    - The correlation of the models' means with the logarithm of their number of parameters, over models.
    - A model that was not pretrained (its name has "scratch" in it) against the others, over model means with a pooled
      variance: with one such model, whether it could be another of the others.

          t = (mean of scratch − mean of others) / (s · √(1/n₁ + 1/n₂)), df = n₁ + n₂ − 2
(c) Does it depend on the term set? Differences between term sets, paired by model and training condition.

With x and y the paired biases, clustered by model (df = models − 1), so that a finding must hold for other models:

    difference = mean (x − y)        ratio = exp mean (ln x − ln y)

Absolute biases are compared by their ratio, because they differ between models by factors. A bias of 0 has no ratio;
its pair is left out and counted. A test that finds nothing is "no reliable difference", never "no effect"; the interval
shows what remains possible. p-values are adjusted by Holm's method within a question.

S. Jentzsch and C. Turan (2022), section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.results.formatting import capital, interval, number, p_value
from unmask.results.verdict import is_significant
from unmask.statistics import jackknife
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.jackknife import IntervalEstimate, student_interval
from unmask.statistics.permutation import variance_shares
from unmask.studies.imdb63.grid import PLACES, TERMS
from unmask.studies.imdb63.measurements import get_basis, list_models

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
NOTHING = "no reliable difference"
UNTESTED = "not tested"
INTERVENTIONS = {
    "R": "removing the terms from the training reviews",
    "mix": "balancing the terms in the training reviews",
}
BIASES = {"absolute": "absolute bias", "extent": "size of the total bias", "total": "total bias"}
EFFECTS = {
    "absolute": ("raises the absolute bias by a factor", "lowers the absolute bias by a factor"),
    "extent": ("raises the size of the total bias", "lowers the size of the total bias"),
    "total": ("moves the total bias towards male versions", "moves the total bias towards female versions"),
}
"""What a clear change of a bias is called, if it is above and below the value without an effect."""
MODEL_BIASES = ("absolute", "total")


@dataclass(frozen=True)
class Finding:
    """One figure behind an answer: its estimate, and what it is compared with."""

    name: str
    estimate: IntervalEstimate
    n: int
    """The number of pairs, measurements or models."""
    context: str = ""
    """What was compared, or what chance gives."""
    digits: int = 4
    null: float = 0.0
    """The value without an effect."""
    subject: str = ""
    """What the answer says it of: findings of a subject share a sentence."""
    topic: str = ""
    """The short name in that sentence."""
    effects: tuple[str, str] = ("", "")
    """What the answer says if it is clearly above and below the value without an effect."""
    p_adjusted: float | None = None
    """The p-value among the tests of its question; None if it is not tested."""
    clusters: int | None = None
    """The number of models or trainings, each of which counts as one draw; None for what is no mean of clusters."""
    left_out: int = 0
    """The number of further pairs that have no ratio."""

    @property
    def is_clear(self) -> bool:
        """Whether it is more than chance, among the tests of its question."""
        return is_significant(self.p_adjusted)

    @property
    def effect(self) -> str:
        """What the answer says of a clear finding."""
        return self.effects[0 if (self.estimate.value or 0) > self.null else 1]

    @property
    def value(self) -> str:
        """The estimate and its interval: `0.93 [0.75, 1.17]`."""
        if self.estimate.value is None:
            return ""
        return f"{number(self.estimate.value, self.digits)} {interval(self.estimate.interval, self.digits)}".strip()

    @property
    def aside(self) -> str:
        """What was compared, and how many pairs were left out."""
        return "; ".join(
            filter(None, (self.context, f"{self.left_out} left out, with a bias of 0" if self.left_out else ""))
        )

    @property
    def sentence(self) -> str:
        """The figure as a sentence."""
        figures = " ".join(filter(None, (self.value, f"({self.aside})" if self.aside else "")))
        if self.p_adjusted is None:
            return f"{self.name}: {'; '.join(filter(None, (figures, UNTESTED)))}."
        verdict = "" if self.is_clear else f": {NOTHING}"
        return f"{self.name}: {figures}, p {p_value(self.p_adjusted)} after correction{verdict}."


@dataclass(frozen=True)
class Answer:
    """A question of the paper, its answer, ours, and why."""

    question: str
    paper: str
    answer: str
    findings: tuple[Finding, ...]
    caveat: str


def answer_questions(grid: pd.DataFrame, *, seed: int = 0, trainings: int = 1) -> list[Answer]:
    """Answer all three questions.

    Args:
        grid: The measurements.
        seed: The seed of the shuffles behind the second answer.
        trainings: Over how many trainings of each classifier the biases are means.
    """
    basis = get_basis(grid)
    grid = grid.assign(absolute=grid[basis.absolute], total=grid[basis.total], extent=grid[basis.total].abs())
    grid = grid.dropna(subset=["absolute", "total"])
    return [_answer_training_data(grid, trainings), _answer_pretraining(grid, seed), _answer_term_sets(grid)]


def adjust_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Adjust the p-values by Holm's method, as the tests of one question."""
    adjusted = holm([finding.estimate.p_value for finding in findings])
    return tuple(replace(finding, p_adjusted=p) for finding, p in zip(findings, adjusted, strict=True))


def describe_findings(findings: Sequence[Finding]) -> str:
    """Return a sentence for each subject: what is clear, what is not, and what could not be tested."""
    sentences = []
    for subject, group in groupby(findings, key=lambda finding: finding.subject):
        parts: dict[str, list[str]] = {"": [], f"{NOTHING} in ": [], f"{UNTESTED}: ": []}
        for finding in group:
            figures = f"({'; '.join(filter(None, (finding.value, finding.aside)))})"
            if finding.p_adjusted is None:
                parts[f"{UNTESTED}: "].append(finding.topic)
            elif finding.is_clear:
                parts[""].append(f"{finding.effect} {figures}")
            else:
                parts[f"{NOTHING} in "].append(f"{finding.topic} {figures}")
        texts = [f"{start}{', '.join(names)}" for start, names in parts.items() if names]
        sentences.append(f"{capital(subject)}: {'; '.join(texts)}.")
    return " ".join(sentences)


def compare_levels(
    grid: pd.DataFrame,
    column: str,
    levels: tuple[str, str | int, str | int],
    *,
    on: str,
    name: str,
    as_ratio: bool = False,
    cluster: str = "model",
) -> Finding:
    """Compare a column between two levels by the mean difference, or the mean ratio, of pairs.

    A ratio leaves out pairs with a zero and counts them. No pairs give no estimate, one cluster no test.

    Args:
        grid: The measurements.
        column: What is compared.
        levels: A column, and its two values that are compared.
        on: Pairs share this column and the cluster.
        name: The name of the figure.
        as_ratio: Whether the ratio is taken rather than the difference.
        cluster: The column of the clusters.
    """
    level, first, second = levels
    wide = grid.pivot(index=[cluster, on], columns=level, values=column).reindex(columns=[first, second]).dropna()
    means = f"means {number(wide[first].mean(), 4)} and {number(wide[second].mean(), 4)}" if len(wide) else ""
    pairs = wide[(wide > 0).all(axis=1)] if as_ratio else wide
    x, y = (pairs[side].to_numpy(dtype=float) for side in (first, second))
    clusters = pairs.index.get_level_values(cluster).to_numpy(dtype=str)
    left_out = len(wide) - len(pairs)
    differences = np.log(x) - np.log(y) if as_ratio else x - y
    estimate = jackknife.clustered_mean(differences, clusters)
    finding = Finding(name, estimate, len(pairs), means, clusters=len(set(clusters)), left_out=left_out)
    if not as_ratio:
        return finding
    if estimate.value is not None:  # the standard error and the test remain those of the logarithm
        bounds = estimate.interval and (float(np.exp(estimate.interval[0])), float(np.exp(estimate.interval[1])))
        estimate = replace(estimate, value=float(np.exp(estimate.value)), interval=bounds)
    return replace(finding, estimate=estimate, digits=2, null=1.0)


def find_without_pretraining(grid: pd.DataFrame) -> list[str]:
    """Return the models that were not pretrained."""
    return [model for model in list_models(grid) if "scratch" in model.lower()]


def _answer_training_data(grid: pd.DataFrame, trainings: int) -> Answer:
    """(a): what removing or balancing the terms changes."""
    untrained = grid[grid["model"].isin(find_without_pretraining(grid))]
    aside = ""
    if 0 < len(untrained) < len(grid):
        grid = grid.drop(untrained.index)
    if len(untrained):  # too few to test
        means = untrained.groupby("kind", sort=False)[["absolute", "total"]].mean()
        figures = [f"{kind} {number(row['absolute'], 4)} ({number(row['total'], 4)})" for kind, row in means.iterrows()]
        names = " and ".join(list_models(untrained))
        aside = f" Not included: {names}, without pretraining: mean absolute (total) bias {', '.join(figures)}."
    findings = []
    for kind, intervention in INTERVENTIONS.items():
        for bias, title in BIASES.items():
            as_ratio = bias == "absolute"
            name = f"{title}, {kind} {'/' if as_ratio else '−'} original"
            finding = compare_levels(grid, bias, ("kind", kind, "original"), on="terms", name=name, as_ratio=as_ratio)
            findings.append(replace(finding, subject=intervention, topic=title, effects=EFFECTS[bias]))
    adjusted = adjust_findings(findings)
    return Answer(
        "Is bias from the fine-tuning data?",
        "no; removing or balancing the terms did not change biases considerably.",
        describe_findings(adjusted) + aside,
        adjusted,
        ("Each classifier was trained once" if trainings == 1 else f"Biases are means over up to {trainings} trainings")
        + ", so that the differences include chance of training. A classifier of balanced"
        " reviews has read twice as many. Removing words removes their own link to ratings from the training, not that"
        " of the names and topics around them.",
    )


def _answer_pretraining(grid: pd.DataFrame, seed: int) -> Answer:
    """(b): how much models differ, whether size goes with it, and what a model without pretraining does."""
    scratch = find_without_pretraining(grid)
    trained = [model for model in list_models(grid) if model not in scratch]
    pretrained = grid[grid["model"].isin(trained)]
    findings = [_share_variance(pretrained, bias, seed) for bias in MODEL_BIASES]
    sizes = grid.drop_duplicates("model").set_index("model")["size"].reindex(trained).to_numpy(dtype=float)
    logs = np.log10(sizes)
    has_size = np.isfinite(logs)
    for bias in MODEL_BIASES:
        if has_size.sum() > 2:
            relation = pearson_estimate(logs[has_size], average_models(grid, bias, trained)[has_size])
            name = f"{BIASES[bias]}, correlation with log size"
            finding = Finding(name, relation, int(has_size.sum()), digits=2)
            findings.append(replace(finding, subject="larger models", **_name_difference(bias)))
    for bias in MODEL_BIASES:
        if scratch and trained:
            means = [average_models(grid, bias, models) for models in (scratch, trained)]
            context = "means " + " and ".join(number(float(group.mean()), 4) for group in means)
            name, count = f"{BIASES[bias]}, without − with pretraining", len(scratch) + len(trained)
            finding = Finding(name, compare_means(*means), count, context)
            findings.append(replace(finding, subject="models without pretraining", **_name_difference(bias)))
    adjusted = adjust_findings(findings)
    return Answer(
        "Is bias from the pretrained model?",
        "yes; biases differ with the pretrained model, and grow with its size.",
        describe_findings(adjusted),
        adjusted,
        "Models differ in architecture, size, vocabulary and training settings, not only in pretraining, so that a"
        " difference between them need not come from what they read. A handful of models is few for a correlation.",
    )


def _name_difference(bias: str) -> dict[str, Any]:
    title = BIASES[bias]
    return {"topic": title, "effects": (f"larger {title}", f"smaller {title}")}


def average_models(grid: pd.DataFrame, bias: str, models: list[str]) -> Array:
    """Return the mean of each model, relative to the mean of each condition, so that a gap does not move it."""
    centred = grid[bias] - grid.groupby(["terms", "kind"])[bias].transform("mean") + grid[bias].mean()
    means: Array = centred.groupby(grid["model"]).mean().reindex(models).to_numpy(dtype=float)
    return means


def compare_means(first: ArrayLike, second: ArrayLike) -> IntervalEstimate:
    """Return the difference of two means with a pooled variance. One of the samples may hold a single value."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not a.size or not b.size:
        return IntervalEstimate(None)
    value, df = float(a.mean() - b.mean()), a.size + b.size - 2
    squares = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
    if df < 1 or squares <= (1e-12 * abs(value)) ** 2:
        return IntervalEstimate(value)
    return student_interval(value, float(np.sqrt(squares / df * (1 / a.size + 1 / b.size))), df)


def _share_variance(grid: pd.DataFrame, bias: str, seed: int) -> Finding:
    name = f"{BIASES[bias]}, share of the variance between models"
    wide = grid.pivot(index="model", columns=["terms", "kind"], values=bias).reindex(columns=list(PLACES))
    trainings = ["original" if kind == "original" else f"{kind}-{terms}" for terms, kind in PLACES]
    shares = variance_shares(wide.to_numpy(dtype=float), trainings, seed=seed)
    finding = Finding(
        name,
        IntervalEstimate(None),
        len(grid),
        digits=2,
        subject="pretrained models, share of the variance between them",
        topic=BIASES[bias],
        effects=(f"clear differences in {BIASES[bias]}",) * 2,
    )
    if shares is None:
        return finding
    context = f"{100 * shares.chance:.0f} % by chance; between conditions {100 * shares.columns:.0f} %"
    estimate = IntervalEstimate(shares.rows, p_value=shares.p_value)
    return replace(finding, estimate=estimate, context=context, null=shares.chance)


def _answer_term_sets(grid: pd.DataFrame) -> Answer:
    """(c): what more terms change, per text and, where the number of terms is known, per term."""
    units = {"absolute": "absolute bias per text"}
    if grid["terms_per_text"].notna().any():
        grid = grid.assign(per_term=grid["absolute"] / grid["terms_per_text"])
        units["per_term"] = "absolute bias per changed term"
    findings = []
    for column, unit in units.items():
        for small, large in combinations(TERMS, 2):
            levels, name = ("terms", large, small), f"{unit}, {large} / {small}"
            finding = compare_levels(grid, column, levels, on="kind", name=name, as_ratio=True)
            words = (f"larger with {large} than with {small}", f"smaller with {large} than with {small}")
            findings.append(replace(finding, subject=unit, topic=f"{large} / {small}", effects=words))
    adjusted = adjust_findings(findings)
    wide = grid.pivot(index=["model", "kind"], columns="terms", values="absolute").reindex(columns=list(TERMS))
    wide = wide.dropna()
    rising = int(((wide["pro"] < wide["weat"]) & (wide["weat"] < wide["all"])).sum())
    unknown = "" if "per_term" in units else " The number of terms in a text is not known here."
    return Answer(
        "Does it depend on the term set?",
        "yes; the more terms, the larger the absolute bias.",
        f"{describe_findings(adjusted)} pro < weat < all in {rising} of {len(wide)} cases of model and training.",
        adjusted,
        "The sets contain each other, and a larger one changes more words in a text: more bias per text is not more"
        f" bias per word.{unknown}",
    )
