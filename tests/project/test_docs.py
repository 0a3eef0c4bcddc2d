"""The documentation site: it builds without warnings, loads nothing external, and documents every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import unmask
from pages import Tags
from paths import PROJECT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of `make docs`; a broken link or a page outside the table of contents is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(folder)]
    process = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return folder


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > len([*(PROJECT / "docs").glob("*.md")])
    for page in pages:
        for tag, attributes in Tags(page.read_text(encoding="utf-8")).found:
            loaded = [
                attributes.get(name) for name in ("src", "srcset", "data", "href") if name != "href" or tag != "a"
            ]
            assert not [address for address in loaded if address and re.match(r"\w+:|//", address)], (
                page.name,
                tag,
                attributes,
            )
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(https?:|//)", style.read_text(encoding="utf-8")), style


def test_it_has_every_public_name_with_its_docstring(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    for name in unmask.__all__:
        described = re.search(rf'id="unmask\.{name}">.*?</dt>\s*<dd>\s*<p>\w', page, re.S)
        assert described, name
        assert described[0].count("<dt") == 0, f"{name} is not described"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_into_the_docs_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)\s#:]+)(?:#([^)\s]+))?\)", (PROJECT / name).read_text(encoding="utf-8"))
    assert links
    for path, heading in links:
        assert (PROJECT / path).exists(), path
        if heading:
            assert heading in _read_anchors(PROJECT / path), (path, heading)


def _read_anchors(page: Path) -> set[str]:
    """Anchors of the headings: lower case, hyphens for spaces, only letters and digits."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
