"""Small, predictable rewriters: they change four pronouns and a name, and leave one word."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

from unmask.rewriting.files import FileRewriteOptions, Summary, run
from unmask.rewriting.files.workers import Factory
from unmask.rewriting.options import RewriteOptions
from unmask.rewriting.result import Left, Replacement, Rewritten, apply_changes

_WORDS = {"she": "he", "he": "she", "her": "his", "his": "her", "ann": "Bob"}
GENDERED = re.compile(r"\b(she|he|her|his|ann|miss)\b", re.IGNORECASE)


class Toy:
    def rewrite(self, text: str) -> Rewritten:
        changes, left = [], []
        for match in GENDERED.finditer(text):
            word = match[0].lower()
            if word == "miss":
                left.append(Left(match.start(), match[0], word, "a verb"))
                continue
            new = _WORDS[word].capitalize() if match[0][0].isupper() else _WORDS[word]
            change_type: Any = "name" if word == "ann" else "word"
            changes.append(Replacement(match.start(), match.end(), match[0], new, word, change_type))
        return Rewritten(apply_changes(text, changes), tuple(changes), tuple(left))


def toy(_: RewriteOptions) -> Toy:
    return Toy()


class Tired(Toy):
    """Stops as on Ctrl-C, after `left` documents."""

    left = 0

    def rewrite(self, text: str) -> Rewritten:
        Tired.left -= 1
        if Tired.left < 0:
            raise KeyboardInterrupt
        return super().rewrite(text)


def tired(_: RewriteOptions) -> Tired:
    return Tired()


class Crashing(Toy):
    def rewrite(self, text: str) -> Rewritten:
        if "crash" in text:
            os._exit(1)
        return super().rewrite(text)


def crashing(_: RewriteOptions) -> Crashing:
    return Crashing()


class Faulty(Toy):
    def rewrite(self, text: str) -> Rewritten:
        raise ZeroDivisionError(text)


def faulty(_: RewriteOptions) -> Faulty:
    return Faulty()


def rewrite_file(source: Path, out: Path | None = None, *, factory: Factory = toy, **more: Any) -> Summary:
    return run(FileRewriteOptions(sources=(source,), out=out, **({"processes": 1} | more)), factory=factory)


def rewrite_text(content: bytes, tmp_path: Path, **more: Any) -> bytes:
    """The text file after rewriting, from its content before."""
    for old in tmp_path.glob("text*"):
        old.unlink()
    (tmp_path / "text.txt").write_bytes(content)
    rewrite_file(tmp_path / "text.txt", tmp_path / "text.out", **more)
    return (tmp_path / "text.out").read_bytes()


def rewrite_json_lines(content: bytes, tmp_path: Path, **more: Any) -> bytes:
    (tmp_path / "in.jsonl").write_bytes(content)
    (tmp_path / "out.jsonl").unlink(missing_ok=True)
    (tmp_path / "out.jsonl.report.json").unlink(missing_ok=True)
    rewrite_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl", **more)
    return (tmp_path / "out.jsonl").read_bytes()


def make_stories(number: int) -> bytes:
    """Paragraphs with gendered words, of several lengths."""
    draw = random.Random(number)
    sentences = ("She lost her keys.", "He and Ann miss it.", "Nothing.", "Größer war his Ärger …", "A\r\nline")
    stories = [" ".join(draw.choices(sentences, k=draw.randint(1, 30))) for _ in range(number)]
    return "\n\n".join(f"{number}. {story}" for number, story in enumerate(stories)).encode()


def read_tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
