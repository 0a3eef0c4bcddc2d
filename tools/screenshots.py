"""Make the pictures of the documentation: `python tools/screenshots.py` writes docs/report.png and docs/items.png.

They show the audit that `make audit` makes. `python tools/screenshots.py AUDIT` shows an audit folder, or another
model. Needs Chromium and Playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import unmask
from unmask.results.storage import RESULT

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 1200


def shoot(page: Path, picture: Path, *, height: int, top: str = "body") -> None:
    """A picture of a page, from the element `top` downwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": height})
        tab.goto(page.resolve().as_uri())
        place = tab.locator(top).bounding_box()
        assert place is not None
        clip = {"x": 0, "y": place["y"], "width": WIDTH, "height": height}
        tab.screenshot(path=picture, full_page=True, clip=clip)  # type: ignore[arg-type]
        browser.close()


def main(given: str = "unmask-mini") -> None:
    """Audit, if that is to be done, and take the pictures."""
    audit = unmask.load(given) if (Path(given) / RESULT).is_file() else unmask.audit(given)
    with tempfile.TemporaryDirectory() as folder:
        page = audit.report(Path(folder) / "report.html")
        shoot(page, DOCS / "report.png", height=1545)
        shoot(page, DOCS / "items.png", height=820, top="#items")


if __name__ == "__main__":
    main(*sys.argv[1:])
