"""How well a detector does on a table whose labels are all known, with most of them hidden from it."""

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from common.writing import written_whole
from loading.splits import contamination_count, split_independent
from own_data.event_model import EventModel
from own_data.scoring import score_rows

HIDDEN_SHARE = 0.02  # of the unlabelled rows, as in the paper's experiments (Sec. 5.1)


def hide_labels(y, n_labeled, seed):
    """Positions of unlabelled and labelled training rows and of test rows; how many anomalies are left out.

    The split is that of protocol `independent`. Of the anomalies whose label is hidden, as many stay among
    the unlabelled rows as make up 2% of them, or all if they are fewer.
    """
    split = split_independent(y, seed, n_labeled, contamination=0.0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    wanted = contamination_count(y[split.unlabeled], HIDDEN_SHARE)
    if len(hidden) > wanted:
        split = split_independent(y, seed, n_labeled, HIDDEN_SHARE)
        return split.unlabeled, split.anomalies, split.test, len(hidden) - wanted
    return np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test, 0


def hidden_label_tests(texts, y, kinds, method, n_labeled, seeds, decimal="."):
    """[(y, scores) of the test rows], fitted and scored for each seed; says how many rows are what."""
    tests = []
    for seed in seeds:
        unlabeled, anomalies, test, n_left_out = hide_labels(y, n_labeled, seed)
        if not tests:
            print(
                f"Held out: {len(test):,} rows, {y[test].sum():,} of them anomalies. "
                f"For training: {len(anomalies):,} labelled anomalies,\n"
                f"{len(unlabeled):,} unlabelled rows, "
                f"{y[unlabeled].sum():,} of them anomalies with hidden labels. "
                f"Left out: the other {n_left_out:,} anomalies."
            )
        rows = texts.iloc[np.concatenate([unlabeled, anomalies])]
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        model = EventModel.fit(method, rows, kinds, labels, seed, decimal)
        tests.append((y[test], score_rows(model, texts.iloc[test])["score"].to_numpy()))
    return tests


def ranking_quality(y, scores):
    """AUC-ROC, AUC-PR and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-ROC": roc_auc_score(y, scores), "AUC-PR": average_precision_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"precision at {k}": ranked[:k].mean() for k in counts}


def quality_table(tests, seeds):
    """A row for each seed and, of several, their mean and standard deviation."""
    table = pd.DataFrame([ranking_quality(*test) for test in tests], index=seeds)
    if len(tests) > 1:
        summary = table.agg(["mean", lambda column: column.std(ddof=0)]).set_axis(["mean", "std"])
        table = pd.concat([table, summary])
    return table.rename_axis("seed").reset_index()


def draw_curves(tests, path):
    """ROC and precision-recall curves of all runs, as PNG."""
    from matplotlib.figure import Figure  # here, because fit and score start faster without it

    figure = Figure(figsize=(9, 4), layout="constrained")
    roc, pr = figure.subplots(1, 2)
    for y, scores in tests:
        roc.plot(*roc_curve(y, scores)[:2], "C0", alpha=0.8, linewidth=1)
        precision, recall, _ = precision_recall_curve(y, scores)
        pr.plot(recall, precision, "C0", alpha=0.8, linewidth=1, drawstyle="steps-post")
    roc.plot([0, 1], [0, 1], "0.6", linestyle=":")
    pr.axhline(tests[0][0].mean(), color="0.6", linestyle=":")
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall", ylim=(0, 1.02))
    with written_whole(path) as file:
        figure.savefig(file, format="png", dpi=120, metadata={"Software": None})
