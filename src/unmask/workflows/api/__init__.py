"""What Python users call: `unmask.audit(…)`, `unmask.compare(…)` and the others, and what they return."""

from unmask.statistics.permutation import weat
from unmask.workflows.api.audits import analyse, audit
from unmask.workflows.api.comparisons import Compared, compare
from unmask.workflows.api.gates import gate
from unmask.workflows.api.many_models import AuditedModels, audit_many
from unmask.workflows.api.mitigations import mitigate
from unmask.workflows.api.reports import load, ranking
from unmask.workflows.api.studies import run_inference_study, run_lipstick_study, run_meta_study, run_study
from unmask.workflows.audit import Audit
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
