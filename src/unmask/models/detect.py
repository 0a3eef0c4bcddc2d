"""Which role a model was made for: masked language model, classifier or regressor, encoder, word vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeGuard

from unmask.errors import UnmaskError
from unmask.models.checkpoints import CLASSIFIES, Checkpoint, find_checkpoint
from unmask.models.roles import Classifier, Encoder, MaskedLM, Regressor
from unmask.models.word_vectors import is_word_vectors
from unmask.options import LoadOptions

Role = Literal["masked-lm", "classifier", "encoder", "vectors"]


def detect_role(model: Any, options: LoadOptions | None = None) -> Role:
    """Detect the role that a model is to be loaded in; loading it explains why it does not fit."""
    if is_word_vectors(model):
        return "vectors"
    if is_classifier(model):
        return "masked-lm" if isinstance(model, MaskedLM) else "classifier"
    config = read_config(model, options)
    if config is not None:
        architectures = config["architectures"]
        if any(name.endswith(CLASSIFIES) for name in architectures):
            return "classifier"
        is_headless = bool(architectures) and all(name.endswith("Model") for name in architectures)
        return "encoder" if is_headless else "masked-lm"
    if not isinstance(model, type | Mapping) and isinstance(model, MaskedLM | Encoder):
        return "masked-lm" if isinstance(model, MaskedLM) else "encoder"
    lacks = " (it has probabilities, but no labels)" if callable(getattr(model, "probabilities", None)) else ""
    raise UnmaskError(
        f"cannot audit a {type(model).__name__}{lacks}; give a hub id, a folder, (model, tokenizer), word vectors,"
        " or an object with a log_probability or an embed method, with labels and a probabilities method, or with a"
        " values method"
    )


def read_config(model: Any, options: LoadOptions | None = None) -> Mapping[str, Any] | None:
    """Read the configuration of a checkpoint or of a loaded model without its weights; None of any other object."""
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options or LoadOptions())
        return source.config | {"architectures": source.architectures}
    parts = model_and_tokenizer(model)
    if parts is None or not hasattr(parts[0], "config"):
        return None
    return {**parts[0].config.to_dict(), "architectures": [type(parts[0]).__name__]}


def classifier_labels(model: Any, options: LoadOptions | None = None) -> list[str]:
    """Return the labels of a classifier without loading its weights; empty where it does not name them."""
    if isinstance(model, Classifier):
        return [str(label) for label in model.labels]
    labels = (read_config(model, options) or {}).get("id2label")
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
    problem = f"a classifier ({source.classifier_type})" if source.classifier_type else ""
    if "auto_map" not in source.config and model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        problem = f"of type {model_type or 'unknown'!r}"
    if problem:
        raise UnmaskError(f"{source.name} is {problem}; association needs a masked language model such as BERT")


def can_encode(model: Any, options: LoadOptions | None = None) -> bool:
    """Whether a model has vectors of words in sentences, by its configuration."""
    if isinstance(model, Encoder):
        return not isinstance(model, type)
    config = read_config(model, options)
    return config is not None and not _encoder_problem(config)


def check_encoder(name: str, config: Mapping[str, Any]) -> None:
    """Raise an error for a model that does not read in both directions: a decoder, or an encoder with a decoder."""
    if problem := _encoder_problem(config):
        raise UnmaskError(f"{name} {problem}; geometry needs an encoder such as BERT")


def _encoder_problem(config: Mapping[str, Any]) -> str:
    """Return why a model is no encoder; empty if it may be one."""
    from transformers.models.auto import modeling_auto

    model_type = config.get("model_type", "")
    if config.get("is_encoder_decoder"):
        return f"is of type {model_type!r}, an encoder with a decoder"
    causal, masked = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_decoder = (model_type in causal and model_type not in masked) or config.get("is_decoder")
    return f"is of type {model_type!r}, a decoder" if is_decoder else ""
