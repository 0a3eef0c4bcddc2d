"""Sent-Debias as its released code trains, and as its released checkpoint is loaded: without any projection.

Text is put into lower case and split at spaces. A sentence with a word of one of the ten definitional pairs is put into
the other gender by exchanging that word alone, once for each word of a pair that it has; the pair of names never
matches, since its names have capitals. The pooled outputs u (tanh of a linear map of the first token's state) of both
versions have length 1 and are centred on their mean; v is their first principal component.

A classifier is then fine-tuned on QNLI (does the sentence answer the question?). In its forward pass, the pooled output
becomes

    u → u − (u·v) v / (v·v),    scaled to length 1

with v fixed. This projection belongs to the authors' own program and is not in the weights that they saved. Loaded as
an ordinary encoder, as Bhang et al. did, the checkpoint is a BERT that was fine-tuned on QNLI, so these are the weights
that are kept here. The head of the masked language model stays as it was.

Learning rate 2e-5, warm-up over a tenth, weight decay .01, batches of 32, 128 tokens, 3 epochs, without dropout (the
released code leaves the model in evaluation mode). Its optimiser clips each parameter by itself, and ours all together.

P. P. Liang et al. (2020), Towards Debiasing Sentence Representations.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.sentences import split_sentences
from unmask.lexicon.table import read_text
from unmask.lexicon.word_lists import DEFINITIONAL_PAIRS
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.method import Job
from unmask.mitigations.states import FEWEST, LONGEST, gender_subspace
from unmask.mitigations.training import train
from unmask.models.batching import max_tokens
from unmask.models.checkpoints import choose_device
from unmask.models.loading import load_trainable
from unmask.training.examples import TextExample
from unmask.training.options import TrainingOptions
from unmask.training.tasks import Classification

LABELS = ("entailment", "not_entailment")
BATCH = 32
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def pair_sentences(sentences: Iterable[str]) -> list[tuple[str, str]]:
    """The female and the male version of each sentence, for each word of a pair that it has."""
    pairs = []
    for sentence in sentences:
        words = sentence.lower().strip().split(" ")
        for female, male in DEFINITIONAL_PAIRS:
            for word, other in ((female, male), (male, female)):
                if word in words:
                    versions = " ".join(words), " ".join(other if each == word else each for each in words)
                    pairs.append(versions if word == female else versions[::-1])
    return pairs


def read_qnli(path: Path) -> list[TextExample]:
    """The questions and sentences of GLUE's train.tsv."""
    rows = list(
        csv.DictReader(read_text(path, "GLUE’s train.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    )
    examples = [
        TextExample(row.get("question") or "", row.get("sentence") or "", row.get("label") or "") for row in rows
    ]
    wrong = [number for number, each in enumerate(examples, 2) if not each.text or each.label not in LABELS]
    if wrong or not examples:
        line = f", line {wrong[0]}," if wrong else ""
        raise UnmaskError(f"{path}{line} is not QNLI; give its train.tsv, with question, sentence and label")
    return examples


def project_pooled(pooled: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """Pooled outputs without a direction, of length 1."""
    direction = direction.to(pooled)
    rest: torch.Tensor = pooled - (pooled @ direction)[:, None] * direction / direction.dot(direction)
    return torch.nn.functional.normalize(rest, dim=-1)


def apply_released(job: Job) -> dict[str, Any]:
    """Find the direction, fine-tune on QNLI with it, and keep the encoder's weights."""
    examples = read_qnli(Path(job.options.qnli))
    limit = min(LONGEST, max_tokens(job.model) or LONGEST)
    torch.manual_seed(job.seed)  # of the new head
    trainable = load_trainable(job.subject.name, job.loading, labels=LABELS, architecture=NO_DROPOUT)
    classifier, encoder = trainable.model, trainable.model.base_model
    if getattr(encoder, "pooler", None) is None or "pooler" in trainable.trained_whole:
        raise UnmaskError(
            f"{job.subject.name} has no trained pooled output, which the published protocol reads; give a model such as"
            " bert-base-uncased, or leave out --protocol published"
        )
    texts = (text for document in job.documents for text in split_sentences(document, job.language))
    pairs = pair_sentences(texts)
    if len(pairs) < FEWEST:
        raise UnmaskError(
            f"the corpus has {len(pairs)} sentences with a definitional word, and {FEWEST} are needed; give another"
            " --corpus"
        )
    job.say(f"Reading the pooled outputs of {len(pairs):,} sentences in both genders")
    flat = [text for pair in pairs for text in pair]
    ends = _read_pooled(job, encoder, flat, limit).reshape(len(pairs), 2, -1)
    directions, shares = gender_subspace(ends, 1)
    direction = torch.tensor(directions[0], dtype=torch.float32)
    encoder.pooler.register_forward_hook(lambda *call: project_pooled(call[-1], direction))
    task = Classification(job.tokenizer, LABELS, limit)
    recipe: dict[str, Any] = {
        "epochs": 3,
        "learning_rate": 2e-5,
        "batch_size": BATCH,
        "warmup": 0.1,
        "weight_decay": 0.01,
    }
    settings = TrainingOptions(**recipe, keep="last", precision="no", seed=job.seed)
    identity = job.identity | {"QNLI": hash_texts(f"{each.text}\t{each.pair}\t{each.label}" for each in examples)}
    subject = replace(job.subject, model=classifier)
    details = train(replace(job, subject=subject, identity=identity), task, task.features(examples), [], settings)
    job.model.base_model.load_state_dict(encoder.state_dict(), strict=False)
    return {
        "sentences": len(pairs),
        "hash_of_the_sentences": hash_texts(flat),
        "explained_variance": shares,
        "direction_of_the_pooled_output": [float(value) for value in directions[0]],
        "kept_in": "Nowhere: the projection acts in training alone, and these are the weights fine-tuned on QNLI.",
        **details,
    }


def _read_pooled(job: Job, encoder: Any, texts: Sequence[str], limit: int) -> NDArray[np.float64]:
    """The pooled output of each text."""
    device, outputs = choose_device(job.loading.device), []
    encoder.to(device).eval()
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            inputs = job.tokenizer(
                list(texts[start : start + BATCH]), truncation=True, max_length=limit, padding=True, return_tensors="pt"
            )
            outputs.append(encoder(**inputs.to(device)).pooler_output.double().cpu().numpy())
            if job.progress:
                job.progress(min(start + BATCH, len(texts)), len(texts))
    encoder.to("cpu")
    return np.concatenate(outputs)
