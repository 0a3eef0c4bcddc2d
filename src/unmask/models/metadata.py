"""The files that describe a model's folder, and the record that `unmask mitigate` leaves beside a model or vectors."""

from __future__ import annotations

import re
from typing import Any

CONFIG, ADAPTER = "config.json", "adapter_config.json"
MITIGATION = "mitigation.json"
"""What `unmask mitigate` leaves beside a model: how it was made, and from what."""


def check_mitigation_record(record: Any) -> dict[str, Any] | None:
    """What a mitigation has written, if it names its method and both hashes; None for anything else."""
    parent = record.get("parent") if isinstance(record, dict) else None
    if not isinstance(parent, dict):
        return None
    parts = (record.get("method"), record.get("weight_hash"), parent.get("weight_hash"))
    is_whole = all(isinstance(part, str) and re.fullmatch(r"[a-z0-9-]{1,64}", part) for part in parts)
    return record if is_whole else None
