"""Rewriting beyond one machine: a transform of Ray Data (`pip install 'unmask[ray]'`).

    import ray
    from unmask.rewriting.options import RewriteOptions
    from unmask.rewriting.files.ray import rewrite_dataset
    swapped = rewrite_dataset(ray.data.read_parquet("s3://corpus"), RewriteOptions(to="swap"), probability=0.5, seed=1)
    swapped.write_parquet("s3://corpus-cds")

Each actor builds its rewriter once. A row is a document, and is chosen as `unmask rewrite` chooses it on one machine.
"""

from __future__ import annotations

from typing import Any

from unmask.errors import import_extra
from unmask.rewriting.files.options import FileRewriteOptions
from unmask.rewriting.files.summary import Counts
from unmask.rewriting.files.workers import BlockRewriter, Factory
from unmask.rewriting.options import RewriteOptions, build_rewriter

ROWS = 256


class RewriteColumn:
    """Rewrites one column of Arrow tables."""

    def __init__(self, options: FileRewriteOptions, factory: Factory) -> None:
        """Build the rewriter."""
        self._column = options.column
        self._rewriter = BlockRewriter(options, factory)

    def __call__(self, table: Any) -> Any:
        """The Arrow table with its text rewritten."""
        from unmask.rewriting.files.parquet import check_column, column_texts, replace_column

        check_column(table.schema, self._column, "the data set")
        texts = column_texts(table.column(self._column))
        return replace_column(table, self._column, self._rewriter.rewrite_values(texts, Counts()))


def rewrite_dataset(
    dataset: Any,
    settings: RewriteOptions,
    *,
    column: str = "text",
    probability: float | None = None,
    seed: int = 0,
    concurrency: int | tuple[int, int] | None = None,
    factory: Factory = build_rewriter,
) -> Any:
    """The Ray data set with the text of a column rewritten, lazily; every other column stays.

    `concurrency` is the number of actors, or the least and the most; without it, as many as the cluster has CPUs.
    """
    ray = import_extra("ray", "ray", "rewriting on several machines")
    import_extra("ray.data", "ray", "rewriting on several machines")
    options = FileRewriteOptions(**dict(settings), column=column, probability=probability, seed=seed)
    factory(options)  # wrong options are found here, not on a machine far away
    most = max(1, int(ray.cluster_resources().get("CPU", 1))) if ray.is_initialized() else None
    least, most = concurrency if isinstance(concurrency, tuple) else (concurrency or 1, concurrency or most)
    return dataset.map_batches(
        RewriteColumn,
        fn_constructor_args=(options, factory),
        batch_format="pyarrow",
        batch_size=ROWS,
        compute=ray.data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=1 if most is None or most > 1 else 0.5,  # on a single CPU, reading needs some of it too
    )
