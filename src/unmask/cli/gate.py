"""`unmask gate DIR`."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.generate import Json
from unmask.errors import UnmaskError

CANNOT_TELL = 2


def command(
    audit: Annotated[Path, typer.Argument(metavar="DIR", help="An audit folder.")],
    policy: Annotated[Path | None, typer.Option(help="The rules: a TOML file.")] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="The audit folder that rules with worse_by_at_most compare with. Default: the policy's."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write a JUnit XML file, for CI to show.")] = None,
    write_policy: Annotated[
        Path | None,
        typer.Option(help="Write a policy to start from, which allows what this audit shows, and judge nothing."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check an audit against a policy; for CI.

    A rule is broken only where the whole 95 % interval is beyond what is allowed, so that noise breaks no build. Exits
    with 0 if all rules are kept; 1 if one is broken, or inconclusive because the model cannot do what the measure
    relies on; 2 if it cannot be told: a measure is missing, a number has no interval or rests on too few items, the
    policy cannot be read.

    Examples:

    - `unmask gate audits/mine --write-policy policy.toml` (rules from what was measured)
    - `unmask gate audits/mine --policy policy.toml --junit gate.xml`
    - `unmask gate audits/new --policy policy.toml --baseline audits/last` (no worse than before)
    """
    if policy is not None and write_policy is not None:
        raise UnmaskError("give either --policy to judge or --write-policy to have rules written, not both")
    if policy is None and write_policy is None:
        raise UnmaskError("give the rules with --policy FILE, or have some written with --write-policy FILE")
    if write_policy is not None and (baseline or junit or as_json):
        raise UnmaskError("--write-policy judges nothing; leave --baseline, --junit and --json for --policy")
    try:
        if write_policy is not None:
            _write_policy(audit, write_policy)
            return
        code = _judge(audit, str(policy), baseline, junit, as_json=as_json)
    except (UnmaskError, OSError):  # one line each, exit code 2
        raise
    except Exception:
        traceback.print_exc()
        code = CANNOT_TELL  # Python's own code of a crash is 1, which says that a rule is broken
    raise typer.Exit(code)


def _judge(audit: Path, policy: str, baseline: Path | None, junit: Path | None, *, as_json: bool) -> int:
    from rich.console import Console

    from unmask.files import write_text
    from unmask.workflows import gate

    result = gate.gate(audit, policy, baseline=baseline)
    if junit is not None:
        write_text(junit, gate.render_junit(result))
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        gate.show_gate(result, Console())
    return result.exit_code


def _write_policy(audit: Path, policy: Path) -> None:
    from unmask.files import write_text
    from unmask.results import storage
    from unmask.workflows.policy import starting_policy

    if policy.exists():
        raise UnmaskError(f"{policy} exists; give another name, or remove it first")
    text = starting_policy(storage.load(audit), os.path.relpath(audit, policy.parent))
    write_text(policy, text)
    count = text.count("[[rule]]")
    rules = "1 rule" if count == 1 else f"{count} rules"
    typer.echo(f"Wrote {policy}, {rules}: read it, and lower the limits where you can.")
    typer.echo(f"Judge by it: unmask gate {audit} --policy {policy}")
