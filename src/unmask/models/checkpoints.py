"""Finding a checkpoint by its name, and checking that it may be read: safetensors only, no remote code, unless allowed.

A name is that of an embedded model, a folder, or a hub id. A checkpoint is a whole model, or an adapter (PEFT) that
names the model it belongs to.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask import embedded
from unmask.errors import UnmaskError, closest_match
from unmask.models.roles import ADAPTER, CONFIG, MITIGATION, check_mitigation_record
from unmask.options import LoadOptions
from unmask.results.storage import RESULT
from unmask.steps import hide_deprecations

ADAPTER_WEIGHTS = "adapter_model.safetensors"
TOKENIZER_FILES = ("tokenizer*", "vocab*", "*.model", "*.vocab")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was found and looks whole."""

    name: str
    """As the user gave it."""
    place: str
    """A folder or a hub id."""
    config: dict[str, Any]
    options: LoadOptions
    base: Checkpoint | None = None
    """For an adapter: the model that it belongs to."""
    task_type: str = ""
    """For an adapter: what PEFT says that it is for."""

    @property
    def arguments(self) -> dict[str, Any]:
        """What every `from_pretrained` is called with."""
        return {
            "local_files_only": self.options.offline or Path(self.place).is_dir(),
            "trust_remote_code": self.options.allow_remote_code,
        }

    def has(self, file: str) -> bool:
        """Whether the checkpoint brings a file."""
        return self.attempt(lambda: _find_file(self.place, file, self.options)) is not None

    def revision(self) -> str | None:
        """The commit of the hub that the checkpoint is of; None for a folder that is not the hub's cache."""
        file = ADAPTER if self.base else CONFIG
        found = self.attempt(lambda: _find_file(self.place, file, self.options))
        return Path(found).parent.name if found and Path(found).parent.parent.name == "snapshots" else None

    def mitigation(self) -> dict[str, Any] | None:
        """What a mitigation has written beside the model, if it made it."""
        try:
            found = _read_json(self.place, MITIGATION, self.options) or {}
        except (ValueError, OSError):  # it tells where a model comes from, and is not needed to load it
            return None
        return check_mitigation_record(found)

    def attempt(self, load: Callable[[], Any]) -> Any:
        """Loading fails in a hundred ways, most with a traceback; give the first line of the reason."""
        return _try_loading(self.name, self.options, load)


def find_checkpoint(name: str, options: LoadOptions, *, whole: bool = False) -> Checkpoint:
    """Look for a checkpoint (with `whole`, one that is no adapter), and refuse early what cannot be used."""
    place = str(embedded.MODELS[name].folder) if name in embedded.MODELS else name
    folder = Path(place) if _is_folder(place) else None
    if folder is not None:
        _check_folder(folder, options)

    quiet_libraries()
    if folder is None:
        _try_loading(name, options, lambda: _check_hub(name, options))
    adapter = _try_loading(name, options, lambda: _read_json(place, ADAPTER, options))
    config = _try_loading(name, options, lambda: _read_json(place, CONFIG, options)) or {}
    if adapter is not None and whole:
        raise UnmaskError(f"{name} is itself an adapter; merge it into its model first")
    if adapter is not None:
        return _find_adapter(name, place, adapter, config, options)
    if not config and folder is None and options.offline:
        raise _not_available(name, options)
    if not config:
        raise UnmaskError(
            f"{name}: no config.json was found; check the name, or give a folder saved with save_pretrained"
        )
    import transformers

    own_code = "auto_map" in config and config.get("model_type", "") not in transformers.CONFIG_MAPPING
    if own_code and not options.allow_remote_code:
        raise UnmaskError(f"{name} needs Python code of its own; if you trust its author, pass --allow-remote-code")
    return Checkpoint(name, place, config, options)


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
        raise UnmaskError(
            f"{name!r} is neither a folder here nor a hub id; give a model folder, a hub id such as bert-base-uncased,"
            f" or an embedded model such as {embedded.DEFAULT}"
        ) from None
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
    name: str, place: str, adapter: dict[str, Any], config: dict[str, Any], options: LoadOptions
) -> Checkpoint:
    base_name = str(adapter.get("base_model_name_or_path") or "")
    if not base_name:
        raise UnmaskError(
            f"{name} is an adapter that does not name its model; add base_model_name_or_path to {ADAPTER}"
        )
    files = (ADAPTER_WEIGHTS, "adapter_model.bin") if options.allow_pickle else (ADAPTER_WEIGHTS,)
    weights = [
        path
        for path in _try_loading(name, options, lambda: [_find_file(place, file, options) for file in files])
        if path
    ]
    if not weights:
        raise UnmaskError(
            f"{name} has no {ADAPTER_WEIGHTS}; save the adapter as safetensors, or pass --allow-pickle if you trust it"
        )
    try:
        base = find_checkpoint(base_name, options, whole=True)
    except UnmaskError as error:
        raise UnmaskError(f"{name} is an adapter, and its model cannot be had: {error}") from None
    here = str(Path(weights[0]).parent)  # of a hub id too: PEFT asks the network where it is given a name
    return Checkpoint(name, here, {**base.config, **config}, options, base, str(adapter.get("task_type") or ""))


def _find_file(place: str, file: str, options: LoadOptions) -> str | None:
    from transformers.utils import cached_file

    offline = options.offline or Path(place).is_dir()
    found: str | None = cached_file(place, file, local_files_only=offline, _raise_exceptions_for_missing_entries=False)
    return found


def _read_json(place: str, file: str, options: LoadOptions) -> dict[str, Any] | None:
    found = _find_file(place, file, options)
    if found is None:
        return None
    content = json.loads(Path(found).read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{file} holds no JSON object")
    return content


def _is_folder(name: str) -> bool:
    if Path(name).is_dir():
        return True
    if Path(name).exists():
        raise UnmaskError(f"{name} is a file; give the folder that holds config.json and the weights")
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name or not name.strip():
        raise UnmaskError(
            f"folder {name!r} does not exist; give a model folder, a hub id such as bert-base-uncased,"
            f" or an embedded model such as {embedded.DEFAULT}"
        )
    return False


def _check_folder(folder: Path, options: LoadOptions) -> None:
    adapter = (folder / ADAPTER).is_file()
    if not adapter and not (folder / CONFIG).is_file():
        if (folder / MITIGATION).is_file():
            raise UnmaskError(f"{folder} holds debiased word vectors, and no model; give a model folder")
        if (folder / RESULT).is_file():
            raise UnmaskError(f"{folder} is the folder of an audit, and no model; give the model that was audited")
        raise UnmaskError(f"{folder} has no config.json; give a folder saved with save_pretrained")
    if not adapter and not any(path for pattern in TOKENIZER_FILES for path in folder.glob(pattern)):
        raise UnmaskError(f"{folder} has no tokenizer (tokenizer.json, vocab.txt …); save the tokenizer there as well")
    whole = [path for path in folder.glob("*.safetensors") if path.name != ADAPTER_WEIGHTS]
    if (folder / ADAPTER_WEIGHTS).is_file() if adapter else whole:
        return
    if options.allow_pickle:
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
    why = "not in the local cache, and the hub may not be asked (offline)" if offline else "not found on the hub"
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
