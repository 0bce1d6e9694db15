"""The page beyond the paper: what one would use today, and how PReNet's cost grows."""

import pandas as pd

from weakly.beyond import today
from weakly.beyond.today_text import labels_panels
from weakly.methods import METHODS
from weakly.reporting.sections import Figure
from weakly.reporting.tables import frame_table


def figures_beyond(found):
    """The last figures of the page."""
    return [today_figure(found), growth_figure(found)]


def today_figure(found):
    """What one would use today: AUC-PR against labels."""
    about = "figure-today", "Beyond the paper: what would one use today?", "python experiments.py today"
    every_run = today.today_runs(found.folder)
    if every_run.empty:
        return Figure(*about)
    runs = today.compared(every_run)
    text = (
        "AUC-PR with new splits and labels in every draw and default settings, but for the tolerance of "
        "Logistic, conv. and the start of XGBoost, 0.5. PReNet's band is its 95% interval over draws. Draws: "
        f"{today.draws_in_words(every_run)}. {best_in_words(runs)}"
    )
    key = [(name, METHODS[name].column) for name in today.IN_FOCUS if name in set(runs["method"])]
    return Figure(
        *about,
        files=["today.csv", "today_runs.csv", "today.md"],
        panels=labels_panels(runs),
        text=text,
        key=[*key, (None, "thin grey: the other methods")],
    )


def best_in_words(runs):
    """The best average per budget, in words, among the methods that can be compared."""
    texts = []
    for n_labeled, averages in today.average_auc_pr(runs).items():
        if "prenet" in averages.dropna():
            best = averages.idxmax()
            prenet = f" (PReNet {averages['prenet']:.3f})" if best != "prenet" else ""
            texts.append(f"{n_labeled}: {today.display_name(best)} {averages[best]:.3f}{prenet}")
    return f"Best average by number of labels: {'; '.join(texts)}." if texts else ""


def growth_figure(found):
    """Time and memory of PReNet with more rows, features and labelled anomalies."""
    about = "figure-growth", "Beyond the paper: how PReNet's cost grows", "python -m tools.bench growth"
    if not (found.folder / "growth.csv").exists():
        return Figure(*about)
    table = pd.read_csv(found.folder / "growth.csv")
    sizes = ["rows", "features", "labeled"]
    table[sizes] = table[sizes].map("{:,}".format)
    table["sparse"] = table["sparse"].map({True: "sparse", False: "dense"})
    titles = {"features": "features", "labeled": "labelled anomalies", "sparse": "kind"}
    titles |= {"fit_seconds": "fit, s", "score_seconds": "scoring all rows, s"}
    titles |= {"fit_mb": "fit, MB", "score_mb": "scoring, MB"}
    shown = table.set_index("rows")[list(titles)].rename(columns=titles)
    text = "One thread; the memory is the peak in addition to the data."
    table = frame_table("Time and memory of PReNet", shown)
    return Figure(*about, files=["growth.csv"], text=text, table=table)
