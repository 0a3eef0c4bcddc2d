"""Without the library of an extra, a command says in one line what to install, before it does anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from unmask.cli import main


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    [
        ("ray", "ray", "study run meta --engine ray --out new"),
        ("ray", "ray", "audit unmask-mini unmask-mini-nli --engine ray --out new"),
        ("pyarrow", "parquet", "rewrite given.parquet --to swap --out new"),
        ("pyarrow", "parquet", "analyse given.parquet --out new"),
        ("pyarrow", "parquet", "audit unmask-mini-sentiment --texts given.parquet --out new"),
        ("pyarrow", "parquet", "finetune sentiment unmask-mini --train given.parquet --out new"),
        ("pyarrow", "parquet", "mitigate unmask-mini --method cds --corpus given.parquet --out new"),
    ],
)
def test_a_missing_extra_is_named_before_the_work(
    module: str,
    extra: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pd.DataFrame({"text": ["She sings."], "label": ["positive"]}).to_parquet(tmp_path / "given.parquet")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"{module}.parquet", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["unmask", *words.split()])
    with pytest.raises(SystemExit, match="2"):
        main()
    written = capsys.readouterr()
    assert written.out == ""
    *progress, line = written.err.splitlines()
    assert progress in ([], ["Reading given.parquet"])
    assert line.endswith(f"install it with: pip install 'unmask[{extra}]'")
    assert not (tmp_path / "new").exists()
