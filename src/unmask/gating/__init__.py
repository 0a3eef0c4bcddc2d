"""Whether an audit keeps to a policy: rules read from a file, each judged by the interval of what was measured."""

from unmask.gating.judgements import GateResult, Judgement
from unmask.gating.judging import judged
from unmask.gating.policy import Policy, Rule, parsed, read
from unmask.gating.starting import starting_policy

__all__ = ["GateResult", "Judgement", "Policy", "Rule", "judged", "parsed", "read", "starting_policy"]
