"""On a CPU: text → a word-piece tokenizer, token ids for training, and ids of held-out text.

    python tools/pretrain/prepare.py TEXT_FOLDER OUT_FOLDER [--tokenizer FOLDER] [--against FOLDER ...]

TEXT_FOLDER holds `en-*.txt.xz` (or .gz, .txt), one paragraph a line. One paragraph in 500, chosen by its hash, is held
out: neither the tokenizer nor the model sees it. Comma-separated lists of job titles or names are left out of training,
and so are paragraphs that share eight words in a row with a sentence of the package or of the test corpora given by
`--against`.

OUT_FOLDER gets `tokenizer/`, `ids-FILE.NN.bin.xz` (16-bit ids of each text file, a separator after each paragraph;
shards of at most 10 million ids), `held-out-FILE.bin.xz`, `prepare.json`, and, beside the tokenizer, how often the
training text names each profession (`training_counts.csv`).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from overlap import test_ngrams, word_ngrams
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


def is_list(text: str) -> bool:
    """Whether a paragraph is a comma-separated list of job titles or names rather than prose."""
    entries = text.split(", ")
    is_prose = "." in text or any(entry.startswith(("and ", "or ")) for entry in entries)
    ends_bare = text[-1].isalnum() or text[-1] == ")"
    return len(entries) > 3 and ends_bare and not is_prose and mean(len(entry.split()) for entry in entries) < 5


def encode_paragraphs(tokenizer: Tokenizer, texts: Iterable[str]) -> np.ndarray:
    """All paragraphs in one row of 16-bit ids, a separator after each."""
    end = np.array([tokenizer.token_to_id("[SEP]")], dtype=np.uint16)
    parts = [np.empty(0, dtype=np.uint16)]
    texts = iter(texts)
    while batch := list(islice(texts, 20_000)):
        encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        parts.append(np.concatenate([part for e in encodings for part in (np.array(e.ids, dtype=np.uint16), end)]))
    return np.concatenate(parts)


def profession_patterns() -> dict[str, re.Pattern[str]]:
    """What finds each English profession as a whole phrase, singular or plural."""
    phrases = [attribute.forms["profession"].lower() for attribute in words.attributes("en")]
    return {phrase: re.compile(rf"\b{re.escape(phrase)}s?\b") for phrase in phrases}


@dataclass(frozen=True)
class PreparedFile:
    """The ids of a file."""

    seen: np.ndarray
    held_out: np.ndarray
    paragraphs: Counter[str]
    """How many there are, and how many were left out of training and why."""
    professions: Counter[str]
    """How often the training text names each."""


def prepare_file(file: Path, *, tokenizer: Tokenizer, ngrams: dict[str, set[int]]) -> PreparedFile:
    """Encode a file, without what must not be in the training text."""
    counts: Counter[str] = Counter()
    professions: Counter[str] = Counter()
    patterns = profession_patterns()
    any_profession = re.compile("|".join(map(re.escape, patterns)))

    def usable(text: str) -> bool:
        own = set(word_ngrams(text))
        shared = [name for name, known in ngrams.items() if not known.isdisjoint(own)]
        reasons = [f"overlaps with {name}" for name in shared] or ["list"] * is_list(text)
        counts.update(["paragraphs", *reasons])
        if not reasons and any_profession.search(lowered := text.lower()):
            professions.update({phrase: len(pattern.findall(lowered)) for phrase, pattern in patterns.items()})
        return not reasons

    seen = encode_paragraphs(tokenizer, filter(usable, paragraphs(file, held_out=False)))
    held_out = encode_paragraphs(tokenizer, paragraphs(file, held_out=True))
    return PreparedFile(seen, held_out, counts, professions)


def write_shard(path: Path, ids: np.ndarray) -> None:
    """Compress ids; the filter knows that they come two bytes at a time."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lp": 1, "lc": 3, "pb": 1}]
    path.write_bytes(lzma.compress(ids.tobytes(), format=lzma.FORMAT_XZ, filters=filters))


def write_counts(path: Path, counts: Iterable[Counter[str]]) -> None:
    """Write how often all files together name each profession, the rarest first."""
    total = Counter(dict.fromkeys(profession_patterns(), 0))
    for count in counts:
        total.update(count)
    rows = sorted(total.items(), key=lambda item: (item[1], item[0]))
    path.write_text("phrase,count\n" + "".join(f"{phrase},{count}\n" for phrase, count in rows), encoding="utf-8")


def main() -> None:
    """Prepare everything that needs no GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, metavar="TEXT_FOLDER")
    parser.add_argument("out", type=Path, metavar="OUT_FOLDER")
    parser.add_argument("--tokenizer", type=Path, help="use the tokenizer of this model folder; train none")
    parser.add_argument("--against", type=Path, nargs="*", default=[], help="folders of test corpora")
    options = parser.parse_args()
    files = sorted(file for file in options.text.glob("en-*") if file.suffix in OPEN)
    if not files:
        parser.error(f"{options.text} has no en-*.txt, .txt.gz or .txt.xz files")
    folder = options.out / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    if options.tokenizer:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(options.tokenizer / name, folder / name)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
    else:
        training_text = (text for file in files for text in paragraphs(file, held_out=False))
        tokenizer = train_tokenizer(training_text, whole_words())
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **SPECIAL).save_pretrained(folder)
    ngrams = test_ngrams(options.against)
    print({name: len(known) for name, known in ngrams.items()}, flush=True)
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:  # a fork has the same hashes
        parts = dict(
            zip(files, pool.map(partial(prepare_file, tokenizer=tokenizer, ngrams=ngrams), files), strict=True)
        )
        targets = {}
        for file, part in parts.items():
            name = file.name.split(".")[0]
            for number, shard in enumerate(np.array_split(part.seen, -(-len(part.seen) // SHARD))):
                targets[options.out / f"ids-{name}.{number:02d}.bin.xz"] = shard
            targets[options.out / f"held-out-{name}.bin.xz"] = part.held_out
        list(pool.map(write_shard, targets.keys(), targets.values()))
    write_counts(folder / "training_counts.csv", [part.professions for part in parts.values()])
    unknown = sum(int((part.seen == tokenizer.token_to_id("[UNK]")).sum()) for part in parts.values())
    tokens = sum(len(part.seen) for part in parts.values())
    facts = {
        "tokens": tokens,
        "unknown": unknown / tokens,
        "files": {
            file.name: {"tokens": len(part.seen), "held_out_tokens": len(part.held_out), **part.paragraphs}
            for file, part in parts.items()
        },
    }
    (options.out / "prepare.json").write_text(json.dumps(facts, indent=2))
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
