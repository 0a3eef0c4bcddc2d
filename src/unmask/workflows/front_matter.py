"""The `model-index` in the front matter of a model card, changed as text: every byte that is not ours stays.

YAML is read to find positions, and is never written anew: comments, order, quotes and line ends are the author's
(`huggingface_hub.ModelCard` would lose them). The result is read once more, and an error is raised if anything but our
results has changed.
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


def split_card(card: str) -> tuple[str, str, str]:
    """A card in three: up to the front matter, the front matter itself, and all from its last line on."""
    match = _BLOCK.match(card)
    return (match[1], match[2], card[match.start(3) :]) if match else ("", "", card)


def with_results(card: str, name: str, entries: Sequence[Entry], newline: str = "\n") -> str:
    """The card with these results of ours in place of those it has; `name` is for a card without a `model-index`."""
    entries = json.loads(json.dumps(list(entries)))  # copies, so that YAML needs no anchors for shared parts
    head, front, rest = split_card(card)
    if not head:
        mark = "\ufeff" if card.startswith("\ufeff") else ""
        body = card.removeprefix("\ufeff")
        gap = newline if body else ""
        return f"{mark}---{newline}{_write_index(name, entries, newline)}---{newline}{gap}{body}"
    changed = front
    for start, end, text in sorted(_find_edits(front, name, entries, newline), reverse=True):
        changed = changed[:start] + text + changed[end:]
    _check_rest(front, changed, entries)
    return head + changed + rest


def is_ours(entry: Any) -> bool:
    """Whether a result was written by us: its metrics say so."""
    metrics = entry.get("metrics") if isinstance(entry, Mapping) else None
    if not isinstance(metrics, list) or not metrics:
        return False
    return all(isinstance(metric, Mapping) and str(metric.get("type")).startswith(OURS) for metric in metrics)


def _find_edits(front: str, name: str, entries: Sequence[Entry], newline: str) -> list[Edit]:
    root = parse_front_matter(front)
    if root is None:
        return [(len(front), len(front), _write_index(name, entries, newline))]
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise UnmaskError("the front matter of the card is no list of `name: value` lines; write it so, or remove it")
    pair = find_pair(root, INDEX)
    if pair is None:
        index = find_next_line(front, find_end(root))
        return [(index, index, _write_index(name, entries, newline))]
    if is_empty(pair[1]):
        return _fill_empty(front, pair, [{"name": name, RESULTS: list(entries)}], root.start_mark.column, newline)
    return _edit_index(front, pair, entries, newline)


def _edit_index(front: str, pair: Pair, entries: Sequence[Entry], newline: str) -> list[Edit]:
    """The edits where there is an index: in the first model that has results of ours, else in the first."""
    index = pair[1]
    models = index.value if isinstance(index, yaml.SequenceNode) else []
    pairs = [(model, find_pair(model, RESULTS)) for model in models if isinstance(model, yaml.MappingNode)]
    lists = [
        (model, *results)
        for model, results in pairs
        if results and (is_empty(results[1]) or isinstance(results[1], yaml.SequenceNode))
    ]
    if not lists or len(pairs) < len(models):
        raise UnmaskError(f"the {INDEX} of the card has no list of results; correct it, or remove it")
    with_ours = (entry for entry in lists if any(map(_is_our_node, entry[2].value or ())))
    model, key, results = next(with_ours, lists[0])
    if index.start_mark.index < pair[0].end_mark.index or results.start_mark.index < key.end_mark.index:
        raise UnmaskError(f"the {INDEX} of the card is an alias (*name) of something above it; write it out")
    if is_empty(results):
        column = key.start_mark.index - (front.rfind("\n", 0, key.start_mark.index) + 1)
        return _fill_empty(front, (key, results), entries, column, newline, flow=bool(model.flow_style))
    if results.flow_style:
        return _edit_flow(results, entries)
    return _edit_block(front, results, entries, newline)


def _edit_block(front: str, results: yaml.Node, entries: Sequence[Entry], newline: str) -> list[Edit]:
    column = results.start_mark.column
    edits, left = [], list(entries)
    for item in filter(_is_our_node, results.value):
        start = find_dash(front, item.start_mark.index, column)
        end = find_next_line(front, find_end(item))
        same = next((entry for entry in left if _entry_key(entry) == _entry_key(read_mapping(item))), None)
        if same is None:
            edits.append((start, end, ""))
        else:
            left.remove(same)
            if read_mapping(item) != same:
                edits.append((start, end, _write_items([same], column, newline)))
    index = find_next_line(front, find_end(results))
    return [*edits, (index, index, _write_items(left, column, newline))] if left else edits


def _edit_flow(results: yaml.Node, entries: Sequence[Entry]) -> list[Edit]:
    """A list in brackets: ours are written as JSON, which is YAML; those that are gone are removed."""
    old = [item for item in results.value if _is_our_node(item)]
    edits = [
        (item.start_mark.index, item.end_mark.index, _to_json(entry))
        for item, entry in zip(old, entries, strict=False)
        if read_mapping(item) != entry
    ]
    for item in old[len(entries) :]:
        before = results.value[results.value.index(item) - 1]
        edits.append((before.end_mark.index, item.end_mark.index, ""))
    index = results.value[-1].end_mark.index
    more = "".join(f", {_to_json(one)}" for one in entries[len(old) :])
    return [*edits, (index, index, more)] if more else edits


def _fill_empty(
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
        return [(colon, end, f" [{', '.join(map(_to_json, entries))}]")]
    index = find_next_line(front, end)
    return [(colon, end, ""), (index, index, _write_items(entries, column, newline))]


def _write_index(name: str, entries: Sequence[Entry], newline: str) -> str:
    return f"{INDEX}:{newline}{_write_items([{'name': name, RESULTS: list(entries)}], 0, newline)}"


def _write_items(entries: Sequence[Entry], column: int, newline: str) -> str:
    """Entries as items of a list that stands in a column."""
    text = yaml.safe_dump(list(entries), sort_keys=False, allow_unicode=True, width=float("inf"))
    return "".join(f"{' ' * column}{line}{newline}" for line in text.splitlines())


def _to_json(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False)


def _is_our_node(node: yaml.Node) -> bool:
    return is_ours(read_mapping(node))


def _entry_key(entry: Any) -> tuple[str, ...]:
    """What is measured: task, data and metrics, without the values."""
    kinds = [str(metric.get("type")) for metric in entry["metrics"]]
    return (*kinds, json.dumps([entry.get("task"), entry.get("dataset")], sort_keys=True, default=str))


def _check_rest(before: str, after: str, entries: Sequence[Entry]) -> None:
    """Read both: ours must be there, in any order, and all else as it was."""
    try:
        old, new = yaml.safe_load(before) or {}, yaml.safe_load(after)
        theirs = [repr(_remove_ours(content)) for content in (old, new)]
        ours = [result for model in new[INDEX] for result in model[RESULTS] if is_ours(result)]
        whole = theirs[0] == theirs[1] and sorted(ours, key=_entry_key) == sorted(entries, key=_entry_key)
    except (yaml.YAMLError, TypeError, KeyError, ValueError):
        whole = False
    if not whole:
        raise UnmaskError(f"the {INDEX} of the card is written so that it cannot be changed safely; write it as lines")


def _remove_ours(data: Any) -> Any:
    """The metadata without what is ours, and without what is there for ours alone."""
    models = data.get(INDEX) or []
    remaining = [
        {key: value for key, value in model.items() if key != RESULTS} | {RESULTS: left}
        for model in models
        if (left := [result for result in model.get(RESULTS) or [] if not is_ours(result)]) or len(models) > 1
    ]
    return {key: value for key, value in data.items() if key != INDEX}, remaining


def parse_front_matter(front: str) -> yaml.Node | None:
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


def find_pair(node: yaml.MappingNode, name: str) -> Pair | None:
    """A key and its value; of several, the last, as YAML's readers have it."""
    return next(((key, value) for key, value in reversed(node.value) if key.value == name), None)


def is_empty(node: yaml.Node) -> bool:
    """Whether there is nothing: null, or an empty list."""
    if isinstance(node, yaml.ScalarNode):
        return bool(node.tag.endswith(":null"))
    return not node.value


def read_mapping(node: yaml.Node) -> Any:
    """What a mapping says; None for anything else."""
    loader = yaml.SafeLoader("")
    return loader.construct_document(node) if isinstance(node, yaml.MappingNode) else None


def find_end(node: yaml.Node) -> int:
    """Where a node really ends: YAML's reader goes on to the next thing that is no comment."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    key, value = last if isinstance(last, tuple) else (node, last)
    start = key.end_mark.index if isinstance(last, tuple) else node.start_mark.index
    return find_end(value) if value.start_mark.index >= start else int(node.end_mark.index if key is node else start)


def find_next_line(front: str, index: int) -> int:
    """The start of the line after a place; the place itself, where a line starts there."""
    if index == 0 or front[index - 1] == "\n":
        return index
    return front.find("\n", index) + 1 or len(front)


def find_dash(front: str, index: int, column: int) -> int:
    """Where the line of an item starts: that of the dash before it, in the column of its list."""
    dash = front.rfind("-", 0, index)
    while dash >= 0 and dash - (front.rfind("\n", 0, dash) + 1) != column:
        dash = front.rfind("-", 0, dash)
    return front.rfind("\n", 0, dash) + 1
