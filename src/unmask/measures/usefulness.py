"""Usefulness: what a masked language model can still do after it was debiased.

Any bias can be removed by a model that has forgotten everything, so a change of bias is worth what it cost. Two
questions are asked before and after, with the same sentences.

**Masked words**: how well does the model fill in the words of held-out text that mentions no gender? Every word of a
sentence is masked exactly once. A sentence's words are divided at random into groups of about 15 %, the share that
masked language models are trained with (Devlin et al. 2019), and each group is masked together:

    loss = Σ −ln p(word | its sentence without its group) / Σ pieces       accuracy = share of words filled in correctly

A word is masked whole. One of several pieces is scored by the chain rule, each piece given those before it; it counts
with as many pieces as it has, and is right if the model's first choice is right for each of them. Punctuation is not
scored. The loss of two models with one tokenizer is a mean over pieces; if they split words differently, it is a mean
over words. A word that a tokenizer cannot mask alone, or does not know, is not scored, and so not compared. The
division depends on the seed and the sentence alone, so a word is compared with itself. Intervals and tests are
clustered by sentence.

**Stated gender**: if a sentence states that a person is a woman or a man, does the pronoun agree? *My sister cut
[herself] while chopping onions* is no stereotype; a model that has unlearned it is broken, not fair.

    log odds = ln p(right pronoun) − ln p(wrong pronoun)        right: log odds above 0

Every template is combined with every person, and every person has a counterpart of the other gender, so a model that
always says *he* is right half of the time, with mean log odds of 0. Only the pronoun is masked. Intervals and tests
generalise over templates and pairs of persons.

**Competence**: before its bias is measured, a model must do both in the language asked, on a few sentences. In words,
it is right where a word is more probable in its sentence than in the same words shuffled, which knows no order.

J. Devlin, M.-W. Chang, K. Lee and K. Toutanova (2019). BERT: Pre-training of deep bidirectional transformers. NAACL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.lexicon import GENDERS, persons
from unmask.lexicon.sentences import agreement_templates, neutral_sentences
from unmask.measures.queries import ask_model, count_pieces
from unmask.models.roles import Chooses, MaskedLM, MaskQuery, Progress, Span
from unmask.results import Competence
from unmask.results.comparison import UsefulnessChange
from unmask.rewriting import rewriter
from unmask.statistics.jackknife import clustered_mean, jackknife
from unmask.training.examples import read_examples

if TYPE_CHECKING:
    import pandas as pd

FEWEST_TEXTS = 20
"""With fewer sentences an interval over sentences is of little use."""
GROUP_SHARE = 0.15
BATCH = 64
"""How many sentences are scored between two reports of progress."""
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
WORD_KEYS = ["sentence", "place"]
STATED_KEYS = ["template", "pair", "gender"]


@dataclass(frozen=True)
class Sentences:
    """Texts that mention no gender, and their origin."""

    texts: list[str]
    name: str
    hash: str
    """SHA-256 over the texts, in order."""
    left_out: int = 0
    """How many texts of the file mention a gender."""


def load_sentences(path: Path | None = None, language: str = "en") -> Sentences:
    """Load neutral text: the package's own sentences, or the texts of a file that mention no gender.

    A text that occurs twice counts once. Texts in which our rewriter finds a gendered word or a first name are left
    out, because a mitigation is meant to change those.

    Args:
        path: A text file with one text per line, or a table with a column `text`.
        language: The language of the file.
    """
    if path is None:
        texts, left_out, name = neutral_sentences(), 0, "the neutral sentences of the package"
    else:
        neutral = rewriter("swap", names=language == "en", language=language, quick=True)
        candidates = list(dict.fromkeys(example.text.strip() for example in read_examples(path, "mlm")))
        rewritten = [neutral.rewrite(text) for text in candidates]
        texts = [text for text, new in zip(candidates, rewritten, strict=True) if not (new.changes or new.left)]
        left_out, name = len(candidates) - len(texts), path.name
        if len(texts) < FEWEST_TEXTS:
            raise UnmaskError(
                f"{path} has {len(texts)} texts that mention no gender ({left_out} do), too few to measure on;"
                f" give {FEWEST_TEXTS} or more, one per line"
            )
    return Sentences(texts, name, hashlib.sha256("\n".join(texts).encode()).hexdigest(), left_out)


def score_words(model: MaskedLM, sentences: Sentences, *, seed: int, progress: Progress | None = None) -> pd.DataFrame:
    """Score every word of neutral text.

    Returns:
        A row per word with `sentence`, `place`, `word`, `pieces`, `loss` and `right`. `place` is the position of the
        word in characters; `loss` is that of the whole word, in nats; `right` is missing if the model does not state
        its first choice.
    """
    import pandas as pd

    if getattr(model, "progress", None):
        progress = None  # the model reports its progress itself
    texts = sentences.texts
    size = BATCH if progress else max(1, len(texts))
    frames = []
    for start in range(0, len(texts), size):
        frames.append(_score_texts(model, texts[start : start + size], seed))
        if progress:
            progress(min(start + size, len(texts)), len(texts))
    if not sum(map(len, frames)):
        raise UnmaskError(f"{sentences.name} has no words that the model knows; give sentences in its language")
    return pd.concat(frames, ignore_index=True)


def compare_words(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, UsefulnessChange]:
    """Compare scored words: `loss` and, if both models have it, `accuracy`, paired by word."""
    both = before.merge(after, on=WORD_KEYS, suffixes=("", "_after"), validate="one_to_one")
    if both.empty:
        raise UnmaskError("the two models have no scored word in common; score both on the same sentences")
    has_same_pieces = bool((both["pieces"] == both["pieces_after"]).all())
    weights = both["pieces"].to_numpy(dtype=float) if has_same_pieces else np.ones(len(both))
    sentence = both["sentence"].to_numpy()
    figures = {"loss": _compare_clustered(both["loss"] / weights, both["loss_after"] / weights, sentence, weights)}
    if not both[["right", "right_after"]].isna().any(axis=None):
        right, right_after = (both[name].astype(float) for name in ("right", "right_after"))
        figures["accuracy"] = _compare_clustered(right, right_after, sentence, np.ones(len(both)))
    return figures


def _compare_clustered(
    before: ArrayLike, after: ArrayLike, clusters: ArrayLike, weights: NDArray[np.float64]
) -> UsefulnessChange:
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    change = clustered_mean(second - first, clusters, weights=weights)
    assert change.value is not None
    return UsefulnessChange(
        before=float(np.average(first, weights=weights)),
        after=float(np.average(second, weights=weights)),
        change=change.value,
        interval=change.interval,
        p_value=change.p_value,
    )


def divide_words(text: str, seed: int) -> list[list[Span]]:
    """The words of a text (start and end in characters), divided at random into groups of about 15 %."""
    words = [match.span() for match in WORD.finditer(text)]
    if not words:
        return []
    digest = hashlib.sha256(text.encode()).digest()
    order = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")]).permutation(len(words))
    count = -(-len(words) // max(1, round(GROUP_SHARE * len(words))))
    return [[words[index] for index in group] for group in np.array_split(order, count)]


def _score_texts(model: MaskedLM, texts: Sequence[str], seed: int) -> pd.DataFrame:
    import pandas as pd

    groups = [(text, group) for text in texts for group in divide_words(text, seed)]
    single = [MaskQuery(text, span) for text, group in groups for span in group]
    pieces = dict(zip(single, count_pieces(model, single), strict=True))
    queries = []
    for text, group in groups:
        spans = [span for span in group if pieces[MaskQuery(text, span)]]
        queries += [MaskQuery(text, span, tuple(hidden for hidden in spans if hidden != span)) for span in spans]
    right: list[bool | None] = [None] * len(queries)
    if isinstance(model, Chooses):
        answers = model.answer(queries)
        log_p, right = answers.log_probability, list(answers.first_choice)
    else:
        log_p = ask_model(model, queries)
    frame = pd.DataFrame(
        {
            "sentence": [query.text for query in queries],
            "place": [query.target[0] for query in queries],
            "word": [query.word for query in queries],
            "pieces": [pieces[MaskQuery(query.text, query.target)] for query in queries],
            "loss": -log_p,
            "right": pd.array(right, dtype="boolean"),
        }
    )
    order = {text: index for index, text in enumerate(texts)}
    return frame.sort_values(WORD_KEYS, key=lambda column: column.map(order) if column.name == "sentence" else column)


def score_stated_gender(
    model: MaskedLM, language: str = "en", *, pairs: int | None = None, progress: Progress | None = None
) -> pd.DataFrame:
    """Score the right and the wrong pronoun of every sentence that states a gender.

    Args:
        model: The model.
        language: The language of the sentences.
        pairs: Use so many pairs of persons with each template, in turn; by default all.
        progress: Called with the number of sentences when they are done.

    Returns:
        A row per sentence with `template`, `pair`, `gender`, `person`, `sentence`, `log_p_right`, `log_p_wrong`,
        `log_odds` and `right`.
    """
    import pandas as pd

    rows = []
    queries: list[MaskQuery] = []
    opposite = dict(zip(GENDERS, reversed(GENDERS), strict=True))
    people = persons(language, "persons_stated")
    count = len(people) // len(GENDERS)
    for index, agreement in enumerate(agreement_templates(language)):
        before, after = agreement["template"].split("{pronoun}")
        for person in people:
            if pairs is not None and (person.pair - index * pairs) % count >= pairs:
                continue
            start, end = (part.format(person=person.phrase) for part in (before, after))
            start = start[0].upper() + start[1:]
            pronouns = [agreement[gender] for gender in (person.gender, opposite[person.gender])]
            queries += [
                MaskQuery(start + pronoun + end, (len(start), len(start) + len(pronoun))) for pronoun in pronouns
            ]
            rows.append((agreement["template"], person.pair, person.gender, person.phrase, queries[-2].text))
    log_p = ask_model(model, queries)
    if progress:
        progress(len(rows), len(rows))
    frame = pd.DataFrame(rows, columns=[*STATED_KEYS, "person", "sentence"])
    frame = frame.assign(log_p_right=log_p[::2], log_p_wrong=log_p[1::2], log_odds=log_p[::2] - log_p[1::2])
    return frame.assign(right=frame["log_odds"] > 0)


def compare_stated_gender(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, UsefulnessChange]:
    """Compare scored pronouns: `accuracy` and `log_odds`, paired by sentence."""
    both = before.merge(after, on=STATED_KEYS, suffixes=("", "_after"), validate="one_to_one")
    if not len(both) == len(before) == len(after) or both.empty:
        raise UnmaskError("the two models were not scored on the same sentences; score both with the same version")
    figures = {}
    both = both.astype({"right": float, "right_after": float})
    for name, column in (("accuracy", "right"), ("log_odds", "log_odds")):
        first, second = (
            both.pivot_table(side, "template", "pair", aggfunc="mean").to_numpy(dtype=float)  # over the two genders
            for side in (column, f"{column}_after")
        )
        change: NDArray[np.float64] = second - first
        estimate = jackknife(change.shape, partial(_average_block, change))
        figures[name] = UsefulnessChange(
            before=float(first.mean()),
            after=float(second.mean()),
            change=float(change.mean()),
            interval=estimate.interval,
            p_value=estimate.p_value,
        )
    return figures


def _average_block(table: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
    return float(table[np.ix_(rows, columns)].mean())


STATED_PAIRS = 2
"""Pairs of persons in each sentence of the check of competence."""
WORD_SENTENCES, SENTENCE_WORDS = 30, 2
"""How many sentences, and words of each, the check of competence asks for."""
LEAST_STATED, LEAST_WORDS = 0.7, 0.8
"""The shares that a model must get right to be measured."""


def check_competence(model: MaskedLM, language: str, *, seed: int) -> list[Competence]:
    """Ask a few sentences of a language: does the model fill in words, and pronouns that agree with a stated gender?"""
    words = partial(_score_order, model, language, seed)
    pronouns = partial(_score_agreement, model, language)
    return [
        _check_share("fill in words of the language", words, LEAST_WORDS),
        _check_share("prefer the pronoun that agrees with a stated gender", pronouns, LEAST_STATED),
    ]


def _check_share(task: str, score: Callable[[], tuple[NDArray[np.float64], Sequence[str]]], least: float) -> Competence:
    """The share of positive scores, ties counting a half, with an interval over clusters of scores."""
    try:
        scores, clusters = score()
    except UnmaskError:  # the model cannot be asked, or its answers are not finite
        scores, clusters = np.array([]), []
    share = clustered_mean((np.sign(scores) + 1) / 2, np.array(clusters, dtype=str))
    bounds = None if share.interval is None else (max(0.0, share.interval[0]), min(1.0, share.interval[1]))
    return Competence(task=task, n=len(scores), value=share.value, interval=bounds, chance=0.5, least=least)


def _score_agreement(model: MaskedLM, language: str) -> tuple[NDArray[np.float64], Sequence[str]]:
    items = score_stated_gender(model, language, pairs=STATED_PAIRS)
    return items["log_odds"].to_numpy(dtype=float), list(items["template"])


def _score_order(model: MaskedLM, language: str, seed: int) -> tuple[NDArray[np.float64], Sequence[str]]:
    """How much more probable words are in their sentences than in the same words shuffled."""
    draw = np.random.default_rng(seed)
    queries = []
    for text in neutral_sentences(language)[:WORD_SENTENCES]:
        spans = [match.span() for match in WORD.finditer(text)]
        for place in draw.permutation(len(spans))[:SENTENCE_WORDS]:
            order = draw.permutation(len(spans))
            shuffled, moved = _reorder_words(text, spans, order)
            queries.append((MaskQuery(text, spans[place]), MaskQuery(shuffled, moved[int(place)])))
    pieces = count_pieces(model, [query for pair in queries for query in pair])
    asked = [pair for pair, *counts in zip(queries, pieces[::2], pieces[1::2], strict=True) if None not in counts]
    if not asked:
        return np.array([]), []
    log_p = ask_model(model, [query for pair in asked for query in pair])
    return log_p[::2] - log_p[1::2], [first.text for first, _ in asked]


def _reorder_words(text: str, spans: Sequence[Span], order: NDArray[np.intp]) -> tuple[str, dict[int, Span]]:
    """The text with its words in another order, and where each of them is now."""
    reordered, end, moved = "", 0, {}
    for span, index in zip(spans, order, strict=True):
        reordered += text[end : span[0]]
        word = text[slice(*spans[index])]
        moved[int(index)] = (len(reordered), len(reordered) + len(word))
        reordered, end = reordered + word, span[1]
    return reordered + text[end:], moved
