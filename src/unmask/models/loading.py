"""From a name, a folder or loaded objects to a model: safetensors only, and no remote code, unless allowed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, listed
from unmask.models.interfaces import MaskedLM, Progress

TOKENIZER_FILES = ("tokenizer*", "vocab*", "*.model", "*.vocab")


@dataclass(frozen=True)
class LoadOptions:
    """What loading may do, and where the model goes."""

    device: str = "auto"
    offline: bool = False
    allow_pickle: bool = False
    """Load weights in pickle files, which can run code of their author's."""
    allow_remote_code: bool = False
    """Run Python code that comes with the model."""


def load_masked_lm(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> MaskedLM:
    """A masked language model from a hub id, a folder, `(model, tokenizer)`, a pipeline, or an object that is one."""
    options = options or LoadOptions()
    if isinstance(model, str | os.PathLike):
        return _from_name(str(model), options, progress)
    if isinstance(model, MaskedLM):
        return model
    parts = model if isinstance(model, tuple) else (getattr(model, "model", None), getattr(model, "tokenizer", None))
    if len(parts) == 2 and hasattr(parts[0], "state_dict") and hasattr(parts[1], "mask_token_id"):
        from unmask.models.masked_lm import TransformersMaskedLM

        return TransformersMaskedLM(*parts, progress=progress)
    raise UnmaskError(
        f"cannot audit a {type(model).__name__}; give a hub id, a folder, (model, tokenizer),"
        " or an object with a log_probability method"
    )


def _from_name(name: str, options: LoadOptions, progress: Progress | None) -> MaskedLM:
    is_folder = _is_folder(name)
    if is_folder:
        _check_folder(Path(name), options)

    import huggingface_hub
    import torch
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    from unmask.models.masked_lm import TransformersMaskedLM

    transformers.utils.logging.disable_progress_bar()
    for library in (transformers, huggingface_hub):
        library.utils.logging.set_verbosity_error()
    source: dict[str, Any] = {"local_files_only": options.offline or is_folder}
    code = {"trust_remote_code": options.allow_remote_code}
    device = _device(options.device)

    if not is_folder and not options.offline and not huggingface_hub.try_to_load_from_cache(name, "config.json"):
        _try(
            name, options, lambda: huggingface_hub.HfApi().model_info(name, timeout=10)
        )  # fails soon, not after retries
    config = _try(name, options, lambda: transformers.PretrainedConfig.get_config_dict(name, **source)[0])
    if not config:
        raise UnmaskError(
            f"{name}: no config.json was found; check the name, or give a folder saved with save_pretrained"
        )
    kind = config.get("model_type", "")
    if "auto_map" in config and kind not in transformers.CONFIG_MAPPING and not options.allow_remote_code:
        raise UnmaskError(f"{name} needs Python code of its own; if you trust its author, pass --allow-remote-code")
    if "auto_map" not in config and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise UnmaskError(
            f"{name} is of type {kind or 'unknown'!r}; association needs a masked language model such as BERT"
        )
    tokenizer = _try(name, options, lambda: transformers.AutoTokenizer.from_pretrained(name, **source, **code))
    if tokenizer.mask_token_id is None:
        raise UnmaskError(f"{name} has no mask token; association needs a masked language model")
    model, report = _try(
        name,
        options,
        lambda: transformers.AutoModelForMaskedLM.from_pretrained(
            name,
            **source,
            **code,
            dtype=torch.float32,
            use_safetensors=None if options.allow_pickle else True,
            output_loading_info=True,
        ),
    )
    if report["missing_keys"]:
        raise UnmaskError(
            f"{name} has no weights for {listed(sorted(report['missing_keys']), 2)}: it was not saved as a masked"
            " language model, and its answers would be random"
        )
    return TransformersMaskedLM(model.to(device), tokenizer, name=name, progress=progress)


def _is_folder(name: str) -> bool:
    if Path(name).is_dir():
        return True
    if Path(name).exists():
        raise UnmaskError(f"{name} is a file; give the folder that holds config.json and the weights")
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name or not name.strip():
        raise UnmaskError(f"folder {name!r} does not exist; give a model folder or a hub id such as bert-base-uncased")
    return False


def _check_folder(folder: Path, options: LoadOptions) -> None:
    if not (folder / "config.json").is_file():
        raise UnmaskError(f"{folder} has no config.json; give a folder saved with save_pretrained")
    if not any(path for pattern in TOKENIZER_FILES for path in folder.glob(pattern)):
        raise UnmaskError(f"{folder} has no tokenizer (tokenizer.json, vocab.txt …); save the tokenizer there as well")
    if any(folder.glob("*.safetensors")) or options.allow_pickle:
        return
    pickles = sorted(path.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for path in folder.glob(pattern))
    if pickles:
        raise UnmaskError(
            f"{folder} has its weights only as pickle ({pickles[0]}), which can run code when loaded;"
            " convert it to safetensors, or pass --allow-pickle if you trust it"
        )
    raise UnmaskError(f"{folder} has no weights (*.safetensors); give a folder saved with save_pretrained")


def _try(name: str, options: LoadOptions, load: Any) -> Any:
    """Loading fails in a hundred ways, most with a traceback; give the first line of the reason."""
    try:
        return load()
    except (KeyboardInterrupt, UnmaskError, MemoryError):
        raise
    except Exception as error:
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        if _unreachable(error):
            offline = options.offline or os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0")
            why = "is not in the local cache and --offline is set" if offline else "cannot be reached on the hub"
            raise UnmaskError(
                f"{name} is not a folder here and {why}; check the name, or give a model folder"
            ) from None
        raise UnmaskError(f"{name} cannot be loaded: {reason[:300]}") from None


def _unreachable(error: BaseException | None) -> bool:
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    while error is not None:
        if isinstance(error, LocalEntryNotFoundError | OfflineModeIsEnabled | HfHubHTTPError | ConnectionError):
            return True
        if type(error).__module__.partition(".")[0].startswith(("httpx", "httpcore", "requests", "socket")):
            return True  # whichever client the hub's library uses
        error = error.__cause__ or error.__context__
    return False


def _device(name: str) -> str:
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UnmaskError(
            f"device {name!r} cannot be used here ({str(error).splitlines()[0][:120]}); try --device cpu"
        ) from None
    return name
