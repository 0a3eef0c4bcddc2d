"""`unmask mitigate MODEL --method NAME --out DIR`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from unmask.cli.generate import with_options
from unmask.cli.options import Json

if TYPE_CHECKING:
    from unmask.mitigations.method import MitigateOptions


def _list(value: bool) -> None:
    """Show what methods there are, and what can be set."""
    if value:
        from unmask.cli.output import show_methods

        show_methods()
        raise typer.Exit


@with_options("unmask.mitigations.method:MitigateOptions")
def command(
    options: MitigateOptions,
    *,
    methods: Annotated[
        bool,
        typer.Option("--methods", callback=_list, is_eager=True, help="Show every method with its settings, and exit."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Debias a model, and write it as a normal model folder that loads anywhere.

    Beside the weights stand mitigation.json (how it was made, from which weights, on what text) and a model card. The
    folder is loaded again and compared before it is left to you. An interrupted run goes on with the same command, and
    ends with the same weights.

    Examples:

    - `unmask mitigate unmask-mini --method cds --out debiased` (fine-tune on GAP, people and names exchanged)
    - `unmask mitigate bert-base-uncased --method leace --corpus texts.txt --out erased`
    - `unmask mitigate vectors.bin --method hard-debias --set format=glove --out debiased-vectors`
    - `unmask compare unmask-mini debiased` (did it help, and at what cost?)
    """
    del methods
    from unmask.cli.output import show_mitigation
    from unmask.cli.progress import bar, training
    from unmask.mitigations.mitigate import mitigate_model

    options.check()
    with training() as (say, watch), bar("Working through the text") as progress:
        record = mitigate_model(options, say=say, watch=watch, progress=progress)
    show_mitigation(record, options.out, as_json=as_json)
