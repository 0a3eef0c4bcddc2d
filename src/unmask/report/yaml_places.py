"""Where things stand in a text of YAML, as places in the text."""

from __future__ import annotations

from typing import Any

import yaml

from unmask.errors import UnmaskError

Pair = tuple[yaml.Node, yaml.Node]


def composed(front: str) -> yaml.Node | None:
    """The text as nodes; None where it says nothing."""
    try:
        node: yaml.Node | None = yaml.compose(front, Loader=yaml.SafeLoader)
        yaml.safe_load(front)
    except (yaml.YAMLError, ValueError) as error:
        where = getattr(getattr(error, "problem_mark", None), "line", None)
        line = "" if where is None else f" at its line {where + 1}"
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UnmaskError(f"the front matter of the card is no YAML{line} ({reason}); mend it first") from None
    return node


def pair_of(node: yaml.MappingNode, name: str) -> Pair | None:
    """A key and its value; of several, the last, as YAML's readers have it."""
    return next(((key, value) for key, value in reversed(node.value) if key.value == name), None)


def is_empty(node: yaml.Node) -> bool:
    """Whether there is nothing: null, or an empty list."""
    if isinstance(node, yaml.ScalarNode):
        return bool(node.tag.endswith(":null"))
    return not node.value


def items_of(node: yaml.Node) -> list[yaml.Node]:
    """Of a list; none of anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def data_of(node: yaml.Node) -> Any:
    """What a mapping says; None for anything else."""
    loader = yaml.SafeLoader("")
    return loader.construct_document(node) if isinstance(node, yaml.MappingNode) else None


def end_of(node: yaml.Node) -> int:
    """Where a node really ends: YAML's reader goes on to the next thing that is no comment."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    key, value = last if isinstance(last, tuple) else (node, last)
    at = key.end_mark.index if isinstance(last, tuple) else node.start_mark.index
    return end_of(value) if value.start_mark.index >= at else int(node.end_mark.index if key is node else at)


def next_line(front: str, at: int) -> int:
    """The start of the line after a place; the place itself, where a line starts there."""
    if at == 0 or front[at - 1] == "\n":
        return at
    return front.find("\n", at) + 1 or len(front)


def dash_of(front: str, at: int, column: int) -> int:
    """Where the line of an item starts: that of the dash before it, in the column of its list."""
    dash = front.rfind("-", 0, at)
    while dash >= 0 and dash - (front.rfind("\n", 0, dash) + 1) != column:
        dash = front.rfind("-", 0, dash)
    return front.rfind("\n", 0, dash) + 1
