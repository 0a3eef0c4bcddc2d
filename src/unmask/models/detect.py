"""What kind of model something is: a masked language model, a classifier or regressor, an encoder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeGuard

from unmask.errors import UnmaskError
from unmask.models.checkpoints import Checkpoint, find_checkpoint
from unmask.models.roles import Classifier, Encoder, MaskedLM, Regressor
from unmask.models.word_vectors import is_word_vectors
from unmask.options import LoadOptions

CLASSIFIES = "ForSequenceClassification"
Role = Literal["masked-lm", "classifier", "encoder", "vectors"]


def detect_role(model: Any, options: LoadOptions | None = None) -> Role:
    """What a model is to be loaded as; if it is none of that, loading it says what is wrong with it."""
    if is_word_vectors(model):
        return "vectors"
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options or LoadOptions())
        if classifier_type(source):
            return "classifier"
        return "encoder" if _is_headless(source.config.get("architectures") or ()) else "masked-lm"
    if is_classifier(model):
        return "masked-lm" if isinstance(model, MaskedLM) else "classifier"
    parts = model_and_tokenizer(model)
    if parts is None and not isinstance(model, type | Mapping | MaskedLM) and isinstance(model, Encoder):
        return "encoder"
    if parts is None and (isinstance(model, type | Mapping) or not isinstance(model, MaskedLM)):
        lacks = " (it has probabilities, but no labels)" if callable(getattr(model, "probabilities", None)) else ""
        raise UnmaskError(
            f"cannot audit a {type(model).__name__}{lacks}; give a hub id, a folder, (model, tokenizer), word vectors,"
            " or an object with a log_probability or an embed method, with labels and a probabilities method, or with a"
            " values method"
        )
    if parts and type(parts[0]).__name__.endswith(CLASSIFIES):
        return "classifier"
    return "encoder" if parts and _is_headless([type(parts[0]).__name__]) else "masked-lm"


def _is_headless(architectures: Sequence[str]) -> bool:
    """Whether a model was saved without a head."""
    return bool(architectures) and all(str(name).endswith("Model") for name in architectures)


def classifier_labels(model: Any, options: LoadOptions | None = None) -> list[str]:
    """The labels of a classifier, before its weights are read; none where nothing says them."""
    if isinstance(model, str | os.PathLike):
        named: Any = find_checkpoint(str(model), options or LoadOptions()).config.get("id2label") or {}
    elif isinstance(model, Classifier):
        return [str(label) for label in model.labels]
    else:
        parts = model_and_tokenizer(model)
        named = getattr(getattr(parts[0] if parts else None, "config", None), "id2label", None) or {}
    return [str(label) for label in named.values()] if isinstance(named, Mapping) else []


def is_classifier(model: Any) -> TypeGuard[Classifier | Regressor]:
    """Whether an object is a classifier or a regressor: no class of them, and no table that happens to have values."""
    if isinstance(model, type | Mapping):
        return False
    return isinstance(model, Classifier) or (isinstance(model, Regressor) and callable(model.values))


def model_and_tokenizer(model: Any) -> tuple[Any, Any] | None:
    """The model and tokenizer of a tuple or a pipeline; None for anything else."""
    parts = model if isinstance(model, tuple) else (getattr(model, "model", None), getattr(model, "tokenizer", None))
    return parts if len(parts) == 2 and hasattr(parts[0], "state_dict") and callable(parts[1]) else None


def check_masked_lm(source: Checkpoint) -> None:
    """Refuse a checkpoint that cannot be a masked language model, before its weights are read."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    kind = source.config.get("model_type", "")
    if "auto_map" not in source.config and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise UnmaskError(
            f"{source.name} is of type {kind or 'unknown'!r}; association needs a masked language model such as BERT"
        )
    made_for = classifier_type(source)
    if made_for:
        raise UnmaskError(
            f"{source.name} is a classifier ({made_for}); association needs a masked language model such as BERT"
        )


def can_encode(model: Any, options: LoadOptions | None = None) -> bool:
    """Whether a model has vectors of words in sentences, as far as can be seen before its weights are read."""
    if isinstance(model, str | os.PathLike):
        return not _no_encoder(find_checkpoint(str(model), options or LoadOptions()).config)
    if isinstance(model, Encoder):
        return not isinstance(model, type)
    parts = model_and_tokenizer(model)
    return parts is not None and hasattr(parts[0], "config") and not _no_encoder(parts[0].config.to_dict())


def check_encoder(name: str, config: Mapping[str, Any]) -> None:
    """Refuse a model that does not read a sentence in both directions: a decoder, or an encoder with a decoder."""
    why = _no_encoder(config)
    if why:
        raise UnmaskError(f"{name} {why}; geometry needs an encoder such as BERT")


def _no_encoder(config: Mapping[str, Any]) -> str:
    """Why a model is no encoder; empty if nothing says so."""
    from transformers.models.auto import modeling_auto as known

    kind = config.get("model_type", "")
    if config.get("is_encoder_decoder"):
        return f"is of type {kind!r}, an encoder with a decoder"
    reads_on = kind in known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in known.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return f"is of type {kind!r}, a decoder" if reads_on or config.get("is_decoder") else ""


def classifier_type(source: Checkpoint) -> str:
    """What says that a checkpoint is a classifier; empty if nothing does."""
    made_for = [str(name) for name in source.config.get("architectures") or () if str(name).endswith(CLASSIFIES)]
    made_for += [source.task_type] if source.task_type == "SEQ_CLS" else []
    return made_for[0] if made_for else ""
