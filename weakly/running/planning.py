"""What an experiment requests, and which of its runs are still missing."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
from scipy import sparse

from weakly.loading.arrays import load_data
from weakly.loading.splits import ANOMALY, OUTSIDE_PROTOCOLS
from weakly.loading.unseen import source_of, with_all_others_seen
from weakly.methods import METHODS, make_detector
from weakly.running.configuration import IDENTITY_COLUMNS, PLACE, PREPARED, Cell
from weakly.running.paper_experiments import COSTLY_SETS, THEOREM_RATES
from weakly.running.progress import usual_seconds
from weakly.running.runs_file import SET_UP
from weakly.running.single_run import code_hash, describe_settings


def overrides(args, method, point):
    """What --set and a point change in the parameters of a method, as (name, value) pairs.

    A whole number becomes a float where the default is a float.
    """
    settings = dict(args.set) | ({point[0]: point[1]} if point and point[0] not in SET_UP else {})
    usual = make_detector(method).get_params()
    for name, value in settings.items():
        settings[name] = float(value) if type(value) is int and isinstance(usual[name], float) else value
    return tuple((name, value) for name, value in settings.items() if value != usual[name])


def requested_cells(args, names):
    """What is requested: a cell per data set, method and point."""
    wanted = {}  # keeps the order, without duplicates
    versions = {}  # the data of each source when it was first opened: another driver may prepare it anew
    for name in names:
        first = versions.setdefault(source_of(name), load_data(name, args.data_dir))
        version = {"data_sha256": first.fingerprint, "data_status": first.status}
        note_fewer_labels(args, load_data(name, args.data_dir, *version.values()))
        for method in args.methods:
            # without labels, the seen classes do not matter: once per unseen class is enough
            dataset = name if METHODS[method].uses_labels or "->" not in name else with_all_others_seen(name)
            if sparse.issparse(first.X) and (why := why_not_sparse(args, method)):
                what = f"{name}, sparse with {first.X.shape[1]:,} columns,"
                print(f"{what} is skipped for {METHODS[method].column}, which {why}.")
                continue
            for point in args.points:
                if not is_left_out(args, method, name, point):
                    wanted[requested_cell(args, method, dataset, point, version)] = None
    return list(wanted)


def requested_cell(args, method, dataset, point, version):
    """One method on one version of a data set at one point of a sweep."""
    set_up = {name: getattr(args, name) for name in SET_UP}
    if point and point[0] in SET_UP:
        set_up[point[0]] = point[1]
    where = {"experiment": args.experiment, "data_dir": args.data_dir, **version}
    changed = {"overrides": overrides(args, method, point), "point": point}
    return identified(Cell(method=method, dataset=dataset, **set_up, **where, **changed))


def identified(cell):
    """A cell with its full identity in this process; its data is the newest, unless it names a version."""
    data = load_data(cell.dataset, cell.data_dir, cell.data_sha256, cell.data_status)
    return replace(
        cell,
        data_sha256=data.fingerprint,
        data_status=data.status,
        settings=describe_settings(make_detector(cell.method, **dict(cell.overrides))),
        code=code_hash(cell.method),
        rows=data.size,
        features=data.X.shape[1],
        row_order=data.order,
    )


def note_fewer_labels(args, data):
    """Say which numbers of labels a data set cannot have: then all its training anomalies are labelled."""
    if args.protocol in OUTSIDE_PROTOCOLS:  # which refuse that
        return
    asked = [point[1] for point in args.points if point and point[0] == "n_labeled"] or [args.n_labeled]
    there = np.count_nonzero(data.y == ANOMALY)
    # at most all anomalies are training rows; the exact number takes a split, without contamination
    if max(asked) > there // 2:
        there = len(data.split(args.protocol, 0, max(asked), 0.0).anomalies)
    if beyond := [str(number) for number in asked if number > there]:
        what = f"{data.name} has only {there} training anomalies"
        print(f"{what}: with {' or '.join(beyond)} labels, all of them are labelled.")


def why_not_sparse(args, method):
    """Why a method is not run on sparse data, None if it is."""
    detector = make_detector(method)
    if not detector.takes_sparse:
        return "needs dense rows"
    if any(scaling != PREPARED for scaling in args.scalings):
        return "would need dense rows to scale them: leave out --scaling"
    if detector.slow_on_sparse and not args.datasets:
        return "takes minutes per run on it; name it with --datasets to include it"
    return None


def is_left_out(args, method, name, point):
    """Whether a point of a sweep is not run: a scaling, which trees ignore, or a rate that takes too long.

    With --theorem, high rates are left out on large data sets, unless they are named with --datasets.
    """
    if point and point[0] == "scaling":
        return METHODS[method].is_tree and point[1] != PREPARED
    return args.theorem and not args.datasets and name in COSTLY_SETS and point[1] in THEOREM_RATES


def plan(args, wanted, done):
    """The runs to make, without those in `done`: {cell: run numbers}, the longest cells first."""
    made = defaultdict(set)  # run numbers by identity
    for *identity, run in done[[*IDENTITY_COLUMNS, "run"]].itertuples(index=False, name=None):
        made[tuple(identity)].add(run)
    by_identity = {cell.identity: cell for cell in wanted}  # a default value belongs to several sweeps
    places = {identity[: len(PLACE)] for identity in by_identity}
    others = [made[one] for one in made if one[: len(PLACE)] in places and one not in by_identity]
    if others:
        why = "other data, settings, code or libraries"
        print(f"{sum(map(len, others))} earlier runs were made with {why}: they are kept, but not used.")
    missing = {}
    for identity, cell in by_identity.items():
        kept = set() if args.force else made[identity]
        missing[cell] = [run for run in range(args.runs) if run not in kept]
    n_missing, n_wanted = sum(map(len, missing.values())), len(missing) * args.runs
    if n_missing < n_wanted:
        print(f"{n_wanted - n_missing} of {n_wanted} runs exist already and are kept.")
    # long cells first, so that the processes finish at about the same time
    longest_first = sorted(missing, key=lambda cell: -usual_seconds(cell, len(missing[cell])))
    return {cell: missing[cell] for cell in longest_first if missing[cell]}
