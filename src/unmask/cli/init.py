"""`unmask init [FILE]`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options
from unmask.cli.parameters import Parameter, written

if TYPE_CHECKING:
    from unmask.cli.option_models import InitOptions

WIDTH = 100
HEAD = """\
# Settings for: unmask audit --config {name}

# Every option of unmask audit is here, with its default. Take away the # in front of a setting to
# change it. "" and [] say that nothing is given; a list has what can be given several times, as in
# measure = ["association", "geometry"]. What is typed on the command line wins over this file, and
# paths are relative to it.
"""


@with_options("unmask.cli.option_models:InitOptions")
def command(options: InitOptions) -> None:
    """Write a file of settings for unmask audit, with every option explained.

    Nothing is set in it: take the # away from what you want to change, then run unmask audit --config FILE.

    Examples:

    - `unmask init`
    - `unmask init settings/bert.toml`
    """
    from unmask.cli import audit
    from unmask.cli.parameters import parameters
    from unmask.errors import UnmaskError
    from unmask.files import whole_file

    file = options.file
    if file.exists():
        raise UnmaskError(f"{file} exists; give another name, or remove it first")
    if file.suffix.lower() == ".json":
        raise UnmaskError(f"{file} would be read as a result; give a name that ends in .toml")
    with whole_file(file) as draft:
        draft.write_text(template(file.name, parameters(audit.command).values()), encoding="utf-8")
    typer.echo(f"Wrote {file}. Edit it, then run: unmask audit --config {file}")


def template(name: str, known: Iterable[Parameter]) -> str:
    """A file of settings in which all are commented out, each with its help and its default, a heading a measure."""
    panels: dict[str, list[str]] = {"": [HEAD.format(name=name)]}
    for one in known:
        default = ([] if one.several else "") if one.default is None else one.default
        said = textwrap.wrap(one.help, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
        heading = f"\n# {f' {one.panel} '.center(WIDTH - 2, '-')}\n"
        panels.setdefault(one.panel, [heading]).append("\n".join([*said, f"#{one.key} = {written(default)}\n"]))
    return "\n".join(part for parts in panels.values() for part in parts)
