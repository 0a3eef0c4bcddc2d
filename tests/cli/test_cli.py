"""The command line in a separate process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from commands import environment, interrupted
from commands import unmask as _run
from unmask.results import AuditResult
from unmask.results.storage import load, read_items

UNMASK = (sys.executable, "-m", "unmask")
Folder = Callable[[str], Path]


def _run_new_process(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Like `_run`, but in a new Python process with fresh imports."""
    return subprocess.run(
        [*UNMASK, *map(str, words)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _write_words(folder: Path) -> list[str]:
    """Write word lists for a short run (one template, two professions per group) and return the options."""
    (folder / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    (folder / "p.csv").write_text(
        "profession,group,workforce_share\nmason,male,3\nplumber,male,2.7\nsecretary,female,93\n"
        "hairdresser,female,92\njudge,balanced,52\nbartender,balanced,53\n"
    )
    return ["--templates", "t.csv", "--professions", "p.csv"]


@pytest.fixture
def short_options(tmp_path: Path) -> list[str]:
    """The options of a short run; their files are in the folder of the test."""
    return _write_words(tmp_path)


@pytest.fixture(scope="module")
def audit(model_folder: Folder, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A short audit in a separate process, written to `audit` in the folder that is the last of `args`."""
    folder = tmp_path_factory.mktemp("cli")
    process = _run_new_process(
        "audit", model_folder("bert-uncased"), *_write_words(folder), "--out", "audit", cwd=folder
    )
    assert process.returncode == 0, process.stderr
    process.args.append(folder)
    return process


def test_audit_leaves_a_folder(audit: subprocess.CompletedProcess[str]) -> None:
    folder = audit.args[-1]
    assert "Report: audit/report.html" in audit.stdout
    assert "mason" not in audit.stderr
    result = load(folder / "audit")
    assert result.measurements[0].corpus == "custom"
    assert result.model.weight_hash
    assert len(result.model.weight_hash) == 64
    items = read_items(folder / "audit" / "items" / "association.jsonl.gz")
    assert len(items) == 6 * 18
    assert {
        "language", "template", "person", "gender", "profession", "group", "workforce_share",
        "log_p_target", "log_p_prior", "association",
    } <= set(items)  # fmt: skip
    assert (folder / "audit" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == ["audit", "p.csv", "t.csv"]


def test_json_is_the_result_and_nothing_else(model_folder: Folder, tmp_path: Path, short_options: list[str]) -> None:
    process = _run("audit", model_folder("roberta"), *short_options, "--json", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    result = AuditResult.model_validate(json.loads(process.stdout))
    (folder,) = (tmp_path / "audits").iterdir()
    assert load(folder) == result


def test_the_same_seed_gives_the_same_result(
    audit: subprocess.CompletedProcess[str], model_folder: Folder, tmp_path: Path, short_options: list[str]
) -> None:
    first, second = audit.args[-1] / "audit", tmp_path / "again"
    assert _run("audit", model_folder("bert-uncased"), *short_options, "--out", second, cwd=tmp_path).returncode == 0
    results = [load(folder).model_copy(update={"created": ""}) for folder in (first, second)]
    assert results[0] == results[1]
    items = [(folder / "items/association.jsonl.gz").read_bytes() for folder in (first, second)]
    assert items[0] == items[1]


def test_analyse_takes_the_items_of_an_audit(audit: subprocess.CompletedProcess[str], tmp_path: Path) -> None:
    folder = audit.args[-1] / "audit"
    file = folder / "items/association.jsonl.gz"
    process = _run("analyse", file, "--measure", "association", "--out", "b", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    first, second = (load(path).measurements[0] for path in (folder, tmp_path / "b"))
    assert first.tests == second.tests


def test_without_out_a_free_name_is_taken(model_folder: Folder, tmp_path: Path, short_options: list[str]) -> None:
    _copy(model_folder("bert-uncased"), tmp_path / "my model")
    for _ in range(2):
        assert _run("audit", "./my model", *short_options, cwd=tmp_path).returncode == 0
    assert sorted(path.name for path in (tmp_path / "audits").iterdir()) == ["my-model", "my-model-2"]


def test_help_is_there_and_importing_is_light(tmp_path: Path) -> None:
    for words in (("--help",), ("audit", "--help"), ("analyse", "--help")):
        assert _run_new_process(*words, cwd=tmp_path).returncode == 0
    code = (
        "import sys, unmask, unmask.cli; print(sorted({'torch', 'transformers', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


# Invalid input: one line, exit code 2, nothing written


def _assert_refused(process: subprocess.CompletedProcess[str], message: str, folder: Path) -> None:
    assert process.returncode == 2, process.stderr
    assert message in process.stderr
    assert len(process.stderr.strip().splitlines()) == 1, process.stderr
    assert process.stdout == ""
    assert not (folder / "out").exists()
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "no/such/folder"], "does not exist"),
        (["audit", "."], "no config.json"),
        (["audit", "some-org/some-model"], "not in the local cache"),
        (["audit", "some-org/some-model", "--offline"], "not in the local cache"),
        (["audit", "MODEL", "--measure", "asociation"], "did you mean 'association'"),
        (["audit", "MODEL", "--language", "fr"], "unknown language of association 'fr'; choose from: en, de"),
        (["audit", "MODEL", "--protocol", "publish"], "did you mean 'published'"),
        (["audit", "MODEL", "--corpus", "emotion"], "did you mean 'emotions'"),
        (["audit", "MODEL", "--device", "nowhere"], "nowhere"),
        (["audit", "MODEL", "--persons", "none.csv"], "none.csv does not exist"),
        (["audit", "MODEL", "--seed", "many"], "--seed"),
        (["audit", "MODEL", "--colour"], "--colour"),
        (["audit", "my model!"], "neither a folder here nor a hub id"),
        (["audit", "bert-base-uncased/"], "neither a folder here nor a hub id"),
        (["audit", "MODEL", "--seed", "-1"], "--seed"),
        (["audit", "MODEL", "--device", "meta"], "'meta' cannot be used"),
        (["audit", "MODEL", "--protocol", "published", "--corpus", "agreement-free"], "no other"),
        (["adit", "MODEL"], "adit"),
        (["analyse", "none.csv"], "none.csv does not exist"),
    ],
)
def test_bad_words_on_the_command_line(words: list[str], message: str, model_folder: Folder, tmp_path: Path) -> None:
    words = [str(model_folder("bert-uncased")) if word == "MODEL" else word for word in words]
    _assert_refused(_run(*words, *(["--out", "out"] if len(words) > 1 else []), cwd=tmp_path), message, tmp_path)


def _copy(source: Path, target: Path) -> Path:
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


def test_a_broken_folder(model_folder: Folder, tmp_path: Path) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    weights = model / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:1000])
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "cannot be loaded", tmp_path)
    weights.unlink()
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "no weights", tmp_path)
    weights.write_bytes(whole)
    (model / "config.json").write_text("{")
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "double quotes", tmp_path)


def test_a_folder_without_tokenizer(model_folder: Folder, tmp_path: Path) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    for path in model.glob("tokenizer*"):
        path.unlink()
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "no tokenizer", tmp_path)


def test_pickle_is_refused_unless_allowed(model_folder: Folder, tmp_path: Path, short_options: list[str]) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    torch.save(load_file(model / "model.safetensors"), model / "pytorch_model.bin")
    (model / "model.safetensors").unlink()
    _assert_refused(_run("audit", model, *short_options, "--out", "out", cwd=tmp_path), "--allow-pickle", tmp_path)
    process = _run("audit", model, *short_options, "--allow-pickle", "--out", "out", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert load(tmp_path / "out").configuration["allow_pickle"] is True


def test_remote_code_is_refused_unless_allowed(model_folder: Folder, tmp_path: Path) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    config = json.loads((model / "config.json").read_text())
    config |= {"model_type": "homemade", "auto_map": {"AutoConfig": "code.C", "AutoModelForMaskedLM": "code.M"}}
    (model / "config.json").write_text(json.dumps(config))
    (model / "code.py").write_text("raise SystemExit('ran')")
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "--allow-remote-code", tmp_path)


def test_a_model_of_another_kind(model_folder: Folder, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder("bert-uncased"))
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    classifier = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=len(tokenizer), **sizes))
    classifier.save_pretrained(tmp_path / "classifier")
    tokenizer.save_pretrained(tmp_path / "classifier")
    message = "name the positive one with --positive LABEL"
    _assert_refused(_run("audit", "./classifier", "--out", "out", cwd=tmp_path), message, tmp_path)
    options = ("--measure", "association", "--out", "out")
    _assert_refused(
        _run("audit", "./classifier", *options, cwd=tmp_path), "association needs a masked language model", tmp_path
    )
    generator = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=1, n_head=2))
    generator.save_pretrained(tmp_path / "generator")
    tokenizer.save_pretrained(tmp_path / "generator")
    _assert_refused(_run("audit", "./generator", "--out", "out", cwd=tmp_path), "'gpt2'", tmp_path)


def test_a_tokenizer_without_a_mask(model_folder: Folder, tmp_path: Path) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    config = json.loads((model / "tokenizer_config.json").read_text())
    del config["mask_token"]
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    _assert_refused(_run("audit", model, "--out", "out", cwd=tmp_path), "no mask token", tmp_path)


def test_nan_in_the_weights(model_folder: Folder, tmp_path: Path, short_options: list[str]) -> None:
    model = _copy(model_folder("bert-uncased"), tmp_path / "model")
    weights = load_file(model / "model.safetensors")
    name = next(name for name in weights if name.endswith("output.dense.weight"))
    weights[name][0, 0] = float("nan")
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    _assert_refused(_run("audit", model, *short_options, "--out", "out", cwd=tmp_path), "nan", tmp_path)


def test_a_word_that_is_unknown(model_folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("profession,group\nмаляр,male\nnurse,female\n", encoding="utf-8")
    process = _run("audit", model_folder("bert-uncased"), "--professions", "p.csv", "--out", "out", cwd=tmp_path)
    _assert_refused(process, "'маляр' ([UNK])", tmp_path)


def test_an_unknown_placeholder(model_folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {job}.\n")
    process = _run("audit", model_folder("bert-uncased"), "--templates", "t.csv", "--out", "out", cwd=tmp_path)
    _assert_refused(process, "{job}", tmp_path)


def test_a_sentence_that_is_too_long(model_folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}" + " and so on" * 40 + ".\n")
    process = _run("audit", model_folder("roberta"), "--templates", "t.csv", "--out", "out", cwd=tmp_path)
    _assert_refused(process, "takes 78", tmp_path)


def test_an_existing_folder_is_left_alone(model_folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    process = _run("audit", model_folder("bert-uncased"), "--out", "there", cwd=tmp_path)
    _assert_refused(process, "there exists", tmp_path)
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine.txt"]


def test_a_disk_that_fills_up(model_folder: Folder, tmp_path: Path, short_options: list[str]) -> None:
    """A file size limit of 8 KB simulates a full disk."""
    process = subprocess.run(
        [*UNMASK, "audit", str(model_folder("bert-uncased")), *short_options, "--out", "out"],
        cwd=tmp_path,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},  # Python would keep the first 8 KB of a compiled module
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
    )
    _assert_refused(process, "File too large", tmp_path)


def test_ctrl_c(model_folder: Folder, tmp_path: Path) -> None:
    arguments = ("audit", model_folder("bert-uncased"), "--out", "out")
    code, out, err = interrupted(*arguments, cwd=tmp_path, once="_sentencepiece")
    assert (code, out) == (130, "")
    assert err.strip() == "unmask: Interrupted. Nothing was written."
    assert list(tmp_path.iterdir()) == []
