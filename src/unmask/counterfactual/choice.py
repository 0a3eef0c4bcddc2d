"""Which documents are rewritten: counterfactual data substitution (CDS) changes each one with a given probability.

The decision is a hash of the seed and the document, so the same document gets the same one in whatever file, order,
process or machine it is met. What is hashed are the first 65,536 bytes of the document (all of it, mostly) in UTF-8,
without the white space and the byte order mark around it; so a line that moves to the end of its file, where it has no
newline, is decided as before. A document chosen at one probability is chosen at every higher one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from unmask.errors import UnmaskError

HASHED = 1 << 16
BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n\x0b\x0c"


@dataclass(frozen=True)
class Choice:
    """How likely a document is rewritten, and the seed; without a probability all are."""

    probability: float | None = None
    seed: int = 0

    def check(self) -> None:
        """Refuse what is no probability."""
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise UnmaskError(f"--probability is {self.probability:g}; give a number from 0 to 1, such as 0.5")

    def of(self, document: bytes) -> bool:
        """Whether this document, or the one that begins with this piece, is rewritten."""
        if self.probability is None:
            return True
        _, core, _ = around(document)
        key = hashlib.blake2b(str(self.seed).encode()).digest()
        digest = hashlib.blake2b(core[:HASHED], digest_size=8, key=key).digest()
        return int.from_bytes(digest, "big") < self.probability * 2**64


def around(document: bytes) -> tuple[bytes, bytes, bytes]:
    """A document as what stands before its text, the text, and the white space after it."""
    core = document.lstrip(WHITE)
    if core.startswith(BOM):
        core = core[len(BOM) :].lstrip(WHITE)
    before = document[: len(document) - len(core)]
    text = core.rstrip(WHITE)
    return before, text, core[len(text) :]
