"""On a CPU: texts → an untrained BERT that reads them letter by letter, for languages without spaces.

    python tools/characters/make.py OUT TEXT… [--hidden 256 --layers 4 --heads 4 --length 128 --seed 0]

Every TEXT is a file with a sentence a line. The folder OUT is a normal one: teach it the language, then inference, with

    unmask finetune mlm OUT --train TEXT --out language
    unmask finetune nli language --data jsick --out inference

Better than TEXT itself is what `twice.py` makes of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
FEWEST = 2  # a letter that is seen once cannot be learned


def tokenizer_of(lines: list[str], length: int) -> PreTrainedTokenizerFast:
    """Letters as tokens; the most frequent first."""
    normalizer = normalizers.NFKC()
    counts = Counter(letter for line in lines for letter in normalizer.normalize_str(line) if not letter.isspace())
    letters = [letter for letter, count in counts.most_common() if count >= FEWEST]
    vocabulary = {token: at for at, token in enumerate([*SPECIAL.values(), *letters])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL["unk_token"]))
    made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=length, model_input_names=inputs, **SPECIAL)


def main() -> None:
    """Make one folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    for name, value in (("hidden", 256), ("layers", 4), ("heads", 4), ("length", 128), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    lines = [line for text in asked.texts for line in text.read_text(encoding="utf-8").splitlines()]
    tokenizer = tokenizer_of(lines, asked.length)
    torch.manual_seed(asked.seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=asked.hidden,
        num_hidden_layers=asked.layers,
        num_attention_heads=asked.heads,
        intermediate_size=4 * asked.hidden,
        max_position_embeddings=asked.length,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForMaskedLM(config)
    model.save_pretrained(asked.out)
    tokenizer.save_pretrained(asked.out)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{asked.out}: {len(tokenizer):,} tokens, {count:,} parameters, untrained")


if __name__ == "__main__":
    main()
