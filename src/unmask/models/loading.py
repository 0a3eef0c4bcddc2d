"""From a name, a folder or loaded objects to a model in a role, or to one that can be trained."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError, quote
from unmask.lexicon.labels import match_labels
from unmask.models.checkpoints import (
    Checkpoint,
    check_encoder,
    check_masked_lm,
    choose_device,
    find_checkpoint,
    is_classifier,
    model_and_tokenizer,
)
from unmask.models.roles import Classifier, Encoder, MaskedLM, Progress, Regressor
from unmask.options import LoadOptions
from unmask.steps import step

MASKED_LM, CLASSIFIER, HEADLESS = "AutoModelForMaskedLM", "AutoModelForSequenceClassification", "AutoModel"
DESCRIPTIONS = {MASKED_LM: "a masked language model", CLASSIFIER: "a text classifier", HEADLESS: "an encoder"}
HEADS = ("classifier.weight", "classifier.out_proj.weight", "score.weight")
"""How the names of a head's weights end in an adapter."""
INPUTS = "give a hub id, a folder, (model, tokenizer), or an object with"


def load_masked_lm(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> MaskedLM:
    """Load a masked language model from a name, a folder, `(model, tokenizer)`, a pipeline, or a finished object."""
    from unmask.models.masked_lm import TransformersMaskedLM

    def load(source: Checkpoint) -> Any:
        check_masked_lm(source)
        return _load_complete(source, MASKED_LM)

    if isinstance(model, MaskedLM) and not isinstance(model, type):
        return model
    parts, identity = _load_parts(model, options, load)
    if parts and hasattr(parts[1], "mask_token_id"):
        return TransformersMaskedLM(*parts, progress=progress, **identity)
    raise UnmaskError(
        f"cannot audit a {type(model).__name__}; {INPUTS} a log_probability, a probabilities or a values method"
    )


def load_classifier(
    model: Any,
    options: LoadOptions | None = None,
    *,
    progress: Progress | None = None,
    long_texts: str = "head",
    most_tokens: int | None = None,
) -> Classifier | Regressor:
    """Load a classifier or regressor from a name, a folder, `(model, tokenizer)`, a pipeline, or a finished object.

    `long_texts` and `most_tokens` say how long texts are read (`tokenization`); a finished object decides that itself.
    """
    from unmask.models.classifier import TransformersClassifier, TransformersRegressor, is_regression

    if is_classifier(model):
        return model
    parts, identity = _load_parts(model, options, lambda source: _load_complete(source, CLASSIFIER))
    if parts and hasattr(getattr(parts[0], "config", None), "num_labels"):
        model_class = TransformersRegressor if is_regression(parts[0].config) else TransformersClassifier
        return model_class(*parts, progress=progress, long_texts=long_texts, most_tokens=most_tokens, **identity)
    raise UnmaskError(
        f"cannot classify with a {type(model).__name__}; {INPUTS} labels and a probabilities method, or with a values"
        " method"
    )


def load_encoder(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> Encoder:
    """Load an encoder from a name, a folder, `(model, tokenizer)`, a pipeline, or a finished object.

    Masked language models, classifiers and headless encoders will do; a loaded model is shared, not copied.
    """
    from unmask.models.encoder import TransformersEncoder

    if isinstance(model, Encoder) and not isinstance(model, type):
        return model
    parts, identity = _load_parts(model, options, _load_backbone)
    if parts and hasattr(parts[0], "base_model") and hasattr(parts[0], "config"):
        encoder = TransformersEncoder(*parts, progress=progress, **identity)
        check_encoder(encoder.name, parts[0].config.to_dict())
        return encoder
    raise UnmaskError(f"a {type(model).__name__} has no vectors of words; {INPUTS} an embed method")


def _load_parts(
    model: Any, options: LoadOptions | None, load: Callable[[Checkpoint], Any]
) -> tuple[tuple[Any, Any] | None, dict[str, Any]]:
    """Return a model with its tokenizer, and what identifies it; no parts for an object without them."""
    from unmask.models.batching import LoadedModel

    if isinstance(model, LoadedModel):
        identity = {"name": model.name, "mitigation": model.mitigation, "revision": model.revision}
        return (model.model, model.tokenizer), identity
    if not isinstance(model, str | os.PathLike):
        return model_and_tokenizer(model), {}
    options = options or LoadOptions()
    source = find_checkpoint(str(model), options)
    loaded = load(source).to(choose_device(options.device))
    return (loaded, _load_tokenizer(source)), source.identity


@dataclass(frozen=True)
class Trainable:
    """A model to train, and its tokenizer."""

    model: Any
    tokenizer: Any
    labels: tuple[str, ...] = ()
    """In the order of the model's outputs: the base's own, where it has the same labels."""
    trained_whole: tuple[str, ...] = ()
    """The parts that an adapter does not adapt but replaces: the head, and what no checkpoint contained."""
    is_adapter: bool = False
    lost_head: str = ""
    """A note for the user where the base had a head for other labels."""


def load_trainable(
    name: str,
    options: LoadOptions,
    *,
    labels: Sequence[str] | None = None,
    architecture: Mapping[str, Any] | None = None,
) -> Trainable:
    """Load a base model to train on the CPU: with a classification head for the labels, or with its masked-LM head.

    `architecture` changes its configuration before the weights are read, such as the number of layers.
    """
    source = find_checkpoint(name, options)
    tokenizer = _load_tokenizer(source)
    is_adapter = source.base is not None
    if labels is None:
        model = _load_complete(source, MASKED_LM, **architecture or {}).requires_grad_(True)
        return Trainable(model, tokenizer, is_adapter=is_adapter)
    same_labels = match_labels(source.labels, labels)
    outputs = labels if same_labels is None else same_labels
    settings = {**_label_settings(outputs), **(architecture or {})}
    model, missing = _load_model(source, CLASSIFIER, **settings, ignore_mismatched_sizes=True)
    heads = [name for name, part in model.named_children() if name != model.base_model_prefix and [*part.parameters()]]
    if same_labels is None:
        for part in (getattr(model, name) for name in heads):
            for module in part.modules():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()  # a head for other labels is of no use
    prefix = f"{model.base_model_prefix}."
    fresh = dict.fromkeys([*heads, *(key.removeprefix(prefix).partition(".")[0] for key in missing)])
    unread = {"embeddings", "encoder", "transformer", "layers", "layer"} & set(fresh)
    if unread:
        raise UnmaskError(f"{name} has no weights for its {quote(sorted(unread))}; give a trained model as the base")
    model.requires_grad_(True)  # an adapter that was merged leaves its model frozen
    return Trainable(model, tokenizer, tuple(outputs), tuple(fresh), is_adapter, _explain_lost_head(source, labels))


def _explain_lost_head(source: Checkpoint, labels: Sequence[str]) -> str:
    """Explain why a classifier that is to learn the labels loses its head; empty if it keeps it, or has none."""
    if not source.classifier_type or match_labels(source.labels, labels) is not None:
        return ""
    why = f"({quote(source.labels)}) are not {', '.join(labels)}" if source.labels else "have no names"
    return f"its head is made anew: its labels {why}"


def describe_lost_heads(models: Iterable[str], labels: Sequence[str], options: LoadOptions) -> list[str]:
    """Describe which base models would lose their heads if they were trained for the labels, a line each."""
    lost = {model: _explain_lost_head(find_checkpoint(model, options), labels) for model in models}
    return [f"{model}: {line}" for model, line in lost.items() if line]


def _label_settings(labels: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of a head for labels."""
    return {
        "num_labels": len(labels),
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
    }


def _load_tokenizer(source: Checkpoint) -> Any:
    """Load the tokenizer of a checkpoint, or of an adapter's model if it brings none."""
    import transformers

    if source.base is not None and source.find_file("tokenizer_config.json") is None:
        return _load_tokenizer(source.base)  # transformers would make up an empty one
    return source.attempt(lambda: transformers.AutoTokenizer.from_pretrained(source.location, **source.arguments))


def _load_backbone(source: Checkpoint) -> Any:
    """Load a model as it was saved, with its head if it has one, so that it is the same model for every measure."""
    check_encoder(source.name, source.config)
    if source.classifier_type:
        return _load_complete(source, CLASSIFIER)
    if source.task_type != "FEATURE_EXTRACTION" and any(name.endswith("ForMaskedLM") for name in source.architectures):
        return _load_complete(source, MASKED_LM)
    return _load_complete(source, HEADLESS)


def _load_complete(source: Checkpoint, auto_class: str, **settings: Any) -> Any:
    """Load a model all of whose weights are in the checkpoint.

    The pooler of an encoder is removed if its weights were not saved: no word's vector depends on it.
    """
    if auto_class == CLASSIFIER and source.labels:
        settings |= _label_settings(source.labels)
    elif auto_class == CLASSIFIER and source.base is not None:  # only the weights may tell the size of the head
        import peft

        weights = source.attempt(lambda: peft.load_peft_weights(source.location, device="cpu"))
        sizes = [tensor.shape[0] for key, tensor in weights.items() if key.endswith(HEADS)]
        settings |= {"num_labels": sizes[0]} if sizes else {}
    model, missing = _load_model(source, auto_class, **settings)
    if auto_class == HEADLESS and any(key.startswith("pooler.") for key in missing):
        model.pooler = None
        missing = [key for key in missing if not key.startswith("pooler.")]
    if missing:
        raise UnmaskError(
            f"{source.name} has no weights for {quote(sorted(missing), 2)}: it was not saved as"
            f" {DESCRIPTIONS[auto_class]}, and its answers would be random"
        )
    return model


def _load_model(source: Checkpoint, auto_class: str, **settings: Any) -> tuple[Any, list[str]]:
    """Load a model, with an adapter merged into its base; returns it and the names of weights in no checkpoint."""
    import torch
    import transformers

    holder = source.base or source
    with step(f"Loading {source.name} from {source.location}"):
        model, report = source.attempt(
            lambda: getattr(transformers, auto_class).from_pretrained(
                holder.location,
                **holder.arguments,
                **settings,
                dtype=torch.float32,
                use_safetensors=None if source.options.allow_pickle else True,
                output_loading_info=True,
            )
        )
    missing = set(report["missing_keys"]) | {key for key, *_ in report.get("mismatched_keys", ())}
    if source.base is None:
        return model, sorted(missing)
    any_head = "ignore_mismatched_sizes" in settings
    merged: tuple[Any, list[str]] = source.attempt(lambda: _merge_adapter(model, source, missing, any_head=any_head))
    return merged


def _merge_adapter(model: Any, source: Checkpoint, missing: set[str], *, any_head: bool) -> tuple[Any, list[str]]:
    """Merge an adapter; with `any_head`, its head for another number of labels is left out."""
    import peft

    weights = peft.load_peft_weights(source.location, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not fit is an error below
        adapted = peft.PeftModel.from_pretrained(
            model, source.location, torch_device="cpu", ignore_mismatched_sizes=any_head
        )
    expected = peft.get_peft_model_state_dict(adapted, save_embedding_layers=False)
    inner = f"base_model.model.{model.base_model_prefix}."
    misfits = sorted(set(weights) ^ set(expected)) or [
        key for key in sorted(weights) if key.startswith(inner) and weights[key].shape != expected[key].shape
    ]
    if misfits or not weights:
        raise UnmaskError(
            f"{source.name} does not fit its model: {quote(misfits, 1)} is only in one of them, or of another size;"
            " give the model, and the kind of head, that the adapter was made for"
        )
    if not hasattr(adapted, "merge_and_unload"):
        raise UnmaskError(f"{source.name} is an adapter that cannot be merged into its model; LoRA, for instance, can")
    in_adapter = {key.removeprefix("base_model.model.") for key in weights}
    return adapted.merge_and_unload().float(), sorted(missing - in_adapter)
