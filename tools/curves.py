"""The curves behind the AUC values of a run: ROC, precision-recall, scores by class, training loss.

    python -m tools.curves                                             # ten methods on thyroid and campaign
    python -m tools.curves --datasets demo --methods prenet,iforest    # needs no data

One run per method and data set: run 0 of ./run_seen.sh, made in a process with one thread as there, so that
its AUC values are the same to the last bit. A run is written as soon as it ends, and a second start skips
runs that the same code made from the same data. Written to the results folder:

curves.csv              dataset, method, curve, x, y; numbers of 5 digits
    roc                 x false positive rate, y true positive rate
    pr                  x recall, y precision, from (0, 1), which scikit-learn adds, to the share of anomalies
    scores_anomalies,   the test scores of a class as a density with area 1, in 40 bins (x: their centres)
    scores_normals      that both classes share, from the 0.1 to the 99.9 percentile of all test scores;
                        scores outside count in the first or the last bin
    loss                x epoch, y mean loss with its l2 terms; only for detectors that train a network
curves_runs.csv         the run behind the curves: one row per method and data set, as in seen_runs.csv
curves_provenance.json  how they were made

ROC and precision-recall curves are thinned: starting with the two ends, the point farthest from the line
through the points kept so far is added, until there are 120 or the error is not visible in 5 digits. All test
rows have the same weight in all curves, even if `data_status` is partial.
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import precision_recall_curve, roc_curve

from weakly.command_line import parse_names, user_errors_end
from weakly.errors import UserError
from weakly.judging.tables import read_frame
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.registry import how_to_get
from weakly.loading.store import load_data, prepare, print_error, write_manifest
from weakly.methods import METHODS, make_detector, method_group
from weakly.running import provenance
from weakly.running.code_identity import code_hash
from weakly.running.configuration import row_of_run
from weakly.running.paper_experiments import EXPERIMENTS
from weakly.running.planning import configurations
from weakly.running.processes import LocalWorkers, Schedule
from weakly.running.runs_file import RUN_COLUMNS, RunsFile, only_writer
from weakly.running.single_run import fit, measure, rows_of_run
from weakly.writing import written_whole

LABEL = "curves"  # of the files
DRAWN_SETS = ["thyroid", "campaign"]
# as in the first run of ./run_seen.sh
AS_SEEN = {"experiment": "seen", "protocol": "released", "n_labeled": 60, "contamination": 0.02}
AS_SEEN |= {"scaling": "prepared", "scalings": ["prepared"], "set": [], "theorem": False}
MOST_POINTS = 120  # of a ROC or precision-recall curve
SMALLEST_STEP = 1e-5  # distance from a line, for curves between 0 and 1 written with 5 digits
N_BINS, ENDS = 40, (0.1, 99.9)  # bins of the scores, and the percentiles that bound them


# ---------------------------------------------------------------------------- the curves of one run


def thinned(points, most=MOST_POINTS):
    """The points (n, 2) of a line that show its shape: at most this many, including both ends."""
    places, kept = np.arange(len(points)), np.array([0, len(points) - 1])
    while len(kept) < most:
        after = np.searchsorted(kept, places[:-1], side="right")
        start, along = points[kept[after - 1]], points[kept[after]] - points[kept[after - 1]]
        offset = points[:-1] - start
        area = np.abs(along[:, 0] * offset[:, 1] - along[:, 1] * offset[:, 0])
        distance = area / np.maximum(np.hypot(*along.T), np.finfo(float).tiny)
        if distance.max() < SMALLEST_STEP:
            break
        kept = np.sort(np.append(kept, distance.argmax()))
    return points[kept]


def curves_of(y_test, scores, losses):
    """The curves of a run as columns curve, x and y; y_test (n,) is True for anomalies."""
    false_positives, true_positives, _ = roc_curve(y_test, scores)
    precision, recall, _ = precision_recall_curve(y_test, scores)
    edges = np.histogram_bin_edges(scores, N_BINS, tuple(np.percentile(scores, ENDS)))
    clipped, centres = np.clip(scores, edges[0], edges[-1]), (edges[:-1] + edges[1:]) / 2
    points = {
        "roc": thinned(np.column_stack([false_positives, true_positives])),
        "pr": thinned(np.column_stack([recall, precision])[::-1]),  # from recall 0 upwards
    }
    for name, members in (("scores_anomalies", y_test), ("scores_normals", ~y_test)):
        density, _ = np.histogram(clipped[members], edges, density=True)
        points[name] = np.column_stack([centres, density])
    if losses is not None:
        points["loss"] = np.column_stack([np.arange(1, len(losses) + 1), losses])
    tables = [pd.DataFrame(pairs, columns=["x", "y"]).assign(curve=name) for name, pairs in points.items()]
    return pd.concat(tables)


def run_with_curves(cell, run):
    """What the worker does: ((what was measured, curves), None), or (None, why) if the run failed."""
    try:
        data = load_data(cell.dataset, cell.data_dir)
        rows = rows_of_run(data, cell.protocol, run, cell.n_labeled, cell.contamination)
        detector = make_detector(cell.method, random_state=run)
        seconds = fit(detector, rows)
        made_by = {"fit_seconds": seconds, "run": run, "seed": run, "code": code_hash(cell.method)}
        measured = measure(detector, rows) | made_by
        # measure keeps no scores; these are the same
        scores = np.asarray(detector.decision_function(rows.X_test), np.float64)
        return (measured, curves_of(rows.y_test, scores, getattr(detector, "losses_", None))), None
    except Exception as error:  # any error: the other methods continue
        return None, f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------------------- the files


def read_made(results_dir):
    """What is in the files: {(data set, method): (row of its run, its curves)}."""
    path = Path(results_dir) / f"{LABEL}.csv"
    if not path.exists():
        return {}
    curves = read_frame(path, ("dataset", "method", "curve"), ("x", "y"))
    by_run = dict(list(curves.groupby(["dataset", "method"], sort=False)))
    rows = RunsFile(results_dir, LABEL).read().to_dict("records")
    places = [(row["dataset"], row["method"]) for row in rows]
    return {place: (row, by_run[place]) for place, row in zip(places, rows) if place in by_run}


def write_made(results_dir, made):
    """Write both files, by data set and method; the runs last, so that every run has its curves."""
    order = list(METHODS)
    known = [place for place in made if place[1] in METHODS]
    places = sorted(known, key=lambda place: (place[0], order.index(place[1])))
    rows, curves = zip(*(made[place] for place in places))
    with written_whole(Path(results_dir) / f"{LABEL}.csv") as file:
        columns = ["dataset", "method", "curve", "x", "y"]
        pd.concat(curves)[columns].to_csv(file, index=False, float_format="%.5g")
    with written_whole(RunsFile(results_dir, LABEL).path) as file:
        pd.DataFrame(rows, columns=RUN_COLUMNS).to_csv(file, index=False)


# ---------------------------------------------------------------------------- the command


def prepare_data(args):
    """Prepare the data sets; UserError if one is not available."""
    for name in args.datasets:
        if not EXPERIMENTS["seen"].has(name):
            raise UserError(f"{name!r} is not a data set of the experiment `seen`")
        if prepare(name, make_finder(args), args.data_dir, print_error) == "missing":
            raise UserError(how_to_get(name, args.data_dir))
    write_manifest(args.data_dir)


def is_made(identity, made):
    """Whether the curves of a run with this identity exist."""
    row, _ = made.get((identity.dataset, identity.method), ({}, None))
    return all(row.get(name) == value for name, value in asdict(identity).items())


def make_curves(args):
    """Make the missing runs and write each as it ends; returns what failed, as lines of text."""
    prepare_data(args)
    wanted, made, failures = configurations(args, args.datasets), read_made(args.results_dir), []
    missing = [asked for asked in wanted if args.force or not is_made(asked.identity, made)]
    if len(missing) < len(wanted):
        print(f"{len(wanted) - len(missing)} of {len(wanted)} runs exist already and are kept.")
    cells = {asked.cell([0], args.data_dir): asked for asked in missing}
    data = {asked.identity.dataset: asked.identity.data_sha256 for asked in wanted}
    row_orders = {asked.identity.dataset: asked.row_order for asked in wanted}
    session = provenance.Session(args.results_dir, LABEL, data, row_orders)
    workers = CurveWorkers(jobs=1)
    try:
        for cell, result, error in Schedule(cells, workers).outcomes():
            if error is not None:
                failures.append(f"{cell}: {error}")
                continue
            measured, curves = result
            place = {"dataset": cell.dataset, "method": cell.method}
            made[tuple(place.values())] = row_of_run(cells[cell], measured), curves.assign(**place)
            write_made(args.results_dir, made)
            session.count_run()
            tell(cell, measured)
    finally:  # also when stopped
        workers.close()
        if session.entry["runs_made"]:
            session.save()
            names = f"{LABEL}_runs.csv and {LABEL}_provenance.json"
            print(f"Wrote {Path(args.results_dir) / LABEL}.csv, {names}")
    return failures


class CurveWorkers(LocalWorkers):
    """Processes that also return the curves."""

    def call(self, cell, run):
        return run_with_curves, cell, run


def tell(cell, measured):
    """Print a run's line."""
    aucs = f"AUC-ROC {measured['auc_roc']:.4f}, AUC-PR {measured['auc_pr']:.4f}"
    seconds = measured["fit_seconds"] + measured["score_seconds"]
    note = f"; NOTE {measured['note']}" if measured["note"] else ""
    print(f"{cell.dataset} {METHODS[cell.method].column}: {aucs}, {seconds:.1f} s{note}", flush=True)


def make_parser():
    parser = argparse.ArgumentParser(prog="python -m tools.curves", description=__doc__.splitlines()[0])
    add = parser.add_argument
    sets = f"data sets of Table 2, or demo (default: {','.join(DRAWN_SETS)})"
    add("--datasets", type=data_set_names, default=DRAWN_SETS, metavar="A,B", help=sets)
    drawn = method_group("table", "appendix")
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    methods = f"methods of weakly/methods.py (default: {','.join(drawn)})"
    add("--methods", type=known, default=drawn, metavar="A,B", help=methods)
    add("--results-dir", default="results", help="where to write curves.csv (default: %(default)s)")
    add("--force", action="store_true", help="repeat runs that the results already contain")
    add_data_arguments(parser)
    parser.set_defaults(**AS_SEEN)
    return parser


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    try:
        with user_errors_end(parser), only_writer(args.results_dir):
            failures = make_curves(args)
    except KeyboardInterrupt:
        print("\nStopped. Every finished run is kept; run the same command to resume.", file=sys.stderr)
        return 130
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
