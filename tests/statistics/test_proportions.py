"""The quality of a classifier: a known answer."""

from __future__ import annotations

import pytest

from unmask.statistics.proportions import classification_quality


def test_quality_by_hand() -> None:
    """Of 4 negative and 6 positive texts, 3 and 4 are right; a label that nobody has and nobody says is 0."""
    found = classification_quality([[3, 1, 0], [2, 4, 0], [0, 0, 0]], ["negative", "positive", "none"])
    assert found["accuracy"] == pytest.approx(0.7)
    assert found["labels"]["positive"] == {
        "precision": 0.8,
        "recall": pytest.approx(4 / 6),
        "f1": pytest.approx(8 / 11),
        "count": 6,
    }
    assert found["labels"]["none"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 0}
    assert found["macro_f1"] == pytest.approx((6 / 9 + 8 / 11 + 0) / 3)
    assert found["accuracy_interval"][0] < 0.7 < found["accuracy_interval"][1]
    assert found["examples"] == 10
