"""From an audit and a policy to what the gate says."""

from __future__ import annotations

from pathlib import Path

from unmask import __version__
from unmask.results import AuditResult, storage
from unmask.workflows.gating.judgements import GateResult, overall
from unmask.workflows.gating.judging import judged
from unmask.workflows.gating.policy import Policy


def run(audit: AuditResult | Path, policy: Policy, baseline: AuditResult | Path | None = None) -> GateResult:
    """Judge an audit, or its folder; the baseline is given, or the one that the policy names."""
    result, against = _result(audit), policy.baseline if baseline is None else baseline
    then = None if against is None else _result(against)
    judgements = judged(result, policy, then)
    return GateResult(
        unmask_version=__version__,
        model=result.model.name,
        audit=str(audit) if isinstance(audit, Path) else None,
        policy=policy.name,
        baseline=str(against) if isinstance(against, Path) else then.model.name if then else None,
        verdict=overall(judgements),
        judgements=judgements,
    )


def _result(audit: AuditResult | Path) -> AuditResult:
    return storage.load(audit) if isinstance(audit, Path) else audit
