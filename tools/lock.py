"""Write requirements/main.txt, dev.txt and cuda.txt: every direct and indirect dependency, one line each.

uv resolves pyproject.toml for all platforms at once. Of the files it lists for a version, the hashes of those that
CPython on Linux, macOS or Windows installs are kept. torch itself is pinned by hand in requirements/torch.txt, without
a hash, because its build depends on the machine; cuda.txt holds the versions of what only its CUDA builds need.

    make lock
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parents[1]
HEADER = "# Made by `make lock`; do not edit. One line per package: version, platform, SHA-256 of its files."
CUDA_HEADER = "# Made by `make lock`; do not edit. Versions of what only CUDA builds of torch need, as constraints."
TORCH = re.compile(r"torch==")
CUDA = re.compile(r"triton==|cuda-|nvidia-")
PLATFORMS = re.compile(r"any|manylinux\w*_(x86_64|aarch64)|macosx\w*_(arm64|universal2)|win_amd64")
MINORS = range(11, 15)
SYSTEMS = (
    ("linux", "Linux", "posix", "x86_64"),
    ("linux", "Linux", "posix", "aarch64"),
    ("darwin", "Darwin", "posix", "arm64"),
    ("win32", "Windows", "nt", "AMD64"),
)


def main() -> None:
    """Resolve in a temporary folder, so that no lock with the index's addresses is left in the repository."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        constrain_torch(folder / "pyproject.toml")
        (folder / "src" / "unmask").mkdir(parents=True)
        shutil.copy(ROOT / "src" / "unmask" / "__init__.py", folder / "src" / "unmask")
        for needed in ("README.md", "LICENSE"):
            shutil.copy(ROOT / needed, folder)
        run_uv(folder, "lock")
        hashes = installable_hashes(tomllib.loads((folder / "uv.lock").read_text()))
        main_lines = export(folder, "--group", "build")
        dev_lines = [line for line in export(folder, "--group", "build", "--all-extras") if line not in main_lines]
    locks = {
        "main.txt": [locked_line(line, hashes) for line in main_lines if not (TORCH.match(line) or CUDA.match(line))],
        "dev.txt": [locked_line(line, hashes) for line in dev_lines],
        "cuda.txt": [line.partition(" ; ")[0] for line in main_lines if CUDA.match(line)],
    }
    for name, lines in locks.items():
        header = CUDA_HEADER if name == "cuda.txt" else HEADER
        (ROOT / "requirements" / name).write_text("\n".join([header, *lines]) + "\n")
        print(f"requirements/{name}: {len(lines)} packages")


def constrain_torch(pyproject: Path) -> None:
    """Resolve with the torch that is installed."""
    pin = (ROOT / "requirements" / "torch.txt").read_text().splitlines()[-1]
    before, table, after = pyproject.read_text().partition("[tool.uv]")
    assert table, "pyproject.toml has no table [tool.uv]"
    pyproject.write_text(f'{before}{table}\nconstraint-dependencies = ["{pin}"]{after}')


def run_uv(folder: Path, *arguments: str) -> str:
    """Run uv in a folder and return its output."""
    command = [sys.executable, "-m", "uv", *arguments]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def export(folder: Path, *groups: str) -> list[str]:
    """The locked packages of some groups in pip's format, without hashes."""
    options = ("--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--no-annotate", "--no-header")
    return run_uv(folder, "export", "--quiet", *options, *groups).splitlines()


def installable_hashes(lock: dict[str, Any]) -> dict[str, list[str]]:
    """For each `name==version`: hashes of the wheels that fit a supported platform, else of the source archive."""
    hashes = {}
    for package in lock["package"]:
        wheels = [file["hash"] for file in package.get("wheels", ()) if is_installable(file["url"].rsplit("/", 1)[-1])]
        source = [package["sdist"]["hash"]] if "hash" in package.get("sdist", {}) else []
        hashes[f"{package['name']}=={package.get('version')}"] = wheels or source  # our own version is dynamic
    return hashes


def is_installable(wheel: str) -> bool:
    """Whether CPython on a supported platform installs this wheel."""
    _, _, _, tags = parse_wheel_filename(wheel)
    for tag in tags:
        version = re.fullmatch(r"(?:cp|py)3(\d*)", tag.interpreter)
        if version and PLATFORMS.fullmatch(tag.platform):
            minor = int(version[1] or 0)
            if tag.abi in ("none", "abi3") or (minor in MINORS and tag.abi == tag.interpreter):
                return True
    return False


def locked_line(line: str, hashes: dict[str, list[str]]) -> str:
    """A package with its hashes; its marker is kept unless it holds everywhere."""
    pin, _, marker = line.partition(" ; ")
    where = "" if is_always_true(marker) else f" ; {marker}"
    return " ".join([pin + where, *(f"--hash={digest}" for digest in hashes[pin])])


def is_always_true(marker: str) -> bool:
    """Whether a marker holds in every supported environment, so that the line need not repeat it."""
    return not marker or all(
        Marker(marker).evaluate(
            {
                "sys_platform": platform,
                "platform_system": system,
                "os_name": os,
                "platform_machine": machine,
                "python_version": f"3.{minor}",
                "python_full_version": f"3.{minor}.99",
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
            }
        )
        for (platform, system, os, machine), minor in product(SYSTEMS, MINORS)
    )


if __name__ == "__main__":
    main()
