"""Models that have learned nothing: small BERTs with random weights and the tokenizer of the embedded model."""

from __future__ import annotations

from functools import cache
from typing import Any

from unmask.embedded import DEFAULT, MODELS
from unmask.errors import UnmaskError
from unmask.lexicon.labels import INFERENCE
from unmask.measures.base import Measure
from unmask.models.checkpoints import quiet_libraries
from unmask.models.handle import ModelHandle
from unmask.workflows.audit_options import audit_options

UNTRAINED: dict[str, tuple[str, ...]] = {
    "BertForMaskedLM": (),
    "BertForSequenceClassification": ("negative", "positive"),
    "BertForSequenceClassification of pairs": INFERENCE,
}
"""The kinds of models, with the labels of classifiers. A measure gets the first that it fits."""
LAYERS, SIZE, SPREAD = 1, 32, 0.3
"""Of the weights, the standard deviation: large enough that words differ clearly in every layer."""


def make_untrained(measure: Measure, seed: int, *, heads: bool = False) -> ModelHandle:
    """Make a model with random weights that a measure can audit; with `heads`, on the weights of the embedded model."""
    return ModelHandle(_draw_model(_find_kind(measure), seed, heads=heads))


@cache
def _find_kind(measure: Measure) -> str:
    options = audit_options()()
    for kind in UNTRAINED:
        if measure.fits(ModelHandle(_draw_model(kind, 0)), options):
            return kind
    raise UnmaskError(f"{measure.name} needs {measure.needs}; of this kind there are no untrained models")


def _draw_model(kind: str, seed: int, *, heads: bool = False) -> tuple[Any, Any]:
    import torch
    import transformers

    quiet_libraries()  # about heads that are new
    folder, tokenizer = MODELS[DEFAULT].folder, _load_tokenizer()
    labels = {"id2label": dict(enumerate(UNTRAINED[kind]))} if UNTRAINED[kind] else {}
    architecture = getattr(transformers, kind.split()[0])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if heads:
            return architecture.from_pretrained(folder, dtype=torch.float32, **labels).eval(), tokenizer
        config = transformers.BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=SIZE,
            num_hidden_layers=LAYERS,
            num_attention_heads=2,
            intermediate_size=SIZE,
            initializer_range=SPREAD,
            pad_token_id=tokenizer.pad_token_id,
            **labels,
        )
        return architecture(config).eval(), tokenizer


@cache
def _load_tokenizer() -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(MODELS[DEFAULT].folder)
