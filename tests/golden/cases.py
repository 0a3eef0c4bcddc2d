"""The commands whose numbers are recorded. Later commands read the output of earlier ones."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tests.golden.values import Value, flatten, folder_values

GOLD = Path(__file__).parents[1] / "gold"
Done = subprocess.CompletedProcess[str]
Call = Callable[[Sequence[str]], Done]
AUDIT = ("result.json", "items/*.jsonl.gz")
COMPARISON = ("result.json", "items/*.jsonl.gz")
MODEL = ("*.safetensors", "mitigation.json", "metrics.json")
STUDY = ("*.csv", "tables/*.csv")
TEXT = ("out.txt",)


@dataclass(frozen=True)
class Case:
    """One command. Its output is named after the case."""

    name: str
    command: str
    reads: Sequence[str] = AUDIT
    """Patterns of the files with the recorded numbers; if empty, standard output is JSON."""
    is_quick: bool = False
    """Whether it also runs with the tests."""
    needs_data: bool = False
    """Whether it reads datasets that are not in the package."""


CASES = (
    Case("default", "audit unmask-mini"),
    Case("association", "audit unmask-mini --measure association --corpus bec-pro --corpus emotions"),
    Case("association-published", "audit unmask-mini --measure association --protocol published"),
    Case("association-german", "audit unmask-mini --measure association --language de"),
    Case("association-templates", "audit unmask-mini --measure association --templates one.csv", is_quick=True),
    Case("geometry-few-words", "audit unmask-mini --measure geometry --words 400 --contrasts 19"),
    Case("geometry-published", "audit unmask-mini --measure geometry --protocol published"),
    Case("vectors", "audit vectors.txt --words 3000 --contrasts 19"),
    Case("crows-pairs", "audit unmask-mini --measure crows-pairs", needs_data=True),
    Case("crows-pairs-published", "audit unmask-mini --measure crows-pairs --protocol published", needs_data=True),
    Case("sentiment", "audit unmask-mini-sentiment --corpus reviews", is_quick=True),
    Case("sentiment-terms", "audit unmask-mini-sentiment --corpus reviews --terms pronouns --terms family --limit 60"),
    Case("sentiment-published", "audit unmask-mini-sentiment --protocol published --limit 200", needs_data=True),
    Case("inference", "audit unmask-mini-nli --limit 8", is_quick=True),
    Case("inference-japanese", "audit unmask-mini-nli --language ja --limit 4"),
    Case("inference-chinese", "audit unmask-mini-nli --language zh --limit 4"),
    Case("inference-published", "audit unmask-mini-nli --protocol published", needs_data=True),
    Case("analyse", "analyse association"),
    Case("analyse-german", "analyse association-german"),
    Case("analyse-templates", "analyse association-templates", is_quick=True),
    Case("analyse-templates-published", "analyse association-templates --protocol published", is_quick=True),
    Case("analyse-sentiment", "analyse sentiment", is_quick=True),
    Case("analyse-inference", "analyse inference", is_quick=True),
    Case("analyse-geometry", "analyse vectors"),
    Case("gate", "gate association-templates --policy policy.toml --json", reads=(), is_quick=True),
    Case("sent-debias", "mitigate unmask-mini --method sent-debias --corpus texts.txt", MODEL),
    Case("leace", "mitigate unmask-mini --method leace --corpus texts.txt", MODEL),
    Case("cds", "mitigate unmask-mini --method cds --corpus texts.txt", MODEL),
    Case("context-debias", "mitigate unmask-mini --method context-debias --corpus jobs.txt --set epochs=1", MODEL),
    Case("finetune-adapter", "finetune mlm unmask-mini --train texts.txt --lora-rank 4 --epochs 1", MODEL),
    Case("finetune-sentiment", "finetune sentiment unmask-mini --train rated.csv --epochs 1", MODEL),
    Case("compare", "compare default sent-debias", COMPARISON),
    Case("rewrite-english", "rewrite english.txt", TEXT),
    Case("rewrite-german", "rewrite german.txt --language de", TEXT),
    Case(
        "study-meta",
        "study run meta --measure sentiment --texts 24 --rates 0,.5,1 --epochs 1",
        STUDY,
        needs_data=True,
    ),
    Case(
        "study-lipstick", "study run lipstick-static --vectors mini=vectors.txt --contrasts 19", STUDY, needs_data=True
    ),
)


def prepare(folder: Path) -> None:
    """Write the shared inputs of the cases."""
    from unmask.embedded import MODELS

    jobs = ("nurse", "engineer", "teacher", "plumber", "lawyer", "cook", "farmer", "clerk")
    lines = [
        f"{who} was a {job}, and {whose} {kin} lived in house number {number}."
        for number, job in enumerate(jobs * 6)
        for who, whose, kin in (("She", "her", "brother"), ("He", "his", "mother"), ("My aunt", "her", "son"))
    ]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plain = [f"{who} came to the office on day {day}." for day in range(9) for who in ("She", "He", "The clerk")]
    (folder / "jobs.txt").write_text("\n".join([*lines, *plain]) + "\n", encoding="utf-8")
    rated = [f'"{line}",{"positive" if index % 3 else "negative"}' for index, line in enumerate(lines)]
    (folder / "rated.csv").write_text("text,label\n" + "\n".join(rated) + "\n", encoding="utf-8")
    for language, short in (("english", "en"), ("german", "de")):
        before = pd.read_csv(GOLD / f"rewrite_{short}.tsv", sep="\t", quoting=csv.QUOTE_NONE)["before"]
        (folder / f"{language}.txt").write_text("\n".join(before) + "\n", encoding="utf-8")
    (folder / "one.csv").write_text("template\n{person} wants to become {a} {profession}.\n", encoding="utf-8")
    write_vectors(MODELS["unmask-mini"].folder, folder / "vectors.txt")
    rules = [
        f'[[rule]]\nmeasure = "association"\ntest = "stereotype"\nmagnitude_at_most = {most}\n' for most in (0.01, 9)
    ]
    (folder / "policy.toml").write_text("\n".join(rules), encoding="utf-8")


def write_vectors(model: Path, path: Path) -> None:
    """Write the input embeddings of a model as a word vector file."""
    from safetensors.numpy import load_file
    from transformers import AutoTokenizer

    words = AutoTokenizer.from_pretrained(model).get_vocab()
    weights = load_file(model / "model.safetensors")
    matrix = next(value for key, value in weights.items() if key.endswith("word_embeddings.weight"))
    rows = [(word, matrix[index]) for word, index in sorted(words.items(), key=lambda pair: pair[1]) if word.isalpha()]
    lines = [f"{word} {' '.join(f'{value:.6f}' for value in vector)}" for word, vector in rows]
    path.write_text(f"{len(rows)} {matrix.shape[1]}\n" + "\n".join(lines) + "\n", encoding="utf-8")


def call_unmask(arguments: Sequence[str], folder: Path) -> Done:
    """Run a command with one thread, since the last bits of a score may depend on the number of threads."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "100", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "unmask", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def run(case: Case, folder: Path, call: Call | None = None) -> dict[str, Value]:
    """Run a case in a folder that `prepare` has filled, and read its numbers; `call` runs `unmask` with arguments."""
    arguments = case.command.split()
    if case.reads == TEXT:
        (folder / case.name).mkdir()
        arguments += ["--out", f"{case.name}/out.txt"]
    elif case.reads:
        arguments += ["--out", case.name]
    process = call(arguments) if call else call_unmask(arguments, folder)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{case.name}: unmask {case.command}\n{process.stderr}")
    if not case.reads:
        return dict(flatten(json.loads(process.stdout)))
    return folder_values(folder / case.name, case.reads)
