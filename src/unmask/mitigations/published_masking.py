"""Masking as the code behind Bartl et al. (2020) did it, defect by defect.

All sentences are cut or filled to one length, the least power of two that is not below the largest number of words
between white space (words, not pieces). They are filled with mask tokens, and every token is attended to. Of all
tokens but the first and last special ones, 15 % are chosen by independent draws, fillings too, so that most of what is
learned is to predict a mask where a mask is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from unmask.training.examples import Example
from unmask.training.tasks import IGNORED, MASKED, Batch, Features, MaskedLanguageModelling


class PublishedMasking(MaskedLanguageModelling):
    """The task as published; a drop-in for `MaskedLanguageModelling`."""

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, cut, fill."""
        length = length_of([one.text for one in examples], self.max_length)
        encoded = self.tokenizer([one.text for one in examples], verbose=False)["input_ids"]
        mask = self.tokenizer.mask_token_id
        return [{"input_ids": [*ids, *[mask] * length][:length]} for ids in encoded]

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Mask; the rows are all of one length."""
        rows = [self._chosen(one["input_ids"], draw) for one, draw in zip(features, draws, strict=True)]
        shown = torch.tensor([ids for ids, _ in rows])
        return {
            "input_ids": shown,
            "attention_mask": torch.ones_like(shown),
            "labels": torch.tensor([labels for _, labels in rows]),
        }

    def _chosen(self, ids: list[int], draw: tuple[int, ...]) -> tuple[list[int], list[int]]:
        choice = np.random.default_rng([self.seed, *draw])
        tokens = np.array(ids)
        frame = np.isin(tokens, [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id])
        chosen = (choice.random(len(ids)) < MASKED) & ~frame
        fates = choice.random(len(ids))
        others = choice.integers(len(self.tokenizer), size=len(ids))
        shown = np.where(chosen & (fates < 0.8), self.tokenizer.mask_token_id, tokens)
        shown = np.where(chosen & (fates >= 0.8) & (fates < 0.9), others, shown)
        return shown.tolist(), np.where(chosen, tokens, IGNORED).tolist()


def length_of(texts: Sequence[str], most: int) -> int:
    """The least power of two that is not below the largest number of words, as far as the model goes."""
    words = max((len(text.split()) for text in texts), default=1)
    return min(1 << (max(words, 1) - 1).bit_length(), most)
