"""Finding a checkpoint by its name, checking that it may be read, and detecting the role that it was made for.

Only safetensors are read, and no remote code is run, unless allowed.

A name is that of an embedded model, a folder, or a hub id. A checkpoint is a whole model, or an adapter (PEFT) that
names the model it belongs to.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeGuard

from unmask import embedded
from unmask.errors import UnmaskError, closest_match
from unmask.models.roles import (
    ADAPTER,
    CONFIG,
    MITIGATION,
    Classifier,
    Encoder,
    MaskedLM,
    Regressor,
    read_mitigation_record,
)
from unmask.models.word_vectors import is_word_vectors
from unmask.options import LoadOptions
from unmask.results.storage import RESULT
from unmask.steps import hide_deprecations

ADAPTER_WEIGHTS = "adapter_model.safetensors"
TOKENIZER_FILES = ("tokenizer*", "vocab*", "*.model", "*.vocab")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
NAMES = f"give a model folder, a hub id such as bert-base-uncased, or an embedded model such as {embedded.DEFAULT}"
CLASSIFIES = "ForSequenceClassification"
"""How the names of classifiers' architectures end."""
Role = Literal["masked-lm", "classifier", "encoder", "vectors"]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was found and looks complete."""

    name: str
    """As the user gave it."""
    location: str
    """A folder or a hub id."""
    config: dict[str, Any]
    options: LoadOptions
    base: Checkpoint | None = None
    """For an adapter: the model that it belongs to."""
    task_type: str = ""
    """For an adapter: its task type in PEFT."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What every `from_pretrained` is called with."""
        return {
            "local_files_only": self.options.offline or Path(self.location).is_dir(),
            "trust_remote_code": self.options.allow_remote_code,
        }

    @property
    def architectures(self) -> list[str]:
        """The names of the model classes that the checkpoint was saved from."""
        names = [str(name) for name in self.config.get("architectures") or ()]
        return [*names, f"PeftModel{CLASSIFIES}"] if self.task_type == "SEQ_CLS" else names

    @property
    def classifier_type(self) -> str:
        """The architecture that makes the checkpoint a classifier; empty if none does."""
        return next((name for name in self.architectures if name.endswith(CLASSIFIES)), "")

    @property
    def labels(self) -> list[str]:
        """The labels in the order of the outputs; empty where the checkpoint does not name them."""
        names = {int(index): str(label) for index, label in (self.config.get("id2label") or {}).items()}
        return [names[index] for index in sorted(names)]

    @property
    def identity(self) -> dict[str, Any]:
        """The name, the mitigation record and the commit on the hub: settings of `LoadedModel`."""
        config = self.find_file(ADAPTER if self.base else CONFIG)
        commit = Path(config).parent if config else None
        record = self.find_file(MITIGATION)
        return {
            "name": self.name,
            "mitigation": read_mitigation_record(record) if record else {},
            "revision": commit.name if commit and commit.parent.name == "snapshots" else None,
        }

    def find_file(self, file: str) -> str | None:
        """Find a file of the checkpoint; None if it has none of this name."""
        path: str | None = self.attempt(lambda: _find_file(self.location, file, self.options))
        return path

    def attempt(self, load: Callable[[], Any]) -> Any:
        """Loading fails in a hundred ways, most with a traceback; give the first line of the reason."""
        return _try_loading(self.name, self.options, load)


def find_checkpoint(name: str, options: LoadOptions, *, whole: bool = False) -> Checkpoint:
    """Find a checkpoint, and raise early errors for what cannot be used; with `whole`, an adapter is one."""
    location = str(embedded.MODELS[name].folder) if name in embedded.MODELS else name
    is_folder = _is_folder(location)
    if is_folder:
        _check_folder(Path(location), options)
    quiet_libraries()
    if not is_folder:
        _try_loading(name, options, lambda: _check_hub(name, options))
    adapter, config = (
        _try_loading(name, options, partial(_read_json, location, file, options)) for file in (ADAPTER, CONFIG)
    )
    if adapter is not None and whole:
        raise UnmaskError(f"{name} is itself an adapter; merge it into its model first")
    if adapter is not None:
        return _find_adapter(name, location, adapter, config or {}, options)
    if not config and not is_folder and options.offline:
        raise _not_available(name, options)
    if not config:
        raise UnmaskError(
            f"{name}: no config.json was found; check the name, or give a folder saved with save_pretrained"
        )
    import transformers

    own_code = "auto_map" in config and config.get("model_type", "") not in transformers.CONFIG_MAPPING
    if own_code and not options.allow_remote_code:
        raise UnmaskError(f"{name} needs Python code of its own; if you trust its author, pass --allow-remote-code")
    return Checkpoint(name, location, config, options)


def quiet_libraries() -> None:
    """Hide what model libraries report to programmers: progress bars, log messages and deprecation warnings."""
    hide_deprecations()

    import huggingface_hub
    import transformers

    transformers.utils.logging.disable_progress_bar()
    for library in (transformers, huggingface_hub):
        library.utils.logging.set_verbosity_error()
    logging.getLogger("accelerate").setLevel(logging.ERROR)  # it logs tied weights at every checkpoint


def _check_hub(name: str, options: LoadOptions) -> None:
    """Find out soon, not after retries, whether a hub id that is not in the cache can be had."""
    import huggingface_hub

    try:
        cached = huggingface_hub.try_to_load_from_cache(name, CONFIG)
    except huggingface_hub.errors.HFValidationError:
        raise UnmaskError(f"{name!r} is neither a folder here nor a hub id; {NAMES}") from None
    if not cached and not options.offline:
        huggingface_hub.HfApi().model_info(name, timeout=10)


def choose_device(name: str) -> str:
    """The device to use: the fastest there is for `auto`, else the one that was named, if it works."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(1, device=name).item()  # the device `meta` computes nothing
    except (RuntimeError, AssertionError, NotImplementedError):
        raise UnmaskError(
            f"device {name!r} cannot be used here; try --device cpu, or auto for the best there is"
        ) from None
    return name


def _find_adapter(
    name: str, location: str, adapter: dict[str, Any], config: dict[str, Any], options: LoadOptions
) -> Checkpoint:
    base_name = str(adapter.get("base_model_name_or_path") or "")
    if not base_name:
        raise UnmaskError(
            f"{name} is an adapter that does not name its model; add base_model_name_or_path to {ADAPTER}"
        )
    files = (ADAPTER_WEIGHTS, "adapter_model.bin") if options.allow_pickle else (ADAPTER_WEIGHTS,)
    paths = _try_loading(name, options, lambda: [_find_file(location, file, options) for file in files])
    weights = next(filter(None, paths), None)
    if weights is None:
        raise UnmaskError(
            f"{name} has no {ADAPTER_WEIGHTS}; save the adapter as safetensors, or pass --allow-pickle if you trust it"
        )
    try:
        base = find_checkpoint(base_name, options, whole=True)
    except UnmaskError as error:
        raise UnmaskError(f"{name} is an adapter, and its model cannot be had: {error}") from None
    folder = str(Path(weights).parent)  # of a hub id too: PEFT asks the network where it is given a name
    return Checkpoint(name, folder, {**base.config, **config}, options, base, str(adapter.get("task_type") or ""))


def _find_file(location: str, file: str, options: LoadOptions) -> str | None:
    from transformers.utils import cached_file

    offline = options.offline or Path(location).is_dir()
    path: str | None = cached_file(
        location, file, local_files_only=offline, _raise_exceptions_for_missing_entries=False
    )
    return path


def _read_json(location: str, file: str, options: LoadOptions) -> dict[str, Any] | None:
    path = _find_file(location, file, options)
    if path is None:
        return None
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{file} holds no JSON object")
    return content


def _is_folder(name: str) -> bool:
    if Path(name).is_dir():
        return True
    if Path(name).exists():
        raise UnmaskError(f"{name} is a file; give the folder that holds config.json and the weights")
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name or not name.strip():
        raise UnmaskError(f"folder {name!r} does not exist; {NAMES}")
    return False


def _check_folder(folder: Path, options: LoadOptions) -> None:
    is_adapter = (folder / ADAPTER).is_file()
    if not is_adapter and not (folder / CONFIG).is_file():
        if (folder / MITIGATION).is_file():
            raise UnmaskError(f"{folder} holds debiased word vectors, and no model; give a model folder")
        if (folder / RESULT).is_file():
            raise UnmaskError(f"{folder} is the folder of an audit, and no model; give the model that was audited")
        raise UnmaskError(f"{folder} has no config.json; give a folder saved with save_pretrained")
    if not is_adapter and not any(path for pattern in TOKENIZER_FILES for path in folder.glob(pattern)):
        raise UnmaskError(f"{folder} has no tokenizer (tokenizer.json, vocab.txt …); save the tokenizer there as well")
    weights = [path.name for path in folder.glob("*.safetensors") if (path.name == ADAPTER_WEIGHTS) == is_adapter]
    if weights or options.allow_pickle:
        return
    pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if pickles:
        raise UnmaskError(
            f"{folder} has its weights only as pickle ({pickles[0]}), which can run code when loaded;"
            " convert it to safetensors, or pass --allow-pickle if you trust it"
        )
    raise UnmaskError(f"{folder} has no weights (*.safetensors); give a folder saved with save_pretrained")


def _try_loading(name: str, options: LoadOptions, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (KeyboardInterrupt, UnmaskError, MemoryError):
        raise
    except Exception as error:
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        if _is_unreachable(error):
            raise _not_available(name, options) from None
        raise UnmaskError(
            f"{name} cannot be loaded ({reason[:300].rstrip('.')});"
            " check its files, or save it anew with save_pretrained"
        ) from None


def _not_available(name: str, options: LoadOptions) -> UnmaskError:
    offline = options.offline or os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0")
    why = "not in the local cache, and the hub cannot be reached offline" if offline else "not found on the hub"
    close = closest_match(name, embedded.MODELS)
    hint = f"did you mean {close!r}?" if close else "check the name and the network, or give a model folder"
    return UnmaskError(f"{name} is no folder here, and {why}; {hint}")


def _is_unreachable(error: BaseException | None) -> bool:
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled | HfHubHTTPError | ConnectionError):
            return True
        if type(error).__module__.partition(".")[0].startswith(("httpx", "httpcore", "requests", "socket")):
            return True  # whichever client the hub's library uses
        error = error.__cause__ or error.__context__
    return False


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
        raise UnmaskError(f"{source.name} is {problem}; give a masked language model such as BERT")


def can_encode(model: Any, options: LoadOptions | None = None) -> bool:
    """Whether a model has vectors of words in sentences, by its configuration."""
    if isinstance(model, Encoder):
        return not isinstance(model, type)
    config = read_config(model, options)
    return config is not None and not _encoder_problem(config)


def check_encoder(name: str, config: Mapping[str, Any]) -> None:
    """Raise an error for a model that does not read in both directions: a decoder, or an encoder with a decoder."""
    if problem := _encoder_problem(config):
        raise UnmaskError(f"{name} {problem}; give an encoder such as BERT")


def _encoder_problem(config: Mapping[str, Any]) -> str:
    """Return why a model is no encoder; empty if it may be one."""
    from transformers.models.auto import modeling_auto

    model_type = config.get("model_type", "")
    if config.get("is_encoder_decoder"):
        return f"is of type {model_type!r}, an encoder with a decoder"
    causal, masked = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_decoder = (model_type in causal and model_type not in masked) or config.get("is_decoder")
    return f"is of type {model_type!r}, a decoder" if is_decoder else ""
