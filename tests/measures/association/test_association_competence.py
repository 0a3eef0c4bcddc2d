"""A model that does not know the language, or nothing at all, is inconclusive: in the audit and in the words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import unmask
from planted import ConstantModel, PlantedModel, correct_sentences
from toy_model import bert_of
from unmask.measures.association.data import build_rows
from unmask.measures.usefulness import check_competence, score_stated_gender
from unmask.models.handle import ModelHandle
from unmask.models.masked_lm import TransformersMaskedLM
from unmask.models.roles import MaskQuery
from unmask.results import Competence


class NoisyModel:
    """Random answers, next to nothing apart from each other."""

    def __init__(self, spread: float = 1e-7) -> None:
        self.spread, self.draw = spread, np.random.default_rng(0)

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return -5 + self.spread * self.draw.normal(size=len(queries))


class MaleModel:
    """Always prefers words for men."""

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return np.array([-1.0 if query.word in ("he", "him", "his", "himself") else -2.0 for query in queries])


class BrokenModel:
    """Gives no numbers."""

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return np.full(len(queries), np.nan)


def _check(model: object, language: str = "en") -> tuple[Competence, Competence]:
    words, pronouns = check_competence(model, language, seed=42)  # type: ignore[arg-type]
    return words, pronouns


@pytest.fixture(scope="module")
def mini() -> TransformersMaskedLM:
    return ModelHandle("unmask-mini").load("masked-lm")  # type: ignore[no-any-return]


def test_the_embedded_model_knows_english_and_no_german(mini: TransformersMaskedLM) -> None:
    english, german = _check(mini), _check(mini, "de")
    assert all(check.passed for check in english)
    assert min(check.value or 0 for check in english) > 0.9
    assert not any(check.passed for check in german)
    assert max(check.value or 0 for check in german) < 0.7


@pytest.mark.parametrize("language", ["en", "de"])
def test_untrained_models_know_nothing(mini: TransformersMaskedLM, language: str) -> None:
    for seed in range(10):
        untrained = TransformersMaskedLM(bert_of(mini.tokenizer, seed=seed), mini.tokenizer)
        checks = _check(untrained, language)
        assert not any(check.passed for check in checks), (seed, checks)


@pytest.mark.parametrize("model", [ConstantModel(), NoisyModel(), NoisyModel(3.0), MaleModel()])
def test_models_without_knowledge_are_right_by_chance(model: object) -> None:
    words, pronouns = _check(model)
    assert not words.passed
    assert not pronouns.passed
    assert pronouns.value == pytest.approx(0.5, abs=0.15)
    assert (words.chance, words.n, pronouns.n) == (0.5, 60, 80)


def test_a_model_without_numbers_has_no_share() -> None:
    for check in _check(BrokenModel()):
        assert (check.value, check.n, check.passed) == (None, 0, False)


def test_every_template_is_asked_with_both_genders_of_its_pairs() -> None:
    for language, templates in (("en", 20), ("de", 15)):
        items = score_stated_gender(ConstantModel(), language, pairs=2)
        assert len(items) == templates * 2 * 2
        assert (items.groupby(["template", "pair"])["gender"].nunique() == 2).all()
        assert len(correct_sentences(language)) > 300


def test_german_sentences_agree() -> None:
    sentences = set(score_stated_gender(ConstantModel(), "de")["sentence"])
    assert "Meine Schwester hat ihren Schlüssel verloren." in sentences
    assert "Mein Bruder war hungrig, und wir gaben ihm etwas Brot." in sentences
    assert "Als die Königin aufwachte, konnte sie sich an den Traum nicht erinnern." in sentences


def test_an_audit_of_the_wrong_language_is_inconclusive(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} war früher {in} {field} beschäftigt.\n", encoding="utf-8")
    audit = unmask.audit("unmask-mini", measures="association", languages="de", templates=tmp_path / "t.csv")
    measurement = audit.measurements[0]
    assert measurement.headline_text.startswith("Inconclusive: the model cannot reliably fill in words of the language")
    assert "no stereotype" not in measurement.headline_text.lower()


def test_constant_and_noisy_models_are_inconclusive() -> None:
    for model in (ConstantModel(), NoisyModel(3.0)):
        (measurement,) = unmask.audit(model, measures="association").measurements
        assert measurement.headline_text.startswith("Inconclusive")


def test_a_model_that_is_competent_has_a_finding() -> None:
    (measurement,) = unmask.audit(PlantedModel(build_rows("en"), bias=1.0), measures="association").measurements
    assert [check.value for check in measurement.competence] == [1.0, 1.0]
    assert "along gender stereotypes" in measurement.headline_text
