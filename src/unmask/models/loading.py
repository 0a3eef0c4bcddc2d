"""From a name, a folder or loaded objects to a model that can be asked, or trained."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError, quote
from unmask.models.checkpoints import Source, choose_device, find_checkpoint
from unmask.models.heads import head_of, named_labels
from unmask.models.interfaces import Classifier, Encoder, MaskedLM, Progress, Regressor
from unmask.models.kinds import made_to_classify, parts_of, rates, refuse_no_encoder, refuse_other_kinds
from unmask.options import LoadOptions
from unmask.steps import step

MASKED_LM, CLASSIFIER, HEADLESS = "AutoModelForMaskedLM", "AutoModelForSequenceClassification", "AutoModel"
HEADS = ("classifier.weight", "classifier.out_proj.weight", "score.weight")


@dataclass(frozen=True)
class Trainable:
    """A model to train, and its tokenizer."""

    model: Any
    tokenizer: Any
    labels: tuple[str, ...] = ()
    """In the order of the model's outputs: the base's own, where it knows the same labels."""
    trained_whole: tuple[str, ...] = ()
    """The parts that an adapter does not adapt but replaces: the head, and what no checkpoint held."""
    is_adapter: bool = False
    lost_head: str = ""
    """What a user has to know where the base had a head for other labels, in words."""


def load_masked_lm(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> MaskedLM:
    """A masked language model from a name, a folder, `(model, tokenizer)`, a pipeline, or an object that is one."""
    from unmask.models.masked_lm import TransformersMaskedLM

    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        refuse_other_kinds(source)
        tokenizer = _tokenizer(source)
        if tokenizer.mask_token_id is None:
            raise UnmaskError(f"{source.name} has no mask token; association needs a masked language model")
        loaded = _whole(source, MASKED_LM, "a masked language model")
        return TransformersMaskedLM(
            loaded.to(choose_device(options.device)),
            tokenizer,
            name=source.name,
            progress=progress,
            mitigation=source.mitigation(),
            revision=source.revision(),
        )
    if isinstance(model, MaskedLM) and not isinstance(model, type):
        return model
    parts = parts_of(model)
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
    """A classifier or regressor from a name, a folder, `(model, tokenizer)`, a pipeline, or an object that is one.

    How long texts are read (`unmask.models.truncation`) is left to an object that is one already.
    """
    from unmask.models.classifier import TransformersClassifier, TransformersRegressor, is_regression

    options = options or LoadOptions()
    settings: dict[str, Any] = {"progress": progress, "long_texts": long_texts, "most_tokens": most_tokens}
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        loaded = _whole(source, CLASSIFIER, "a text classifier").to(choose_device(options.device))
        parts: tuple[Any, Any] | None = (loaded, _tokenizer(source))
        settings |= {"name": source.name, "mitigation": source.mitigation(), "revision": source.revision()}
    elif rates(model):
        return model
    else:
        parts = parts_of(model)
    if parts and hasattr(getattr(parts[0], "config", None), "num_labels"):
        kind = TransformersRegressor if is_regression(parts[0].config) else TransformersClassifier
        return kind(*parts, **settings)
    raise UnmaskError(
        f"cannot classify with a {type(model).__name__}; give a hub id, a folder, (model, tokenizer),"
        " or an object with labels and a probabilities method, or with a values method"
    )


def load_encoder(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> Encoder:
    """An encoder from a name, a folder, `(model, tokenizer)`, a pipeline, or an object that is one.

    Masked language models, classifiers and headless encoders will do; what is loaded already is shared, not copied.
    """
    from unmask.models.batching import LoadedModel
    from unmask.models.encoder import TransformersEncoder

    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        refuse_no_encoder(source.name, source.config)
        return TransformersEncoder(
            _backbone(source).to(choose_device(options.device)),
            _tokenizer(source),
            name=source.name,
            progress=progress,
            mitigation=source.mitigation(),
            revision=source.revision(),
        )
    if isinstance(model, Encoder) and not isinstance(model, type):
        return model
    parts = parts_of(model)
    if parts and hasattr(parts[0], "base_model") and hasattr(parts[0], "config"):
        known: dict[str, Any] = {}
        if isinstance(model, LoadedModel):
            known = {"name": model.name, "mitigation": model.mitigation, "revision": model.revision}
        encoder = TransformersEncoder(*parts, **known, progress=progress)
        refuse_no_encoder(encoder.name, parts[0].config.to_dict())
        return encoder
    raise UnmaskError(
        f"a {type(model).__name__} has no vectors of words; give a hub id, a folder, (model, tokenizer), or an object"
        " with an embed method"
    )


def load_trainable(
    name: str,
    options: LoadOptions,
    *,
    labels: Sequence[str] | None = None,
    architecture: Mapping[str, Any] | None = None,
) -> Trainable:
    """A base model to train on the CPU: with a classification head for the labels, or with its masked-LM head.

    `architecture` changes its configuration before the weights are read, such as the number of layers.
    """
    source = find_checkpoint(name, options)
    tokenizer = _tokenizer(source)
    is_adapter = source.base is not None
    if labels is None:
        model = _whole(source, MASKED_LM, "a masked language model", **architecture or {}).requires_grad_(True)
        return Trainable(model, tokenizer, is_adapter=is_adapter)
    head = head_of(source, labels)
    sizes = _head(head.labels)
    model, missing = _model(source, CLASSIFIER, **sizes, **architecture or {}, ignore_mismatched_sizes=True)
    heads = [name for name, part in model.named_children() if name != model.base_model_prefix and [*part.parameters()]]
    if not head.is_kept:
        for part in (getattr(model, name) for name in heads):
            for module in part.modules():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()  # a head for other labels knows nothing of these
    prefix = f"{model.base_model_prefix}."
    fresh = dict.fromkeys([*heads, *(key.removeprefix(prefix).partition(".")[0] for key in missing)])
    unread = {"embeddings", "encoder", "transformer", "layers", "layer"} & set(fresh)
    if unread:
        raise UnmaskError(f"{name} has no weights for its {quote(sorted(unread))}; give a trained model as the base")
    model.requires_grad_(True)  # an adapter that was merged leaves its model frozen
    return Trainable(model, tokenizer, head.labels, tuple(fresh), is_adapter, head.lost)


def _tokenizer(source: Source) -> Any:
    """The tokenizer of a checkpoint, or of an adapter's model if it brings none."""
    import transformers

    if source.base is not None and not source.has("tokenizer_config.json"):
        return _tokenizer(source.base)  # asked for one that is not there, transformers makes up an empty one
    return source.attempt(lambda: transformers.AutoTokenizer.from_pretrained(source.place, **source.arguments))


def _backbone(source: Source) -> Any:
    """A model as it was saved, its head and all, so that it is the same model for every measure; without one as well.

    A pooler whose weights were not saved is taken off: no word's vector depends on it.
    """
    if made_to_classify(source):
        return _whole(source, CLASSIFIER, "a text classifier")
    saved = [str(name) for name in source.config.get("architectures") or ()]
    if source.task_type != "FEATURE_EXTRACTION" and any(name.endswith("ForMaskedLM") for name in saved):
        return _whole(source, MASKED_LM, "a masked language model")
    model, missing = _model(source, HEADLESS)
    lacking = [key for key in missing if not key.startswith("pooler.")]
    _refuse_missing(source, lacking, "an encoder")
    if missing:
        model.pooler = None
    return model


def _whole(source: Source, kind: str, what: str, **architecture: Any) -> Any:
    """A model all of whose weights were in the checkpoint."""
    sizes = _labels_of(source) if kind == CLASSIFIER else {}
    model, missing = _model(source, kind, **sizes, **architecture)
    _refuse_missing(source, missing, what)
    return model


def _refuse_missing(source: Source, missing: Sequence[str], what: str) -> None:
    if missing:
        raise UnmaskError(
            f"{source.name} has no weights for {quote(sorted(missing), 2)}: it was not saved as {what},"
            " and its answers would be random"
        )


def _model(source: Source, kind: str, **settings: Any) -> tuple[Any, list[str]]:
    """The model, an adapter's merged into its base, and the names of the weights that were in no checkpoint."""
    import torch
    import transformers

    holder = source.base or source
    with step(f"Loading {source.name} from {source.place}"):
        model, report = source.attempt(
            lambda: getattr(transformers, kind).from_pretrained(
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
    merged: tuple[Any, list[str]] = source.attempt(lambda: _merge(model, source, missing, any_head=any_head))
    return merged


def _merge(model: Any, source: Source, missing: set[str], *, any_head: bool) -> tuple[Any, list[str]]:
    """With `any_head`, an adapter's head for another number of labels is left out."""
    import peft

    weights = peft.load_peft_weights(source.place, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not fit is refused below
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
    own = {key.removeprefix("base_model.model.") for key in weights}
    return adapted.merge_and_unload().float(), sorted(missing - own)


def _head(labels: Sequence[str]) -> dict[str, Any]:
    return {
        "num_labels": len(labels),
        "id2label": dict(enumerate(labels)),
        "label2id": {label: at for at, label in enumerate(labels)},
    }


def _labels_of(source: Source) -> dict[str, Any]:
    """The labels of a classifier; an adapter may hold the size of its head in its weights alone."""
    names = named_labels(source)
    if names:
        return _head([names[at] for at in sorted(names)])
    if source.base is None:
        return {}
    import peft

    weights = source.attempt(lambda: peft.load_peft_weights(source.place, device="cpu"))
    sizes = [tensor.shape[0] for key, tensor in weights.items() if key.endswith(HEADS)]
    return {"num_labels": sizes[0]} if sizes else {}
