"""What a model can do, behind small interfaces, and the engine that asks it quickly.

`MaskedLM` is all that the association measure asks of a model, `Classifier` or `Regressor` all that the sentiment
measure does. Anybody can pass an object with those few methods; a folder or hub id in the `transformers` format is the
commonest case (`loading`).
"""

from unmask.models.roles import (
    Classifier,
    LiteralQuery,
    MaskedLM,
    MaskQuery,
    Regressor,
    SharedTokensQuery,
    View,
)

__all__ = ["Classifier", "LiteralQuery", "MaskQuery", "MaskedLM", "Regressor", "SharedTokensQuery", "View"]
