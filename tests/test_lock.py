"""The lock in requirements/ agrees with the ranges in pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>\S+)( ; [^#]+?)?(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


def locked(*files: str) -> dict[str, str]:
    """The locked versions by name."""
    lines = [line for file in files for line in (ROOT / "requirements" / file).read_text().splitlines()]
    matches = [match for line in lines if (match := LINE.fullmatch(line))]
    assert len(matches) == len(lines) - len(files), "every line but the header is a package with its hashes"
    return {match["name"]: match["version"] for match in matches}


def torch() -> dict[str, str]:
    """The version of torch, which has a file of its own."""
    text = (ROOT / "requirements" / "torch.txt").read_text()
    return dict([line.split("==") for line in text.splitlines() if not line.startswith("#")])


EXTRAS = PROJECT["project"]["optional-dependencies"]
MAIN = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]


@pytest.mark.parametrize("requirement", [Requirement(line) for line in MAIN], ids=str)
def test_an_audit_needs_the_main_lock_alone(requirement: Requirement) -> None:
    version = (locked("main.txt") | torch())[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("requirement", [Requirement(line) for lines in EXTRAS.values() for line in lines], ids=str)
def test_optional_groups_are_locked_too(requirement: Requirement) -> None:
    versions = locked("main.txt", "dev.txt") | {"unmask": "0"}  # an extra may name another extra of ours
    assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


def test_test_tools_are_not_in_the_environment_of_an_audit() -> None:
    assert not {"gensim", "playwright", "pytest", "ray", "spacy", "sphinx"} & locked("main.txt").keys()
