"""The report in a real browser: items are sorted, filtered, searched and saved; values show on hover and with keys;
names and texts may be hostile; axe-core finds no serious problem, in light and dark."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

import sample_audits
from pages import EVIL, needs_chromium
from unmask.measures.recorded import read_table
from unmask.workflows import ranking

pytestmark = [pytest.mark.browser, needs_chromium]
RIGHT_TO_LEFT = "\u202eالممرضة\u202c متعبة"
LONG = "x" * 5000
FORMULA = '=HYPERLINK("https://example.org","look")'
NAME = f"{EVIL}' \" {RIGHT_TO_LEFT}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with hostile names and texts."""
    items = sample_audits.sample_items()["association"]
    texts = (EVIL, RIGHT_TO_LEFT, LONG, '</script><b id="out">', 'a, "quoted"\ntext', FORMULA)
    items["sentence"] = [*texts, *items["sentence"][len(texts) :]]
    items["association"] = [*range(90, 90 - len(texts), -1), *items["association"][len(texts) :]]
    file = tmp_path_factory.mktemp("page") / "report.html"
    page = sample_audits.render_audit_page(
        sample_audits.sample_audit(sample_audits.sound_measurement(), sample_audits.emotions_measurement(), name=NAME),
        {"association": items},
        beside=True,
    )
    file.write_text(page, encoding="utf-8")
    return file


@contextmanager
def opened(browser: Browser, file: Path, **settings: Any) -> Iterator[Page]:
    """Open a page, which must log no problem and request nothing."""
    problems: list[str] = []
    requests: list[str] = []
    tab = browser.new_page(**settings)
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("dialog", lambda dialog: problems.append(dialog.message))
    tab.goto(file.as_uri())
    yield tab
    assert problems == []
    assert {url for url in requests if not url.startswith(("data:", "blob:"))} == {file.as_uri()}
    tab.close()


def _column(tab: Page, name: str) -> list[str]:
    heads = tab.locator(".items thead th").all_inner_texts()
    index = next(index for index, head in enumerate(heads) if head.startswith(name))
    return tab.locator(f".items tbody td:nth-child({index + 1})").all_text_contents()


def _numbers(tab: Page) -> list[float]:
    return [float(value.replace("−", "-")) for value in _column(tab, "association")]


def test_items_are_sorted_filtered_searched_and_saved(browser: Browser, report: Path, tmp_path: Path) -> None:
    with opened(browser, report) as tab:
        summary = tab.locator(".items .said")
        assert summary.inner_text() == "80 items found, 25 shown."
        head = tab.locator(".items th", has_text="association")
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert _numbers(tab) == sorted(_numbers(tab), reverse=True)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert _numbers(tab) == sorted(_numbers(tab))
        assert min(_numbers(tab)) == pytest.approx(-1.19)
        tab.get_by_role("button", name="Show 100 more").click()
        assert len(_numbers(tab)) == 80
        tab.get_by_label("gender").select_option("female")
        assert set(_column(tab, "gender")) == {"female"}
        assert summary.inner_text() == "40 of 80 items found, 25 shown."
        tab.get_by_label("Search").fill("AUNT job 17")
        assert _column(tab, "sentence") == ["My aunt is a job 17."] * 2
        tab.get_by_label("Search").fill("nobody")
        assert summary.inner_text() == "0 of 80 items found, 0 shown."
        tab.get_by_label("Search").fill("")
        tab.get_by_label("gender").select_option("all")
        with tab.expect_download() as download:
            tab.get_by_role("button", name="Save these rows as CSV").click()
        assert download.value.suggested_filename == "association.csv"
        download.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 80
    sentences = {row["sentence"] for row in rows}
    assert {'</script><b id="out">', 'a, "quoted"\ntext', EVIL, f"'{FORMULA}"} <= sentences
    assert FORMULA not in sentences, "a spreadsheet would run it"
    assert min(float(row["association"]) for row in rows) == -1.19  # a number is no formula
    assert FORMULA in set(read_table(tmp_path / "saved.csv")["sentence"])
    assert {row["gender"] for row in rows} == {"female", "male"}


def test_hostile_names_and_texts_are_text(browser: Browser, report: Path) -> None:
    with opened(browser, report, viewport={"width": 390, "height": 900}) as tab:
        assert tab.locator("h1").inner_text().split() == NAME.split()
        assert tab.locator("#out, img, main script:not([type='application/json'])").count() == 0
        assert EVIL in _column(tab, "sentence")
        assert RIGHT_TO_LEFT in _column(tab, "sentence")
        cut = next(text for text in _column(tab, "sentence") if text.startswith("xxx"))
        assert cut.endswith("…")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        link = tab.get_by_role("link", name="items/association.jsonl.gz")
        assert link.get_attribute("href") == "items/association.jsonl.gz"


def test_figures_show_values_to_a_pointer_and_to_keys(browser: Browser, report: Path) -> None:
    with opened(browser, report) as tab:
        mark = tab.locator("[role=img] [data-tip='male job 3, female: +1.50 nats']").first
        mark.scroll_into_view_if_needed()
        tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # it has scrolled
        mark.hover()
        note = tab.locator(".tip")
        assert note.inner_text() == "male job 3, female: +1.50 nats"
        assert note.is_visible()
        tab.keyboard.press("Escape")
        assert note.is_hidden()
        tab.locator(".drawing > [role=img]").last.focus()
        tab.keyboard.press("ArrowRight")
        first_text = note.inner_text()
        tab.keyboard.press("ArrowRight")
        assert first_text
        assert note.inner_text() != first_text
        assert tab.locator("svg title").count() == 0  # they would be shown twice


def test_without_a_script_the_page_still_reads(browser: Browser, report: Path) -> None:
    with opened(browser, report, java_script_enabled=False) as tab:
        assert tab.locator(".items tbody tr").count() == 25
        assert tab.locator("svg title").count() > 20
        assert tab.locator(".controls").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, report: Path, tmp_path: Path, scheme: str) -> None:
    audits = [sample_audits.sample_audit(sample_audits.sound_measurement(), name=name) for name in ("one", EVIL)]
    ranked = tmp_path / "ranking.html"
    ranked.write_text(ranking.render_ranking(audits), encoding="utf-8")
    for file in (report, ranked):
        with opened(browser, file, color_scheme=scheme) as tab:
            tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            violations = Axe().run(tab).response["violations"]
        serious = [
            (violation["id"], violation["nodes"][0]["html"][:200])
            for violation in violations
            if violation["impact"] in ("serious", "critical")
        ]
        assert serious == []
