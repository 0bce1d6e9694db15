"""Measure methods on rows that they have not seen, with most labels hidden from them.

    for one in hidden_label_runs(table, columns, y, ["prenet", "catboost"], range(10), n_labeled=60):
        print(one.method, one.seed, ranking_quality(one.y, one.scores))

All methods of one seed have the same split, so their results can be compared pair by pair.
"""

import time
from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.loading.splits import TEST_SHARE, Split, contamination_count, split_independent
from weakly.methods import METHODS
from weakly.own_data.models import in_words, new_pipeline, unfit_reported
from weakly.writing import written_whole

CONFIDENCE = 0.95


class Run(NamedTuple):
    """Labels and scores of the test rows for one method and seed, and how long fitting and scoring took."""

    method: str
    seed: int
    y: np.ndarray
    scores: np.ndarray
    seconds: float


def hidden_label_runs(table, columns, y, methods, seeds, *, n_labeled, hidden_share=None, is_test=None,
                      tell=lambda *split: None):  # fmt: skip
    """Fit and score every method on the split of every seed, and yield each Run as it ends.

    table is typed; tell is called with the result of hide_labels for the first seed.
    """
    for seed in seeds:
        unlabeled, anomalies, test, n_left_out = hide_labels(y, n_labeled, seed, hidden_share, is_test)
        if seed == seeds[0]:
            tell(unlabeled, anomalies, test, n_left_out)
        train = np.concatenate([unlabeled, anomalies])
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        for method, scores, seconds in held_out_scores(methods, table, columns, labels, train, test, seed):
            yield Run(method, seed, y[test], scores, seconds)


def held_out_scores(methods, table, columns, labels, train, test, seed):
    """Yield each method, its scores of the rows `test` and its seconds; labels (n,) are those of `train`.

    train and test are positions of rows. Methods of the same kind share their encoding.
    """
    encoded = {}
    for method in methods:
        encoder, detector = new_pipeline(method, columns, len(train), seed).named_steps.values()
        kind = METHODS[method].is_tree
        if kind not in encoded:
            with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
                X = encoder.fit_transform(table.iloc[train][list(columns)])
                encoded[kind] = X, encoder.transform(table.iloc[test][list(columns)])
        X, X_test = encoded[kind]
        start = time.perf_counter()
        with unfit_reported(method):
            detector.fit_rows(X, np.flatnonzero(labels == 0), np.flatnonzero(labels == 1))
            scores = detector.decision_function(X_test)
        yield method, scores, time.perf_counter() - start


# ---------------------------------------------------------------------------- splits


def hide_labels(y, n_labeled, seed, hidden_share=None, is_test=None):
    """Positions of unlabelled and labelled training rows and of test rows; how many anomalies are left out.

    The split is that of protocol `independent`, unless is_test (n,) says which rows are test rows. Anomalies
    with hidden labels stay among the unlabelled rows until they make up hidden_share of them (None: the share
    of anomalies in the test rows). The rest is left out.
    """
    if is_test is None:
        split = split_independent(y, seed, n_labeled, 0)
    else:
        split = labels_hidden(y, is_test, n_labeled, seed)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    wanted = contamination_count(y[split.unlabeled], share)
    n_left_out = max(0, len(hidden) - wanted)
    if n_left_out and is_test is None:
        return split_independent(y, seed, n_labeled, share).unlabeled, split.anomalies, split.test, n_left_out
    if n_left_out:
        hidden = np.random.default_rng([seed, 2]).choice(hidden, wanted, replace=False)
    return np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test, n_left_out


def labels_hidden(y, is_test, n_labeled, seed):
    """The split with these test rows and no hidden anomaly."""
    (n_test, n_found), (n_train, n_known) = ((mask.sum(), y[mask].sum()) for mask in (is_test, ~is_test))
    if not (0 < n_found < n_test and 0 < n_known < n_train):
        raise DataError(
            f"{n_found:,} of the {n_test:,} latest rows are anomalies, and {n_known:,} of the {n_train:,} "
            "earlier ones: both parts must have anomalies and other rows."
        )
    anomalies = np.random.default_rng([seed, 1]).permutation(np.flatnonzero((y == 1) & ~is_test))
    return Split(np.flatnonzero((y == 0) & ~is_test), anomalies[:n_labeled], np.flatnonzero(is_test))


def latest_rows(times, name):
    """Whether each row is among the latest 20%, as nearly as possible: rows with the same time stay together.

    Of all cuts between different times, the one nearest to 20% is taken.
    """
    ranked = np.sort(times)
    cuts = np.flatnonzero(np.diff(ranked) > 0) + 1  # how many rows come before each cut
    if len(cuts) == 0:
        raise DataError(f"Column {name!r} of --time has the same time in all rows, so it cannot split them.")
    cut = cuts[np.abs(cuts - (1 - TEST_SHARE) * len(ranked)).argmin()]
    return times >= ranked[cut]


# ---------------------------------------------------------------------------- figures


def ranking_quality(y, scores):
    """AUC-PR, AUC-ROC and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-PR": average_precision_score(y, scores), "AUC-ROC": roc_auc_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"precision at {k}": ranked[:k].mean() for k in counts}


def interval(values, overlap=0.0, n_intervals=1):
    """(mean, low, high) of values from at least two runs; overlap: test rows / training rows.

    Runs share most of their rows, which the usual t interval ignores: with the correction of Nadeau and
    Bengio (2003), the variance of a mean over n runs is s^2 (1/n + overlap). The coverage is 95%, that of
    several intervals jointly (Bonferroni).
    """
    from scipy.stats import t

    values = np.asarray(values, float)
    n_runs = len(values)
    quantile = t.ppf(1 - (1 - CONFIDENCE) / (2 * n_intervals), n_runs - 1)
    half = quantile * values.std(ddof=1) * np.sqrt(1 / n_runs + overlap)
    return values.mean(), values.mean() - half, values.mean() + half


def draw_curves(runs, path):
    """ROC and precision-recall curves as PNG: a colour for each method, a line for each run."""
    from matplotlib.figure import Figure  # here, because fit starts faster without it

    figure, colours = Figure(figsize=(9, 4), layout="constrained"), {}
    roc, pr = figure.subplots(1, 2)
    for one in runs:
        label = None if one.method in colours else short(one.method)  # of the first line
        colour = colours.setdefault(one.method, f"C{len(colours) % 10}")
        style = {"color": colour, "alpha": 0.6, "linewidth": 1, "label": label}
        roc.plot(*roc_curve(one.y, one.scores)[:2], **style)
        precision, recall, _ = precision_recall_curve(one.y, one.scores)
        pr.plot(recall, precision, drawstyle="steps-post", **style)
    roc.plot([0, 1], [0, 1], "0.4", linestyle=":", label="guessing")
    pr.axhline(np.mean([one.y.mean() for one in runs]), color="0.4", linestyle=":")
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall", ylim=(0, 1.02))
    roc.legend(loc="lower right", fontsize="small")  # where no curve of a useful method goes
    with written_whole(path) as file:
        figure.savefig(file, format="png", dpi=120, metadata={"Software": None})


def short(method):
    """The name of a method in a sentence."""
    return in_words(method).partition(" (")[0]
