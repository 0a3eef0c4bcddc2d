"""`unmask compare BEFORE AFTER…`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline
from unmask.errors import UnmaskError


def command(
    before: Annotated[
        str,
        typer.Argument(
            help="The audit folder to start from; or a model, which is then audited: a folder, a hub id, word vectors."
        ),
    ],
    after: Annotated[list[str], typer.Argument(help="One or more audit folders or models to compare with it.")],
    language: Annotated[
        list[str] | None,
        typer.Option(help="en or de, for models. Default: as the first audit among those given was made, or en."),
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="sound or published, for models. Default: that of the first audit, or sound.")
    ] = None,
    text: Annotated[
        Path | None,
        typer.Option(
            help="Neutral text to measure usefulness on: .txt, one sentence a line, or a table with a column 'text'."
            " Default: the package's own sentences."
        ),
    ] = None,
    no_usefulness: Annotated[
        bool, typer.Option("--no-usefulness", help="Leave usefulness out. Geometry still loads models.")
    ] = False,
    task: Annotated[
        list[str] | None,
        typer.Option(
            help="sentiment or nli: also fine-tune every model alike and compare accuracies. Takes long. May be given"
            " twice; of four models or more the classifiers are audited, too."
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help="A known data set for each --task, in the same order: imdb (sentiment), snli (nli)."),
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Examples of your own for --task, as in unmask finetune.")] = None,
    test: Annotated[Path | None, typer.Option(help="What accuracies are measured on, with --train.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; it must not exist. Default: comparisons/NAME, numbered if taken."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Chooses which words are masked together, permutations beyond counting, training."),
    ] = 42,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps …")] = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Say what changed between two models: the bias, how surely, and what it cost.

    Pairs the items of two or more audits, sentence by sentence and word by word, and leaves a folder with result.json
    and report.html. The verdict is improved, no reliable change, overshot (the bias was reversed) or worse. Where the
    audited models are still there, words that were most biased before are asked of them again, and it is measured
    whether they fill in neutral words as well as before. Of four models or more it says whether the measures agree.

    Examples:

    - `unmask compare audits/unmask-mini audits/my-debiased`
    - `unmask compare unmask-mini ./my-debiased --out comparisons/mine` (audits both first)
    - `unmask compare audits/bert ./bert-cds ./bert-sent-debias` (several at once, each judged on its own)
    - `unmask compare bert-base-uncased ./bert-cds --task sentiment --data imdb`
    - `unmask compare vectors.bin ./hard-debiased` (word vectors, and what unmask mitigate has made of them)
    """
    from contextlib import ExitStack

    from unmask import api
    from unmask.cli.output import finish
    from unmask.cli.progress import bar, training
    from unmask.files import refuse_existing
    from unmask.results.storage import free_name

    if out is not None:
        refuse_existing(out)
    if text is not None and no_usefulness:
        raise UnmaskError(f"--text {text} is for usefulness, and --no-usefulness leaves that out; give one of them")
    with ExitStack() as shown:
        say, watch = shown.enter_context(training()) if task else (None, None)
        progress = None if task else shown.enter_context(bar("Scoring"))
        compared = api.compare(
            before,
            *after,
            languages=tuple(language or ()),
            protocol=protocol,
            usefulness=not no_usefulness,
            text=text,
            task=task or (),
            data=data or (),
            train=train,
            test=test,
            seed=seed,
            device=device,
            offline=offline,
            allow_pickle=allow_pickle,
            allow_remote_code=allow_remote_code,
            progress=progress,
            say=say,
            watch=watch,
        )
    names = [compared.result.before.name, *(side.name for side in compared.result.after)]
    finish(compared, out or free_name(" vs ".join(names), Path("comparisons")), as_json=as_json)
