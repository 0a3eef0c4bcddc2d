"""Rewriting on a local Ray cluster: the same texts and the same sampled documents as in one process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unmask.errors import UnmaskError
from unmask.rewriting.files import FileRewriteOptions, run
from unmask.rewriting.files.ray import rewrite_dataset
from unmask.rewriting.options import RewriteOptions

pytestmark = pytest.mark.filterwarnings(
    "default::pytest.PytestUnraisableExceptionWarning", "default::pytest.PytestUnhandledThreadExceptionWarning"
)  # of Ray's threads


def test_without_ray_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnmaskError, match=r"^rewriting on several machines needs ray; .* pip install 'unmask\[ray\]'$"):
        rewrite_dataset(None, RewriteOptions())


@pytest.fixture(scope="module")
def ray(ray: Any) -> Any:
    """The cluster, without progress bars."""
    pytest.importorskip("ray.data").DataContext.get_current().enable_progress_bars = False
    return ray


@pytest.fixture
def table() -> pa.Table:
    sentences = ("She lost her keys.", "His brother is an actor.", "Nothing here.", None, "", "Er ist größer — he is.")
    texts = [sentence and f"{sentence} ({number})" for number in range(100) for sentence in sentences]
    return pa.table({"id": range(len(texts)), "text": texts, "score": [0.5] * len(texts)})


def test_a_cluster_gives_what_one_process_gives(ray: Any, table: pa.Table, tmp_path: Path) -> None:
    """With a probability, the same documents are sampled."""
    pq.write_table(table, tmp_path / "in.parquet")
    settings = RewriteOptions(to="swap", terms="pronouns")
    out = tmp_path / "out.parquet"
    sampled: dict[str, Any] = {"probability": 0.5, "seed": 1}
    summary = run(
        FileRewriteOptions(sources=(tmp_path / "in.parquet",), **dict(settings), out=out, processes=1, **sampled)
    )
    dataset = rewrite_dataset(ray.data.from_arrow(table), settings, probability=0.5, seed=1)
    rows = sorted(dataset.take_all(), key=lambda row: row["id"])
    assert rows == pq.read_table(out).to_pylist()
    assert summary.counts.changed == sum(new != old for new, old in zip(rows, table.to_pylist(), strict=True))
    assert 0 < summary.counts.changed < 300


def test_bad_requests_are_found_before_the_cluster_is_asked(ray: Any, table: pa.Table) -> None:
    dataset = ray.data.from_arrow(table)
    with pytest.raises(UnmaskError, match="to is 'swpa'; did you mean 'swap'"):
        rewrite_dataset(dataset, RewriteOptions(to="swpa"))
    with pytest.raises(UnmaskError, match="probability is 2"):
        rewrite_dataset(dataset, RewriteOptions(), probability=2)
    with pytest.raises(Exception, match=r"no column 'body'.*'id', 'text', 'score'"):
        rewrite_dataset(dataset, RewriteOptions(), column="body").take_all()
