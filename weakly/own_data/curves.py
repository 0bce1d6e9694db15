"""The curves of an evaluation in one PNG: ROC, precision-recall and, if calibrated, reliability."""

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from weakly.writing import written_whole

BINS, FEWEST_IN_BIN = 10, 10


def draw_curves(runs, path):
    """A colour for each method, a line for each run; calibrated runs have a third plot."""
    from matplotlib.figure import Figure  # here, because fit and score start faster without it

    calibrated = runs[0].calibration is not None
    figure = Figure(figsize=(13.5 if calibrated else 9, 4), layout="constrained")
    roc, pr, *reliability = figure.subplots(1, 3 if calibrated else 2)
    for place, method in enumerate(dict.fromkeys(one.method for one in runs)):
        of_method, colour = [one for one in runs if one.method == method], f"C{place % 10}"
        mean = np.mean([average_precision_score(one.y, one.scores) for one in of_method])
        draw_ranking(roc, pr, of_method, colour, f"{method} (AUC-PR {mean:.3f})")
        if calibrated:
            draw_reliability(reliability[0], of_method, colour)
    base_rate = np.mean([one.y.mean() for one in runs])
    roc.plot([0, 1], [0, 1], "0.4", linestyle=":", label=f"guessing (AUC-PR {base_rate:.3g}: base rate)")
    pr.axhline(base_rate, color="0.4", linestyle=":")
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall", ylim=(0, 1.02))
    roc.legend(loc="lower right", fontsize="small")  # where no curve of a useful method goes
    if calibrated:
        end = max(1e-9, *reliability[0].get_xlim())
        reliability[0].plot([0, end], [0, end], "0.4", linestyle=":")
        labels = {"xlabel": "calibrated probability", "ylabel": "share of anomalies"}
        reliability[0].set(**labels, title="reliability", xlim=(0, end), ylim=(0, None))
    with written_whole(path) as file:
        figure.savefig(file, format="png", dpi=120, metadata={"Software": None})


def draw_ranking(roc, pr, runs, colour, label):
    style = {"color": colour, "alpha": max(0.25, 0.9 / len(runs) ** 0.5), "linewidth": 1}
    for one in runs:
        roc.plot(*roc_curve(one.y, one.scores)[:2], **style)
        precision, recall, _ = precision_recall_curve(one.y, one.scores)
        pr.plot(recall, precision, drawstyle="steps-post", **style)
    roc.plot([], [], color=colour, label=label)


def draw_reliability(axes, runs, colour):
    probabilities = np.concatenate([one.calibration.probabilities_of(one.scores) for one in runs])
    axes.plot(*reliability_points(np.concatenate([one.y for one in runs]), probabilities), "o-", color=colour)


def reliability_points(y, probabilities):
    """Mean probability and share of anomalies in ten bins of equal width; small bins are left out."""
    highest = probabilities.max() or 1.0
    bins = np.minimum((BINS * probabilities / highest).astype(int), BINS - 1)
    points = [
        (probabilities[bins == number].mean(), y[bins == number].mean())
        for number in range(BINS)
        if (bins == number).sum() >= FEWEST_IN_BIN
    ]
    return np.array(points).reshape(-1, 2).T
