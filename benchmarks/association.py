"""Speed of the association measure, as ratios measured in one run, on a randomly initialised bert-base.

    python benchmarks/association.py [--device cpu]

Ours is compared with the paper's way (batches of 20 rows padded to 16 tokens, two passes, a softmax over the
vocabulary at every position) and with the model's bare forward pass over the distinct inputs, in equally long
batches. The paper's way is timed on every 20th batch, since all of its batches are alike.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil
import torch
import transformers

from unmask.measures.association.data import AssociationRow, build_rows, mask_letters
from unmask.measures.association.scoring import build_queries
from unmask.models import batching
from unmask.models.masked_lm import TransformersMaskedLM, encode_queries

SAMPLE = 20


def bert_base(rows: list[AssociationRow]) -> tuple[Any, Any]:
    """bert-base's shape, with a word-piece vocabulary of its size that has the corpus's words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = {
        word
        for row in rows
        for word in row.sentence.lower().replace(".", " . ").replace(",", " , ").replace("-", " - ").split()
    }
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # every second long word falls into two pieces, but no person word, as in the vocabulary of bert-base-uncased
    persons = {row.target.lower() for row in rows}
    whole = [word for at, word in enumerate(sorted(words)) if len(word) < 9 or at % 2 or word in persons]
    heads = [word[: len(word) // 2] for word in sorted(words) if len(word) > 1]
    tails = [f"##{word[at:]}" for word in sorted(words) for at in range(1, len(word))]
    pieces = list(dict.fromkeys([*special, *whole, *heads, *tails]))
    pieces += [f"[unused{at}]" for at in range(30522 - len(pieces))]
    inner = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **dict(zip(names, special, strict=True)))
    torch.manual_seed(0)
    return transformers.BertForMaskedLM(transformers.BertConfig()).eval(), tokenizer


def timed(work: Callable[[], object], device: str) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter() - start


@torch.inference_mode()
def paper(model: Any, tokenizer: Any, rows: list[AssociationRow], every: int) -> None:
    """Batches of 20 rows, padded to 16; two passes; softmax at every position."""
    texts = [(row.sentence, *mask_letters(row)[::2]) for row in rows]
    for start in range(0, len(texts), 20 * every):
        batch = texts[start : start + 20]
        for column in (1, 2):
            ids = [tokenizer(text[column])["input_ids"][:16] for text in batch]
            padded = torch.tensor(
                [one + [tokenizer.mask_token_id] * (16 - len(one)) for one in ids], device=model.device
            )
            torch.softmax(model(input_ids=padded, attention_mask=torch.ones_like(padded)).logits, dim=-1)


@torch.inference_mode()
def bare(model: Any, backbone: Any, inputs: list[tuple[int, ...]]) -> None:
    """A forward pass over the distinct inputs, in batches sorted by length."""
    for batch in batching.plan_batches([len(ids) for ids in inputs], batching.TOKEN_BUDGET):
        width = len(inputs[batch[-1]])
        ids = torch.tensor([[*inputs[at], *[0] * (width - len(inputs[at]))] for at in batch], device=model.device)
        backbone(input_ids=ids, attention_mask=(ids > 0).long())


def more_persons(rows: list[AssociationRow], times: int) -> list[AssociationRow]:
    """As many more rows by asking for more person words in the same sentences."""
    words = [f"person{at}" for at in range(times - 1)]
    found = list(rows)
    for row in rows:
        start, end = row.target_span
        for word in words:
            shift = len(word) - (end - start)
            found.append(
                replace(
                    row,
                    target=word,
                    sentence=row.sentence[:start] + word + row.sentence[end:],
                    target_span=(start, start + len(word)),
                    attribute_span=(row.attribute_span[0] + shift, row.attribute_span[1] + shift),
                )
            )
    return found


def main() -> None:
    """Print the ratios, and the numbers behind them as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    rows = build_rows("en")
    model, tokenizer = bert_base(rows)
    tokenizer.add_tokens([f"person{at}" for at in range(15)])
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model.to(device)
    subject = TransformersMaskedLM(model, tokenizer)
    queries = build_queries(rows, "sound")
    inputs = list({read.input.ids: None for reads in encode_queries(tokenizer, queries) for read in reads})
    bare(model, model.bert, inputs[:200])  # warm up

    seconds = {"ours": timed(lambda: subject.log_probability(list(queries)), device)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds["bare forward pass, with head"] = timed(lambda: bare(model, model, inputs), device)
    seconds["bare forward pass, backbone alone"] = timed(lambda: bare(model, model.bert, inputs), device)
    seconds["paper"] = SAMPLE * timed(lambda: paper(model, tokenizer, rows, SAMPLE), device)
    grown = {1: seconds["ours"]}
    distinct = {1: subject.describe(queries).distinct_inputs}
    for times in (4, 16):
        many = build_queries(more_persons(rows, times), "sound")
        grown[times] = timed(lambda many=many: subject.log_probability(many), device)  # type: ignore[misc]
        distinct[times] = subject.describe(many).distinct_inputs
    print(f"{len(rows)} rows, {len(inputs)} distinct inputs; device {device}, {psutil.cpu_count()} cores")
    print(f"the paper's way / ours: {seconds['paper'] / seconds['ours']:.1f}")
    print(f"ours / bare forward pass with head: {seconds['ours'] / seconds['bare forward pass, with head']:.2f}")
    print(f"ours / backbone alone: {seconds['ours'] / seconds['bare forward pass, backbone alone']:.2f}")
    print(f"peak memory after scoring: {peak:.2f} GB")
    for times, taken in grown.items():
        print(f"{times:>2} × rows ({distinct[times]} distinct inputs): {taken / grown[1]:.2f} × the time")
    print(json.dumps({"seconds": seconds, "peak_gb": peak, "growth": grown}, indent=1))


if __name__ == "__main__":
    main()
