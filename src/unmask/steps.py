"""What users see of a run besides results: the log (`unmask -v`, or the logger `unmask`), and warnings of libraries."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

LOG = logging.getLogger("unmask")
MODEL_LIBRARIES = r"(accelerate|huggingface_hub|peft|tokenizers|torch|transformers)(\.|$)"


def say(line: str) -> None:
    """Log a line."""
    LOG.info("%s", line)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Log what is done, and then how long it took."""
    say(f"{what} …")
    start = perf_counter()
    yield
    say(f"{what}: {perf_counter() - start:.1f} s")


def hide_deprecations() -> None:
    """Hide deprecation warnings that are attributed to a model library: they are for programmers.

    Call it before the libraries are imported, because some warn on import. Filters that are set already, such as
    `python -W default`, have precedence. Other warnings, such as torch's about an old driver, are still shown.
    """
    for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
        warnings.filterwarnings("ignore", category=category, module=MODEL_LIBRARIES, append=True)
