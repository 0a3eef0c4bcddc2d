"""Library warnings: users do not see deprecations of the model libraries, but do see everything else."""

from __future__ import annotations

import warnings

import pytest

from unmask.models.sources import LoadOptions, find


@pytest.mark.parametrize(
    ("category", "module", "is_shown"),
    [
        (FutureWarning, "transformers.modeling_utils", False),
        (DeprecationWarning, "peft", False),
        (DeprecationWarning, "torch.jit._script", False),
        (UserWarning, "torch.cuda", True),
        (FutureWarning, "unmask.models.loading", True),
        (FutureWarning, "torchmetrics", True),
    ],
)
def test_finding_a_model_hides_deprecations_of_model_libraries(
    category: type[Warning], module: str, is_shown: bool
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        find("unmask-mini", LoadOptions())
        warnings.warn_explicit("message", category, "file.py", 1, module=module)
    assert [warning.category for warning in caught] == [category] * is_shown
