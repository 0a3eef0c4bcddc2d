"""From a base model and examples to a model folder: load, train, test, save.

The folder is a normal one (`save_pretrained`), or a PEFT adapter, with `metrics.json` next to the weights.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib import metadata
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.files import atomic_folder
from unmask.models import tokenization
from unmask.models.batching import max_tokens, weight_hash
from unmask.models.loading import Trainable, load_trainable
from unmask.training import checkpoints
from unmask.training.checkpoints import Workspace
from unmask.training.examples import SPLITS, TASK_LAYOUTS, Splits, order_labels
from unmask.training.loop import TrainingState, Watch, evaluate, fit, make_accelerator
from unmask.training.options import FinetuneOptions
from unmask.training.tasks import Classification, MaskedLanguageModelling, Task

FEW = 50
LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers", "numpy")

Say = Callable[[str], None]


def finetune_model(
    request: FinetuneOptions, *, data: Splits | None = None, watch: Watch | None = None, say: Say | None = None
) -> dict[str, Any] | None:
    """Train and save; the same request resumes an interrupted run.

    `data` are examples in place of those that the request names. Returns the content of `metrics.json`, or None in all
    processes but the first.
    """
    request.check()
    accelerator = make_accelerator(request.settings, request.loading)
    if say is None or not accelerator.is_main_process:
        say = _say_nothing
    if data is None:
        if request.data or request.train:
            say(f"Reading {request.data or request.train}")
        data = request.examples(seed=request.seed, offline=request.offline)
    base = _load_base(request, data)
    takes = tokenization.token_limit(None, max_tokens(base.model), base.tokenizer, request.model)  # as when reloaded
    length = min(request.max_length, takes or request.max_length)
    task: Task
    if base.labels:
        task = Classification(base.tokenizer, base.labels, length)
    else:
        task = MaskedLanguageModelling(base.tokenizer, length, seed=request.seed)
    features = {name: task.features(examples) if (examples := getattr(data, name)) else [] for name in SPLITS}
    for name in SPLITS[:2]:
        if not features[name]:
            raise UnmaskError(f"no {name} example has a word that the model knows; give other texts")
    base_weights = weight_hash(base.model)
    model = base.model
    if request.lora_rank:
        model = checkpoints.add_adapters(model, request.lora_rank, base.trained_whole, base=request.model)
    workspace = Workspace(request.out)
    resumes = _claim_workspace(workspace, request, data, base_weights, accelerator)
    few = " (few: give --validation, or a larger --held-out)" if len(data.validation) < FEW else ""
    say(
        f"{'Resuming' if resumes else 'Training'} {request.model} on {len(data.train):,} examples,"
        f" {len(data.validation):,} to validate{few}{f', {len(data.test):,} to test' if data.test else ''}"
    )
    if base.lost_head:
        say(f"{request.model}: {base.lost_head}")
    train, validation = features["train"], features["validation"]
    state = fit(model, task, train, validation, request.settings, workspace, accelerator=accelerator, watch=watch)
    metrics = {
        name: evaluate(model, task, features[name], accelerator, rows=request.batch_size)
        for name in SPLITS[1:]
        if features[name]
    }
    record = _describe_run(request, length, data, state, metrics, model, accelerator)
    if accelerator.is_main_process:
        with atomic_folder(request.out) as draft:
            if request.lora_rank:
                checkpoints.save_adapter(model, base.model, base.tokenizer, draft)
            else:
                checkpoints.save_model(model, base.tokenizer, draft)
            (draft / "metrics.json").write_text(json.dumps(record, indent=2), encoding="utf-8")
            checkpoints.make_readable(draft)
        workspace.remove()
    accelerator.wait_for_everyone()
    return record if accelerator.is_main_process else None


def _say_nothing(line: str) -> None:
    del line


def _load_base(request: FinetuneOptions, data: Splits) -> Trainable:
    labels = None
    if TASK_LAYOUTS[request.task].has_labels:
        labels = order_labels(request.task, [*data.train, *data.validation])
    base = load_trainable(request.model, request.loading, labels=labels, architecture=request.architecture)
    if base.is_adapter and request.lora_rank:
        raise UnmaskError(
            f"{request.model} is an adapter, and an adapter on an adapter could not be loaded; leave out --lora-rank,"
            " or give the model that it belongs to"
        )
    return base


def _claim_workspace(
    workspace: Workspace, request: FinetuneOptions, data: Splits, base_weights: str, accelerator: Any
) -> bool:
    """Claim the workspace for this run, which is another one if anything that changes its course differs."""
    run = {
        "task": request.task,
        "model": request.model,
        "max_length": request.max_length,
        "lora_rank": request.lora_rank,
        "architecture": dict(request.architecture),
        **request.settings.model_dump(exclude={"save_every"}),
        "precision": str(accelerator.mixed_precision),
        "number of processes": accelerator.num_processes,
        "base weights": base_weights,
        **{f"{name} examples": digest for name, digest in data.hashes().items() if name != "test"},
    }
    resumes = accelerator.is_main_process and workspace.claim(run, restart=request.restart)
    accelerator.wait_for_everyone()
    if accelerator.process_index:
        torch.manual_seed(request.seed + accelerator.process_index)  # not the dropout of another process
    return bool(resumes)


def _describe_run(
    request: FinetuneOptions,
    length: int,
    data: Splits,
    state: TrainingState,
    metrics: dict[str, Any],
    model: Any,
    accelerator: Any,
) -> dict[str, Any]:
    """Describe the run: the content of `metrics.json`."""
    return {
        "task": request.task,
        "base_model": request.model,
        "data": request.data or (None if request.train is None else str(request.train)),
        "examples": {name: len(getattr(data, name)) for name in SPLITS},
        "data_hashes": data.hashes(),
        "settings": {
            **request.settings.model_dump(),
            "max_length": length,
            "lora_rank": request.lora_rank,
            "held_out": request.held_out,
            "architecture": dict(request.architecture),
        },
        "metrics": metrics,
        "best_step": state.best_step,
        "steps": state.step,
        "seconds": round(state.seconds, 1),
        "history": state.history,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "trained_parameters": sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad),
        "device": f"{accelerator.num_processes} × {accelerator.device.type}",
        "mixed_precision": accelerator.mixed_precision,
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
    }
