"""Pretrain the masked language model on prepared ids, from scratch or from a model, on a GPU or a CPU.

    python tools/pretrain/train.py PREPARED_FOLDER OUT_FOLDER --tokens 4.2e9
    python tools/pretrain/train.py PREPARED_FOLDER OUT_FOLDER --start MODEL_FOLDER --mix en-people=0.6 --device cpu \
        --tokens 30e6 --batch 16384 --rate 5e-4 --warm-up 100

Needs torch, numpy and transformers, nothing of ours. The ids are in the memory of the device, and batches are drawn and
masked there. A model from scratch starts on short windows, since on long ones it stays for a long time at the
frequencies of single words; once the loss is under `PLATEAU`, batches grow to their full size. The learning rate rises
for `--warm-up` steps and then falls linearly to 0. The schedule counts tokens, not seconds, so a run that was
interrupted continues from OUT_FOLDER/checkpoint.pt and ends with the same weights.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.func import functional_call
from torch.nn import functional
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM

TRAINING_COUNTS = "training_counts.csv"
MASKED = 0.2
PLATEAU = 4.3
SHORT_RATE, SHORT_WARM_UP = 1e-3, 500
RECENT = 20
GOLDEN = 0.6180339887498949
CONFIG = {
    "num_hidden_layers": 6,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "max_position_embeddings": 512,
}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@dataclass(frozen=True)
class Shape:
    """A kind of batch: how many rows, how long, and whether each is one padded sentence."""

    rows: int
    length: int
    sentences: bool = False


def short_shape(batch: int) -> Shape:
    """The batches that a model from scratch starts on: an eighth of the tokens, in windows of 32."""
    return Shape(batch // 256, 32)


def full_shapes(batch: int) -> dict[Shape, float]:
    """Batches of `batch` tokens, and the share of each kind."""
    return {
        Shape(batch // 128, 128): 0.8,
        Shape(batch // 64, 64, sentences=True): 0.1,
        Shape(batch // 512, 512): 0.1,
    }


@dataclass(frozen=True)
class Batch:
    """Masked inputs, the masked positions, and the tokens there (-100: nothing to learn)."""

    ids: torch.Tensor
    types: torch.Tensor
    attention: torch.Tensor | None
    positions: torch.Tensor
    labels: torch.Tensor


class Text:
    """The ids of one file on the device.

    Windows and sentences are taken at the multiples of the golden ratio, modulo 1: a sequence that covers the file
    evenly, so that a budget of one pass leaves little text unread.
    """

    def __init__(self, ids: np.ndarray, tokenizer: Any, device: str) -> None:
        """Find the sentences: what lies between two full stops, 4 to 62 tokens."""
        self.ids = torch.from_numpy(ids.astype(np.int16)).to(device)
        self.taken = 0
        stops = torch.tensor(tokenizer.convert_tokens_to_ids(["[SEP]", ".", "!", "?"]), device=device)
        ends = torch.isin(self.ids, stops.to(torch.int16)).nonzero().squeeze(1)
        starts = torch.cat([ends.new_zeros(1), ends[:-1] + 1])
        lengths = ends - starts + (self.ids[ends] != tokenizer.sep_token_id).long()
        fits = (lengths >= 4) & (lengths <= 62)
        self.starts, self.lengths = starts[fits], lengths[fits]

    def take(self, rows: int, shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
        """The tokens of `rows` windows or sentences, and how many of them count in each row."""
        device = self.ids.device
        steps = torch.arange(self.taken + 1, self.taken + rows + 1, dtype=torch.float64).to(device)
        self.taken += rows
        fraction = torch.remainder(steps * GOLDEN, 1.0)
        if shape.sentences:
            chosen = (fraction * len(self.starts)).long()
            starts, lengths = self.starts[chosen], self.lengths[chosen]
        else:
            starts = (fraction * max(1, len(self.ids) - shape.length)).long()
            lengths = torch.full_like(starts, shape.length - 2)
        places = starts[:, None] + torch.arange(shape.length - 2, device=device)
        return self.ids[places.clamp_(max=len(self.ids) - 1)].long(), lengths


class Mixture:
    """Several files, each with its share of the rows, and masked batches from them."""

    def __init__(self, texts: dict[str, Text], shares: dict[str, float], tokenizer: Any, seed: int) -> None:
        """Files without a share divide what is left in proportion to their size."""
        rest = {name: len(text.ids) for name, text in texts.items() if name not in shares}
        left = 1.0 - sum(shares.values())
        self.shares = shares | {name: left * size / sum(rest.values()) for name, size in rest.items()}
        self.texts = texts
        self.tokenizer = tokenizer
        self.device = next(iter(texts.values())).ids.device
        self.draw = torch.Generator(self.device).manual_seed(seed)
        self.order = np.random.default_rng(seed)

    def choose_shape(self, shapes: dict[Shape, float]) -> Shape:
        """Draw the shape of a batch."""
        return list(shapes)[self.order.choice(len(shapes), p=list(shapes.values()))]

    def batch(self, shape: Shape) -> Batch:
        """Windows or sentences; 20 % of the ordinary tokens masked, 80/10/10."""
        rows = self.order.multinomial(shape.rows, [self.shares[name] for name in self.texts])
        parts = [text.take(int(count), shape) for text, count in zip(self.texts.values(), rows, strict=True) if count]
        body = torch.cat([ids for ids, _ in parts])
        lengths = torch.cat([lengths for _, lengths in parts])
        pad, cls, sep = self.tokenizer.pad_token_id, self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        body.masked_fill_(torch.arange(shape.length - 2, device=self.device) >= lengths[:, None], pad)
        ids = functional.pad(body, (1, 1), value=pad)
        ids[:, 0] = cls
        ids.scatter_(1, lengths[:, None] + 1, sep)
        ordinary = ~torch.isin(ids, torch.tensor([pad, cls, sep], device=self.device))
        types = ((ids == sep).cumsum(1) - (ids == sep).long()).clamp_(max=1)
        paired = self._random(shape.rows, 1) < 0.5
        types = types * paired * (ids != pad)
        most = round(MASKED * shape.length)
        values, positions = self._random(*ids.shape).masked_fill_(~ordinary, 2.0).topk(most, dim=1, largest=False)
        counts = (ordinary.sum(1, keepdim=True) * MASKED).round_().clamp_(min=1)
        learned = (torch.arange(most, device=self.device) < counts) & (values < 2.0)
        truth = ids.gather(1, positions)
        fate = self._random(*truth.shape)
        random = 5 + (self._random(*truth.shape) * (self.tokenizer.vocab_size - 5)).long()
        mask = self.tokenizer.mask_token_id
        shown = torch.where(fate < 0.8, mask, torch.where(fate < 0.9, random, truth))
        ids = ids.scatter(1, positions, torch.where(learned, shown, truth))
        attention = (ids != pad).long() if shape.sentences else None
        return Batch(ids, types, attention, positions, truth.masked_fill(~learned, -100))

    def _random(self, *size: int) -> torch.Tensor:
        return torch.rand(*size, generator=self.draw, device=self.device)

    def state_dict(self) -> dict[str, Any]:
        """All that the next batch depends on."""
        taken = {name: text.taken for name, text in self.texts.items()}
        return {"draw": self.draw.get_state(), "order": self.order.bit_generator.state, "taken": taken}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue where another run stopped."""
        self.draw.set_state(state["draw"].cpu())
        self.order.bit_generator.state = state["order"]
        for name, text in self.texts.items():
            text.taken = state["taken"][name]


class MaskedHead(torch.nn.Module):
    """A masked language model that computes the logits at masked positions only."""

    def __init__(self, model: BertForMaskedLM) -> None:
        """Share the weights of `model`."""
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> torch.Tensor:
        """The logits at the positions of a batch."""
        hidden = self.model.bert(batch.ids, batch.attention, batch.types).last_hidden_state
        picked = hidden.gather(1, batch.positions[..., None].expand(-1, -1, hidden.shape[-1]))
        logits: torch.Tensor = self.model.cls(picked).float()
        return logits


def predict(head: MaskedHead, batch: Batch, precision: torch.dtype) -> torch.Tensor:
    """The logits, with weights and activations in `precision`; gradients reach the float32 weights."""
    weights = {name: weight.to(precision) for name, weight in head.named_parameters()}
    logits: torch.Tensor = functional_call(head, weights, batch)
    return logits


def compute_loss(head: MaskedHead, batch: Batch, precision: torch.dtype) -> torch.Tensor:
    """The mean cross-entropy over masked positions."""
    return functional.cross_entropy(predict(head, batch, precision).flatten(0, 1), batch.labels.flatten())


def make_optimizer(model: BertForMaskedLM) -> torch.optim.AdamW:
    """AdamW; biases and norms do not decay."""
    decaying = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": decaying, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-6, fused=True)


@torch.no_grad()
def evaluate(head: MaskedHead, held_out: list[Batch], precision: torch.dtype) -> tuple[float, float]:
    """Loss and accuracy over the masked tokens of held-out text."""
    loss = correct = count = 0.0
    for batch in held_out:
        logits = predict(head, batch, precision).flatten(0, 1)
        labels = batch.labels.flatten()
        loss += functional.cross_entropy(logits, labels, reduction="sum").item()
        correct += (logits.argmax(-1) == labels).sum().item()
        count += (labels >= 0).sum().item()
    return loss / count, correct / count


def read_ids(folder: Path, prefix: str) -> dict[str, np.ndarray]:
    """The ids of the files whose shards are named PREFIX-FILE.NN.bin.xz, by file."""
    shards = sorted(folder.glob(f"{prefix}-*.bin.xz"))
    with ThreadPoolExecutor() as pool:
        parts = list(pool.map(lambda file: np.frombuffer(lzma.decompress(file.read_bytes()), np.uint16), shards))
    names = [file.name.removeprefix(f"{prefix}-").split(".")[0] for file in shards]
    return {
        name: np.concatenate([part for part, of in zip(parts, names, strict=True) if of == name])
        for name in dict.fromkeys(names)
    }


@dataclass
class Progress:
    """The progress of a run."""

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    short_tokens: int | None = None
    """The tokens and steps of the short windows, once they are over."""
    short_steps: int = 0
    losses: list[float] = field(default_factory=list)
    """The newest losses."""

    def learning_rate(self, options: argparse.Namespace) -> float:
        """The rate of the next step."""
        if self.short_tokens is None:
            return SHORT_RATE * min(1.0, (self.steps + 1) / SHORT_WARM_UP)
        start = SHORT_RATE if self.short_steps else 0.0
        warm = min(1.0, (self.steps - self.short_steps + 1) / options.warm_up)
        left = 1.0 - (self.tokens - self.short_tokens) / (options.tokens - self.short_tokens)
        return float((start + (options.rate - start) * warm) * left)


def parse_share(text: str) -> tuple[str, float]:
    """FILE=SHARE."""
    name, _, share = text.partition("=")
    return name, float(share)


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--start", type=Path, help="continue from the model in this folder")
    parser.add_argument("--tokens", type=float, default=4.2e9, help="the budget")
    parser.add_argument("--batch", type=int, default=262_144, help="tokens in a batch")
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--warm-up", type=int, default=500, help="steps until the learning rate is highest")
    parser.add_argument(
        "--mix", type=parse_share, nargs="*", default=[], metavar="FILE=SHARE", help="share of the rows"
    )
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, help="threads of a CPU")
    parser.add_argument("--precision", choices=("bf16", "float32"), default="bf16")
    parser.add_argument("--compile", action="store_true", help="compile the model")
    parser.add_argument("--evaluate-every", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--save-every", type=float, default=600.0, metavar="SECONDS")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS", help="end this stretch")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, print the curve, and save."""
    options = parse_options(arguments)
    torch.manual_seed(options.seed)
    if options.device == "cuda":
        torch.set_float32_matmul_precision("high")
    if options.threads:
        torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(options.prepared / "tokenizer")
    texts = {name: Text(ids, tokenizer, options.device) for name, ids in read_ids(options.prepared, "ids").items()}
    mixture = Mixture(texts, dict(options.mix), tokenizer, options.seed)
    held_out = {}
    for name, ids in read_ids(options.prepared, "held-out").items():
        unseen = Mixture({name: Text(ids, tokenizer, options.device)}, {}, tokenizer, options.seed + 1)
        held_out[name] = [unseen.batch(Shape(64, 128)) for _ in range(4)]
    if options.start:
        model = AutoModelForMaskedLM.from_pretrained(options.start, dtype=torch.float32, **NO_DROPOUT)
    else:
        words = {"vocab_size": tokenizer.vocab_size, "pad_token_id": tokenizer.pad_token_id}
        model = BertForMaskedLM(BertConfig(**words, **CONFIG, **NO_DROPOUT))
    model = model.to(options.device).train()
    optimizer = make_optimizer(model)
    head = MaskedHead(model)
    precision = torch.bfloat16 if options.precision == "bf16" else torch.float32
    loss_function = torch.compile(compute_loss, dynamic=False) if options.compile else compute_loss
    short, shapes = short_shape(options.batch), full_shapes(options.batch)
    progress = Progress(short_tokens=0 if options.start else None)
    checkpoint = options.out / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=options.device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        mixture.load_state_dict(state["mixture"])
        progress = Progress(**state["progress"])
    size = sum(p.numel() for p in model.parameters())
    print(f"{sum(len(text.ids) for text in texts.values()):,} ids, {size:,} parameters, {mixture.shares}", flush=True)

    def save() -> None:
        state = {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "mixture": mixture.state_dict(),
            "progress": asdict(progress),
        }
        torch.save(state, checkpoint.with_suffix(".new"))
        checkpoint.with_suffix(".new").replace(checkpoint)

    def report() -> dict[str, Any]:
        scores = {name: evaluate(head, batches, precision) for name, batches in held_out.items()}
        line: dict[str, Any] = {key: getattr(progress, key) for key in ("seconds", "steps", "tokens")}
        line["loss"] = sum(progress.losses) / max(1, len(progress.losses))
        line["held_out"] = {name: [round(loss, 4), round(share, 4)] for name, (loss, share) in scores.items()}
        with (options.out / "log.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)
        return line

    report()
    began = time.monotonic() - progress.seconds
    stretch_end = progress.seconds + options.stop_after
    evaluated = saved = progress.seconds
    losses: list[torch.Tensor] = []
    while progress.tokens < options.tokens:
        if progress.short_tokens is None and progress.steps >= SHORT_WARM_UP and np.mean(progress.losses) < PLATEAU:
            progress.short_tokens, progress.short_steps = progress.tokens, progress.steps
        shape = short if progress.short_tokens is None else mixture.choose_shape(shapes)
        batch = mixture.batch(shape)
        for group in optimizer.param_groups:
            group["lr"] = progress.learning_rate(options)
        loss = loss_function(head, batch, precision)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        progress.steps += 1
        progress.tokens += batch.ids.numel()
        progress.seconds = time.monotonic() - began
        if len(losses) < RECENT:
            continue
        progress.losses = torch.stack(losses).tolist()
        losses.clear()
        if progress.seconds - evaluated > options.evaluate_every:
            report()
            evaluated = progress.seconds
        stopped = progress.seconds > stretch_end
        if stopped or progress.seconds - saved > options.save_every:
            save()
            saved = progress.seconds
        if stopped:
            return
    save()
    summary = report() | {
        "parameters": size,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if options.device == "cuda" else options.device,
        "options": {name: str(value) for name, value in vars(options).items()},
    }
    model.save_pretrained(options.out / "model")
    tokenizer.save_pretrained(options.out / "model")
    counts = options.prepared / "tokenizer" / TRAINING_COUNTS
    if counts.exists():
        shutil.copy(counts, options.out / "model")
    (options.out / "train.json").write_text(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main()
