"""The `model-index` in the front matter of a model card, changed as text: every byte that is not ours stays.

YAML is read to know where things stand, and is never written anew: comments, order, quotes and line ends are the
author's. What comes out is read once more, and refused if anything but our results has changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from unmask.errors import UnmaskError

Pair = tuple[yaml.Node, yaml.Node]
Entry = Mapping[str, Any]
Edit = tuple[int, int, str]
INDEX, RESULTS = "model-index", "results"
OURS = "unmask-"
"""The types of all our metrics begin with this."""
_BLOCK = re.compile(r"\A(\ufeff?\s*---[ \t]*(?:\r\n|\n))((?:.*?(?:\r\n|\n))??)(---[ \t]*(?:\r\n|\n|\Z))", re.S)


def split(card: str) -> tuple[str, str, str]:
    """A card in three: up to the front matter, the front matter itself, and all from its last line on."""
    found = _BLOCK.match(card)
    return (found[1], found[2], card[found.start(3) :]) if found else ("", "", card)


def with_results(card: str, name: str, entries: Sequence[Entry], newline: str = "\n") -> str:
    """The card with these results of ours in place of those it has; `name` is for a card without a `model-index`."""
    head, front, rest = split(card)
    if not head:
        mark = "\ufeff" if card.startswith("\ufeff") else ""
        body = card.removeprefix("\ufeff")
        gap = newline if body else ""
        return f"{mark}---{newline}{_index(name, entries, newline)}---{newline}{gap}{body}"
    changed = front
    for start, end, text in sorted(_edits(front, name, entries, newline), reverse=True):
        changed = changed[:start] + text + changed[end:]
    _refuse_harm(front, changed, entries)
    return head + changed + rest


def is_ours(entry: Any) -> bool:
    """Whether a result was written by us: its metrics say so."""
    metrics = entry.get("metrics") if isinstance(entry, Mapping) else None
    if not isinstance(metrics, list) or not metrics:
        return False
    return all(isinstance(one, Mapping) and str(one.get("type")).startswith(OURS) for one in metrics)


def _edits(front: str, name: str, entries: Sequence[Entry], newline: str) -> list[Edit]:
    root = composed(front)
    if root is None:
        return [(len(front), len(front), _index(name, entries, newline))]
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise UnmaskError("the front matter of the card is no list of `name: value` lines; write it so, or remove it")
    pair = pair_of(root, INDEX)
    if pair is None:
        place = next_line(front, end_of(root))
        return [(place, place, _index(name, entries, newline))]
    if is_empty(pair[1]):
        return _fill(front, pair, [{"name": name, RESULTS: list(entries)}], root.start_mark.column, newline)
    return _in_index(front, pair, entries, newline)


def _in_index(front: str, pair: Pair, entries: Sequence[Entry], newline: str) -> list[Edit]:
    """The edits where there is an index: in the first model that has results of ours, else in the first."""
    index = pair[1]
    models = index.value if isinstance(index, yaml.SequenceNode) else []
    found = [(model, pair_of(model, RESULTS)) for model in models if isinstance(model, yaml.MappingNode)]
    lists = [(model, of) for model, of in found if of and (is_empty(of[1]) or isinstance(of[1], yaml.SequenceNode))]
    if not lists or len(found) < len(models):
        raise UnmaskError(f"the {INDEX} of the card has no list of results; mend it, or remove it")
    model, of = next(((one, of) for one, of in lists if any(map(_ours_at, items_of(of[1])))), lists[0])
    if index.start_mark.index < pair[0].end_mark.index or of[1].start_mark.index < of[0].end_mark.index:
        raise UnmaskError(f"the {INDEX} of the card is an alias (*name) of something above it; write it out")
    if is_empty(of[1]):
        column = front.rfind("\n", 0, of[0].start_mark.index) + 1
        return _fill(front, of, entries, of[0].start_mark.index - column, newline, flow=bool(model.flow_style))
    return (_in_flow if of[1].flow_style else _in_block)(front, of[1], entries, newline)


def _in_block(front: str, results: yaml.SequenceNode, entries: Sequence[Entry], newline: str) -> list[Edit]:
    column = results.start_mark.column
    edits, left = [], list(entries)
    for item in filter(_ours_at, results.value):
        start = dash_of(front, item.start_mark.index, column)
        end = next_line(front, end_of(item))
        same = next((one for one in left if _key(one) == _key(data_of(item))), None)
        if same is None:
            edits.append((start, end, ""))
        else:
            left.remove(same)
            if data_of(item) != same:
                edits.append((start, end, _lines([same], column, newline)))
    place = next_line(front, end_of(results))
    return [*edits, (place, place, _lines(left, column, newline))] if left else edits


def _in_flow(front: str, results: yaml.SequenceNode, entries: Sequence[Entry], newline: str) -> list[Edit]:  # noqa: ARG001 - as `_in_block`
    """A list in brackets: ours are put in as JSON, which is YAML; those of ours that are gone from it leave none."""
    old = [item for item in results.value if _ours_at(item)]
    edits = [
        (item.start_mark.index, item.end_mark.index, _json(one))
        for item, one in zip(old, entries, strict=False)
        if data_of(item) != one
    ]
    for item in old[len(entries) :]:
        before = results.value[results.value.index(item) - 1]
        edits.append((before.end_mark.index, item.end_mark.index, ""))
    place = results.value[-1].end_mark.index
    more = "".join(f", {_json(one)}" for one in entries[len(old) :])
    return [*edits, (place, place, more)] if more else edits


def _fill(
    front: str,
    pair: Pair,
    entries: Sequence[Entry],
    column: int,
    newline: str,
    *,
    flow: bool = False,
) -> list[Edit]:
    """Entries where there are none: after `name:`, or in place of its `[]` or `null`."""
    key, value = pair
    colon = front.index(":", key.end_mark.index) + 1
    end = max(colon, value.end_mark.index) if getattr(value, "flow_style", None) or value.value else colon
    if flow:
        return [(colon, end, f" [{', '.join(map(_json, entries))}]")]
    place = next_line(front, end)
    return [(colon, end, ""), (place, place, _lines(entries, column, newline))]


def _index(name: str, entries: Sequence[Entry], newline: str) -> str:
    return f"{INDEX}:{newline}{_lines([{'name': name, RESULTS: list(entries)}], 0, newline)}"


def _lines(entries: Sequence[Entry], column: int, newline: str) -> str:
    """Entries as items of a list that stands in a column."""
    text = yaml.safe_dump([_bare(one) for one in entries], sort_keys=False, allow_unicode=True, width=float("inf"))
    return "".join(f"{' ' * column}{line}{newline}" for line in text.splitlines())


def _bare(entry: Entry) -> Any:
    """Without anchors: the same object twice would become one."""
    return json.loads(_json(entry))


def _json(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False)


def _ours_at(node: yaml.Node) -> bool:
    return is_ours(data_of(node))


def _key(entry: Any) -> tuple[str, ...]:
    """What is measured: task, data and metrics, without the values."""
    kinds = [str(metric.get("type")) for metric in entry["metrics"]]
    return (*kinds, json.dumps([entry.get("task"), entry.get("dataset")], sort_keys=True, default=str))


def _refuse_harm(before: str, after: str, entries: Sequence[Entry]) -> None:
    """Read both: ours must be there, in any order, and all else as it was."""
    try:
        old, new = yaml.safe_load(before) or {}, yaml.safe_load(after)
        theirs = [repr(_without(one)) for one in (old, new)]
        ours = [one for model in new[INDEX] for one in model[RESULTS] if is_ours(one)]
        whole = theirs[0] == theirs[1] and sorted(ours, key=_key) == sorted(map(_bare, entries), key=_key)
    except (yaml.YAMLError, TypeError, KeyError, ValueError):
        whole = False
    if not whole:
        raise UnmaskError(f"the {INDEX} of the card is written so that it cannot be changed safely; write it as lines")


def _without(data: Any) -> Any:
    """The metadata without what is ours, and without what is there for ours alone."""
    models = data.get(INDEX) or []
    kept = [
        {key: value for key, value in model.items() if key != RESULTS} | {RESULTS: left}
        for model in models
        if (left := [one for one in model.get(RESULTS) or [] if not is_ours(one)]) or len(models) > 1
    ]
    return {key: value for key, value in data.items() if key != INDEX}, kept


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
