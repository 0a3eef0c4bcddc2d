"""On a CPU: a trained model or adapter → a folder of the package, in half precision.

    python tools/pretrain/pack.py TRAINED_FOLDER src/unmask/embedded/NAME

Weights are rounded to float16 on disk; the configuration says float32, so that they are computed with in full.
An adapter's folder does not repeat the tokenizer of its model.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

KEPT = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "training_counts.csv", "adapter_config.json"),
    "metrics.json",
)


def main() -> None:
    """Pack one folder."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    adapter = (source / "adapter_config.json").is_file()
    for name in KEPT:
        if (source / name).is_file() and not (adapter and name.startswith("tokenizer")):
            shutil.copy(source / name, target / name)
    config = json.loads((source / "config.json").read_text(encoding="utf-8")) | {"dtype": "float32"}
    config.pop("_name_or_path", None)
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    (file,) = source.glob("*.safetensors")
    weights = {name: tensor.half().contiguous() for name, tensor in load_file(file).items()}
    save_file(weights, target / file.name, metadata={"format": "pt"})
    (target / file.name).chmod(0o644)
    print(f"{target}: {(target / file.name).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
