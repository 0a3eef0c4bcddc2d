"""Compare the recorded numbers of all runs with those of the current code; `--record` records them.

make golden                                   # all cases, equal to the last bit on the machine that recorded them
python tests/golden/check.py --tolerance 1e-9 # on another machine
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.cases import CASES, Case, prepare, run
from tests.golden.values import Value, differences

RECORDED = Path(__file__).parent / "recorded"
ENVIRONMENT = RECORDED / "environment.json"
SHOWN = 12


def environment() -> dict[str, str]:
    """What determines the last bits of a score: the torch version and the processor's vector instructions."""
    import torch

    return {"torch": torch.__version__.partition("+")[0], "processor": torch.backends.cpu.get_cpu_capability()}


def processor_model() -> str:
    """The name of the processor. Last bits can differ between two that have the same vector instructions."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def is_recorded_environment() -> bool:
    """Whether this environment reproduces the recorded numbers to 1e-9."""
    recorded: dict[str, str] = json.loads(ENVIRONMENT.read_text(encoding="utf-8"))
    return environment().items() <= recorded.items()


def load(case: Case) -> dict[str, Value]:
    """The recorded numbers of a case."""
    values: dict[str, Value] = json.loads(gzip.decompress((RECORDED / f"{case.name}.json.gz").read_bytes()))
    return values


def save(case: Case, values: dict[str, Value]) -> None:
    """Record the numbers of a case."""
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps(values, sort_keys=True, indent=0)
    (RECORDED / f"{case.name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> int:
    """Run the cases; exit with 1 where a number differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases to run; all by default, with those they read")
    parser.add_argument("--record", action="store_true", help="record the numbers instead of comparing them")
    parser.add_argument("--tolerance", type=float, default=0.0)
    options = parser.parse_args()
    changed = 0
    if options.record:
        recorded = environment() | {"model": processor_model()}
        ENVIRONMENT.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for case in CASES:
            if options.names and case.name not in options.names:
                continue
            start = time.monotonic()
            values = run(case, folder)
            if options.record:
                save(case, values)
            lines = [] if options.record else differences(load(case), values, options.tolerance)
            changed += bool(lines)
            state = "recorded" if options.record else f"{len(lines)} differences" if lines else "equal"
            print(f"{case.name}: {len(values)} values, {state}, {time.monotonic() - start:.0f} s", flush=True)
            for line in lines[:SHOWN]:
                print(f"    {line}")
    if changed and (recorded := json.loads(ENVIRONMENT.read_text(encoding="utf-8")).get("model")) != processor_model():
        print(
            f"Recorded on {recorded}, checked on {processor_model()}: use --tolerance; t-SNE maps (x, y) differ anyway"
        )
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
