"""One HTML page about a scored table: scores, highest rows and reasons, columns, drift, with labels quality.

page = report_page(model, overview, table, contamination=0.01)

report_page.html is its template and holds its words. Cells and names are not trusted: they are shortened,
made printable and escaped there. The size of the page does not grow with the table.
"""

from pathlib import Path

import jinja2
import numpy as np
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from weakly.errors import printable
from weakly.numbers import count, number
from weakly.own_data.drift import ABOVE, BELOW, FEWEST_ROWS, N_BINS, OTHER_LEVELS
from weakly.own_data.info_command import column_in_words, counted, described, facts, percent, value_in_words
from weakly.own_data.report_command import KEPT
from weakly.reporting.elements import page_script, policy
from weakly.reporting.pictures import COLOURS, PAGE_STYLE, TEXT, as_svg, figure, variables

TEMPLATE = Path(__file__).with_name("report_page.html")
START = "cueScrolling();\nopenTarget();\n"  # runs after the code of all pages
STYLE = f"""
:root {{ {variables()} }}
.picture [fill="var(--text)"] {{ fill: var(--text); }}
.anomalies {{ --c: var(--anomalies); }} .normals {{ --c: var(--normals); }}
.together {{ white-space: nowrap; }} .bold > * {{ font-weight: 700; }}
.facts td {{ overflow-wrap: anywhere; }} .columns tbody th {{ white-space: normal; }}
.columns td:nth-child(4) {{ min-width: 12rem; }} .columns td:nth-child(5) {{ min-width: 8rem; }}
.wrapped thead th:not([colspan]) span {{ white-space: nowrap; max-width: none; }}
"""
NUMBERS = {"count": count, "number": number, "percent": percent}  # formats of a table's columns
RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # shares of the training rows, one threshold for each
MOST_COLUMNS, MOST_CHANGES = 200, 8  # in the table, as pictures
LETTERS, LONG = 60, 160  # of a cell
BINS = 60
LOWEST_SHARE = 1e-5  # at the bottom of the logarithmic axis
TRIMMED = 0.0005  # share of the rows at either end of the scores that the outermost bins hold
SHOWN_LEVELS, LEVEL_LETTERS, ROW = 8, 14, 18  # of a category; pixels from one to the next
LIGHT = {name: look.light for name, look in COLOURS.items()}
NOW, BEFORE, DOT, LINE, CARD = map(LIGHT.get, ("released", "published", "redrawn", "strong-line", "card"))
LOOKS = {"these rows": NOW, "training rows": BEFORE, **LIGHT}
LEGEND = {"loc": "outside upper left", "ncols": 2}


def short(text, letters=LETTERS):
    """A text from a file, shortened and printable."""
    text = printable(str(text))
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def report_page(model, found, table, contamination):
    """The page of an Overview."""
    about, comparison, threshold = model.about, found.comparison, model.threshold(contamination)
    trained_on = about["origin"].get("table") or {}
    style, script = PAGE_STYLE + STYLE, page_script("", START)
    has_labels = found.y is not None
    head, rows = best(found)
    content = {
        "policy": policy(style, script),
        "style": Markup(style),  # noqa: S704 - our own files
        "script": Markup(script),  # noqa: S704
        "about": about,
        "found": found,
        "contamination": contamination,
        "threshold": threshold,
        "table_name": table.path.name,
        "n_above": int((found.scores > threshold).sum()),
        "confusion": found.confusion(threshold) if has_labels else None,
        "is_same": trained_on.get("sha256") == table.fingerprint()["sha256"],
        "drift": comparison.in_words(),
        "changed": list(comparison.changed().index),
        "thresholds": list(thresholds(model, found, contamination)),
        "best_head": head,
        "best": rows,
        "columns": list(columns(about, comparison)),
        "facts": facts(about),
        "score_pictures": score_pictures(about, found, threshold),
        "quality_pictures": quality_pictures(found, threshold) if has_labels else (),
        "change_pictures": list(change_pictures(comparison)),
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {**NUMBERS, "counted": counted, "short": short}
    environment.globals |= {"NUMBERS": NUMBERS, "BINS": BINS, "FEWEST_ROWS": FEWEST_ROWS, "LONG": LONG}
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(content)


# ---------------------------------------------------------------------------- rows of tables


def thresholds(model, found, contamination):
    """A row per threshold: what is flagged and, if labels are known, how much of it is right."""
    for rate in sorted({*RATES, contamination}):
        threshold = model.threshold(rate)
        n_above = int((found.scores > threshold).sum())
        row = [rate, threshold, n_above, n_above / len(found.scores)]
        if found.y is not None:
            hits, _, missed, _ = confusion = found.confusion(threshold)
            row += [*confusion, hits / n_above if n_above else np.nan, hits / (hits + missed)]
        yield row


def best(found):
    """The highest rows, with the columns that raised their scores: (name, format) per column, rows."""
    kept = [name for name in found.best if name.startswith(KEPT)]
    reasons = [name for name in found.best if name.startswith("why_") and name != "why_rest"]
    shown = found.best[["row", "score", *kept, *reasons]].astype(object)
    names = [("Row", "count"), ("Score", "number"), *((name.removeprefix(KEPT), LETTERS) for name in kept)]
    names += [(f"Reason {place}", LONG) for place in range(1, len(reasons) + 1)]
    if found.y is not None:
        shown.insert(2, "label", found.y[found.best.index])
        names.insert(2, ("Label", "label"))
    return names, shown.to_numpy().tolist()


def columns(about, comparison):
    """What the columns hold, in training and now: a row for each."""
    known = described(about)["columns"]
    for name, change in ordered(comparison.changes())[:MOST_COLUMNS].iterrows():
        texts = known[name]["kind"], column_in_words(known[name]), values_now(name, comparison)
        yield [name, change["distance"], *texts, *change[["beyond", "missing before", "missing"]]]


def ordered(changes):
    return changes.sort_values("distance", ascending=False, kind="stable")


def values_now(name, comparison):
    """What a column holds now: a range, or the most frequent value; nothing if all cells are missing."""
    if name in comparison.ranges:
        return " to ".join(value_in_words(value, comparison.kinds[name]) for value in comparison.ranges[name])
    shares = comparison.shares(name)["now"]
    if not shares.any():
        return ""
    return f"mostly {level_name(shares.idxmax(), comparison.kinds[name])}, {percent(shares.max())}"


def level_name(level, kind):
    """A level as a short text."""
    if level == OTHER_LEVELS:
        return "(rare or new)"
    return {"0": "false", "1": "true"}[level] if kind == "truth" else short(level, LEVEL_LETTERS)


# ---------------------------------------------------------------------------- pictures: (title, SVG)


def finished(picture, title, label=""):
    return short(title), Markup(as_svg(picture, printable(label or title)))  # noqa: S704 - as_svg escapes


def score_pictures(about, found, threshold):
    """The distribution of the scores, here and in training, and by label."""
    samples = {"these rows": found.scores, "training rows": np.asarray(about["quantiles"])}
    yield distribution("Scores here and in training", samples, threshold)
    if found.y is not None:
        samples = {"normals": found.scores[found.y == 0], "anomalies": found.scores[found.y == 1]}
        yield distribution("Scores by label", samples, threshold)


def distribution(title, samples, threshold):
    """The shares of samples of scores in bins, and the threshold; far outliers are in the outermost bins."""
    ends = [
        threshold,
        *(np.quantile(scores, end) for scores in samples.values() for end in (TRIMMED, 1 - TRIMMED)),
    ]
    low, high = min(ends), max(ends)
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    shares = {
        name: np.histogram(np.clip(scores, low, edges[-1]), edges)[0] / len(scores)
        for name, scores in samples.items()
    }
    rarest = min(heights[heights > 0].min() for heights in shares.values())
    lowest = max(10.0 ** np.floor(np.log10(rarest)), LOWEST_SHARE)
    picture, axes = figure(330, 220)
    draw_steps(axes, edges, shares, lowest)
    axes.set_yscale("log")
    powers = 10.0 ** np.arange(round(np.log10(lowest)), 1)
    axes.set_yticks(powers, [f"{100 * power:g}%" for power in powers])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set(xlabel="score", ylabel="share of its rows", xlim=(low, edges[-1]), ylim=(lowest, 1))
    axes.axvline(threshold, color=TEXT, linestyle=":")
    side, step = ("left", 4) if threshold < edges[BINS // 2] else ("right", -4)
    place = {"xytext": (step, -4), "textcoords": "offset points", "ha": side, "va": "top"}
    axes.annotate("threshold", (threshold, 1), weight="bold", **place)
    picture.legend(**LEGEND)
    return finished(picture, title, f"{title}: {' and '.join(samples)}, threshold {number(threshold)}")


def draw_steps(axes, edges, shares, lowest=0.0):
    """{name: heights of bins} as filled steps; training rows are a dashed line."""
    for name, heights in shares.items():
        heights, colour = np.maximum(heights, lowest), LOOKS[name]
        if name != "training rows":
            axes.stairs(heights, edges, baseline=lowest, fill=True, color=colour, alpha=0.18, linewidth=0)
        line = "--" if name == "training rows" else "-"
        axes.stairs(heights, edges, baseline=None, color=colour, linestyle=line, label=name)


def quality_pictures(found, threshold):
    """Precision against recall and the ROC curve, with the place of the threshold."""
    hits, alarms, missed, others = found.confusion(threshold)
    precision, recall, _ = precision_recall_curve(found.y, found.scores, drop_intermediate=True)
    false_rate, true_rate, _ = roc_curve(found.y, found.scores)
    area = number(average_precision_score(found.y, found.scores))
    share, dot = found.y.mean(), (hits / (hits + missed), hits / (hits + alarms) if hits + alarms else np.nan)
    # the last point, recall 0 and precision 1, is a convention and belongs to no threshold
    yield curve(f"Precision against recall: AUC-PR {area}", recall[:-1], precision[:-1], (share, share), dot,
                xlabel="recall", ylabel="precision")  # fmt: skip
    area = number(roc_auc_score(found.y, found.scores))
    dot = alarms / (alarms + others), hits / (hits + missed)
    yield curve(f"ROC curve: AUC-ROC {area}", false_rate, true_rate, (0, 1), dot,
                xlabel="false positive rate", ylabel="recall")  # fmt: skip


def curve(title, xs, ys, random, dot, **names):
    """A curve with a dashed line for a random order and a dot."""
    picture, axes = figure(330, 220)
    axes.plot((0, 1), random, color=LINE, linestyle="--", linewidth=1)
    axes.plot(xs, ys, color=NOW, linewidth=2)
    axes.plot(*dot, "o", color=DOT, clip_on=False)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), **names)
    return finished(picture, title)


def change_pictures(comparison):
    """The columns that changed most, by the shares of their bins or of their levels."""
    changes = ordered(comparison.changes()).dropna()  # a date has no distance
    for name in changes.index[:MOST_CHANGES]:
        shares, kind = comparison.shares(name), comparison.kinds[name]
        if kind == "number":
            picture = number_change(shares, comparison.summary[name].get("quantiles"))
        else:
            picture = level_changes(shares, kind)
        picture.legend(**LEGEND)
        yield finished(picture, name, f"{name}: shares of these rows and of the training rows")


def number_change(shares, quantiles):
    """The share of rows in each twentieth of the training rows, and beyond their range."""
    picture, axes = figure(270, 170)
    edges = np.arange(BELOW, ABOVE + 2)
    shares = shares.reindex(edges[:-1], fill_value=0.0)
    draw_steps(axes, edges, {"these rows": shares["now"], "training rows": shares["before"]})
    if quantiles:
        places = 0, N_BINS // 2, N_BINS
        axes.set_xticks(places, [value_in_words(float(f"{quantiles[place]:.4g}")) for place in places])
    axes.set(xlim=(BELOW, ABOVE + 1), ylim=(0, 1.05 * max(shares.to_numpy().max(), 0.1)))
    in_percent(axes.yaxis)
    return picture


def level_changes(shares, kind):
    """A row per level, those that changed most first: a ring for training, a dot for now."""
    change = (shares["now"] - shares["before"]).abs()
    shares = shares.loc[change.sort_values(ascending=False, kind="stable").index[:SHOWN_LEVELS]]
    picture, axes = figure(270, ROW * len(shares) + 60)
    places = np.arange(len(shares))
    axes.hlines(places, shares.min(axis=1), shares.max(axis=1), color=LINE)
    axes.plot(shares["now"], places, "o", color=NOW, label="these rows")
    axes.plot(shares["before"], places, "o", color=BEFORE, markerfacecolor=CARD, label="training rows")
    axes.set_yticks(places, [level_name(level, kind) for level in shares.index], color=TEXT)
    axes.set(ylim=(len(shares) - 0.5, -0.5), xlim=(0, 1.05 * max(shares.to_numpy().max(), 0.01)))
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")
    in_percent(axes.xaxis)
    return picture


def in_percent(axis):
    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(PercentFormatter(1, decimals=0))
