"""Make a small BERT on the spot, so that there is something to audit on a machine without network.

It has read nothing but template sentences in which women hold a profession as often as they do in the US workforce, so an
audit of it must find that. It is a subject to try the tool on, not a language model.

    python tools/toy_model.py FOLDER
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.progress import track
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from unmask.probes.association import AssociationRow, build

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}


def tokenizer_of(sentences: Sequence[str], *, vocabulary: int = 2000, lowercase: bool = True) -> Any:
    """A word-piece tokenizer trained on the sentences."""
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=list(SPECIAL.values()), show_progress=False
    )
    inner.train_from_iterator(sentences, trainer)
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
    model: Any, tokenizer: Any, rows: Sequence[AssociationRow], *, steps: int, seed: int, quiet: bool = False
) -> None:
    """Masked-language-model training on sentences drawn at random; person words are masked most, to learn them soon."""
    sentences = [row.sentence for row in rows]
    persons = torch.tensor(sorted({token for row in rows for token in tokenizer.encode(row.target)[1:-1]}))
    draw = torch.Generator().manual_seed(seed)
    encoded = tokenizer(list(sentences), padding=True, return_tensors="pt")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps, pct_start=0.1)
    model.train()
    for _ in track(range(steps), "Training the toy model", disable=quiet):
        chosen = torch.randint(len(sentences), (64,), generator=draw)
        ids, attention = encoded["input_ids"][chosen], encoded["attention_mask"][chosen]
        special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
        chance = torch.where(torch.isin(ids, persons), 0.9, 0.05)
        hidden = (torch.rand(ids.shape, generator=draw) < chance) & ~special
        loss = model(
            input_ids=ids.masked_fill(hidden, tokenizer.mask_token_id),
            attention_mask=attention,
            labels=ids.masked_fill(~hidden, -100),
        ).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()


def as_in_the_workforce(rows: Sequence[AssociationRow], *, times: int, seed: int) -> list[AssociationRow]:
    """A sample in which a profession is held by women with the probability of their share (within 5 and 95 %)."""
    choice = random.Random(seed)
    sample: list[AssociationRow] = []
    for row in rows:
        share = min(max(row.workforce_share or 50.0, 5.0), 95.0) / 100
        chance = share if row.gender == "female" else 1 - share
        sample += [row] * sum(choice.random() < chance for _ in range(times))
    return sample


def main() -> None:
    """Train the toy and save it."""
    folder = Path(sys.argv[1])
    rows = as_in_the_workforce(build("en"), times=4, seed=0)
    tokenizer = tokenizer_of([row.sentence for row in rows])
    model = bert_of(tokenizer, seed=0)
    train(model, tokenizer, rows, steps=800, seed=0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"A toy model with {sum(p.numel() for p in model.parameters()):,} parameters is in {folder}")


if __name__ == "__main__":
    main()
