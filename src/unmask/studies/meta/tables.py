"""The findings of a meta-evaluation: how well scores follow the planted rate, and the paper's Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial, isnan, prod
from typing import TYPE_CHECKING, Any

from unmask.results.formatting import LANGUAGES, interval, number
from unmask.results.verdict import ALPHA
from unmask.statistics.correlation import Ranking, evaluate_ranking
from unmask.statistics.jackknife import IntervalEstimate
from unmask.studies.table import GAP, Table, figure, percent

if TYPE_CHECKING:
    import pandas as pd


GOOD, POOR = 0.95, 0.8
"""From which share of pairs in the right order a score is said to rank known bias, and below which it fails to."""
TWIN = ", probabilities"
"""How the name of a score ends that is the one before it, of probabilities in place of answers."""
LEARNED = 0.5
"""How much of the way from chance to always right models must have gone to have learned what was planted."""


@dataclass(frozen=True)
class Score:
    """One score of one measure, against the planted rate."""

    measure: str
    language: str
    name: str
    model: str
    ranking: Ranking
    least: float
    """The mean at the lowest rate."""
    most: float
    enough: bool = True
    """Whether there are so many models that a perfect order could not well be chance."""
    learned: bool = True
    """Whether the models have learned what was planted."""

    @property
    def title(self) -> str:
        """What it is called where others stand beside it."""
        return f"{self.measure}, {LANGUAGES.get(self.language, self.language)}"


def scores_of(cells: pd.DataFrame) -> list[Score]:
    """Every score of every measure and language, in their order."""
    found = []
    for (measure, language, name), rows in cells.groupby(["measure", "language", "score"], sort=False):
        at = rows.groupby("rate")["value"].mean()
        found.append(
            Score(
                str(measure),
                str(language),
                str(name),
                str(rows["model"].iloc[0]),
                evaluate_ranking(rows["rate"], rows["value"], rows["seed"]),
                float(at.iloc[0]),
                float(at.iloc[-1]),
                _enough(rows),
                _learned(rows),
            )
        )
    return found


def _enough(rows: pd.DataFrame) -> bool:
    return 2 / prod(factorial(count) for count in rows["seed"].value_counts()) < ALPHA


def _learned(rows: pd.DataFrame) -> bool:
    """Whether models at the lowest and highest rate are right of planted examples more often than by chance.

    Between these rates a model may learn words one by one; at the ends all go one way.
    """
    ends = rows[rows["rate"].isin([rows["rate"].min(), rows["rate"].max()])]
    chance = ends["chance"].iloc[0]
    if isnan(chance):
        return True
    return bool(ends["accuracy"].mean() >= chance + LEARNED * (1 - chance))


def verdict(score: Score) -> str:
    """Whether a score ranks known bias."""
    if not score.learned:
        return "not learned"
    right = score.ranking.ranked
    if right is None or score.ranking.pearson.value is None:
        return "does not move"
    if not score.enough:
        return "too few models"
    if right < POOR:
        return "fails to rank it"
    by_chance = score.ranking.spearman.p_value
    if by_chance is None or by_chance >= ALPHA:
        return "too few models"
    return "ranks it" if right >= GOOD else "ranks it roughly"


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


@dataclass(frozen=True)
class Findings:
    """The result, ready to be shown."""

    cells: pd.DataFrame
    headline: str
    scores: tuple[Score, ...]
    printed: tuple[Table, ...]
    settings: Mapping[str, str]
    failures: tuple[str, ...]
    answered: tuple[tuple[str, str], ...] = ()

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return str(self.cells["protocol"].iloc[0])


def findings(cells: pd.DataFrame, settings: Mapping[str, str], failures: Sequence[str] = ()) -> Findings:
    """Gather all from the scores of finished models."""
    scores = tuple(scores_of(cells))
    tables = [ranks(scores, cells)]
    if any(one.measure == "inference" for one in scores):
        tables.append(table_2([one for one in scores if one.measure == "inference"]))
    tables.append(by_rate(cells, scores))
    return Findings(cells, _headline(scores), scores, tuple(tables), dict(settings), tuple(failures))


def _headline(scores: Sequence[Score]) -> str:
    said = []
    several = len({one.title for one in scores}) > 1
    for word in _WORDS:
        found: dict[str, list[str]] = {}
        for one in scores:
            names = found.setdefault(one.title, [])
            if verdict(one) == word and one.name.removesuffix(TWIN) not in names:
                names.append(one.name)
        where: dict[tuple[str, ...], list[str]] = {}
        for title, names in found.items():
            where.setdefault(tuple(names), []).append(title)
        parts = [
            ", ".join(names) + (f" ({'; '.join(titles)})" if several else "")
            for names, titles in where.items()
            if names
        ]
        if parts:
            said.append(f"{_WORDS[word]}: {'; '.join(parts)}.")
    return " ".join(said)


_WORDS = {
    "not learned": "The models have not learned what was planted, so nothing can be said of these scores (give more"
    " --rows or --epochs, a higher --learning-rate, or another model)",
    "ranks it": "Scores that put models in the order of their planted bias",
    "ranks it roughly": "Scores that do so roughly",
    "too few models": "Too few models to tell order from chance (give more rates or seeds)",
    "fails to rank it": "Scores that fail to",
    "does not move": "Scores that do not move with it at all",
}
