"""Measures, methods and data sets of other packages: those of docs/extending.md work; defects are reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import unmask
from commands import environment
from naive import log_p
from packages import blocks, install, install_the_page_s
from pages import EVIL, assert_loads_nothing, assert_plots_are_described, seen
from paths import PROJECT
from report_blocks import audit_text, comparison_text
from unmask import datasets, plugins
from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.sections import build_sections, item_tables
from unmask.mitigations import corpus
from unmask.options import LoadOptions
from unmask.report import html
from unmask.report.default_blocks import audit_page
from unmask.results import AuditResult, Caveat, Estimate, Measurement
from unmask.results.storage import load, read_items
from unmask.statistics.corrections import holm
from unmask.studies.meta import MetaOptions
from unmask.studies.meta.association import OtherMeasure
from unmask.studies.meta.plan import steps
from unmask.workflows.audit_options import audit_options, options_of
from unmask.workflows.ranking import rankings

Folder = Callable[[str], Path]
RunCommand = Callable[..., tuple[int | str | None, str, str]]
MEASURES = "unmask.measures"
STUB = """
import pandas as pd
from unmask.measures.base import Measure
from unmask.results import Measurement

class MEASURE(Measure):
    name = "odd"
    question = "Nothing."
    roles = ("masked-lm",)
    needs = "anything"

    def score(self, model, items, options, context):
        return None

    def analyse(self, items, context):
        return Measurement(name="odd", language="en", corpus="c", items=1, groups={}, tests={})

    def headline(self, measurement):
        return []
"""


@pytest.fixture(autouse=True)
def forget_modules() -> Iterator[None]:
    """Remove the modules that a test has imported."""
    modules_before = set(sys.modules)
    yield
    for name in set(sys.modules) - modules_before:
        if name.startswith(("unmask_extras", "their_")):
            del sys.modules[name]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package of the page."""
    return install_the_page_s(tmp_path_factory.mktemp("extras"))


@pytest.fixture
def extras(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of the page, installed."""
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def install_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a package with a measure that somebody else has written."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, package: str = "their-package", text: str = STUB, group: str = MEASURES) -> None:
        module = package.replace("-", "_")
        install(tmp_path, package, {group: {name: f"{module}:MEASURE"}}, {f"{module}.py": text})

    return add


@pytest.fixture
def run_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run `unmask WORDS…` in this process: exit code and both streams."""
    from unmask.cli import main

    def run_command(*words: str | Path) -> tuple[int | str | None, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr(sys, "argv", ["unmask", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run_command


# The page


def test_the_measure_of_the_page_is_short() -> None:
    assert len(blocks()["unmask_extras/pronouns.py"].splitlines()) < 115


def _run(package: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `unmask WORDS…` with a package installed."""
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "unmask", *words],
        cwd=cwd,
        env=environment() | {"PYTHONPATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def audited(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An audit with the page's measure by the command, and its output."""
    workspace = tmp_path_factory.mktemp("audited")
    done = _run(folder, workspace, "audit", "unmask-mini", "--measure", "pronouns", "--out", "audit")
    assert done.returncode == 0, done.stderr
    return workspace / "audit", done.stdout


def test_the_measure_of_the_page_leaves_an_audit_as_the_page_shows(audited: tuple[Path, str]) -> None:
    audit, output = audited
    lines = [line.strip() for line in output.replace("audit/report", "audits/unmask-mini/report").splitlines()]
    page_lines = (PROJECT / "docs" / "extending.md").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if line and "─" not in line} <= {line.strip() for line in page_lines}
    result = load(audit)
    (measurement,) = result.measurements
    assert measurement.plugin
    assert (measurement.plugin.package, measurement.plugin.version) == ("unmask-extras", "0.1.0")
    assert result.configuration["measures"] == ["pronouns"]
    test = measurement.tests["stereotype"]
    assert test.interval
    assert test.value
    assert test.interval[0] < test.value < test.interval[1]
    assert test.p_adjusted == test.p_value
    page = (audit / "report.html").read_text(encoding="utf-8")
    text = seen(page)
    for part in (
        measurement.headline_text,
        "measure of the package unmask-extras 0.1.0",
        "Stereotype 0.39 nats 95 % interval",
        "Female occupations 60 −0.71 nats [−1.63, 0.20]",
        measurement.caveats[0].text,
        measurement.plugin.about,
        measurement.data_hash,
    ):
        assert part in text, part
    assert_plots_are_described(page, 1)


def test_its_items_are_what_a_naive_scorer_gives(audited: tuple[Path, str]) -> None:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    from unmask.embedded import MODELS

    items = read_items(audited[0] / "items" / "pronouns.jsonl.gz")
    texts = ["sentence", "template", "occupation", "group", "female", "male"]
    assert list(items) == [*texts, "lean", "stereotype", "language"]
    assert len(items) == 120
    model_folder = MODELS["unmask-mini"].folder
    model, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(model_folder).eval(),
        AutoTokenizer.from_pretrained(model_folder),
    )
    for index in (0, 77, 119):
        ids = tokenizer(items["sentence"][index])["input_ids"]
        she, he = (tokenizer.convert_tokens_to_ids(word) for word in ("she", "he"))
        position = ids.index(she)
        ids[position] = tokenizer.mask_token_id
        assert items["lean"][index] == pytest.approx(
            log_p(model, ids, position, she) - log_p(model, ids, position, he), abs=1e-5
        )


@pytest.mark.usefixtures("extras")
def test_recorded_items_are_analysed_again(audited: tuple[Path, str], tmp_path: Path) -> None:
    measurement = load(audited[0]).measurements[0]
    for source in (audited[0], audited[0] / "items" / "pronouns.jsonl.gz"):
        analysed = unmask.analyse(source, measure="pronouns").measurements[0]
        assert (analysed.tests, analysed.groups, analysed.headline_text) == (
            measurement.tests,
            measurement.groups,
            measurement.headline_text,
        )
    items = read_items(audited[0] / "items" / "pronouns.jsonl.gz").assign(language="fr")
    items.to_csv(tmp_path / "french.csv", index=False)
    with pytest.raises(UnmaskError, match="holds scores for 'fr', not for 'en'"):
        unmask.analyse(tmp_path / "french.csv", measure="pronouns", language="en")


def test_without_its_package_a_result_is_shown_but_not_analysed(audited: tuple[Path, str]) -> None:
    result = load(audited[0])
    items = {"pronouns": read_items(audited[0] / "items" / "pronouns.jsonl.gz")}
    page = html.render_page(audit_page(result, build_sections(result.measurements, items), item_tables(items)))
    assert result.measurements[0].headline_text in seen(page)
    with pytest.raises(UnmaskError, match="unknown measure 'pronouns'"):
        unmask.analyse(audited[0])


def test_it_stands_beside_ours_and_each_is_corrected_by_itself(extras: Path, model_folder: Folder) -> None:
    (extras / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    model, templates = str(model_folder("bert-uncased")), extras / "t.csv"
    audit = unmask.audit(model, measures=("association", "pronouns"), templates=templates)
    assert [measurement.name for measurement in audit.measurements] == ["association", "pronouns"]
    alone = unmask.audit(model, measures="association", templates=templates)
    assert audit.measurements[0].tests == alone.measurements[0].tests
    tests = audit.measurements[1].tests.values()
    assert [test.p_adjusted for test in tests] == pytest.approx(holm([test.p_value for test in tests]))
    assert audit.result.configuration["measures"] == ["association", "pronouns"]
    assert set(audit.items) == {"association", "pronouns"}


@pytest.mark.usefixtures("extras")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "pronoun"}, "unknown measure 'pronoun'; did you mean 'pronouns'?"),
        ({"languages": "de"}, "unknown language of pronouns 'de'; choose from: en"),
        ({"protocol": "published"}, "pronouns has no published protocol; leave out --protocol published"),
        ({"corpora": "bec-pro"}, "--corpus bec-pro is for association"),
        ({"corpora": "mine"}, "unknown corpus 'mine'; choose from: bec-pro"),
        ({"pair": "Mary"}, "--pair has 1 words; give a female and a male one, such as Mary,John"),
        ({"pair": 3}, "pair is 3; give a list of texts"),
        (
            {"measures": "association", "pair": "a,b"},
            "--pair is for pronouns, and this model is measured for association",
        ),
        ({"templates": "t.csv"}, "--templates is for association, and this model is measured for pronouns"),
        (
            {"model": "unmask-mini-nli"},
            "unmask-mini-nli is a classifier; pronouns needs a masked language model such as BERT",
        ),
    ],
)
def test_what_it_does_not_know_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnmaskError) as error:
        unmask.audit(**{"model": "unmask-mini", "measures": "pronouns"} | options)
    assert str(error.value).startswith(message)


@pytest.mark.usefixtures("extras")
def test_the_method_of_the_page_makes_a_model(model_folder: Folder, tmp_path: Path) -> None:
    parent = str(model_folder("bert-uncased"))
    record = unmask.mitigate(parent, "tie-pairs", tmp_path / "tied", strength=0.5)
    assert record["plugin"] == "unmask-extras 0.1.0"
    assert record["settings"] == {"strength": 0.5}
    assert json.loads((tmp_path / "tied" / "mitigation.json").read_text())["details"]["pairs"] > 0
    with pytest.raises(UnmaskError, match="strength is 'much'; give a number"):
        unmask.mitigate(parent, "tie-pairs", tmp_path / "more", strength="much")


@pytest.mark.usefixtures("extras")
def test_the_data_set_of_the_page_is_found_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    file = tmp_path / "letters" / "letters.txt"
    file.parent.mkdir()
    file.write_text(blocks()["letters.txt"])
    assert datasets.locate("letters", offline=True) == file
    assert corpus.read_corpus(["letters"], offline=True) == blocks()["letters.txt"].splitlines()
    file.write_text("something else")
    with pytest.raises(UnmaskError, match=r"letters.txt is not the file we know"):
        corpus.read_corpus(["letters"], offline=True)
    with pytest.raises(UnmaskError, match="unknown corpus 'leters'; did you mean 'letters'"):
        corpus.read_corpus(["leters"], offline=True)


# Options of a measure


@pytest.fixture(scope="session")
def custom_pair_audit(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit with an option of the page's measure, in a file with the page's settings."""
    workspace = tmp_path_factory.mktemp("named")
    (workspace / "audit.toml").write_text(blocks()["audit.toml"])
    done = _run(folder, workspace, "audit", "--config", "audit.toml", "--out", "audit")
    assert done.returncode == 0, done.stderr
    return workspace / "audit"


@pytest.mark.usefixtures("extras")
def test_an_option_of_a_measure_goes_everywhere(
    custom_pair_audit: Path, audited: tuple[Path, str], run_command: RunCommand
) -> None:
    """TOML (by the command), Python and the command line give the same; the result states it, and repeats it."""
    stated = load(custom_pair_audit)
    assert stated.configuration["pair"] == ["Mary", "John"]
    assert load(audited[0]).configuration["pair"] == ["she", "he"]
    in_python = unmask.audit("unmask-mini", measures="pronouns", pair=("Mary", "John"))
    assert in_python.measurements == stated.measurements
    assert in_python.measurements[0].details == {"female": "Mary", "male": "John"}
    assert in_python.items["pronouns"]["sentence"].iloc[0].endswith("said that Mary was tired.")
    code, output, errors = run_command("audit", "unmask-mini", "--measure", "pronouns", "--pair", "Mary,John", "--json")
    assert (code, errors) == (0, "")
    assert AuditResult.model_validate_json(output).measurements == stated.measurements
    config = unmask.read_config(custom_pair_audit / "result.json")
    assert (config["measures"], config["pair"]) == (("pronouns",), ("Mary", "John"))
    assert options_of(stated).given_names == {"pair"}


@pytest.mark.usefixtures("extras")
def test_an_option_of_a_measure_is_explained(run_command: RunCommand, tmp_path: Path) -> None:
    code, output, _ = run_command("audit", "--help")
    assert code == 0
    assert "Pronouns" in output
    assert "--pair" in output
    assert run_command("init", "mine.toml")[0] == 0
    lines = (tmp_path / "mine.toml").read_text(encoding="utf-8").splitlines()
    assert '#pair = "she,he"' in lines
    assert run_command("audit", "--pair", "Mary", "--measure", "pronouns") == (
        2,
        "",
        "unmask: --pair has 1 words; give a female and a male one, such as Mary,John\n",
    )
    assert run_command("audit", "--pairs", "a,b", "--measure", "pronouns")[0] == 2


def test_an_option_cannot_take_the_name_of_another(install_measure: Callable[..., None]) -> None:
    text = STUB.replace("needs =", "Options = O; needs =").replace(
        "class MEASURE", "from unmask.options import Options\nclass O(Options):\n    seed: int = 3\nclass MEASURE"
    )
    install_measure("odd", text=text)
    with pytest.raises(UnmaskError, match=r"their-package 1\.0: the option 'seed' of odd is one that every audit has"):
        unmask.audit("unmask-mini", measures="odd")
    assert audit_options()().seed == 42  # audits by other measures work


# Two models, the gate, the card and the ranking


@pytest.fixture
def compared(audited: tuple[Path, str], model_folder: Folder, extras: Path) -> unmask.Compared:
    """The page's audit against an untrained model."""
    assert extras
    return unmask.compare(audited[0], str(model_folder("bert-uncased")), usefulness=False)


def test_two_models_are_compared_by_paired_items(compared: unmask.Compared, audited: tuple[Path, str]) -> None:
    (comparison,) = compared.comparisons
    before = read_items(audited[0] / "items" / "pronouns.jsonl.gz")
    (audit,) = compared.audits.values()
    keys = ["template", "occupation"]
    merged = before.merge(audit.items["pronouns"], on=keys)
    assert len(merged) == comparison.items == 120
    assert comparison.unpaired == 0
    change = comparison.changes["mean score"]
    table = (merged["stereotype_y"] - merged["stereotype_x"]).to_numpy().reshape(3, 40)
    assert list(change.values) == pytest.approx([merged["stereotype_x"].mean(), merged["stereotype_y"].mean()])
    assert change.change.value == pytest.approx(table.mean())
    rows = [np.delete(table, index, axis=0).mean() for index in range(3)]
    columns = [np.delete(table, index, axis=1).mean() for index in range(40)]
    parts = [(len(means) - 1) * np.var(means) for means in (rows, columns)]
    df = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 39)
    reach = stats.t.isf(0.025, df) * np.sqrt(sum(parts))
    assert change.change.df == pytest.approx(df)
    assert change.change.interval == pytest.approx((table.mean() - reach, table.mean() + reach))
    assert change.change.p_value == pytest.approx(2 * stats.t.sf(abs(table.mean()) / np.sqrt(sum(parts)), df))
    first, second = load(audited[0]).measurements[0], audit.measurements[0]
    stereotype_change = comparison.changes["stereotype"]
    assert stereotype_change.values == (first.tests["stereotype"].value, second.tests["stereotype"].value)
    assert (stereotype_change.change.p_value, stereotype_change.verdict) == (None, None)
    assert change.values[0] == pytest.approx(
        (stereotype_change.values[0] or 0) / 2
    )  # as many occupations of each group


def test_a_comparison_of_theirs_is_shown(compared: unmask.Compared, tmp_path: Path) -> None:
    (comparison,) = compared.comparisons
    compared.save(tmp_path / "compared")
    assert comparison.headline_text in seen((tmp_path / "compared" / "report.html").read_text(encoding="utf-8"))
    assert set(read_items(tmp_path / "compared" / "items" / "pronouns.jsonl.gz")) >= {"before", "after", "change"}
    assert comparison.verdict in comparison_text(compared.result, compared.sections())


@pytest.mark.usefixtures("extras")
def test_audits_with_other_words_have_nothing_in_common(audited: tuple[Path, str], custom_pair_audit: Path) -> None:
    result = load(custom_pair_audit)
    result = result.model_copy(update={"model": result.model.model_copy(update={"weight_hash": "f" * 64})})
    items = {"pronouns": read_items(custom_pair_audit / "items" / "pronouns.jsonl.gz")}
    with pytest.raises(UnmaskError, match=r"have no item in common .*; audit both on the same data"):
        unmask.compare(audited[0], unmask.Audit(result, items), usefulness=False)


def test_what_a_measure_does_not_declare_is_not_compared(
    install_measure: Callable[..., None], model_folder: Folder
) -> None:
    install_measure("odd", text=STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})"))
    audits = [unmask.audit(model, measures="odd") for model in ("unmask-mini", str(model_folder("bert-uncased")))]
    message = r"odd cannot be compared: their-package 1\.0 declares no keys and score_column"
    with pytest.raises(UnmaskError, match=message):
        unmask.compare(*audits, usefulness=False)


def test_columns_that_a_measure_declares_and_its_items_lack_are_an_error_of_the_audit(
    install_measure: Callable[..., None],
) -> None:
    text = STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})")
    install_measure("odd", text=text.replace("needs =", 'keys = ("x",); score_column = "y"; needs ='))
    with pytest.raises(
        UnmaskError, match=r"their-package 1\.0: the items of odd lack the columns 'y'; correct its keys"
    ):
        unmask.audit("unmask-mini", measures="odd")


def test_independent_items_have_students_t(install_measure: Callable[..., None], model_folder: Folder) -> None:
    """Without samples every item counts for itself; items without a score are left out."""
    frame = "pd.DataFrame({'k': list('abcde'), 's': [0.1, 0.4, 0.3, None, 0.2 + model.info().parameters / 1e7]})"
    text = STUB.replace("return None", f"return {frame}").replace(
        "needs =", 'keys = ("k",); score_column = "s"; needs ='
    )
    install_measure("odd", text=text)
    audits = [unmask.audit(model, measures="odd") for model in ("unmask-mini", str(model_folder("bert-uncased")))]
    (comparison,) = unmask.compare(*audits, usefulness=False).comparisons
    x, y = (audit.items["odd"]["s"].dropna().to_numpy() for audit in audits)
    expected = stats.ttest_rel(y, x)
    change = comparison.changes["mean score"]
    assert (comparison.items, comparison.unpaired, change.change.n) == (4, 2, 4)
    assert (change.change.statistic, change.change.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert change.change.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert comparison.verdict == "no reliable change"


@pytest.mark.usefixtures("extras")
def test_the_gate_the_card_and_the_ranking_know_it(
    audited: tuple[Path, str], model_folder: Folder, tmp_path: Path, run_command: RunCommand
) -> None:
    audit = audited[0]
    value = load(audit).measurements[0].tests["stereotype"].value or 0.0
    assert run_command("gate", audit, "--write-policy", "policy.toml")[0] == 0
    rule, relative = tomllib.loads((tmp_path / "policy.toml").read_text(encoding="utf-8"))["rule"]
    assert (rule["measure"], rule["test"]) == ("pronouns", "stereotype")
    assert value <= rule["magnitude_at_most"] < 1.1 * value
    assert relative["worse_by_at_most"] == 0
    assert unmask.gate(audit, tmp_path / "policy.toml").verdict == "kept"
    (tmp_path / "strict.toml").write_text(
        '[[rule]]\nmeasure = "pronouns"\ntest = "stereotype"\nmagnitude_at_most = 0.05\n'
    )
    strict = unmask.gate(audit, tmp_path / "strict.toml")
    assert (strict.verdict, strict.judgements[0].value) == ("broken", value)
    card = unmask.card(audit).text
    assert "unmask-pronouns-stereotype" in card
    assert f"value: {value:.6g}" in card
    assert "# pronouns is in the package unmask-extras 0.1.0: install it first" in card
    assert "$ unmask audit unmask-mini --measure pronouns" in card
    another_audit = unmask.audit(str(model_folder("bert-uncased")), measures="pronouns")
    (ranking,) = rankings([load(audit), another_audit.result])
    assert ranking.test == "stereotype"
    values = {model.name: model.test.value for model in ranking.models}
    assert values["unmask-mini"] == value
    assert len(values) == 2


# Lists


@pytest.mark.usefixtures("extras")
def test_lists_have_ours_and_theirs(run_command: RunCommand) -> None:
    for list_name, built_in, plug_in in (
        ("measures", "association", "pronouns"),
        ("mitigations", "leace", "tie-pairs"),
        ("datasets", "imdb", "letters"),
    ):
        code, output, errors = run_command("list", list_name)
        assert (code, errors) == (0, "")
        assert max(len(line) for line in output.splitlines()[:-1]) <= 80
        entries = {entry["name"]: entry for entry in json.loads(run_command("list", list_name, "--json")[1])}
        assert entries[built_in]["source"] == "unmask"
        assert entries[plug_in] | {"about": ""} == {
            "name": plug_in,
            "about": "",
            "source": "unmask-extras 0.1.0",
            "problem": "",
        }
        assert plug_in in output
        assert all(entry["about"] for entry in entries.values())
    assert "tie-pairs Both words of a pair get one embedding." in run_command("mitigate", "--methods")[1]


def test_there_is_one_list_of_models_and_of_studies(run_command: RunCommand) -> None:
    assert run_command("models") == run_command("list", "models")
    assert run_command("study", "list") == run_command("list", "studies")
    assert {study["name"] for study in json.loads(run_command("list", "studies", "--json")[1])} >= {"imdb-63", "meta"}
    assert run_command("list", "modles") == (2, "", "unmask: unknown list 'modles'; did you mean 'models'?\n")


# What cannot be used


@pytest.mark.usefixtures("extras")
def test_a_measure_that_cannot_be_imported_is_reported_when_it_is_requested(
    install_measure: Callable[..., None], run_command: RunCommand
) -> None:
    install_measure("broken", text="import a_module_that_is_not_there\n")
    line = (
        "the measure 'broken' of the package their-package 1.0 cannot be loaded (ModuleNotFoundError: No module named"
        " 'a_module_that_is_not_there'); update that package, or uninstall it"
    )
    assert run_command("audit", "unmask-mini", "--measure", "broken") == (2, "", f"unmask: {line}\n")
    code, output, errors = run_command("list", "measures")
    assert (code, errors) == (0, f"unmask: {line}\n")
    assert "cannot be used, see below" in output
    assert "pronouns" in output


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "odd",
            "MEASURE = len\n",
            "is a builtin_function_or_method; its entry point their_package:MEASURE must name",
        ),
        ("odd", "", "cannot be loaded (AttributeError: module 'their_package' has no attribute 'MEASURE')"),
        ("odd", "raise SystemExit(3)\n", "cannot be loaded (SystemExit: 3)"),
        ("../../odd", STUB, "has a name that cannot be used; use small letters, digits and hyphens"),
        ("odd", STUB, "their-package 1.0: score returned a NoneType; return a DataFrame with at least one row"),
    ],
)
def test_an_object_that_is_no_measure_is_refused(
    install_measure: Callable[..., None], name: str, text: str, message: str
) -> None:
    install_measure(name, text=text)
    with pytest.raises(UnmaskError) as error:
        unmask.audit("unmask-mini", measures=name)
    assert message in str(error.value)
    assert "their-package 1.0" in str(error.value)


def test_a_defect_of_theirs_is_called_theirs(install_measure: Callable[..., None]) -> None:
    install_measure("odd", text=STUB.replace("return None", "return 1 / 0"))
    with pytest.raises(ZeroDivisionError) as error:
        unmask.audit("unmask-mini", measures="odd")
    assert error.value.__notes__ == ["This was raised by the measure 'odd' of their-package 1.0, not by Unmask."]


@pytest.mark.parametrize(
    ("takes", "model", "expected"),
    [
        (("encoder",), "unmask-mini", "TransformersEncoder"),
        (("vectors", "encoder", "masked-lm"), "unmask-mini", "TransformersEncoder"),
        (("encoder",), "unmask-mini-sentiment", "TransformersEncoder"),
        (("classifier",), "unmask-mini-sentiment", "TransformersClassifier"),
        (("vectors",), {"he": [1.0, 0.0], "she": [0.0, 1.0]}, "Vectors"),
    ],
)
def test_a_model_is_loaded_as_the_first_that_it_can_be(
    install_measure: Callable[..., None], takes: tuple[str, ...], model: Any, expected: str
) -> None:
    text = STUB.replace('("masked-lm",)', repr(takes))
    install_measure("odd", text=text.replace("return None", "return pd.DataFrame({'given': [type(model).__name__]})"))
    audit = unmask.audit(model, measures="odd")
    assert audit.items["odd"]["given"].tolist() == [expected]
    assert audit.measurements[0].language == "en"


def test_a_measurement_of_another_name_is_refused(install_measure: Callable[..., None]) -> None:
    text = STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})")
    install_measure("odd", text=text.replace('Measurement(name="odd"', 'Measurement(name="even"'))
    with pytest.raises(UnmaskError, match="analyse returned 'even'; return a Measurement whose name is 'odd'"):
        unmask.audit("unmask-mini", measures="odd")


@pytest.mark.usefixtures("extras")
def test_a_name_has_one_owner(install_measure: Callable[..., None], run_command: RunCommand) -> None:
    install_measure("pronouns")
    install_measure("association", package="their-other-package")
    line = "their-package 1.0 and unmask-extras 0.1.0 both have a measure called 'pronouns'; uninstall unmask-extras"
    assert run_command("audit", "unmask-mini", "--measure", "pronouns") == (2, "", f"unmask: {line}\n")
    message = (
        "unmask and their-other-package 1.0 both have a measure called 'association'; uninstall their-other-package"
    )
    with pytest.raises(UnmaskError) as error:
        unmask.audit("unmask-mini", measures="association")
    assert str(error.value) == message
    assert run_command("list", "measures")[2] == f"unmask: {message}\nunmask: {line}\n"
    assert "their_package" not in sys.modules


def test_the_same_holds_for_methods_and_data_sets(
    install_measure: Callable[..., None], tmp_path: Path, run_command: RunCommand
) -> None:
    install_measure("leace", group="unmask.mitigations")
    install_measure("imdb", package="their-data", group="unmask.datasets")
    with pytest.raises(UnmaskError, match=r"unmask and their-package 1\.0 both have a method called 'leace'"):
        unmask.mitigate("unmask-mini", "leace", tmp_path / "out")
    with pytest.raises(UnmaskError, match=r"unmask and their-data 1\.0 both have a data set called 'imdb'"):
        datasets.locate("imdb")
    code, output, errors = run_command("mitigate", "--methods")
    assert (code, errors) == (0, "")
    assert "sent-debias" in output


def test_nothing_is_imported_that_is_not_asked_for(
    install_measure: Callable[..., None], run_command: RunCommand, model_folder: Folder, tmp_path: Path
) -> None:
    for number, group in enumerate(plugins.GROUPS.values()):
        install_measure(
            f"bad-{number}", package=f"their-bad-{number}", text="raise RuntimeError('imported')\n", group=group
        )
    assert [plugin.name for plugin in plugins.found("method")] == ["bad-1"]
    for words in (("--help",), ("list", "--help"), ("models",), ("gate", "--help"), ("rewrite", "--help")):
        assert run_command(*words)[0] == 0
    assert not [name for name in sys.modules if name.startswith("their_")]
    assert run_command("audit", "--help")[0] == 0  # which has the options of all measures that can be imported
    (tmp_path / "p.csv").write_text("profession,group\nmason,male\nplumber,male\nnurse,female\nmaid,female\n")
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    unmask.audit(str(model_folder("bert-uncased")), templates=tmp_path / "t.csv", professions=tmp_path / "p.csv")
    assert not [name for name in sys.modules if name.startswith(("their_bad_1", "their_bad_2"))]


# Reports


def _measurement(**changes: Any) -> Measurement:
    from unmask.results import Estimate, Origin

    test = Estimate(
        question="Is there anything?",
        n=12,
        value=0.5,
        interval=(0.2, 0.8),
        statistic=2.0,
        statistic_name="t",
        df=11,
        p_value=0.01,
        p_adjusted=0.02,
        unit="nats",
    )
    fields: dict[str, Any] = {
        "name": "theirs",
        "language": "en",
        "corpus": "words",
        "headline": ["There is."],
        "items": 12,
        "groups": {"all": Estimate(labels={}, n=12, value=0.5, unit="share")},
        "tests": {"main": test, "other": test.model_copy(update={"interval": (-0.1, 1.1), "p_adjusted": 0.2})},
        "caveats": [Caveat(code="few", text="Few items.")],
        "plugin": Origin(package="their-package", version="1.0", about="What is there.", citation="Them (2020)"),
    }
    return Measurement(**fields | changes)


def _page(measurement: Measurement) -> tuple[str, str]:
    from sample_audits import sample_audit

    audit, sections = sample_audit(measurement), build_sections([measurement])
    return html.render_page(audit_page(audit, sections)), audit_text(audit, sections, 80)


def test_a_report_of_theirs_has_every_figure() -> None:
    page, terminal_text = _page(_measurement())
    text = seen(page)
    assert "Main 0.50 nats 95 % interval [0.20, 0.80], p = 0.020 differs from zero Is there anything?" in text
    assert "Other 0.50 nats 95 % interval [−0.10, 1.10], p = 0.200 no clear difference from zero" in text
    assert "All 12 +0.50 share" in text
    assert "t(11) = 2" in text
    assert "What is there. After Them (2020)." in text
    assert_plots_are_described(page, 2)  # an axis for each unit
    assert max(len(line) for line in terminal_text.splitlines()) <= 80
    words = " ".join(terminal_text.split())
    assert "Main: 0.50 nats differs from zero; 95 % interval [0.20, 0.80], p = 0.020" in words
    assert "All 12 +0.50 share" in words
    assert "measure of the package their-package 1.0," in words
    assert "- Few items." in words


def test_a_report_of_theirs_does_without_numbers() -> None:
    nothing = Estimate(question="?", n=0, value=None, interval=None, statistic=None, statistic_name="", p_value=None)
    page, terminal_text = _page(_measurement(tests={"main": nothing}, groups={}, caveats=[], headline=[]))
    assert_plots_are_described(page, 0)
    assert "No finding." in terminal_text
    page, _ = _page(_measurement(tests={}, groups={}))
    assert "Key figures" not in page


def test_hostile_words_are_words() -> None:
    measurement = _measurement()
    assert measurement.plugin
    page, terminal_text = _page(
        _measurement(
            corpus=EVIL,
            headline=[EVIL],
            tests={
                EVIL: measurement.tests["main"].model_copy(
                    update={"unit": EVIL, "question": EVIL, "statistic_name": EVIL}
                )
            },
            groups={EVIL: measurement.groups["all"].model_copy(update={"unit": EVIL})},
            caveats=[Caveat(code=EVIL, text=EVIL)],
            plugin=measurement.plugin.model_copy(update={"package": EVIL, "about": EVIL, "citation": EVIL}),
        )
    )
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert_loads_nothing(page)
    assert "<script>" in terminal_text


@pytest.mark.usefixtures("extras")
def test_a_measure_of_another_package_is_meta_evaluated(model_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_folder("bert-uncased")
    options = MetaOptions(measures=("pronouns",), models={"pronouns": str(model)}, rates=(0.0, 0.5, 1.0))
    planned = steps(options)
    assert [step.name for step in planned][::3] == [
        "planting-association-en-000-seed42",
        "scoring-pronouns-en-000-seed42",
    ]
    audit = unmask.audit(model, measures=["pronouns"], seed=3)
    scores = OtherMeasure("pronouns").scores(model, 3, LoadOptions())
    assert scores.figures == {name: test.value for name, test in audit.measurements[0].tests.items()}
    assert len(scores.items) == len(audit.items["pronouns"])
    before = planned[3].inputs()
    monkeypatch.setattr(Measure, "source", "extras 2.0")
    assert planned[3].inputs() != before  # another version is asked again
