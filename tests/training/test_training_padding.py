"""Fast padding equals the tokenizer's own padding."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from families import SENTENCES, byte_bpe, wordpiece
from unmask.models.batching import pad


@pytest.mark.parametrize("make", [wordpiece, byte_bpe])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("bare", [True, False])
def test_like_the_tokenizers_own(make: object, side: str, bare: bool, tmp_path: Path) -> None:
    tokenizer = make(tmp_path)  # type: ignore[operator]
    tokenizer.padding_side = side
    encoded = [dict(tokenizer(text)) for text in (SENTENCES[0], SENTENCES[0] * 3, "a")]
    rows = [{"input_ids": encoding["input_ids"]} for encoding in encoded] if bare else encoded
    expected = tokenizer.pad(rows, return_tensors="pt")
    padded = pad(tokenizer, rows)
    assert set(padded) == set(expected)
    assert all(torch.equal(padded[name], expected[name]) for name in expected)
