"""`unmask init [FILE]`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options

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
    from unmask.errors import UnmaskError
    from unmask.files import atomic_file

    file = options.file
    if file.exists():
        raise UnmaskError(f"{file} exists; give another name, or remove it first")
    if file.suffix.lower() == ".json":
        raise UnmaskError(f"{file} would be read as a result; give a name that ends in .toml")
    with atomic_file(file) as draft:
        draft.write_text(template(file.name), encoding="utf-8")
    typer.echo(f"Wrote {file}. Edit it, then run: unmask audit --config {file}")


def template(name: str) -> str:
    """A file of options, all commented out, each with its help and default, under the headings of the measures."""
    from unmask.option_files import toml_template
    from unmask.workflows.audit_options import audit_command

    parts = [HEAD.format(name=name)]
    shown = [parameter for parameter in audit_command().parameters().values() if parameter.cli]
    for panel, lines in toml_template(shown).items():
        parts += [f"\n# {f' {panel} '.center(WIDTH - 2, '-')}\n"] if panel else []
        for text, line in lines:
            wrapped = textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
            parts.append("\n".join([*wrapped, f"#{line}\n"]))
    return "\n".join(parts)
