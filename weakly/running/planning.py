"""What an experiment requests, and which of its runs are still missing."""

from scipy import sparse

from weakly.loading.arrays import load_data
from weakly.loading.unseen import with_all_others_seen
from weakly.methods import METHODS, make_detector
from weakly.running.configuration import IDENTITY_COLUMNS, PLACE, PREPARED, Cell
from weakly.running.paper_experiments import COSTLY_SETS, THEOREM_RATES
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
    for name in names:
        data = load_data(name, args.data_dir)
        for method in args.methods:
            if sparse.issparse(data.X) and (why := why_not_sparse(args, method)):
                what = f"{name}, sparse with {data.X.shape[1]:,} columns,"
                print(f"{what} is skipped for {METHODS[method].column}, which {why}.")
                continue
            of_method = data
            if "->" in name and not METHODS[method].uses_labels:
                # without labels, the seen classes do not matter: once per unseen class is enough
                of_method = load_data(with_all_others_seen(name), args.data_dir)
            for point in args.points:
                if not is_left_out(args, method, name, point):
                    wanted[requested_cell(args, method, of_method, point)] = None
    return list(wanted)


def requested_cell(args, method, data, point=()):
    """One method on a data set at one point of a sweep, with its identity in this process."""
    set_up = {name: getattr(args, name) for name in SET_UP}
    if point and point[0] in SET_UP:
        set_up[point[0]] = point[1]
    changed = overrides(args, method, point)
    return Cell(
        method=method,
        dataset=data.name,
        **set_up,
        data_sha256=data.fingerprint,
        data_status=data.status,
        settings=describe_settings(make_detector(method, **dict(changed))),
        code=code_hash(method),
        experiment=args.experiment,
        row_order=data.order,
        data_dir=args.data_dir,
        overrides=changed,
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


def is_left_out(args, method, name, point):
    """Whether a point of a sweep is not run: a scaling, which trees ignore, or a rate that takes too long.

    With --theorem, high rates are left out on large data sets, unless they are named with --datasets.
    """
    if point and point[0] == "scaling":
        return METHODS[method].is_tree and point[1] != PREPARED
    return args.theorem and not args.datasets and name in COSTLY_SETS and point[1] in THEOREM_RATES


def plan(args, wanted, done):
    """The runs to make, without those in `done`: {cell: run numbers}."""
    made = {identity: set(of_identity) for identity, of_identity in done.groupby(IDENTITY_COLUMNS)["run"]}
    by_identity = {cell.identity: cell for cell in wanted}  # a default value belongs to several sweeps
    places = {identity[: len(PLACE)] for identity in by_identity}
    others = [made[one] for one in made if one[: len(PLACE)] in places and one not in by_identity]
    if others:
        why = "other data, settings, code or libraries"
        print(f"{sum(map(len, others))} earlier runs were made with {why}: they are kept, but not used.")
    missing = {
        cell: [run for run in range(args.runs) if args.force or run not in made.get(identity, ())]
        for identity, cell in by_identity.items()
    }
    n_wanted = len(missing) * args.runs
    if n_kept := n_wanted - sum(map(len, missing.values())):
        print(f"{n_kept} of {n_wanted} runs exist already and are kept.")
    return {cell: runs for cell, runs in missing.items() if runs}
