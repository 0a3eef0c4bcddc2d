"""A small model and tokenizer of each family, saved to a folder as on a hub, with random weights.

Weights are drawn from a wide distribution, so that a wrong position or mask changes the scores visibly.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from toy_model import tokenizer_of
from unmask.measures.association.data import build_rows

TEXTS = (("en", "bec-pro"), ("de", "bec-pro"), ("en", "emotions"), ("de", "agreement-free"))
SENTENCES = [
    row.sentence
    for protocol in ("published", "sound")
    for language, corpus in TEXTS
    for row in build_rows(language, corpus, protocol=protocol)[::7]
]
LETTERS = "abcdefghijklmnopqrstuvwxyzßäöüABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ-.,"
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 80,
    "initializer_range": 0.25,
    "hidden_dropout_prob": 0.1,  # so that a model left in training mode shows
}
BERT_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}


def wordpiece(folder: Path, *, lowercase: bool = True, step: int = 1) -> Any:
    """Word pieces: only every `step`-th word is whole, the others are split."""
    del folder
    words = sorted({word.strip(".,") for text in SENTENCES for word in text.split()})
    return tokenizer_of([*words[::step], LETTERS], lowercase=lowercase)


def byte_bpe(folder: Path) -> Any:
    """Byte-level BPE with the leading space inside the token, as RoBERTa's; its mask swallows the space before it."""
    del folder
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=700, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    inner.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return transformers.RobertaTokenizer(
        tokenizer_object=inner,
        vocab=inner.get_vocab(),
        merges=[],
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        mask_token=transformers.AddedToken("<mask>", lstrip=True, special=True),
    )


def neox_bpe(folder: Path) -> Any:
    """Byte-level BPE with BERT's special tokens, offsets with the space, as ModernBERT's."""
    del folder
    inner = Tokenizer(models.BPE())
    inner.normalizer = normalizers.NFC()
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
    inner.decoder = decoders.ByteLevel()
    special = list(BERT_SPECIAL.values())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=700, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[(token, inner.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    mask = transformers.AddedToken("[MASK]", lstrip=True, special=True)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **(BERT_SPECIAL | {"mask_token": mask}))


def unigram(folder: Path) -> Any:
    """A Unigram tokenizer with a word-start sign, as XLM-RoBERTa's."""
    del folder
    inner = Tokenizer(models.Unigram())
    inner.normalizer = normalizers.NFKC()
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    inner.train_from_iterator(
        SENTENCES,
        trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False),
    )
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(token, inner.token_to_id(token)) for token in ("<s>", "</s>")]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
        mask_token=transformers.AddedToken("<mask>", lstrip=True, special=True),
    )


def sentencepiece_file(name: str, tokenizer_class: str, *, lowercase: bool) -> Callable[[Path], Any]:
    """A checkpoint that ships nothing but a SentencePiece model, as ALBERT's and DeBERTa's do."""

    def make(folder: Path) -> Any:
        text = folder / "text.txt"
        lines = [*SENTENCES, *LETTERS]
        text.write_text("\n".join(line.lower() if lowercase else line for line in lines), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(folder / "spm"),
            vocab_size=300,
            character_coverage=1.0,
            pad_id=0,
            unk_id=1,
            pad_piece="[PAD]",
            unk_piece="<unk>" if "Albert" in tokenizer_class else "[UNK]",
            bos_id=-1,
            eos_id=-1,
            user_defined_symbols=["[CLS]", "[SEP]", "[MASK]"],
            minloglevel=2,
        )
        text.unlink()
        (folder / "spm.vocab").unlink()
        (folder / "spm.model").rename(folder / name)
        config = (
            BERT_SPECIAL
            | ({"unk_token": "<unk>"} if "Albert" in tokenizer_class else {})
            | {"tokenizer_class": tokenizer_class, "do_lower_case": lowercase}
        )
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return None

    return make


def japanese_characters(folder: Path) -> Any:
    """A tokenizer written in Python, which keeps no character offsets."""
    words = sorted({word.strip(".,") for text in SENTENCES for word in text.split()})
    vocabulary = [*BERT_SPECIAL.values(), *words[::2], *LETTERS]
    vocabulary += [f"##{letter}" for letter in LETTERS]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)), encoding="utf-8")
    return transformers.BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type="basic",
        subword_tokenizer_type="wordpiece",
        do_lower_case=False,
    )


FAMILIES: dict[str, tuple[str, dict[str, Any], Callable[[Path], Any]]] = {
    "bert-uncased": ("BertForMaskedLM", {}, wordpiece),
    "bert-cased-in-pieces": (
        "BertForMaskedLM",
        {},
        lambda folder: wordpiece(folder, lowercase=False, step=3),
    ),
    "distilbert": (
        "DistilBertForMaskedLM",
        {
            "dim": 32,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 48,
            "max_position_embeddings": 80,
            "initializer_range": 0.25,
        },
        wordpiece,
    ),
    "roberta": ("RobertaForMaskedLM", {}, byte_bpe),
    "albert": (
        "AlbertForMaskedLM",
        {"embedding_size": 16},
        sentencepiece_file("spiece.model", "AlbertTokenizer", lowercase=True),
    ),
    "electra": ("ElectraForMaskedLM", {"embedding_size": 16}, wordpiece),
    "xlm-roberta": ("XLMRobertaForMaskedLM", {}, unigram),
    "deberta-v2": (
        "DebertaV2ForMaskedLM",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16},
        sentencepiece_file("spm.model", "DebertaV2Tokenizer", lowercase=False),
    ),
    "modernbert": (
        "ModernBertForMaskedLM",
        {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3, "local_attention": 8},
        neox_bpe,
    ),
    "mpnet": ("MPNetForMaskedLM", {}, wordpiece),
    "no-offsets": ("BertForMaskedLM", {}, japanese_characters),
}


def save(name: str, folder: Path) -> Path:
    """Save the model of a family to a folder."""
    architecture, options, make = FAMILIES[name]
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make(folder)
    if tokenizer is None:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    else:
        tokenizer.save_pretrained(folder)
    model_class = getattr(transformers, architecture)
    sizes = options if "dim" in options else SIZES | options
    config = model_class.config_class(**sizes, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    torch.manual_seed(11)
    model = model_class(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:  # biases and norms start constant, which would hide a mistake
                parameter.add_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    return folder
