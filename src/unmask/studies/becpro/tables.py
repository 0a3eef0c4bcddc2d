"""The tables of the study: the paper's Tables 4 and 5, what changed, the workforce, and the fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from unmask.measures.association import AssociationMeasure
from unmask.measures.association.compare import correlation_change
from unmask.measures.association.details import AssociationChanges
from unmask.measures.association.table import GENDERS, estimate_correlation, tabulate_items
from unmask.measures.comparison import select_items
from unmask.results import Change, Comparison, Estimate
from unmask.results.formatting import LANGUAGES
from unmask.results.formatting import p as format_p
from unmask.statistics.correlation import pearson, spearman
from unmask.statistics.jackknife import FISHER, IntervalEstimate
from unmask.studies.becpro.plan import StudiedModel
from unmask.studies.report import StudyTable, format_number, format_with_bounds, list_bounds, tabulate
from unmask.workflows.audit import Audit
from unmask.workflows.compare import Compared

Row = dict[str, Any]
BEC_PRO = "bec-pro"
"""The corpus of the paper's tables."""
EMOTIONS = "emotions"
"""The corpus of its preliminary test, of which it gives no numbers."""
GROUPS = ("balanced", "female", "male")
"""In the order of the paper's tables."""
PAPER: dict[str, dict[str, tuple[tuple[tuple[float, ...], tuple[float, ...]], int, float]]] = {
    "table-4": {
        "balanced": (((-0.35, 0.20, 0.55), (0.05, 0.07, 0.01)), 359188, -0.47),
        "female": (((0.50, 0.36, -0.14), (-0.68, -0.14, 0.55)), 96428, -0.32),
        "male": (((-0.83, 0.13, 0.96), (0.16, 0.21, 0.05)), 395974, -0.58),
    },
    "table-5": {
        "balanced": (((2.14, 2.40), (1.36, 2.06)), 315058, -0.34),
        "female": (((2.05, 2.45), (1.34, 2.09)), 304635, -0.31),
        "male": (((2.14, 2.46), (1.46, 2.15)), 297605, -0.29),
    },
}
"""The paper's values: those of female and of male person words, W and r."""
PAPER_P = 2e-16
MEANS_NOTE = (
    "Mean association in nats and its standard deviation over sentences. W and r: Wilcoxon's signed ranks over all"
    " pairs of sentences of female − male person words"
)
CSV_NOTE = (
    "The CSV file has p-values as well, and intervals in sound. These p-values are far too small: pairs share"
    " professions and person words."
)
FEWEST_SHARES = 3
"""For fewer professions with a share of women, there is no correlation."""


@dataclass(frozen=True)
class StudiedResult:
    """What was measured of a model in one language."""

    model: StudiedModel
    audit: Audit
    """Before fine-tuning."""
    comparison: Compared | None = None
    """With the fine-tuned model."""
    training: Mapping[str, Any] | None = None
    """The `mitigation.json` of the fine-tuned model."""

    @property
    def title(self) -> str:
        """The name of the model, with the language if that is not English."""
        return f"{self.model.name}{'' if self.model.language == 'en' else f', {LANGUAGES[self.model.language]}'}"

    def name_corpus(self, corpus: str) -> str:
        """The title, and the corpus if that is not BEC-Pro."""
        name = AssociationMeasure.corpora[corpus]
        return self.title if corpus == BEC_PRO else f"{self.title}, {name}"

    @property
    def changes(self) -> list[Comparison]:
        """The comparisons with the fine-tuned model, one for each corpus."""
        return self.comparison.comparisons if self.comparison else []


def _order_groups(groups: Sequence[str]) -> list[str]:
    return sorted(groups, key=lambda group: GROUPS.index(group) if group in GROUPS else len(GROUPS))


def tabulate_changed_means(results: Sequence[StudiedResult]) -> StudyTable:
    """Table 4: mean associations before and after, and the paper's test of their change."""
    records = list(_list_paper("table-4", ("before", "after", "change")))
    for result in results:
        for comparison in [comparison for comparison in result.changes if comparison.corpus != EMOTIONS]:
            details = comparison.read_details(AssociationChanges)
            rows = {row.group: row for row in details.table}
            for group in _order_groups(list(rows)):
                row = rows[group]
                test = {"n": row.n, "w": row.w, "r": row.r, "p": row.p_value}
                for gender in GENDERS:
                    change = comparison.of("mean", group=group, gender=gender)
                    estimates = (change.before, change.after, change.change) if change else (None, None, None)
                    values = {name: getattr(row, f"{gender}_{name}") for name in ("before", "after", "change")}
                    bounds = {
                        key: end
                        for name, estimate in zip(values, estimates, strict=True)
                        for key, end in list_bounds(name, estimate.interval if estimate else None).items()
                    }
                    model = result.name_corpus(comparison.corpus)
                    records.append({"model": model, "jobs": group, "person": gender, **values, **bounds, **test})
    note = (
        "Mean association in nats, before (pre) and after fine-tuning (post). W and r: Wilcoxon's signed ranks over"
        " all pairs of sentences of the change of female − male person words, as in the paper, whose model is"
        " bert-base-uncased."
    )
    return _make_table(
        "table-4",
        "Table 4: mean associations before and after fine-tuning",
        records,
        note,
        {"pre": "before", "post": "after", "diff.": "change"},
    )


def tabulate_means(results: Sequence[StudiedResult]) -> StudyTable:
    """Table 5: mean associations before fine-tuning, and the paper's test of female against male person words."""
    records = list(_list_paper("table-5", ("mean", "sd"))) if any(r.model.language == "de" for r in results) else []
    records += _list_means(results, [name for name in AssociationMeasure.corpora if name != EMOTIONS])
    note = f"{MEANS_NOTE}, as in the paper, whose model is bert-base-german-dbmdz-cased (German)."
    title = "Table 5: associations before fine-tuning"
    return _make_table("table-5", title, records, note, {"mean": "mean", "sd": "sd"})


def tabulate_emotions(results: Sequence[StudiedResult]) -> StudyTable:
    """The same for the paper's preliminary corpus."""
    records = _list_means(results, [EMOTIONS])
    note = f"{MEANS_NOTE}. The paper tried its method on these sentences first, and gives no numbers."
    title = "People and emotions (Equity Evaluation Corpus), before fine-tuning"
    return _make_table("emotions", title, records, note, {"mean": "mean", "sd": "sd"}, jobs="Emotion")


def _list_means(results: Sequence[StudiedResult], corpora: Sequence[str]) -> list[Row]:
    records = []
    for result in results:
        for measurement in result.audit.measurements:
            if measurement.corpus not in corpora:
                continue
            for group in _order_groups(measurement.kinds()):
                test = _read_paper_test(measurement.test("difference", group=group))
                for gender in GENDERS:
                    mean = measurement.mean_of(group, gender)
                    values = {"mean": mean and mean.value, "sd": mean and mean.sd}
                    bounds = list_bounds("mean", mean.interval if mean else None)
                    model = result.name_corpus(measurement.corpus)
                    records.append({"model": model, "jobs": group, "person": gender, **values, **bounds, **test})
    return records


def _read_paper_test(test: Estimate | None) -> Row:
    """Wilcoxon's V, r and p over all pairs, where the protocol stores them."""
    if test is None:
        return dict.fromkeys(("n", "w", "r", "p"))
    if ranks := test.wilcoxon:
        return {"n": ranks.n, "w": ranks.v, "r": None if ranks.r is None else -abs(ranks.r), "p": ranks.p_value}
    return {"n": test.n, "w": test.statistic, "r": test.effect_size, "p": test.p_value}


def _list_paper(table: str, names: Sequence[str]) -> Iterator[Row]:
    for group, (values, w, r) in PAPER[table].items():
        for gender, row in zip(GENDERS, values, strict=True):
            labels = {"model": "paper", "jobs": group, "person": gender}
            yield {**labels, **dict(zip(names, row, strict=True)), "n": 900, "w": w, "r": r, "p": PAPER_P}


def _make_table(
    name: str, title: str, records: Sequence[Row], note: str, values: Mapping[str, str], jobs: str = "Jobs"
) -> StudyTable:
    """Return a table of means by model, jobs and person; the test stands in the row of the female person words."""
    names = {"Model": "model", jobs: "jobs", "Person": "person"}
    tests = {"W": partial(format_number, digits=0), "r": partial(format_number, digits=2)}
    columns: dict[str, Callable[[Row], str]] = {
        **{heading: partial(_show_text, column=key) for heading, key in names.items()},
        **{heading: partial(_show_number, column=column) for heading, column in values.items()},
        **{heading: partial(_show_test, column=heading.lower(), show=show) for heading, show in tests.items()},
    }
    return tabulate(name, title, records, columns, f"{note} {CSV_NOTE}", pd.DataFrame(records), headings=3)


def _show_number(row: Row, column: str) -> str:
    return format_number(row[column], 2)


def _show_text(row: Row, column: str) -> str:
    return str(row[column])


def _show_bounded(row: Row, column: str) -> str:
    """A value with its interval, if it has one."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    return format_with_bounds(row[column], None if low is None or high is None else (low, high))


def _show_test(row: Row, column: str, show: Callable[[float | None], str]) -> str:
    return show(row[column]) if row["person"] == GENDERS[0] else ""


def tabulate_changes(results: Sequence[StudiedResult]) -> StudyTable:
    """The changes in which zero is no bias, with their verdicts."""
    records = []
    for result in results:
        for comparison in result.changes:
            for name, change in comparison.changes.items():
                if change.labels["contrast"] != "mean":
                    figure = _name_figure(name, change)
                    row = {"model": result.name_corpus(comparison.corpus), "figure": figure, **change.to_row()}
                    records.append({key: value for key, value in row.items() if key not in ("labels", "question")})
    columns = {
        "Model": lambda row: row["model"],
        "Figure": lambda row: row["figure"],
        "Before": lambda row: format_number(row["before"], 2),
        "After": lambda row: format_number(row["after"], 2),
        "Change": lambda row: format_with_bounds(row["change"], row["interval"]),
        "p": lambda row: format_p(row["p_adjusted"]),
        "Verdict": lambda row: row["verdict"] or "–",
    }
    note = (
        "In nats, except correlations. In brackets: 95 % intervals. A correlation that was not clear before gets no"
        " verdict."
    )
    title = "What fine-tuning changed"
    return tabulate("changes", title, records, columns, note, pd.DataFrame(records), headings=2)


def _name_figure(name: str, change: Change) -> str:
    """A short name: `stereotype`, `balanced: female − male`."""
    return f"{change.labels['group']}: female − male" if "group" in change.labels else name


def tabulate_training(results: Sequence[StudiedResult]) -> StudyTable:
    """How long the fine-tuning was."""
    records = []
    for result in results:
        assert result.training is not None  # it was compared
        details, data = result.training["details"], result.training["data"]
        speed = details["steps"] / details["seconds"] if details["seconds"] else None
        names = ("changed_documents", "sentences", "steps", "seconds", "device")
        row = {"model": result.title, "documents": data["documents"], **{name: details[name] for name in names}}
        records.append({**row, "steps_per_second": speed})
    columns = {
        "Model": lambda row: row["model"],
        "Documents": lambda row: f"{row['documents']:,}",
        "Swapped": lambda row: f"{row['changed_documents']:,}",
        "Sentences": lambda row: f"{row['sentences']:,}",
        "Steps": lambda row: f"{row['steps']:,}",
        "Seconds": lambda row: f"{row['seconds']:,.0f}",
        "Steps/s": lambda row: format_number(row["steps_per_second"], 2),
    }
    return tabulate("training", "Fine-tuning", records, columns, "", pd.DataFrame(records))


def tabulate_workforce(results: Sequence[StudiedResult]) -> StudyTable:
    """The correlation of a model's preferences with women's share of the workforce, before and after."""
    records = []
    for result in results:
        for measurement in result.audit.measurements:
            items = select_items(measurement, result.audit.items[AssociationMeasure.name])
            assert items is not None  # it was measured
            if items.drop_duplicates("profession")["workforce_share"].notna().sum() < FEWEST_SHARES:
                continue
            sides, change = [tabulate_items(items)], None
            if result.comparison:
                paired = select_items(measurement, result.comparison.items[AssociationMeasure.name])
                assert paired is not None  # it was compared
                sides = [tabulate_items(paired.assign(association=paired[side])) for side in ("before", "after")]
                change = correlation_change(sides[0], sides[1])
            for name, correlate in {"Pearson": pearson, "Spearman": spearman}.items():
                correlations = [estimate_correlation([side], correlate, FISHER) for side in sides]
                found: dict[str, IntervalEstimate | None] = dict(zip(("before", "after"), correlations, strict=False))
                found["change"] = change if name == "Pearson" else None
                row: Row = {"model": result.name_corpus(measurement.corpus), "correlation": name}
                for when in ("before", "after", "change"):
                    estimate = found.get(when)
                    row[when] = estimate.value if estimate else None
                    row |= list_bounds(when, estimate.interval if estimate else None)
                records.append(row)
    columns: dict[str, Callable[[Row], str]] = {
        "Model": lambda row: row["model"],
        "Correlation": lambda row: row["correlation"],
        **{when.capitalize(): partial(_show_bounded, column=when) for when in ("before", "after", "change")},
    }
    note = (
        "Over professions: female − male association against women's share of the workforce. In brackets: 95 %"
        " intervals over professions and person words, in both protocols; the paper gives no numbers."
    )
    title = "The workforce"
    return tabulate("workforce", title, records, columns, note, pd.DataFrame(records), headings=2)
