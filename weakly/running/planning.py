"""What an experiment requests, and which of its runs are still missing."""

import numpy as np
from scipy import sparse

from weakly.loading.registry import with_all_others_seen
from weakly.loading.splits import ANOMALY, OUTSIDE_PROTOCOLS
from weakly.loading.store import load_data
from weakly.methods import METHODS, make_detector
from weakly.running.code_identity import code_hash
from weakly.running.configuration import PREPARED, Configuration, Identity
from weakly.running.paper_experiments import COSTLY_SETS, EXPERIMENTS, THEOREM_RATES
from weakly.running.runs_file import SET_UP, describe_settings, same_configuration, same_places


def points(args):
    """The points of a sweep: a list of (parameter, value), or one empty tuple if nothing is varied."""
    sweeps = dict(EXPERIMENTS[args.experiment].sweeps)
    if args.theorem:
        sweeps["contamination"] += THEOREM_RATES
    if "scaling" in sweeps:
        sweeps["scaling"] = args.scalings
    return [(parameter, value) for parameter, values in sweeps.items() for value in values] or [()]


def make_configured(args, method, point):
    """The detector of a method with --set and a point's value.

    A whole number becomes a float where the default is a float.
    """
    settings = dict(args.set) | ({point[0]: point[1]} if point and point[0] not in SET_UP else {})
    usual = make_detector(method).get_params()
    typed = {
        name: float(value) if type(value) is int and isinstance(usual[name], float) else value
        for name, value in settings.items()
    }
    return make_detector(method, **typed)


def overrides(method, detector):
    """The parameters of a detector that differ from the method's own, as (name, value) pairs."""
    usual = make_detector(method).get_params()
    return tuple((name, value) for name, value in detector.get_params().items() if value != usual[name])


def configurations(args, names):
    """What is requested: a Configuration per data set, method and point."""
    wanted = {}  # keeps the order, without duplicates
    detectors = {
        (method, point): make_configured(args, method, point)
        for method in args.methods
        for point in points(args)
    }
    for name in names:
        note_fewer_labels(args, load_data(name, args.data_dir))
        for method in args.methods:
            # without labels, the seen classes do not matter: once per unseen class is enough
            dataset = name if METHODS[method].uses_labels or "->" not in name else with_all_others_seen(name)
            data = load_data(dataset, args.data_dir)
            if sparse.issparse(data.X) and (why := why_not_sparse(args, method)):
                what = f"{name}, sparse with {data.X.shape[1]:,} columns,"
                print(f"{what} is skipped for {METHODS[method].column}, which {why}.")
                continue
            for point in points(args):
                if not is_too_costly(args, name, point) and not is_ignored(method, point):
                    wanted[configuration(args, method, data, dataset, point, detectors[method, point])] = None
    return list(wanted)


def note_fewer_labels(args, data):
    """Say which numbers of labels a data set cannot have: then all its training anomalies are labelled."""
    if args.protocol in OUTSIDE_PROTOCOLS:  # which refuse that
        return
    asked = [point[1] for point in points(args) if point and point[0] == "n_labeled"] or [args.n_labeled]
    there = np.count_nonzero(data.y == ANOMALY)
    # at most all anomalies are training rows; the exact number takes a split, without contamination
    if max(asked) > there // 2:
        there = len(data.split(args.protocol, 0, max(asked), 0.0).anomalies)
    if beyond := [str(number) for number in asked if number > there]:
        what = f"{data.name} has only {there} training anomalies"
        print(f"{what}: with {' or '.join(beyond)} labels, all of them are labelled.")


def configuration(args, method, data, dataset, point, detector):
    """One method on one data set at one point of a sweep."""
    set_up = {name: getattr(args, name) for name in SET_UP}
    if point and point[0] in SET_UP:
        set_up[point[0]] = point[1]
    identity = Identity(
        method=method,
        dataset=dataset,
        **set_up,
        data_sha256=data.fingerprint,
        data_status=data.status,
        settings=describe_settings(detector),
        code=code_hash(method, set_up["scaling"]),
    )
    return Configuration(
        experiment=args.experiment,
        identity=identity,
        rows=data.size,
        features=data.X.shape[1],
        row_order=data.order,
        overrides=overrides(method, detector),
        point=point,
    )


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


def is_too_costly(args, name, point):
    """Whether --theorem skips a point, because the data set is large and was not named with --datasets."""
    return args.theorem and not args.datasets and name in COSTLY_SETS and point[1] in THEOREM_RATES


def is_ignored(method, point):
    """Whether a point of a sweep would not change the runs of a method: another scaling, for trees."""
    return METHODS[method].is_tree and bool(point) and point[0] == "scaling" and point[1] != PREPARED


def plan(args, wanted, done):
    """The cells to run, the longest first, without the runs in `done`: {cell: configuration}."""
    everything, cells, others = set(), {}, same_places(done, wanted)
    for asked in wanted:
        everything.add((asked.identity.place, asked.overrides))
        same = same_configuration(done, asked.identity)
        others &= ~same
        made = set() if args.force else set(done["run"][same])
        missing = [run for run in range(args.runs) if run not in made]
        if missing:
            cells[asked.cell(missing, args.data_dir)] = asked
    if others.any():
        count, why = np.count_nonzero(others), "other data, settings or code"
        print(f"{count} earlier runs were made with {why}: they are kept, but not used.")
    n_missing, n_wanted = sum(len(cell.runs) for cell in cells), len(everything) * args.runs
    if n_missing < n_wanted:
        print(f"{n_wanted - n_missing} of {n_wanted} runs exist already and are kept.")
    # long cells first, so that the processes finish at about the same time
    return dict(sorted(cells.items(), key=lambda item: item[1].work * len(item[0].runs), reverse=True))
