"""Which method to take: means over runs with intervals, and differences between methods run by run.

Differences are taken within each run, where both methods have the same split, so the effect of an easy or
hard split cancels. Runs share most of their rows. The usual t interval ignores that and is too narrow. With
the correction of Nadeau and Bengio (2003), the variance of a mean over n runs is s^2 (1/n + test rows /
training rows). Intervals have a coverage of 95%, those of several differences jointly (Bonferroni).
"""

import numpy as np
from scipy.stats import t

CONFIDENCE, METRIC = 0.95, "AUC-PR"


def interval(values, overlap=0.0, n_intervals=1):
    """(mean, low, high) of values from at least two runs; overlap: test rows / training rows."""
    values = np.asarray(values, float)
    n_runs = len(values)
    quantile = t.ppf(1 - (1 - CONFIDENCE) / (2 * n_intervals), n_runs - 1)
    half = quantile * values.std(ddof=1) * np.sqrt(1 / n_runs + overlap)
    return values.mean(), values.mean() - half, values.mean() + half


def summary_lines(quality, guessing, overlap):
    """The mean of each metric over the runs with half its interval, a line per method.

    quality has a row for each run.
    """
    metrics, n_runs = list(guessing), quality["seed"].nunique()
    rows = [["", *metrics], ["guessing", *(f"{guessing[name]:.4f}" for name in metrics)]]
    for method, runs in quality.groupby("method", sort=False):
        intervals = [interval(runs[name], overlap) for name in metrics]
        rows.append([method, *(f"{mean:.4f} ±{high - mean:.4f}" for mean, _, high in intervals)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [f"Mean over {n_runs} runs, ± half the width of its 95% interval:", *lines]


def advice(quality, overlap):
    """Which method to take by AUC-PR, and how certain that is, as sentences; quality: a row per run."""
    scores = quality.pivot(index="seed", columns="method", values=METRIC)
    n_runs, means = len(scores), scores.mean().sort_values(ascending=False, kind="stable")
    best, *others = means.index
    if n_runs == 1:
        first = f"Highest {METRIC} in this run: {best}. " if others else ""
        apart = "methods apart" if others else "how much the result varies"
        return [f"{first}One run cannot tell {apart}: repeat it with --runs 10."]
    if not others:
        return []
    behind, level = [], []
    for other in others:
        mean, low, high = interval(scores[best] - scores[other], overlap, len(others))
        text = f"{mean:.3f} [{low:.3f}, {high:.3f}]"
        (behind if low > 0 else level).append((other, text))
    over = f"over {n_runs} runs"
    clear = [f"Clearly behind {best}: {', '.join(f'{name} by {text}' for name, text in behind)}."]
    if not level:
        lead = ", ".join(f"{text} over {name}" for name, text in behind)
        return [f"Take {best}: it has the highest {METRIC} {over}, and its lead is clear: {lead}."]
    differ = "; ".join(f"{best} and {name} differ by {text}" for name, text in level)
    sentences = [f"No clear winner: {differ} {over} ({METRIC}, the interval includes 0)."]
    sentences += clear if behind else []
    more = "" if n_runs >= 10 else " More --runs narrow the intervals."
    return [
        *sentences,
        f"{best} has the highest mean; a simpler or faster one of these may do as well.{more}",
    ]
