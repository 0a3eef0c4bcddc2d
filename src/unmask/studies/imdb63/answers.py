"""The paper's three questions, answered with intervals and tests.

(a) Does bias come from the fine-tuning data? Biases of classifiers whose training reviews had the terms removed (R) or
    balanced (mix) minus those of the classifier of the original reviews, paired by model and term set. Models without
    pretraining are examined separately: nothing has trained their vector of a word that was removed.
(b) Does it come from the pretrained model? Three figures:

    - The share of the variance that pretrained models explain beyond what conditions do, compared with the share that
      they explain when models are shuffled within each training condition. The three measurements of the classifier of
      original reviews move together, because they are of one training.
    - The correlation of the models' means with the logarithm of their number of parameters, over models.
    - A model that was not pretrained (its name has "scratch" in it, or the column `scratch` says so) against the
      others, over model means with a pooled variance: with one such model, whether it could be another of the others.

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
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.results.formatting import interval, number, p_value
from unmask.results.verdict import is_significant
from unmask.statistics import jackknife
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.jackknife import IntervalEstimate
from unmask.statistics.permutation import variance_shares
from unmask.studies.imdb63.grid import PLACES, TERMS
from unmask.studies.imdb63.measurements import get_basis, list_models, sort_grid

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
NOTHING = "no reliable difference"
UNTESTED = "not tested"
INTERVENTIONS = {"R": "removing the terms from the training reviews", "mix": "balancing them"}
BIASES = {"absolute": "absolute bias", "extent": "size of the total bias", "total": "total bias"}
MODEL_BIASES = ("absolute", "total")


@dataclass(frozen=True)
class Evidence:
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
    p_adjusted: float | None = None
    clusters: int | None = None
    """The number of models or trainings, each of which counts as one draw; None for what is no mean of clusters."""
    left_out: int = 0
    """The number of further pairs that have no ratio."""

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value among the tests of its question."""
        return self.p_adjusted is not None

    @property
    def is_clear(self) -> bool:
        """Whether it is more than chance, among the tests of its question."""
        return is_significant(self.p_adjusted)

    @property
    def is_above(self) -> bool:
        """Whether it is above the value without an effect."""
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
    def sentence(self) -> str:
        """The figure as a sentence."""
        aside = _join_parts(self.context, self.gaps)
        aside = f" ({aside})" if aside else ""
        if self.estimate.value is None:
            return f"{self.name}: {UNTESTED}{aside}."
        if self.p_adjusted is None:
            return f"{self.name}: {self.figures}{aside}; {UNTESTED}."
        verdict = "" if self.is_clear else f": {NOTHING}"
        return f"{self.name}: {self.figures}{aside}, p {p_value(self.p_adjusted)} after correction{verdict}."


@dataclass(frozen=True)
class Answer:
    """A question of the paper, its answer, ours, and why."""

    question: str
    paper: str
    answer: str
    evidence: tuple[Evidence, ...]
    caveat: str


def answer_questions(grid: pd.DataFrame, *, seed: int = 0) -> list[Answer]:
    """Answer all three questions; `seed` is that of the shuffles behind the second."""
    grid = sort_grid(grid)
    basis = get_basis(grid)
    grid = grid.assign(absolute=grid[basis.absolute], total=grid[basis.total], extent=grid[basis.total].abs())
    grid = grid.dropna(subset=["absolute", "total"])
    return [_answer_training_data(grid), _answer_pretraining(grid, seed), _answer_term_sets(grid)]


def adjust_evidence(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Adjust the p-values by Holm's method, as the tests of one question."""
    adjusted = holm([figure.estimate.p_value for figure in evidence])
    return tuple(replace(figure, p_adjusted=p) for figure, p in zip(evidence, adjusted, strict=True))


def compare_levels(
    grid: pd.DataFrame,
    column: str,
    levels: tuple[str, str | int, str | int],
    *,
    on: str,
    name: str,
    as_ratio: bool = False,
    cluster: str = "model",
) -> Evidence:
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
    evidence = Evidence(
        name,
        IntervalEstimate(None),
        len(pairs),
        means,
        clusters=len(set(clusters)),
        left_out=len(wide) - len(pairs),
    )
    if not as_ratio:
        return replace(evidence, estimate=jackknife.clustered_mean(x - y, clusters))
    logs = jackknife.clustered_mean(np.log(x) - np.log(y), clusters)
    if logs.value is not None:  # the standard error and the test remain those of the logarithm
        bounds = None if logs.interval is None else (float(np.exp(logs.interval[0])), float(np.exp(logs.interval[1])))
        logs = replace(logs, value=float(np.exp(logs.value)), interval=bounds)
    return replace(evidence, estimate=logs, digits=2, null=1.0)


def find_without_pretraining(grid: pd.DataFrame) -> list[str]:
    """Return the models that were not pretrained."""
    flagged = set(grid.loc[grid["scratch"].eq(True), "model"]) if "scratch" in grid.columns else set()
    return [model for model in list_models(grid) if model in flagged or "scratch" in model.lower()]


def _answer_training_data(grid: pd.DataFrame) -> Answer:
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
    places = [(kind, bias) for kind in INTERVENTIONS for bias in BIASES]
    evidence = adjust_evidence(
        [
            compare_levels(
                grid,
                bias,
                ("kind", kind, "original"),
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
        _describe_interventions(dict(zip(places, evidence, strict=True))) + aside,
        evidence,
        "Each classifier was trained once, so that the differences include chance of training. A classifier of balanced"
        " reviews has read twice as many. Removing words removes their own link to ratings from the training, not that"
        " of the names and topics around them.",
    )


def _describe_interventions(evidence: dict[tuple[str, str], Evidence]) -> str:
    """What is clear, by what was done to the reviews."""
    if not any(figure.is_tested for figure in evidence.values()):
        return "Not tested: too few models with original and changed training reviews."
    sentences = []
    for kind, intervention in INTERVENTIONS.items():
        tested = [bias for bias in BIASES if evidence[kind, bias].is_tested]
        if not tested:
            sentences.append(f"{_capitalise(intervention)}: {UNTESTED}.")
            continue
        parts = []
        for bias in ("absolute", "extent"):
            figure = evidence[kind, bias]
            if figure.is_clear:
                verb = "raises" if figure.is_above else "lowers"
                parts.append(f"{verb} the {BIASES[bias]} ({_describe_figure(bias, figure)})")
        if evidence[kind, "total"].is_clear:
            gender = "male" if evidence[kind, "total"].is_above else "female"
            parts.append(f"moves the total bias towards {gender} versions")
        if not parts:
            parts.append(f"makes {NOTHING} ({_describe_figure(tested[0], evidence[kind, tested[0]])})")
        rest = " and ".join(name for bias, name in BIASES.items() if bias not in tested)
        rest = f"; {rest}: {UNTESTED}" if rest else ""
        sentences.append(f"{_capitalise(intervention)} {' and '.join(parts)}{rest}.")
    return " ".join(sentences)


def _describe_figure(bias: str, figure: Evidence) -> str:
    if bias == "absolute":
        return _join_parts(f"absolute bias × {figure.figures}", figure.gaps)
    return f"{BIASES[bias]} {figure.figures}, {figure.context}"


def _answer_pretraining(grid: pd.DataFrame, seed: int) -> Answer:
    """(b): how much models differ, whether size goes with it, and what a model without pretraining does."""
    scratch = find_without_pretraining(grid)
    trained = [model for model in list_models(grid) if model not in scratch]
    pretrained = grid[grid["model"].isin(trained)]
    evidence: dict[tuple[str, str], Evidence] = {}
    for bias in MODEL_BIASES:
        evidence["share", bias] = _share_variance(pretrained, bias, seed)
    sizes = grid.drop_duplicates("model").set_index("model")["size"].reindex(trained).to_numpy(dtype=float)
    logs = np.log10(sizes)
    known = np.isfinite(logs)
    for bias in MODEL_BIASES:
        if known.sum() > 2:
            relation = pearson_estimate(logs[known], average_models(grid, bias, trained)[known])
            name = f"{BIASES[bias]}, correlation with log size"
            evidence["size", bias] = Evidence(name, relation, int(known.sum()), digits=2)
    for bias in MODEL_BIASES:
        if scratch and trained:
            means = [average_models(grid, bias, models) for models in (scratch, trained)]
            context = "means " + " and ".join(number(float(group.mean()), 4) for group in means)
            name, n = f"{BIASES[bias]}, without − with pretraining", len(scratch) + len(trained)
            evidence["scratch", bias] = Evidence(name, compare_means(*means), n, context)
    adjusted = adjust_evidence(list(evidence.values()))
    sentences = [
        _describe_model_figure(figure_type, BIASES[bias], figure)
        for (figure_type, bias), figure in zip(evidence, adjusted, strict=True)
    ]
    return Answer(
        "Is bias from the pretrained model?",
        "yes; biases differ with the pretrained model, and grow with its size.",
        " ".join(sentences),
        adjusted,
        "Models differ in architecture, size, vocabulary and training settings, not only in pretraining, so that a"
        " difference between them need not come from what they read. A handful of models is few for a correlation.",
    )


def average_models(grid: pd.DataFrame, bias: str, models: list[str]) -> Array:
    """Return the mean of each model, relative to the mean of each condition, so that a gap does not move it."""
    centred = grid[bias] - grid.groupby(["terms", "kind"])[bias].transform("mean") + grid[bias].mean()
    means: Array = centred.groupby(grid["model"]).mean().reindex(models).to_numpy(dtype=float)
    return means


def compare_means(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> IntervalEstimate:
    """Return the difference of two means with a pooled variance. One of the samples may hold a single value."""
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


def _share_variance(grid: pd.DataFrame, bias: str, seed: int) -> Evidence:
    name = f"{BIASES[bias]}, share of the variance between models"
    wide = grid.pivot(index="model", columns=["terms", "kind"], values=bias).reindex(columns=list(PLACES))
    trainings = ["original" if kind == "original" else f"{kind}-{terms}" for terms, kind in PLACES]
    shares = variance_shares(wide.to_numpy(dtype=float), trainings, seed=seed)
    if shares is None:
        return Evidence(name, IntervalEstimate(None), len(grid))
    context = f"{100 * shares.chance:.0f} % by chance; between conditions {100 * shares.columns:.0f} %"
    estimate = IntervalEstimate(shares.rows, p_value=shares.p_value)
    return Evidence(name, estimate, len(grid), context, digits=2, null=shares.chance)


def _describe_model_figure(figure_type: str, bias: str, figure: Evidence) -> str:
    value = figure.estimate.value
    if figure_type == "share":
        if not figure.is_tested:
            return f"Whether models differ in {bias} could not be tested."
        share = f"{100 * (value or 0):.0f} % of its variance is between models; {figure.context.split(';')[0]}"
        if figure.is_clear:
            return f"Models differ in {bias} ({share})."
        return f"In {bias}, {NOTHING} between models ({share})."
    direction = "larger" if figure.is_above else "smaller"
    if figure_type == "size":
        if figure.is_clear:
            return f"Larger models have a {direction} {bias} (r = {number(value)})."
        if not figure.is_tested:
            return f"Relation of size and {bias}: {UNTESTED}."
        return f"No reliable relation of size and {bias} (r = {number(value)})."
    if figure.is_clear:
        return f"Without pretraining the {bias} is {direction} ({figure.context})."
    if not figure.is_tested:
        return f"Without pretraining, a difference in {bias} is {UNTESTED} ({figure.context})."
    return f"Without pretraining, {NOTHING} in {bias} ({figure.context})."


def _answer_term_sets(grid: pd.DataFrame) -> Answer:
    """(c): what more terms change, per text and, where the number of terms is known, per term."""
    units = {"absolute": "absolute bias per text"}
    if grid["terms_per_text"].notna().any():
        grid = grid.assign(per_term=grid["absolute"] / grid["terms_per_text"])
        units["per_term"] = "absolute bias per changed term"
    pairs = {f"{large} / {small}": (large, small) for small, large in combinations(TERMS, 2)}
    evidence = adjust_evidence(
        [
            compare_levels(grid, column, ("terms", large, small), on="kind", name=f"{name}, {pair}", as_ratio=True)
            for column, name in units.items()
            for pair, (large, small) in pairs.items()
        ]
    )
    wide = grid.pivot(index=["model", "kind"], columns="terms", values="absolute").reindex(columns=list(TERMS))
    wide = wide.dropna()
    rising = int(((wide["pro"] < wide["weat"]) & (wide["weat"] < wide["all"])).sum())
    if any(figure.is_tested for figure in evidence):
        sentences = [
            _describe_term_sets(name, dict(zip(pairs, evidence[index * len(pairs) :], strict=False)))
            for index, name in enumerate(units.values())
        ]
    else:
        above = " and biases above 0" if any(figure.left_out for figure in evidence) else ""
        sentences = [f"Not tested: too few models with several term sets{above}."]
    sentences.append(f"pro < weat < all in {rising} of {len(wide)} cases of model and training.")
    return Answer(
        "Does it depend on the term set?",
        "yes; the more terms, the larger the absolute bias.",
        " ".join(sentences),
        evidence,
        "The sets contain each other, and a larger one changes more words in a text: more bias per text is not more"
        " bias"
        " per word." + ("" if "per_term" in units else " The number of terms in a text is not known here."),
    )


def _describe_term_sets(name: str, evidence: dict[str, Evidence]) -> str:
    """Which of the ratios between sets are clear."""
    if not any(figure.is_tested for figure in evidence.values()):
        return f"{_capitalise(name)}: {UNTESTED}."
    clear = ", ".join(f"{pair} = {figure.figures}" for pair, figure in evidence.items() if figure.is_clear)
    untested = ", ".join(pair for pair, figure in evidence.items() if not figure.is_tested)
    gaps = ", ".join(f"{pair}: {figure.gaps}" for pair, figure in evidence.items() if figure.gaps)
    has_unclear = any(figure.is_tested and not figure.is_clear for figure in evidence.values())
    aside = _join_parts(
        clear,
        f"otherwise {NOTHING}" if clear and has_unclear else "",
        f"{untested}: {UNTESTED}" if untested else "",
        gaps,
    )
    verb = "differs" if clear else f"shows {NOTHING}"
    return f"{_capitalise(name)} {verb} between term sets{f' ({aside})' if aside else ''}."


def _join_parts(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
