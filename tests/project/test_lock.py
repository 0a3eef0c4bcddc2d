"""The lock in requirements/ agrees with the ranges in pyproject.toml and is complete."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lock
from paths import PROJECT

PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>\S+)( ; [^#]+?)?(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


def read_locked_versions(*files: str) -> dict[str, str]:
    """The locked versions by name."""
    lines = [line for file in files for line in (PROJECT / "requirements" / file).read_text().splitlines()]
    matches = [match for line in lines if (match := LINE.fullmatch(line))]
    assert len(matches) == len(lines) - len(files), "every line but the header is a package with its hashes"
    return {match["name"]: match["version"] for match in matches}


def read_torch_version() -> dict[str, str]:
    """The locked version of torch, which has a separate file."""
    text = (PROJECT / "requirements" / "torch.txt").read_text()
    return dict([line.split("==") for line in text.splitlines() if not line.startswith("#")])


EXTRAS = PYPROJECT["project"]["optional-dependencies"]
MAIN = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["build"]]


@pytest.mark.parametrize("requirement", [Requirement(line) for line in MAIN], ids=str)
def test_an_audit_needs_the_main_lock_alone(requirement: Requirement) -> None:
    version = (read_locked_versions("main.txt") | read_torch_version())[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("requirement", [Requirement(line) for lines in EXTRAS.values() for line in lines], ids=str)
def test_optional_groups_are_locked_too(requirement: Requirement) -> None:
    # an extra may include another extra of the package
    versions = read_locked_versions("main.txt", "dev.txt") | {"unmask": "0"}
    assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("name", sorted(read_locked_versions("main.txt") | read_torch_version()))
def test_the_dependencies_of_a_locked_package_are_locked(name: str) -> None:
    versions = read_locked_versions("main.txt", "dev.txt") | read_torch_version()
    try:
        is_installed = metadata.version(name).partition("+")[0] == versions[name]
    except metadata.PackageNotFoundError:  # for another platform
        return
    for requirement in map(Requirement, (metadata.requires(name) or []) if is_installed else []):
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            assert canonicalize_name(requirement.name) in versions, requirement


@pytest.mark.parametrize(
    ("wheel", "is_installable"),
    [
        ("numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", True),
        ("numpy-2.4.6-cp314-cp314-macosx_14_0_arm64.whl", True),
        ("numpy-2.4.6-cp314-cp314t-macosx_14_0_arm64.whl", False),
        ("numpy-2.4.6-cp310-cp310-win_amd64.whl", False),
        ("numpy-2.4.6-cp312-cp312-musllinux_1_2_x86_64.whl", False),
        ("tokenizers-0.23.3-cp39-abi3-win_amd64.whl", True),
        ("rich-15.0.0-py3-none-any.whl", True),
        ("ruff-0.17.5-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", True),
        ("six-1.16.0-py2.py3-none-any.whl", True),
    ],
)
def test_hashes_of_wheels_for_supported_platforms_are_kept(wheel: str, is_installable: bool) -> None:
    assert lock.is_installable(wheel) == is_installable


@pytest.mark.parametrize(
    ("marker", "is_always_true"),
    [
        ("", True),
        ("python_full_version < '3.15'", True),
        ("sys_platform != 'emscripten'", True),
        ("platform_system == 'Linux'", False),
        ("os_name == 'posix'", False),
        ("sys_platform == 'win32'", False),
        ("python_full_version < '3.14'", False),
    ],
)
def test_markers_that_hold_everywhere_are_left_out(marker: str, is_always_true: bool) -> None:
    assert lock.is_always_true(marker) == is_always_true


def test_test_tools_are_not_in_the_environment_of_an_audit() -> None:
    assert not {"gensim", "playwright", "pytest", "ray", "spacy", "sphinx"} & read_locked_versions("main.txt").keys()
