"""On a CPU: text → a word-piece tokenizer, token ids for training, and ids of held-out text.

    python tools/pretrain/prepare.py TEXT_FOLDER OUT_FOLDER

TEXT_FOLDER holds `en-*.txt.xz` (or .gz, .txt), one paragraph a line. One paragraph in 500, chosen by its hash, is held
out: neither the tokenizer nor the model sees it. OUT_FOLDER gets `tokenizer/`, `ids-NN.bin.xz` (16-bit ids, each
paragraph ended by the separator; shards small enough to be sent in parts), `held-out.bin.xz` and `prepare.json`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from unmask.lexicon import words

VOCABULARY = 16_384
ALPHABET = 400  # rarer letters become [UNK]: foreign scripts in Wikipedia's brackets
HELD_OUT = 500
SHARD = 10_000_000
SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
OPEN: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open, ".txt": open}


def paragraphs(file: Path, *, held_out: bool) -> Iterator[str]:
    """The paragraphs of a file that are (or are not) held out."""
    with OPEN[file.suffix](file, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = line.strip()
            digest = hashlib.sha256(text.encode()).digest()
            if text and (int.from_bytes(digest[:8], "big") % HELD_OUT == 0) == held_out:
                yield text


def whole_words() -> list[str]:
    """Words that must be one token: the lexicon's person words, professions and emotions, and common occupations."""
    phrases = [person.phrase for name in ("persons", "persons_emotions") for person in words.persons("en", name)]
    attributes = [*words.attributes("en"), *words.attributes("en", "emotions")]
    phrases += [
        form for one in attributes for key, form in one.forms.items() if key in ("profession", "state", "situation")
    ]
    phrases += (Path(__file__).parent / "occupations.txt").read_text(encoding="utf-8").split()
    return sorted({word for phrase in phrases for word in phrase.lower().replace("-", " ").split()})


def train_tokenizer(texts: Iterable[str], required: list[str]) -> Tokenizer:
    """Uncased word pieces; required words that did not earn a place take those of the rarest pieces."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=VOCABULARY, limit_alphabet=ALPHABET, special_tokens=list(SPECIAL.values()), show_progress=False
        ),
    )
    ranked = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    missing = [word for word in required if word not in set(ranked)]
    kept = [*ranked[: VOCABULARY - len(missing)], *missing]
    tokenizer.model = models.WordPiece({piece: at for at, piece in enumerate(kept)}, unk_token="[UNK]")
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def ids_of(tokenizer: Tokenizer, texts: Iterable[str]) -> np.ndarray:
    """All paragraphs in one row of 16-bit ids, a separator after each."""
    end = np.array([tokenizer.token_to_id("[SEP]")], dtype=np.uint16)
    parts = []
    texts = iter(texts)
    while batch := list(islice(texts, 20_000)):
        pieces = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        parts.append(np.concatenate([part for one in pieces for part in (np.array(one.ids, dtype=np.uint16), end)]))
    return np.concatenate(parts)


def write_shard(path: Path, ids: np.ndarray) -> None:
    """Compress ids; the filter knows that they come two bytes at a time."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lp": 1, "lc": 3, "pb": 1}]
    path.write_bytes(lzma.compress(ids.tobytes(), format=lzma.FORMAT_XZ, filters=filters))


def main() -> None:
    """Prepare everything that needs no GPU."""
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    files = sorted(file for file in source.glob("en-*") if file.suffix in OPEN)
    if not files:
        sys.exit(f"{source} has no en-*.txt, .txt.gz or .txt.xz files")
    out.mkdir(parents=True, exist_ok=True)
    required = whole_words()
    tokenizer = train_tokenizer((text for file in files for text in paragraphs(file, held_out=False)), required)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **SPECIAL).save_pretrained(
        out / "tokenizer"
    )
    print(f"tokenizer of {tokenizer.get_vocab_size()} pieces", flush=True)
    seen = np.concatenate([ids_of(tokenizer, paragraphs(file, held_out=False)) for file in files])
    unseen = np.concatenate([ids_of(tokenizer, paragraphs(file, held_out=True)) for file in files])
    shards = {
        out / f"ids-{at:02d}.bin.xz": part for at, part in enumerate(np.array_split(seen, -(-len(seen) // SHARD)))
    }
    with ProcessPoolExecutor() as pool:
        list(pool.map(write_shard, [*shards, out / "held-out.bin.xz"], [*shards.values(), unseen]))
    facts = {
        "files": [file.name for file in files],
        "tokens": len(seen),
        "held_out_tokens": len(unseen),
        "unknown": float((seen == tokenizer.token_to_id("[UNK]")).mean()),
        "required_words": len(required),
    }
    (out / "prepare.json").write_text(json.dumps(facts, indent=2))
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
