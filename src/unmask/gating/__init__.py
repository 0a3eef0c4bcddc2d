"""Whether an audit keeps to a policy: rules read from a file, each judged by the interval of what was measured."""

from unmask.gating.job import run
from unmask.gating.judgements import GateResult, Judgement
from unmask.gating.policy import parsed, read
from unmask.gating.starting import starting_policy

__all__ = ["GateResult", "Judgement", "parsed", "read", "run", "starting_policy"]
