"""The plots of the own-data report: scores, precision and recall, columns that changed."""

from html import escape

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from weakly.errors import printable
from weakly.numbers import number
from weakly.own_data.drift import OTHER_LEVELS
from weakly.reporting.elements import tag
from weakly.reporting.svg import Panel, Scale, drawing, path, rounded, text, tick_text

BINS = 60
MOST_POINTS = 300  # of a curve
LOWEST_SHARE = 1e-5  # at the bottom of the logarithmic axis
TRIMMED = 0.0005  # share of the rows at either end of the scores that the outermost bins hold
SHOWN_LEVELS, LEVEL_LETTERS, ROW = 8, 14, 18  # of a category; pixels from one to the next


def figure(title, picture):
    """A plot under its title."""
    return tag("figure", tag("figcaption", escape(title)) + picture)


def score_bins(samples, *inside):
    """The edges of bins for some samples of scores; far outliers fall into the outermost bins."""
    low = min([np.quantile(sample, TRIMMED) for sample in samples] + list(inside))
    high = max([np.quantile(sample, 1 - TRIMMED) for sample in samples] + list(inside))
    return np.linspace(low, high if high > low else low + 1, BINS + 1)


def binned_shares(sample, edges):
    """The share of a sample in each bin."""
    counts, _ = np.histogram(np.clip(sample, edges[0], edges[-1]), edges)
    return counts / len(sample)


def steps(edges, heights):
    """Bins as the corners of a line: x and y."""
    return np.repeat(edges, 2)[1:-1], np.repeat(heights, 2)


def threshold_line(panel, threshold):
    """The threshold in a panel of scores, with its name on the side that has room."""
    panel.vertical(threshold, "limit")
    x = panel.x(threshold)
    step, anchor = (4, "start") if x < (panel.x.start + panel.x.end) / 2 else (-4, "end")
    panel.add(text("threshold", x + step, 17, anchor, class_="strong"))


def share_panel(edges, shares, y_name):
    """An empty panel of bins with a logarithmic axis of shares, and the share at its bottom."""
    rarest = min(one[one > 0].min() for one in shares)
    lowest = max(10.0 ** np.floor(np.log10(rarest)), LOWEST_SHARE)
    percent = {10.0**power: f"{10.0 ** (power + 2):g}" for power in range(round(np.log10(lowest)), 1)}
    named = {"x_name": "score", "y_name": y_name}
    return Panel(edges[[0, -1]], (lowest, 1.0), y_ticks=percent, log_y=True, **named), lowest


def scores_plot(scores, training_quantiles, threshold):
    """The scores of these rows and of the training rows, on a logarithmic axis."""
    edges = score_bins([scores, training_quantiles], threshold)
    now, before = binned_shares(scores, edges), binned_shares(training_quantiles, edges)
    panel, lowest = share_panel(edges, (now, before), "% of rows")
    xs, ys = steps(edges, np.maximum(now, lowest))
    panel.band(xs, np.full(len(xs), lowest), ys, "released")
    panel.line(xs, ys, "released")
    xs, ys = steps(edges, np.maximum(before, lowest))
    panel.line(xs, ys, "published dashed")
    threshold_line(panel, threshold)
    return panel.svg(f"Distribution of the scores, here and in training; threshold {number(threshold)}")


def classes_plot(scores, y, threshold):
    """The scores of anomalies and of normal rows, each as shares of its own rows."""
    samples = {"normals": scores[y == 0], "anomalies": scores[y == 1]}
    edges = score_bins(list(samples.values()), threshold)
    shares = {kind: binned_shares(sample, edges) for kind, sample in samples.items()}
    panel, lowest = share_panel(edges, list(shares.values()), "% of its rows")
    for kind, heights in shares.items():
        xs, ys = steps(edges, np.maximum(heights, lowest))
        panel.band(xs, np.full(len(xs), lowest), ys, f"k-{kind}")
        panel.line(xs, ys, f"k-{kind} thin")
    threshold_line(panel, threshold)
    return panel.svg("Scores of anomalies and of normal rows")


def thinned(xs, ys):
    """At most MOST_POINTS of a curve, evenly along x, with both ends."""
    if len(xs) <= MOST_POINTS:
        return xs, ys
    order = np.argsort(xs, kind="stable")
    wanted = np.linspace(xs.min(), xs.max(), MOST_POINTS)
    chosen = np.unique(order[np.clip(np.searchsorted(xs[order], wanted), 0, len(xs) - 1)])
    return xs[chosen], ys[chosen]


def precision_recall_plot(scores, y, confusion):
    """Precision against recall, the share of anomalies, and the position of the threshold."""
    precision, recall, _ = precision_recall_curve(y, scores, drop_intermediate=True)
    area = average_precision_score(y, scores)
    panel = Panel((0, 1), (0, 1), x_name="recall", y_name="precision")
    panel.line((0, 1), (y.mean(), y.mean()), "diagonal-line")
    # the last point, recall 0 and precision 1, is a convention and belongs to no threshold
    xs, ys = thinned(recall[:-1], precision[:-1])
    panel.line(xs, ys, "released main")
    hits, alarms, missed, _ = confusion
    if hits + alarms:
        dot(panel, hits / (hits + missed), hits / (hits + alarms))
    return panel.svg(f"Precision against recall, AUC-PR {number(area)}"), area


def roc_plot(scores, y, confusion):
    """True against false positive rate, and the position of the threshold."""
    false_rate, true_rate, _ = roc_curve(y, scores)
    area = roc_auc_score(y, scores)
    panel = Panel((0, 1), (0, 1), x_name="false positive rate", y_name="recall")
    panel.line((0, 1), (0, 1), "diagonal-line")
    xs, ys = thinned(false_rate, true_rate)
    panel.line(xs, ys, "released main")
    hits, alarms, missed, others = confusion
    dot(panel, alarms / (alarms + others), hits / (hits + missed))
    return panel.svg(f"ROC curve, AUC-ROC {number(area)}"), area


def dot(panel, x, y):
    panel.add(tag("circle", cx=rounded(panel.x(x)), cy=rounded(panel.y(y)), r=4.5, class_="dot redrawn"))


# ---------------------------------------------------------------------------- columns that changed


def change_plot(name, kind, shares, quantiles):
    """One column in training and now, by the shares of its bins or of its levels."""
    before, now = shares
    if kind == "number":
        return number_change(name, before, now, quantiles)
    return level_changes(name, before, now, kind)


def number_change(name, before, now, quantiles):
    """The share of rows in each twentieth of the training rows, and beyond their range."""
    edges = np.arange(-1, len(now))
    middle = len(quantiles) // 2
    ticks = {0: quantiles[0], middle: quantiles[middle], len(quantiles) - 1: quantiles[-1]}
    highest = max(now.max(), before.max(), 0.1)
    panel = Panel(
        (-1, len(now) - 1),
        (0, 1.05 * highest),
        x_ticks={place: tick_text(float(f"{value:.4g}")) for place, value in ticks.items()},
        y_ticks={0: "0%", highest: f"{highest:.0%}"},
    )
    xs, ys = steps(edges, now)
    panel.band(xs, 0 * ys, ys, "released")
    panel.line(xs, ys, "released")
    xs, ys = steps(edges, before)
    panel.line(xs, ys, "published dashed")
    return panel.svg(printable(f"{name}: shares of the rows in training and now"))


def level_name(level, kind):
    """A level as a short text."""
    if level == OTHER_LEVELS:
        return "(rare or new)"
    text = {"0": "false", "1": "true"}[level] if kind == "boolean" else printable(level)
    return text if len(text) <= LEVEL_LETTERS else f"{text[: LEVEL_LETTERS - 1]}…"


def level_changes(name, before, now, kind):
    """A row per level, those that changed most first: a ring for training, a dot for now."""
    both = now.to_frame("now").join(before.to_frame("before"), how="outer").fillna(0.0)
    both = both.loc[(both["now"] - both["before"]).abs().sort_values(ascending=False, kind="stable").index]
    both = both.head(SHOWN_LEVELS)
    left, right, width, height = 104, 196, 240, ROW * len(both) + 20
    x = Scale((0, max(both.to_numpy().max(), 0.01)), (left, right))
    drawn = [path(f"M{left} 2V{height - 14}M{right} 2V{height - 14}", "grid")]
    drawn += [text("0%", left, height - 2, "middle")]
    drawn += [text(f"{both.to_numpy().max():.0%}", right, height - 2, "middle")]
    for place, (level, row) in enumerate(both.iterrows()):
        at = ROW * place + 11
        name_of_level = escape(level_name(level, kind))
        start, end = rounded(x(row["before"])), rounded(x(row["now"]))
        drawn.append(text(name_of_level, left - 8, at + 4, "end", class_="name"))
        drawn.append(path(f"M{start} {at}H{end}", "bone near"))
        drawn.append(tag("circle", cx=start, cy=at, r=4, class_="dot published"))
        drawn.append(tag("circle", cx=end, cy=at, r=4, class_="dot released"))
        drawn.append(text(f"{row['now']:.1%}", width, at + 4, "end"))
    return drawing("".join(drawn), printable(f"{name}: shares of the levels"), width, height)
