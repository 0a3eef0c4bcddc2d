"""Fine-tuning inside a cell: it goes on where an earlier attempt stopped, and tells how it goes now and then."""

from __future__ import annotations

import json
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.studies.cells import Say
from unmask.training import finetune
from unmask.training.checkpoints import Workspace
from unmask.training.examples import Splits
from unmask.training.loop import News
from unmask.training.options import FinetuneOptions

METRICS = "metrics.json"


def tune(request: FinetuneOptions, data: Splits, say: Say) -> None:
    """Train; a checkpoint that cannot be used, damaged or of a machine that computes otherwise, is given up."""
    has_checkpoint, watch = Workspace(request.out).has_checkpoint(), _Telling(say)
    try:
        finetune.finetune_model(request, data=data, watch=watch, say=say)
    except UnmaskError as error:
        if not has_checkpoint or watch.steps:
            raise
        say(f"beginning again, since it cannot go on: {error}")
        finetune.finetune_model(request.replace(restart=True), data=data, watch=watch, say=say)


def tokens_of(model: Path) -> int:
    """How many tokens of a text a trained classifier has learned from: what was asked for, or all that it can read."""
    record = json.loads((model / METRICS).read_text(encoding="utf-8"))
    return int(record["settings"]["max_length"])


class _Telling:
    """Training tells how it goes a few times an epoch, not at every step."""

    def __init__(self, say: Say) -> None:
        self._say, self._tenth, self.steps = say, -1, 0

    def __call__(self, news: News) -> None:
        self.steps += 1
        tenth = 10 * news.step // news.steps
        if tenth != self._tenth or news.evaluation is not None:
            self._tenth = tenth
            checked = f", validation accuracy {news.evaluation['accuracy']:.4f}" if news.evaluation else ""
            self._say(f"step {news.step:,} of {news.steps:,}, loss {news.loss:.3f}{checked}")
