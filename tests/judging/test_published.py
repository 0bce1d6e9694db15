"""The transcribed tables of the paper: complete, and in agreement with the paper's own averages, p-values and
ranks.

Where the paper does not agree with itself, the cell is listed here. A new entry in such a list means a slip
in published/.
"""

from itertools import combinations

import pandas as pd
import pytest
from scipy.stats import wilcoxon

from weakly.judging.cells import PUBLISHED
from weakly.methods import METHODS

HALF_UNIT = 0.0005 + 1e-9  # three decimals are printed
SUMMARY_ROWS = ["Average", "P-value"]
UNSW_CLASSES = ["dos", "rec", "fuz", "bac"]
TABLE_METHODS = ["prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen", "iforest"]  # Tables 2 and 3
APPENDIX_METHODS = ["xgbod", "pumad", "feawad"]  # appendix C.1, AUC-PR only
ABLATIONS = ["prenet", "trm", "iprenet", "ldm", "a2h", "npr"]  # Table 4

# {(table, column): (printed, recomputed from the printed values)}
AVERAGES_THAT_DIFFER = {("unseen", "auc_pr_fsnet"): (0.542, 0.5414)}
P_VALUES_THAT_DIFFER = {
    ("unseen", "auc_pr_devnet"): (0.001, 0.0004),
    ("ablation", "auc_pr_npr"): (0.328, 0.3652),
}
RANKS_THAT_DIFFER = {
    ("feawad", "ordinal_seen"): (3.955, 3.5), ("feawad", "percentile_seen"): (0.705, 0.75),
    ("repen", "ordinal_seen"): (6.583, 6.6667), ("repen", "percentile_seen"): (0.439, 0.4306),
    ("fsnet", "ordinal_seen"): (6.625, 6.7083), ("fsnet", "percentile_seen"): (0.432, 0.4236),
    ("xgbod", "ordinal_seen"): (7.417, 7.5), ("xgbod", "percentile_seen"): (0.352, 0.3435),
    ("pumad", "ordinal_seen"): (7.583, 7.6667), ("pumad", "percentile_seen"): (0.337, 0.3287),
    ("iforest", "ordinal_seen"): (9.0, 9.0833), ("iforest", "percentile_seen"): (0.193, 0.1843),
}  # fmt: skip


def read(name):
    return pd.read_csv(PUBLISHED / f"{name}.csv", index_col=0)


def values_of(name):
    """The AUCs of a table: one row per data set, without the rows and columns that are not AUCs."""
    return read(name).drop(index=SUMMARY_ROWS, errors="ignore").filter(like="auc_")


def differences(table, column):
    """PReNet minus another column, without floating-point noise, which would break ties."""
    metric = "auc_roc" if column.startswith("auc_roc") else "auc_pr"
    return (table[f"{metric}_prenet"] - table[column]).round(3)


def printed_and_recomputed(cells, tolerance):
    """The cells {key: (printed, recomputed to four decimals)} that are further apart than the tolerance."""
    apart = {key: pair for key, pair in cells.items() if abs(pair[0] - pair[1]) > tolerance}
    return {key: (printed, round(value, 4)) for key, (printed, value) in apart.items()}


def rank_cells(seen, unseen):
    """{(method, column): (printed, recomputed)} of App. C.2: ties averaged, a missing cell not ranked."""
    printed, cells = read("ranks"), {}
    for setting, table in (("seen", seen), ("unseen", unseen)):
        table = table.filter(like="auc_pr_").rename(columns=lambda column: column.removeprefix("auc_pr_"))
        # percentile = 1 - (rank - 1) / number of methods ranked: 9 on news20, where FEAWAD ran out of memory
        recomputed = {
            "ordinal": table.rank(axis=1, ascending=False).mean(),
            "percentile": table.rank(axis=1, pct=True).mean(),
        }
        for kind, ranks in recomputed.items():
            column = f"{kind}_{setting}"
            cells |= {(name, column): (printed.loc[name, column], rank) for name, rank in ranks.items()}
    return cells


def test_every_table_has_the_papers_rows_and_columns():
    columns = [f"auc_pr_{name}" for name in TABLE_METHODS + APPENDIX_METHODS]
    columns += [f"auc_roc_{name}" for name in TABLE_METHODS]
    assert list(read("seen").columns) == ["size", "D", *columns]
    assert list(read("unseen").columns) == columns
    assert list(read("ablation").columns) == [f"auc_pr_{name}" for name in ABLATIONS]
    assert list(read("seen").index[-2:]) == list(read("unseen").index[-2:]) == SUMMARY_ROWS
    assert list(read("ablation").index) == [*values_of("seen").index, "P-value"]
    assert len(values_of("seen")) == 12
    assert sorted(read("ranks").index) == sorted(TABLE_METHODS + APPENDIX_METHODS)
    # or compare.py would pass over the column
    assert set(TABLE_METHODS + APPENDIX_METHODS + ABLATIONS) <= set(METHODS)
    assert read("ranks")["ordinal_seen"].is_monotonic_increasing


def test_the_unseen_sets_are_all_combinations_of_the_other_classes_each_once():
    sets = [name.split("->") for name in values_of("unseen").index]
    expected = [
        (sorted(seen), unseen)
        for unseen in UNSW_CLASSES
        for size in (1, 2, 3)
        for seen in combinations([name for name in UNSW_CLASSES if name != unseen], size)
    ]
    assert len(expected) == 28
    assert sorted((sorted(seen.split(",")), unseen) for seen, unseen in sets) == sorted(expected)


@pytest.mark.parametrize("name", ["seen", "unseen", "ablation"])
def test_only_the_out_of_memory_cell_is_missing_and_every_auc_is_a_share(name):
    values = values_of(name).stack(future_stack=True)
    assert list(values[values.isna()].index) == ([("news20", "auc_pr_feawad")] if name == "seen" else [])
    assert values.dropna().between(0, 1, inclusive="right").all()


def test_numbers_that_the_paper_prints_twice_agree():
    seen, unseen = values_of("seen"), values_of("unseen")
    pd.testing.assert_series_equal(values_of("ablation")["auc_pr_prenet"], seen["auc_pr_prenet"])
    for name, row in unseen.iterrows():  # iForest does not use labels, so its seen results are repeated
        for column in ("auc_pr_iforest", "auc_roc_iforest"):
            assert row[column] == seen.loc[name.split("->")[1], column]


def test_the_printed_averages_are_those_of_the_printed_values():
    cells = {}
    for name in ("seen", "unseen"):
        printed = read(name).loc["Average"].filter(like="auc_").dropna()
        cells |= {
            (name, column): (printed[column], average)
            for column, average in values_of(name)[printed.index].mean().items()
        }
    # the paper gives none for iForest on unseen classes and for the methods of appendix C.1
    assert len(cells) == 14 + 12
    # every value and the average itself are rounded by at most half a unit, so they are at most one apart
    assert printed_and_recomputed(cells, 2 * HALF_UNIT) == {}
    assert printed_and_recomputed(cells, HALF_UNIT) == AVERAGES_THAT_DIFFER


def test_the_printed_p_values_are_those_of_a_wilcoxon_test_on_the_printed_values():
    cells = {}
    for name in ("seen", "unseen", "ablation"):
        table, printed = values_of(name), read(name).loc["P-value"].filter(like="auc_").dropna()
        cells |= {
            (name, column): (printed[column], wilcoxon(differences(table, column)).pvalue)
            for column in printed.index
        }
    assert len(cells) == 12 + 10 + 5
    # the paper seems to have rounded twice, first to four decimals: 2 / 2**12 = 0.00049 is printed as 0.001
    assert printed_and_recomputed(cells, HALF_UNIT + 0.00005) == P_VALUES_THAT_DIFFER


def test_the_printed_ranks_are_those_of_the_printed_values():
    cells = rank_cells(values_of("seen"), values_of("unseen"))
    assert len(cells) == 4 * len(TABLE_METHODS + APPENDIX_METHODS)
    assert printed_and_recomputed(cells, HALF_UNIT) == RANKS_THAT_DIFFER
