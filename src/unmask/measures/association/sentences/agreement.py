"""How templates and real sentences agree, where an audit has both.

Two questions about the professions that both have, with female − male differences t (templates) and s (sentences):

- do they agree on which professions go with female person words? Pearson's r of t and s.
- is the stereotype the same? That of the sentences minus that of the templates, in nats.

Professions are a sample, and the pairs of person words and the templates are two more: leaving out a profession changes
both t and s, so that its sentences are left out with it. Noise in s makes r smaller than it would be with more
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.association import REAL
from unmask.measures.association.details import AgreementValue
from unmask.measures.association.table import (
    STEREOTYPED,
    AssociationTable,
    fixed_factors,
    mean,
    tabulate_items,
)
from unmask.results import Estimate, Measurement
from unmask.statistics.correlation import pearson
from unmask.statistics.jackknife import FISHER, Indices, jackknife

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SHARED = 4
"""Professions that a correlation needs for an interval."""


def add_agreement(measured: Sequence[tuple[pd.DataFrame, Measurement]]) -> list[tuple[pd.DataFrame, Measurement]]:
    """Add the agreement with templates to the measurement of real sentences, if there is one of each."""
    about = [
        (items, measurement)
        for items, measurement in measured
        if measurement.attributes == "professions" and measurement.language == "en"
    ]
    real = next((pair for pair in about if pair[1].corpus == REAL), None)
    templates = next((pair for pair in about if pair[1].corpus != REAL), None)
    if real is None or templates is None:
        return list(measured)
    tests, values = compare_corpora(tabulate_items(templates[0]), tabulate_items(real[0]))
    agreeing = real[1].model_copy(
        update={
            "tests": real[1].tests | tests,
            "details": real[1].details | {"agreement": values},
        }
    )
    return [(items, agreeing if measurement is real[1] else measurement) for items, measurement in measured]


def compare_corpora(
    templates: AssociationTable, sentences: AssociationTable
) -> tuple[dict[str, Estimate], list[AgreementValue]]:
    """Both tests, as far as the professions that both have allow them, and the differences of these professions."""
    shared = [name for name in sentences.professions if name in templates.professions]
    rows = [table_rows(templates, shared), table_rows(sentences, shared)]
    groups, counts = sentences.groups[rows[1]], (~np.isnan(sentences.difference[rows[1]])).sum(axis=(1, 2))
    by_template, by_sentence = templates.difference[rows[0]], mean(sentences.difference[rows[1]], axis=(1, 2))

    def differences(*kept: Indices) -> np.ndarray:
        return mean(by_template[np.ix_(*kept)], axis=(1, 2))

    def correlation(r: Indices, *others: Indices) -> float:
        return pearson(differences(r, *others), by_sentence[r])

    def larger_stereotype(r: Indices, *others: Indices) -> float:
        gaps = by_sentence[r] - differences(r, *others)
        female, male = (gaps[groups[r] == group] for group in STEREOTYPED)
        return float(mean(female) - mean(male))

    tests = {}
    shape, fixed = by_template.shape, fixed_factors(by_template)
    if len(shared) >= FEWEST_SHARED:
        tests["agreement with templates, pearson"] = Estimate.from_statistic(
            jackknife(shape, correlation, scale=FISHER, fixed=fixed),
            n=len(shared),
            labels={"contrast": "agreement", "of": "professions"},
            question="Do templates and real sentences agree on which professions go with female person words?",
            unit="correlation",
        )
    if set(STEREOTYPED) <= set(groups):
        chosen = np.flatnonzero(np.isin(groups, STEREOTYPED))
        estimate = jackknife(
            (len(chosen), *shape[1:]),
            lambda r, *others: larger_stereotype(chosen[r], *others),
            samples=groups[chosen],
            fixed=fixed,
        )
        tests["agreement with templates, stereotype"] = Estimate.from_statistic(
            estimate,
            n=int(counts[chosen].sum()),
            labels={"contrast": "agreement", "of": "stereotype"},
            question="Is the stereotype in real sentences the same as in templates, for the same professions?",
        )
    pairs = zip(shared, mean(by_template, axis=(1, 2)), by_sentence, strict=True)
    return tests, [AgreementValue(profession=name, templates=float(t), sentences=float(s)) for name, t, s in pairs]


def table_rows(table: AssociationTable, names: Sequence[str]) -> Indices:
    """The rows of some professions, in this order."""
    return np.array([table.professions.index(name) for name in names], dtype=np.intp)
