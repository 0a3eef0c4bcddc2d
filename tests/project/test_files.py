"""Output paths are checked before the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unmask.errors import UnmaskError
from unmask.files import check_new_path


def test_what_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    nobody_writes = closed if os.geteuid() else Path("/proc/1")  # folder permissions do not apply to root
    with pytest.raises(UnmaskError, match="file exists; give another name"):
        check_new_path(tmp_path / "file")
    with pytest.raises(UnmaskError, match="file is a file, so"):
        check_new_path(tmp_path / "file" / "below" / "it")
    with pytest.raises(UnmaskError, match=f"{nobody_writes} cannot be written to; give another folder"):
        check_new_path(nobody_writes / "new" / "folder")
    check_new_path(tmp_path / "new" / "folder")
