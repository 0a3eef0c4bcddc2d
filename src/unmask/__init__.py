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

Importing `unmask` is quick: torch and transformers are loaded when a model is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
"""The version of this package."""
__all__ = [
    "Audit",
    "AuditedModels",
    "Classifier",
    "Compared",
    "MaskQuery",
    "MaskedLM",
    "ModelCard",
    "Regressor",
    "UnmaskError",
    "Weat",
    "__version__",
    "analyse",
    "audit",
    "audit_many",
    "card",
    "compare",
    "gate",
    "load",
    "mitigate",
    "ranking",
    "read_config",
    "rewrite",
    "rewriter",
    "weat",
]

if TYPE_CHECKING:
    from unmask.errors import UnmaskError
    from unmask.models.roles import Classifier, MaskedLM, MaskQuery, Regressor
    from unmask.rewriting import rewrite, rewriter
    from unmask.statistics.permutation import Weat, weat
    from unmask.workflows.api import (
        Audit,
        AuditedModels,
        Compared,
        ModelCard,
        analyse,
        audit,
        audit_many,
        card,
        compare,
        gate,
        load,
        mitigate,
        ranking,
    )
    from unmask.workflows.config import read_config

_HOMES = {
    "Audit": "unmask.workflows.api",
    "analyse": "unmask.workflows.api",
    "Compared": "unmask.workflows.api",
    "ModelCard": "unmask.workflows.api",
    "AuditedModels": "unmask.workflows.api",
    "audit": "unmask.workflows.api",
    "audit_many": "unmask.workflows.api",
    "card": "unmask.workflows.api",
    "compare": "unmask.workflows.api",
    "gate": "unmask.workflows.api",
    "load": "unmask.workflows.api",
    "mitigate": "unmask.workflows.api",
    "ranking": "unmask.workflows.api",
    "read_config": "unmask.workflows.config",
    "rewrite": "unmask.rewriting",
    "rewriter": "unmask.rewriting",
    "UnmaskError": "unmask.errors",
    "Classifier": "unmask.models.roles",
    "MaskQuery": "unmask.models.roles",
    "Regressor": "unmask.models.roles",
    "MaskedLM": "unmask.models.roles",
    "Weat": "unmask.statistics.permutation",
    "weat": "unmask.statistics.permutation",
}


def __getattr__(name: str) -> Any:
    """Find a public name in its room when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'unmask' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, for those who look."""
    return list(__all__)
