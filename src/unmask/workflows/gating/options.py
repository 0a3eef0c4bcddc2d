"""Options of a gate."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.options import Options, option


class GateOptions(Options):
    """Which audit is judged, and by which rules."""

    audit: Path = option(..., "An audit folder.", argument=True, metavar="DIR")
    policy: Path | None = option(None, "The rules: a TOML file.")
    baseline: Path | None = option(
        None, "The audit folder that rules with worse_by_at_most look back to. Default: the policy's."
    )
    junit: Path | None = option(None, "Also write a JUnit XML file, for CI to show.")
    write_policy: Path | None = option(
        None, "Write a policy to start from, which allows what this audit shows, and judge nothing."
    )

    @model_validator(mode="after")
    def _check(self) -> GateOptions:
        if self.policy is not None and self.write_policy is not None:
            raise UnmaskError("give either --policy to judge or --write-policy to have rules written, not both")
        if self.policy is None and self.write_policy is None:
            raise UnmaskError("give the rules with --policy FILE, or have some written with --write-policy FILE")
        return self
