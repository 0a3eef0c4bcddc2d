"""From numbers to words and caveats."""

from __future__ import annotations

import pandas as pd

from unmask.measures.association import AssociationMeasure
from unmask.measures.association.analysis import analyse
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.interpretation import describe_hardly_read, effect_label, interpret
from unmask.measures.base import Context
from unmask.results import Measurement


def _adjusted(items: pd.DataFrame, noise_floor: float | None = None) -> Measurement:
    measurement = analyse(items, Context())
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in measurement.tests.items()}
    return measurement.model_copy(update={"tests": tests, "noise_floor": noise_floor})


def test_words_for_size_go_by_the_estimate() -> None:
    assert [effect_label(nats) for nats in (0.0, 0.09, 0.3, -0.9, 2.0)] == [
        "negligible",
        "negligible",
        "small",
        "moderate",
        "strong",
    ]


def test_an_effect_below_the_noise_is_called_noise_everywhere(items: pd.DataFrame) -> None:
    loud, quiet = interpret(_adjusted(items, 1e-6)), interpret(_adjusted(items, 100.0))
    assert loud.read_details(AssociationDetails).hypotheses[0].answer == "supported"
    assert [hypothesis.answer for hypothesis in quiet.read_details(AssociationDetails).hypotheses] == [
        "not supported",
        "not supported",
        "no evidence against",
    ]
    assert "within the noise of the computation (100.00 nats)" in quiet.headline_text
    assert "rises with women's share" in quiet.headline_text  # a correlation is not in nats
    without_stereotype = quiet.model_copy(
        update={"tests": {name: test for name, test in quiet.tests.items() if name.startswith("female minus male")}}
    )
    assert "favours female or male person words clearly" in interpret(without_stereotype).headline_text


def test_what_could_not_be_tested_is_not_called_compatible_with_nothing(items: pd.DataFrame) -> None:
    few = items[items["profession"].isin(["mason", "secretary", "judge"])]
    measurement = interpret(analyse(few.reset_index(drop=True), Context()))
    assert measurement.headline_text.startswith("Not tested")
    assert "compatible" not in measurement.headline_text
    assert "few-words" in {caveat.code for caveat in measurement.caveats}


def test_caveats_say_what_applies(items: pd.DataFrame) -> None:
    protocols = ("sound", "published")
    codes = {name: {caveat.code for caveat in analyse(items, Context(protocol=name)).caveats} for name in protocols}
    assert "published-defects" in codes["published"] - codes["sound"]
    items.loc[(items["profession"] == "mason") & (items["gender"] == "female"), "form"] = "masoness"
    forms = analyse(items, Context())
    assert "gendered-forms" in {caveat.code for caveat in forms.caveats}
    assert "grammatical-agreement" not in {caveat.code for caveat in forms.caveats}
    german = analyse(items.assign(language="de", corpus="custom", form="Pflegekraft"), Context())
    assert "grammatical-agreement" in {caveat.code for caveat in german.caveats}


def test_the_stereotype_is_not_corrected_for_other_tests(items: pd.DataFrame) -> None:
    measurement = analyse(items, Context())
    p_values = {"stereotype": 0.04, "workforce share, pearson": 0.01, "workforce share, spearman": 0.02}
    tests = {
        name: test.model_copy(update={"p_value": p_values.get(name, 0.5)}) for name, test in measurement.tests.items()
    }
    adjusted = AssociationMeasure().adjust_tests(measurement.model_copy(update={"tests": tests}))
    others = [test.p_adjusted for name, test in adjusted.tests.items() if name not in p_values]
    assert adjusted.tests["stereotype"].p_adjusted == 0.04
    assert adjusted.tests["workforce share, pearson"].p_adjusted == 0.01 * (1 + len(others))
    assert adjusted.tests["workforce share, spearman"].p_adjusted is None  # it restates Pearson's
    assert others == [1.0] * len(others)
    assert "along gender stereotypes" in interpret(adjusted).headline_text


def test_professions_that_the_model_has_hardly_read_about_are_named(items: pd.DataFrame) -> None:
    caveat, unknown = describe_hardly_read({"mason": 9, "taper": 0, "judge": 10, "astronaut": 1}, items)
    assert unknown.code == "not-counted"
    assert caveat.code == "hardly-read"
    assert "names 2 of the 3 professions fewer than 10 times" in caveat.text
    assert caveat.text.endswith("They are: taper, mason.")
    assert describe_hardly_read(dict.fromkeys(items["profession"], 10), items) == []
    assert describe_hardly_read({}, items) == []


def test_professions_of_the_users_own_that_nobody_has_counted_are_named(items: pd.DataFrame) -> None:
    own = items.assign(profession=items["profession"].replace({"mason": "Mason", "judge": "astronaut"}))
    counts = dict.fromkeys(items["profession"], 99) | {"mason": 3}
    rare, unknown = describe_hardly_read(counts, own[own["profession"].isin(["Mason", "astronaut", "secretary"])])
    assert "names 1 of the 2 professions fewer than 10 times" in rare.text
    assert rare.text.endswith("They are: Mason.")
    assert unknown.code == "not-counted"
    assert unknown.text.endswith(
        "names 1 of the professions, so it can have learned little about them. They are: astronaut."
    )
