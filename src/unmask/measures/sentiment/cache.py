"""A cache of ratings, so that an interrupted audit continues where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unmask
from unmask.files import atomic_file
from unmask.measures.sentiment.rater import Rated, Rater

if TYPE_CHECKING:
    from unmask.models.batching import LoadedModel


class CachedRater(Rater):
    """A rater that looks into a folder before it asks its model."""

    def __init__(self, rater: Rater, folder: Path, identity: str) -> None:
        """Take a rater, the folder for its ratings, and what tells its model and settings from others."""
        self.__dict__.update(rater.__dict__)
        self._rater, self._folder, self._identity = rater, folder, identity

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts, unless the same were rated before."""
        path = self._folder / f"{self._key(texts)}.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return Rated(np.array(found["ratings"], dtype=np.float64), found["choices"])
        except (OSError, ValueError, KeyError, TypeError):  # not there, or damaged
            rated = self._rater.rate(texts)
        content = {"ratings": rated.ratings.tolist(), "choices": rated.choices}
        with atomic_file(path) as draft:
            draft.write_text(json.dumps(content), encoding="utf-8")
        return rated

    def _key(self, texts: Sequence[str]) -> str:
        return hashlib.sha256(json.dumps([self._identity, *texts]).encode()).hexdigest()


def identity(model: LoadedModel, rater: Rater) -> str:
    """Everything that decides a rating besides the text: weights, configuration, words, labels, how texts are read."""
    info, tokenizer = model.info(), model.tokenizer
    inner = getattr(tokenizer, "backend_tokenizer", None)
    words = inner.to_str() if inner is not None else json.dumps(sorted(tokenizer.get_vocab().items()))
    parts = [
        info.model_dump(mode="json", exclude={"name"}),
        model.model.config.to_json_string(use_diff=False),
        hashlib.sha256(words.encode()).hexdigest(),
        repr(tokenizer.init_kwargs),
        [getattr(rater.model, name, None) for name in ("long_texts", "most_tokens")],
        [rater.labels, rater.polarity.weights, rater.single_precision],
        [unmask.__version__, metadata.version("torch"), metadata.version("transformers")],
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
