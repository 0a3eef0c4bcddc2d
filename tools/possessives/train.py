"""Train the model of `english.possessives` on text that labels itself, and say how often it is right.

python tools/possessives/train.py TEXT [--check gap.txt imdb.txt] [--keep]

TEXT is a folder of `en*.txt` or `en*.txt.xz` files, one paragraph a line. One paragraph in twenty is held out.
"""

from __future__ import annotations

import argparse
import array
import gzip
import importlib
import itertools
import lzma
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from unmask.rewriting.english.possessives import (
    DIGITS,
    NAME,
    STRANGE,
    Model,
    Words,
    extract_features,
    read_weights,
    weigh_possessive,
    weigh_standing_alone,
)

WORDS = 20_000
GROUPS = 140
NEIGHBOURS = 500
TOKENS = 40_000_000
SINGLE = (
    "the a an to of and that as in on with for at by from or but is was be not all so too what who he she it i".split()
)
STOPS = (".", "!", "?", ";", ":")
MARKS = (",", '"', "'", "(", ")", "-", "—", "–", "/", "<", "&", "]")
LETTERS = [chr(code) for code in (*range(33, 127), *range(161, 256)) if code != 173]

# As if the word were *her*: how much each pronoun counts, and whether *his* would stand there.
HER = {"him": (1.0, 0), "his": (1.0, 1), "them": (0.4, 0), "their": (0.4, 1), "me": (0.4, 0), "my": (0.4, 1)}
HER |= {"us": (0.4, 0), "our": (0.4, 1)}
# As if the word were *his*: whether it stands alone.
HIS = {"their": (1.0, 0), "our": (1.0, 0), "your": (1.0, 0), "my": (0.5, 0)}
HIS |= {"theirs": (3.0, 1), "ours": (3.0, 1), "yours": (3.0, 1), "hers": (3.0, 1), "mine": (2.0, 1)}
HIS |= {"his.": (2.0, 1)}  # before a mark, so no noun can follow
HIS |= {"of them": (0.1, 1)}  # what follows *one of them* may follow *a friend of his*
# What stands before *mine* where it is no hole in the ground.
BEFORE_MINE = re.compile(
    r"(?:\b(?:of|is|are|was|were|be|been|not|as|than|with|to|and|on|in|into|upon|like|from|for|against|but|it|become|becomes"
    r"|became|between|beside|by|at|over|yours|his|hers|you|me|all)|[.,!?;:\"“])\s*$",
    re.I,
)

AFTER_MINE = re.compile(
    r"\W*[.,;:!?\"”)]|\s(?:is|are|was|were|will|would|has|had|have|can|could|and|or|but|in|on|at|to|who|that|which|when|from"
    r"|for|with|by|as|than|now|too|alone|if|you|he|she|i|they|we|here|there)\b",
    re.I,
)
# Who is around a pronoun is told as it would be around *her* or *his*: *they gave them hats* as *she gave her hats*.
PAIRS = (
    "he she, himself herself, man woman, men women, boy girl, boys girls, father mother, husband wife, son daughter,"
    " brother sister, king queen, mr mrs, sir madam, lord lady, uncle aunt, nephew niece"
)
TURNED = {one: other for pair in PAIRS.split(", ") for one, other in itertools.permutations(pair.split())}
TURNED |= {"him": "her", "his": "her", "her": "his"}
SUBJECTS = {"me": "i", "my": "i", "mine": "i", "us": "we", "our": "we", "ours": "we", "your": "you", "yours": "you"}
SUBJECTS |= {"them": "they", "their": "they", "theirs": "they", "of them": "they"}

_PRONOUN = re.compile(r"(?<![\w'’-])(?:him|his|hers|me|my|mine|us|ours?|them|theirs?|yours?)(?!\w)", re.I)
_MARK = re.compile(r"[.,;:!?](?!\.)")
_SENTENCE = re.compile(r"[.!?][\"”']?\s")
_GERUND = re.compile(r"\s+(?:not\s|\w+ly\s)?\w+ing\b")
_TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[^\w\s]")
_QUOTES = str.maketrans("‘’“”«»…", '\'\'"""".')


class Window(NamedTuple):
    """A pronoun of a known kind, and the text around it."""

    source: str
    held_out: bool
    pronoun: str
    text: str
    start: int
    end: int


def main() -> None:
    """Train, write the file, and print the accuracies on what was held out and on other texts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--out", type=Path, default=Path("src/unmask/rewriting/english/possessives.tsv.gz"))
    parser.add_argument("--check", type=Path, nargs="*", default=[], help="texts that are not trained on")
    parser.add_argument("--keep", action="store_true", help="check the file that is there, do not train")
    options = parser.parse_args()
    sources = {path.name.split(".")[0]: path for path in sorted(options.text.glob("en*.txt*"))}
    windows = [one for name, path in sources.items() for one in find(name, paragraphs(path))]
    print(f"{len(windows):,} windows")
    if not options.keep:
        options.out.write_bytes(packed(train(windows, classes(sources.values()))))
    model = read_weights(gzip.decompress(options.out.read_bytes()).decode("utf-8"))
    print(f"{options.out}: {options.out.stat().st_size:,} bytes; {len(model.her):,} + {len(model.his):,} weights")
    report([one for one in windows if one.held_out], model)
    for path in options.check:
        other = list(find(path.name.split(".")[0], paragraphs(path)))
        report(other, model)
        compare(other, model)


def paragraphs(path: Path) -> Iterator[str]:
    """The lines of a text file, packed or not."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")


def find(source: str, lines: Iterable[str]) -> Iterator[Window]:
    """Every pronoun whose spelling says what it is."""
    for line in lines:
        held_out = zlib.crc32(line.encode()) % 20 == 0
        for match in _PRONOUN.finditer(line):
            pronoun = match.group().lower()
            left = max(0, match.start() - 90)
            text, start, end = line[left : match.end() + 90], match.start() - left, match.end() - left
            if pronoun == "mine" and not (BEFORE_MINE.search(text[:start]) and AFTER_MINE.match(text, end)):
                continue
            if match.group() == "US" or not text[end:].strip():  # the country; a paragraph that was cut
                continue
            if pronoun == "his" and _MARK.match(line, match.end()):
                pronoun = "his."
            if pronoun in ("him", "them", "me", "us") and text[:start].endswith(" of "):
                yield Window(source, held_out, "of them", text, start, end)
            yield Window(source, held_out, pronoun, text, start, end)


def classes(paths: Iterable[Path]) -> Words:
    """Words that stand in like places, by what is just before and after them, each with the letter of its class."""
    places: dict[str, int] = {}
    found = array.array("i")
    share = TOKENS // max(1, len(list(paths)))
    for path in paths:
        goal = len(found) + share
        for line in paragraphs(path):
            if len(found) > goal:
                break
            found.append(places.setdefault("\n", len(places)))
            for token in _TOKEN.findall(line.lower().translate(_QUOTES)):
                found.append(places.setdefault(DIGITS if token[0].isdigit() else token, len(places)))
    stream = np.frombuffer(found, dtype=np.int32)
    words = list(places)
    counts = np.bincount(stream, minlength=len(words))
    order = np.argsort(-counts, kind="stable")
    rank = np.full(len(words), len(words))
    rank[order] = np.arange(len(words))
    ranked = rank[stream]
    kept = [words[at] for at in order[:WORDS]]
    vectors = _vectors(ranked)
    groups = _groups(vectors, np.sqrt(counts[order[:WORDS]]))
    fixed: dict[str, str] = {}
    letters = iter(LETTERS)
    stop = next(letters)
    for mark in (*STOPS, "\n"):
        fixed[mark] = stop
    for mark in (*MARKS, *SINGLE, DIGITS):
        fixed[mark] = next(letters)
    free = list(letters)
    table = {word: fixed.get(word, free[group]) for word, group in zip(kept, groups, strict=True)} | fixed
    del table["\n"]
    return {word: (word, letter) for word, letter in (table | _endings(kept, table)).items()}


def _vectors(ranked: np.ndarray) -> np.ndarray:
    parts = []
    for here, there in ((ranked[1:], ranked[:-1]), (ranked[:-1], ranked[1:])):
        there = np.minimum(there, NEIGHBOURS)
        keep = here < WORDS
        parts.append(np.bincount(here[keep] * (NEIGHBOURS + 1) + there[keep], minlength=WORDS * (NEIGHBOURS + 1)))
    both = []
    for part in parts:
        table = part.reshape(WORDS, NEIGHBOURS + 1).astype(float)
        both.append(np.sqrt(table / np.maximum(table.sum(1, keepdims=True), 1)))
    matrix = np.hstack(both)
    _, values, axes = np.linalg.svd(matrix.T @ matrix)
    del values
    return np.asarray(matrix @ axes[:80].T)


def _groups(vectors: np.ndarray, weights: np.ndarray, rounds: int = 40) -> np.ndarray:
    """K-means."""
    rng = np.random.default_rng(0)
    centres = vectors[rng.choice(len(vectors), GROUPS, replace=False, p=weights / weights.sum())]
    group = np.zeros(len(vectors), dtype=int)
    for _ in range(rounds):
        group = np.argmin((centres**2).sum(1) - 2 * vectors @ centres.T, axis=1)
        for each in range(GROUPS):
            members = group == each
            if members.any():
                centres[each] = np.average(vectors[members], axis=0, weights=weights[members])
    return group


def _endings(words: Sequence[str], table: dict[str, str]) -> dict[str, str]:
    """The commonest class of the rarer words with an ending, for words that are in no list."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for word in words[3000:]:
        if word.isalpha():
            for length in (2, 3, 4):
                if len(word) > length + 1:
                    seen["-" + word[-length:]][table[word]] += 1
            seen[STRANGE][table[word]] += 1
    found = {ending: group.most_common(1)[0][0] for ending, group in seen.items() if group.total() >= 12}
    return found | {NAME: table["mary"]}


def train(windows: Sequence[Window], words: Words) -> Model:
    """Both models: that of *his* first, for it finds the *his* that stand alone among the examples for *her*."""
    known = [one for one in windows if not one.held_out]
    his = fit(
        [turned(one, "his") for one in known if one.pronoun in HIS], HIS, words, rarest=2, penalty=1.0, most=12_000
    )
    first = Model(words, {}, his)
    her = fit(
        [turned(one, "her") for one in known if one.pronoun in HER and not stands_alone(one, first)],
        HER,
        words,
        rarest=3,
        penalty=1.0,
        most=50_000,
    )
    return Model(words, her, his)


def stands_alone(window: Window, model: Model) -> bool:
    """Whether a *his* is one that would be *hers*, which says nothing of *her*."""
    _, _, pronoun, text, start, end = window
    return pronoun == "his." or (pronoun == "his" and weigh_standing_alone(text, start, end, model) > 0)


def turned(window: Window, of: str) -> Window:
    """A window as it would be if its pronoun were *her*, or *his*: with that person's gender around it."""
    table, pattern = _turning(window.pronoun, of)

    def turn(match: re.Match[str]) -> str:
        word = match.group()
        new = table[word.lower()]
        if word == "I" or word.islower():
            return new
        return new.upper() if word.isupper() else new.capitalize()

    left, right = (pattern.sub(turn, part) for part in (window.text[: window.start], window.text[window.end :]))
    word = window.text[window.start : window.end]
    return window._replace(text=left + word + right, start=len(left), end=len(left) + len(word))


@cache
def _turning(pronoun: str, of: str) -> tuple[dict[str, str], re.Pattern[str]]:
    """What is exchanged around a pronoun: the genders, or its own person for the one meant."""
    self, other = ("she", "he") if of == "her" else ("he", "she")
    if pronoun in SUBJECTS:
        table = {SUBJECTS[pronoun]: self, self: other}
    elif (pronoun == "hers") == (of == "his"):
        table = TURNED
    else:
        table = {"he": "he"}
    return table, re.compile(rf"\b(?:{'|'.join(table)})\b", re.I)


def fit(
    windows: Sequence[Window],
    labels: dict[str, tuple[float, int]],
    words: Words,
    rarest: int,
    penalty: float,
    most: int = 40_000,
) -> dict[str, int]:
    """Logistic regression; what says little is dropped and the rest fitted again; weights in hundredths."""
    counts: Counter[str] = Counter()
    for one in windows:
        counts.update(extract_features(one.text, one.start, one.end, words))
    names = {name: at for at, name in enumerate(name for name, count in counts.items() if count >= rarest)}
    matrix = _matrix(windows, words, names)
    weights = np.array([labels[one.pronoun][0] for one in windows])
    label = np.array([labels[one.pronoun][1] for one in windows], dtype=float)
    found = _regress(matrix, label, weights, penalty)
    # A feature is worth its weight times how often it speaks, with a bow to the rare ones.
    worth = np.abs(found) * np.sqrt(np.asarray(matrix.sum(0)).ravel())
    kept = np.sort(np.argsort(-worth)[:most])
    found = _regress(matrix[:, kept], label, weights, penalty)
    order = list(names)
    rounded = np.rint(found * 10).astype(int)
    return {order[at]: int(value) for at, value in zip(kept, rounded, strict=True) if value}


def _matrix(windows: Sequence[Window], words: Words, names: dict[str, int]) -> scipy.sparse.csr_array:
    indices, ends = array.array("i"), [0]
    for one in windows:
        indices.extend(names[name] for name in extract_features(one.text, one.start, one.end, words) if name in names)
        ends.append(len(indices))
    columns = np.frombuffer(indices, dtype=np.int32)
    return scipy.sparse.csr_array(
        (np.ones(len(columns), dtype=np.float32), columns, np.array(ends)), shape=(len(windows), len(names))
    )


def _regress(matrix: scipy.sparse.csr_array, label: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    sign = 2 * label - 1
    across = matrix.T.tocsr()

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (matrix @ point.astype(np.float32))
        slope = -sign * weight / (1 + np.exp(np.clip(margin, -50, 50)))
        value = float(weight @ np.logaddexp(0, -margin)) + penalty / 2 * float(point @ point)
        return value, (across @ slope.astype(np.float32)) + penalty * point

    found = scipy.optimize.minimize(
        loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 120}
    )
    return np.asarray(found.x)


def packed(model: Model) -> bytes:
    """The file of a model: three tables, the same bytes for the same weights."""
    classes = {word: letter for word, (_, letter) in model.words.items()}
    tables = [
        "\n".join(f"{key}\t{value}" for key, value in sorted(table.items()))
        for table in (classes, model.her, model.his)
    ]
    return gzip.compress("\n\n".join(tables).encode("utf-8"), 9, mtime=0)


def report(windows: Sequence[Window], model: Model) -> None:
    """Print how often a model is right, by source and pronoun."""
    held = [one for one in windows if not stands_alone(one, model)]
    for source in (*sorted({one.source for one in held}), "all"):
        here = [one for one in held if source in (one.source, "all")]
        for of, labels, pronouns in (
            ("her", HER, ("him", "his")),
            ("her", HER, ("them", "their")),
            ("his", HIS, ("their", "theirs")),
            ("his", HIS, ("your", "yours", "our", "ours")),
            ("his", HIS, ("hers", "mine")),
        ):
            right: dict[str, list[bool]] = {pronoun: [] for pronoun in pronouns}
            for one in here:
                if one.pronoun in right:
                    _, _, _, text, start, end = turned(one, of)
                    weigh = weigh_possessive if of == "her" else weigh_standing_alone
                    says = weigh(text, start, end, model)
                    right[one.pronoun].append(says == bool(labels[one.pronoun][1]))
            every = list(itertools.chain(*right.values()))
            print(
                f"{source:14} as {of}: {sum(every) / max(1, len(every)):.4f} ",
                *(f"{pronoun} {sum(some) / max(1, len(some)):.4f} of {len(some)};" for pronoun, some in right.items()),
            )


def compare(windows: Sequence[Window], model: Model, most: int = 3000) -> None:
    """Print how often the model and HanTa's tags are right of *him* and *his*, spelled *her*, in the same sentences."""
    tagger = importlib.import_module("HanTa.HanoverTagger").HanoverTagger("morphmodel_en.pgz")
    usable = [one for one in windows if one.pronoun in ("him", "his") and not stands_alone(one, model)]
    random.Random(0).shuffle(usable)
    right: dict[str, list[tuple[bool, bool, bool]]] = {"him": [], "his": []}
    for one in usable[:most]:
        _, _, pronoun, text, start, end = turned(one, "her")
        # The sentence, as far as the window holds it.
        opened = max((match.end() for match in _SENTENCE.finditer(text, 0, start)), default=0)
        closed = next((match.start() + 1 for match in _SENTENCE.finditer(text, end)), len(text))
        before = _TOKEN.findall(text[opened:start])
        tag = tagger.tag_sent([*before, "her", *_TOKEN.findall(text[end:closed])])[len(before)][2]
        is_his = pronoun == "his"
        gerund = _GERUND.match(text, end) is not None
        right[pronoun].append(
            ((weigh_possessive(text, start, end, model) > 0) == is_his, (tag == "DPS") == is_his, gerund)
        )
    for name, at in (("this model", 0), ("HanTa", 1)):
        every = [one for some in right.values() for one in some]
        wrong = [one for one in every if not one[at]]
        print(
            f"{usable[0].source:14} {name}: {1 - len(wrong) / len(every):.4f} of {len(every)};",
            *(f"{pronoun} {sum(one[at] for one in some) / len(some):.4f};" for pronoun, some in right.items()),
            f"{sum(one[2] for one in wrong)} of {len(wrong)} errors before a word in -ing",
        )


if __name__ == "__main__":
    main()
