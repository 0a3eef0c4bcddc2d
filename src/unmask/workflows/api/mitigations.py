"""`unmask.mitigate(…)`."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from unmask.mitigations.method import MitigateOptions
from unmask.options import accepts

if TYPE_CHECKING:
    from unmask.models.roles import Progress


@accepts(MitigateOptions, without=("settings",))
def mitigate(
    model: str | PathLike[str],
    method: str,
    out: str | PathLike[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Debias a model and write it to a folder; gives what the folder's `mitigation.json` holds.

    Further keywords are settings of the method, such as `epochs=1`; `unmask mitigate --methods` lists them.
    """
    known = MitigateOptions.model_fields.keys() - {"settings"}
    own = {name: value for name, value in options.items() if name in known}
    settings = {name: value for name, value in options.items() if name not in known}
    given = {"model": model, "method": method, "out": out, "settings": settings, **own}
    from unmask.mitigations.mitigate import mitigate_model

    return mitigate_model(MitigateOptions.parse(given), progress=progress)
