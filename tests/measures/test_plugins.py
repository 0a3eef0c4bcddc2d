"""Measures, methods and data sets of other packages: those of docs/extending.md work; what cannot be used is said."""

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
import pandas as pd
import pytest
from scipy import stats

import unmask
from commands import environment
from naive import log_p
from packages import blocks, install, install_the_page_s
from pages import EVIL, assert_loads_nothing, assert_plots_are_described, seen
from paths import PROJECT
from unmask import datasets, plugins
from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.sections import build_sections, item_tables
from unmask.mitigations import corpus
from unmask.options import LoadOptions
from unmask.report import html, terminal
from unmask.report.default_blocks import audit_page
from unmask.report.terminal import comparison_text
from unmask.results import AuditResult, Caveat, Estimate, Measurement
from unmask.results.storage import load
from unmask.statistics.corrections import holm
from unmask.studies.meta import MetaOptions
from unmask.studies.meta.association import OtherMeasure
from unmask.studies.meta.plan import steps
from unmask.workflows.audit_options import audit_options, options_of
from unmask.workflows.ranking import rankings

Folder = Callable[[str], Path]
Typed = Callable[..., tuple[int | str | None, str, str]]
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
def forgotten() -> Iterator[None]:
    """A module of one test is none of the next."""
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith(("unmask_extras", "their_")):
            del sys.modules[name]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package of the page is."""
    return install_the_page_s(tmp_path_factory.mktemp("extras"))


@pytest.fixture
def extras(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of the page, installed."""
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package with a measure that somebody has written."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, package: str = "their-package", text: str = STUB, group: str = MEASURES) -> None:
        module = package.replace("-", "_")
        install(tmp_path, package, {group: {name: f"{module}:MEASURE"}}, {f"{module}.py": text})

    return add


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """What `unmask WORDS…` gives: exit code and both streams; in this process."""
    from unmask.cli import main

    def typed(*words: str | Path) -> tuple[int | str | None, str, str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr(sys, "argv", ["unmask", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return typed


# The page


def test_the_measure_of_the_page_is_short() -> None:
    assert len(blocks()["unmask_extras/pronouns.py"].splitlines()) < 100


def _run(package: Path, where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `unmask WORDS…` with a package installed."""
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "unmask", *words],
        cwd=where,
        env=environment() | {"PYTHONPATH": path, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def audited(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An audit with the page's measure by the command, and what it said."""
    where = tmp_path_factory.mktemp("audited")
    done = _run(folder, where, "audit", "unmask-mini", "--measure", "pronouns", "--out", "audit")
    assert done.returncode == 0, done.stderr
    return where / "audit", done.stdout


def test_the_measure_of_the_page_leaves_an_audit_as_the_page_shows(audited: tuple[Path, str]) -> None:
    audit, said = audited
    lines = [line.strip() for line in said.replace("audit/report", "audits/unmask-mini/report").splitlines()]
    shown = (PROJECT / "docs" / "extending.md").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if line and "─" not in line} <= {line.strip() for line in shown}
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
        "Stereotype 0.45 nats 95 % interval",
        "Female occupations 60 −0.66 nats [−1.57, 0.25]",
        measurement.caveats[0].text,
        measurement.plugin.about,
        measurement.data_hash,
    ):
        assert part in text, part
    assert_plots_are_described(page, 1)


def test_its_items_are_what_a_naive_scorer_gives(audited: tuple[Path, str]) -> None:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    from unmask.embedded import MODELS

    items = pd.read_parquet(audited[0] / "items" / "pronouns.parquet")
    texts = ["sentence", "template", "occupation", "group", "female", "male"]
    assert list(items) == [*texts, "lean", "stereotype", "language"]
    assert len(items) == 120
    place = MODELS["unmask-mini"].folder
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(place).eval(), AutoTokenizer.from_pretrained(place)
    for at in (0, 77, 119):
        ids = tokenizer(items["sentence"][at])["input_ids"]
        she, he = (tokenizer.convert_tokens_to_ids(word) for word in ("she", "he"))
        where = ids.index(she)
        ids[where] = tokenizer.mask_token_id
        assert items["lean"][at] == pytest.approx(
            log_p(model, ids, where, she) - log_p(model, ids, where, he), abs=1e-5
        )


@pytest.mark.usefixtures("extras")
def test_recorded_items_are_analysed_again(audited: tuple[Path, str], tmp_path: Path) -> None:
    first = load(audited[0]).measurements[0]
    for source in (audited[0], audited[0] / "items" / "pronouns.parquet"):
        again = unmask.analyse(source, measure="pronouns").measurements[0]
        assert (again.tests, again.groups, again.headline_text) == (first.tests, first.groups, first.headline_text)
    items = pd.read_parquet(audited[0] / "items" / "pronouns.parquet").assign(language="fr")
    items.to_csv(tmp_path / "french.csv", index=False)
    with pytest.raises(UnmaskError, match="holds scores for 'fr', not for 'en'"):
        unmask.analyse(tmp_path / "french.csv", measure="pronouns", language="en")


def test_without_its_package_a_result_is_shown_but_not_analysed(audited: tuple[Path, str]) -> None:
    result = load(audited[0])
    items = {"pronouns": pd.read_parquet(audited[0] / "items" / "pronouns.parquet")}
    page = html.render_page(audit_page(result, build_sections(result.measurements, items), item_tables(items)))
    assert result.measurements[0].headline_text in seen(page)
    with pytest.raises(UnmaskError, match="unknown measure 'pronouns'"):
        unmask.analyse(audited[0])


def test_it_stands_beside_ours_and_all_tests_are_corrected_together(extras: Path, model_folder: Folder) -> None:
    (extras / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    audit = unmask.audit(
        str(model_folder("bert-uncased")), measures=("association", "pronouns"), templates=extras / "t.csv"
    )
    assert [one.name for one in audit.measurements] == ["association", "pronouns"]
    tests = [test for one in audit.measurements for test in one.tests.values()]
    assert [test.p_adjusted for test in tests] == pytest.approx(holm([test.p_value for test in tests]))
    assert audit.result.configuration["measures"] == ["association", "pronouns"]
    assert set(audit.items) == {"association", "pronouns"}


@pytest.mark.usefixtures("extras")
@pytest.mark.parametrize(
    ("given", "said"),
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
def test_what_it_does_not_know_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UnmaskError) as error:
        unmask.audit(**{"model": "unmask-mini", "measures": "pronouns"} | given)
    assert str(error.value).startswith(said)


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
def named(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit with an option of the page's measure, in a file with the page's settings."""
    where = tmp_path_factory.mktemp("named")
    (where / "audit.toml").write_text(blocks()["audit.toml"])
    done = _run(folder, where, "audit", "--config", "audit.toml", "--out", "audit")
    assert done.returncode == 0, done.stderr
    return where / "audit"


@pytest.mark.usefixtures("extras")
def test_an_option_of_a_measure_goes_everywhere(named: Path, audited: tuple[Path, str], typed: Typed) -> None:
    """TOML (by the command), Python and the command line give the same; the result states it, and repeats it."""
    stated = load(named)
    assert stated.configuration["pair"] == ["Mary", "John"]
    assert load(audited[0]).configuration["pair"] == ["she", "he"]
    in_python = unmask.audit("unmask-mini", measures="pronouns", pair=("Mary", "John"))
    assert in_python.measurements == stated.measurements
    assert in_python.measurements[0].details == {"female": "Mary", "male": "John"}
    assert in_python.items["pronouns"]["sentence"].iloc[0].endswith("said that Mary was tired.")
    code, shown, told = typed("audit", "unmask-mini", "--measure", "pronouns", "--pair", "Mary,John", "--json")
    assert (code, told) == (0, "")
    assert AuditResult.model_validate_json(shown).measurements == stated.measurements
    config = unmask.read_config(named / "result.json")
    assert (config["measures"], config["pair"]) == (("pronouns",), ("Mary", "John"))
    assert options_of(stated).given_names == {"pair"}


@pytest.mark.usefixtures("extras")
def test_an_option_of_a_measure_is_explained(typed: Typed, tmp_path: Path) -> None:
    code, shown, _ = typed("audit", "--help")
    assert code == 0
    assert "Pronouns" in shown
    assert "--pair" in shown
    assert typed("init", "mine.toml")[0] == 0
    lines = (tmp_path / "mine.toml").read_text(encoding="utf-8").splitlines()
    assert '#pair = "she,he"' in lines
    assert typed("audit", "--pair", "Mary", "--measure", "pronouns") == (
        2,
        "",
        "unmask: --pair has 1 words; give a female and a male one, such as Mary,John\n",
    )
    assert typed("audit", "--pairs", "a,b", "--measure", "pronouns")[0] == 2


def test_an_option_cannot_take_the_name_of_another(theirs: Callable[..., None]) -> None:
    text = STUB.replace("needs =", "Options = O; needs =").replace(
        "class MEASURE", "from unmask.options import Options\nclass O(Options):\n    seed: int = 3\nclass MEASURE"
    )
    theirs("odd", text=text)
    with pytest.raises(UnmaskError, match=r"their-package 1\.0: the option 'seed' of odd is one that every audit has"):
        unmask.audit("unmask-mini", measures="odd")
    assert audit_options()().seed == 42  # audits by other measures work


# Two models, the gate, the card and the ranking


@pytest.fixture
def compared(audited: tuple[Path, str], model_folder: Folder, extras: Path) -> unmask.Compared:
    """The page's audit against a model that has read nothing."""
    assert extras
    return unmask.compare(audited[0], str(model_folder("bert-uncased")), usefulness=False)


def test_two_models_are_compared_by_paired_items(compared: unmask.Compared, audited: tuple[Path, str]) -> None:
    (found,) = compared.comparisons
    before = pd.read_parquet(audited[0] / "items" / "pronouns.parquet")
    (audit,) = compared.audits.values()
    keys = ["template", "occupation"]
    both = before.merge(audit.items["pronouns"], on=keys)
    assert len(both) == found.items == 120
    assert found.unpaired == 0
    change = found.changes["mean score"]
    table = (both["stereotype_y"] - both["stereotype_x"]).to_numpy().reshape(3, 40)
    assert list(change.values) == pytest.approx([both["stereotype_x"].mean(), both["stereotype_y"].mean()])
    assert change.change.value == pytest.approx(table.mean())
    rows = [np.delete(table, at, axis=0).mean() for at in range(3)]
    columns = [np.delete(table, at, axis=1).mean() for at in range(40)]
    parts = [(len(some) - 1) * np.var(some) for some in (rows, columns)]
    df = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 39)
    reach = stats.t.isf(0.025, df) * np.sqrt(sum(parts))
    assert change.change.df == pytest.approx(df)
    assert change.change.interval == pytest.approx((table.mean() - reach, table.mean() + reach))
    assert change.change.p_value == pytest.approx(2 * stats.t.sf(abs(table.mean()) / np.sqrt(sum(parts)), df))
    first, second = load(audited[0]).measurements[0], audit.measurements[0]
    told = found.changes["stereotype"]
    assert told.values == (first.tests["stereotype"].value, second.tests["stereotype"].value)
    assert (told.change.p_value, told.verdict) == (None, None)
    assert change.values[0] == pytest.approx((told.values[0] or 0) / 2)  # as many occupations of each group


def test_a_comparison_of_theirs_is_shown(compared: unmask.Compared, tmp_path: Path) -> None:
    (found,) = compared.comparisons
    compared.save(tmp_path / "compared")
    assert found.headline_text in seen((tmp_path / "compared" / "report.html").read_text(encoding="utf-8"))
    assert set(pd.read_parquet(tmp_path / "compared" / "items" / "pronouns.parquet")) >= {"before", "after", "change"}
    assert found.verdict in comparison_text(compared.result, compared.sections())


@pytest.mark.usefixtures("extras")
def test_audits_with_other_words_have_nothing_in_common(audited: tuple[Path, str], named: Path) -> None:
    other = load(named)
    other = other.model_copy(update={"model": other.model.model_copy(update={"weight_hash": "f" * 64})})
    items = {"pronouns": pd.read_parquet(named / "items" / "pronouns.parquet")}
    with pytest.raises(UnmaskError, match=r"have no item in common .*; audit both on the same data"):
        unmask.compare(audited[0], unmask.Audit(other, items), usefulness=False)


def test_what_a_measure_does_not_declare_is_not_compared(theirs: Callable[..., None], model_folder: Folder) -> None:
    theirs("odd", text=STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})"))
    audits = [unmask.audit(model, measures="odd") for model in ("unmask-mini", str(model_folder("bert-uncased")))]
    message = r"odd cannot be compared: their-package 1\.0 declares no keys and score_column"
    with pytest.raises(UnmaskError, match=message):
        unmask.compare(*audits, usefulness=False)


def test_columns_that_a_measure_declares_and_its_items_lack_are_an_error_of_the_audit(
    theirs: Callable[..., None],
) -> None:
    text = STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})")
    theirs("odd", text=text.replace("needs =", 'keys = ("x",); score_column = "y"; needs ='))
    with pytest.raises(
        UnmaskError, match=r"their-package 1\.0: the items of odd lack the columns 'y'; correct its keys"
    ):
        unmask.audit("unmask-mini", measures="odd")


def test_independent_items_have_students_t(theirs: Callable[..., None], model_folder: Folder) -> None:
    """Without samples every item counts for itself; items without a score are left out."""
    frame = "pd.DataFrame({'k': list('abcde'), 's': [0.1, 0.4, 0.3, None, 0.2 + model.info().parameters / 1e7]})"
    text = STUB.replace("return None", f"return {frame}").replace(
        "needs =", 'keys = ("k",); score_column = "s"; needs ='
    )
    theirs("odd", text=text)
    audits = [unmask.audit(model, measures="odd") for model in ("unmask-mini", str(model_folder("bert-uncased")))]
    (found,) = unmask.compare(*audits, usefulness=False).comparisons
    x, y = (audit.items["odd"]["s"].dropna().to_numpy() for audit in audits)
    known = stats.ttest_rel(y, x)
    change = found.changes["mean score"]
    assert (found.items, found.unpaired, change.change.n) == (4, 2, 4)
    assert (change.change.statistic, change.change.p_value) == pytest.approx((known.statistic, known.pvalue))
    assert change.change.interval == pytest.approx(tuple(known.confidence_interval()))
    assert found.verdict == "no reliable change"


@pytest.mark.usefixtures("extras")
def test_the_gate_the_card_and_the_ranking_know_it(
    audited: tuple[Path, str], model_folder: Folder, tmp_path: Path, typed: Typed
) -> None:
    audit = audited[0]
    value = load(audit).measurements[0].tests["stereotype"].value or 0.0
    assert typed("gate", audit, "--write-policy", "policy.toml")[0] == 0
    (rule,) = tomllib.loads((tmp_path / "policy.toml").read_text(encoding="utf-8"))["rule"]
    assert (rule["measure"], rule["test"]) == ("pronouns", "stereotype")
    assert value <= rule["magnitude_at_most"] < 1.1 * value
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
    other = unmask.audit(str(model_folder("bert-uncased")), measures="pronouns")
    (ranking,) = rankings([load(audit), other.result])
    assert ranking.test == "stereotype"
    values = {model.name: model.test.value for model in ranking.models}
    assert values["unmask-mini"] == value
    assert len(values) == 2


# Lists


@pytest.mark.usefixtures("extras")
def test_lists_have_ours_and_theirs(typed: Typed) -> None:
    for what, ours, mine in (
        ("measures", "association", "pronouns"),
        ("mitigations", "leace", "tie-pairs"),
        ("datasets", "imdb", "letters"),
    ):
        code, shown, told = typed("list", what)
        assert (code, told) == (0, "")
        assert max(len(line) for line in shown.splitlines()[:-1]) <= 80
        entries = {one["name"]: one for one in json.loads(typed("list", what, "--json")[1])}
        assert entries[ours]["source"] == "unmask"
        assert entries[mine] | {"about": ""} == {
            "name": mine,
            "about": "",
            "source": "unmask-extras 0.1.0",
            "problem": "",
        }
        assert mine in shown
        assert all(one["about"] for one in entries.values())
    assert "tie-pairs Both words of a pair get one embedding." in typed("mitigate", "--methods")[1]


def test_there_is_one_list_of_models_and_of_studies(typed: Typed) -> None:
    assert typed("models") == typed("list", "models")
    assert typed("study", "list") == typed("list", "studies")
    assert {one["name"] for one in json.loads(typed("list", "studies", "--json")[1])} >= {"imdb-63", "meta"}
    assert typed("list", "modles") == (2, "", "unmask: unknown list 'modles'; did you mean 'models'?\n")


# What cannot be used


@pytest.mark.usefixtures("extras")
def test_one_that_cannot_be_imported_is_said_when_it_is_asked_for(theirs: Callable[..., None], typed: Typed) -> None:
    theirs("broken", text="import a_module_that_is_not_there\n")
    line = (
        "the measure 'broken' of the package their-package 1.0 cannot be loaded (ModuleNotFoundError: No module named"
        " 'a_module_that_is_not_there'); update that package, or uninstall it"
    )
    assert typed("audit", "unmask-mini", "--measure", "broken") == (2, "", f"unmask: {line}\n")
    code, shown, told = typed("list", "measures")
    assert (code, told) == (0, f"unmask: {line}\n")
    assert "cannot be used, see below" in shown
    assert "pronouns" in shown


@pytest.mark.parametrize(
    ("name", "text", "said"),
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
def test_one_that_is_no_measure_is_refused(theirs: Callable[..., None], name: str, text: str, said: str) -> None:
    theirs(name, text=text)
    with pytest.raises(UnmaskError) as error:
        unmask.audit("unmask-mini", measures=name)
    assert said in str(error.value)
    assert "their-package 1.0" in str(error.value)


def test_a_defect_of_theirs_is_called_theirs(theirs: Callable[..., None]) -> None:
    theirs("odd", text=STUB.replace("return None", "return 1 / 0"))
    with pytest.raises(ZeroDivisionError) as error:
        unmask.audit("unmask-mini", measures="odd")
    assert error.value.__notes__ == ["This was raised by the measure 'odd' of their-package 1.0, not by Unmask."]


@pytest.mark.parametrize(
    ("takes", "model", "given"),
    [
        (("encoder",), "unmask-mini", "TransformersEncoder"),
        (("vectors", "encoder", "masked-lm"), "unmask-mini", "TransformersEncoder"),
        (("encoder",), "unmask-mini-sentiment", "TransformersEncoder"),
        (("classifier",), "unmask-mini-sentiment", "TransformersClassifier"),
        (("vectors",), {"he": [1.0, 0.0], "she": [0.0, 1.0]}, "Vectors"),
    ],
)
def test_a_model_is_loaded_as_the_first_that_it_can_be(
    theirs: Callable[..., None], takes: tuple[str, ...], model: Any, given: str
) -> None:
    text = STUB.replace('("masked-lm",)', repr(takes))
    theirs("odd", text=text.replace("return None", "return pd.DataFrame({'given': [type(model).__name__]})"))
    audit = unmask.audit(model, measures="odd")
    assert audit.items["odd"]["given"].tolist() == [given]
    assert audit.measurements[0].language == "en"


def test_a_measurement_of_another_name_is_refused(theirs: Callable[..., None]) -> None:
    text = STUB.replace("return None", "return pd.DataFrame({'x': [1.0]})")
    theirs("odd", text=text.replace('Measurement(name="odd"', 'Measurement(name="even"'))
    with pytest.raises(UnmaskError, match="analyse returned 'even'; return a Measurement whose name is 'odd'"):
        unmask.audit("unmask-mini", measures="odd")


@pytest.mark.usefixtures("extras")
def test_a_name_has_one_owner(theirs: Callable[..., None], typed: Typed) -> None:
    theirs("pronouns")
    theirs("association", package="their-other-package")
    line = "their-package 1.0 and unmask-extras 0.1.0 both have a measure called 'pronouns'; uninstall unmask-extras"
    assert typed("audit", "unmask-mini", "--measure", "pronouns") == (2, "", f"unmask: {line}\n")
    ours = "unmask and their-other-package 1.0 both have a measure called 'association'; uninstall their-other-package"
    with pytest.raises(UnmaskError) as error:
        unmask.audit("unmask-mini", measures="association")
    assert str(error.value) == ours
    assert typed("list", "measures")[2] == f"unmask: {ours}\nunmask: {line}\n"
    assert "their_package" not in sys.modules


def test_the_same_holds_for_methods_and_data_sets(theirs: Callable[..., None], tmp_path: Path, typed: Typed) -> None:
    theirs("leace", group="unmask.mitigations")
    theirs("imdb", package="their-data", group="unmask.datasets")
    with pytest.raises(UnmaskError, match=r"unmask and their-package 1\.0 both have a method called 'leace'"):
        unmask.mitigate("unmask-mini", "leace", tmp_path / "out")
    with pytest.raises(UnmaskError, match=r"unmask and their-data 1\.0 both have a data set called 'imdb'"):
        datasets.locate("imdb")
    code, shown, told = typed("mitigate", "--methods")
    assert (code, told) == (0, "")
    assert "sent-debias" in shown


def test_nothing_is_imported_that_is_not_asked_for(
    theirs: Callable[..., None], typed: Typed, model_folder: Folder, tmp_path: Path
) -> None:
    for at, group in enumerate(plugins.GROUPS.values()):
        theirs(f"bad-{at}", package=f"their-bad-{at}", text="raise RuntimeError('imported')\n", group=group)
    assert [one.name for one in plugins.found("method")] == ["bad-1"]
    for words in (("--help",), ("list", "--help"), ("models",), ("gate", "--help"), ("rewrite", "--help")):
        assert typed(*words)[0] == 0
    assert not [name for name in sys.modules if name.startswith("their_")]
    assert typed("audit", "--help")[0] == 0  # which has the options of all measures that can be imported
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
    found: dict[str, Any] = {
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
    return Measurement(**found | changes)


def _page(measurement: Measurement) -> tuple[str, str]:
    from sample_audits import sample_audit

    audit, sections = sample_audit(measurement), build_sections([measurement])
    return html.render_page(audit_page(audit, sections)), terminal.audit_text(audit, sections, 80)


def test_a_report_of_theirs_has_every_figure() -> None:
    page, shown = _page(_measurement())
    text = seen(page)
    assert "Main 0.50 nats 95 % interval [0.20, 0.80], p = 0.020 differs from zero Is there anything?" in text
    assert "Other 0.50 nats 95 % interval [−0.10, 1.10], p = 0.200 no clear difference from zero" in text
    assert "All 12 +0.50 share" in text
    assert "t(11) = 2" in text
    assert "What is there. After Them (2020)." in text
    assert_plots_are_described(page, 2)  # an axis for each unit
    assert max(len(line) for line in shown.splitlines()) <= 80
    words = " ".join(shown.split())
    assert "Main: 0.50 nats differs from zero; 95 % interval [0.20, 0.80], p = 0.020" in words
    assert "All 12 +0.50 share" in words
    assert "measure of the package their-package 1.0," in words
    assert "- Few items." in words


def test_a_report_of_theirs_does_without_numbers() -> None:
    nothing = Estimate(question="?", n=0, value=None, interval=None, statistic=None, statistic_name="", p_value=None)
    page, shown = _page(_measurement(tests={"main": nothing}, groups={}, caveats=[], headline=[]))
    assert_plots_are_described(page, 0)
    assert "No finding." in shown
    page, _ = _page(_measurement(tests={}, groups={}))
    assert "Key figures" not in page


def test_hostile_words_are_words() -> None:
    whole = _measurement()
    assert whole.plugin
    page, shown = _page(
        _measurement(
            corpus=EVIL,
            headline=[EVIL],
            tests={
                EVIL: whole.tests["main"].model_copy(update={"unit": EVIL, "question": EVIL, "statistic_name": EVIL})
            },
            groups={EVIL: whole.groups["all"].model_copy(update={"unit": EVIL})},
            caveats=[Caveat(code=EVIL, text=EVIL)],
            plugin=whole.plugin.model_copy(update={"package": EVIL, "about": EVIL, "citation": EVIL}),
        )
    )
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert_loads_nothing(page)
    assert "<script>" in shown


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
    found = OtherMeasure("pronouns").scores(model, 3, LoadOptions())
    assert found.figures == {name: test.value for name, test in audit.measurements[0].tests.items()}
    assert len(found.items) == len(audit.items["pronouns"])
    before = planned[3].inputs()
    monkeypatch.setattr(Measure, "source", "extras 2.0")
    assert planned[3].inputs() != before  # another version is asked again
