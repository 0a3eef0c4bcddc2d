"""Whether an audit keeps to a policy: rules read from a file, each judged by the interval of what was measured."""

from unmask.workflows.gating.job import run
from unmask.workflows.gating.judgements import GateResult, Judgement
from unmask.workflows.gating.policy import parsed, read
from unmask.workflows.gating.starting import starting_policy

__all__ = ["GateResult", "Judgement", "parsed", "read", "run", "starting_policy"]
