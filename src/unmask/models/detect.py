"""Which role a model was made for: masked language model, classifier or regressor, encoder, word vectors."""

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
    """Detect the role that a model is to be loaded in; if it fits none, loading it tells what is wrong."""
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
    if parts is not None:
        architecture = type(parts[0]).__name__
        if architecture.endswith(CLASSIFIES):
            return "classifier"
        return "encoder" if _is_headless([architecture]) else "masked-lm"
    if not isinstance(model, type | Mapping) and isinstance(model, MaskedLM | Encoder):
        return "masked-lm" if isinstance(model, MaskedLM) else "encoder"
    lacks = " (it has probabilities, but no labels)" if callable(getattr(model, "probabilities", None)) else ""
    raise UnmaskError(
        f"cannot audit a {type(model).__name__}{lacks}; give a hub id, a folder, (model, tokenizer), word vectors,"
        " or an object with a log_probability or an embed method, with labels and a probabilities method, or with a"
        " values method"
    )


def _is_headless(architectures: Sequence[str]) -> bool:
    return bool(architectures) and all(str(name).endswith("Model") for name in architectures)


def classifier_labels(model: Any, options: LoadOptions | None = None) -> list[str]:
    """Return the labels of a classifier without loading its weights; empty where it does not name them."""
    if isinstance(model, Classifier):
        return [str(label) for label in model.labels]
    if isinstance(model, str | os.PathLike):
        labels: Any = find_checkpoint(str(model), options or LoadOptions()).config.get("id2label")
    else:
        parts = model_and_tokenizer(model)
        labels = getattr(getattr(parts[0] if parts else None, "config", None), "id2label", None)
    return [str(label) for label in labels.values()] if isinstance(labels, Mapping) else []


def is_classifier(model: Any) -> TypeGuard[Classifier | Regressor]:
    """Whether an object is a classifier or a regressor, and not a class or a table that has values."""
    if isinstance(model, type | Mapping):
        return False
    return isinstance(model, Classifier) or (isinstance(model, Regressor) and callable(model.values))


def model_and_tokenizer(model: Any) -> tuple[Any, Any] | None:
    """Return the model and tokenizer of a tuple or a pipeline; None for anything else."""
    parts = model if isinstance(model, tuple) else (getattr(model, "model", None), getattr(model, "tokenizer", None))
    return parts if len(parts) == 2 and hasattr(parts[0], "state_dict") and callable(parts[1]) else None


def check_masked_lm(source: Checkpoint) -> None:
    """Raise an error for a checkpoint that cannot be a masked language model, before its weights are read."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    model_type = source.config.get("model_type", "")
    problem = ""
    if "auto_map" not in source.config and model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        problem = f"of type {model_type or 'unknown'!r}"
    elif made_for := classifier_type(source):
        problem = f"a classifier ({made_for})"
    if problem:
        raise UnmaskError(f"{source.name} is {problem}; association needs a masked language model such as BERT")


def can_encode(model: Any, options: LoadOptions | None = None) -> bool:
    """Whether a model has vectors of words in sentences, as far as its configuration tells."""
    if isinstance(model, str | os.PathLike):
        return not _encoder_problem(find_checkpoint(str(model), options or LoadOptions()).config)
    if isinstance(model, Encoder):
        return not isinstance(model, type)
    parts = model_and_tokenizer(model)
    return parts is not None and hasattr(parts[0], "config") and not _encoder_problem(parts[0].config.to_dict())


def check_encoder(name: str, config: Mapping[str, Any]) -> None:
    """Raise an error for a model that does not read in both directions: a decoder, or an encoder with a decoder."""
    if problem := _encoder_problem(config):
        raise UnmaskError(f"{name} {problem}; geometry needs an encoder such as BERT")


def _encoder_problem(config: Mapping[str, Any]) -> str:
    """Say why a model is no encoder; empty if its configuration does not tell."""
    from transformers.models.auto import modeling_auto

    model_type = config.get("model_type", "")
    if config.get("is_encoder_decoder"):
        return f"is of type {model_type!r}, an encoder with a decoder"
    causal, masked = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_decoder = (model_type in causal and model_type not in masked) or config.get("is_decoder")
    return f"is of type {model_type!r}, a decoder" if is_decoder else ""


def classifier_type(source: Checkpoint) -> str:
    """Return what marks a checkpoint as a classifier; empty if nothing does."""
    made_for = [str(name) for name in source.config.get("architectures") or () if str(name).endswith(CLASSIFIES)]
    made_for += [source.task_type] if source.task_type == "SEQ_CLS" else []
    return made_for[0] if made_for else ""
