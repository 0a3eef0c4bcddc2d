"""Speed of rewriting, in words a second and as ratios measured in one run.

    OMP_NUM_THREADS=1 python benchmarks/rewrite.py TEXTS [--words 1000000]

TEXTS is a file with one document a line (.txt, or .jsonl with a field `text`; .gz is fine). Ours is compared with
plain `str.replace` over the same terms, which is fast and wrong, and with a tagger run over every sentence, which is
what a rewriter pays that asks for every part of speech.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psutil

import unmask
from unmask.lexicon.gender import gender_words
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.english import context

TAGGED = 20
"""Only each so manieth document is tagged: it takes long, and they are all alike."""
BATCH = 200


def documents(path: Path, words: int) -> list[str]:
    """The first documents of a file, until they have so many words."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            found.append(json.loads(line)["text"] if ".jsonl" in path.suffixes else line)
            words -= len(found[-1].split())
            if words <= 0:
                break
    return found


def rewritten(texts: Sequence[str], to: str = "swap", names: bool = False, quick: bool = False) -> int:
    """How many changes are made to the documents."""
    rewriter = unmask.rewriter(to, names=names, quick=quick)
    return sum(len(rewriter.rewrite(text).changes) for text in texts)


def replaced(texts: Sequence[str], pairs: Sequence[tuple[str, str]]) -> None:
    """Plain replacement, term after term."""
    for text in texts:
        for one, other in pairs:
            text = text.replace(f" {one} ", f" {other} ")


def tagged(texts: Sequence[str]) -> None:
    """Parts of speech for every sentence."""
    for text in texts:
        for sentence in re.split(r"(?<=[.!?])\s+", text):
            tag_words([token.text for token in context.split_tokens(sentence, 0, len(sentence))])


def timed(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("texts", type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    arguments = parser.parse_args()
    texts = documents(arguments.texts, arguments.words)
    words = sum(len(text.split()) for text in texts)
    pairs = [(word, target) for word, term in gender_words("all").words.items() if (target := term.becomes("swap"))]
    for names in (False, True):  # load what is loaded once
        rewritten(texts[:50], names=names)
    rewritten(["The crowd watched her dance until midnight."])
    rewritten(texts[:50], "neutral")

    seconds = {
        "swap": timed(lambda: rewritten(texts)),
        "swap --quick": timed(lambda: rewritten(texts, quick=True)),
        "swap, with names": timed(lambda: rewritten(texts, names=True)),
        "female": timed(lambda: rewritten(texts, "female")),
        "neutral": timed(lambda: rewritten(texts, "neutral")),
        "remove": timed(lambda: rewritten(texts, "remove")),
        f"str.replace, {len(pairs)} terms": timed(lambda: replaced(texts, pairs)),
        "a tagger over every sentence": TAGGED * timed(lambda: tagged(texts[::TAGGED])),
    }
    batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(rewritten, [texts[:50]] * 2))
        list(pool.map(rewritten, [["The crowd watched her dance until midnight."]] * 2))
        seconds["swap, two cores"] = timed(lambda: list(pool.map(rewritten, batches)))
    print(f"{len(texts):,} documents, {words:,} words; {psutil.cpu_count()} cores")
    for name, taken in seconds.items():
        print(f"{name:32} {words / taken:>12,.0f} words/s   {taken / seconds['swap']:6.2f} × the time of swap")


if __name__ == "__main__":
    main()
