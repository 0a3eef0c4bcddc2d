"""What a meta-evaluation found: how well scores follow the planted rate, and the paper's Table 2 and Figure 4."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import factorial, isnan, prod
from typing import TYPE_CHECKING, Any

import unmask
from unmask.measures.inference import InferenceMeasure
from unmask.measures.sections import study_limits
from unmask.report.blocks import Figure, Legend, Section, Text
from unmask.report.charts import Axis, Series, lines
from unmask.report.drawing import fit_domain
from unmask.results.formatting import LANGUAGES, capital, number
from unmask.results.verdict import ALPHA, is_significant
from unmask.statistics.correlation import RankingQuality, evaluate_ranking
from unmask.statistics.jackknife import IntervalEstimate
from unmask.studies.meta import PlantingOptions
from unmask.studies.meta.plan import SCORES, Scoring
from unmask.studies.report import (
    GAP,
    StudyReport,
    StudyTable,
    format_number,
    format_percent,
    format_with_bounds,
    list_bounds,
)
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa7700", "#66aadd", "#aa3377")
"""The colours of scores. They can be told apart with any colour vision."""
GOOD, POOR = 0.95, 0.8
"""From the first share of pairs in order, a score ranks known bias; below the second, it fails."""
TWIN = ", probabilities"
"""The suffix of a score that is computed from probabilities rather than answers."""
LEARNED = 0.5
"""Models have learned what was planted if they are this far from chance to always right."""
COLUMNS = (
    *("measure", "language", "protocol", "model", "rate", "seed", "score", "value"),
    *("examples", "accuracy", "chance"),
)
PAPER = {
    ("en", "FN"): "−0.263†",
    ("en", "NLI-CoAL"): "0.999†",
    ("ja", "FN"): "no corr.",
    ("ja", "NLI-CoAL"): "1.000†",
    ("zh", "FN"): "−0.535",
    ("zh", "NLI-CoAL"): "0.997†",
}
"""Pearson's r in the paper's Table 2."""
VERDICTS = {
    "not learned": "The models have not learned what was planted, so nothing can be said of these scores (give more"
    " --rows or --epochs, a higher --learning-rate, or another model)",
    "ranks it": "Scores that put models in the order of their planted bias",
    "ranks it roughly": "Scores that do so roughly",
    "too few models": "Too few models to tell order from chance (give more rates or seeds)",
    "fails to rank it": "Scores that fail to",
    "does not move": "Scores that do not change with it at all",
}
"""What the headline says of each verdict."""
CAPTION = (
    "Each point is a model trained with a known share of stereotypical pairings, from none (0: all against the"
    " stereotype) to all (1); lines connect the means over seeds. A score whose line does not rise fails; one that"
    " rises has passed the easiest test."
)
LIMIT = (
    "Planted bias is plain, and all models of a measure are made from one: a score that ranks these may miss the faint"
    " bias of others."
)
METHOD = (
    "Models are trained on data in which a known share of words follows a stereotype, and the others defy it: labels"
    " of sentence pairs (inference), people in sentences about professions (association), labels of reviews"
    " (sentiment). At every rate as much is planted; only its direction changes. A score that tells bias from plain"
    " error rises with the rate; one that counts everything that is wrong does not.",
    "The planted bias is plain and strong, so a score that ranks it may still miss the faint bias of a real model; a"
    " score that fails here will hardly do better there. Intervals of correlations are Fisher’s, and for ranks Bonett"
    " and Wright’s, with a model as an observation; with several seeds each is left out in turn, because models of one"
    " seed share its words.",
)


@dataclass(frozen=True)
class RankedScore:
    """One score of one measure, against the planted rate."""

    measure: str
    language: str
    name: str
    model: str
    ranking: RankingQuality
    lowest: float
    """The mean at the lowest rate."""
    highest: float
    """The mean at the highest rate."""
    enough: bool = True
    """Whether there are so many models that a perfect order is unlikely by chance."""
    learned: bool = True
    """Whether the models have learned what was planted."""

    @property
    def title(self) -> str:
        """The measure and the language."""
        return name_group(self.measure, self.language)

    @property
    def verdict(self) -> str:
        """Whether the score ranks known bias."""
        share = self.ranking.ranked
        if not self.learned:
            return "not learned"
        if share is None or self.ranking.pearson.value is None:
            return "does not move"
        if self.enough and share < POOR:
            return "fails to rank it"
        if not self.enough or not is_significant(self.ranking.spearman.p_value):
            return "too few models"
        return "ranks it" if share >= GOOD else "ranks it roughly"

    def to_row(self) -> dict[str, Any]:
        """Return the unrounded numbers."""
        row: dict[str, Any] = {
            "measure": self.measure,
            "language": self.language,
            "model": self.model,
            "score": self.name,
        }
        for name, estimate in (("pearson", self.ranking.pearson), ("spearman", self.ranking.spearman)):
            row |= {name: estimate.value, **list_bounds(name, estimate.interval), f"{name}_p": estimate.p_value}
        names = ("n", "ranked", "slope", "resolution")
        return (
            row | {name: getattr(self.ranking, name) for name in names} | {"least": self.lowest, "most": self.highest}
        )


def name_group(measure: Any, language: Any) -> str:
    """Return the heading of a measure in a language."""
    return f"{measure}, {LANGUAGES.get(language, language)}"


def report(finished: FinishedSteps, options: PlantingOptions) -> StudyReport | None:
    """Return what was found, or None where no model was scored."""
    scores = read_scores(finished)
    return make_report(scores, describe_settings(finished, options, scores)) if len(scores) else None


def read_scores(finished: FinishedSteps) -> pd.DataFrame:
    """Return the scores of all models, one row per model and score."""
    import pandas as pd

    rows = []
    for step, folder in finished.results(Scoring):
        content = json.loads((folder / SCORES).read_text(encoding="utf-8"))
        planting, experiment = step.planting, step.planting.experiment
        rows += [
            {
                "measure": experiment.measure,
                "language": experiment.language,
                "protocol": experiment.protocol,
                "model": planting.base,
                "rate": planting.rate,
                "seed": planting.seed,
                "score": name,
                "value": value,
                **{column: content[column] for column in ("examples", "accuracy", "chance")},
            }
            for name, value in content["figures"].items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"chance": float})


def describe_settings(finished: FinishedSteps, options: PlantingOptions, scores: pd.DataFrame) -> dict[str, str]:
    """Return how the study was set up, in words, and how much was really trained on."""
    settings = {
        "protocol": options.protocol,
        "rates": ", ".join(f"{rate:g}" for rate in sorted(set(options.rates))),
        "seeds": ", ".join(map(str, options.seeds)),
        "unmask": unmask.__version__,
    }
    plantings = [step.planting for step in finished.steps if isinstance(step, Scoring)]
    for step in {step.experiment.measure: step for step in plantings}.values():
        epochs = step.settings.epochs
        settings[step.experiment.measure] = (
            f"{step.base}, {epochs} epoch{'' if epochs == 1 else 's'}, learning rate {step.settings.learning_rate:g},"
            f" batches of {step.settings.batch_size}, {step.max_length} tokens"
        )
    experiments = {(step.experiment.measure, step.experiment.language): step.experiment for step in plantings}
    for (measure, language), rows in scores.groupby(["measure", "language"], sort=False):
        fewest, most = int(rows["examples"].min()), int(rows["examples"].max())
        count = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        settings |= experiments[str(measure), str(language)].describe_data(count)
    return settings | finished.note_settings


def make_report(scores: pd.DataFrame, settings: Mapping[str, str]) -> StudyReport:
    """Return the report of the scores of all models."""
    ranked = rank_scores(scores)
    tables = [tabulate_ranks(ranked, scores)]
    of_paper = [score for score in ranked if score.measure == InferenceMeasure.name]
    tables += [tabulate_paper(of_paper)] if of_paper else []
    tables.append(tabulate_rates(scores, ranked))
    answers = scores[~scores["score"].str.endswith(TWIN)]  # probabilities lie on the answers
    figures = [
        _show_scores(capital(name_group(*group)), rows)
        for group, rows in answers.groupby(["measure", "language"], sort=False)
    ]
    return StudyReport(
        headline=write_headline(ranked),
        note=f"{len(ranked)} score{'' if len(ranked) == 1 else 's'} · {scores['protocol'].iloc[0]} protocol",
        blocks=[
            Section("How well scores rank known bias", [tables[0].to_block()]),
            Section(
                "Scores by rate of planted bias",
                [
                    Section("", figures, layout="panels"),
                    Text([CAPTION], style="note"),
                    *(table.to_block(folded=len(table.rows) > 16) for table in tables[1:]),
                ],
            ),
        ],
        tables=tables,
        method=[Text(METHOD)],
        limits=study_limits(scores["measure"], scores["language"], LIMIT),
        settings=settings,
        records={"scores.csv": scores},
    )


def _show_scores(title: str, scores: pd.DataFrame) -> Section:
    """The scores of one measure in one language, by rate."""
    names = list(dict.fromkeys(scores["score"]))
    means = scores.groupby(["score", "rate"], sort=False)["value"].mean()
    ends = [f"{name} from {number(means[name].iloc[0], 3)} to {number(means[name].iloc[-1], 3)}" for name in names]
    description = f"Scores by rate of planted bias. {title}: {'; '.join(ends)}"
    legend = Legend(list(zip(COLOURS, names, strict=False)))
    return Section(title, [legend, Figure(title, partial(draw_scores, scores), description)])


def draw_scores(scores: pd.DataFrame) -> str:
    """Draw a point for each model and a line through the means, in a colour for each score."""
    series = []
    for (name, rows), colour in zip(scores.groupby("score", sort=False), COLOURS, strict=False):
        points = [
            (float(rate), float(value), f"{name}: {number(float(value), 3)} at a rate of {rate:g}")
            for rate, value in zip(rows["rate"], rows["value"], strict=True)
        ]
        means = rows.groupby("rate")["value"].mean()
        line = [(float(rate), float(mean), "") for rate, mean in zip(means.index, means, strict=True)]
        series += [Series(line, colour, shape=""), Series(points, colour, line="")]
    up = Axis(fit_domain(scores["value"]), "score", lines=[0])
    return lines(series, Axis((0, 1), "rate of planted bias"), up, size=(320, 230))


def rank_scores(scores: pd.DataFrame) -> list[RankedScore]:
    """Evaluate every score of every measure and language, in their order."""
    ranked = []
    for (measure, language, name), rows in scores.groupby(["measure", "language", "score"], sort=False):
        means = rows.groupby("rate")["value"].mean()
        # Between the ends a model may learn words one by one; at the ends all go one way.
        ends = rows[rows["rate"].isin([rows["rate"].min(), rows["rate"].max()])]
        chance = ends["chance"].iloc[0]
        ranked.append(
            RankedScore(
                str(measure),
                str(language),
                str(name),
                str(rows["model"].iloc[0]),
                evaluate_ranking(rows["rate"], rows["value"], rows["seed"]),
                float(means.iloc[0]),
                float(means.iloc[-1]),
                2 / prod(factorial(count) for count in rows["seed"].value_counts()) < ALPHA,
                isnan(chance) or bool(ends["accuracy"].mean() >= chance + LEARNED * (1 - chance)),
            )
        )
    return ranked


def tabulate_ranks(ranked: Sequence[RankedScore], scores: pd.DataFrame) -> StudyTable:
    """How well each score ranks known bias."""
    import pandas as pd

    rows = [
        (
            score.title,
            score.name,
            score.verdict,
            _show_estimate(score.ranking.pearson),
            _show_estimate(score.ranking.spearman),
            format_percent(score.ranking.ranked),
            f"{format_number(score.lowest, 3)} → {format_number(score.highest, 3)}",
            format_number(score.ranking.resolution, 2),
        )
        for score in ranked
    ]
    models = scores.drop_duplicates(["measure", "language", "rate", "seed"]).groupby(["measure", "language"]).size()
    return StudyTable(
        "ranks",
        "How well each score ranks known bias",
        ("Measure", "Score", "Verdict", "Pearson [95 %]", "Spearman [95 %]", "Pairs in order", "From → to", "± rate"),
        rows,
        f"{' or '.join(map(str, sorted(set(models))))} models per measure, with rates of planted bias from"
        f" {scores['rate'].min():g} to {scores['rate'].max():g}. Pairs in order: the share of pairs of models that the"
        " score ranks correctly; 50 % is chance. From → to: its mean at the lowest and highest rate. ± rate: the"
        " uncertainty of a rate that is read off the score, as one standard deviation.",
        pd.DataFrame([score.to_row() for score in ranked]),
        headings=3,
    )


def tabulate_paper(ranked: Sequence[RankedScore]) -> StudyTable:
    """The paper's Table 2, with ours."""
    import pandas as pd

    marks = {(score.language, score.name): _mark_correlation(score.ranking.pearson) for score in ranked}
    rows = [
        (
            LANGUAGES.get(language, language),
            model,
            *(table.get((language, name), GAP) for table in (marks, PAPER) for name in ("FN", "NLI-CoAL")),
        )
        for language, model in {score.language: score.model for score in ranked}.items()
    ]
    printed = pd.Series([PAPER.get((score.language, score.name)) for score in ranked], dtype=object)
    values = printed.str.rstrip("†").str.replace("−", "-")
    return StudyTable(
        "table-2",
        "Table 2. Pearson’s correlation between the rate of planted bias and the score",
        ("Language", "Model", "FN", "NLI-CoAL", "FN, the paper", "NLI-CoAL, the paper"),
        rows,
        "† p < 0.05. The paper’s models are BERT base (English, Chinese) and Tohoku BERT (Japanese), after three"
        " epochs; no corr.: the score is the same at all rates. The † of FN in English is as printed; with 11 models p"
        " is 0.43.",
        pd.DataFrame([score.to_row() for score in ranked]).assign(paper=pd.to_numeric(values, errors="coerce")),
        headings=2,
    )


def tabulate_rates(scores: pd.DataFrame, ranked: Sequence[RankedScore]) -> StudyTable:
    """The scores themselves, and whether the models have learned."""
    means = scores.groupby(["measure", "language", "score", "rate"])["value"].mean().unstack("rate")
    texts = dict(zip(means.index, means.map(partial(format_number, digits=3)).to_numpy().tolist(), strict=True))
    rows = [(score.title, score.name, *texts[score.measure, score.language, score.name]) for score in ranked]
    accuracies = [
        f"{name_group(*group)}, {subset['examples'].max():,} examples:"
        f" {subset['accuracy'].min():.2f} to {subset['accuracy'].max():.2f} (a model that knows all but the direction"
        f" has {subset['chance'].iloc[0]:.2f})"
        for group, subset in scores.dropna(subset="chance").groupby(["measure", "language"], sort=False)
    ]
    note = "Means over seeds."
    if accuracies:
        note += (
            f" The accuracy on held-out planted examples shows whether the bias was learned: {'; '.join(accuracies)}."
        )
    columns = ("Measure", "Score", *(f"{rate:g}" for rate in means))
    return StudyTable("by-rate", "Scores by rate of planted bias", columns, rows, note, scores, headings=2)


def _show_estimate(estimate: IntervalEstimate) -> str:
    return "no corr." if estimate.value is None else format_with_bounds(estimate.value, estimate.interval, 3)


def _mark_correlation(estimate: IntervalEstimate) -> str:
    if estimate.value is None:
        return "no corr."
    return f"{number(estimate.value, 3)}{'†' if is_significant(estimate.p_value) else ''}"


def write_headline(ranked: Sequence[RankedScore]) -> str:
    """Which scores rank known bias, and which do not."""
    sentences = []
    titles = list(dict.fromkeys(score.title for score in ranked))
    for verdict, words in VERDICTS.items():
        titles_by_names: dict[tuple[str, ...], list[str]] = {}
        for title in titles:
            scores = [score for score in ranked if score.title == title and score.verdict == verdict]
            names = tuple(dict.fromkeys(score.name.removesuffix(TWIN) for score in scores))
            titles_by_names.setdefault(names, []).append(title)
        parts = [
            ", ".join(names) + (f" ({'; '.join(where)})" if len(titles) > 1 else "")
            for names, where in titles_by_names.items()
            if names
        ]
        if parts:
            sentences.append(f"{words}: {'; '.join(parts)}.")
    return " ".join(sentences)
