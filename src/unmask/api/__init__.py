"""What Python users call: `unmask.audit(…)`, `unmask.compare(…)` and the others, and what they return."""

from unmask.api.audits import analyse, audit
from unmask.api.comparisons import Compared, compare
from unmask.api.gates import gate
from unmask.api.many_models import AuditedModels, audit_many
from unmask.api.mitigations import mitigate
from unmask.api.reports import load, ranking
from unmask.api.studies import run_inference_study, run_lipstick_study, run_meta_study, run_study
from unmask.auditing.audit import Audit
from unmask.statistics.permutation import weat
from unmask.workflows.model_card import ModelCard, card

__all__ = [
    "Audit",
    "AuditedModels",
    "Compared",
    "ModelCard",
    "analyse",
    "audit",
    "audit_many",
    "card",
    "compare",
    "gate",
    "load",
    "mitigate",
    "ranking",
    "run_inference_study",
    "run_lipstick_study",
    "run_meta_study",
    "run_study",
    "weat",
]
