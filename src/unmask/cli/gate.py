"""`unmask gate DIR`."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options
from unmask.cli.options import Json
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.workflows.gating.options import GateOptions

CANNOT_TELL = 2


@with_options("unmask.workflows.gating.options:GateOptions")
def command(options: GateOptions, *, as_json: Json = False) -> None:
    """Say whether an audit keeps to a policy; for CI.

    A rule is broken only where the whole 95 % interval is beyond what is allowed, so that noise breaks no build. Exits
    with 0 if all rules are kept, 1 if one is broken, 2 if it cannot be told: a measure is missing, a number has no
    interval or rests on too few items, the policy cannot be read.

    Examples:

    - `unmask gate audits/mine --write-policy policy.toml` (rules from what was measured)
    - `unmask gate audits/mine --policy policy.toml --junit gate.xml`
    - `unmask gate audits/new --policy policy.toml --baseline audits/last` (no worse than before)
    """
    if options.write_policy is not None and (options.baseline or options.junit or as_json):
        raise UnmaskError("--write-policy judges nothing; leave --baseline, --junit and --json for --policy")
    try:
        code = _judge(options, as_json=as_json) if options.policy else _write_policy(options)
    except (UnmaskError, OSError):  # one line each, exit code 2
        raise
    except Exception:
        traceback.print_exc()
        code = CANNOT_TELL  # Python's own code of a crash is 1, which says that a rule is broken
    raise typer.Exit(code)


def _judge(options: GateOptions, *, as_json: bool) -> int:
    from rich.console import Console

    from unmask.workflows import gating
    from unmask.workflows.gating import junit as xml
    from unmask.workflows.gating import terminal as gate_terminal

    assert options.policy is not None
    result = gating.run(options.audit, gating.read(options.policy), options.baseline)
    if options.junit is not None:
        _write(options.junit, xml.render(result))
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        gate_terminal.show(result, Console())
    return result.exit_code


def _write_policy(options: GateOptions) -> int:
    from unmask.results import storage
    from unmask.workflows.gating import starting_policy

    audit, policy = options.audit, options.write_policy
    assert policy is not None
    if policy.exists():
        raise UnmaskError(f"{policy} exists; give another name, or remove it first")
    text = starting_policy(storage.load(audit))
    _write(policy, text)
    count = text.count("[[rule]]")
    rules = "1 rule" if count == 1 else f"{count} rules"
    typer.echo(f"Wrote {policy}, {rules}: read it, and lower the limits where you can.")
    typer.echo(f"Judge by it: unmask gate {audit} --policy {policy}")
    return 0


def _write(path: Path, text: str) -> None:
    from unmask.files import atomic_file

    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
