"""From a name, a folder or loaded objects to a model that can be asked, or trained."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.lexicon.labels import match_labels
from unmask.models.checkpoints import Checkpoint, choose_device, find_checkpoint
from unmask.models.detect import (
    Role,
    can_encode,
    check_encoder,
    check_masked_lm,
    classifier_labels,
    classifier_type,
    detect_role,
    is_classifier,
    model_and_tokenizer,
)
from unmask.models.roles import (
    ADAPTER,
    CONFIG,
    Classifier,
    Encoder,
    MaskedLM,
    Progress,
    Regressor,
)
from unmask.options import LoadOptions
from unmask.results import ModelInfo
from unmask.steps import step

if TYPE_CHECKING:
    from unmask.models.roles import Classifier, Encoder, MaskedLM, Progress, Regressor
    from unmask.models.word_vectors import Vectors

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
        check_masked_lm(source)
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
    """A classifier or regressor from a name, a folder, `(model, tokenizer)`, a pipeline, or an object that is one.

    How long texts are read (`unmask.models.tokenization`) is left to an object that is one already.
    """
    from unmask.models.classifier import TransformersClassifier, TransformersRegressor, is_regression

    options = options or LoadOptions()
    settings: dict[str, Any] = {"progress": progress, "long_texts": long_texts, "most_tokens": most_tokens}
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        loaded = _whole(source, CLASSIFIER, "a text classifier").to(choose_device(options.device))
        parts: tuple[Any, Any] | None = (loaded, _tokenizer(source))
        settings |= {"name": source.name, "mitigation": source.mitigation(), "revision": source.revision()}
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
    """An encoder from a name, a folder, `(model, tokenizer)`, a pipeline, or an object that is one.

    Masked language models, classifiers and headless encoders will do; what is loaded already is shared, not copied.
    """
    from unmask.models.batching import LoadedModel
    from unmask.models.encoder import TransformersEncoder

    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        source = find_checkpoint(str(model), options)
        check_encoder(source.name, source.config)
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
    parts = model_and_tokenizer(model)
    if parts and hasattr(parts[0], "base_model") and hasattr(parts[0], "config"):
        known: dict[str, Any] = {}
        if isinstance(model, LoadedModel):
            known = {"name": model.name, "mitigation": model.mitigation, "revision": model.revision}
        encoder = TransformersEncoder(*parts, **known, progress=progress)
        check_encoder(encoder.name, parts[0].config.to_dict())
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
    head = plan_head(source, labels)
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


def _tokenizer(source: Checkpoint) -> Any:
    """The tokenizer of a checkpoint, or of an adapter's model if it brings none."""
    import transformers

    if source.base is not None and not source.has("tokenizer_config.json"):
        return _tokenizer(source.base)  # asked for one that is not there, transformers makes up an empty one
    return source.attempt(lambda: transformers.AutoTokenizer.from_pretrained(source.place, **source.arguments))


def _backbone(source: Checkpoint) -> Any:
    """A model as it was saved, its head and all, so that it is the same model for every measure; without one as well.

    A pooler whose weights were not saved is taken off: no word's vector depends on it.
    """
    if classifier_type(source):
        return _whole(source, CLASSIFIER, "a text classifier")
    saved = [str(name) for name in source.config.get("architectures") or ()]
    if source.task_type != "FEATURE_EXTRACTION" and any(name.endswith("ForMaskedLM") for name in saved):
        return _whole(source, MASKED_LM, "a masked language model")
    model, missing = _model(source, HEADLESS)
    lacking = [key for key in missing if not key.startswith("pooler.")]
    _check_missing(source, lacking, "an encoder")
    if missing:
        model.pooler = None
    return model


def _whole(source: Checkpoint, kind: str, what: str, **architecture: Any) -> Any:
    """A model all of whose weights were in the checkpoint."""
    sizes = _head_size(source) if kind == CLASSIFIER else {}
    model, missing = _model(source, kind, **sizes, **architecture)
    _check_missing(source, missing, what)
    return model


def _check_missing(source: Checkpoint, missing: Sequence[str], what: str) -> None:
    if missing:
        raise UnmaskError(
            f"{source.name} has no weights for {quote(sorted(missing), 2)}: it was not saved as {what},"
            " and its answers would be random"
        )


def _model(source: Checkpoint, kind: str, **settings: Any) -> tuple[Any, list[str]]:
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


def _merge(model: Any, source: Checkpoint, missing: set[str], *, any_head: bool) -> tuple[Any, list[str]]:
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


def _head_size(source: Checkpoint) -> dict[str, Any]:
    """The labels of a classifier; an adapter may hold the size of its head in its weights alone."""
    names = label_names(source)
    if names:
        return _head([names[at] for at in sorted(names)])
    if source.base is None:
        return {}
    import peft

    weights = source.attempt(lambda: peft.load_peft_weights(source.place, device="cpu"))
    sizes = [tensor.shape[0] for key, tensor in weights.items() if key.endswith(HEADS)]
    return {"num_labels": sizes[0]} if sizes else {}


@dataclass(frozen=True)
class Head:
    """The head of a model that is to learn some labels."""

    labels: tuple[str, ...]
    """Those to learn, in the order of the model's outputs: the base's own, where it knows the same labels."""
    is_kept: bool
    """Whether the base knows the same labels, in any order and spelling."""
    lost: str = ""
    """What a user has to know where a head that was there is not kept, in words."""


def plan_head(source: Checkpoint, labels: Sequence[str]) -> Head:
    """What becomes of the head of a base model that is to learn the labels."""
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
    """What a user has to know before base models are trained for the labels, a line for each of which there is."""
    lost = {model: plan_head(find_checkpoint(model, options), labels).lost for model in models}
    return [f"{model}: {line}" for model, line in lost.items() if line]


def label_names(source: Checkpoint) -> dict[int, str]:
    """The labels of a checkpoint, by the place of their output; none where nothing says them."""
    return {int(at): str(label) for at, label in (source.config.get("id2label") or {}).items()}


class ModelHandle:
    """What was given as a model, the roles it can take, and what has been loaded of it."""

    def __init__(
        self,
        model: Any,
        options: LoadOptions | None = None,
        *,
        progress: Progress | None = None,
        expected_hash: str | None = None,
    ) -> None:
        """Take a name, a folder, `(model, tokenizer)`, a pipeline, word vectors, or an object that has a role.

        With `expected_hash`, a model with other weights is refused: it is not the one that was audited.
        """
        self.given = model
        self.options = options or LoadOptions()
        self.progress = progress
        self._expected_hash = expected_hash
        self._loaded: dict[tuple[Any, ...], Any] = {}

    @property
    def name(self) -> str:
        """How to call the model in a message."""
        if self.is_named:
            return str(self.given)
        model = self.given[0] if isinstance(self.given, tuple) and self.given else self.given
        return f"the {type(model).__name__}"

    @property
    def is_named(self) -> bool:
        """Whether the model was given by its name or folder, so that it can be loaded again."""
        return isinstance(self.given, str | PathLike)

    @cached_property
    def kind(self) -> Role:
        """The role that the model was made for."""
        return detect_role(self.given, self.options)

    @cached_property
    def can_encode(self) -> bool:
        """Whether the model has vectors for the words of a sentence."""
        return self.kind != "vectors" and can_encode(self.given, self.options)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of a classifier; empty where nothing says them."""
        return classifier_labels(self.given, self.options) if self.kind == "classifier" else []

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that the model can take, its own first."""
        return (self.kind, "encoder") if self.kind in ("masked-lm", "classifier") and self.can_encode else (self.kind,)

    def masked_lm(self) -> MaskedLM:
        """The model as a masked language model."""
        model: MaskedLM = self._load(
            ("masked-lm",), lambda: load_masked_lm(self.given, self.options, progress=self.progress)
        )
        return model

    def classifier(self, *, long_texts: str = "head", most_tokens: int | None = None) -> Classifier | Regressor:
        """The model as a classifier or regressor; it reports no progress of its own."""
        settings: dict[str, Any] = {"long_texts": long_texts, "most_tokens": most_tokens}
        model: Classifier | Regressor = self._load(
            ("classifier", long_texts, most_tokens), lambda: load_classifier(self.given, self.options, **settings)
        )
        return model

    def encoder(self) -> Encoder:
        """The model as an encoder, which shares the weights of what has been loaded."""
        shared = next((model for model in self._loaded.values() if hasattr(model, "tokenizer")), self.given)
        encoder: Encoder = self._load(("encoder",), lambda: load_encoder(shared, self.options))
        return encoder

    def vectors(self, *, most: int | None = None) -> Vectors:
        """The word vectors, at most so many of the first in the file."""
        from unmask.models.word_vectors import load_vectors

        vectors: Vectors = self._load(("vectors", most), lambda: load_vectors(self.given, most=most))
        return vectors

    def load(self, role: Role) -> Any:
        """The model in a role."""
        if role == "vectors":
            return self.vectors()
        if role == "classifier":
            return self.classifier()
        return self.masked_lm() if role == "masked-lm" else self.encoder()

    def info(self) -> ModelInfo:
        """Which model it is, as what was loaded first says it."""
        loaded = next(iter(self._loaded.values()), self.given)
        if hasattr(loaded, "info"):
            info: ModelInfo = loaded.info()
            return info
        return ModelInfo(name=type(loaded).__name__, architecture="own object")

    def _load(self, key: tuple[Any, ...], load: Callable[[], Any]) -> Any:
        if key not in self._loaded:
            model = load()
            if self._expected_hash and hasattr(model, "info") and model.info().weight_hash != self._expected_hash:
                raise UnmaskError(f"the weights at {self.given} are no longer those that were audited")
            self._loaded[key] = model
        return self._loaded[key]


def make_handle(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> ModelHandle:
    """A handle for a model that may be one already."""
    return model if isinstance(model, ModelHandle) else ModelHandle(model, options, progress=progress)


_LOAD: dict[str, Any] = {"masked-lm": load_masked_lm, "classifier": load_classifier, "encoder": load_encoder}


def hash_folder_weights(folder: Path) -> str | None:
    """The hash of the model in a folder; None where there is none that can be loaded without more being allowed."""
    if not any((folder / file).is_file() for file in (CONFIG, ADAPTER)):
        return None
    options = LoadOptions(device="cpu", offline=True)
    try:
        kind = detect_role(folder, options)
        found: str | None = _LOAD[kind](folder, options).info().weight_hash if kind in _LOAD else None
    except UnmaskError:
        return None
    return found
