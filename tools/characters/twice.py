"""On a CPU: sentences and pairs of sentences → lines that teach a model to look from one sentence at the other.

    python tools/characters/twice.py OUT TEXT [PAIRS] [--length 128 --seed 0]

TEXT has a sentence a line; PAIRS has an object a line, with premise and hypothesis. Each line of OUT is a pair, or a
sentence twice, with [SEP] between. A masked letter of one half stands in the other half, so a model that learns them
(`unmask finetune mlm --train OUT`) learns to find it there. A small model that has not learned this cannot learn what a
premise and a hypothesis have to do with each other from ten thousand labelled pairs.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

SPECIAL = 3  # [CLS], [SEP], [SEP]


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("pairs", type=Path, nargs="?")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    halves = [(line.strip(),) * 2 for line in asked.text.read_text(encoding="utf-8").splitlines() if line.strip()]
    if asked.pairs is not None:
        records = [json.loads(line) for line in asked.pairs.read_text(encoding="utf-8").splitlines()]
        halves += [(record["premise"], record["hypothesis"]) for record in records]
    lines = [f"{first}[SEP]{second}" for first, second in halves if len(first) + len(second) <= asked.length - SPECIAL]
    random.Random(asked.seed).shuffle(lines)
    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{asked.out}: {len(lines):,} lines of {len(halves):,}")


if __name__ == "__main__":
    main()
