"""The tables of a meta-evaluation: which score ranks known bias, the paper's Table 2, and the scores by rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unmask.results.languages import LANGUAGES
from unmask.results.numbers import interval, number
from unmask.results.verdict import ALPHA
from unmask.statistics.crossed import IntervalEstimate
from unmask.studies.meta.scores import Score, verdict
from unmask.studies.table import GAP, Table, figure, percent

if TYPE_CHECKING:
    import pandas as pd

PAPER = {
    ("en", "FN"): "−0.263†",
    ("en", "NLI-CoAL"): "0.999†",
    ("ja", "FN"): "no corr.",
    ("ja", "NLI-CoAL"): "1.000†",
    ("zh", "FN"): "−0.535",
    ("zh", "NLI-CoAL"): "0.997†",
}
"""Pearson's r as the paper's Table 2 prints it."""


def ranks(scores: Sequence[Score], cells: pd.DataFrame) -> Table:
    """How well each score ranks known bias."""
    import pandas as pd

    rows, numbers = [], []
    for one in scores:
        of = one.ranking
        rows.append(
            (
                one.title,
                one.name,
                verdict(one),
                _estimate(of.pearson),
                _estimate(of.spearman),
                percent(of.ranked),
                f"{figure(one.least, 3)} → {figure(one.most, 3)}",
                figure(of.resolution, 2),
            )
        )
        numbers.append(_numbers(one))
    models = cells.groupby(["measure", "language"])[["rate", "seed"]].apply(lambda some: len(some.drop_duplicates()))
    lowest, highest = cells["rate"].min(), cells["rate"].max()
    return Table(
        "ranks",
        "How well each score ranks known bias",
        ("Measure", "Score", "Verdict", "Pearson [95 %]", "Spearman [95 %]", "Pairs in order", "From → to", "± rate"),
        tuple(rows),
        f"{' or '.join(map(str, sorted(set(models))))} models a measure, with rates of planted bias from {lowest:g} to"
        f" {highest:g}. Pairs in order: the share of pairs of models that the score ranks rightly; 50 % is chance."
        " From → to: its mean at the lowest and highest rate. ± rate: how far the true rate may lie from what is read"
        " off the score, as one standard deviation.",
        pd.DataFrame(numbers),
        headings=2,
    )


def _numbers(one: Score) -> dict[str, Any]:
    of = one.ranking
    found: dict[str, Any] = {"measure": one.measure, "language": one.language, "model": one.model, "score": one.name}
    for name, estimate in (("pearson", of.pearson), ("spearman", of.spearman)):
        low, high = estimate.interval or (None, None)
        found |= {name: estimate.value, f"{name}_low": low, f"{name}_high": high, f"{name}_p": estimate.p_value}
    return found | {
        "n": of.n,
        "ranked": of.ranked,
        "slope": of.slope,
        "resolution": of.resolution,
        "least": one.least,
        "most": one.most,
    }


def table_2(scores: Sequence[Score]) -> Table:
    """The paper's Table 2, with ours."""
    import pandas as pd

    rows, numbers = [], []
    for language in dict.fromkeys(one.language for one in scores):
        mine = {one.name: one for one in scores if one.language == language}
        model = next(iter(mine.values())).model
        cells = [_correlation(mine[name].ranking.pearson) if name in mine else GAP for name in ("FN", "NLI-CoAL")]
        theirs = [PAPER.get((language, name), GAP) for name in ("FN", "NLI-CoAL")]
        rows.append((LANGUAGES.get(language, language), model, *cells, *theirs))
        numbers += [_numbers(one) | {"paper": _number(PAPER.get((language, one.name)))} for one in mine.values()]
    return Table(
        "table-2",
        "Table 2. Pearson’s correlation between the rate of planted bias and the score",
        ("Language", "Model", "FN", "NLI-CoAL", "FN, the paper", "NLI-CoAL, the paper"),
        tuple(rows),
        "† p < 0.05. The paper’s models are BERT base (English, Chinese) and Tohoku BERT (Japanese), after three"
        " epochs; no corr.: the score is the same at all rates. The † of FN in English is as"
        " printed; with 11 models p is 0.43.",
        pd.DataFrame(numbers),
        headings=2,
    )


def by_rate(cells: pd.DataFrame, scores: Sequence[Score]) -> Table:
    """The scores themselves, and whether the models have learned."""
    rates = sorted(cells["rate"].unique())
    means = cells.groupby(["measure", "language", "score", "rate"])["value"].mean()
    rows = [
        (
            one.title,
            one.name,
            *(figure(means.get((one.measure, one.language, one.name, rate)), 3) for rate in rates),
        )
        for one in scores
    ]
    return Table(
        "by-rate",
        "Scores by rate of planted bias",
        ("Measure", "Score", *(f"{rate:g}" for rate in rates)),
        tuple(rows),
        f"Means over seeds.{_accuracies(cells)}",
        cells,
        headings=2,
    )


def _accuracies(cells: pd.DataFrame) -> str:
    """Whether models have learned, in words, where their accuracy tells it."""
    found = [
        f"{measure}, {LANGUAGES.get(str(language), language)}, {rows['examples'].max():,} examples:"
        f" {rows['accuracy'].min():.2f} to {rows['accuracy'].max():.2f} (a model that knows"
        f" all but the direction has {rows['chance'].iloc[0]:.2f})"
        for (measure, language), rows in cells.dropna(subset="chance").groupby(["measure", "language"], sort=False)
    ]
    if not found:
        return ""
    return f" The accuracy on held-out planted examples says whether the bias was learned: {'; '.join(found)}."


def _estimate(estimate: IntervalEstimate) -> str:
    if estimate.value is None:
        return "no corr."
    return f"{number(estimate.value, 3)} {interval(estimate.interval, 2) if estimate.interval else ''}".rstrip()


def _correlation(estimate: IntervalEstimate) -> str:
    if estimate.value is None:
        return "no corr."
    sure = estimate.p_value is not None and estimate.p_value < ALPHA
    return f"{number(estimate.value, 3)}{'†' if sure else ''}"


def _number(printed: str | None) -> float | None:
    """What the paper printed, as a number."""
    return None if printed in (None, "no corr.") else float(str(printed).rstrip("†").replace("−", "-"))
