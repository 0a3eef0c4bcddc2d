"""The tools that made the embedded model: what they keep out of training, and that a stopped run ends the same."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
import torch
import train
from overlap import package_sentences, word_ngrams
from prepare import is_list
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

from unmask.embedded import MODELS

STEPS = 50


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of ids and a tiny model to start from."""
    folder = tmp_path_factory.mktemp("prepared")
    tokenizer = AutoTokenizer.from_pretrained(MODELS["unmask-mini"].folder)
    tokenizer.save_pretrained(folder / "tokenizer")
    numbers = np.random.default_rng(0)
    stops = tokenizer.convert_tokens_to_ids([".", "[SEP]"])
    for name in ("ids-en-old.00", "ids-en-new.00", "held-out-en-old", "held-out-en-new"):
        ids = numbers.integers(1_000, 2_000, 6_000)
        ids[9::10] = numbers.choice(stops, 600)
        (folder / f"{name}.bin.xz").write_bytes(lzma.compress(ids.astype(np.uint16).tobytes()))
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertForMaskedLM(BertConfig(vocab_size=tokenizer.vocab_size, **shape)).save_pretrained(folder / "start")
    return folder


def run_training(prepared: Path, out: Path, *options: str) -> None:
    fixed = f"--start {prepared / 'start'} --device cpu --threads 1 --batch 512 --tokens {512 * STEPS}"
    train.main([str(prepared), str(out), *fixed.split(), "--mix", "en-new=0.6", "--warm-up", "5", *options])


def test_pretraining_in_stretches_ends_with_the_same_weights(prepared: Path, tmp_path: Path) -> None:
    run_training(prepared, tmp_path / "whole")
    for _ in range(3):  # a stretch ends after 20 steps
        assert not (tmp_path / "stretches" / "model").exists()
        run_training(prepared, tmp_path / "stretches", "--stop-after", "0")
    whole, stretches = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("whole", "stretches"))
    start = load_file(prepared / "start" / "model.safetensors")
    assert all(torch.equal(weight, stretches[name]) for name, weight in whole.items())
    assert not torch.equal(whole["cls.predictions.bias"], start["cls.predictions.bias"])


def test_lists_of_titles_are_not_prose() -> None:
    assert is_list("Roofer, Roofing Foreman, Shingler, Slate Roofer, Tile Setter")
    assert not is_list("She was a roofer, a mason, a plumber and a carpenter before the war began.")
    assert not is_list("Nurses, teachers, and other public workers")


def test_eight_words_in_a_row_are_an_overlap() -> None:
    known = {ngram for sentence in package_sentences() for ngram in word_ngrams(sentence)}
    assert not known.isdisjoint(
        word_ngrams("We heard that My mother, who is a kindergarten teacher, had a good day at work.")
    )
    assert known.isdisjoint(word_ngrams("My mother is a kindergarten teacher."))
