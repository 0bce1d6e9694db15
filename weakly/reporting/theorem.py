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
KINDS = ("anomalies", "normals")  # of rows


def predicted_scores(share, margin):
    """The expected scores of an anomaly and of a normal row (Theorem 1) for labels 2m, m and 0."""
    c_1, c_2, c_3 = 2 * margin, margin, 0
    return (c_1 + c_2) / 2, (c_2 + c_3 + share * (c_1 + c_2)) / 2


def share_in_unlabeled(contamination, protocol):
    """The share of anomalies in U; except in `independent`, the rate is over all normals, and U has 80%."""
    odds = contamination / (1 - contamination)
    return contamination if protocol == "independent" else odds / (odds + 1 - TEST_SHARE)


def theorem_table(runs, margin=4.0):
    """Measured and predicted mean scores, a row per rate of each data set that has the high rates."""
    high = runs.loc[runs["contamination"].isin(THEOREM_RATES), "dataset"]
    runs = runs[(runs["method"] == "prenet") & runs["dataset"].isin(high)]
    rows = []
    for (dataset, rate), part in runs.groupby(["dataset", "contamination"]):
        share = share_in_unlabeled(rate, part["protocol"].iloc[0])
        row = {"dataset": dataset, "status": part["data_status"].iloc[0], "runs": len(part)}
        row |= {"contamination": rate, "share": share, "auc_pr": part["auc_pr"].mean()}
        for kind, expected in zip(KINDS, predicted_scores(share, margin)):
            scores = part[f"mean_score_{kind}"]
            row |= {f"mean_score_{kind}": scores.mean(), f"mean_score_{kind}_std": scores.std(ddof=0)}
            row[f"predicted_{kind}"] = expected
        rows.append(row)
    return pd.DataFrame(rows)


def report(runs, path, margin):
    """Write theorem.csv and print it."""
    table = theorem_table(runs, margin)
    write_table(table, path)
    scores = [f"{name}_{kind}" for kind in KINDS for name in ("mean_score", "predicted")]
    by_share = table.groupby(["contamination", "share"])
    means = by_share[["auc_pr", *scores]].mean()
    means.insert(0, "data sets", by_share.size())
    print(f"{ABOUT}\n{means.reset_index().round(3).to_string(index=False)}\n\nWrote {path}")
