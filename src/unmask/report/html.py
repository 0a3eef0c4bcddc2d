"""An audit as one self-contained HTML page: no network, one script of our own, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.report.blocks import Block
from unmask.report.items import ItemsTable, browse_items
from unmask.report.pages import fill
from unmask.report.sections import MeasureSection
from unmask.results import AuditResult


def render_audit(
    result: AuditResult,
    sections: Sequence[MeasureSection],
    items: Sequence[ItemsTable] = (),
    *,
    limits: Sequence[str] = (),
    beside: bool = False,
) -> str:
    """Render the report of an audit.

    Args:
        result: The audit.
        sections: Its measurements with their blocks, in the order of the page.
        items: The items of each measure, for tables that a reader can search, filter and sort.
        limits: What the audit does not say, in sentences.
        beside: Whether the page is in the audit's folder, so that it can link to the files of the items.

    Returns:
        The text of an HTML page.
    """
    methods: dict[str, Sequence[Block]] = {}
    for section in sections:
        methods.setdefault(section.measure, section.method)
    return fill(
        "audit.html.j2",
        result=result,
        sections=sections,
        methods={measure: blocks for measure, blocks in methods.items() if blocks},
        limits=limits if sections else [],
        tables=browse_items(items),
        beside=beside,
    )
