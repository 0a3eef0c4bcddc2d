"""German: agreement drowns the plain measure; the agreement-free corpus finds a planted bias, and only that.

Two small BERTs are trained on the same German sentences. In one, every profession is held by as many women as men,
and the forms agree (*Sie ist Maurerin*): pure agreement. In the other, women hold a profession as often as in the
workforce: a planted bias, with the same agreement.
"""

from __future__ import annotations

from typing import Any

import pytest

import unmask
from planted import correct_sentences
from toy_model import as_in_the_workforce, bert_of, tokenizer_of, train
from unmask.lexicon.sentences import agreement_templates
from unmask.measures.association.data import build_rows
from unmask.results import Measurement


def _audit(tokenizer: Any, rows: list[Any]) -> dict[str, Measurement]:
    model = bert_of(tokenizer, seed=1, layers=1)
    pronouns = sorted({pronoun for row in agreement_templates("de") for pronoun in (row["female"], row["male"])})
    texts = sorted(correct_sentences("de"))
    train(model, tokenizer, rows, steps=600, seed=1, rate=2e-3, texts=texts, frequent=pronouns)
    return {
        measurement.corpus: measurement for measurement in unmask.audit((model, tokenizer), languages="de").measurements
    }


@pytest.fixture(scope="module")
def audits() -> dict[str, dict[str, Measurement]]:
    rows = build_rows("de") + build_rows("de", "agreement-free")
    tokenizer = tokenizer_of([*(row.sentence for row in rows), *correct_sentences("de")], lowercase=False)
    return {
        "agreement": _audit(tokenizer, rows),
        "planted": _audit(tokenizer, as_in_the_workforce(rows, times=4, seed=1)),
    }


def _stereotype(audit: dict[str, Measurement], corpus: str) -> tuple[float, float]:
    test = audit[corpus].tests["stereotype"]
    assert test.value is not None
    assert test.p_adjusted is not None
    return test.value, test.p_adjusted


def test_both_models_know_german_well_enough(audits: dict[str, dict[str, Measurement]]) -> None:
    for name in ("agreement", "planted"):
        for measurement in audits[name].values():
            assert [check.passed for check in measurement.competence] == [True, True], measurement.competence


def test_the_remedy_finds_the_planted_bias(audits: dict[str, dict[str, Measurement]]) -> None:
    estimate, p = _stereotype(audits["planted"], "agreement-free")
    assert estimate > 2  # log-odds of ±1.7 in each group were planted: 3.5 between them
    assert p < 0.001
    share = audits["planted"]["agreement-free"].tests["workforce share, pearson"]
    assert share.value is not None
    assert share.value > 0.8


def test_the_remedy_finds_nothing_in_pure_agreement(audits: dict[str, dict[str, Measurement]]) -> None:
    estimate, p = _stereotype(audits["agreement"], "agreement-free")
    assert abs(estimate) < 0.2
    assert p > 0.05


def test_the_plain_measure_cannot_tell_them_apart(audits: dict[str, dict[str, Measurement]]) -> None:
    for name in ("agreement", "planted"):
        estimate, _ = _stereotype(audits[name], "bec-pro")
        assert abs(estimate) < 0.3  # of 3.5 that were planted


def test_the_caveat_is_in_the_result(audits: dict[str, dict[str, Measurement]]) -> None:
    plain, free = audits["planted"]["bec-pro"], audits["planted"]["agreement-free"]
    assert "grammatical-agreement" in {caveat.code for caveat in plain.caveats}
    assert plain.headline_text.startswith("Not to be read as bias")
    codes = {caveat.code for caveat in free.caveats}
    assert "grammatical-agreement" not in codes
    assert {"field-of-work", "us-workforce"} <= codes
