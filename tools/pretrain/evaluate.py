"""On a CPU: how good is a pretrained model on text that it has not seen, and how does it complete 30 sentences?

    python tools/pretrain/evaluate.py MODEL PREPARED_FOLDER

Prints the loss and accuracy of masked tokens in 1,400 windows of 128 tokens of the held-out text, with and without the
text about people and professions, and a table of completions. The interval takes masked tokens as independent.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from train import MaskedHead, Mixture, Shape, Text, evaluate, read_ids
from transformers import AutoModelForMaskedLM, AutoTokenizer

from unmask.statistics.proportions import wilson_interval

WINDOWS = 1400  # of 128 tokens: about as many as the held-out text has


def main() -> None:
    """Evaluate and print."""
    folder, prepared = sys.argv[1], Path(sys.argv[2])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    files = {name: Text(ids, tokenizer, "cpu") for name, ids in read_ids(prepared, "held-out").items()}
    subsets = {"all": files, "without en-people": {name: text for name, text in files.items() if name != "en-people"}}
    for subset, texts in subsets.items():
        unseen = Mixture(texts, {}, tokenizer, seed=43)
        batches = [unseen.batch(Shape(100, 128)) for _ in range(WINDOWS // 100)]
        loss, accuracy = evaluate(MaskedHead(model), batches, torch.float32)
        count = sum(int((batch.labels >= 0).sum()) for batch in batches)
        interval = wilson_interval(accuracy, count)
        print(subset, json.dumps({"loss": loss, "accuracy": accuracy, "interval": interval, "tokens": count}))
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
