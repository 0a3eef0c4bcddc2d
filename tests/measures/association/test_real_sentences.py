"""Real sentences: which are used, what their numbers mean, and how they agree with templates."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive
import unmask
from planted import PlantedModel
from unmask.errors import UnmaskError
from unmask.lexicon import attributes, persons
from unmask.measures.association.analysis import analyse, estimate_stereotype
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.sentences.agreement import compare_corpora
from unmask.measures.association.sentences.selection import SentenceFinder, SentenceSample, sample_sentences
from unmask.measures.association.table import AssociationTable
from unmask.measures.base import Context
from unmask.results import Measurement
from unmask.statistics.correlation import pearson

PROFESSIONS = {
    "female": ("secretary", "bookkeeper", "housekeeper", "receptionist"),
    "male": ("carpenter", "plumber", "electrician", "mason", "firefighter"),
    "balanced": ("photographer", "judge", "bartender"),
}
FRAMES = (
    "{} worked as a {profession} in the town for many years.",
    "After the war {} trained as a {profession} near the coast.",
    "In 1950 {} was still the only {profession} of the village.",
    "{} became a {profession} in 1962.",
    "At that time {} wanted to be a {profession} in another country.",
    "The paper reported that {} was hired as a {profession}.",
)


@pytest.fixture(scope="module")
def finder() -> SentenceFinder:
    return SentenceFinder(persons("en"), attributes("en"))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text with three to six sentences of each of some professions."""
    lines = []
    for number, profession in enumerate(name for names in PROFESSIONS.values() for name in names):
        frames = FRAMES[: 3 + number % 4]
        sentences = [frame.format("she" if number % 3 == 0 else "he", profession=profession) for frame in frames]
        lines.append(" ".join(sentence[0].upper() + sentence[1:] for sentence in sentences))
    path = tmp_path_factory.mktemp("text") / "text.txt.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return path


def _read(path: Path) -> str:
    return lzma.decompress(path.read_bytes()).decode()


def _sample(path: Path, *, most: int = 100, seed: int = 0) -> SentenceSample:
    return sample_sentences(path, persons("en"), attributes("en"), most=most, seed=seed)


def _audit(text: Path, **options: Any) -> unmask.Audit:
    """The audit of a model with a planted bias of 1."""
    from unmask.measures.association.data import build_rows

    model = PlantedModel([*build_rows("en"), *_sample(text).rows], bias=1.0)
    return unmask.audit(model, measures="association", sentences=text, **options)


# Which sentences are used


@pytest.mark.parametrize(
    ("sentence", "person", "profession"),
    [
        ("He worked as a carpenter until the war.", "he", "carpenter"),
        ("Before the war, she was a registered nurse.", "she", "registered nurse"),
        ("He's an electrician from Leeds.", "he", "electrician"),
        ("The man hired a plumber at once.", "man", "plumber"),
        ("He sold houses as an insurance sales agent.", "he", "insurance sales agent"),
        ("In 1950 he served as a judge, of all things.", "he", "judge"),
    ],
)
def test_a_sentence_with_one_person_and_one_profession_is_used(
    finder: SentenceFinder, sentence: str, person: str, profession: str
) -> None:
    found = finder.find(sentence)
    assert found is not None
    assert (found.person.target, found.profession.name) == (person, profession)
    assert sentence[slice(*found.person_span)].lower() == person
    assert sentence[slice(*found.profession_span)] == profession


@pytest.mark.parametrize(
    "sentence",
    [
        "He met a carpenter and a plumber there.",  # two professions
        "He was a carpenter, and then he moved away.",  # the person twice
        "She lost her job as a carpenter.",  # another word says the gender
        "Mary said that she was a carpenter.",  # so does a first name
        "The king said that he needed a carpenter.",  # and a noun
        "He admired the carpenters of the town.",  # plural
        "He stole the carpenter's tools.",  # genitive
        "He studied the carpenter bee for years.",  # before another noun
        "He was secretary general of the chamber.",  # before an adjective
        "He asked the court to judge the case.",  # a verb
        "He wrote to Judge Smith about it.",  # a title
        "The son of a carpenter rose to the top.",  # the son is not the carpenter
        "The man's carpenter came late.",  # genitive of the person
        "It gave him a job as a carpenter.",  # him has no counterpart in the list
        "He/she was a carpenter.",  # both genders
        "He: carpenter.",  # no sentence
        f"He was a carpenter {'and so on ' * 14}.",  # too long
    ],
)
def test_other_sentences_are_not_used(finder: SentenceFinder, sentence: str) -> None:
    assert finder.find(sentence) is None


def test_both_words_stand_in_the_same_place(text: Path) -> None:
    rows = _sample(text).rows
    assert {row.corpus for row in rows} == {"real-sentences"}
    for male, female in zip(rows[::2], rows[1::2], strict=True):
        assert (male.gender, female.gender, male.pair) == ("male", "female", female.pair)
        assert (male.template, male.written) == (female.template, female.written)
        for row in (male, female):
            assert row.sentence[slice(*row.target_span)] == row.target
            assert row.target.lower() == row.person
            assert row.sentence[slice(*row.attribute_span)] == row.profession
        frames = [row.sentence[: row.target_span[0]] + row.sentence[row.target_span[1] :] for row in (male, female)]
        assert frames[0] == frames[1]
        assert male.target[0].isupper() == female.target[0].isupper()


def test_sentences_that_differ_in_gender_alone_are_one(tmp_path: Path, text: Path) -> None:
    twice = tmp_path / "twice.txt"
    sentences = _read(text)
    turned = re.sub(r"\b([Hh]e|[Ss]he)\b", lambda word: {"he": "she", "she": "he"}[word.group().lower()], sentences)
    turned = re.sub(r"(^|[.] )(\w)", lambda match: match.group(1) + match.group(2).upper(), turned, flags=re.MULTILINE)
    twice.write_text(sentences + "\n" + turned, encoding="utf-8")
    once, both = (_sample(path) for path in (text, twice))
    assert [row.template for row in both.rows] == [row.template for row in once.rows]
    assert both.counts == once.counts


def test_the_sample_depends_on_the_seed_and_not_on_other_sentences(tmp_path: Path, text: Path) -> None:
    chosen = {row.template for row in _sample(text, most=3).rows}
    assert chosen == {row.template for row in _sample(text, most=3).rows}
    assert any(chosen != {row.template for row in _sample(text, most=3, seed=seed).rows} for seed in (1, 2, 3))
    longer = tmp_path / "longer.txt"
    longer.write_text(
        _read(text)
        + "\nShe was a lifeguard. He was a lifeguard. She trained as a lifeguard. She met a young lifeguard.\n",
        encoding="utf-8",
    )
    sample = _sample(longer, most=3)
    assert chosen == {row.template for row in sample.rows if row.profession != "lifeguard"}
    counts = {count.profession: count for count in sample.counts}
    assert (counts["lifeguard"].found, counts["lifeguard"].used) == (3, 3)  # she and he are one
    assert counts["lifeguard"].female + counts["lifeguard"].male == 3
    assert counts["dietitian"].found == 0
    assert max(count.used for count in sample.counts) == 3


def test_too_few_sentences_are_an_error_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "few.txt"
    path.write_text(
        "\n".join(frame.format("he", profession="carpenter").capitalize() for frame in FRAMES), encoding="utf-8"
    )
    with pytest.raises(UnmaskError, match="about 0 female and 1 male professions only, and 3 of each group") as error:
        _sample(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "published"}, "the paper has templates only"),
        ({"languages": "de"}, "--sentences is for English"),
        ({"sentences": None, "most_sentences": 5}, "--most-sentences is about the text of --sentences"),
        ({"sentences": "nowhere.txt"}, "does not exist"),
    ],
)
def test_what_cannot_be_measured_is_refused(text: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnmaskError, match=message):
        unmask.audit("unmask-mini", **{"measures": "association", "sentences": text, **options})


# Their numbers


def test_scores_are_those_of_the_naive_way(text: Path, loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-uncased")
    rows = _sample(text, most=3).rows[:12]
    items = unmask.audit(
        (model.model, model.tokenizer), measures="association", sentences=text, most_sentences=3, seed=0
    ).items["association"]
    for row, (_, item) in zip(rows, items.iterrows(), strict=False):
        target, prior = naive.sound(model.model, model.tokenizer, row)
        assert item["sentence"] == row.sentence
        assert item["log_p_target"] == pytest.approx(target, abs=1e-5)
        assert item["log_p_prior"] == pytest.approx(prior, abs=1e-5)


GROUPS = ["female"] * 4 + ["male"] * 9 + ["balanced"] * 5


def _draw_table(seed: int, spread: dict[str, float]) -> AssociationTable:
    """A table without a stereotype: professions vary by their group's spread, and each has 3 to 60 sentences."""
    draw = np.random.default_rng(seed)
    sizes = np.clip(np.exp(draw.normal(2.3, 1.2, len(GROUPS))), 3, 60).astype(int)
    effects = 0.4 + draw.normal(size=len(GROUPS)) * [spread[group] for group in GROUPS]
    values = effects[:, None] + draw.normal(size=(len(GROUPS), 60))
    values[np.arange(60) >= sizes[:, None]] = np.nan
    return _table(values[:, None], GROUPS)


def _table(values: np.ndarray, groups: list[str]) -> AssociationTable:
    """A table of female − male differences: nested sentences, or crossed pairs and templates."""
    names, by_gender = [str(index) for index in range(len(groups))], {"female": values, "male": 0 * values}
    is_nested = values.shape[1] == 1
    return AssociationTable(names, np.array(groups), np.full(len(groups), np.nan), by_gender, is_nested)


def _list_items(table: AssociationTable) -> pd.DataFrame:
    """A table of sentences as items."""
    rows = []
    for number, group in enumerate(table.groups):
        shared = {"language": "en", "corpus": "real-sentences", "group": group, "pair": 0, "form": ""}
        shared["workforce_share"] = {"female": 90.0, "male": 2.0, "balanced": 50.0}[group] + number / 10
        for sentence in np.flatnonzero(~np.isnan(table.difference[number, 0])):
            for gender, values in table.by_gender.items():
                keys = {"profession": f"p{number}", "template": f"{number} {sentence}", "gender": gender}
                rows.append({**shared, **keys, "association": values[number, 0, sentence]})
    return pd.DataFrame(rows)


def _differences(items: pd.DataFrame) -> pd.DataFrame:
    """The female − male difference of each sentence, the plain way."""
    wide = items.pivot(index=["group", "profession", "template"], columns="gender", values="association")
    return (wide["female"] - wide["male"]).rename("difference").reset_index()


def test_known_answers_of_unequal_numbers_of_sentences() -> None:
    """A stereotype is Welch's t test of the means of professions, a difference their t test."""
    items = _list_items(_draw_table(1, dict.fromkeys(GROUPS, 1.0)))
    measurement = analyse(items, Context())
    differences = _differences(items)
    means = differences.groupby(["group", "profession"])["difference"].mean()
    female, male = means["female"].to_numpy(), means["male"].to_numpy()
    expected = stats.ttest_ind(female, male, equal_var=False)
    test = measurement.tests["stereotype"]
    assert test.value == pytest.approx(female.mean() - male.mean())
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.df == pytest.approx(expected.df)
    assert test.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert test.n == differences["group"].isin(["female", "male"]).sum()
    assert test.p_sign_flip is None
    for group, values in (("female", female), ("male", male), ("balanced", means["balanced"].to_numpy())):
        single = stats.ttest_1samp(values, 0)
        test = measurement.tests[f"female minus male, {group} professions"]
        assert test.value == pytest.approx(values.mean())
        assert test.p_value == pytest.approx(single.pvalue)
        assert test.interval == pytest.approx(tuple(single.confidence_interval()))
        assert test.n == (differences["group"] == group).sum()
    first = measurement.read_details(AssociationDetails).professions[0]
    sentences = differences.loc[differences["profession"] == first.profession, "difference"]
    assert first.difference == pytest.approx(sentences.mean())
    assert first.difference_interval == pytest.approx(tuple(stats.ttest_1samp(sentences, 0).confidence_interval()))
    shares = items.groupby("profession")["workforce_share"].first()
    expected_r = pearson(means.droplevel("group")[shares.index], shares)
    assert measurement.tests["workforce share, pearson"].value == pytest.approx(expected_r)


RUNS = 400


@pytest.mark.parametrize("spread", [(0.5, 0.5), (1.5, 0.3)])
def test_tests_keep_their_level_without_a_stereotype(spread: tuple[float, float]) -> None:
    """A 5 % test over professions rejects in about 5 %, and one over sentences as if independent far more often."""
    rejected = dict.fromkeys(("stereotype", "order", "gap", "sentences"), 0)
    for seed in range(RUNS):
        table = _draw_table(seed, {"female": spread[0], "male": spread[1], "balanced": 0.5})
        draw = np.random.default_rng([seed, 1])
        templates = draw.normal(size=(18, 1, 1)) + draw.normal(size=(1, 9, 1)) + draw.normal(size=(18, 9, 5))
        agreement, _ = compare_corpora(_table(templates, GROUPS), table)
        female, male = (table.difference[table.rows_of(group)].ravel() for group in ("female", "male"))
        p_values = {
            "stereotype": estimate_stereotype(table.means, 0).p_value,
            "order": agreement["agreement with templates, pearson"].p_value,
            "gap": agreement["agreement with templates, stereotype"].p_value,
            "sentences": stats.ttest_ind(female, male, equal_var=False, nan_policy="omit").pvalue,
        }
        for name, p_value in p_values.items():
            rejected[name] += p_value is not None and p_value < 0.05
    most = int(stats.binom.isf(0.001, RUNS, 0.06))
    assert max(rejected["stereotype"], rejected["order"], rejected["gap"]) <= most, rejected
    assert rejected["sentences"] > 0.25 * RUNS, rejected


def test_a_planted_bias_is_found_in_real_sentences(text: Path) -> None:
    measurement = _audit(text).measurements[0]
    assert measurement.corpus == "real-sentences"
    test = measurement.tests["stereotype"]
    assert test.interval is not None
    assert test.interval[0] < 1.8 < test.interval[1]
    assert test.interval[1] - test.interval[0] < 1
    codes = {caveat.code for caveat in measurement.caveats}
    assert "real-sentences" in codes
    assert "template-sentences" not in codes


# Templates and real sentences


def test_agreement_is_that_of_the_plain_way() -> None:
    draw = np.random.default_rng(5)
    groups = ["female"] * 4 + ["male"] * 3 + ["balanced"] * 2
    templates, sentences = draw.normal(size=(9, 4, 2)), draw.normal(size=(9, 1, 6))
    sentences[:, 0, 4:] = np.where(np.arange(9)[:, None] % 2, np.nan, sentences[:, 0, 4:])
    tests, values = compare_corpora(_table(templates, groups), _table(sentences, groups))
    t, s = templates.mean(axis=(1, 2)), np.nanmean(sentences, axis=(1, 2))
    order, gap = tests["agreement with templates, pearson"], tests["agreement with templates, stereotype"]
    assert order.value == pytest.approx(np.corrcoef(t, s)[0, 1])
    contrast = (s - t)[:4].mean() - (s - t)[4:7].mean()
    assert gap.value == pytest.approx(contrast)
    pairs = np.array([(s - np.delete(templates, q, axis=1).mean(axis=(1, 2)))[:7] for q in range(4)])
    without = pairs[:, :4].mean(axis=1) - pairs[:, 4:].mean(axis=1)
    variances = [
        (s - t)[:4].var(ddof=1) / 4,
        (s - t)[4:7].var(ddof=1) / 3,
        3 / 4 * ((without - without.mean()) ** 2).sum(),
    ]
    df = sum(variances) ** 2 / sum(v**2 / d for v, d in zip(variances, (3, 2, 3), strict=True))
    assert gap.statistic == pytest.approx(contrast / np.sqrt(sum(variances)))
    assert gap.df == pytest.approx(df)
    assert [value.templates for value in values] == pytest.approx(t)
    assert [value.sentences for value in values] == pytest.approx(s)


def test_few_shared_professions_have_no_agreement() -> None:
    groups = ["female", "male", "balanced"]
    tests, values = compare_corpora(_table(np.ones((3, 2, 1)), groups), _table(np.ones((3, 1, 1)), groups))
    assert list(tests) == ["agreement with templates, stereotype"]
    assert tests["agreement with templates, stereotype"].value == 0
    assert len(values) == 3


@pytest.fixture(scope="module")
def both(text: Path) -> unmask.Audit:
    """Templates and real sentences in one audit."""
    return _audit(text, corpora="bec-pro")


def _real(audit: unmask.Audit) -> Measurement:
    return next(one for one in audit.measurements if one.corpus == "real-sentences")


def test_the_report_says_how_both_agree(both: unmask.Audit) -> None:
    assert [measurement.corpus for measurement in both.measurements] == ["bec-pro", "real-sentences"]
    tests = _real(both).tests
    assert (tests["agreement with templates, pearson"].value or 0) > 0.9
    interval = tests["agreement with templates, stereotype"].interval
    assert interval is not None
    assert interval[0] < 0 < interval[1]
    text = " ".join(both.summary().split())
    assert "Templates and real sentences agree on which of 12 professions" in text
    assert "the stereotype does not clearly differ between them" in text
    assert "Sentences found and used" in text
    page = both.text("md")
    assert "Not found: taper" in page
    assert "the sentences are made from templates" in page


def test_without_templates_no_limit_speaks_of_them(text: Path) -> None:
    audit = _audit(text)
    assert "the sentences are made from templates" not in audit.text("md")
    assert not [name for name in audit.measurements[0].tests if "agreement" in name]


def test_written_items_give_the_same_numbers(both: unmask.Audit, tmp_path: Path) -> None:
    again = unmask.analyse(both.save(tmp_path / "audit"))
    for first, second in zip(both.measurements, again.measurements, strict=True):
        assert first.tests == second.tests
        assert first.groups == second.groups
        assert first.details["agreement"] == second.details["agreement"]


def test_two_models_are_compared_sentence_by_sentence(both: unmask.Audit, text: Path) -> None:
    from unmask.measures.association.data import build_rows

    unbiased = PlantedModel([*build_rows("en"), *_sample(text).rows], bias=0.0)
    after = unmask.audit(unbiased, measures="association", sentences=text, corpora="bec-pro")
    comparison = unmask.compare(both, after, usefulness=False)
    found = {one.corpus: one for one in comparison.comparisons}
    real = found["real-sentences"]
    assert (real.unpaired, real.items) == (0, _real(both).items)
    assert real.verdict == "improved"
    change = real.changes["stereotype"].change
    stereotypes = [_real(audit).tests["stereotype"].value or 0 for audit in (both, after)]
    assert change.value == pytest.approx(stereotypes[1] - stereotypes[0])
    assert not real.details["table"]  # the paper's table is about templates
    assert "jackknifed over" in comparison.text("md")
