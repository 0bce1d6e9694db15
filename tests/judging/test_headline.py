"""The numbers of the first screen: on made-up results by hand, and those of the committed results."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import average_precision_score

from weakly.judging.claims import CLAIMS
from weakly.judging.headline import chance_to_show, headline, own_numbers, scaling_part
from weakly.judging.leads import lead_table
from weakly.judging.printed import (
    REVERSED,
    impossible_cells,
    lowest_average_precision,
    printed_beside_lowest,
    reversed_xgbod,
)
from weakly.judging.sources import AS_PUBLISHED, INDEPENDENT, RELEASED, Scores
from weakly.judging.statistics import published_scores
from weakly.paths import ROOT

SETS = ["donors", "census", "fraud", "celeba", "bac", "w7a", "campaign", "thyroid"]


def made(**columns):
    """What an Assessment would have found: the same scores in all sources."""
    values = pd.DataFrame(columns, index=SETS)
    of_source = Scores(values, None, "exact", "8 exact data sets")
    scores = {("seen", "auc_pr", source): of_source for source in (AS_PUBLISHED, RELEASED, INDEPENDENT)}
    return SimpleNamespace(scores=scores, leads=lead_table(scores))


def test_the_lead_is_over_the_strongest_other_method_with_and_without_the_set_that_moves_it():
    found = made(prenet=[0.5] * 7 + [0.1], devnet=[0.4] * 8, xgbod=[0.52] * 7 + [0.9])
    row = headline(found).loc[RELEASED]
    assert (row["method"], row["sets"], row["moved by"]) == ("xgbod", 8, "thyroid")
    assert row["lead"].mean == pytest.approx((7 * -0.02 - 0.8) / 8)
    assert tuple(row["without"]) == pytest.approx((-0.02, -0.02, -0.02))


def test_most_of_the_gap_to_xgbod_is_the_scaling():
    for protocol, share in (("released", 0.93), ("independent", 0.81)):
        before, after, part = scaling_part(ROOT / "results" / "reference", "xgbod", protocol)
        assert before < after < 0 and part == pytest.approx(share, abs=0.005)
    assert scaling_part("nowhere", "xgbod") is None


def test_how_prenets_own_numbers_are_reproduced():
    """Two within the interval, one beyond it but within 0.01, one close; three of four below print."""
    rows = [(-0.02, 0.03), (0.005, 0.006), (-0.01, 0.002), (-0.011, 0.002)]
    cells = pd.DataFrame(rows, columns=["difference", "interval"]).assign(method="prenet", metric="auc_pr")
    own = own_numbers(SimpleNamespace(exact_cells={"seen": cells}))
    assert own[:5] == (4, 2, 1, 4, 3) and own.reproduced == 3
    assert own.p == 4 / 16  # the positive difference has the lowest rank: sums of 0 and 1, both sides
    assert own_numbers(SimpleNamespace(exact_cells={})) is None


def test_the_chance_to_show_a_lead_is_the_power_of_a_t_test():
    rng = np.random.default_rng(0)
    found = made(prenet=0.5 + rng.normal(0.02, 0.03, 8), devnet=[0.5] * 8)
    gaps = found.scores["seen", "auc_pr", RELEASED].values.pipe(lambda of: of["prenet"] - of["devnet"])
    drawn = rng.normal(gaps.mean(), gaps.std(ddof=1), size=(20_000, 8))
    power = (ttest_1samp(drawn, 0, axis=1).pvalue < 0.05).mean()
    assert chance_to_show(found) == pytest.approx(power, abs=0.01)
    assert np.isnan(chance_to_show(made(prenet=[0.5] * 8, dsad=[0.4] * 8)))


def test_the_lowest_average_precision_is_that_of_the_worst_ranking():
    for share in (0.002, 0.05, 0.131, 0.5):
        labels = np.arange(200_000) < share * 200_000
        worst = average_precision_score(labels, np.arange(200_000))
        assert lowest_average_precision(share) == pytest.approx(worst, abs=1e-4)


def test_xgbods_printed_column_cannot_be_right():
    (cell,) = impossible_cells("seen").itertuples(index=False)
    assert (cell.dataset, cell.method, cell.printed) == ("rec", "xgbod", 0.041)
    assert cell.lowest == pytest.approx(0.068, abs=5e-4)
    counts = impossible_cells("unseen")["method"].value_counts().to_dict()
    assert counts == {"iforest": 28, "pumad": 11, "xgbod": 10, "feawad": 3}
    table = printed_beside_lowest("unseen")  # the other six methods have no such cell
    assert (table.drop(columns=["lowest", *counts]).min(axis=1) > table["lowest"]).all()
    named = [one.caveat for one in CLAIMS if "XGBOD" in one.caveat]
    assert any(".041" in text and ".068" in text for text in named)
    assert any("10 of XGBOD, 11 of PUMAD, 3 of FEAWAD, 28 of iForest" in text for text in named)


def test_four_cells_in_reverse_order_make_xgbods_columns_agree():
    column, of_class = reversed_xgbod()
    printed, classes = published_scores("seen")["xgbod"], ("dos", "rec", "fuz", "bac")
    # where only this class is seen, the unseen rows repeat its cell
    assert all(of_class[name] == [column[name]] for name in classes)
    assert sum(of_class[name] == [printed[name]] for name in classes) == 1
    assert set(printed.index[printed != column]) == set(REVERSED)
    assert printed[SETS].mean() == pytest.approx(0.210, abs=5e-4)
    assert column[SETS].mean() == pytest.approx(0.181, abs=5e-4)
    lowest = printed_beside_lowest("seen")["lowest"]
    assert (column > lowest).all()
