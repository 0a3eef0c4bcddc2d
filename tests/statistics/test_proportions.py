"""The quality of a classifier: a known answer."""

from __future__ import annotations

import pytest

from unmask.statistics.proportions import classification_quality


def test_quality_by_hand() -> None:
    """3 of 4 negative and 4 of 6 positive texts are right; an unused label scores 0."""
    quality = classification_quality([[3, 1, 0], [2, 4, 0], [0, 0, 0]], ["negative", "positive", "none"])
    assert quality["accuracy"] == pytest.approx(0.7)
    assert quality["labels"]["positive"] == {
        "precision": 0.8,
        "recall": pytest.approx(4 / 6),
        "f1": pytest.approx(8 / 11),
        "count": 6,
    }
    assert quality["labels"]["none"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 0}
    assert quality["macro_f1"] == pytest.approx((6 / 9 + 8 / 11 + 0) / 3)
    assert quality["accuracy_interval"][0] < 0.7 < quality["accuracy_interval"][1]
    assert quality["examples"] == 10
