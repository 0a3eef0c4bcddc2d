"""The contract of every study, built-in or plug-in: see `unmask.studies.study`."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from packages import install
from pages import assert_loads_nothing
from unmask.cli.studies import StudyCommands
from unmask.errors import UnmaskError
from unmask.lexicon.sentences import reviews
from unmask.option_files import read_toml
from unmask.plugins import GROUPS
from unmask.studies.steps import sort_steps
from unmask.studies.study import BUILT_IN, Study, get_study, run_study, study_names

PLUGIN = "toy-study"
NAMES = (*BUILT_IN, PLUGIN)
MODULE = '''
from dataclasses import dataclass
import pandas as pd
from unmask.options import Options, option
from unmask.report.blocks import Section, Text
from unmask.studies.report import StudyReport, StudyTable
from unmask.studies.study import Study

class ToyOptions(Options):
    """What to do."""
    count: int = option(2, "How many steps.", minimum=1)

@dataclass(frozen=True)
class Counting:
    number: int
    kind = "counting"
    needs_gpu = False

    @property
    def name(self):
        return f"count-{self.number}"

    @property
    def needs(self):
        return (f"count-{self.number - 1}",) if self.number else ()

    def inputs(self):
        return {"number": self.number}

    def run(self, draft, before, workspace, say):
        (draft / "number").write_text(str(self.number))

class ToyStudy(Study):
    """Counts."""
    name = "toy-study"
    title = "Counting"
    about = "Counts to a number."
    citation = "A. Author (2020), Counting."
    description = "Count to a number."
    Options = ToyOptions

    def steps(self, options):
        return [Counting(number) for number in range(options.count)]

    def report(self, finished, options):
        numbers = [int((folder / "number").read_text()) for _, folder in finished.results(Counting)]
        rows = [(f"count {number}", str(number)) for number in numbers]
        table = StudyTable("table-1", "Numbers", ("Step", "Number"), rows, "A note.", pd.DataFrame({"number": numbers}))
        return StudyReport(
            headline=f"It counted to {max(numbers)}.", note="1 toy", blocks=[Section("Numbers", [table.to_block()])],
            tables=[table], method=[Text(["By counting."])], limits=["Nothing else."], settings={"count": "2"},
        )
'''
"""A study of another package."""


@pytest.fixture(scope="module", autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The toy study, installed."""
    folder = tmp_path_factory.mktemp("toy")
    entries = {GROUPS["study"]: {PLUGIN: "toy_plugin_study:ToyStudy"}}
    sys.path.insert(0, str(install(folder, "toy-study", entries, {"toy_plugin_study.py": MODULE})))
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("toy_plugin_study", None)


@pytest.fixture(params=NAMES)
def study(request: pytest.FixtureRequest) -> Study:
    """Each study."""
    return get_study(request.param)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reviews for training and testing."""
    path = tmp_path_factory.mktemp("texts") / "reviews.csv"
    lines = [f'"{review.text.replace(chr(34), "")}",{review.label}' for review in reviews()[:40]]
    path.write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    return path


@pytest.fixture
def small(study: Study, texts: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Options that need none of the paper's data."""
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    vectors = texts.with_name("vectors.txt")
    vectors.write_text("he 1 0\nshe -1 0\nnurse 0 1\n", encoding="utf-8")
    values: dict[str, dict[str, Any]] = {
        "bec-pro": {"corpora": f"en={texts}"},
        "imdb-63": {"models": "mini=unmask-mini", "train": texts, "test": texts},
        "nli-plms": {"models": "mini=unmask-mini-nli", "sentences": 2},
        "nli-meta": {"rates": (0.0, 0.5, 1.0)},
        "meta": {"rates": (0.0, 0.5, 1.0)},
        "lipstick-static": {"vectors": f"toy={vectors}"},
        "lipstick-contextual": {"vocabularies": "nouns"},
        "calibration": {"measures": "association"},
    }
    return study.Options(**values.get(study.name, {}))


def test_it_declares_what_users_see(study: Study) -> None:
    for text in (study.title, study.about, study.citation, study.description):
        assert text
    assert study.name in study_names()
    assert study.name in StudyCommands().list_commands(None)


def test_its_steps_have_unique_names_and_an_order(study: Study, small: Any) -> None:
    steps = study.steps(small)
    assert steps
    assert len(sort_steps(steps)) == len(steps)
    assert all(step.kind for step in steps)
    assert list(study.notes(small, steps)) == []


def test_its_steps_can_be_sent_to_another_machine(study: Study, small: Any) -> None:
    steps = study.steps(small)
    assert pickle.loads(pickle.dumps(steps)) == steps


def test_options_mean_the_same_in_python_and_in_toml(study: Study, small: Any, tmp_path: Path) -> None:
    for name, parameter in study.Options.parameters().items():
        if parameter.type is int and not parameter.several and parameter.default is not None:
            value = parameter.default + 1
            (tmp_path / "options.toml").write_text(f"{parameter.key} = {value}\n")
            assert read_toml(tmp_path / "options.toml", study.Options)[name] == value
            assert getattr(small.replace(**{name: value}), name) == value


def test_an_unknown_option_is_an_error(study: Study) -> None:
    with pytest.raises(UnmaskError, match="unheard"):
        study.Options.parse({"unheard": 1})


def test_every_option_has_a_help(study: Study) -> None:
    assert all(parameter.help for parameter in study.Options.parameters().values())


def test_a_finished_store_is_reused_and_the_report_renders(tmp_path: Path) -> None:
    """Uses the toy study; the tests of the built-in studies do the same."""
    first_run = run_study(PLUGIN, {"count": 3}, tmp_path / "out")
    second_run = run_study(PLUGIN, {"count": 3}, tmp_path / "out")
    assert [outcome.status for outcome in first_run.finished.outcomes] == ["done"] * 3
    assert [outcome.status for outcome in second_run.finished.outcomes] == ["kept"] * 3
    assert second_run.page == tmp_path / "out" / "report.html"
    page = second_run.page.read_text(encoding="utf-8")
    assert_loads_nothing(page)
    terminal = StringIO()
    second_run.show(Console(file=terminal, width=80))
    for text in (page, (tmp_path / "out" / "study.md").read_text(encoding="utf-8"), terminal.getvalue()):
        assert "It counted to 2." in text
        assert "Numbers" in text
        assert "count 2" in text
    assert (tmp_path / "out" / "tables" / "table-1.csv").read_text() == "number\n0\n1\n2\n"
    assert second_run.to_json()["tables"] == {"table-1": [{"number": 0}, {"number": 1}, {"number": 2}]}
    with pytest.raises(UnmaskError, match="holds the study toy-study, not meta"):
        run_study("meta", {}, tmp_path / "out")


def test_an_unknown_study_is_an_error() -> None:
    with pytest.raises(UnmaskError, match="unknown study 'mata'; did you mean 'meta'"):
        get_study("mata")
