"""The tables, answers and page of the 63-classifier study, with the paper's own 63 rows as input.

The figures are those of S. Jentzsch and C. Turan (2022), Gender Bias in BERT, Tables 1 to 6 (`tests/gold`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from paths import GOLD
from unmask.errors import UnmaskError
from unmask.report.drawing import fit_domain
from unmask.results.formatting import number
from unmask.statistics.correlation import center_within_groups, pearson_estimate
from unmask.statistics.permutation import variance_shares
from unmask.studies.imdb63 import ReviewStudyOptions
from unmask.studies.imdb63.answers import adjust_findings, answer_questions, compare_levels, compare_means
from unmask.studies.imdb63.grid import CONDITIONS
from unmask.studies.imdb63.measurements import sort_grid
from unmask.studies.imdb63.recorded import read_recorded_grid
from unmask.studies.imdb63.report import (
    SideExperiments,
    draw_biases,
    list_biases,
    list_findings,
    make_report,
    write_headline,
)
from unmask.studies.imdb63.side_experiments import (
    average_trainings,
    tabulate_batch_sizes,
    tabulate_cross_terms,
    tabulate_trainings,
)
from unmask.studies.imdb63.tables import (
    correlate_figures,
    tabulate_all_figures,
    tabulate_biases,
    tabulate_correlations,
    tabulate_quality,
    tabulate_settings,
)
from unmask.studies.report import StudyReport, StudyTable
from unmask.studies.steps import Outcome
from unmask.studies.study import FinishedSteps, get_study, run_study

TABLE_1 = """
.0021 .0022 .0022 .0035 .0037 .0027 .0047 .0045 (.0052)
.0009 .0010 -.0012 .0004 -.0015 -.0008 .0016 .0008 (-.0003)
.0025 .0036 (.0023) .0037 .0038 .0027 .0056 .0060 .0055
.0013 .0031 (-.0000) .0015 .0020 -.0002 .0035 .0041 .0005
.0031 .0050 .0035 .0069 .0048 .0056 .0082 .0095 .0101
-.0016 .0046 .0011 -.0032 -.0011 .0034 .0009 .0042 .0015
.0024 .0024 .0021 .0031 .0028 (.0023) .0036 .0038 (.0027)
.0016 .0009 -.0002 .0016 .0007 (.0002) .0020 .0010 (.0000)
.0024 .0025 .0020 .0039 .0039 .0028 .0044 .0043 .0041
.0015 .0015 .0004 .0025 .0023 .0004 .0023 .0021 .0018
.0037 .0029 .0054 .0093 .0082 .0131 .0089 .0080 .0071
.0011 -.0004 .0021 .0002 -.0044 -.0034 -.0023 .0009 -.0014
.0086 .0049 .0016 .0155 .0074 (.0091) .0172 .0114 .0101
.0086 .0034 -.0008 .0130 -.0032 (-.0009) .0137 -.0032 .0034
"""
"""As printed: models in rows, abs above tot; pro, weat and all in columns, each with orig., R and mix."""
SIZES = {"dist": 66, "bertb": 110, "bertl": 340, "robertab": 125, "robertal": 355, "albertb": 11, "albertl": 17}
"""Millions of parameters, from section 2.2 of the paper."""


NOT_PRINTED = (
    "n batch_size learning_rate epochs abs_changed tot_changed low high effect p p_adjusted flips noise terms_per_text"
    " words_n words_p"
).split()
"""Columns that the paper does not print; they stay empty."""


@cache
def _read_paper() -> pd.DataFrame:
    biases = pd.read_csv(GOLD / "jentzsch_turan_2022.csv").rename(columns={"zero": "equal"})
    biases["condition"] = ["original" if name.startswith("original") else name for name in biases["condition"]]
    cells = biases.merge(pd.read_csv(GOLD / "jentzsch_turan_2022_accuracy.csv"), on=["model", "condition"])
    sizes = [next(1e6 * size for start, size in SIZES.items() if name.startswith(start)) for name in cells["model"]]
    cells = cells.assign(protocol="published", size=sizes, kind=cells["condition"].str.partition("-")[0])
    marks = cells["stars"].fillna("-")
    return cells.reindex(columns=[*cells, *NOT_PRINTED]).assign(stars=marks)


def _sound(**changes: Any) -> pd.DataFrame:
    """The paper's rows as means over changed texts, with the additional columns of our own measurements."""
    cells = _read_paper()
    total = cells["tot_nonzero"]
    added: dict[str, Any] = {"abs_changed": cells["abs_nonzero"], "tot_changed": total, "low": total - 0.0003}
    added |= {"high": total + 0.0003, "effect": 0.12, "flips": 0.004, "noise": 1e-7, "p": 1e-9, "p_adjusted": 1e-8}
    added |= {"batch_size": 32, "learning_rate": 2e-5, "epochs": 3, "terms_per_text": 4.0, "protocol": "sound"}
    return cells.assign(**(added | changes))


def _parse_number(text: str) -> tuple[float, bool]:
    """Parse a figure of a table: its value, and whether it is in brackets."""
    return float(text.strip("()").replace("−", "-")), text.startswith("(")


class TestTable1:
    def test_is_the_papers_with_its_brackets(self) -> None:
        printed = [[_parse_number(text) for text in line.split()] for line in TABLE_1.strip().splitlines()]
        ours = [[_parse_number(text) for text in row[2:]] for row in tabulate_biases(sort_grid(_read_paper())).rows]
        assert ours == printed

    def test_rows_come_in_any_order(self) -> None:
        shuffled = _read_paper().sample(frac=1, random_state=3)
        shuffled = pd.concat([shuffled[shuffled["model"] == name] for name in _read_paper()["model"].unique()])
        assert tabulate_biases(sort_grid(shuffled)) == tabulate_biases(sort_grid(_read_paper()))

    def test_a_cell_that_failed_leaves_a_gap(self) -> None:
        cells = _read_paper().query("not (model == 'bertbase' and condition == 'R-weat')")
        row = tabulate_biases(sort_grid(cells)).rows[2]
        assert row[:7] == ("bertbase", "abs", "0.0025", "0.0036", "(0.0023)", "0.0037", "–")

    def test_sound_means_are_over_changed_texts(self) -> None:
        table = tabulate_biases(sort_grid(_sound(abs_changed=0.5, tot_changed=0.25)))
        assert {row[2].strip("()") for row in table.rows} == {"0.5000", "0.2500"}
        assert "the texts that the terms change" in table.note

    def test_what_is_noise_is_in_brackets(self) -> None:
        assert all(
            text.startswith("(") for row in tabulate_biases(sort_grid(_sound(noise=0.5))).rows for text in row[2:]
        )
        assert tabulate_biases(sort_grid(_read_paper().assign(noise=0.5))) == tabulate_biases(
            sort_grid(_read_paper())
        )  # the paper's table has no noise floor

    def test_block_and_numbers(self) -> None:
        table = tabulate_biases(sort_grid(_read_paper()))
        block = table.to_block()
        assert [cell.text for cell in block.rows[1]][:3] == ["", "tot", "0.0009"]  # the model is named once
        numbers = table.numbers
        assert len(numbers) == 63
        assert numbers["abs_nonzero"].sum() == pytest.approx(_read_paper()["abs_nonzero"].sum())


class TestTables3To6:
    def test_counts_stand_under_their_own_names(self) -> None:
        first, second = tabulate_all_figures(sort_grid(_read_paper()))
        assert [len(first.rows), len(second.rows)] == [27, 36]
        row = dict(zip(first.columns, first.rows[0], strict=True))
        assert row["Condition"] == "original-pro"
        assert [row[name] for name in ("N < 0", "N = 0", "N > 0")] == ["6,085", "8,699", "10,216"]
        assert [row[name] for name in ("Non-zero: abs", "All: tot", "Significance")] == ["0.0021", "0.0006", "***"]

    def test_sound_adds_interval_effect_and_flips(self) -> None:
        first = tabulate_all_figures(sort_grid(_sound()))[0]
        row = dict(zip(first.columns, first.rows[0], strict=True))
        assert row["95 % interval"] == "[0.0006, 0.0012]"
        assert (row["Effect"], row["Flips"]) == ("0.12", "0.4 %")

    def test_the_test_over_words_is_in_the_file_too(self) -> None:
        for table in tabulate_all_figures(sort_grid(_sound(words_n=12, words_p=0.0625))):
            assert {row[-1] for row in table.rows} == {"0.062"}
            numbers = table.numbers
            assert (set(numbers["words_n"]), set(numbers["words_p"])) == ({12}, {0.0625})

    def test_accuracies_are_of_trainings(self) -> None:
        first, second = tabulate_quality(sort_grid(_read_paper()))
        assert [len(first.rows), len(second.rows)] == [21, 28]
        assert first.rows[0] == ("distbase", "original", "0.812", "0.778", "0.835", "0.805")
        assert [row[1] for row in second.rows[:7]] == list(CONDITIONS)

    def test_one_model_makes_one_table(self) -> None:
        cells = _read_paper().query("model == 'bertlarge'")
        assert [
            table.name for table in (*tabulate_all_figures(sort_grid(cells)), *tabulate_quality(sort_grid(cells)))
        ] == [
            "table-3",
            "table-5",
        ]

    def test_settings_without_a_record_are_gaps(self) -> None:
        assert tabulate_settings(sort_grid(_sound())).rows[0] == (
            "distbase",
            "original",
            "66,000,000",
            "32",
            "2e−05",
            "3",
        )
        assert tabulate_settings(sort_grid(_read_paper())).rows[0][3:] == ("–", "–", "–")


class TestTable2:
    def test_is_the_papers(self) -> None:
        """Up to rounding and two errors in the printed accuracies."""
        correlations = {
            (correlation.first, correlation.second): correlation
            for correlation in correlate_figures(sort_grid(_read_paper()))
        }
        printed = [(("bias abs", "bias tot"), 0.373, ""), (("bias abs", "accuracy"), -0.481, "**")]
        printed += [(("bias abs", "F1"), -0.497, "***"), (("bias tot", "accuracy"), 0.044, "")]
        printed += [(("bias tot", "F1"), -0.085, ""), (("accuracy", "F1"), 0.886, "***")]
        for pair, r, stars in printed:
            assert correlations[pair].independent.value == pytest.approx(r, abs=0.004), pair
            assert correlations[pair].marked.endswith(stars or tuple("0123456789")), pair

    def test_published_p_is_that_of_the_papers_statistics(self) -> None:
        correlation = next(
            correlation
            for correlation in correlate_figures(sort_grid(_read_paper()))
            if (correlation.first, correlation.second) == ("bias abs", "accuracy")
        )
        assert correlation.p_adjusted == pytest.approx(0.00147)  # 21 × 0.00007
        gap = _read_paper().assign(accuracy=_read_paper()["accuracy"].where(_read_paper()["model"] != "distbase"))
        assert [correlation.n for correlation in correlate_figures(sort_grid(gap))] == [63, 54, 63, 54, 63, 54]

    def test_the_matrix_is_symmetric(self) -> None:
        rows = [row[1:] for row in tabulate_correlations(sort_grid(_read_paper()))[0].rows]
        assert [list(column) for column in zip(*rows, strict=True)] == [list(row) for row in rows]
        assert rows[0][3] == "−0.496***"

    def test_sound_judges_over_models(self) -> None:
        correlation = next(
            correlation
            for correlation in correlate_figures(sort_grid(_sound()))
            if (correlation.first, correlation.second) == ("bias abs", "accuracy")
        )
        assert correlation.models.interval is not None
        assert correlation.independent.interval is not None
        assert (
            correlation.models.interval[0]
            < correlation.independent.interval[0]
            < correlation.independent.interval[1]
            < correlation.models.interval[1]
        )
        assert correlation.models.df == 6
        assert "*" not in correlation.marked  # the paper gives it two stars
        means = _read_paper().groupby("model")[["abs_nonzero", "accuracy"]].mean()
        assert correlation.between.value == pytest.approx(means["abs_nonzero"].corr(means["accuracy"]))

    def test_details_have_all_pairs(self) -> None:
        assert len(tabulate_correlations(sort_grid(_sound()))[1].rows) == 6

    @pytest.mark.parametrize("query", ["model == 'distbase'", "condition == 'R-pro'", "accuracy == 0.817"])
    def test_what_does_not_vary_has_no_correlation(self, query: str) -> None:
        """One model, one condition or one row, with accuracies that are equal except for rounding of their mean."""
        cells = _sound().query(query).assign(accuracy=0.8, f1=0.8)
        assert tabulate_correlations(sort_grid(cells))[0].rows[2] == ("accuracy", "–", "–", "", "–")
        assert all(correlation.p_adjusted is None for correlation in correlate_figures(sort_grid(cells))[1:])


class TestStatistics:
    def test_pearson_is_scipys(self) -> None:
        x, y = _read_paper()["abs_nonzero"], _read_paper()["accuracy"]
        ours, theirs = pearson_estimate(x, y), stats.pearsonr(x, y)
        assert ours.p_value == pytest.approx(theirs.pvalue)
        assert ours.interval == pytest.approx(tuple(theirs.confidence_interval()))

    def test_within_groups_is_the_regression_with_a_level_for_each(self) -> None:
        random = np.random.default_rng(5)
        groups = np.repeat(np.arange(4), 6)
        x, y = random.normal(size=24) + groups, random.normal(size=24) - groups
        design = np.column_stack([x, np.eye(4)[groups]])
        coefficients, squares, *_ = np.linalg.lstsq(design, y, rcond=None)
        error = np.sqrt(squares[0] / 19 * np.linalg.inv(design.T @ design)[0, 0])
        ours = pearson_estimate(center_within_groups(x, groups), center_within_groups(y, groups), controls=3)
        assert ours.df == 19
        assert ours.statistic == pytest.approx(coefficients[0] / error)

    def test_pearson_of_degenerate_input(self) -> None:
        assert pearson_estimate([1, 2], [2, 1]).value is None
        assert pearson_estimate([1, 1, 1], [1, 2, 3]).value is None
        assert pearson_estimate([1, 2, 3], [2, 4, 6]).interval is None
        three = pearson_estimate([1, 2, 3], [1, 3, 2])
        assert three.value == pytest.approx(0.5)
        assert three.interval is None
        assert center_within_groups([0.1, 0.1, 0.1, 0.7], [1, 1, 1, 2]).tolist() == [0, 0, 0, 0]
        assert three.p_value == pytest.approx(stats.pearsonr([1, 2, 3], [1, 3, 2]).pvalue)

    def test_shares_worked_by_hand(self) -> None:
        """Rows differ by 2 and columns by 1, with no residual: sums of squares 4, 1 and 0 of 5."""
        shares = variance_shares([[0, 1], [2, 3]], ["a", "b"], seed=0, draws=199)
        assert shares is not None
        assert [shares.rows, shares.columns, shares.rest] == pytest.approx([0.8, 0.2, 0.0])
        assert shares.chance == pytest.approx(0.4, abs=0.1)  # two of four shuffles keep the rows apart
        assert shares.p_value == pytest.approx(0.5, abs=0.1)

    def test_shares_of_degenerate_input(self) -> None:
        assert variance_shares([[1, 1], [1, 1]], ["a", "b"], seed=0) is None
        assert variance_shares([[1, 2]], ["a", "b"], seed=0) is None
        assert variance_shares([[1, np.nan], [np.nan, 2]], ["a", "b"], seed=0) is None
        gap = variance_shares([[1.0, 2.0, np.nan], [3.0, 4.5, 5.0], [0.0, 1.0, 0.5]], ["a", "b", "c"], seed=0, draws=99)
        assert gap is not None
        assert gap.rows > gap.chance

    def test_shares_are_calibrated_where_columns_share_a_training(self) -> None:
        """Under the null hypothesis, 5 % tests reject about 5 %; tests that assume independence reject far more."""
        random = np.random.default_rng(11)
        blocks = ["o", "a", "b", "o", "c", "d", "o", "e", "f"]
        rejected = {"together": 0, "apart": 0}
        for seed in range(300):
            table = random.normal(size=(7, 9)) * 0.5
            for name in dict.fromkeys(blocks):
                table[:, [block == name for block in blocks]] += random.normal(size=(7, 1))
            for method, names in (("together", blocks), ("apart", [str(index) for index in range(9)])):
                shares = variance_shares(table, names, seed=seed, draws=99)
                assert shares is not None
                rejected[method] += shares.p_value <= 0.05
        assert rejected["together"] < 0.09 * 300 < 0.13 * 300 < rejected["apart"]

    def test_one_against_others(self) -> None:
        """Equals SciPy's t test; a single value gets the standard deviation of the other sample."""
        a, b = [1.0, 2.0, 4.0], [3.0, 5.0, 6.0, 9.0]
        ours, theirs = compare_means(a, b), stats.ttest_ind(a, b)
        assert ours.p_value == pytest.approx(theirs.pvalue)
        assert ours.interval == pytest.approx(tuple(theirs.confidence_interval()))
        alone = compare_means([1.0], b)
        assert alone.standard_error == pytest.approx(np.std(b, ddof=1) * np.sqrt(1 + 1 / 4))
        assert compare_means([], b).value is None
        assert compare_means([1.0], [2.0]).p_value is None
        assert compare_means([1.0], [2.0, 2.0]).p_value is None


class TestQuestions:
    def test_what_the_papers_own_rows_answer(self) -> None:
        finetuning, pretrained, terms = answer_questions(_read_paper())
        assert finetuning.answer.count(": no reliable difference in absolute bias") == 2
        assert "between them: clear differences in absolute bias (0.50; " in pretrained.answer
        relation = "Larger models: no reliable difference in absolute bias (−0.65 "  # the paper reports a relation
        assert relation in pretrained.answer
        assert "larger with all than with pro (2.12 [1.71, 2.63]; means" in terms.answer
        assert "pro < weat < all in 17 of 21" in terms.answer

    def test_differences_are_tests_over_model_means(self) -> None:
        """With equally many pairs per model, clustering by model equals the t test of the model means."""
        wide = _read_paper().assign(kind=[name.split("-")[0] for name in _read_paper()["condition"]])
        wide = wide.pivot(index=["model", "terms"], columns="kind", values="tot_nonzero")
        change = (wide["mix"] - wide["original"]).groupby("model").mean()
        theirs = stats.ttest_1samp(change, 0)
        ours = next(
            finding
            for finding in answer_questions(_read_paper())[0].findings
            if finding.name == "total bias, mix − original"
        )
        assert (ours.n, ours.estimate.df) == (21, 6)
        assert ours.estimate.p_value == pytest.approx(theirs.pvalue)
        assert ours.estimate.interval == pytest.approx(tuple(theirs.confidence_interval()))

    def test_a_remedy_that_works_is_said_to(self) -> None:
        random = np.random.default_rng(8)
        half = [0.5 if name.startswith("mix") else 1.0 for name in _read_paper()["condition"]] * random.uniform(
            0.8, 1.2, 63
        )
        base = _read_paper()["model"].map(
            {name: 0.01 * (1 + index) for index, name in enumerate(_read_paper()["model"].unique())}
        )
        answer = answer_questions(_sound(abs_changed=base * half, tot_changed=base * half / 2))[0].answer
        assert "Removing the terms from the training reviews: no reliable difference in absolute bias" in answer
        assert "Balancing the terms in the training reviews: lowers the absolute bias by a factor (0.5" in answer
        assert "lowers the size of the total bias" in answer
        assert "moves the total bias towards female versions" in answer

    def test_per_changed_term(self) -> None:
        count = _read_paper()["terms"].map({"pro": 2.0, "weat": 4.0, "all": 8.0})
        findings = {finding.name: finding for finding in answer_questions(_sound(terms_per_text=count))[2].findings}
        per_text, per_term = (findings[f"absolute bias per {unit}, all / pro"] for unit in ("text", "changed term"))
        assert per_term.estimate.value == pytest.approx((per_text.estimate.value or 0) / 4)
        assert per_term.estimate.p_value != per_text.estimate.p_value

    def test_a_model_without_pretraining_is_set_against_the_others(self) -> None:
        names = _read_paper()["model"].replace({"distbase": "scratch"})
        answer = answer_questions(
            _sound(model=names, abs_changed=_read_paper()["abs_nonzero"].where(names != "scratch", 1e-9))
        )[1]
        finding = next(
            finding for finding in answer.findings if finding.name == "absolute bias, without − with pretraining"
        )
        assert finding.n == 7
        assert (finding.estimate.df, finding.effect) == (5, "smaller absolute bias")
        assert (
            "Models without pretraining: no reliable difference in absolute bias" in answer.answer
        )  # ALBERT's biases are large

    def test_one_model_or_cell_is_not_tested(self) -> None:
        for cells in (_read_paper().query("model == 'bertbase'"), _read_paper().head(1)):
            finetuning, pretrained, terms = answer_questions(cells)
            assert (
                "training reviews: not tested: absolute bias, size of the total bias, total bias." in finetuning.answer
            )
            assert "between them: not tested: absolute bias, total bias." in pretrained.answer
            assert terms.answer.startswith("Absolute bias per text: not tested: weat / pro, all / pro, all / weat.")

    def test_no_bias_at_all(self) -> None:
        answer = answer_questions(_sound(abs_changed=0.0, tot_changed=0.0))
        assert answer[2].findings[0].sentence == (
            "absolute bias per text, weat / pro: (means 0 and 0; 21 left out, with a bias of 0); not tested."
        )
        assert "Larger models: not tested: absolute bias, total bias." in answer[1].answer
        assert answer[2].answer.startswith("Absolute bias per text: not tested: weat / pro")
        assert answer[0].answer.count("; not tested: absolute bias.") == 2
        assert answer[0].answer.count("no reliable difference in size of the total bias (0 [0, 0]; means 0 and 0)") == 2

    def test_a_ratio_leaves_out_a_bias_of_zero_and_says_so(self) -> None:
        first = (_read_paper()["model"] == "distbase") & (_read_paper()["condition"] == "R-pro")
        zero = _read_paper()["abs_nonzero"].mask(first, 0.0)
        finetuning, _, terms = answer_questions(_sound(abs_changed=zero))
        findings = {finding.name: finding for answer in (finetuning, terms) for finding in answer.findings}
        finding = findings["absolute bias, R / original"]
        assert (finding.n, finding.left_out, finding.null) == (20, 1, 1.0)
        assert "; 1 left out, with a bias of 0)" in finding.sentence
        without = {finding.name: finding for finding in answer_questions(_sound()[~first])[0].findings}
        assert finding.estimate == without[finding.name].estimate
        assert finding.p_adjusted is not None
        assert "; 1 left out, with a bias of 0)" in finetuning.answer
        assert "; 1 left out, with a bias of 0)" in terms.answer
        assert findings["absolute bias, mix / original"].left_out == 0
        table = list_findings([finetuning]).set_index("figure")
        assert table["left_out"].sum() == table.loc[finding.name, "left_out"] == 1

    def test_a_ratio_without_a_pair_is_not_tested(self) -> None:
        removed = _read_paper()["condition"].str.startswith("R")
        answer = answer_questions(_sound(abs_changed=_read_paper()["abs_nonzero"].mask(removed, 0.0)))[0].answer
        assert "no reliable difference in size of the total bias" in answer
        assert "; not tested: absolute bias. Balancing" in answer
        none = answer_questions(_sound()[~removed])[0].answer
        assert none.startswith("Removing the terms from the training reviews: not tested: absolute bias, size")

    def test_a_share_stands_against_what_chance_gives(self) -> None:
        answer = answer_questions(_read_paper())[1]
        finding = next(finding for finding in answer.findings if finding.name.startswith("absolute bias, share"))
        assert 0.04 < finding.null < 0.2
        assert finding.context.startswith(f"{100 * finding.null:.0f} % by chance")
        assert list_findings([answer])["null"].iloc[0] == finding.null

    def test_one_model_of_each_kind_is_not_tested(self) -> None:
        cells = _sound().query("model in ('distbase', 'bertbase')").replace({"model": {"distbase": "scratch"}})
        answer = answer_questions(cells)[1].answer
        assert "Models without pretraining: not tested: absolute bias, total bias." in answer


class TestBatchSizes:
    def test_pairs_and_interval(self) -> None:
        """Measurements of one training count once: three original measurements that move together are one draw."""
        cells = _sound().query("model == 'bertbase'")
        cells = pd.concat([cells.assign(batch_size=size) for size in (8, 16, 32)])
        moves = dict(zip(CONDITIONS, (0.001, 0.002, 0.003, -0.001, 0.0, 0.002, 0.001), strict=True))
        moved = cells["condition"].map(moves).where(cells["batch_size"] == 8, 0.0)
        table = tabulate_batch_sizes(sort_grid(cells.assign(abs_changed=cells["abs_changed"] + moved)))
        assert table.columns[2:5] == ("abs, 32", "abs, 16", "abs, 8")
        assert table.rows[0][2:5] == ("0.0025", "0.0025", "0.0035")
        assert "tot, 16 − 32: 0 [0, 0] (means 0.0018 and 0.0018), p = 1.000 after correction: no rel" in table.note
        assert table.note.count("; trainings: 7.") == 4
        small = cells["batch_size"] == 8
        ratio = np.exp(np.log1p(moved[small] / cells.loc[small, "abs_changed"]).mean())
        assert f"abs, 8 / 32: {ratio:.2f} [" in table.note
        mean = (3 * 0.001 + 0.002 + 0.003 - 0.001 + 0.0 + 0.002 + 0.001) / 9
        assert (
            f"tot, 8 − 32: {mean:.4f} ["
            in tabulate_batch_sizes(sort_grid(cells.assign(tot_changed=cells["tot_changed"] + moved))).note
        )

    def test_many_comparisons_are_corrected(self) -> None:
        """Two batch sizes change both biases with p = .03 each: after correction for four tests, none is clear."""
        cells = _sound().query("model == 'bertbase' and condition != 'original'")
        noise = np.array([-2, -1, 0, 0, 1, 2]) / np.sqrt(10 / 5)  # six trainings, standard deviation 1
        moves = (noise + stats.t.isf(0.015, 5) / np.sqrt(6)) / 10
        moved = [cells.assign(batch_size=32)]
        for size in (8, 16):
            changes = {"abs_changed": cells["abs_changed"] * np.exp(moves), "tot_changed": cells["tot_changed"] + moves}
            moved.append(cells.assign(batch_size=size, **changes))
        note = tabulate_batch_sizes(sort_grid(pd.concat(moved))).note
        assert note.count("p = 0.120 after correction: no reliable difference; trainings: 6.") == 4
        finding = compare_levels(
            pd.concat(moved),
            "abs_changed",
            ("batch_size", 8, 32),
            on="terms",
            name="",
            as_ratio=True,
            cluster="condition",
        )
        assert finding.estimate.p_value == pytest.approx(0.03)
        assert adjust_findings([finding])[0].is_clear  # a single test would be clear

    def test_a_difference_that_is_there_is_found(self) -> None:
        cells = _sound()
        moves = np.linspace(0.9, 1.1, len(cells))
        double = cells.assign(batch_size=8, abs_changed=cells["abs_changed"] * 2 * moves)
        note = tabulate_batch_sizes(sort_grid(pd.concat([cells, double]))).note
        sentence = note[note.index("abs, 8 / 32: 2") : note.index("; trainings: 49.")]
        assert sentence.endswith("p < 0.001 after correction")

    def test_a_bias_of_zero_is_left_out_of_the_ratio(self) -> None:
        cells = _sound().query("model == 'bertbase'")
        zero = cells.assign(batch_size=16, abs_changed=cells["abs_changed"].where(cells["condition"] != "mix-all", 0.0))
        note = tabulate_batch_sizes(sort_grid(pd.concat([cells, zero]))).note
        assert (
            "; 1 left out, with a bias of 0), p = 1.000 after correction: no reliable difference; trainings: 6" in note
        )

    def test_one_size_alone_makes_no_table(self) -> None:
        cells = _sound().head(9)
        names = [table.name for table in make_report(cells, SideExperiments(cells)).tables]
        assert "batch-sizes" not in names
        both = pd.concat([cells, cells.assign(batch_size=16)])
        assert "batch-sizes" in [table.name for table in make_report(cells, SideExperiments(both)).tables]

    def test_a_cell_without_its_partner_is_a_gap(self) -> None:
        cells = pd.concat([_sound().head(2), _sound().head(1).assign(batch_size=16)])
        table = tabulate_batch_sizes(sort_grid(cells))
        assert table.rows[1][3] == "–"
        assert "abs, 16 / 32: 1.00 (means 0.0021 and 0.0021); not tested; trainings: 1." in table.note
        assert "nothing to pair" in tabulate_batch_sizes(sort_grid(_sound())).note


class TestTrainings:
    def test_means_intervals_and_spread(self) -> None:
        """Three trainings of two measurements, by hand: a mean of .003 with a standard error of .001/√3."""
        cell = _sound().head(1)
        values = {1: (0.010, 0.002), 2: (0.020, 0.003), 3: (0.030, 0.004)}
        rows = [cell.assign(seed=seed, abs_changed=a, tot_changed=t) for seed, (a, t) in values.items()]
        other = _sound().iloc[1:2].assign(abs_changed=0.05)
        rows += [other.assign(seed=seed, tot_changed=0.01 * sign) for seed, sign in ((1, 1), (2, -1), (3, 1))]
        trainings = sort_grid(pd.concat(rows))
        table = tabulate_trainings(trainings)
        theirs = stats.ttest_1samp([0.002, 0.003, 0.004], 0)
        low, high = theirs.confidence_interval()
        first = table.numbers.iloc[0]
        assert list(first[["n", "abs", "tot", "to_male"]]) == pytest.approx([3, 0.02, 0.003, 3])
        assert list(first[["tot_low", "tot_high"]]) == pytest.approx([low, high])
        assert first["tot_p"] == pytest.approx(theirs.pvalue)
        assert first["tot_p_adjusted"] == pytest.approx(2 * theirs.pvalue)
        assert table.rows[1][8] == "2 of 3"
        within = np.sqrt((0.001**2 + 0.01**2 * 4 / 3) / 2)
        assert f"tot: {within:.4f} between trainings" in table.note
        assert "agree on the direction in 1 of 2 measurements" in table.note
        means = average_trainings(sort_grid(pd.concat([cell, other])), trainings)
        assert list(means["abs_changed"]) == pytest.approx([0.02, 0.05])
        assert list(means["tot_changed"]) == pytest.approx([0.003, 0.01 / 3])

    def test_a_single_training_has_no_interval(self) -> None:
        rows = [_sound().head(2).assign(seed=1), _sound().head(1).assign(seed=2)]
        table = tabulate_trainings(sort_grid(pd.concat(rows)))
        assert [row[2] for row in table.rows] == ["2", "1"]
        assert table.rows[1][4] == "–"

    def test_answers_are_about_means(self) -> None:
        trainings = pd.concat([_sound(seed=1), _sound(seed=2, abs_changed=2 * _sound()["abs_changed"])])
        report = make_report(_sound(seed=1), SideExperiments(trainings=trainings))
        question = "Does it depend on the term set?"
        once = make_report(_sound(seed=1))
        assert "means 0.0057 and 0.0032" in once.answers[question]
        assert "means 0.0085 and 0.0048" in report.answers[question]
        assert report.tables[0] == once.tables[0]
        assert "Biases are means over up to 2 trainings" in _render(report, [])
        assert "Each classifier was trained once" in _render(once, [])


class TestCrossTerms:
    def test_other_sets_are_set_against_the_same(self) -> None:
        """Trained with another set, a classifier has 1.5 times the absolute bias, and .001 more total bias."""
        trained = _sound().query("kind != 'original'")
        rows = [trained]
        for terms in ("pro", "weat", "all"):
            own = trained[trained["terms"] == terms].set_index(["model", "kind"])
            for other in ("pro", "weat", "all"):
                if other != terms:
                    crossed = own.reset_index()
                    crossed["condition"] = crossed["kind"] + f"-{other}"
                    crossed["abs_changed"] *= 1.5
                    crossed["tot_changed"] += 0.001
                    rows.append(crossed)
        table = tabulate_cross_terms(sort_grid(pd.concat([*rows, _sound().query("kind == 'original'")])))
        assert len(table.rows) == 7 * 6
        assert table.columns[2:5] == ("abs: pro", "abs: weat", "abs: all")
        first = dict(zip(table.columns, table.rows[0], strict=True))
        printed = _read_paper().query("model == 'distbase' and kind == 'R'").set_index("terms")["abs_nonzero"]
        assert (first["Training"], first["abs: pro"]) == ("R-pro", f"{printed['pro']:.4f}")
        assert first["abs: weat"] == number(1.5 * printed["weat"], 4)
        for kind in ("R", "mix"):
            assert f"{kind}, abs, other / same set: 1.50 [1.50, 1.50]" in table.note
            assert f"{kind}, tot, other − same set: 0.0010 [0.0010, 0.0010]" in table.note
        assert table.note.count("; models: 7.") == 4

    def test_a_measurement_that_failed_is_a_gap(self) -> None:
        cells = _sound().query("model == 'bertbase' and condition == 'R-pro'")
        table = tabulate_cross_terms(sort_grid(cells))
        assert table.rows == [("bertbase", "R-pro", "0.0036", "–", "–", "0.0031", "–", "–")]
        assert "There is nothing to pair." in table.note


RECORDED = (GOLD / "jentzsch_turan_2022.csv", GOLD / "jentzsch_turan_2022_accuracy.csv")
UNROUNDED = {("bertbase", "mix-pro"): -3.298750133501035e-05, ("robertabase", "mix-all"): 9.313637732598159e-06}
"""Total biases that the paper prints as -.0000 and .0000, from the authors' notebook."""


def _record(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


class TestRecorded:
    def test_the_papers_files_give_its_tables(self, tmp_path: Path) -> None:
        options = ReviewStudyOptions(protocol="published", recorded=RECORDED)
        run = run_study("imdb-63", options, tmp_path / "study")
        assert run.report is not None
        assert run.finished.outcomes == []
        tables = {table.name: table for table in run.report.tables}
        printed = [[_parse_number(text) for text in line.split()] for line in TABLE_1.strip().splitlines()]
        assert [[_parse_number(text) for text in row[2:]] for row in tables["table-1"].rows] == printed
        ours = make_report(_read_paper())
        for table in ours.tables:  # sizes are not in the files
            if table.name != "settings":
                assert tables[table.name] == table
        assert "settings" not in tables
        assert run.report.headline == ours.headline

    def test_a_run_can_be_tabulated_again(self, tmp_path: Path) -> None:
        """What a study has written gives the same tables, with all figures of `sound`."""
        report = make_report(_sound(p=1e-9, p_adjusted=63e-9, stars="***"), seed=42)
        report.write(STUDY, FinishedSteps([], []), tmp_path / "first")
        options = ReviewStudyOptions(recorded=(tmp_path / "first" / "cells.csv",))
        again = run_study("imdb-63", options, tmp_path / "again").report
        assert again is not None
        assert list(again.tables) == list(report.tables)
        assert again.answers == report.answers

    def test_published_biases_have_four_decimals(self, tmp_path: Path) -> None:
        grid = pd.read_csv(RECORDED[0])
        for (model, condition), value in UNROUNDED.items():
            grid.loc[(grid["model"] == model) & (grid["condition"] == condition), "tot_nonzero"] = value
        read = read_recorded_grid([_record(grid, tmp_path / "biases.csv"), RECORDED[1]], "published")
        rows = {row[:2]: row for row in tabulate_biases(sort_grid(read)).rows}
        assert rows["bertbase", "tot"][4] == "(−0.0000)"
        assert rows["robertabase", "tot"][-1] == "(0.0000)"
        assert "−0.0000" in {cell for row in tabulate_all_figures(sort_grid(read))[0].rows for cell in row}
        sound = tabulate_biases(sort_grid(_sound(tot_changed=UNROUNDED["bertbase", "mix-pro"])))
        assert {row[2] for row in sound.rows if row[1] == "tot"} == {"−3e−05"}

    def test_stars_follow_from_p(self, tmp_path: Path) -> None:
        grid = pd.read_csv(RECORDED[0]).drop(columns="stars").head(3).assign(p=[0.0005 / 64, 0.04 / 64, 0.5])
        path = _record(grid, tmp_path / "biases.csv")
        assert list(read_recorded_grid([path], "published")["stars"]) == ["***", "*", "-"]
        path = _record(grid.assign(abs_changed=0.1, tot_changed=0.1), tmp_path / "sound.csv")
        read = read_recorded_grid([path], "sound")
        assert list(read["p_adjusted"]) == pytest.approx([3 * 0.0005 / 64, 2 * 0.04 / 64, 0.5])

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda grid: grid.drop(columns="model"), "lacks the columns 'model'"),
            (
                lambda grid: grid.drop(columns="tot_nonzero"),
                "lacks the columns 'tot_nonzero' of the protocol published",
            ),
            (lambda grid: grid.drop(columns="stars"), "lacks the columns 'p'"),
            (lambda grid: grid.assign(condition="R-none"), "unknown condition in .* 'R-none'"),
            (lambda grid: grid.assign(terms="most"), "unknown terms in .* 'most'"),
            (lambda grid: grid.assign(protocol="sound"), "holds measurements of the protocol 'sound'"),
            (lambda grid: pd.concat([grid, grid]), "has two rows of distbase, original, pro"),
            (lambda grid: grid.assign(tot_all="high"), "'high' in the column 'tot_all' is not a number"),
        ],
    )
    def test_what_cannot_be_read(self, change: Any, message: str, tmp_path: Path) -> None:
        path = _record(change(pd.read_csv(RECORDED[0])), tmp_path / "biases.csv")
        with pytest.raises(UnmaskError, match=message):
            run_study("imdb-63", ReviewStudyOptions(protocol="published", recorded=(path,)), tmp_path / "study")

    def test_it_goes_with_no_training(self) -> None:
        with pytest.raises(UnmaskError, match="--recorded trains nothing, so --limit has no effect"):
            ReviewStudyOptions(recorded=RECORDED, limit=100)


STUDY = get_study("imdb-63")
FAILED = FinishedSteps([], [Outcome("train-bertbase-R-weat", "", "failed", error="out of memory")])


@cache
def _make_report(protocol: str = "sound") -> StudyReport:
    grid = (_read_paper() if protocol == "published" else _sound()).query(
        "model in ('distbase', 'bertbase', 'albertlarge')"
    )
    grid = grid.query("not (model == 'bertbase' and terms == 'weat')")
    batches = pd.concat([_sound().head(9).assign(batch_size=size) for size in (32, 16)])
    batches = batches if protocol == "sound" else batches.head(0)
    return make_report(grid, SideExperiments(batches), settings={"seed": "42"}, missing=["bertbase mix-weat"])


def _render(report: StudyReport, failures: list[str]) -> str:
    return report.to_html(STUDY, report.list_sections(STUDY, failures))


class TestPage:
    @pytest.mark.parametrize("protocol", ["sound", "published"])
    def test_shows_everything_and_loads_nothing(self, protocol: str) -> None:
        report = _make_report(protocol)
        page = _render(report, FAILED.failures)
        text = seen(page)
        for words in (report.headline, "out of memory", "bertbase mix-weat", *report.answers.values()):
            assert words in text
        for table in report.tables:
            assert table.title in text
            assert all(" ".join(row[1:]) in text for row in table.rows if all(row))
        assert_loads_nothing(page)
        assert_plots_are_described(page, 3)

    def test_text_from_outside_is_escaped(self) -> None:
        cells = _sound().head(18).replace({"model": {"bertbase": EVIL}})
        page = _render(make_report(cells, settings={EVIL: EVIL}), [EVIL])
        assert page.count("<script") == 1  # our own script
        assert_loads_nothing(page)

    def test_headline_counts(self) -> None:
        """The paper's 57 highly significant classifiers and one with a single star."""
        headline = write_headline(sort_grid(_read_paper()))
        assert headline.startswith("In 58 of 63 measurements")
        assert "42 favour male versions, 16 female ones" in headline

    def test_biases_without_a_total_are_not_drawn(self) -> None:
        biases = list_biases(sort_grid(_read_paper()))
        assert tuple(biases[["kind", "terms"]].iloc[0]) == ("original", "pro")
        assert list(biases[["up", "down"]].iloc[0]) == pytest.approx([0.0015, -0.0006])
        nothing = list_biases(sort_grid(_sound(tot_changed=np.nan)))
        assert len(nothing) == 0
        assert draw_biases(nothing, fit_domain([0, 1])) == ""

    def test_files(self, tmp_path: Path) -> None:
        page = _make_report().write(STUDY, FAILED, tmp_path / "study")
        names = sorted(path.relative_to(page.parent).as_posix() for path in page.parent.rglob("*.*"))
        assert {"cells.csv", "report.html", "study.md", "tables/table-1.csv", "tables/batch-sizes.csv"} <= set(names)
        figures = [name for name in names if name.startswith("figures/")]
        assert len(figures) == 3
        text = (page.parent / "study.md").read_text(encoding="utf-8")
        assert all(f"]({name})" in text for name in figures)
        assert "currentColor" not in (page.parent / figures[0]).read_text(encoding="utf-8")
        evidence = pd.read_csv(page.parent / "tables/answers.csv")
        assert len(evidence) == sum(
            len(answer.findings) for answer in answer_questions(_make_report().records["cells.csv"])
        )
        assert evidence["p_adjusted"].between(0, 1).any()
        _make_report().write(STUDY, FAILED, tmp_path / "study")  # overwrites the existing files

    def test_csv_files_are_guarded(self, tmp_path: Path) -> None:
        grid = _sound().head(9).replace({"model": {"distbase": "@mine"}})
        make_report(grid).write(STUDY, FAILED, tmp_path / "study")
        assert "'@mine" in (tmp_path / "study" / "tables" / "table-1.csv").read_text(encoding="utf-8")
        assert "'@mine" in (tmp_path / "study" / "cells.csv").read_text(encoding="utf-8")

    @pytest.mark.browser
    @needs_chromium
    def test_in_a_browser(self, tmp_path: Path) -> None:
        assert_a_browser_shows(_render(_make_report(), []), tmp_path / "study.html")


def test_a_table_is_compared_by_its_text() -> None:
    numbers = pd.DataFrame({"a": [1.25]})
    table = StudyTable("t", "T", ("A", "B"), (("x", "***"),), "note *", numbers)
    assert table == StudyTable("t", "T", ("A", "B"), (("x", "***"),), "note *", numbers * 2)
