"""What a rewriting changed and left: in numbers, and marked in a short text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from unmask.errors import quote
from unmask.rewriting.result import Rewritten

TOP, TOP_LEFT = 10, 5


@dataclass
class Counts:
    """Sums over documents; they can be added."""

    documents: int = 0
    chosen: int = 0
    """Documents that were to be rewritten: all, unless there is a probability."""
    changed: int = 0
    words: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    agreeing: Counter[str] = field(default_factory=Counter)
    """Articles and verbs that had to follow."""
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Gendered words that were left, with the reason."""
    invalid_utf8: int = 0
    """Documents with bytes that are not UTF-8, which were kept."""
    without_text: int = 0
    """Records whose column is missing, empty or no text."""
    invalid_at: int | None = None
    """Where the first bytes that are not UTF-8 stand: the byte, or the row of a table."""
    cut_changed: bool = False
    """Whether the document that goes on in the next block has been changed so far."""
    cut_invalid: bool = False
    """Whether it has had bytes that are not UTF-8."""

    def count_changes(self, rewritten: Rewritten) -> None:
        """Count the changes of one text."""
        counters = {"word": self.words, "name": self.names}
        for change in rewritten.changes:
            counters.get(change.kind, self.agreeing)[change.term] += 1
        for left in rewritten.left:
            self.left[left.term, left.why] += 1

    def add(self, other: Counts) -> None:
        """Add the numbers of others to these."""
        for name in COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def add_block(self, block: Counts, *, goes_on: bool) -> None:
        """Add the next block of a file. A document counts once, however many blocks it goes on in."""
        if not goes_on:
            self.cut_changed = self.cut_invalid = False
        block.changed -= self.cut_changed and block.changed > 0
        block.invalid_utf8 -= self.cut_invalid and block.invalid_utf8 > 0
        self.cut_changed |= block.changed > 0
        self.cut_invalid |= block.invalid_utf8 > 0
        if self.invalid_at is None:
            self.invalid_at = block.invalid_at
        self.add(block)

    def to_record(self) -> dict[str, Any]:
        """The numbers as JSON can hold them, the most frequent first."""
        left: dict[str, dict[str, int]] = {}
        for (term, why), number in self.left.most_common():
            left.setdefault(term, {})[why] = number
        counters = {name: dict(getattr(self, name).most_common()) for name in COUNTERS}
        return {name: getattr(self, name) for name in NUMBERS} | counters | {"left": left}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Counts:
        """The numbers of a record."""
        left = {(term, why): number for term, reasons in record["left"].items() for why, number in reasons.items()}
        counters = {name: Counter(record[name]) for name in COUNTERS} | {"left": Counter(left)}
        return cls(**{**record, **counters})


COUNTERS = ("words", "names", "agreeing", "left")
NUMBERS = ("documents", "chosen", "changed", "invalid_utf8", "without_text")


@dataclass
class Summary:
    """The result of a run."""

    counts: Counts = field(default_factory=Counts)
    files: int = 0
    finished_before: int = 0
    """Files that an interrupted run had finished."""
    others: list[str] = field(default_factory=list)
    """Files of a folder that are no text, JSON lines or Parquet, and were not read."""
    invalid: dict[str, int] = field(default_factory=dict)
    """The files with bytes that are not UTF-8, and where the first is (Parquet: its row)."""
    seconds: float = 0.0
    out: Path | None = None
    report: Path | None = None

    def to_record(self) -> dict[str, Any]:
        """The content of the JSON report."""
        return {
            "files": self.files,
            **self.counts.to_record(),
            "invalid_utf8_in": self.invalid,
            "files_not_read": self.others,
            "seconds": round(self.seconds, 1),
        }

    def lines(self) -> list[str]:
        """The summary for a reader, a screenful."""
        counts = self.counts
        files = f" in {self.files:,} files" if self.files > 1 else ""
        chosen = f", {counts.chosen:,} chosen" if counts.chosen != counts.documents else ""
        documents = _pluralize(counts.documents, "document")
        lines = [f"{documents}{files}{chosen}, {counts.changed:,} changed ({self.seconds:.1f} s)"]
        if self.finished_before:
            lines.append(f"finished before: {_pluralize(self.finished_before, 'file')}")
        for title, terms in (("words", counts.words), ("names", counts.names), ("agreeing", counts.agreeing)):
            if terms:
                lines.append(f"{title}: {sum(terms.values()):,} ({_list_top(terms)})")
        if counts.left:
            reasons = Counter({f"{term} [{why}]": number for (term, why), number in counts.left.items()})
            lines.append(f"gendered words left: {sum(reasons.values()):,} ({_list_top(reasons, TOP_LEFT)})")
        if counts.invalid_utf8:
            name, start = next(iter(self.invalid.items()))
            more = f" and {len(self.invalid) - 1:,} other files" if len(self.invalid) > 1 else ""
            documents = _pluralize(counts.invalid_utf8, "document")
            lines.append(f"not UTF-8: bytes in {documents}, kept as they are ({name} from {start}{more})")
        if counts.without_text:
            lines.append(f"records without text, kept as they are: {counts.without_text:,}")
        if self.others:
            lines.append(f"files not read, and not copied: {len(self.others):,} ({quote(self.others)})")
        if self.out:
            lines.append(f"written: {self.out}")
        if self.report:
            lines.append(f"all counts: {self.report}")
        return lines


def _list_top(terms: Counter[str], most: int = TOP) -> str:
    top = ", ".join(f"{term} {number:,}" for term, number in terms.most_common(most))
    return top if len(terms) <= most else f"{top}, …"


def _pluralize(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


Mark = Literal["", "before", "after", "left"]


def mark_changes(text: str, rewritten: Rewritten) -> list[tuple[str, Mark]]:
    """The text in parts, each marked as unchanged, removed, inserted, or a gendered word that was left."""
    spans: list[tuple[int, int, list[tuple[str, Mark]]]] = [
        (change.start, change.end, [(change.before, "before"), (change.after, "after")]) for change in rewritten.changes
    ]
    spans += [(left.start, left.start + len(left.word), [(left.word, "left")]) for left in rewritten.left]
    parts: list[tuple[str, Mark]] = []
    position = 0
    for start, end, marks in sorted(spans, key=lambda span: span[:2]):
        if start < position:
            continue
        parts += [(text[position:start], ""), *marks]
        position = end
    return [part for part in [*parts, (text[position:], "")] if part[0]]


def describe_changes(rewritten: Rewritten) -> list[str]:
    """Each change and each word that was left, a line each."""
    lines = [(left.start, f"{left.word} left: {left.why}") for left in rewritten.left]
    for change in rewritten.changes:
        kind = "" if change.kind == "word" else f" ({change.kind})"
        lines.append((change.start, f"{change.before} → {change.after or '(nothing)'}{kind}"))
    return [line for _, line in sorted(lines)]
