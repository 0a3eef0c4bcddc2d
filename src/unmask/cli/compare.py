"""`unmask compare BEFORE AFTER…`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unmask import embedded
from unmask.cli.generate import Json, with_options

if TYPE_CHECKING:
    from unmask.workflows.compare import CompareOptions


def complete_models(incomplete: str) -> list[str]:
    """The embedded models that a name can become."""
    return [name for name in embedded.MODELS if name.startswith(incomplete)]


@with_options("unmask.workflows.compare:CompareOptions")
def command(
    options: CompareOptions,
    before: Annotated[
        str,
        typer.Argument(
            help="The audit folder to start from; or a model, which is then audited: a folder, a hub id, word vectors.",
            autocompletion=complete_models,
        ),
    ],
    after: Annotated[
        list[str],
        typer.Argument(help="One or more audit folders or models to compare with it.", autocompletion=complete_models),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; it must not exist. Default: comparisons/NAME, numbered if taken."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what changed between two models: the bias, how surely, and what it cost.

    Pairs the items of two or more audits, sentence by sentence and word by word, and writes a folder with result.json
    and report.html. The verdict is improved, no reliable change, negligible change, overshot (the bias was reversed),
    worse or inconclusive, with what it cost; it is about these checkpoints, unless several runs are given. Where the
    audited models still exist, they are also scored on the words that were most biased before, and on how well they
    fill in neutral words. With eight models or more, the result shows whether the measures agree.

    Examples:

    - `unmask compare audits/unmask-mini audits/my-debiased`
    - `unmask compare unmask-mini ./my-debiased --out comparisons/mine` (audits both first)
    - `unmask compare audits/bert ./bert-cds ./bert-sent-debias` (several at once, each judged on its own)
    - `unmask compare bert-base-uncased --against ./run-1 ./run-2 ./run-3` (training runs, judged as one)
    - `unmask compare bert-base-uncased ./bert-cds --task sentiment --data imdb`
    - `unmask compare vectors.bin ./hard-debiased` (word vectors, and what unmask mitigate has made of them)
    """
    from unmask.cli.output import show_bar, show_result, show_training
    from unmask.files import check_new_path
    from unmask.results.storage import free_name
    from unmask.workflows.compare import compare

    if out is not None:
        check_new_path(out)
    with ExitStack() as stack:
        say, watch = stack.enter_context(show_training()) if options.task else (None, None)
        progress = None if options.task else stack.enter_context(show_bar("Scoring"))
        compared = compare(before, *after, **dict(options), progress=progress, say=say, watch=watch)
    names = [compared.result.before.name, *(side.name for side in compared.result.after)]
    show_result(compared, out or free_name(" vs ".join(names), Path("comparisons")), as_json=as_json)
