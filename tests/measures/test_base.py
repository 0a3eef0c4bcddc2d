"""The class of measures."""

from __future__ import annotations

import sys

import pytest

from unmask.measures.base import implemented_in


def test_a_method_in_another_module_is_imported_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "email.quoprimime", raising=False)
    holder = type("Holder", (), {"__module__": "email", "unquote": implemented_in("quoprimime")})
    assert holder.unquote is not None  # type: ignore[attr-defined]
    assert "email.quoprimime" not in sys.modules
    assert holder().unquote("=41") == "A"
    assert "email.quoprimime" in sys.modules
