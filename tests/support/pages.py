"""Helpers for tests of HTML pages: the visible text, what a page would load, and a browser that opens it."""

from __future__ import annotations

import json
import os
import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from unmask.report.html import script

EVIL = """<script>alert("x")</script><img src=x onerror='alert(1)'>&"""

needs_chromium = pytest.mark.skipif(
    not (shutil.which("chromium") or os.environ.get("UNMASK_REQUIRE_BROWSER")),
    reason="chromium is not on PATH",
)


def seen(page: str) -> str:
    """The visible text of a page."""
    return " ".join(unescape(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.S)).split())


class Tags(HTMLParser):
    """All tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_loads_nothing(page: str) -> None:
    tags = Tags(page).found
    assert not {"img", "iframe", "object", "embed", "audio", "video"} & {tag for tag, _ in tags}
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    assert len(scripts) == sum(tag == "script" for tag, _ in tags)
    data = [json.loads(text) for script_attributes, text in scripts if script_attributes == ' type="application/json"']
    assert len(data) == len(scripts) - 1
    assert scripts[-1] == ("", script()[0])
    assert f"script-src '{script()[1]}'; " in page
    for tag, attributes in tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,", "items/", "cells/")), (tag, attributes)
    style = "".join(re.findall(r"<style>(.*?)</style>", page, re.S))
    assert "url(" not in style
    assert "@import" not in style


def assert_plots_are_described(page: str, plots: int) -> None:
    labels = [attributes.get("aria-label") for _, attributes in Tags(page).found if attributes.get("role") == "img"]
    assert len(labels) == page.count("<svg") == plots
    assert all(labels)


def assert_a_browser_shows(page: str, file: Path) -> None:
    """On a desktop and on a phone: no network, no errors, no scrolling sideways."""
    from playwright.sync_api import sync_playwright

    file.write_text(page, encoding="utf-8")
    requests: list[str] = []
    problems: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        for width in (1200, 390):
            tab.set_viewport_size({"width": width, "height": 900})
            tab.goto(file.as_uri())
            tab.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert problems == []
    assert {url for url in requests if not url.startswith("data:")} == {file.as_uri()}


def assert_accessible(file: Path) -> None:
    """axe-core finds nothing in a page, in light and dark, with all details open."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = browser.new_page(color_scheme=scheme)
            tab.goto(file.as_uri())
            tab.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
            violations = Axe().run(tab).response["violations"]
            assert [(violation["id"], violation["nodes"][0]["html"]) for violation in violations] == []
            tab.close()
        browser.close()
