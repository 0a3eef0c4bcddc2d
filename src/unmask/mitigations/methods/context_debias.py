"""Context-Debias: fine-tuning that makes stereotype words orthogonal to gender and preserves everything else.

Sentences are sorted by their words, as in the published preprocessing: a sentence with words of one gender belongs to
that gender, one with words of both is not used, and one with a stereotype word counts as such only if it has no
gendered word. Gender sentences give the gender vectors and are to stay as they are; stereotype sentences are to change.

With E_i(t; x) the hidden state of token t of sentence x at layer i (layer 0 is the embedding layer), and v_i(g) the
mean state of all occurrences of words of gender g in the corpus, in the *original* model:

    L     = mean over stereotype sentences x, chosen tokens t of x and chosen layers i of  Σ_g ⟨v_i(g), E_i(t; x)⟩²
    L_reg = mean over gender sentences x, their tokens t, all layers i and dimensions of   (E_i(t; x) - E'_i(t; x))²
    loss  = α L / L' + β L_reg / R'

where E' is the original model, which stays as it was, L' is L in that model, and R' the mean square of its states.
The paper has no L' and R'. But squared products of states are in the thousands and changes of states below 1, so that
with the published weights a step that holds both follows L alone, and is then clipped, which leaves L_reg no weight.
(In the published code a step has sentences of one type, and is clipped by itself.) Divided so, both parts are shares,
and α and β mean the same for every model. With `relative` off, it is the paper's loss.

Padding has no effect. The chosen tokens are all ordinary tokens of the sentence, or the stereotype words alone; a word
of several pieces is the mean of its pieces' states.

The paper's sum runs over the vectors of single gender words; its code has one vector per gender, as here. That code
computes the vectors anew from the model in training before each epoch, squares the mean product of a whole batch where
the formula has the mean of squares, and attends to padding. Here it is the formula, and each row has its own mean, so
that neither batches nor padding change anything.

The other defaults are the published ones: all tokens, all layers, α .2, β .8, AdamW 5e-5 without warm-up or decay, 32
sentences a step, 3 epochs, and the three types of sentence count alike. The gendered words are ours; the published
lists can be given as files. `published` trains as the released code does, with its lists (`released_context_debias`).
Several stereotype words are professions that the association measure uses, so the record
names them: on those, a smaller association only shows that the training worked, and says little about others.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import model_validator

from unmask.errors import UnmaskError, quote
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.sentences import split_sentences
from unmask.lexicon.word_lists import read_word_list, stereotype_words
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.method import Job, Method
from unmask.mitigations.released_context_debias import is_released_length, read_released_lists, train_as_released
from unmask.mitigations.training import MethodTrainingOptions, train
from unmask.models.batching import IGNORED, Batch, max_tokens, move_batch
from unmask.models.roles import Span
from unmask.models.tokenization import locate_word
from unmask.options import option
from unmask.training.examples import TextExample
from unmask.training.loop import evaluate, make_accelerator, run_in_parts
from unmask.training.options import FEWEST_TOKENS
from unmask.training.tasks import Features, Task

GENDERS = ("female", "male")
KINDS = ("stereotype", *GENDERS)
"""What a sentence is used for; the index is its label."""
REQUIRED = {
    "stereotype": "a stereotype word and no gendered one",
    "female": "a female word and no male one",
    "male": "a male word and no female one",
}
MOST_HELD_OUT = 1000
_WORD = re.compile(r"\w+")


class ContextDebiasOptions(MethodTrainingOptions):
    """How to train, what the loss looks at, and lists of your own."""

    warmup: float = option(
        0.0, "The share of steps in which the learning rate rises; then it falls to 0.", minimum=0, below=1
    )
    weight_decay: float = option(0.0, "Weight decay of AdamW.", minimum=0)
    max_length: int = option(128, "Tokens; longer sentences are cut.", minimum=FEWEST_TOKENS)
    held_out: float = option(
        0.05,
        "The share of each kind of sentence that only shows how training goes, 1,000 at most.",
        minimum=0,
        below=1,
    )
    precision: str = option(
        "no", "no: what is compared differs by little, so this method trains in full precision.", choices=("no",)
    )
    tokens: str = option(
        "all",
        "What is made orthogonal to gender: all tokens of a sentence, or one, the stereotype word.",
        choices=("all", "one"),
    )
    layers: str = option(
        "all", "At which layers: all, last, or first (the embeddings).", choices=("all", "last", "first")
    )
    alpha: float = option(0.2, "The weight of orthogonality.", above=0)
    beta: float = option(0.8, "The weight of keeping what sentences with gendered words mean.", minimum=0)
    sentences: int = option(0, "The most sentences of each kind (female, male, stereotype); 0: all.", minimum=0)
    relative: bool = option(
        True, "Make each part of the loss relative to the original model, so that neither outweighs the other."
    )
    balance: bool = option(True, "Count the three kinds of sentence alike, however many there are of each.")
    stereotypes: str | None = option(
        None, "A .txt with one stereotype word per line, in place of the built-in list.", path=True
    )
    female: str | None = option(
        None, "A .txt with one female word per line, in place of the built-in ones; needs male too.", path=True
    )
    male: str | None = option(None, "A .txt with one male word per line; needs female too.", path=True)
    lists: str | None = option(
        None,
        "For --protocol published: the folder with the authors' female.txt, male.txt and stereotype.txt.",
        path=True,
    )

    @model_validator(mode="after")
    def _check_lists(self) -> ContextDebiasOptions:
        if bool(self.female) != bool(self.male):
            raise UnmaskError("of the settings female and male only one is given; give a file for each")
        return self


class WholeWords:
    """A list of words and phrases to search for; `man` matches in *Man's* and in *man-made*, not in *manual*.

    Of several matches that begin at one character the longest counts, and matches do not overlap.
    """

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words in lower case; each begins with a letter or digit."""
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for word in sorted(words, key=len, reverse=True):
            start = _WORD.match(word)
            assert start is not None, word
            self._by_start[start.group()].append(word)

    def find_spans(self, text: str) -> list[Span]:
        """Return the start and end of every match."""
        spans: list[Span] = []
        for match in _WORD.finditer(text):
            start = match.start()
            if spans and start < spans[-1][1]:
                continue
            for word in self._by_start.get(match.group().lower(), ()):
                end = start + len(word)
                if text[start:end].lower() == word and not (end < len(text) and _WORD.match(text, end)):
                    spans.append((start, end))
                    break
        return spans


def gather_words(language: str, gendered: tuple[Path, Path] | None, stereotypes: Path | None) -> dict[str, list[str]]:
    """Return the words of each kind in lower case: the built-in ones, or those of files.

    A stereotype word that is gendered (*waiter*) counts as gendered only.
    """
    if gendered:
        lists = {gender: read_word_list(path) for gender, path in zip(GENDERS, gendered, strict=True)}
    else:
        terms = gender_words("all", language)
        words = terms.before_names | terms.words
        words.pop("miss", None)  # mostly a verb
        lists = {gender: [word for word, term in words.items() if term.gender == gender] for gender in GENDERS}
    ambiguous = set(lists["female"]) & set(lists["male"])
    if ambiguous:
        raise UnmaskError(f"{quote(sorted(ambiguous))} in the lists of both genders; give each word in one of them")
    if language != "en" and not stereotypes:
        raise UnmaskError(f"there are no stereotype words for {language!r}; give some with --set stereotypes=FILE")
    candidates = read_word_list(stereotypes) if stereotypes else stereotype_words(language)
    gendered_words = {*lists["female"], *lists["male"]}
    return {"stereotype": [word for word in candidates if word not in gendered_words], **lists}


def sort_sentences(
    texts: Iterable[str], lists: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return the sentences of each kind, and how many are not used for which reason."""
    finders = {kind: WholeWords(words) for kind, words in lists.items()}
    sentences: dict[str, list[str]] = {kind: [] for kind in lists}
    unused = {"of_both_genders": 0, "without_such_words": 0}
    for text in texts:
        genders = [gender for gender in GENDERS if finders[gender].find_spans(text)]
        if len(genders) == 2:
            unused["of_both_genders"] += 1
        elif genders:
            sentences[genders[0]].append(text)
        elif finders["stereotype"].find_spans(text):
            sentences["stereotype"].append(text)
        else:
            unused["without_such_words"] += 1
    return sentences, unused


def count_stereotypes(texts: Iterable[str], words: Sequence[str]) -> dict[str, Any]:
    """Count the stereotype words in the texts, and name BEC-Pro's professions among them, whole or in part."""
    finder = WholeWords(words)
    matches = {text[start:end].lower() for text in texts for start, end in finder.find_spans(text)}
    professions = [profession.name for profession in attributes("en")]
    part = WholeWords(matches)
    return {
        "stereotype_words": len(matches),
        "bec_pro_professions": [name for name in professions if name in matches],
        "bec_pro_professions_in_part": [name for name in professions if name not in matches and part.find_spans(name)],
        "of_bec_pro_professions": len(professions),
    }


def hidden_states(model: Any, batch: Batch) -> torch.Tensor:
    """Compute the states of a batch (layers × rows × tokens × dimensions), without running the head."""
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return torch.stack(model.base_model(**inputs, output_hidden_states=True).hidden_states)


def pool_groups(states: torch.Tensor, groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the mean state of each group of tokens (layers × groups × dimensions), and the row of each group.

    Groups are numbered from 1 in each row; 0 means no group.
    """
    rows, columns = groups.nonzero(as_tuple=True)
    step = int(groups.max()) + 1
    names, inverse = torch.unique(rows * step + groups[rows, columns], return_inverse=True)
    sizes = torch.bincount(inverse, minlength=len(names))
    totals = torch.zeros(len(states), len(names), states.shape[-1]).to(states)
    return totals.index_add(1, inverse, states[:, rows, columns]) / sizes[:, None], names // step


def orthogonality(
    states: torch.Tensor, groups: torch.Tensor, vectors: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute L of each row: the mean of Σ_g ⟨v(g), E⟩² over its groups and the layers.

    `vectors` are layers × genders × dimensions. The second result, for the record, is the mean |cosine| of each group
    with each vector (groups × genders).
    """
    words, rows = pool_groups(states, groups)
    products = torch.einsum("lwd,lgd->wlg", words, vectors)
    with torch.no_grad():
        lengths = words.norm(dim=-1).T[:, :, None] * vectors.norm(dim=-1)
        cosines = (products / lengths.clamp_min(1e-12)).abs().mean(dim=1)
    squares = products.pow(2).sum(dim=-1).mean(dim=-1)
    totals = torch.zeros(len(groups)).to(squares).index_add(0, rows, squares)
    return totals / torch.bincount(rows, minlength=len(groups)), cosines


def preservation(states: torch.Tensor, before: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Compute L_reg of each row: the mean squared change over layers, dimensions and attended tokens."""
    changes = (states - before).pow(2).mean(dim=(0, 3))
    return (changes * attention).sum(dim=1) / attention.sum(dim=1)


class ContextDebias(Task):
    """The training task; call `learn_genders` before running it."""

    metric = "loss"
    higher_is_better = False

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        words: Mapping[str, Iterable[str]],
        max_length: int,
        *,
        tokens: str = "all",
        layers: str = "all",
        alpha: float = 0.2,
        beta: float = 0.8,
    ) -> None:
        """Copy the model as it is now; `words` has a list for each of `KINDS`."""
        if not getattr(tokenizer, "is_fast", False):
            raise UnmaskError(
                "the tokenizer keeps no character offsets, so words cannot be found in its tokens; give a model with a"
                " fast tokenizer"
            )
        self.original = copy.deepcopy(model).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.words = {kind: WholeWords(words[kind]) for kind in KINDS}
        self.max_length = max_length
        self.tokens, self.layers, self.alpha, self.beta = tokens, layers, alpha, beta
        self.vectors = torch.empty(0)
        """The gender vectors: layers × (female, male) × dimensions."""
        self.weights = torch.empty(0)
        """The weight of a row of each kind."""

    def features(self, examples: Sequence[TextExample]) -> list[Features]:
        """Tokenise; the label of an example is its kind. Examples without such a word within reach are left out.

        `groups` numbers from 1 the tokens to look at, word by word or one by one; 0 is everything else.
        """
        if not examples:
            return []
        encoded = self.tokenizer(
            [example.text for example in examples],
            truncation=True,
            max_length=self.max_length,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        special = set(self.tokenizer.all_special_ids)
        features = []
        for row, example in enumerate(examples):
            ids = encoded["input_ids"][row]
            marks = zip(encoded["offset_mapping"][row], encoded["special_tokens_mask"][row], strict=True)
            spans = [None if is_special else span for span, is_special in marks]
            kind = KINDS.index(example.label or "")
            groups = [0] * len(ids)
            for span in self.words[KINDS[kind]].find_spans(example.text):
                tokens = locate_word(self.tokenizer, example.text, span, ids, spans)
                if tokens is not None and special.isdisjoint(ids[tokens]):
                    groups[tokens] = [max(groups) + 1] * len(ids[tokens])
            if any(groups):
                if kind == 0 and self.tokens == "all":
                    groups = [0 if token in special else number for number, token in enumerate(ids, 1)]
                features.append({"input_ids": ids, "groups": groups, "labels": [kind]})
        return features

    def learn_genders(
        self, features: Sequence[Features], accelerator: Any, *, rows: int, balance: bool, relative: bool
    ) -> None:
        """Compute the gender vectors of the original model, and the weight of each kind of row.

        Balanced, each kind counts for a third of the loss, however rare it is. Relative, L is divided by its value in
        the original model, and L_reg by the mean square of that model's states.
        """
        by_kind = [[row for row in features if row["labels"] == [kind]] for kind in range(len(KINDS))]
        vectors, size = [], 0.0
        for subset in by_kind[1:]:
            words, count, squares = self._sum_over(subset, _sum_words_and_squares, accelerator, rows)
            vectors.append((words / count).float())
            size += float(squares)
        self.vectors = torch.stack(vectors, dim=1)
        self.weights = torch.tensor([self.alpha, self.beta, self.beta])
        if balance:
            self.weights = self.weights * torch.tensor(
                [len(features) / (len(KINDS) * len(subset)) for subset in by_kind]
            )
        if relative:
            (squares,) = self._sum_over(
                by_kind[0], lambda *parts: [self._orthogonality(*parts)[0].sum()], accelerator, rows
            )
            pull, size = float(squares) / len(by_kind[0]), size / len(by_kind[1] + by_kind[2])
            self.weights = self.weights / torch.tensor([pull or 1.0, size or 1.0, size or 1.0])

    def _sum_over(
        self,
        features: Sequence[Features],
        measure: Callable[[torch.Tensor, Batch], Sequence[torch.Tensor]],
        accelerator: Any,
        rows: int,
    ) -> list[torch.Tensor]:
        """Sum over all rows what is measured on the original model's states."""
        features = sorted(features, key=lambda row: len(row["input_ids"]))

        def run(part: Sequence[int]) -> list[torch.Tensor]:
            batch = move_batch(self.batch([features[row] for row in part], ()), accelerator.device)
            states = hidden_states(self.original.to(accelerator.device), batch)
            return [value.double().cpu() for value in measure(states, batch)]

        with torch.no_grad():
            sums = list(run_in_parts(run, range(len(features)), rows, accelerator))
        return [sum(values) for values in zip(*sums, strict=True)]

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """Return the summed loss, the number of rows, each kind's part and rows, then cosines and their number."""
        labels = batch["labels"]
        counted = labels != IGNORED
        states = hidden_states(model, batch)
        values = torch.zeros(len(labels), device=labels.device)
        summed_cosines = torch.zeros(3, device=labels.device)
        stereotype, gender = (labels == 0).nonzero()[:, 0], (labels > 0).nonzero()[:, 0]
        if len(stereotype):
            inputs = {name: tensor[stereotype] for name, tensor in batch.items()}
            values[stereotype], cosines = self._orthogonality(states[:, stereotype], inputs)
            summed_cosines = torch.cat([cosines.sum(dim=0), torch.tensor([len(cosines)]).to(cosines)])
        if len(gender):
            inputs = {name: tensor[gender] for name, tensor in batch.items()}
            with torch.no_grad():
                before = hidden_states(self.original.to(labels.device), inputs)
            values[gender] = preservation(states[:, gender], before, inputs["attention_mask"])
        is_kind = labels[:, None] == torch.arange(len(KINDS), device=labels.device)
        parts = (values[:, None] * is_kind).sum(dim=0)
        loss = (parts * self.weights.to(values)).sum()
        sums = (loss[None], counted.sum()[None], parts, is_kind.sum(dim=0), summed_cosines)
        return torch.cat([part.to(values) for part in sums])

    def _orthogonality(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        layers = {"all": slice(None), "last": slice(-1, None), "first": slice(1)}[self.layers]
        return orthogonality(states[layers], batch["groups"], self.vectors.to(states.device)[layers])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute the loss; L and L_reg, None where there were no rows; and the mean |cosine| with each gender."""
        loss, count, stereotypes, female, male, *counts, to_female, to_male, words = sums.double().tolist()
        kept_rows = counts[1] + counts[2]
        return {
            "loss": loss / count,
            "orthogonality": stereotypes / counts[0] if counts[0] else None,
            "preservation": (female + male) / kept_rows if kept_rows else None,
            "cosine": {"female": to_female / words if words else None, "male": to_male / words if words else None},
            "rows": int(count),
        }


def _sum_words_and_squares(states: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
    """Return the summed states of words, the number of words, and the summed mean square of the rows' states."""
    words, _ = pool_groups(states, batch["groups"])
    squares = preservation(states, torch.zeros_like(states), batch["attention_mask"])
    return [words.double().sum(dim=1), torch.tensor(words.shape[1]), squares.sum()]


def apply(job: Job) -> dict[str, Any]:
    """Sort the sentences, compute the gender vectors, train."""
    settings: ContextDebiasOptions = job.options
    is_published = job.protocol == "published"
    lists = _read_lists(job)
    accelerator = make_accelerator(settings.loop(job.seed), job.loading)
    hashes = {kind: hash_texts(sorted(words)) for kind, words in lists.items()}
    job = replace(job, identity=job.identity | {"lists of words": hash_texts(hashes.values())})
    job.say(f"Sorting the sentences of {len(job.documents):,} documents by their words")
    texts = (text for document in job.documents for text in split_sentences(document, job.language))
    sentences, unused = sort_sentences(filter(is_released_length, texts) if is_published else texts, lists)
    learned, held_out = _draw_sentences(job, sentences)
    length = min(settings.max_length, max_tokens(job.model) or settings.max_length)
    choices = {name: getattr(settings, name) for name in ("tokens", "layers", "alpha", "beta")}
    task = ContextDebias(job.model, job.tokenizer, lists, length, **choices)
    train_rows, held_out_rows = (
        task.features([TextExample(text, label=kind) for kind in KINDS for text in subset[kind]])
        for subset in (learned, held_out)
    )
    counts = _count_kinds(train_rows)
    for kind in KINDS:
        if not counts[kind]:
            raise UnmaskError(
                f"no sentence of the corpus has {REQUIRED[kind]} that the model knows; give another --corpus, or words"
                f" with --set {'stereotypes' if kind == 'stereotype' else kind}=FILE"
            )
    record = {
        "sentences": {
            "found": {kind: len(texts) for kind, texts in sentences.items()} | unused,
            "learned": counts,
            "held_out": _count_kinds(held_out_rows),
        },
        "words": {kind: {"listed": len(words), "hash": hashes[kind]} for kind, words in lists.items()},
        "seen_in_training": count_stereotypes(learned["stereotype"], lists["stereotype"]),
    }
    if is_published:
        return record | train_as_released(job, train_rows, held_out_rows)
    job.say("Computing the gender vectors of the original model")
    rows = settings.batch_size
    task.learn_genders(train_rows, accelerator, rows=rows, balance=settings.balance, relative=settings.relative)
    before = None
    if held_out_rows:
        job.model.to(accelerator.device)
        before = evaluate(job.model, task, held_out_rows, accelerator, rows=rows)
    female, male = task.vectors.double().unbind(dim=1)
    cosine = torch.nn.functional.cosine_similarity(female, male, dim=-1)
    by_layer = {"female_length": female.norm(dim=-1), "male_length": male.norm(dim=-1), "cosine": cosine}
    return record | {
        "gender_vectors": {name: [round(value, 4) for value in values.tolist()] for name, values in by_layer.items()},
        "before": before,
        **train(job, task, train_rows, held_out_rows),
    }


def _read_lists(job: Job) -> dict[str, list[str]]:
    """The words of each kind; in the published protocol, the authors' lists."""
    settings: ContextDebiasOptions = job.options
    if settings.lists:
        return read_released_lists(Path(settings.lists))
    gendered = (Path(settings.female), Path(settings.male)) if settings.female and settings.male else None
    return gather_words(job.language, gendered, Path(settings.stereotypes) if settings.stereotypes else None)


def _draw_sentences(
    job: Job, sentences: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Draw the sentences of each kind to train on and to hold out, by the seed."""
    learned, held_out = {}, {}
    for number, (kind, texts) in enumerate(sentences.items()):
        order = np.random.default_rng([job.seed, number]).permutation(len(texts))[: job.options.sentences or None]
        count = min(MOST_HELD_OUT, int(job.options.held_out * len(order)))
        held_out[kind] = [texts[index] for index in order[:count]]
        learned[kind] = [texts[index] for index in order[count:]]
    return learned, held_out


def _count_kinds(rows: Sequence[Features]) -> dict[str, int]:
    return {kind: sum(row["labels"] == [label] for row in rows) for label, kind in enumerate(KINDS)}


METHOD = Method(
    about="Fine-tuning that makes the states of stereotype words orthogonal to the mean states of female and of male"
    " words, and keeps those of sentences with gendered words.",
    citation="Kaneko and Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings",
    options=ContextDebiasOptions,
    apply=apply,
    trains=True,
    published_file="lists",
    published={
        "learning_rate": 5e-5,
        "warmup": 0.0,
        "weight_decay": 0.0,
        "max_length": 512,
        "tokens": "one",
        "layers": "all",
        "alpha": 0.2,
        "beta": 0.8,
        "held_out": 0.5,
        "sentences": 0,
        "relative": False,
        "balance": False,
        "precision": "no",
        "accumulate": 1,
        "female": None,
        "male": None,
        "stereotypes": None,
    },
)
