"""Measure and mitigate gender bias in language models, with intervals, tests, and the sentences behind every number.

    import unmask
    audit = unmask.audit("bert-base-uncased")
    print(audit.summary())
    audit.report("report.html")
    unmask.audit_many(["bert-base-uncased", "roberta-base"]).page    # a ranking
    unmask.mitigate("bert-base-uncased", "cds", "debiased")
    unmask.compare("bert-base-uncased", "debiased").verdict
    unmask.gate("audits/mine", "policy.toml").verdict
    unmask.card("audits/bert", to="bert/README.md")
    unmask.rewrite("She lost her keys.")    # 'He lost his keys.'
    unmask.weat(x, y, a, b).effect_size     # four arrays of vectors

`import unmask` is quick: torch and transformers are imported when a model is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers, which do not see `__getattr__`
    from unmask.errors import UnmaskError as UnmaskError
    from unmask.mitigations.mitigate import mitigate as mitigate
    from unmask.models.roles import Classifier as Classifier
    from unmask.models.roles import MaskedLM as MaskedLM
    from unmask.models.roles import MaskQuery as MaskQuery
    from unmask.models.roles import Regressor as Regressor
    from unmask.rewriting import rewrite as rewrite
    from unmask.rewriting import rewriter as rewriter
    from unmask.statistics.permutation import Weat as Weat
    from unmask.statistics.permutation import weat as weat
    from unmask.studies.study import StudyRun as StudyRun
    from unmask.studies.study import run_study as run_study
    from unmask.workflows.audit import Audit as Audit
    from unmask.workflows.audit import analyse as analyse
    from unmask.workflows.audit import audit as audit
    from unmask.workflows.audit_options import read_config as read_config
    from unmask.workflows.compare import Compared as Compared
    from unmask.workflows.compare import compare as compare
    from unmask.workflows.compare import load as load
    from unmask.workflows.gate import gate as gate
    from unmask.workflows.model_card import ModelCard as ModelCard
    from unmask.workflows.model_card import card as card
    from unmask.workflows.ranking import AuditedModels as AuditedModels
    from unmask.workflows.ranking import audit_many as audit_many
    from unmask.workflows.ranking import ranking as ranking

__version__ = "0.1.0"
"""The version of this package."""
_MODULES = {
    "errors": ("UnmaskError",),
    "mitigations.mitigate": ("mitigate",),
    "models.roles": ("Classifier", "MaskQuery", "MaskedLM", "Regressor"),
    "rewriting": ("rewrite", "rewriter"),
    "statistics.permutation": ("Weat", "weat"),
    "studies.study": ("StudyRun", "run_study"),
    "workflows.audit": ("Audit", "analyse", "audit"),
    "workflows.audit_options": ("read_config",),
    "workflows.compare": ("Compared", "compare", "load"),
    "workflows.gate": ("gate",),
    "workflows.model_card": ("ModelCard", "card"),
    "workflows.ranking": ("AuditedModels", "audit_many", "ranking"),
}
"""Public names by module, which is imported when one of its names is first used."""
_HOMES = {name: f"unmask.{module}" for module, names in _MODULES.items() for name in names}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'unmask' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
