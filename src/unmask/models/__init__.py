"""What a model can do, behind small interfaces, and the engine that asks it quickly.

`MaskedLM` is all that the association measure asks of a model. Anybody can pass an object with that one method; a
folder or hub id in the `transformers` format is the commonest case (`loading`).
"""

from unmask.models.interfaces import LiteralQuery, MaskedLM, MaskQuery

__all__ = ["LiteralQuery", "MaskQuery", "MaskedLM"]
