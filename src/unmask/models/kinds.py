"""What kind of model something is: a masked language model, or a classifier or regressor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeGuard

from unmask.errors import UnmaskError
from unmask.models.interfaces import Classifier, MaskedLM, Regressor
from unmask.models.sources import LoadOptions, Source, find

CLASSIFIES = "ForSequenceClassification"
Kind = Literal["masked-lm", "classifier"]


def kind_of(model: Any, options: LoadOptions | None = None) -> Kind:
    """Whether a model is to be loaded as a classifier (or regressor); if not, loading it says what is wrong with it."""
    if isinstance(model, str | os.PathLike):
        return "classifier" if _made_to_classify(find(str(model), options or LoadOptions())) else "masked-lm"
    if rates(model):
        return "masked-lm" if isinstance(model, MaskedLM) else "classifier"
    parts = parts_of(model)
    if parts is None and (isinstance(model, type | Mapping) or not isinstance(model, MaskedLM)):
        lacks = " (it has probabilities, but no labels)" if callable(getattr(model, "probabilities", None)) else ""
        raise UnmaskError(
            f"cannot audit a {type(model).__name__}{lacks}; give a hub id, a folder, (model, tokenizer), or an object"
            " with a log_probability method, with labels and a probabilities method, or with a values method"
        )
    return "classifier" if parts and type(parts[0]).__name__.endswith(CLASSIFIES) else "masked-lm"


def labels_of(model: Any, options: LoadOptions | None = None) -> list[str]:
    """The labels of a classifier, before its weights are read; none where nothing says them."""
    if isinstance(model, str | os.PathLike):
        named: Any = find(str(model), options or LoadOptions()).config.get("id2label") or {}
    elif isinstance(model, Classifier):
        return [str(label) for label in model.labels]
    else:
        parts = parts_of(model)
        named = getattr(getattr(parts[0] if parts else None, "config", None), "id2label", None) or {}
    return [str(label) for label in named.values()] if isinstance(named, Mapping) else []


def rates(model: Any) -> TypeGuard[Classifier | Regressor]:
    """Whether an object is a classifier or a regressor: no class of them, and no table that happens to have values."""
    if isinstance(model, type | Mapping):
        return False
    return isinstance(model, Classifier) or (isinstance(model, Regressor) and callable(model.values))


def parts_of(model: Any) -> tuple[Any, Any] | None:
    """The model and tokenizer of a tuple or a pipeline; None for anything else."""
    parts = model if isinstance(model, tuple) else (getattr(model, "model", None), getattr(model, "tokenizer", None))
    return parts if len(parts) == 2 and hasattr(parts[0], "state_dict") and callable(parts[1]) else None


def refuse_other_kinds(source: Source) -> None:
    """Refuse a checkpoint that cannot be a masked language model, before its weights are read."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    kind = source.config.get("model_type", "")
    if "auto_map" not in source.config and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise UnmaskError(
            f"{source.name} is of type {kind or 'unknown'!r}; association needs a masked language model such as BERT"
        )
    made_for = _made_to_classify(source)
    if made_for:
        raise UnmaskError(
            f"{source.name} is a classifier ({made_for}); association needs a masked language model such as BERT"
        )


def _made_to_classify(source: Source) -> str:
    """What says that a checkpoint is a classifier; empty if nothing does."""
    made_for = [str(name) for name in source.config.get("architectures") or () if str(name).endswith(CLASSIFIES)]
    made_for += [source.task_type] if source.task_type == "SEQ_CLS" else []
    return made_for[0] if made_for else ""
