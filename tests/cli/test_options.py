"""Options: declared once, equal on the command line, in files and in Python; errors are one line."""

from __future__ import annotations

import inspect
import pickle
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from unmask.cli.generate import add_command, with_options
from unmask.errors import UnmaskError
from unmask.option_files import read_toml, toml_template
from unmask.options import LoadOptions, Options, accepts, option


class BakeOptions(LoadOptions):
    """How to bake."""

    flour: str = option(help="The flour.", argument=True, path=True, suggestions=("spelt", "rye"))
    extras: tuple[str | Path, ...] = option((), "What goes in as well: raisins, or a CSV file.", key="extra")
    minutes: int = option(30, "How long.", minimum=1, panel="Oven")
    heat: float = option(180.0, "How hot.", panel="Oven")
    eggs: int | None = option(None, "How many eggs. Default: as the flour needs.", minimum=0)
    crust: Literal["thin", "thick"] = option("thin", "The crust.")
    style: str = option("plain", "The style.", choices=lambda: ("plain", "braided"))
    recipe: Path | None = option(None, "A recipe to follow.")
    vegan: bool = option(False, "Use no eggs or milk.")
    preheat: bool = option(True, "Heat the oven first.", negative_help="Do not heat the oven first.")
    steps: tuple[float, ...] = option((0.5, 1.0), "When to look.", separated=True)
    salt: float = option(0.02, "The share of salt.", above=0, below=1)
    water: float = option(0.7, "The share of water.", minimum=0, maximum=1)
    helper: Any = option(None, "For Python only.", cli=False)


def _get_options_class() -> type[Options]:
    return BakeOptions


def _read_config(path: Path) -> dict[str, Any]:
    return read_toml(path, BakeOptions)


@pytest.fixture
def call_arguments() -> list[Any]:
    """The arguments of the command call."""
    return []


@pytest.fixture
def app(call_arguments: list[Any]) -> typer.Typer:
    """An app with one generated command."""
    app = typer.Typer(rich_markup_mode="markdown")

    @with_options(_get_options_class, read_config=_read_config)
    def bake(
        options: BakeOptions,
        config: Annotated[Path | None, typer.Option(help="A file.")] = None,
        *,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Bake bread."""
        call_arguments.extend([options, config, as_json])

    add_command(app, "bake", bake)
    add_command(app, "again", bake)
    return app


def _run(app: typer.Typer, *words: str) -> Any:
    return CliRunner().invoke(app, ["bake", *words], env={"TERMINAL_WIDTH": "120"})


def test_command_line_toml_and_python_give_the_same(
    app: typer.Typer, call_arguments: list[Any], tmp_path: Path
) -> None:
    typed = (
        "spelt --extra raisins --extra seeds.csv --minutes 40 --heat 200 --eggs 0 --crust thick --style braided"
        " --recipe r.txt --vegan --no-preheat --steps .1,.2 --device cpu --json"
    )
    result = _run(app, *typed.split())
    assert result.exception is None, result.output
    expected = BakeOptions(
        flour="spelt",
        extras=("raisins", "seeds.csv"),
        minutes=40,
        heat=200,
        eggs=0,
        crust="thick",
        style="braided",
        recipe="r.txt",  # type: ignore[arg-type]  # converted
        vegan=True,
        preheat=False,
        steps=(0.1, 0.2),
        device="cpu",
    )
    assert call_arguments == [expected, None, True]
    assert expected.recipe == Path("r.txt")
    file = tmp_path / "bake.toml"
    file.write_text(
        'flour = "spelt"\nextra = ["raisins", "seeds.csv"]\nminutes = 40\nheat = 200\neggs = 0\ncrust = "thick"\n'
        'style = "braided"\nrecipe = "r.txt"\nvegan = true\npreheat = false\nsteps = ".1,.2"\ndevice = "cpu"\n'
    )
    options = BakeOptions(**read_toml(file, BakeOptions))
    in_folder = {"extras": ("raisins", str(tmp_path / "seeds.csv")), "recipe": tmp_path / "r.txt"}
    assert options == expected.replace(**in_folder)


def test_what_is_typed_wins_over_the_file(app: typer.Typer, call_arguments: list[Any], tmp_path: Path) -> None:
    file = tmp_path / "bake.toml"
    file.write_text("minutes = 40\neggs = 3\nvegan = true\n")
    result = _run(app, "rye", "--config", str(file), "--minutes", "30")
    assert result.exception is None, result.output
    options = call_arguments[0]
    assert (options.flour, options.minutes, options.eggs, options.vegan) == ("rye", 30, 3, True)


def test_defaults_are_those_of_the_class(app: typer.Typer, call_arguments: list[Any]) -> None:
    assert _run(app, "rye").exception is None
    assert call_arguments == [BakeOptions(flour="rye"), None, False]
    assert call_arguments[0].loading == LoadOptions()


def test_help_shows_names_defaults_panels_and_limits(app: typer.Typer) -> None:
    output = _run(app, "--help").output
    for part in (
        "flour",
        "--extra",
        "Oven",
        "[default: 30]",
        "[default: thin]",
        "--no-preheat",
        "Do not heat",
        "0.5,1",
    ):
        assert part in output, part
    assert "--helper" not in output
    assert "--extras" not in output
    assert output.index("--config") < output.index("--extra")
    assert output.index("--vegan") < output.index("--json") < output.index("--device")


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"flour": 3}, "flour is 3; give a text"),
        ({"minutes": "ten"}, "minutes is 'ten'; give a whole number"),
        ({"minutes": True}, "minutes is True; give a whole number"),
        ({"minutes": 1.5}, "minutes is 1.5; give a whole number"),
        ({"minutes": 0}, "minutes is 0; give 1 or more"),
        ({"eggs": -1}, "eggs is -1; give 0 or more"),
        ({"salt": 0}, "salt is 0; give a number above 0 and below 1"),
        ({"water": 1.5}, "water is 1.5; give a number from 0 to 1"),
        ({"heat": float("nan")}, "heat is nan; give a number"),
        ({"heat": "hot"}, "heat is 'hot'; give a number"),
        ({"vegan": "yes"}, "vegan is 'yes'; give True or False"),
        ({"recipe": 3}, "recipe is 3; give a path"),
        ({"extras": [3]}, "extras is [3]; give a list of texts"),
        ({"steps": "1,x"}, "steps is '1,x'; give numbers such as 1,2"),
        ({"crust": "thik"}, "crust is 'thik'; did you mean 'thick'?"),
        ({"style": "round"}, "style is 'round'; choose from: plain, braided"),
        ({"minuets": 3}, "unknown option 'minuets'; did you mean 'minutes'?"),
        ({"extra": "raisins"}, "unknown option 'extra'; did you mean 'extras'?"),
    ],
)
def test_mistakes_in_python(values: dict[str, Any], line: str) -> None:
    with pytest.raises(UnmaskError) as raised:
        BakeOptions(**({"flour": "rye"} | values))
    assert str(raised.value) == line


def test_a_required_option_is_missing(app: typer.Typer) -> None:
    with pytest.raises(UnmaskError, match="flour is missing; give a text"):
        BakeOptions()
    assert "Missing argument" in _run(app).output


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("minutes = 0", "minutes is 0; give 1 or more"),
        ("vegan = 'yes'", 'vegan is "yes"; give true or false'),
        ("extra = [1]", "extra is [1]; give a list of texts in quotes"),
        ("minuets = 3", "unknown setting 'minuets'; did you mean 'minutes'?"),
        ("crust = 'thik'", "crust is \"thik\"; did you mean 'thick'?"),
        ("[oven]\nminutes = 3", "[oven] is a table; write settings without tables"),
        ("allow-pickle = true\nallow_pickle = true", "allow-pickle is there twice, with - and with _; leave one"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "bake.toml"
    file.write_text(text)
    with pytest.raises(UnmaskError) as raised:
        read_toml(file, BakeOptions)
    assert str(raised.value) == f"{file}: {line}"


def test_mistakes_on_the_command_line(app: typer.Typer) -> None:
    assert str(_run(app, "rye", "--style", "braidet").exception) == "--style is 'braidet'; did you mean 'braided'?"
    assert str(_run(app, "rye", "--steps", "1,x").exception) == "--steps is '1,x'; give numbers such as 1,2"
    assert str(_run(app, "rye", "--minutes", "0").exception) == "--minutes is 0; give 1 or more"
    for words in (["--minutes", "ten"], ["--minuets", "3"]):
        assert _run(app, "rye", *words).exit_code == 2


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    file = tmp_path / "bake.toml"
    for flour, expected in {"rye": "rye", "near": tmp_path / "near", "./gone": tmp_path / "gone", "a/b": "a/b"}.items():
        file.write_text(f'flour = "{flour}"\nrecipe = ""\nextra = []\n')
        assert read_toml(file, BakeOptions) == {"flour": str(expected)}


def test_values_are_converted_where_nothing_can_go_wrong() -> None:
    options = BakeOptions(flour=Path("here"), extras="raisins", minutes=np.int64(5), steps="1, 2 3")  # type: ignore[arg-type]
    assert (options.flour, options.extras, options.minutes) == ("here", ("raisins",), 5)
    assert options.steps == (1.0, 2.0, 3.0)
    assert BakeOptions(flour="rye", extras=["raisins"]).extras == ("raisins",)  # type: ignore[arg-type]


def test_text_is_read_by_type() -> None:
    assert BakeOptions.parse_text({"minutes": "5", "vegan": "yes", "heat": "2e2", "recipe": "r.txt", "eggs": 3}) == {
        "minutes": 5,
        "vegan": True,
        "heat": 200.0,
        "recipe": "r.txt",
        "eggs": 3,
    }
    with pytest.raises(UnmaskError, match=r"^--set minutes is '1\.5'; give a whole number$"):
        BakeOptions.parse_text({"minutes": "1.5"}, prefix="--set ")
    with pytest.raises(UnmaskError, match="did you mean 'minutes'"):
        BakeOptions.parse_text({"minuets": "1.5"})


def test_options_are_immutable_hashable_and_can_be_sent() -> None:
    options = BakeOptions(flour="rye")
    assert pickle.loads(pickle.dumps(options)) == options
    assert {options: 1}[options.replace(minutes=30)] == 1
    with pytest.raises(UnmaskError, match="minutes is 0"):
        options.replace(minutes=0)
    with pytest.raises(Exception, match="frozen"):
        options.minutes = 3


def test_the_template_sets_every_option_to_its_default(tmp_path: Path) -> None:
    panels = toml_template(
        parameter for parameter in BakeOptions.parameters().values() if parameter.cli and not parameter.required
    )
    assert list(panels) == ["", "Oven"]
    file = tmp_path / "all.toml"
    file.write_text("\n".join(line for panel in panels.values() for _, line in panel))
    assert BakeOptions(flour="rye", **read_toml(file, BakeOptions)) == BakeOptions(flour="rye")


def test_help_in_python_teaches_the_keywords() -> None:
    @accepts(BakeOptions, without=("flour",))
    def bake(flour: str, **options: Any) -> BakeOptions:
        """Bake bread."""
        return BakeOptions(flour=flour, **options)

    assert "How hot." in str(bake.__doc__)
    assert bake("rye", heat=200).heat == 200
    parameters = inspect.signature(bake).parameters
    assert parameters["minutes"].default == 30
    assert next(iter(parameters)) == "flour"
    assert "options" not in parameters


def test_completion_comes_from_the_fields(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bakery"])
    command: Any = typer.main.get_command(app).commands["bake"]  # type: ignore[attr-defined]
    by_name = {parameter.name: parameter for parameter in command.params}
    context = command.make_context("bake", ["rye"])
    assert [item.value for item in by_name["style"].shell_complete(context, "br")] == ["braided"]
    assert [item.value for item in by_name["crust"].shell_complete(context, "")] == ["thin", "thick"]
    assert [item.value for item in by_name["flour"].shell_complete(context, "s")] == ["spelt"]
