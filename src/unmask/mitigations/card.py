"""The model card of a debiased model: what was done to it, to what, and how to see whether it helped."""

from __future__ import annotations

import json
from typing import Any

from unmask.results.markdown import escaped, plain, table

VECTORS = """## What to know before you use them

Debiased vectors are not unbiased ones: words that leaned the same way may still lie together. `mitigation.json` holds
all of the above, and what the method found, for machines."""
TITLES = {"corpus": "Corpus", "documents": "Documents", "hash": "SHA-256 of the corpus"}


def render(record: dict[str, Any]) -> str:
    """The card as Markdown; everything in it is in `mitigation.json` too."""
    parent, made, data = record["parent"], record["made"], record["data"]
    name = plain(parent["name"])
    tags = ["gender-bias", "debiased", record["method"]]
    head = ["---", f"language: {record['language']}", "tags:", *(f"- {tag}" for tag in tags), "---"]
    rows = [
        ("Method", f"{record['method']} ({record['protocol']} protocol)"),
        ("Made from", f"`{name}`"),
        ("Weights of that model", f"`{parent['weight_hash']}`"),
        ("Weights here", f"`{record['weight_hash']}`"),
        *((key.capitalize(), f"`{plain(str(value))}`") for key, value in made.items()),
        *((TITLES[key], f"`{plain(str(value))}`") for key, value in (data or {}).items()),
        ("Seed", str(record["seed"])),
        ("Settings", ", ".join(f"{key} `{plain(json.dumps(value))}`" for key, value in record["settings"].items())),
        ("Made with", f"unmask {record['unmask_version']}, {record['created']}"),
    ]
    lines = [
        *head,
        "",
        f"# {escaped(parent['name'])}, debiased by {record['method']}",
        "",
        f"{record['about']} After {record['citation']}.",
        "",
        *table(("", ""), rows),
        "",
    ]
    if place := record["details"].get("kept_in"):
        lines += ["## Where the change is", "", place, ""]
    if "words" in made:
        return "\n".join([*lines, VECTORS, ""])
    lines += [
        "## What to know before you use it",
        "",
        "A debiased model is not an unbiased one. A method changes what it was made to change; other measures may find",
        "the same bias still there, or reversed. Measure it yourself:",
        "",
        "```console",
        f"$ unmask audit {name} --out before",
        "$ unmask audit THIS_FOLDER --out after",
        "$ unmask compare before after",
        "```",
        "",
        "`mitigation.json` holds all of the above, and what the method found, for machines.",
        "",
    ]
    return "\n".join(lines)
