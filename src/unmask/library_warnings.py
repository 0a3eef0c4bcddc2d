"""Deprecation warnings of the model libraries, which are for programmers and not for users of Unmask."""

from __future__ import annotations

import warnings

MODEL_LIBRARIES = r"(accelerate|huggingface_hub|peft|tokenizers|torch|transformers)(\.|$)"


def hide_deprecations() -> None:
    """Hide deprecation warnings that are attributed to a model library.

    Call it before the libraries are imported, because some warn on import. Filters that are set already, such as
    `python -W default`, have precedence. Other warnings, such as torch's about an old driver, are still shown.
    """
    for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
        warnings.filterwarnings("ignore", category=category, module=MODEL_LIBRARIES, append=True)
