"""The sentences and the loss of Context-Debias: stereotype words orthogonal to gender, the rest preserved.

As in the published preprocessing, a sentence with words of one gender is that gender's; one with words of both is not
used; and one with a stereotype word counts as such only if it has no gendered word.

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

Padding counts nowhere. The chosen tokens are all ordinary tokens of the sentence, or the stereotype words alone; a word
of several pieces is the mean of its pieces' states.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL. The paper's sum runs over the
vectors of single gender words; its code has one vector per gender, as we have. That code computes the vectors anew from
the model in training before each epoch, squares the mean product of a whole batch where the formula has the mean of
squares, and attends to padding. Here it is the formula, and each row has its own mean, so that neither batches nor
padding change anything.
"""

from __future__ import annotations

import copy
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from unmask.errors import UnmaskError, quote
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.word_lists import read_word_list, stereotype_words
from unmask.training.examples import Example
from unmask.training.loop import MicroBatches
from unmask.training.tasks import IGNORED, Batch, Features, pad

Span = tuple[int, int]
_WORD = re.compile(r"\w+")


class WholeWords:
    """A list of words and phrases to look for; `man` is found in *Man's* and in *man-made*, not in *manual*.

    Of several that begin at one place the longest is found, and none begins within another.
    """

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words in lower case; each begins with a letter or digit."""
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for word in sorted(words, key=len, reverse=True):
            start = _WORD.match(word)
            assert start is not None, word
            self._by_start[start.group()].append(word)

    def spans(self, text: str) -> list[Span]:
        """First character and one past the last of every occurrence."""
        found: list[Span] = []
        for match in _WORD.finditer(text):
            start = match.start()
            if found and start < found[-1][1]:
                continue
            for word in self._by_start.get(match.group().lower(), ()):
                end = start + len(word)
                if text[start:end].lower() == word and not (end < len(text) and _WORD.match(text, end)):
                    found.append((start, end))
                    break
        return found


def word_pieces(
    text: str, span: Span, offsets: Sequence[Span], tokens: Sequence[str], ordinary: Sequence[bool]
) -> list[int]:
    """The places of a word's tokens; none where one of them is unknown, or joins the word with a neighbour.

    A piece may carry the space before its word, or be that space alone (SentencePiece); both belong to the word.
    """
    start, end = span
    touched = [at for at, (left, right) in enumerate(offsets) if left < end and right > start]
    if not touched or not all(ordinary[at] for at in touched):
        return []
    first, last = touched[0], touched[-1]
    if text[offsets[first][0] : start].strip() or text[end : offsets[last][1]].strip():
        return []
    while first and ordinary[first - 1] and not tokens[first - 1].strip("▁Ġ "):
        first -= 1
    return list(range(first, last + 1))


GENDERS = ("female", "male")


def word_lists(language: str, genders: tuple[Path, Path] | None, own: Path | None) -> dict[str, list[str]]:
    """The words of each kind, in lower case: ours, or those of files (female and male; stereotypes).

    A stereotype word that is gendered (*waiter*) counts as gendered alone.
    """
    if genders:
        found = {gender: read_word_list(path) for gender, path in zip(GENDERS, genders, strict=True)}
    else:
        terms = gender_words("all", language)
        known = terms.before_names | terms.words
        known.pop("miss", None)  # mostly a verb
        found = {gender: [word for word, term in known.items() if term.gender == gender] for gender in GENDERS}
    both = set(found["female"]) & set(found["male"])
    if both:
        raise UnmaskError(f"{quote(sorted(both))} in the lists of both genders; give each word in one of them")
    if language != "en" and not own:
        raise UnmaskError(f"there are no stereotype words for {language!r}; give some with --set stereotypes=FILE")
    words = read_word_list(own) if own else stereotype_words(language)
    gendered = {*found["female"], *found["male"]}
    return {"stereotype": [word for word in words if word not in gendered], **found}


def sort_sentences(
    texts: Iterable[str], lists: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The sentences of each kind, and how many are of no use."""
    finders = {kind: WholeWords(words) for kind, words in lists.items()}
    found: dict[str, list[str]] = {kind: [] for kind in lists}
    others = {"of_both_genders": 0, "without_such_words": 0}
    for text in texts:
        here = [gender for gender in GENDERS if finders[gender].spans(text)]
        if len(here) == 2:
            others["of_both_genders"] += 1
        elif here:
            found[here[0]].append(text)
        elif finders["stereotype"].spans(text):
            found["stereotype"].append(text)
        else:
            others["without_such_words"] += 1
    return found, others


def count_stereotypes(texts: Iterable[str], words: Sequence[str]) -> dict[str, Any]:
    """How many stereotype words stand in the texts, and which of BEC-Pro's professions they are, or are part of."""
    finder = WholeWords(words)
    met = {text[start:end].lower() for text in texts for start, end in finder.spans(text)}
    professions = [one.name for one in attributes("en")]
    part = WholeWords(met)
    return {
        "stereotype_words": len(met),
        "bec_pro_professions": [name for name in professions if name in met],
        "bec_pro_professions_in_part": [name for name in professions if name not in met and part.spans(name)],
        "of_bec_pro_professions": len(professions),
    }


def hidden_states(model: Any, batch: Batch) -> torch.Tensor:
    """The states of a batch; the head plays no part, so only the layers below it are run."""
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return torch.stack(model.base_model(**inputs, output_hidden_states=True).hidden_states)


def pool_groups(states: torch.Tensor, groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean state of each group of tokens (layers × groups × dimensions), and the row that it stands in.

    Groups are numbered from 1 in each row; 0 is no group.
    """
    rows, places = groups.nonzero(as_tuple=True)
    step = int(groups.max()) + 1
    names, inverse = torch.unique(rows * step + groups[rows, places], return_inverse=True)
    sizes = torch.bincount(inverse, minlength=len(names))
    totals = torch.zeros(len(states), len(names), states.shape[-1]).to(states)
    return totals.index_add(1, inverse, states[:, rows, places]) / sizes[:, None], names // step


def orthogonality(
    states: torch.Tensor, groups: torch.Tensor, vectors: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean of Σ_g ⟨v(g), E⟩² over a row's groups and the layers, for each row; and each group's mean |cosine|.

    `vectors` are layers × genders × dimensions; the cosines, for the record, groups × genders.
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
    """The mean squared change of the states of each row, over layers, dimensions and the tokens attended to."""
    changes = (states - before).pow(2).mean(dim=(0, 3))
    return (changes * attention).sum(dim=1) / attention.sum(dim=1)


KINDS = ("stereotype", "female", "male")
"""What a sentence is used for; its place here is its label."""
LAYERS = ("all", "last", "first")
TOKENS = ("all", "one")


class ContextDebias:
    """The task for the training loop; `learn_genders` must have been called before it is run."""

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
        """Keep a copy of the model as it is now; `words` has a list for each of `KINDS`."""
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
        """What a row of each kind counts for."""

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, once; the label of an example is its kind. One that has no such word within reach is left out.

        `groups` numbers from 1 what is looked at (a word, or a token by itself), piece by piece; 0 is everything else.
        """
        if not examples:
            return []
        texts = [one.text for one in examples]
        encoded = self.tokenizer(texts, truncation=True, max_length=self.max_length, return_offsets_mapping=True)
        special = set(self.tokenizer.all_special_ids)
        found = []
        for one, ids, offsets in zip(examples, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            kind = KINDS.index(one.label or "")
            ordinary = [token not in special for token in ids]
            names = self.tokenizer.convert_ids_to_tokens(ids)
            groups = [0] * len(ids)
            for span in self.words[KINDS[kind]].spans(one.text):
                number = max(groups) + 1
                for at in word_pieces(one.text, span, offsets, names, ordinary):
                    groups[at] = number
            if any(groups):
                if kind == 0 and self.tokens == "all":
                    groups = [number * real for number, real in enumerate(ordinary, 1)]
                found.append({"input_ids": ids, "groups": groups, "labels": [kind]})
        return found

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Pad to the longest row; nothing is drawn."""
        del draws
        padded = pad(self.tokenizer, [{"input_ids": row["input_ids"]} for row in features])
        groups = torch.zeros_like(padded["input_ids"])
        left = self.tokenizer.padding_side == "left"
        for at, row in enumerate(features):
            numbers = row["groups"]
            groups[at, slice(-len(numbers), None) if left else slice(len(numbers))] = torch.tensor(numbers)
        return {
            "input_ids": padded["input_ids"],
            "attention_mask": padded["attention_mask"],
            "groups": groups,
            "labels": torch.tensor([row["labels"][0] for row in features]),
        }

    def learn_genders(
        self, features: Sequence[Features], accelerator: Any, *, rows: int, balance: bool, relative: bool
    ) -> None:
        """Take the gender vectors from the original model, and what each kind of row counts for.

        Balanced, each kind counts for a third of the loss, however rare it is. Relative, L is divided by its value in
        the original model, and L_reg by the mean square of that model's states.
        """
        of_kind = [[row for row in features if row["labels"] == [kind]] for kind in range(len(KINDS))]
        vectors, size = [], 0.0
        for mine in of_kind[1:]:
            words, count, squares = self._summed(_words_and_squares, mine, accelerator, rows)
            vectors.append((words / count).float())
            size += float(squares)
        self.vectors = torch.stack(vectors, dim=1)
        self.weights = torch.tensor([self.alpha, self.beta, self.beta])
        if balance:
            self.weights = self.weights * torch.tensor([len(features) / (len(KINDS) * len(mine)) for mine in of_kind])
        if relative:
            (squares,) = self._summed(lambda *one: [self._orthogonality(*one)[0].sum()], of_kind[0], accelerator, rows)
            pull, size = float(squares) / len(of_kind[0]), size / len(of_kind[1] + of_kind[2])
            self.weights = self.weights / torch.tensor([pull or 1.0, size or 1.0, size or 1.0])

    def _summed(
        self,
        measure: Callable[[torch.Tensor, Batch], Sequence[torch.Tensor]],
        features: Sequence[Features],
        accelerator: Any,
        rows: int,
    ) -> list[torch.Tensor]:
        """What is measured on the original model's states, summed over all rows."""
        features = sorted(features, key=lambda row: len(row["input_ids"]))
        total: list[torch.Tensor] = []
        at, room = 0, MicroBatches(1)
        while at < len(features):
            size = math.ceil(rows / room.parts)
            batch = self.batch(features[at : at + size], ())
            try:
                with torch.no_grad():
                    batch = {name: tensor.to(accelerator.device) for name, tensor in batch.items()}
                    found = measure(hidden_states(self.original.to(accelerator.device), batch), batch)
            except RuntimeError as error:
                room.less(error, size, accelerator)
                continue
            sums = [one.double().cpu() for one in found]
            total = [one + more for one, more in zip(total, sums, strict=True)] if total else sums
            at += size
        return total

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """The summed loss, the number of rows, each kind's part and its rows; then cosines, and their number."""
        labels = batch["labels"]
        kept = labels != IGNORED
        states = hidden_states(model, batch)
        values = torch.zeros(len(labels), device=labels.device)
        aside = torch.zeros(3, device=labels.device)
        stereotype, gender = (labels == 0).nonzero()[:, 0], (labels > 0).nonzero()[:, 0]
        if len(stereotype):
            inputs = {name: tensor[stereotype] for name, tensor in batch.items()}
            values[stereotype], cosines = self._orthogonality(states[:, stereotype], inputs)
            aside = torch.cat([cosines.sum(dim=0), torch.tensor([len(cosines)]).to(cosines)])
        if len(gender):
            inputs = {name: tensor[gender] for name, tensor in batch.items()}
            with torch.no_grad():
                before = hidden_states(self.original.to(labels.device), inputs)
            values[gender] = preservation(states[:, gender], before, inputs["attention_mask"])
        of_kind = labels[:, None] == torch.arange(len(KINDS), device=labels.device)
        parts = (values[:, None] * of_kind).sum(dim=0)
        loss = (parts * self.weights.to(values)).sum()
        return torch.cat([one.to(values) for one in (loss[None], kept.sum()[None], parts, of_kind.sum(dim=0), aside)])

    def _orthogonality(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each row, at the chosen layers; and the cosines."""
        at = {"all": slice(None), "last": slice(-1, None), "first": slice(1)}[self.layers]
        return orthogonality(states[at], batch["groups"], self.vectors.to(states.device)[at])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """The loss; L and L_reg, None where there were no rows; and the mean |cosine| with each gender's vector."""
        loss, count, of_stereotypes, female, male, *counts, to_female, to_male, words = sums.double().tolist()
        return {
            "loss": loss / count,
            "orthogonality": _mean(of_stereotypes, counts[0]),
            "preservation": _mean(female + male, counts[1] + counts[2]),
            "cosine": {"female": _mean(to_female, words), "male": _mean(to_male, words)},
            "rows": int(count),
        }


def _words_and_squares(states: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
    """The summed states of words, how many there are, and the summed mean square of the rows' states."""
    words, _ = pool_groups(states, batch["groups"])
    squares = preservation(states, torch.zeros_like(states), batch["attention_mask"])
    return [words.double().sum(dim=1), torch.tensor(words.shape[1]), squares.sum()]


def _mean(total: float, count: float) -> float | None:
    return total / count if count else None
