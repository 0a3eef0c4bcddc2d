"""Shared fixtures: models of every family, the folder of real data, messages of tests; and quiet libraries."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pandas as pd
import pytest
import transformers

import families
from paths import TESTS
from unmask.rewriting.files.workers import count_cores

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background: commands would inherit that Ctrl-C is ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
pd.set_option("mode.string_storage", "python")  # as without pyarrow, which an audit does not need
transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()
hypothesis.settings.register_profile("unmask", deadline=None)  # no time limit, since the machine may be busy
hypothesis.settings.load_profile("unmask")


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: one process per processor that may be used (xdist would count those of the machine)."""
    return count_cores()


SLOW_FILES = (
    "models/test_models_scores.py",
    "training/test_finetune.py",
    "mitigations/test_mitigations.py",
    "models/test_embedded.py",
    "rewriting/files/test_rewrite_ray.py",
    "studies/test_ray.py",
    "workflows/test_ranking.py",
    "measures/sentiment/test_sentiment_audit.py",
    "rewriting/published/test_rewrite_published.py",
    "cli/test_cli.py",
    "project/test_golden.py",
    "project/test_tutorial.py",
    "studies/test_meta.py",
    "measures/geometry/test_scoring.py",
    "workflows/test_model_card.py",
    "workflows/test_compare.py",
    "rewriting/files/test_rewrite_command.py",
    "measures/association/test_association_german.py",
    "measures/association/test_association_calibration.py",
)
"""These files start first, so that no process ends the run alone with one of them; pytest --durations=50 shows them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow files first; pytest-xdist gives the files to its processes in this order."""
    ranks = {TESTS / name: rank for rank, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def pytest_collection_finish() -> None:
    """Leave the libraries out of garbage collections from now on: looking through them takes a fifth of a second."""
    gc.freeze()


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Show a message at the end of the run; printed text is lost where several processes share the tests."""
    return lambda message: record_property("said", message)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the messages of tests."""
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        if report.when == "call":
            for message in [value for name, value in report.user_properties if name == "said"]:
                terminalreporter.line(str(message))


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a small model of a family, created once."""
    root = tmp_path_factory.mktemp("models")

    def folder(family: str) -> Path:
        path = root / family
        return path if path.exists() else families.save(family, path)

    return folder


@pytest.fixture(scope="session")
def loaded(model_folder: Callable[[str], Path]) -> Callable[[str], Any]:
    """A loaded model of a family."""
    from unmask.models.loading import load_masked_lm

    return lambda family: load_masked_lm(str(model_folder(family)))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets named by UNMASK_DATA; without it, tests that need it are skipped."""
    folder = os.environ.get("UNMASK_DATA")
    if not folder:
        pytest.skip("set UNMASK_DATA to the folder of data sets to compare with real data")
    path = Path(folder)
    assert path.is_dir(), f"UNMASK_DATA={folder} is not a folder"
    return path


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A local Ray cluster with two CPUs, whatever else runs on the machine."""
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:  # the workers inherit it; a runtime environment would start them twice
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100_000_000,
            logging_level="ERROR",
            log_to_driver=False,
        )
    yield ray
    ray.shutdown()
