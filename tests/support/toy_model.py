"""Small BERTs, untrained or trained on template sentences only, so that what they know is known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from unmask.measures.association.data import AssociationRow

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def tokenizer_of(sentences: Sequence[str], *, lowercase: bool = True) -> Any:
    """A word-piece tokenizer with every word of the sentences whole, and letters for all other words."""
    normal = normalizers.BertNormalizer(lowercase=lowercase)
    words = pre_tokenizers.BertPreTokenizer()
    vocabulary = {word for text in sentences for word, _ in words.pre_tokenize_str(normal.normalize_str(text))}
    letters = sorted({letter for word in vocabulary for letter in word})
    pieces = dict.fromkeys([*SPECIAL.values(), *letters, *(f"##{letter}" for letter in letters), *sorted(vocabulary)])
    inner = Tokenizer(models.WordPiece({piece: index for index, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer, inner.decoder = normal, words, decoders.WordPiece()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, inner.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(tokenizer_object=inner, **SPECIAL)


def bert_of(tokenizer: Any, *, seed: int, hidden: int = 64, layers: int = 2, init: float = 0.05) -> Any:
    """A randomly initialised BERT for the tokenizer."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        intermediate_size=2 * hidden,
        max_position_embeddings=64,
        initializer_range=init,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
    )
    return BertForMaskedLM(config).eval()


def train(
    model: Any,
    tokenizer: Any,
    rows: Sequence[AssociationRow],
    *,
    steps: int,
    seed: int,
    rate: float = 1e-3,
    rows_a_step: int = 64,
    texts: Sequence[str] = (),
    frequent: Sequence[str] = (),
) -> None:
    """Train to fill in masked person words; other words are masked at times, so that priors are learned too.

    Of `texts`, as many in a step, any word is masked and learned, and `frequent` words most of the time.
    """
    draw = torch.Generator().manual_seed(seed)
    persons = torch.tensor(sorted({token for row in rows for token in tokenizer.encode(row.target)[1:-1]}))
    encoded = tokenizer([*(row.sentence for row in rows), *texts], padding=True, return_tensors="pt")
    special = torch.tensor(tokenizer.all_special_ids)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    model.train()
    for _ in range(steps):
        batch = torch.randint(len(rows), (rows_a_step,), generator=draw)
        if texts:
            batch = torch.cat([batch, len(rows) + torch.randint(len(texts), (rows_a_step,), generator=draw)])
        ids, attention = encoded["input_ids"][batch], encoded["attention_mask"][batch]
        person = torch.isin(ids, persons) & (torch.rand(ids.shape, generator=draw) < 0.75)
        if texts:
            share = torch.where(torch.isin(ids, torch.tensor(tokenizer.convert_tokens_to_ids([*frequent]))), 0.75, 0.15)
            learned = ~torch.isin(ids, special) & (torch.rand(ids.shape, generator=draw) < share)
            person = torch.where((batch >= len(rows))[:, None], learned, person)
        context = ~torch.isin(ids, torch.cat([special, persons])) & (torch.rand(ids.shape, generator=draw) < 0.3)
        width = int(attention.sum(dim=1).max())
        masked = ids.masked_fill(person | context, tokenizer.mask_token_id)[:, :width]
        hidden = model.bert(masked, attention_mask=attention[:, :width]).last_hidden_state
        loss: Any = torch.nn.functional.cross_entropy(model.cls(hidden[person[:, :width]]), ids[person])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()


def as_in_the_workforce(rows: Sequence[AssociationRow], *, times: int, seed: int) -> list[AssociationRow]:
    """A sample in which women hold a profession with the probability of their share (within 15 and 85 %)."""
    choice = random.Random(seed)
    sample: list[AssociationRow] = []
    for row in rows:
        share = min(max(row.workforce_share or 50.0, 15.0), 85.0) / 100
        chance = share if row.gender == "female" else 1 - share
        sample += [row] * sum(choice.random() < chance for _ in range(times))
    return sample
