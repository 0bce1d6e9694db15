"""The paper's statistics: values worked out by hand, and tables with holes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon

from weakly.judging import cells, statistics
from weakly.judging.ranks import holm, signed_rank_p
from weakly.judging.statistics import conover, improvements, published_scores, wilcoxon_p_values
from weakly.judging.tables import from_paper_layout
from weakly.paths import ROOT

SETS = ["donors", "census", "celeba", "bac", "w7a", "campaign", "thyroid"]


def values_of(**columns):
    table = pd.DataFrame(columns, dtype=float)
    return table.set_axis(SETS[: len(table)])


def results_table(statuses, **columns):
    return pd.DataFrame({"dataset": SETS[: len(statuses)], "status": statuses} | columns)


# six data sets: PReNet, DevNet, iForest in this order, but on the last DevNet first
ORDERED = values_of(
    prenet=[0.90, 0.80, 0.70, 0.60, 0.50, 0.40],
    devnet=[0.89, 0.78, 0.67, 0.56, 0.45, 0.46],
    iforest=[0.1] * 6,
)


def test_wilcoxon_p_values_by_hand():
    p_values = wilcoxon_p_values(ORDERED)
    # differences .01 .02 .03 .04 .05 -.06: the negative rank sum is 6; 14 of 64 sign patterns have 6 or less
    assert p_values.to_dict() == pytest.approx({"devnet": 2 * 14 / 64, "iforest": 2 / 64})
    # six pairs are needed, and no difference is no evidence
    scores = values_of(prenet=[0.5] * 7, devnet=[0.5] * 7, dsad=[0.1, 0.2, 0.3, 0.4, 0.45, np.nan, np.nan])
    assert wilcoxon_p_values(scores).to_dict() == pytest.approx({"devnet": 1, "dsad": np.nan}, nan_ok=True)
    assert wilcoxon_p_values(scores.drop(columns="prenet")).empty
    # differences that are equal in print are ties
    exact = values_of(prenet=[3, 4, 5, 6, 7, 8, 9], devnet=[2, 3, 4, 5, 9, 9, 9])
    assert wilcoxon_p_values(exact / 10)["devnet"] == wilcoxon_p_values(exact)["devnet"]


@pytest.mark.parametrize("n", [1, 5, 9, 10, 13, 14, 50, 51])
def test_signed_rank_p_is_scipys(n):
    """Up to 13 differences scipy's is exact, up to 50 without ties and zeros; beyond, an approximation."""
    rng = np.random.default_rng(n)
    for _ in range(1 if n in (10, 13) else 8):  # with ties these take scipy up to a second each
        plain, drop = rng.normal(0.5, 1, n), rng.random(n) < 0.2
        ties = rng.integers(-3, 4, n).astype(float)  # and zeros
        for differences in (plain, ties, (0.4 * plain).round(1) + 0.05, np.where(drop, 0, plain)):
            if differences.any():
                expected = wilcoxon(differences.copy(), zero_method="wilcox", method="auto").pvalue
                assert signed_rank_p(differences) == pytest.approx(expected, rel=0, abs=1e-12)
    # ranks 2.5 four times and 5, the negative rank sum is 2.5: of 32 sign patterns, no minus and one of the
    # four alone have that or less
    assert signed_rank_p([1, 1, 1, -1, 2]) == signed_rank_p([0, -1, -1, -1, 1, -2]) == 2 * 5 / 32
    assert signed_rank_p([0, 0]) == 1


def test_holms_correction_by_hand():
    corrected = holm(pd.Series({"a": 0.04, "b": 0.01, "c": np.nan, "d": 0.03}))  # three tests
    assert corrected.tolist() == pytest.approx([0.06, 0.03, np.nan, 0.06], nan_ok=True)  # at least d's
    assert holm(pd.Series({"a": 0.6, "b": 0.5})).tolist() == [1, 1]


def test_ranks_and_improvements_by_hand():
    """Ties are averaged, a missing cell is left out; an improvement is over the sets that both have."""
    ranks = statistics.average_ranks(values_of(prenet=[0.9, 0.5], devnet=[0.9, np.nan], iforest=[0.1, 0.6]))
    assert ranks["ordinal"].to_dict() == {"prenet": (1.5 + 2) / 2, "devnet": 1.5, "iforest": (3 + 1) / 2}
    # percentile: 1 - (rank - 1) / methods ranked, three on the first set and two on the second
    expected = {"prenet": (5 / 6 + 1 / 2) / 2, "devnet": 5 / 6, "iforest": (1 / 3 + 1) / 2}
    assert ranks["percentile"].to_dict() == pytest.approx(expected)
    gains = improvements(values_of(prenet=[0.6, 0.2, 0.9], devnet=[0.3, 0.1, np.nan], dsad=[0.6, 0.4, 1.0]))
    assert gains.to_dict() == pytest.approx({"devnet": 100, "dsad": -15})


def test_conover_by_hand_and_as_scikit_posthocs():
    """posthoc_conover_friedman(values, p_adjust="holm") of scikit-posthocs 0.17.1."""
    # rank sums 17, 13 and 6: |difference| / sqrt(2 * 6 * (84 - 494 / 6) / (5 * 2)) = difference / sqrt(2),
    # 10 degrees of freedom; the largest of three p-values stays, the smallest counts three times
    largest, smallest = (2 * student.sf(gap / np.sqrt(2), 10) for gap in (4, 11))
    assert conover(ORDERED).to_dict() == pytest.approx({"devnet": largest, "iforest": 3 * smallest})
    tied = [[9, 9, 5, 1], [8, 6, 6, 6], [7, 8, 4, 3], [9, 5, 5, 2], [6, 6, 6, 1], [8, 7, 2, 4], [9, 8, 8, 8]]
    tied = pd.DataFrame(tied, columns=["prenet", "devnet", "dsad", "fsnet"])
    expected = {"devnet": 0.1441125832228412, "dsad": 0.0024479745328678942, "fsnet": 7.069980115843211e-05}
    assert conover(tied).to_dict() == pytest.approx(expected, rel=1e-9)
    # without variance, without enough data, and with a hole that must not cost the others their test
    same_order = values_of(prenet=[0.9] * 6, devnet=[0.5] * 6, iforest=[0.1] * 6)
    assert conover(same_order).to_dict() == {"devnet": 0, "iforest": 0}
    assert conover(ORDERED.iloc[:5]).isna().all()
    with_hole = ORDERED.assign(feawad=[0.2, 0.2] + [np.nan] * 4)
    pd.testing.assert_series_equal(conover(with_hole).drop("feawad"), conover(ORDERED))
    assert np.isnan(conover(with_hole)["feawad"])


def test_scores_take_the_weighted_auc_pr_where_there_is_one_and_only_the_wanted_data():
    columns = {"auc_pr_prenet": [0.5, 0.6, 0.99], "auc_pr_weighted_prenet": [np.nan, 0.7, np.nan]}
    columns |= {"auc_roc_prenet": [0.8, 0.9, 0.99], "auc_pr_devnet": [np.nan] * 3}
    table = from_paper_layout(results_table(["exact", "partial", "synthetic"], **columns))
    assert statistics.scores(table).to_dict() == {"prenet": {"donors": 0.5}}
    both = statistics.scores(table, statuses=("exact", "partial"))
    assert both["prenet"].to_dict() == {"donors": 0.5, "census": 0.7}
    assert statistics.scores(table, "auc_roc", ("partial",))["prenet"].to_dict() == {"census": 0.9}
    assert statistics.counted_scores(table)[1] == "exact"
    counted, status = statistics.counted_scores(table[table["status"] != "exact"])
    assert status == "partial" and list(counted.index) == ["census"]


def test_published_scores_are_kept_per_folder_and_cannot_be_spoilt(tmp_path, monkeypatch):
    before, spoilt, printed = published_scores("seen"), published_scores("seen"), cells.printed_table("seen")
    spoilt["prenet"], printed["mean"] = 7, 7
    pd.testing.assert_frame_equal(published_scores("seen"), before)
    assert published_scores("seen", datasets=["thyroid", "demo"])["prenet"].to_dict() == {"thyroid": 0.298}
    pd.DataFrame({"dataset": ["bac"], "auc_pr_prenet": [0.7]}).to_csv(tmp_path / "seen.csv", index=False)
    monkeypatch.setattr(cells, "PUBLISHED", tmp_path)
    assert published_scores("seen").to_dict() == {"prenet": {"bac": 0.7}}


def test_the_tables_put_published_and_ours_side_by_side(tmp_path):
    prenet, devnet = np.linspace(0.3, 0.9, 7), np.linspace(0.2, 0.8, 7)
    table = results_table(["exact"] * 7, auc_pr_prenet=prenet, auc_pr_devnet=devnet)
    table.to_csv(tmp_path / "seen.csv", index=False)
    table.assign(auc_pr_devnet=table["auc_pr_prenet"]).to_csv(tmp_path / "seen_independent.csv", index=False)
    seen = statistics.statistics_tables(tmp_path)["Seen anomalies (Table 2): AUC-PR"]
    own = ["released, 7 exact sets", "independent, 7 exact sets"]
    groups = ["printed", "published, all 12 sets", "published, our 7 sets", *own]
    assert list(dict.fromkeys(seen.columns.get_level_values(0))) == groups
    assert seen.loc["DevNet", (own[0], "improvement %")] == 20
    assert seen.loc["DevNet", (own[1], "p-value")] == 1
    assert seen.loc["FEAWAD", (groups[1], "sets")] == 11
    assert seen.loc["PReNet", (groups[2], "ordinal rank")] == 1  # of the two methods that we have
    printed = {"average": 0.562, "improvement %": 3.7, "p-value": 0.005, "ordinal rank": 2.667}
    assert seen.loc["DevNet", "printed"][list(printed)].to_dict() == printed
    titles = list(statistics.statistics_tables(ROOT / "results" / "reference"))
    first, second = (title for title in titles if "nseen" in title and "AUC-ROC" not in title)
    assert first.startswith("One set per unseen class") and "p-values are too small" in second
