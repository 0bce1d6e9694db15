"""The theorem of Sec. 4.2 on measured scores: python experiments.py contamination --theorem

With a share epsilon of anomalies in U and labels c_1, c_2, c_3, the expected score is (c_1 + c_2) / 2 for an
anomaly and (c_2 + c_3 + epsilon (c_1 + c_2)) / 2 for a normal row. They are equal at
epsilon = (c_1 - c_3) / (c_1 + c_2), which is 2/3 for labels 8, 4 and 0.
"""

import pandas as pd

from weakly.judging.tables import write_table
from weakly.loading.splits import TEST_SHARE
from weakly.running.paper_experiments import THEOREM_RATES

ABOUT = """
Mean scores of anomalies and normal rows, measured and as the theorem predicts from the share of anomalies in
U, where they are equal at 2/3; `released` adds anomalies in proportion to all normal rows, so share > rate.
Means over data sets; the file has each one.
"""
SCORES = ["mean_score_anomalies", "mean_score_normals"]


def predicted_scores(share, margin):
    """The expected scores of an anomaly and of a normal row (Theorem 1) for labels 2m, m and 0."""
    c_1, c_2, c_3 = 2 * margin, margin, 0
    return (c_1 + c_2) / 2, (c_2 + c_3 + share * (c_1 + c_2)) / 2


def share_in_unlabeled(contamination, protocol):
    """The share of anomalies in U; except in `independent`, the rate is over all normals, and U has 80%."""
    odds = contamination / (1 - contamination)
    return contamination if protocol == "independent" else odds / (odds + 1 - TEST_SHARE)


def predicted(name):
    """The column of the prediction for a measured score."""
    return name.replace("mean_score", "predicted")


def theorem_table(runs, margin=4.0):
    """Measured and predicted mean scores, a row per rate of each data set that has the high rates."""
    rows = []
    runs = runs[
        (runs["method"] == "prenet")
        & runs["dataset"].isin(runs["dataset"][runs["contamination"].isin(THEOREM_RATES)])
    ]
    for (dataset, rate), part in runs.groupby(["dataset", "contamination"], sort=False):
        share = share_in_unlabeled(rate, part["protocol"].iloc[0])
        row = {
            "dataset": dataset,
            "status": part["data_status"].iloc[0],
            "runs": len(part),
            "contamination": rate,
            "share": share,
        }
        row["auc_pr"] = part["auc_pr"].mean()
        for name, expected in zip(SCORES, predicted_scores(share, margin)):
            row |= {
                name: part[name].mean(),
                f"{name}_std": part[name].std(ddof=0),
                predicted(name): expected,
            }
        rows.append(row)
    return pd.DataFrame(rows).sort_values(["dataset", "contamination"], ignore_index=True)


def report(runs, path, margin):
    """Write theorem.csv and print it."""
    table = theorem_table(runs, margin)
    write_table(table, path)
    columns = [
        "contamination",
        "share",
        "auc_pr",
        *(how(name) for name in SCORES for how in (str, predicted)),
    ]
    means = table[columns].groupby(["contamination", "share"]).mean()
    means.insert(0, "data sets", table.groupby(["contamination", "share"]).size())
    print(f"{ABOUT}\n{means.reset_index().round(3).to_string(index=False)}\n\nWrote {path}")
