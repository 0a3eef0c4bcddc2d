"""`unmask study run lipstick-static`."""

from __future__ import annotations

from typing import Annotated

import typer

from unmask.cli.options import Json, Offline, ProtocolName
from unmask.cli.studies.options import Address, Cpus, EngineName, Gpus, Out, carry_out

NAME = "lipstick-static"
ABOUT = "Word vectors before and after hard debiasing: clusters, neighbours, classifiers (Gonen and Goldberg 2019)."


def command(
    out: Out,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE of word vectors (word2vec, GloVe, NumPy); can be given several times. Default: word2vec and"
            " GloVe of the data set vectors."
        ),
    ] = None,
    debiased: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE, or a folder of unmask mitigate: the debiased version of the vectors of that name. Default:"
            " made by hard-debias."
        ),
    ] = None,
    protocol: ProtocolName = "sound",
    words: Annotated[int | None, typer.Option(help="Read so many words of each file, for a trial.")] = None,
    contrasts: Annotated[int, typer.Option(help="Sound: with how many other contrasts gender is compared.")] = 99,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Annotated[int, typer.Option(min=0, help="Seeds clusters, contrasts, splits and maps.")] = 42,
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Is gender gone from word vectors after hard debiasing, or only hidden? Table 1, Figures 2 and 3.

    The words that were most biased before are clustered, classified, and their neighbours counted, before and after.
    sound sets every value beside what contrasts give that have nothing to do with gender, and removes their direction
    in turn; published repeats the code of Gonen and Goldberg.

    A cell is done once and kept under --out; when a run is stopped, the same command goes on.

    Examples:

    - `unmask study run lipstick-static --out lipstick` (word2vec and GloVe from UNMASK_DATA; half an hour)
    - `unmask study run lipstick-static --vectors mine=vectors.txt --words 5000 --contrasts 19 --out trial`
    - `unmask study run lipstick-static --protocol published --out lipstick-published`
    """
    from unmask import api
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.lipstick.study import Request

    request = Request(
        static=True,
        vectors=tuple(vectors or ()),
        debiased=tuple(debiased or ()),
        protocol=protocol,
        words=words,
        contrasts=contrasts,
        seed=seed,
        loading=LoadOptions(offline=offline),
    )
    carry_out(api.run_lipstick_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)
