"""`unmask.audit(…)` and `unmask.analyse(…)`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.measures.base import SEED
from unmask.options import accepts
from unmask.workflows.audit import Audit, analyse_items, run_audit
from unmask.workflows.audit_options import audit_options

if TYPE_CHECKING:
    from unmask.models.roles import Progress


@accepts(audit_options())
def audit(model: Any, *, progress: Progress | None = None, **options: Any) -> Audit:
    """Audit a model for gender bias with every measure that fits it.

    `model` is a hub id, a folder, a tuple of a loaded `transformers` model and its tokenizer, a pipeline, or any object
    with the method of a `MaskedLM`, a `Classifier`, a `Regressor` or an `Encoder`. Word vectors are a file (word2vec,
    GloVe, npz, npy), gensim's `KeyedVectors`, a dict of word and vector, or a tuple of words and a matrix.

    `texts` can also be a list of texts. `progress` is called with how much is done, and of how much.
    """
    texts = options.get("texts")
    if isinstance(texts, Sequence) and not isinstance(texts, str):
        options = options | {"texts": None, "given_texts": tuple(texts)}
    return run_audit(model, audit_options().parse(options), progress=progress)


def analyse(
    items: str | PathLike[str],
    *,
    measure: str | None = None,
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = SEED,
) -> Audit:
    """Analyse recorded item scores (an audit folder, Parquet, CSV or TSV) without the model that gave them.

    `measure` is recognised by the columns if it is not given; `language` is needed only where the file does not state
    it and it is not English.
    """
    return analyse_items(
        Path(items), measure=measure, language=language, protocol=protocol, score_column=score_column, seed=seed
    )
