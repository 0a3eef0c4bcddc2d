"""On a CPU: how good is a pretrained model on text that it has not seen, and how does it complete 30 sentences?

    python tools/pretrain/evaluate.py MODEL PREPARED_FOLDER

Prints JSON (loss and accuracy of masked pieces, in 1,400 windows of 128 drawn from the held-out text) and a table of
completions. The interval takes masked pieces as independent.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from train import Shape, Text, evaluate, read
from transformers import AutoModelForMaskedLM, AutoTokenizer

from unmask.statistics.proportions import wilson_interval

WINDOWS = 1400  # of 128 pieces: about as many as the held-out text has


def main() -> None:
    """Evaluate and print."""
    folder, prepared = sys.argv[1], Path(sys.argv[2])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    unseen = Text(read(prepared / "held-out.bin.xz"), tokenizer, "cpu", seed=43)
    batches = [unseen.batch(Shape(100, 128)) for _ in range(WINDOWS // 100)]
    loss, accuracy = evaluate(model, batches, torch.autocast("cpu", enabled=False))
    count = sum(int((batch.labels >= 0).sum()) for batch in batches)
    print(
        json.dumps({"loss": loss, "accuracy": accuracy, "interval": wilson_interval(accuracy, count), "pieces": count})
    )
    for sentence in (Path(__file__).parent / "cloze.txt").read_text(encoding="utf-8").splitlines():
        encoded = tokenizer(sentence, return_tensors="pt")
        at = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero())
        with torch.no_grad():
            best = model(**encoded).logits[0, at].softmax(-1).topk(5)
        words = tokenizer.convert_ids_to_tokens(best.indices.tolist())
        found = ", ".join(f"{word} {p:.2f}" for word, p in zip(words, best.values.tolist(), strict=True))
        print("|", sentence.replace("[MASK]", "…"), "|", found, "|")


if __name__ == "__main__":
    main()
