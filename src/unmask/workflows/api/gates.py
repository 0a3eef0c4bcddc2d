"""`unmask.gate(…)`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from unmask.results import AuditResult
from unmask.workflows import gating
from unmask.workflows.audit import Audit


def gate(
    audit: Audit | str | PathLike[str],
    policy: str | PathLike[str] | Mapping[str, Any],
    *,
    baseline: Audit | str | PathLike[str] | None = None,
) -> gating.GateResult:
    """Say whether an audit keeps to a policy: `.verdict` is kept, broken or cannot tell, `.judgements` say why.

    `audit` is an audit or its folder. `policy` is a TOML file, or the same as a dict: `{"rule": [{…}]}`. `baseline` is
    the audit, or its folder, that rules with `worse_by_at_most` look back to; by default the one that the policy names.
    """
    rules = gating.parsed(policy) if isinstance(policy, Mapping) else gating.read(Path(policy))
    return gating.run(_side(audit), rules, None if baseline is None else _side(baseline))


def _side(audit: Audit | str | PathLike[str]) -> AuditResult | Path:
    return audit.result if isinstance(audit, Audit) else Path(audit)
