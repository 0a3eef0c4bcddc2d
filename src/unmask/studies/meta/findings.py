"""What a meta-evaluation found: how well each score ranks known bias, the paper's Table 2, and what fell short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from unmask.results.numbers import interval, number
from unmask.statistics.crossed import Estimate
from unmask.statistics.ranking import Ranking, ranking
from unmask.studies.table import GAP, Table, figure, percent

if TYPE_CHECKING:
    import pandas as pd

GOOD, POOR = 0.95, 0.8
"""From which share of pairs in the right order a score is said to rank known bias, and below which it fails to."""
LANGUAGES = {"en": "English", "ja": "Japanese", "zh": "Chinese"}
PAPER = {
    ("en", "FN"): -0.263,
    ("en", "NLI-CoAL"): 0.999,
    ("ja", "FN"): None,
    ("ja", "NLI-CoAL"): 1.000,
    ("zh", "FN"): -0.535,
    ("zh", "NLI-CoAL"): 0.997,
}
"""Pearson's r of the paper's Table 2; None where the score did not change at all."""
LEVEL = 0.05
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
    learned: bool = True
    """Whether the models have learned what was planted."""

    @property
    def title(self) -> str:
        """What it is called where others stand beside it."""
        return f"{self.measure}, {LANGUAGES.get(self.language, self.language)}"


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
    scores = tuple(_scores(cells))
    tables = [_ranks(scores, cells)]
    if any(one.measure == "inference" for one in scores):
        tables.append(_table_2([one for one in scores if one.measure == "inference"]))
    tables.append(_by_rate(cells, scores))
    return Findings(cells, _headline(scores), scores, tuple(tables), dict(settings), tuple(failures))


def _scores(cells: pd.DataFrame) -> list[Score]:
    found = []
    for (measure, language, name), rows in cells.groupby(["measure", "language", "score"], sort=False):
        at = rows.groupby("rate")["value"].mean()
        found.append(
            Score(
                str(measure),
                str(language),
                str(name),
                str(rows["model"].iloc[0]),
                ranking(rows["rate"], rows["value"]),
                float(at.iloc[0]),
                float(at.iloc[-1]),
                _learned(rows),
            )
        )
    return found


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
    if right >= GOOD:
        return "ranks it"
    return "fails to rank it" if right < POOR else "ranks it roughly"


def _headline(scores: Sequence[Score]) -> str:
    said = []
    several = len({one.title for one in scores}) > 1
    for word in _WORDS:
        names = [f"{one.name} ({one.title})" if several else one.name for one in scores if verdict(one) == word]
        if names:
            said.append(f"{_WORDS[word]}: {'; '.join(names)}.")
    return " ".join(said)


_WORDS = {
    "not learned": "The models have not learned what was planted, so nothing can be said of these scores",
    "ranks it": "Scores that put models in the order of their planted bias",
    "ranks it roughly": "Scores that do so roughly",
    "fails to rank it": "Scores that fail to",
    "does not move": "Scores that do not move with it at all",
}


def _ranks(scores: Sequence[Score], cells: pd.DataFrame) -> Table:
    import pandas as pd

    rows, numbers = [], []
    for one in scores:
        of = one.ranking
        rows.append(
            (
                one.title,
                one.name,
                _estimate(of.pearson),
                _estimate(of.spearman),
                percent(of.ranked),
                f"{figure(one.least, 3)} → {figure(one.most, 3)}",
                figure(of.resolution, 2),
                verdict(one),
            )
        )
        numbers.append(_numbers(one))
    models = cells.groupby(["measure", "language"])[["rate", "seed"]].apply(lambda some: len(some.drop_duplicates()))
    lowest, highest = cells["rate"].min(), cells["rate"].max()
    return Table(
        "ranks",
        "How well each score ranks known bias",
        ("Measure", "Score", "Pearson [95 %]", "Spearman [95 %]", "Pairs in order", "From → to", "± rate", "Verdict"),
        tuple(rows),
        f"Models a measure: {', '.join(map(str, sorted(set(models))))}, with rates of planted bias from {lowest:g} to"
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


def _table_2(scores: Sequence[Score]) -> Table:
    import pandas as pd

    rows, numbers = [], []
    for language in dict.fromkeys(one.language for one in scores):
        mine = {one.name: one for one in scores if one.language == language}
        model = next(iter(mine.values())).model
        cells = [_correlation(mine[name].ranking.pearson) if name in mine else GAP for name in ("FN", "NLI-CoAL")]
        theirs = [_of_paper(language, name) for name in ("FN", "NLI-CoAL")]
        rows.append((LANGUAGES.get(language, language), model, *cells, *theirs))
        numbers += [_numbers(one) | {"paper": PAPER.get((language, one.name))} for one in mine.values()]
    return Table(
        "table-2",
        "Table 2. Pearson’s correlation between the rate of planted bias and the score",
        ("Language", "Model", "FN", "NLI-CoAL", "FN, the paper", "NLI-CoAL, the paper"),
        tuple(rows),
        "† p < 0.05. The paper’s models are BERT base (English, Chinese) and Tohoku BERT (Japanese), after three"
        " epochs; no corr.: the score is the same at all rates.",
        pd.DataFrame(numbers),
        headings=2,
    )


def _by_rate(cells: pd.DataFrame, scores: Sequence[Score]) -> Table:
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
        "Means over seeds. The accuracy on held-out planted examples says whether the bias was learned, where chance is"
        f" given: {_accuracies(cells)}.",
        cells,
        headings=2,
    )


def _accuracies(cells: pd.DataFrame) -> str:
    found = []
    for (measure, language), rows in cells.groupby(["measure", "language"], sort=False):
        chance = rows["chance"].iloc[0]
        by_chance = "" if isnan(chance) else f", {chance:.2f} by chance"
        found.append(
            f"{measure}, {LANGUAGES.get(str(language), language)}, {rows['examples'].max():,} examples:"
            f" {rows['accuracy'].min():.2f} to {rows['accuracy'].max():.2f}{by_chance}"
        )
    return "; ".join(found)


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "no corr."
    return f"{number(estimate.value, 3)} {interval(estimate.interval, 2) if estimate.interval else ''}".rstrip()


def _correlation(estimate: Estimate) -> str:
    if estimate.value is None:
        return "no corr."
    sure = estimate.p_value is not None and estimate.p_value < LEVEL
    return f"{number(estimate.value, 3)}{'†' if sure else ''}"


def _of_paper(language: str, name: str) -> str:
    if (language, name) not in PAPER:
        return GAP
    value = PAPER[language, name]
    return "no corr." if value is None else number(value, 3)
