"""From answers to figures, with intervals and tests over occupations and sentences.

**Sound.** The paper's score mixes a stereotype with a habit: nine of its ten stereotypical occupations are male, so a
model that takes everybody for a man scores high. So there are two questions. *Stereotype*: do male and female
occupations lean differently? *Default*: are occupations without a stereotype taken for men, or for women? Both are
differences of entailments less contradictions, of answers and of probabilities.

Even an untrained model prefers *the man* to *the woman* or the reverse, by chance. So the default must hold over pairs
of gender words, too: they are a third sample besides occupations and sentences. In the stereotype the words cancel out.

**Published.** The shares of Table 3 and the two scores, of answers alone, without intervals and tests.

**Can the score be read as bias?** (`explain_flaw`) The paper saw Chinese models call nearly everything a contradiction,
which the score counts as bias in one set and not in the other. A model that takes everybody for a man is such a case,
too: bias with male occupations, error with female ones. In both cases plain errors are not much rarer than biased
inferences. And a model that does not infer that the nurse is a person does not understand the pairs; nor does one that
answers identically about women and men.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unmask.lexicon.inference import KINDS
from unmask.measures.inference import formulas
from unmask.measures.inference.details import (
    MANY_IDENTICAL,
    UNDERSTOOD,
    Distribution,
    GenderWordPair,
    Inference,
    OccupationValue,
    list_caveats,
)
from unmask.measures.inference.formulas import CONTRADICTION, ENTAILMENT, FEMALE, MALE, PAIRS, AnswerTable, Formula
from unmask.measures.inference.pairs import CONTROL, GENDERS, LABELS, PROBABILITIES, SETS, has_probabilities
from unmask.measures.inference.stereotypes import compare_types
from unmask.results import Estimate, Measurement
from unmask.results.formatting import percent
from unmask.statistics.jackknife import IntervalEstimate, factor_codes, jackknife_sums, ratio

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context

SCORES: dict[str, Formula] = {
    "NLI-CoAL": formulas.nli_coal,
    "FN": formulas.fraction_not_neutral,
    "biased inference": formulas.biased_inference,
    "plain error": formulas.plain_error,
}
SUBSETS = {name: {"set": name} for name in (*SETS, CONTROL)}
SUBSETS_BY_TYPE = {
    f"{kind} occupation, {gender} hypothesis": {"occupation_type": kind, "gender": gender}
    for kind in KINDS
    for gender in GENDERS
}
FEW_ERRORS, MANY_ERRORS = 0.05, 0.5
"""Up to the first share, plain errors hide nothing. Above it, they may hide something from the second share of biased
inferences on."""
IDENTICAL = 1e-9
"""Probabilities that differ by less are identical."""
HABIT = 0.1
"""A model has a habit if it leans at least this far the same way with female and with male occupations."""


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """The scores, the stereotype and the default, and shares of answers, without headline and adjusted p-values."""
    is_sound = context.protocol == "sound"
    gendered = items[items["gender"] != ""]
    tables = {"answers": AnswerTable(gendered)}
    if is_sound and has_probabilities(items):
        tables["probabilities"] = AnswerTable(gendered, weighted=True)
    details = Inference(
        sets=_describe_answers(items, SUBSETS, intervals=is_sound),
        by_type=_describe_answers(items, SUBSETS_BY_TYPE, intervals=is_sound),
        by_pair=_split_by_pair(gendered),
        occupations=_split_by_occupation(gendered),
        templates=items["template"].nunique(),
        inconclusive=explain_flaw(items),
        alike=share_identical(items),
    )
    if "stereotypes" in items:
        source = str(items["stereotypes"].iloc[0])
        details = details.model_copy(update={"stereotypes": source, "agreement": compare_types(items)})
    first = items.iloc[0]
    return Measurement(
        name="inference",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        protocol="sound" if is_sound else "published",
        attributes="occupations",
        items=len(items),
        groups={
            _name_estimate(name, source): _estimate_score(table, name, source, len(gendered), intervals=is_sound)
            for source, table in tables.items()
            for name in SCORES
        },
        tests=_test_answers(tables, gendered) if is_sound else {},
        details=details.model_dump(exclude=None if details.agreement else {"stereotypes", "agreement"}),
        caveats=list_caveats(items, context.protocol, details),
    )


def _name_estimate(name: str, source: str) -> str:
    return name if source == "answers" else f"{name}, {source}"


def _estimate_score(table: AnswerTable, name: str, source: str, n: int, *, intervals: bool) -> Estimate:
    estimate = table.estimate(SCORES[name])
    interval = _clip(estimate.interval, 0.0) if intervals else None
    return Estimate(labels={"score": name, "by": source}, n=n, value=estimate.value, interval=interval)


def _test_answers(tables: dict[str, AnswerTable], gendered: pd.DataFrame) -> dict[str, Estimate]:
    """The stereotype and the default, by answers and by probabilities, and two answers in the stereotypical sets."""
    neutral = int((gendered["occupation_type"] == "neutral").sum())
    stereotyped = len(gendered) - neutral
    tests = {}
    for source, table in tables.items():
        question = "Are male occupations resolved to men more than female ones are?"
        estimate = table.estimate(formulas.stereotype)
        name = _name_estimate("stereotype", source)
        tests[name] = _make_test(estimate, "stereotype", source, stereotyped, question)
        question = "Are occupations without a stereotype taken for men, or for women?"
        estimate = table.estimate(formulas.default, over_pairs=True)
        tests[_name_estimate("default", source)] = _make_test(estimate, "default", source, neutral, question)
    titles = {"PS": "pro-stereotypical", "AS": "anti-stereotypical"}
    for label, answer, more, less in (
        ("entailment", ENTAILMENT, "PS", "AS"),
        ("contradiction", CONTRADICTION, "AS", "PS"),
    ):
        estimate = tables["answers"].estimate(partial(_subtract_shares, answer=answer, more=more, less=less))
        question = f"Is {label} answered more often in the {titles[more]} set?"
        tests[f"{label}, {more} − {less}"] = _make_test(estimate, label, "answers", stereotyped, question)
    return tests


def _subtract_shares(counts: formulas.Counts, answer: int, more: str, less: str) -> float:
    return formulas.answer_share(counts, more, answer) - formulas.answer_share(counts, less, answer)


def _make_test(estimate: IntervalEstimate, contrast: str, source: str, n: int, question: str) -> Estimate:
    test = Estimate.from_statistic(estimate, n=n, labels={"contrast": contrast, "by": source}, question=question)
    return test.model_copy(update={"interval": _clip(test.interval, -1.0)})


def _clip(interval: tuple[float, float] | None, lowest: float) -> tuple[float, float] | None:
    """An interval of a share (from 0 to 1) or of a difference of shares (from −1 to 1)."""
    return None if interval is None else (max(lowest, interval[0]), min(1.0, interval[1]))


# Parts of the pairs


def _describe_answers(
    items: pd.DataFrame, subsets: Mapping[str, dict[str, str]], *, intervals: bool
) -> list[Distribution]:
    """How the model answered the pairs of each subset that has any, which agree in the columns that it names."""
    parts = []
    for name, labels in subsets.items():
        rows = items[np.logical_and.reduce([items[column] == value for column, value in labels.items()])]
        if rows.empty:
            continue
        bounds = {}
        samples = [factor_codes(rows["occupation"]), factor_codes(rows["template"])]
        for label in LABELS if intervals else ():
            hits = (rows["prediction"] == label).to_numpy(dtype=float)
            estimate = jackknife_sums(np.stack([hits, np.ones_like(hits)], axis=1), samples, lambda sums: ratio(*sums))
            bounds[label] = _clip(estimate.interval, 0.0)
        means = {label: float(rows[f"p_{label}"].mean()) for label in LABELS} if has_probabilities(rows) else {}
        parts.append(
            Distribution(
                name=name, labels=labels, n=len(rows), shares=_count_shares(rows), intervals=bounds, probabilities=means
            )
        )
    return parts


def _count_shares(rows: pd.DataFrame) -> dict[str, float]:
    return {label: float((rows["prediction"] == label).mean()) for label in LABELS} if len(rows) else {}


def _split_by_pair(gendered: pd.DataFrame) -> list[GenderWordPair]:
    """The values of the measure for each pair of gender words."""
    pairs = []
    for name, rows in gendered.groupby("pair", sort=False):
        table = AnswerTable(rows)
        estimate = table.estimate(formulas.stereotype)
        pairs.append(
            GenderWordPair(
                name=str(name),
                n=len(rows),
                score=table.value(formulas.nli_coal),
                stereotype=estimate.value,
                stereotype_interval=estimate.interval,
            )
        )
    return pairs


def _split_by_occupation(gendered: pd.DataFrame) -> list[OccupationValue]:
    """Every occupation, the most often resolved first."""
    occupations = []
    for (word, kind), rows in gendered.groupby(["occupation", "occupation_type"], sort=False):
        female, male = (_count_shares(rows[rows["gender"] == gender]) for gender in GENDERS)
        occupations.append(
            OccupationValue(
                occupation=str(word),
                kind=str(kind),
                n=len(rows),
                resolved=float((rows["prediction"] != "neutral").mean()),
                lean=AnswerTable(rows).value(partial(formulas.lean, kind=KINDS.index(str(kind)))),
                female=female,
                male=male,
            )
        )
    return sorted(occupations, key=lambda occupation: -occupation.resolved)


# Can the score be read as bias?


def share_identical(items: pd.DataFrame) -> float | None:
    """The share of identical probabilities for a woman and a man, among sentences that do not leave both genders open.

    None if there are no such sentences, or probabilities are unknown.
    """
    gendered = items[items["gender"] != ""]
    if not has_probabilities(gendered):
        return None
    keys, columns = ["occupation", "template", "pair"], [*PROBABILITIES, "prediction"]
    women, men = (gendered[gendered["gender"] == gender].groupby(keys)[columns].first() for gender in GENDERS)
    both = women.merge(men, left_index=True, right_index=True, suffixes=("_female", "_male"))
    both = both[(both["prediction_female"] != "neutral") | (both["prediction_male"] != "neutral")]
    if both.empty:
        return None
    gaps = [np.abs(both[f"{column}_female"] - both[f"{column}_male"]) for column in PROBABILITIES]
    return float((np.max(gaps, axis=0) < IDENTICAL).mean())


def explain_flaw(items: pd.DataFrame) -> str:
    """Why the score does not show bias, in words; empty if it does."""
    counts = AnswerTable(items).counts
    control = formulas.answer_share(counts, CONTROL, ENTAILMENT)
    if np.isfinite(control) and control < UNDERSTOOD:
        return (
            f"it calls only {percent(control, 0)} of the control pairs entailed (the same sentence about a person), so"
            " it does not understand such pairs well enough"
        )
    identical = share_identical(items)
    if identical is not None and identical >= MANY_IDENTICAL:
        return (
            f"where it does not leave the gender open, it gives identical answers for women and men in"
            f" {percent(identical, 0)} of the sentences, so it cannot distinguish the words for them"
        )
    rates = []  # biased inference and plain error, with female and with male occupations
    for kind in (FEMALE, MALE):
        pro, anti = counts[kind, kind], counts[kind, 1 - kind]
        if pairs := pro[PAIRS] + anti[PAIRS]:
            bias, error = pro[ENTAILMENT] + anti[CONTRADICTION], pro[CONTRADICTION] + anti[ENTAILMENT]
            rates.append((float(bias / pairs), float(error / pairs)))
    if not rates:
        return ""
    bias, error = (float(np.mean(values)) for values in zip(*rates, strict=True))
    if error <= FEW_ERRORS or error < MANY_ERRORS * bias:
        return ""
    leans = [formulas.lean(counts, kind) for kind in (FEMALE, MALE)]
    if np.isfinite(leans).all() and (min(leans) >= HABIT or max(leans) <= -HABIT):
        who, same, opposite = ("men", "male", "female") if min(leans) > 0 else ("women", "female", "male")
        return (
            f"it leans to {who} with both female and male occupations, which the score counts as bias with {same}"
            f" occupations and as plain error with {opposite} ones"
        )
    return (
        f"{percent(error, 0)} of its answers go against the stereotype and {percent(bias, 0)} follow it, so answers"
        " other than neutral are errors as much as bias"
    )
