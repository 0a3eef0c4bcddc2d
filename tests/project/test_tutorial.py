"""The tutorial is correct: its commands, run in order, print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from commands import unmask
from paths import PROJECT

PAGE = PROJECT / "docs" / "tutorial.md"
BLOCK = re.compile(r"(?:Save (?:\w+ )?as `(?P<file>[^`]+)`:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.S)
NUMBER = re.compile(r"[−+]?\d+(?:[.,]\d+)*")


def test_every_command_prints_what_the_page_says(tmp_path: Path) -> None:
    ran: list[str] = []
    code = 0
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        for typed, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block["text"], re.M):
            first, *words = shlex.split(typed, comments=True)
            if first == "echo":
                assert code == int(printed)
                code = 0
            elif first == "unmask":
                assert code == 0, f"{ran[-1]} exits with {code}"
                process = unmask(*words, cwd=tmp_path)
                code = process.returncode
                _assert_printed(process.stdout + process.stderr, printed)
                ran.append(typed)
    assert [line.split()[1] for line in ran] == ["audit", "mitigate", "audit", "compare", "gate", "gate"]
    assert code == 0


def _assert_printed(output: str, printed: str) -> None:
    """Assert that the pieces between … occur in the output in order, regardless of line breaks."""
    words, position = _split_words(output), 0
    for piece in filter(None, map(_split_words, printed.split("…"))):
        starts = [start for start in range(position, len(words)) if _match(words[start : start + len(piece)], piece)]
        assert starts, f"{' '.join(piece)!r} is not in\n{output}"
        position = starts[0] + len(piece)


def _split_words(text: str) -> list[str]:
    return [word for word in text.replace("…", " ").split() if not set(word) <= set("─")]


def _match(output: list[str], expected: list[str]) -> bool:
    return len(output) == len(expected) and all(map(_match_word, output, expected))


def _match_word(output: str, expected: str) -> bool:
    """Whether two words are equal, up to one unit in the last place of decimals (machines round differently)."""
    if output == expected:
        return True
    if NUMBER.sub("0", output) != NUMBER.sub("0", expected):
        return False
    pairs = zip(NUMBER.findall(output), NUMBER.findall(expected), strict=True)
    return all(
        "." in output_number
        and abs(_count_units(output_number, page_number) - _count_units(page_number, page_number)) <= 1
        for output_number, page_number in pairs
    )


def _count_units(number: str, reference: str) -> float:
    """A number in units of the last place of the reference."""
    return float(number.replace("−", "-").replace(",", "")) * 10.0 ** len(reference.partition(".")[2])
