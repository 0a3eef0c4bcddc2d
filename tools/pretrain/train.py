"""On a GPU: pretrain the masked language model on prepared ids. Needs torch, numpy and transformers, nothing of ours.

    python tools/pretrain/train.py PREPARED_FOLDER OUT_FOLDER --minutes 15.5

The ids stand on the GPU, and batches are drawn and masked there, so that nothing waits for a CPU. Training starts with
short windows, since a model that starts on long ones stays for a long time at the frequencies of single words; once the
loss is under `WARM`, batches grow to their full size and the learning rate falls to 0 by elapsed time.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

MASKED = 0.2
WARM = 4.3
RAMP = 500
START_RATE, RATE = 1e-3, 2e-3
EVALUATE_EVERY, SAVE_EVERY = 60.0, 180.0
CONFIG = {
    "num_hidden_layers": 6,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 512,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


@dataclass(frozen=True)
class Shape:
    """A kind of batch: how many rows, how long, and whether each is one padded sentence."""

    rows: int
    length: int
    sentences: bool = False


SHORT = Shape(1024, 32)
MIX = [(Shape(2048, 128), 0.8), (Shape(4096, 64, sentences=True), 0.1), (Shape(512, 512), 0.1)]


@dataclass(frozen=True)
class Batch:
    """Masked inputs, where they were masked, and what stood there (-100: nothing to learn)."""

    ids: torch.Tensor
    types: torch.Tensor
    attention: torch.Tensor | None
    positions: torch.Tensor
    labels: torch.Tensor


class Text:
    """All ids in one row on the device, and batches from it."""

    def __init__(self, ids: np.ndarray, tokenizer: object, device: str, seed: int) -> None:
        """Put the ids on the device and find the sentences: what lies between two full stops, at most 62 pieces."""
        self.ids = torch.from_numpy(ids.astype(np.int16)).to(device)
        self.tokenizer = tokenizer
        self.draw = torch.Generator(device).manual_seed(seed)
        names = ("[PAD]", "[CLS]", "[SEP]", "[MASK]")
        self.pad, self.cls, self.sep, self.mask = tokenizer.convert_tokens_to_ids(list(names))  # type: ignore[attr-defined]
        stops = torch.tensor([self.sep, *tokenizer.convert_tokens_to_ids([".", "!", "?"])], device=device)  # type: ignore[attr-defined]
        ends = torch.isin(self.ids, stops.to(torch.int16)).nonzero().squeeze(1)
        starts = torch.cat([ends.new_zeros(1), ends[:-1] + 1])
        lengths = ends - starts + (self.ids[ends] != self.sep).long()
        fits = (lengths >= 4) & (lengths <= 62)
        self.starts, self.lengths = starts[fits], lengths[fits]

    def batch(self, shape: Shape) -> Batch:
        """Windows from anywhere, or sentences; 20 % of the ordinary pieces masked, 80/10/10."""
        device = self.ids.device
        inner = torch.arange(shape.length - 2, device=device)
        if shape.sentences:
            chosen = torch.randint(len(self.starts), (shape.rows,), generator=self.draw, device=device)
            starts, lengths = self.starts[chosen], self.lengths[chosen]
        else:
            starts = torch.randint(len(self.ids) - shape.length, (shape.rows,), generator=self.draw, device=device)
            lengths = torch.full_like(starts, shape.length - 2)
        places = (starts[:, None] + inner).clamp_(max=len(self.ids) - 1)
        body = self.ids[places].long().masked_fill_(inner >= lengths[:, None], self.pad)
        ids = functional.pad(body, (1, 1), value=self.pad)
        ids[:, 0] = self.cls
        ids.scatter_(1, lengths[:, None] + 1, self.sep)
        ordinary = ~torch.isin(ids, torch.tensor([self.pad, self.cls, self.sep], device=device))
        types = ((ids == self.sep).cumsum(1) - (ids == self.sep).long()).clamp_(max=1)
        paired = torch.rand(shape.rows, 1, generator=self.draw, device=device) < 0.5
        types = types * paired * (ids != self.pad)
        most = round(MASKED * shape.length)
        noise = torch.rand(ids.shape, generator=self.draw, device=device).masked_fill_(~ordinary, 2.0)
        values, positions = noise.topk(most, dim=1, largest=False)
        counts = (ordinary.sum(1, keepdim=True) * MASKED).round_().clamp_(min=1)
        learned = (torch.arange(most, device=device) < counts) & (values < 2.0)
        truth = ids.gather(1, positions)
        fate = torch.rand(truth.shape, generator=self.draw, device=device)
        random = torch.randint(5, self.tokenizer.vocab_size, truth.shape, generator=self.draw, device=device)  # type: ignore[attr-defined]
        shown = torch.where(fate < 0.8, self.mask, torch.where(fate < 0.9, random, truth))
        ids = ids.scatter(1, positions, torch.where(learned, shown, truth))
        attention = (ids != self.pad).long() if shape.sentences else None
        return Batch(ids, types, attention, positions, truth.masked_fill(~learned, -100))


def logits(model: BertForMaskedLM, batch: Batch) -> torch.Tensor:
    """The head at masked positions only."""
    hidden = model.bert(batch.ids, batch.attention, batch.types).last_hidden_state
    picked = hidden.gather(1, batch.positions[..., None].expand(-1, -1, hidden.shape[-1]))
    scores: torch.Tensor = model.cls(picked).float()
    return scores


def loss_of(model: BertForMaskedLM, batch: Batch) -> torch.Tensor:
    """The mean cross-entropy over masked positions."""
    return functional.cross_entropy(logits(model, batch).flatten(0, 1), batch.labels.flatten())


def optimizer_of(model: BertForMaskedLM) -> torch.optim.AdamW:
    """AdamW; biases and norms do not decay."""
    decays = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": decays, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-6, fused=True)


@torch.no_grad()
def evaluate(model: BertForMaskedLM, held_out: list[Batch], precision: torch.autocast) -> tuple[float, float]:
    """Loss and accuracy over the masked pieces of held-out text."""
    loss = right = count = 0.0
    for batch in held_out:
        with precision:
            scores = logits(model, batch).flatten(0, 1)
        labels = batch.labels.flatten()
        loss += functional.cross_entropy(scores, labels, reduction="sum").item()
        right += (scores.argmax(-1) == labels).sum().item()
        count += (labels >= 0).sum().item()
    return loss / count, right / count


def read(file: Path) -> np.ndarray:
    """The ids of a shard."""
    return np.frombuffer(lzma.decompress(file.read_bytes()), dtype=np.uint16)


def steps(text: Text, end: float) -> Iterator[tuple[Batch, float, list[float], str]]:
    """Batches with their learning rates, until the time is over; the caller writes recent losses into the list."""
    recent: list[float] = []
    step = 0
    while (step < RAMP or sum(recent[-20:]) / 20 > WARM) and time.monotonic() < end:
        step += 1
        yield text.batch(SHORT), START_RATE * min(1.0, step / RAMP), recent, "short"
    shapes, weights = zip(*MIX, strict=True)
    order = np.random.default_rng(text.draw.initial_seed())
    began, step = time.monotonic(), 0
    while (left := (end - time.monotonic()) / max(end - began, 1e-9)) > 0:
        step += 1
        rate = (START_RATE + (RATE - START_RATE) * min(1.0, step / RAMP)) * left
        yield text.batch(shapes[order.choice(len(shapes), p=weights)]), rate, recent, "full"


def main() -> None:
    """Train, print the curve, and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=15.5)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(options.prepared / "tokenizer")
    with ThreadPoolExecutor() as pool:
        ids = np.concatenate(list(pool.map(read, sorted(options.prepared.glob("ids-*.bin.xz")))))
    text = Text(ids, tokenizer, options.device, options.seed)
    unseen = Text(read(options.prepared / "held-out.bin.xz"), tokenizer, options.device, options.seed + 1)
    held_out = [unseen.batch(Shape(256, 128)) for _ in range(16)]
    config = BertConfig(vocab_size=tokenizer.vocab_size, pad_token_id=tokenizer.pad_token_id, **CONFIG)
    model = BertForMaskedLM(config).to(options.device)
    optimizer = optimizer_of(model)
    precision = torch.autocast(options.device, dtype=torch.bfloat16)
    compiled = loss_of if options.no_compile else torch.compile(loss_of, dynamic=False)
    log = (options.out / "log.jsonl").open("w")
    size = sum(p.numel() for p in model.parameters())
    print(f"{len(ids):,} ids, {len(text.starts):,} sentences, {size:,} parameters", flush=True)

    for shape in (SHORT, *(shape for shape, _ in MIX)):  # compile before the clock starts
        with precision:
            compiled(model, text.batch(shape)).backward()  # type: ignore[no-untyped-call]
        optimizer.zero_grad()
    began = time.monotonic()
    evaluated = saved = began
    tokens, losses = 0, []
    for step, (batch, rate, recent, phase) in enumerate(steps(text, began + 60 * options.minutes)):
        for group in optimizer.param_groups:
            group["lr"] = rate
        with precision:
            loss = compiled(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        tokens += batch.ids.numel()
        losses.append(loss.detach())
        if len(losses) == 20:
            recent[:] = torch.stack(losses).tolist()
            losses.clear()
        now = time.monotonic()
        if now - evaluated > EVALUATE_EVERY or step in (100, 1000):
            unseen_loss, accuracy = evaluate(model, held_out, precision)
            line = {
                "seconds": round(now - began, 1),
                "step": step,
                "phase": phase,
                "tokens": tokens,
                "rate": rate,
                "loss": sum(recent) / max(len(recent), 1),
                "held_out_loss": unseen_loss,
                "held_out_accuracy": accuracy,
            }
            print(json.dumps(line), flush=True)
            log.write(json.dumps(line) + "\n")
            log.flush()
            evaluated = now
        if now - saved > SAVE_EVERY:
            model.save_pretrained(options.out / "model")
            saved = now
    loss_value, accuracy = evaluate(model, held_out, precision)
    summary = {
        "seconds": time.monotonic() - began,
        "steps": step + 1,
        "tokens": tokens,
        "held_out_loss": loss_value,
        "held_out_accuracy": accuracy,
        "parameters": size,
        "seed": options.seed,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else options.device,
    }
    model.save_pretrained(options.out / "model")
    tokenizer.save_pretrained(options.out / "model")
    (options.out / "train.json").write_text(json.dumps(summary, indent=2))
    print(json.dumps(summary, indent=2), flush=True)


if __name__ == "__main__":
    main()
