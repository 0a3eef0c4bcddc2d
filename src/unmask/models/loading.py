"""From a name, a folder or loaded objects to a model in a role, or to one that can be trained."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, quote
from unmask.lexicon.labels import match_labels
from unmask.models.checkpoints import Checkpoint, choose_device, find_checkpoint
from unmask.models.detect import (
    check_encoder,
    check_masked_lm,
    classifier_type,
    detect_role,
    is_classifier,
    model_and_tokenizer,
)
from unmask.models.roles import ADAPTER, CONFIG, Classifier, Encoder, MaskedLM, Progress, Regressor
from unmask.options import LoadOptions
from unmask.steps import step

MASKED_LM, CLASSIFIER, HEADLESS = "AutoModelForMaskedLM", "AutoModelForSequenceClassification", "AutoModel"
WHAT_IT_IS = {MASKED_LM: "a masked language model", CLASSIFIER: "a text classifier", HEADLESS: "an encoder"}
HEADS = ("classifier.weight", "classifier.out_proj.weight", "score.weight")
"""How the names of a head's weights end in an adapter."""


def load_masked_lm(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> MaskedLM:
    """Load a masked language model from a name, a folder, `(model, tokenizer)`, a pipeline, or a finished object."""
    from unmask.models.masked_lm import TransformersMaskedLM

    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        check_masked_lm(source)
        tokenizer = _load_tokenizer(source)
        if tokenizer.mask_token_id is None:
            raise UnmaskError(f"{source.name} has no mask token; association needs a masked language model")
        loaded = _load_complete(source, MASKED_LM).to(choose_device(options.device))
        return TransformersMaskedLM(loaded, tokenizer, progress=progress, **_identify(source))
    if isinstance(model, MaskedLM) and not isinstance(model, type):
        return model
    parts = model_and_tokenizer(model)
    if parts and hasattr(parts[1], "mask_token_id"):
        return TransformersMaskedLM(*parts, progress=progress)
    raise UnmaskError(
        f"cannot audit a {type(model).__name__}; give a hub id, a folder, (model, tokenizer),"
        " or an object with a log_probability, a probabilities or a values method"
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

    options = options or LoadOptions()
    settings: dict[str, Any] = {"progress": progress, "long_texts": long_texts, "most_tokens": most_tokens}
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        loaded = _load_complete(source, CLASSIFIER).to(choose_device(options.device))
        parts: tuple[Any, Any] | None = (loaded, _load_tokenizer(source))
        settings |= _identify(source)
    elif is_classifier(model):
        return model
    else:
        parts = model_and_tokenizer(model)
    if parts and hasattr(getattr(parts[0], "config", None), "num_labels"):
        kind = TransformersRegressor if is_regression(parts[0].config) else TransformersClassifier
        return kind(*parts, **settings)
    raise UnmaskError(
        f"cannot classify with a {type(model).__name__}; give a hub id, a folder, (model, tokenizer),"
        " or an object with labels and a probabilities method, or with a values method"
    )


def load_encoder(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> Encoder:
    """Load an encoder from a name, a folder, `(model, tokenizer)`, a pipeline, or a finished object.

    Masked language models, classifiers and headless encoders will do; a loaded model is shared, not copied.
    """
    from unmask.models.batching import LoadedModel
    from unmask.models.encoder import TransformersEncoder

    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        check_encoder(source.name, source.config)
        loaded = _load_backbone(source).to(choose_device(options.device))
        return TransformersEncoder(loaded, _load_tokenizer(source), progress=progress, **_identify(source))
    if isinstance(model, Encoder) and not isinstance(model, type):
        return model
    parts = model_and_tokenizer(model)
    if parts and hasattr(parts[0], "base_model") and hasattr(parts[0], "config"):
        identity: dict[str, Any] = {}
        if isinstance(model, LoadedModel):
            identity = {"name": model.name, "mitigation": model.mitigation, "revision": model.revision}
        encoder = TransformersEncoder(*parts, **identity, progress=progress)
        check_encoder(encoder.name, parts[0].config.to_dict())
        return encoder
    raise UnmaskError(
        f"a {type(model).__name__} has no vectors of words; give a hub id, a folder, (model, tokenizer), or an object"
        " with an embed method"
    )


LOADERS: dict[str, Any] = {"masked-lm": load_masked_lm, "classifier": load_classifier, "encoder": load_encoder}
"""The function that loads a `transformers` model in a role."""


def hash_folder_weights(folder: Path) -> str | None:
    """Compute the hash of the model in a folder; None where there is none that loads with the default options."""
    if not any((folder / file).is_file() for file in (CONFIG, ADAPTER)):
        return None
    options = LoadOptions(device="cpu", offline=True)
    try:
        role = detect_role(folder, options)
        weights: str | None = LOADERS[role](folder, options).info().weight_hash if role in LOADERS else None
    except UnmaskError:
        return None
    return weights


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
    head = plan_head(source, labels)
    settings = {**_label_settings(head.labels), **(architecture or {})}
    model, missing = _load_model(source, CLASSIFIER, **settings, ignore_mismatched_sizes=True)
    heads = [name for name, part in model.named_children() if name != model.base_model_prefix and [*part.parameters()]]
    if not head.is_kept:
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
    return Trainable(model, tokenizer, head.labels, tuple(fresh), is_adapter, head.lost)


@dataclass(frozen=True)
class Head:
    """The head of a model that is to learn some labels."""

    labels: tuple[str, ...]
    """Those to learn, in the order of the model's outputs: the base's own, where it has the same labels."""
    is_kept: bool
    """Whether the base has the same labels, in any order and spelling."""
    lost: str = ""
    """A note for the user where a head is replaced."""


def plan_head(source: Checkpoint, labels: Sequence[str]) -> Head:
    """Decide whether a base model that is to learn the labels keeps its head."""
    before = [name for _, name in sorted(label_names(source).items())]
    same = match_labels(before, labels)
    if same is not None:
        return Head(tuple(same), is_kept=True)
    lost = ""
    if classifier_type(source):
        why = f"({quote(before)}) are not {', '.join(labels)}" if before else "have no names"
        lost = f"its head is made anew: its labels {why}"
    return Head(tuple(labels), is_kept=False, lost=lost)


def describe_lost_heads(models: Iterable[str], labels: Sequence[str], options: LoadOptions) -> list[str]:
    """Describe which base models would lose their heads if they were trained for the labels, a line each."""
    lost = {model: plan_head(find_checkpoint(model, options), labels).lost for model in models}
    return [f"{model}: {line}" for model, line in lost.items() if line]


def label_names(source: Checkpoint) -> dict[int, str]:
    """Return the labels of a checkpoint by the index of their output; empty where it does not name them."""
    return {int(index): str(label) for index, label in (source.config.get("id2label") or {}).items()}


def _label_settings(labels: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of a head for labels."""
    return {
        "num_labels": len(labels),
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
    }


def _identify(source: Checkpoint) -> dict[str, Any]:
    """Return what a loaded model says of its checkpoint."""
    return {"name": source.name, "mitigation": source.mitigation(), "revision": source.revision()}


def _load_tokenizer(source: Checkpoint) -> Any:
    """Load the tokenizer of a checkpoint, or of an adapter's model if it brings none."""
    import transformers

    if source.base is not None and not source.has("tokenizer_config.json"):
        return _load_tokenizer(source.base)  # transformers would make up an empty one
    return source.attempt(lambda: transformers.AutoTokenizer.from_pretrained(source.place, **source.arguments))


def _load_backbone(source: Checkpoint) -> Any:
    """Load a model as it was saved, with its head if it has one, so that it is the same model for every measure.

    A pooler whose weights were not saved is removed: no word's vector depends on it.
    """
    if classifier_type(source):
        return _load_complete(source, CLASSIFIER)
    saved = [str(name) for name in source.config.get("architectures") or ()]
    if source.task_type != "FEATURE_EXTRACTION" and any(name.endswith("ForMaskedLM") for name in saved):
        return _load_complete(source, MASKED_LM)
    model, missing = _load_model(source, HEADLESS)
    _check_missing(source, [key for key in missing if not key.startswith("pooler.")], HEADLESS)
    if missing:
        model.pooler = None
    return model


def _load_complete(source: Checkpoint, auto_class: str, **settings: Any) -> Any:
    """Load a model all of whose weights are in the checkpoint."""
    names = label_names(source)
    if auto_class == CLASSIFIER and names:
        settings |= _label_settings([names[index] for index in sorted(names)])
    elif auto_class == CLASSIFIER and source.base is not None:  # only the weights may tell the size of the head
        import peft

        weights = source.attempt(lambda: peft.load_peft_weights(source.place, device="cpu"))
        sizes = [tensor.shape[0] for key, tensor in weights.items() if key.endswith(HEADS)]
        settings |= {"num_labels": sizes[0]} if sizes else {}
    model, missing = _load_model(source, auto_class, **settings)
    _check_missing(source, missing, auto_class)
    return model


def _check_missing(source: Checkpoint, missing: Sequence[str], auto_class: str) -> None:
    if missing:
        raise UnmaskError(
            f"{source.name} has no weights for {quote(sorted(missing), 2)}: it was not saved as"
            f" {WHAT_IT_IS[auto_class]}, and its answers would be random"
        )


def _load_model(source: Checkpoint, auto_class: str, **settings: Any) -> tuple[Any, list[str]]:
    """Load a model, with an adapter merged into its base; returns it and the names of weights in no checkpoint."""
    import torch
    import transformers

    holder = source.base or source
    with step(f"Loading {source.name} from {source.place}"):
        model, report = source.attempt(
            lambda: getattr(transformers, auto_class).from_pretrained(
                holder.place,
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

    weights = peft.load_peft_weights(source.place, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not fit is an error below
        adapted = peft.PeftModel.from_pretrained(
            model, source.place, torch_device="cpu", ignore_mismatched_sizes=any_head
        )
    placed = peft.get_peft_model_state_dict(adapted, save_embedding_layers=False)
    inner = f"base_model.model.{model.base_model_prefix}."
    strange = sorted(set(weights) ^ set(placed)) or [
        key for key in sorted(weights) if key.startswith(inner) and weights[key].shape != placed[key].shape
    ]
    if strange or not weights:
        raise UnmaskError(
            f"{source.name} does not fit its model: {quote(strange, 1)} is in one of them alone, or of another size;"
            " give the model, and the kind of head, that the adapter was made for"
        )
    if not hasattr(adapted, "merge_and_unload"):
        raise UnmaskError(f"{source.name} is an adapter that cannot be merged into its model; LoRA, for instance, can")
    in_adapter = {key.removeprefix("base_model.model.") for key in weights}
    return adapted.merge_and_unload().float(), sorted(missing - in_adapter)
