"""What the gate says → JUnit XML, which every CI shows: kept passes, broken fails, cannot tell is an error."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from unmask.workflows.gating import GateResult
from unmask.workflows.gating.terminal import name, said

TAGS = {"broken": "failure", "cannot tell": "error"}
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, not even escaped."""


def render(result: GateResult) -> str:
    """One test case a judgement."""
    counts = {
        "tests": len(result.judgements),
        "failures": result.count("broken"),
        "errors": result.count("cannot tell"),
    }
    numbers = {key: str(count) for key, count in counts.items()}
    suites = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _text(f"unmask gate: {result.model}"), **numbers})
    for one in result.judgements:
        labels = {"classname": _text(one.where), "name": _text(name(one))}
        case = ElementTree.SubElement(suite, "testcase", labels)
        if tag := TAGS.get(one.verdict):
            slip = ElementTree.SubElement(case, tag, {"type": one.verdict, "message": _text(said(one))})
            slip.text = _text(f"{one.where}: {said(one)}")
        else:
            ElementTree.SubElement(case, "system-out").text = _text(said(one))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _text(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
