"""An untrained model must come out unbiased: over random initialisations, 5 % tests reject about 5 %."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pandas as pd
from scipy import stats

from unmask.measures.association.analysis import analyse
from unmask.measures.association.data import build_rows
from unmask.measures.association.scoring import build_queries
from unmask.measures.base import Context
from unmask.models.masked_lm import TransformersMaskedLM
from unmask.statistics.corrections import holm

SEEDS = 60


def test_random_models_are_unbiased(loaded: Callable[[str], Any]) -> None:
    """Every test, over 60 random BERTs: no more rejections than 5 % allow (99.9 % of the time)."""
    from toy_model import bert_of

    tokenizer = loaded("bert-uncased").tokenizer
    rows = build_rows("en")
    queries = build_queries(rows, "sound")
    frame = pd.DataFrame([asdict(row) for row in rows])
    rejected: Counter[str] = Counter()
    naive: Counter[str] = Counter()
    masked_lm = TransformersMaskedLM(bert_of(tokenizer, seed=0, hidden=32, layers=1), tokenizer)
    for seed in range(SEEDS):
        masked_lm.model = bert_of(tokenizer, seed=seed, hidden=32, layers=1)  # the queries stay encoded
        log_p = masked_lm.log_probability(queries)
        items = frame.assign(association=log_p[: len(rows)] - log_p[len(rows) :])
        tests = analyse(items, Context(seed=seed)).tests
        rejected["any, after Holm"] += any(
            p is not None and p < 0.05 for p in holm([test.p_value for test in tests.values()])
        )
        for name, test in tests.items():
            rejected[name] += test.p_value is not None and test.p_value < 0.05
            if test.p_sign_flip is not None:
                rejected[f"{name}, sign flip"] += test.p_sign_flip < 0.05
            if test.wilcoxon is not None and test.wilcoxon.p_value is not None:
                naive[name] += test.wilcoxon.p_value < 0.05
    most = int(stats.binom.isf(0.001, SEEDS, 0.05))
    assert len(rejected) > 12
    assert max(rejected.values()) <= most, rejected
    # and the reason for crossed intervals: over 900 "independent" pairs, most random models look biased
    assert min(naive.values()) > SEEDS / 2, naive
