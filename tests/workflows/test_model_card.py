"""The model card: our section is inserted and replaced; every other byte stays unchanged."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results
from markdown_it import MarkdownIt

import unmask
from commands import unmask as _run
from pages import EVIL
from unmask.errors import UnmaskError
from unmask.measures.inference.details import Inference
from unmask.measures.registry import get_measure
from unmask.models.handle import hash_folder_weights
from unmask.results import AuditResult, Caveat, Estimate, Measurement, ModelInfo, Origin, storage
from unmask.workflows.audit_options import audit_options
from unmask.workflows.front_matter import is_ours, split_card
from unmask.workflows.model_card import BEGIN, END, list_commands, update_card

BODY = "\n# My model 🎉\n\nText with trailing spaces.  \n\n| a | b |\n|---|---|\n"
FOREIGN = """\
  - task: {type: fill-mask}  # theirs
    dataset:
      name: "Wiki"
      type: wiki
    metrics:
    - type: accuracy
      value: 0.5
"""
FRONTS = {
    "no index": "license: mit # mine\nlanguage:\n  - en\n# the end\n",
    "comments after": "model-index:\n- name: x\n  results:\n" + FOREIGN + "# after\n\nlicense: 'mit'\n",
    "list set in": "model-index:\n  - name: x\n    results:\n      - task:\n          type: a\n        dataset:\n"
    "          type: b\n          name: b\n        metrics:\n          - {type: f1, value: .5}\nlicense: mit\n",
    "index empty": "a: 1\nmodel-index: # none yet\nb: 2\n",
    "index null": "a: 1\nmodel-index: null\nb: 2\n",
    "index brackets": "a: 1\nmodel-index: [] # none\nb: 2\n",
    "results empty": "model-index:\n- name: 'x'\n  results: []\nb: 2\n",
    "results first": "model-index:\n- results:\n" + FOREIGN + "  name: x\n",
    "long text last": "license: mit\nextra: |\n  some\n  text\n\n",
    "flow": 'model-index: [{"name": "x", "results": [{"task": {"type": "a"}, "dataset": {"type": "b", "name": "b"},'
    ' "metrics": [{"type": "f1", "value": 1}]}]}] # flow\nlicense: mit\n',
    "only comments": "# nothing here\n",
    "nothing": "",
}


def _test(estimate: float, **changes: Any) -> Estimate:
    defaults: dict[str, Any] = {"question": "?", "n": 90, "value": estimate, "interval": (estimate - 1, estimate + 1)}
    defaults |= {"statistic": 1.5, "statistic_name": "t", "p_value": 0.01, "p_adjusted": 0.02}
    return Estimate(**(defaults | changes))


def _measurement(name: str = "association", **changes: Any) -> Measurement:
    defaults: dict[str, Any] = {
        "name": name,
        "language": "en",
        "corpus": "bec-pro" if name == "association" else name,
        "protocol": "sound",
        "headline": ["It is biased: 0.42 [−0.58, 1.42].", "That is small."],
        "items": 90,
        "groups": {"all pairs": Estimate(labels={}, n=262, value=0.6, interval=(0.5, 0.7))},
        "tests": {"stereotype": _test(0.4217), "other": _test(9.0)},
        "caveats": [Caveat(code="few-words", text="The words are few.")],
    }
    return Measurement(**(defaults | changes))


def _audit(*measurements: Measurement, name: str = "org/my-model", weights: str | None = "abc123") -> AuditResult:
    return AuditResult(
        unmask_version="0.1.0",
        created="2026-01-02T03:04:05+00:00",
        model=ModelInfo(name=name, architecture="BertForMaskedLM", weight_hash=weights),
        configuration={
            "measures": ["association"],
            "languages": ["en", "de"],
            "protocol": "published",
            "corpora": ["en/bec-pro"],
            "labels": ["a", "b"],
            "limit": 5,
            "full": True,
            "templates": None,
            "device": "cpu",
        },
        libraries={},
        seed=7,
        measurements=list(measurements or [_measurement()]),
    )


def _read_results(card: str) -> list[Any]:
    index = yaml.safe_load(split_card(card)[1])["model-index"]
    return [result for model in index for result in model["results"]]


def _is_inserted(before: str, after: str) -> bool:
    """Whether `after` is `before` with one insertion."""
    growth = len(after) - len(before)
    return any(before == after[:start] + after[start + growth :] for start in range(len(before) + 1))


# Content of other authors


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "bom"])
@pytest.mark.parametrize("name", FRONTS)
def test_the_rest_of_a_card_stays_as_it_is(name: str, mark: str, newline: str) -> None:
    card = (f"{mark}---\n{FRONTS[name]}---\n{BODY}").replace("\n", newline)
    updated = update_card(card, [_audit()])
    head, front, rest = split_card(updated)
    before = split_card(card)
    assert head == before[0]
    old = before[1].replace(": null", ":", 1) if "null" in name else before[1].replace(": []", ":", 1)
    assert _is_inserted(old, front)
    assert rest.startswith(before[2])
    assert rest[len(before[2]) :].strip().startswith(BEGIN)
    assert updated.count("\n") == updated.count(newline)
    assert len([result for result in _read_results(updated) if is_ours(result)]) == 1
    assert update_card(updated, [_audit()]) == updated


@pytest.mark.parametrize("name", FRONTS)
def test_results_of_ours_are_replaced_and_others_stay(name: str) -> None:
    first = update_card(f"---\n{FRONTS[name]}---\n{BODY}", [_audit(_measurement(), _measurement("geometry"))])
    foreign = [result for result in _read_results(first) if not is_ours(result)]
    other = _measurement(tests={"stereotype": _test(5.0)})
    second = update_card(first, [_audit(other, _measurement("sentiment"))])
    assert [result for result in _read_results(second) if not is_ours(result)] == foreign
    ours = {
        result["metrics"][0]["type"]: result["metrics"][0]["value"]
        for result in _read_results(second)
        if is_ours(result)
    }
    assert ours == {"unmask-association-stereotype": 5.0, "unmask-sentiment-stereotype": 0.4217}
    assert update_card(second, [_audit(_measurement(), _measurement("geometry"))]) == first


@pytest.mark.parametrize("name", FRONTS)
def test_audits_may_come_in_another_order(name: str) -> None:
    alone, first, second = _audit(), _audit(_measurement("geometry")), _audit(_measurement("sentiment"))
    card = update_card(f"---\n{FRONTS[name]}---\n{BODY}", [alone])
    for audits in ([first, alone], [alone, first], [second, first, alone]):
        card = update_card(card, audits)
        assert update_card(card, audits) == card
        ours = sorted(result["metrics"][0]["type"] for result in _read_results(card) if is_ours(result))
        assert ours == sorted(f"unmask-{audit.measurements[0].name}-stereotype" for audit in audits)


def test_an_entry_of_ours_between_others_changes_where_it_stands() -> None:
    ours = update_card("---\nmodel-index:\n- name: x\n  results:\n" + FOREIGN + "---\n", [_audit()])
    head, front, rest = split_card(ours)
    both = head + front + "  # more of theirs\n" + FOREIGN.replace("Wiki", "Other") + rest
    changed = update_card(both, [_audit(_measurement(tests={"stereotype": _test(5.0)}))])
    old, new = both.splitlines(), changed.splitlines()
    assert len(old) == len(new)
    front_lines = len(front.splitlines()) + 1
    differs = [number for number, (old_line, new_line) in enumerate(zip(old, new, strict=True)) if old_line != new_line]
    assert [old[number].split(":")[0].strip() for number in differs if number < front_lines] == [
        "value",
        "- -0.5783",
        "- 1.4217",
    ]


def test_text_around_the_section_stays() -> None:
    card = update_card(BODY, [_audit()])
    longer = card.replace(END, END + "  ") + "\n## Licence\n\n    code\n"
    updated = update_card(longer, [_audit(_measurement(headline=["Another finding."]))])
    assert updated.split(BEGIN)[0] == longer.split(BEGIN)[0]
    assert updated.split(END)[1] == longer.split(END)[1]
    assert "Another finding." in updated
    assert "It is biased" not in updated


def test_bytes_that_are_no_utf_8_stay(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    storage.save(folder, storage.Folder(_audit()))
    (tmp_path / "README.md").write_bytes(b"caf\xe9\n")
    unmask.card(folder, to=tmp_path / "README.md")
    assert b"\n\ncaf\xe9\n\n<!-- unmask" in (tmp_path / "README.md").read_bytes()


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("a: [1\n", "no YAML at its line 2"),
        ("- a\n", "no list of `name: value` lines"),
        ("{a: 1}\n", "no list of `name: value` lines"),
        ("model-index: text\n", "no list of results"),
        ("model-index:\n- name: x\n", "no list of results"),
        ("model-index:\n- text\n", "no list of results"),
        ("a: &a\n- name: x\n  results:\n" + FOREIGN + "model-index: *a\n", "alias"),
    ],
)
def test_a_front_matter_that_cannot_be_changed_is_refused(front: str, message: str) -> None:
    with pytest.raises(UnmaskError, match=r"front matter|model-index") as error:
        update_card(f"---\n{front}---\n", [_audit()])
    assert message in str(error.value)


@pytest.mark.parametrize("marks", [BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}"])
def test_marks_that_do_not_match_are_refused(marks: str) -> None:
    with pytest.raises(UnmaskError, match="remove these lines"):
        update_card(f"# x\n\n{marks}\n", [_audit()])


# Our section


def test_the_hub_s_library_reads_the_metadata(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(update_card("", [_audit(_measurement(), _measurement("crows-pairs"))]), encoding="utf-8")
    card = ModelCard.load(file)
    assert card.data.model_name == "org/my-model"
    name, results = model_index_to_eval_results(card.data.to_dict()["model-index"])
    assert name == "org/my-model"
    assert [
        (result.task_type, result.dataset_config, result.metric_type, result.metric_value) for result in results
    ] == [
        ("fill-mask", "en", "unmask-association-stereotype", 0.4217),
        ("fill-mask", "en", "unmask-crows-pairs-all-pairs", 0.6),
    ]
    assert results[0].metric_args == {"interval": [-0.5783, 1.4217], "n": 90, "p_adjusted": 0.02}


def test_the_section_says_what_was_found_and_what_not() -> None:
    card = update_card("", [_audit()])
    for text in (
        "# org/my-model\n",
        "- **Association: BEC-Pro, English.** *It is biased: 0.42 [−0.58, 1.42].* That is small.",
        "| Association | BEC-Pro, English | stereotype, in nats | 0.42 | [−0.58, 1.42] | 0.020 | 90 |",
        "- The words are few.",
        "Measured with Unmask 0.1.0, 2026-01-02.",
        "`abc123`",
        "Bartl, M. Nissim and A. Gatt (2020)",
    ):
        assert text in card
    assert "9.0" not in card.replace("90", "")


def _build_configuration(measure: str, **settings: Any) -> dict[str, Any]:
    """The configuration of an audit with these options."""
    options = audit_options().parse({"measures": measure, **settings})
    measure_options = dict(options.for_measure(get_measure(measure)))
    plain = {name: [*map(str, value)] if isinstance(value, tuple) else value for name, value in measure_options.items()}
    shared: dict[str, Any] = {"measures": [measure], "languages": ["en"], "protocol": "sound"}
    return shared | {name: str(value) if isinstance(value, Path) else value for name, value in plain.items()}


@pytest.mark.parametrize(
    ("measure", "corpus", "settings", "changes", "arguments"),
    [
        ("association", "bec-pro", {}, {}, "--measure association"),
        ("association", "bec-pro", {"seed": 0}, {}, "--measure association --seed 0"),
        ("association", "emotions", {"corpora": ("emotions",)}, {}, "--measure association --corpus emotions"),
        ("association", "custom", {"persons": Path("p.csv")}, {}, "--measure association --persons p.csv"),
        (
            "inference",
            "custom",
            {"templates": Path("t.csv"), "labels": ("a", "b", "c"), "limit": 5},
            {"corpora": ["sentences"], "label_order": ["0", "1", "2"]},
            "--measure inference --templates t.csv --limit 5 --labels a,b,c",
        ),
        (
            "geometry",
            "word2vec",
            {"corpora": ("word2vec",)},
            {"geometry_words": ["word2vec"]},
            "--measure geometry --corpus word2vec",
        ),
        ("geometry", "glove", {"full": True}, {"geometry_words": ["glove"]}, "--measure geometry --full"),
        (
            "sentiment",
            "reviews",
            {"terms": ("all", Path("my terms.csv"))},
            {"corpora": ["reviews"], "long_texts": "head", "most_tokens": 512},
            "--measure sentiment --corpus reviews --most-tokens 512 --terms all --terms 'my terms.csv'",
        ),
    ],
)
def test_the_command_repeats_the_audit(
    measure: str,
    corpus: str,
    settings: dict[str, Any],
    changes: dict[str, Any],
    arguments: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("unmask.datasets.is_present", lambda *_, **__: True)  # IMDB, the default if it is present
    audit = _audit(_measurement(measure, corpus=corpus)).model_copy(
        update={"configuration": _build_configuration(measure, **settings) | changes, "seed": settings.get("seed", 42)}
    )
    assert list_commands(audit) == [f"$ unmask audit org/my-model {arguments}"]


def test_the_command_of_what_no_command_line_can_say() -> None:
    configuration = _build_configuration("sentiment") | {"corpora": ["custom"], "given_texts": 3}
    texts = _audit(_measurement("sentiment", corpus="custom"), name="x`; rm -r y `").model_copy(
        update={"configuration": configuration, "seed": 42}
    )
    first, second = list_commands(texts)
    assert first == "# 3 texts were given in Python: put them into the column text of texts.csv"
    assert shlex.split(second)[2:] == ["audit", "x'; rm -r y '", "--measure", "sentiment", "--texts", "texts.csv"]
    strange = _audit(_measurement(corpus="theirs"))
    assert list_commands(strange) == ["# the audit does not say how it was made"]
    scores = {"items": "s.csv", "measures": ["association"], "languages": ["de"], "protocol": "sound"}
    assert list_commands(strange.model_copy(update={"configuration": scores, "seed": 0})) == [
        "$ unmask analyse s.csv --measure association --language de --seed 0"
    ]


def test_a_measure_that_is_not_known_here_and_one_without_a_value() -> None:
    foreign = _measurement("pronouns", caveats=[])
    empty = _measurement("association", language="de", tests={}, groups={})
    card = update_card("", [_audit(foreign, empty)])
    assert [metric["type"] for result in _read_results(card) for metric in result["metrics"]] == [
        "unmask-pronouns-stereotype",
        "unmask-pronouns-other",
        "unmask-association-none",
    ]


def test_what_cannot_be_read_as_bias_is_no_result() -> None:
    agreement = _measurement(language="de", caveats=[Caveat(code="grammatical-agreement", text="It drowns.")])
    details = Inference(
        sets=[], by_type=[], occupations=[], templates=1, inconclusive="it takes everybody for a man, so"
    )
    score = {"NLI-CoAL": Estimate(labels={}, n=80, value=0.3)}
    card = update_card("", [_audit(agreement, _measurement("inference", groups=score, details=details.model_dump()))])
    assert [(metric["type"], metric["value"]) for result in _read_results(card) for metric in result["metrics"]] == [
        ("unmask-association-none", "none"),
        ("unmask-inference-stereotype", 0.4217),
    ]
    assert "| stereotype, in nats (not interpretable) | 0.42 |" in card
    assert "| NLI-CoAL score (not interpretable) | 0.30 |" in card
    assert "| stereotype, of 1 | 0.42 |" in card


def test_a_measure_of_another_package_says_whose_it_is() -> None:
    origin = Origin(package="acme-bias", version="1.2", about="?", citation="A. Author (2020), <b>Pronouns</b>.")
    foreign = _measurement("pronouns", corpus="theirs", caveats=[], plugin=origin)
    card = update_card("", [_audit(foreign, _measurement())])
    assert "# pronouns is in the package acme-bias 1.2: install it first\n$ unmask audit org/my-model" in card
    assert "- Pronouns, a measure of the package acme-bias 1.2. A. Author (2020), &lt;b>Pronouns" in card


def test_limits_are_named_without_caveats_and_once() -> None:
    binary = Caveat(code="binary-gender", text="Gender is treated as binary.")
    for caveats in ([], [binary]):
        card = update_card("", [_audit(_measurement(caveats=caveats))])
        limitations = card.partition("### What this does not say\n")[2].partition("###")[0]
        assert "\n- Gender is treated as binary" in limitations
        assert limitations.count("binary") == 1


def test_audits_are_merged_and_the_last_counts() -> None:
    newer = _measurement(tests={"stereotype": _test(5.0)})
    card = update_card("", [_audit(_measurement(), _measurement("geometry")), _audit(newer, weights=None)])
    assert [result["metrics"][0]["value"] for result in _read_results(card)] == [5.0, 0.4217]
    assert "- Association, Geometry: The words are few." in card
    with pytest.raises(UnmaskError, match="'a', 'b'; give audits of one model"):
        update_card("", [_audit(name="a"), _audit(name="b", weights="other")])
    for weights in (None, "abc123"):
        with pytest.raises(UnmaskError, match="audits of 'a', 'b' not all say of which weights"):
            update_card(
                "", [_audit(name="a", weights=None), _audit(_measurement("geometry"), name="b", weights=weights)]
            )


@pytest.mark.parametrize(
    "name",
    [EVIL, '"; x: [y', "a'b: c # d", "- x", "`x` | **y** [z](http://e)", f"a\n{END}\n---\n", "\u202eabc", "!!python"],
)
def test_a_hostile_name_is_text(name: str) -> None:
    measurement = _measurement("sentiment", headline=[f"Of {name} it says much."], corpus=name)
    card = update_card("", [_audit(measurement, name=name)])
    assert update_card(card, [_audit(measurement, name=name)]) == card
    assert set(yaml.safe_load(split_card(card)[1])) == {"model-index"}
    section = split_card(card)[2]
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(section)
    inside = [inner for token in parsed for inner in token.children or ()]
    tags = [token.content.strip() for token in (*parsed, *inside) if token.type.startswith("html")]
    assert tags == [BEGIN, END]
    assert not {token.type for token in inside} & {"link_open", "image", "s_open"}
    bold = [after.content for token, after in pairwise(inside) if token.type == "strong_open"]
    assert [text.partition(":")[0] for text in bold] == ["Sentiment"]
    assert "\u202e" not in card
    assert [line for line in section.splitlines() if line.startswith(END)] == [END]


def test_a_hostile_measure_is_a_cell_of_the_table() -> None:
    rows = [
        line for line in update_card("", [_audit(_measurement(EVIL + " | x"))]).splitlines() if line.startswith("| ")
    ]
    assert "<" not in "".join(rows)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}


# The command


def test_a_card_beside_its_model(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(model_folder("bert-uncased"), model)
    storage.save(tmp_path / "audit", storage.Folder(_audit(name=str(model), weights=hash_folder_weights(model))))
    storage.save(tmp_path / "other", storage.Folder(_audit(name=str(model), weights="f" * 64)))
    printed = _run("card", "audit", cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == update_card("", [storage.load(tmp_path / "audit")])
    assert f"--to {model}" in printed.stderr
    card = unmask.card(tmp_path / "audit", to=model)
    assert (card.text, card.path, card.changed, card.note) == (printed.stdout, model / "README.md", True, "")
    assert (model / "README.md").read_text(encoding="utf-8") == printed.stdout
    assert not unmask.card(tmp_path / "audit", to=model / "README.md").changed
    differs = _run("card", "other", "--to", "model", cwd=tmp_path)
    assert (differs.returncode, differs.stdout) == (0, "Written: model\n")
    assert "are not those that were measured (ffffffffffff…)" in differs.stderr
    assert "**The weights beside this card" in (model / "README.md").read_text(encoding="utf-8")


def test_bad_words(tmp_path: Path) -> None:
    storage.save(tmp_path / "audit", storage.Folder(_audit()))
    for audit, to, message in (
        ("nothing", None, "has no result.json"),
        ("audit", "no/such/README.md", "no/such does not exist"),
        ("audit", "model.safetensors", "neither a folder nor a .md file"),
    ):
        with pytest.raises(UnmaskError, match=message):
            unmask.card(tmp_path / audit, to=to and tmp_path / to)
    process = _run("card", "nothing", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert len(process.stderr.splitlines()) == 1
