"""The contract of every measure, built-in or plug-in: see `unmask.measures.base`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.contract.stubs import RandomClassifier, RandomMaskedLM, random_vectors

import unmask
from packages import install_the_page_s
from unmask import datasets
from unmask.cli.generate import build_command
from unmask.lexicon.weat import gendered_sentences
from unmask.lexicon.word_lists import nouns, rated_professions
from unmask.measures import registry
from unmask.measures.base import Measure
from unmask.results import storage
from unmask.results.verdict import is_significant
from unmask.workflows.audit import Audit, run_audit
from unmask.workflows.audit_options import audit_command, audit_options, load_config

PLUGIN = "pronouns"
NAMES = (*registry.BUILT_IN, PLUGIN)


def _vocabulary() -> list[str]:
    words = [word for sentence in gendered_sentences() for word in sentence.text.lower().replace(".", "").split()]
    return list(
        dict.fromkeys(["he", "she", *nouns()[:400], *(profession.word for profession in rated_professions()), *words])
    )


@dataclass(frozen=True)
class Case:
    """A measure, with options that keep it quick."""

    measure: Measure
    options: dict[str, Any]

    def model(self, name: str) -> Any:
        """A model of noise; with another name, its answers differ slightly."""
        if "masked-lm" in self.measure.roles:
            return RandomMaskedLM(name)
        if "classifier" in self.measure.roles:
            takes_pairs = "labels" in self.measure.Options.model_fields
            return RandomClassifier(
                ("entailment", "neutral", "contradiction") if takes_pairs else ("negative", "positive"), name
            )
        return random_vectors(_vocabulary(), name)

    def audit(self, name: str = "random", **options: Any) -> Audit:
        """Audit a model of noise."""
        return unmask.audit(self.model(name), measures=self.measure.name, **self.options, **options)


SMALL: dict[str, dict[str, Any]] = {
    "sentiment": {"corpora": "reviews", "limit": 60},
    "inference": {"limit": 4},
    "geometry": {"contrasts": 19},
    "coreference": {"limit": 400},
}


@pytest.fixture(scope="module", autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The measure of docs/extending.md, installed."""
    folder = str(install_the_page_s(tmp_path_factory.mktemp("extras")))
    sys.path.insert(0, folder)
    yield
    sys.path.remove(folder)
    for name in [name for name in sys.modules if name.startswith("unmask_extras")]:
        del sys.modules[name]


@pytest.fixture(scope="module", params=NAMES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each measure."""
    measure = registry.get_measure(request.param)
    if measure.dataset and not datasets.is_present(measure.dataset):
        pytest.skip(f"set UNMASK_DATA to a folder with {measure.dataset}")
    return Case(measure, SMALL.get(measure.name, {}))


@pytest.fixture(scope="module")
def audit(case: Case) -> Audit:
    """The audit of a model of noise."""
    return case.audit()


@pytest.fixture(scope="module")
def folder(audit: Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of that audit."""
    return audit.save(tmp_path_factory.mktemp("contract") / "audit")


def test_it_declares_what_users_see(case: Case) -> None:
    measure = case.measure
    assert measure.question
    assert measure.needs
    assert measure.languages
    assert "sound" in measure.protocols
    assert measure.heading[:1].isupper()


def test_it_finds_nothing_in_a_model_that_knows_nothing(case: Case, audit: Audit) -> None:
    for measurement in audit.measurements:
        assert measurement.name == case.measure.name
        assert measurement.headline
        assert measurement.data_hash
        test = measurement.tests.get(case.measure.primary) or next(iter(measurement.tests.values()))
        assert test.n > 0
        assert not is_significant(test.p_adjusted)


def test_written_items_give_the_same_estimates(case: Case, audit: Audit, folder: Path) -> None:
    analysed_again = unmask.analyse(folder, measure=case.measure.name)
    for measurement, repeat in zip(audit.measurements, analysed_again.measurements, strict=True):
        shared = measurement.tests.keys() & repeat.tests.keys()
        assert shared
        assert measurement.groups == repeat.groups
        for name in shared:
            assert repeat.tests[name].value == measurement.tests[name].value
            assert repeat.tests[name].interval == measurement.tests[name].interval
            # geometry's reference contrasts need the vectors, which are not among the items
            assert repeat.tests[name].p_value in (None, measurement.tests[name].p_value)


def test_the_folder_reads_back_as_it_was(audit: Audit, folder: Path) -> None:
    assert storage.load(folder) == audit.result


def test_it_renders_in_every_format(case: Case, audit: Audit) -> None:
    terminal = StringIO()
    audit.show(Console(file=terminal, width=80))
    pages = [audit.text("html"), audit.text("md"), audit.text("csv"), terminal.getvalue()]
    for page in (unescape(pages[0]), pages[1].replace("\\", "")):
        assert case.measure.heading in page
        assert audit.measurements[0].caveats[0].text[:20] in page.replace("\n", " ")
    for name in audit.measurements[0].tests:
        assert name in pages[2]
    assert max(map(len, pages[3].splitlines())) <= 80


def test_it_is_ranked_gated_and_written_into_a_card(case: Case, audit: Audit, tmp_path: Path) -> None:
    another_audit = case.audit("another")
    assert case.measure.heading in unmask.ranking([audit, another_audit])
    assert case.measure.heading in unmask.card(audit).text
    test = case.measure.primary or next(iter(audit.measurements[0].tests))
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[[rule]]\nmeasure = "{case.measure.name}"\ntest = "{test}"\nmagnitude_at_most = 1000\n')
    measurement = audit.measurements[0]
    expected = "cannot tell" if case.measure.not_interpretable(measurement) else "kept"
    assert unmask.gate(audit, policy).verdict == ("inconclusive" if measurement.explain_incompetence() else expected)


def test_two_models_that_are_nearly_equal_do_not_differ_reliably(case: Case, audit: Audit) -> None:
    compared = unmask.compare(audit, case.audit("another"), usefulness=False)
    (comparison,) = [comparison for comparison in compared.comparisons if comparison.name == case.measure.name][:1]
    assert comparison.verdict in ("no reliable change", "negligible change", "inconclusive")
    assert comparison.items
    for form in ("html", "md", "csv"):
        assert compared.text(form)


def test_options_mean_the_same_on_the_command_line_in_toml_and_in_python(case: Case, tmp_path: Path) -> None:
    names = [
        name
        for name, parameter in case.measure.Options.parameters().items()
        if parameter.cli and parameter.type in (int, str)
    ]
    for name in names:
        parameter = audit_options().parameters()[name]
        value = _another_value(parameter)
        in_python = getattr(audit_options()(**{name: value}), name)
        file = tmp_path / f"{name}.toml"
        typed = ",".join(value) if parameter.separated else list(value) if parameter.several else value
        file.write_text(f"{parameter.key} = {typed!r}\n".replace("'", '"'))
        assert getattr(audit_command().parse(load_config(file).values), name) == in_python
        assert f"--{parameter.key}" in _typed_options()


def test_options_are_stated_in_the_result(case: Case, audit: Audit) -> None:
    stated = audit.result.configuration
    parameters = case.measure.Options.parameters().items()
    declared = {name for name, parameter in parameters if parameter.cli} - {*case.measure.encoder_options}
    assert declared <= stated.keys()
    for name, value in case.options.items():
        if name in case.measure.Options.model_fields:
            assert stated[name] == value


def test_an_unknown_option_is_refused_with_the_one_that_may_be_meant(case: Case) -> None:
    for name in list(case.measure.Options.model_fields)[:1]:
        with pytest.raises(unmask.UnmaskError, match=f"did you mean '?{name}\\b"):
            run_audit(case.model("random"), audit_options().parse({f"{name}x": 1}))


def _another_value(parameter: Any) -> Any:
    if parameter.type is int:
        return int(parameter.minimum or 0) + 100
    names = parameter.names or ["entailment", "neutral", "contradiction"]
    return tuple(names[:3]) if parameter.several else names[-1]


def _typed_options() -> set[str]:
    from unmask.cli.audit import audit_command as command

    signature = build_command(command).__signature__  # type: ignore[attr-defined]
    declared = audit_command().parameters()
    return {f"--{declared[name].key}" for name in signature.parameters if name in declared}
