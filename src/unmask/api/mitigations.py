"""`unmask.mitigate(…)`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import auditing
from unmask.models.sources import LoadOptions

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress


def mitigate(
    model: str | PathLike[str],
    method: str,
    out: str | PathLike[str],
    *,
    corpus: Sequence[str] | str = (),
    protocol: str = "sound",
    language: str = "en",
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Debias a model and write it to a folder; gives what the folder's `mitigation.json` holds.

    `method` is cds, cda, context-debias, sent-debias, leace, or hard-debias (for a file of word vectors); `corpus` the
    text to learn from (gap, imdb, files). Further arguments are the method's own settings, such as `epochs=1`
    (`unmask mitigate --methods` lists them).
    """
    from unmask.mitigations import Request, run

    request = Request(
        model=str(model),
        method=method,
        out=Path(out),
        corpus=(corpus,) if isinstance(corpus, str) else tuple(str(one) for one in corpus),
        settings=tuple(settings.items()),
        protocol=protocol,
        language=language,
        seed=seed,
        restart=restart,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    return run(request, progress=progress)
