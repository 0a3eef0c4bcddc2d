"""`unmask.gate(…)`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from unmask.api.audits import Audit
from unmask.gating import GateResult
from unmask.results import AuditResult


def gate(
    audit: Audit | str | PathLike[str],
    policy: str | PathLike[str] | Mapping[str, Any],
    *,
    baseline: Audit | str | PathLike[str] | None = None,
) -> GateResult:
    """Say whether an audit keeps to a policy: `.verdict` is kept, broken or cannot tell, `.judgements` say why.

    `audit` is an audit or its folder. `policy` is a TOML file, or the same as a dict: `{"rule": [{…}]}`. `baseline` is
    the audit, or its folder, that rules with `worse_by_at_most` look back to; by default the one that the policy names.
    """
    import unmask
    from unmask import gating
    from unmask.gating.judgements import overall

    rules = gating.parsed(policy) if isinstance(policy, Mapping) else gating.read(Path(policy))
    result, folder = _result(audit)
    against = rules.baseline if baseline is None else baseline
    then, before = (None, None) if against is None else _result(against)
    judgements = gating.judged(result, rules, then)
    return GateResult(
        unmask_version=unmask.__version__,
        model=result.model.name,
        audit=folder,
        policy=rules.name,
        baseline=before or (then.model.name if then else None),
        verdict=overall(judgements),
        judgements=judgements,
    )


def _result(audit: Audit | str | PathLike[str]) -> tuple[AuditResult, str | None]:
    from unmask.results import storage

    return (audit.result, None) if isinstance(audit, Audit) else (storage.load(Path(audit)), str(audit))
