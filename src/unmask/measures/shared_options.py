"""Options shared by several measures."""

from __future__ import annotations

from pathlib import Path

from unmask.options import Options, option


class TemplateOptions(Options):
    """Custom templates."""

    templates: Path | None = option(
        None,
        "CSV of your own templates: a column 'template' with {person}, and {profession} for association.",
    )


class LimitOptions(Options):
    """How many inputs."""

    limit: int | None = option(
        None,
        "Use a random sample of N texts, sentences or contexts. Default: all.",
        minimum=1,
    )


class InputOptions(LimitOptions):
    """Limits of the input."""

    most_tokens: int | None = option(
        None, "Read at most N tokens at once. Default: as many as the model takes.", minimum=1
    )
