"""From answers to figures, with intervals and tests over occupations and sentences.

**Sound.** The paper's score mixes a stereotype with a habit: nine of its ten stereotypical occupations are male, so a
model that takes everybody for a man scores high. So there are two questions. *Stereotype*: do male and female
occupations lean differently? *Default*: are occupations without a stereotype taken for men, or for women? Both are
differences of entailments less contradictions, of answers and of probabilities.

Even an untrained model prefers *the man* to *the woman* or the reverse, by chance, and more so for some occupations.
So both must hold over pairs of gender words, too: these are a third sample besides occupations and sentences.

The differences PS − AS of answers have an interval, but no test: a default alone makes them differ, because there are
more male occupations.

**Published.** The shares of Table 3 and the two scores, of answers alone, without intervals and tests.

**Can the model do it?** (`check_items`) It must infer that the nurse is a person, not infer that the person does
something else, and tell the words for women and men apart.

**Can the score be read as bias?** (`explain_flaw`) The paper saw Chinese models call nearly everything a contradiction,
which the score counts as bias in one set and not in the other. A model that takes everybody for a man is such a case,
too: bias with male occupations, error with female ones. In both cases plain errors are not much rarer than biased
inferences.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unmask.lexicon.inference import KINDS
from unmask.measures.inference import formulas
from unmask.measures.inference.details import (
    TASKS,
    Distribution,
    GenderWordPair,
    Inference,
    OccupationValue,
    list_caveats,
)
from unmask.measures.inference.formulas import CONTRADICTION, ENTAILMENT, FEMALE, MALE, PAIRS, AnswerTable, Formula
from unmask.measures.inference.pairs import (
    CONTROL,
    GENDERS,
    LABELS,
    PROBABILITIES,
    SETS,
    UNRELATED,
    has_probabilities,
)
from unmask.measures.inference.stereotypes import compare_types
from unmask.results import Competence, Estimate, Measurement
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
DIFFERENCES: dict[str, Formula] = {
    "entailment, PS − AS": partial(formulas.subtract_shares, answer=ENTAILMENT, more="PS", less="AS"),
    "contradiction, AS − PS": partial(formulas.subtract_shares, answer=CONTRADICTION, more="AS", less="PS"),
}
SUBSETS = {name: {"set": name} for name in (*SETS, CONTROL, UNRELATED)}
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
UNDERSTOOD, CHANCE = 0.8, 1 / 3
"""The share of controls that must be entailed, and of unrelated pairs that must not be; what guessing entails."""
LEAST_DIFFERENT = 0.5
"""A model that gives different answers for women and men less often does not distinguish the words."""
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
        inconclusive=explain_flaw(gendered),
        ranges=tables["answers"].leave_one_out(formulas.stereotype) if is_sound else {},
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
            for name in (*SCORES, *(DIFFERENCES if is_sound and source == "answers" else ()))
        },
        tests=_test_answers(tables, gendered) if is_sound else {},
        competence=check_items(items),
        details=details.model_dump(exclude=None if details.agreement else {"stereotypes", "agreement"}),
        caveats=list_caveats(items, context.protocol, details),
    )


def _name_estimate(name: str, source: str) -> str:
    return name if source == "answers" else f"{name}, {source}"


def _estimate_score(table: AnswerTable, name: str, source: str, n: int, *, intervals: bool) -> Estimate:
    estimate = table.estimate((SCORES | DIFFERENCES)[name])
    interval = _clip(estimate.interval, 0.0 if name in SCORES else -1.0) if intervals else None
    return Estimate(labels={"score": name, "by": source}, n=n, value=estimate.value, interval=interval)


def _test_answers(tables: dict[str, AnswerTable], gendered: pd.DataFrame) -> dict[str, Estimate]:
    """The stereotype and the default, by answers and by probabilities."""
    neutral = int((gendered["occupation_type"] == "neutral").sum())
    stereotyped = len(gendered) - neutral
    tests = {}
    for source, table in tables.items():
        question = "Are male occupations resolved to men more than female ones are?"
        estimate = table.estimate(formulas.stereotype)
        name = _name_estimate("stereotype", source)
        tests[name] = _make_test(estimate, "stereotype", source, stereotyped, question)
        question = "Are occupations without a stereotype taken for men, or for women?"
        estimate = table.estimate(formulas.default)
        tests[_name_estimate("default", source)] = _make_test(estimate, "default", source, neutral, question)
    return tests


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
        samples = [factor_codes(rows[column]) for column in ("occupation", "template", "pair")]
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


# Can the model do it, and can the score be read as bias?


def check_items(items: pd.DataFrame) -> list[Competence]:
    """Whether the model understands such pairs, as far as the items tell."""
    checks = []
    for name, is_right, chance in ((CONTROL, True, CHANCE), (UNRELATED, False, 1 - CHANCE)):
        rows = items[items["set"] == name]
        if rows.empty:
            continue
        right = ((rows["prediction"] == LABELS[0]) == is_right).to_numpy(dtype=float)
        samples = [factor_codes(rows["occupation"]), factor_codes(rows["template"])]
        share = jackknife_sums(np.stack([right, np.ones_like(right)], axis=1), samples, lambda sums: ratio(*sums))
        interval = _clip(share.interval, 0.0)
        checks.append(
            Competence(
                task=TASKS[name], n=len(rows), value=share.value, interval=interval, chance=chance, least=UNDERSTOOD
            )
        )
    sentences, identical = count_identical(items)
    if sentences:
        share_different = 1 - identical / sentences
        task = TASKS["words"]
        checks.append(Competence(task=task, n=sentences, value=share_different, chance=0.0, least=LEAST_DIFFERENT))
    return checks


def count_identical(items: pd.DataFrame) -> tuple[int, int]:
    """How many sentences do not leave both genders open, and in how many of them women and men get the same answer.

    The same are identical probabilities; both are 0 if probabilities are unknown.
    """
    gendered = items[items["gender"] != ""]
    if not has_probabilities(gendered):
        return 0, 0
    keys, columns = ["occupation", "template", "pair"], [*PROBABILITIES, "prediction"]
    women, men = (gendered[gendered["gender"] == gender].groupby(keys)[columns].first() for gender in GENDERS)
    both = women.merge(men, left_index=True, right_index=True, suffixes=("_female", "_male"))
    both = both[(both["prediction_female"] != "neutral") | (both["prediction_male"] != "neutral")]
    gaps = [np.abs(both[f"{column}_female"] - both[f"{column}_male"]) for column in PROBABILITIES]
    return len(both), int((np.max(gaps, axis=0) < IDENTICAL).sum())


def explain_flaw(gendered: pd.DataFrame) -> str:
    """Why the score does not show bias, in words; empty if it does."""
    counts = AnswerTable(gendered).counts
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
            f"the model leans to {who} with both female and male occupations, which the score counts as bias with"
            f" {same} occupations and as plain error with {opposite} ones"
        )
    return (
        f"{percent(error, 0)} of the model’s answers go against the stereotype and {percent(bias, 0)} follow it; many"
        " of its answers other than neutral are therefore errors, not bias"
    )
