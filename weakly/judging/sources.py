"""What a claim is tested on: the paper's printed values, our runs with the authors' draws and with new ones.

All three have the same interface, so that one rule judges them all. A source that lacks the results raises
NotTestable with the command that produces them.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from weakly.judging.effects import lead
from weakly.judging.statistics import MIN_SETS, counted_scores, published_scores, scores
from weakly.judging.tables import counted_status, find_table, paper_runs, read_frame, read_table
from weakly.methods import METHODS, method_group

TABLE_METHODS = method_group("table")  # PReNet and the six competing methods of Tables 2 and 3
APPENDIX = method_group("appendix")  # the three of App. C.1
ALL_METHODS = [*TABLE_METHODS, *APPENDIX]
AS_PUBLISHED, RELEASED, INDEPENDENT = "published", "released", "independent"  # the sources, in short
INSTEAD_OF_INDEPENDENT = {"labels": "redrawn"}  # the label curves use the authors' procedure with other seeds
PRINTED = "printed"  # the data status of what the paper prints
LIMIT = 2 / 3  # of the theorem; beyond this share of anomalies it predicts the opposite order


class NotTestable(Exception):
    """Why a claim cannot be judged: what is missing, and the command that produces it."""


class Scores(NamedTuple):
    """Scores by data set and method, the runs behind them if known, and the data in words."""

    values: pd.DataFrame  # data sets by methods
    runs: Any  # {method: data sets by runs}, or None
    status: str  # "exact", "partial" or PRINTED
    words: str

    def restricted(self, values):
        """The same for some of the data sets only."""
        words = self.words.replace(f"{len(self.values)} ", f"{len(values)} ", 1)
        return self._replace(values=values, words=words)

    def runs_of(self, method):
        """A method's runs of the data sets, a row for each; a column without values if there are none."""
        runs = (self.runs or {}).get(method, pd.DataFrame({0: []}))
        return runs.reindex(self.values.index).astype(float)

    def lead(self, method):
        """PReNet's lead over a method, with its interval, over the data sets that both have."""
        differences = (self.values["prenet"] - self.values[method]).dropna()
        of_runs = (self.runs_of("prenet") - self.runs_of(method)).loc[differences.index].to_numpy()
        known = zip(differences.items(), (values[~np.isnan(values)] for values in of_runs))
        return lead({name: values if len(values) else [mean] for (name, mean), values in known})


class Sweep(NamedTuple):
    """AUC-PR at each value of a parameter, and the data in words."""

    at: dict[float, pd.DataFrame]  # data sets by methods
    status: str
    words: str

    @property
    def values(self):
        return self.at[min(self.at)]


def data_in_words(n_sets, status):
    sets = f"set{'s' * (n_sets != 1)}"
    return f"{n_sets} exact data {sets}" if status == "exact" else f"partial data, {n_sets} {sets}"


def listed(texts):
    return ", ".join(texts) or "none"


def display(names):
    return listed(METHODS[name].column for name in names)


class PublishedTables:
    """The paper's printed values, for all its data sets or for those that we have."""

    def __init__(self, ours=None):
        self._ours = ours
        self.is_yardstick = ours is not None  # ours are compared with the printed values themselves
        self.title = "the paper's values, all its sets" if ours is None else "the paper's values, our sets"

    def scores(self, experiment, metric, methods, at_least=MIN_SETS):
        values = published_scores(experiment, metric)
        values = values[[name for name in methods if name in values]]
        words = f"{len(values)} printed sets"
        if self._ours is not None:
            sets, status = self._ours.data_sets(experiment, metric)
            values = values[values.index.isin(sets)]
            words = f"{len(values)} printed sets that we have{' in part' if status == 'partial' else ''}"
            if len(values) < at_least:
                few = f"We have {len(values)} of these data sets"
                raise NotTestable(f"{few}, but at least {at_least} are needed.")
        return Scores(values, None, PRINTED, words)

    def sweep(self, *_, **__):
        raise NotTestable("The paper shows this in a figure, without its numbers.")

    def interpretations(self, *_):
        raise NotTestable("The paper does not print these results.")

    def theorem(self, **_):
        raise NotTestable("The paper prints no scores.")


class OurTables:
    """The tables of one folder, with the authors' draws or with new ones."""

    is_yardstick = False

    def __init__(self, results_dir, new_draws=False):
        self.has_pairs = new_draws  # whether run r has its own draws, which all methods share
        self.title = f"our runs, {INDEPENDENT if new_draws else RELEASED}"
        # many claims need the same tables; they are kept as long as this object and never changed
        self._found = functools.cache(functools.partial(find_table, results_dir))
        self._paper_runs = functools.cache(functools.partial(paper_runs, results_dir))
        self._counted = functools.cache(lambda of, metric, *o: counted_scores(self._table(of, *o), metric))
        self._runs = functools.cache(self._runs_by_method)

    def _protocol(self, experiment):
        return INSTEAD_OF_INDEPENDENT.get(experiment, INDEPENDENT) if self.has_pairs else RELEASED

    def command(self, experiment, *options):
        driver = "contamination" if experiment == "theorem" else experiment
        protocol = self._protocol(experiment)
        options += ("--theorem",) * (experiment == "theorem")
        options += (f"--protocol {protocol}",) * (protocol != "released")
        beyond = driver == "interpretations"
        return " ".join([f"python experiments.py {driver}" if beyond else f"./run_{driver}.sh", *options])

    def _table(self, experiment, *options, read=read_table):
        protocol = self._protocol(experiment)
        table = self._found(experiment if protocol == "released" else f"{experiment}_{protocol}", read)
        if table is None:
            raise NotTestable(f"No results yet: run {self.command(experiment, *options)}.")
        return table

    def data_sets(self, experiment, metric):
        """The data sets of an experiment that count, and their status."""
        values, status = self._counted(experiment, metric)
        return list(values.index[values["prenet"].notna()]) if "prenet" in values else [], status

    def scores(self, experiment, metric, methods, at_least=MIN_SETS):
        """The scores that count, of those of `methods` with enough data sets."""
        options = ["--methods all"] if set(methods) & set(APPENDIX) else []
        values, status = self._counted(experiment, metric, *options)
        values = values[[name for name in methods if name in values]]
        values = values[values["prenet"].notna()] if "prenet" in values else values.iloc[:0]
        values = values.loc[:, values.notna().sum() >= at_least]
        if values.shape[1] < 2:
            other = display(methods[1:]) if len(methods) == 2 else "another method"
            needs = f"This needs PReNet and {other} on at least {at_least} data set{'s' * (at_least > 1)}"
            raise NotTestable(f"{needs}: run {self.command(experiment, *options)}.")
        return Scores(values, self._runs(experiment, metric), status, data_in_words(len(values), status))

    def _runs_by_method(self, experiment, metric):
        """{method: data sets by runs}, None if there are no runs."""
        runs = self._paper_runs(experiment, self._protocol(experiment))
        column = "score" if metric == "auc_pr" else metric
        pivot = {"index": "dataset", "columns": "run", "values": column}
        return {name: part.pivot(**pivot) for name, part in runs.groupby("method")} or None

    def sweep(self, experiment, parameter, needed, datasets=None, but=(), at_least=1):
        """A parameter's Sweep over the data sets that count, which must have the needed values.

        datasets: names, `seen` or `unseen`; None are all.
        """
        table = self._table(experiment)
        table = table[(table["parameter"] == parameter) & ~table["dataset"].isin(but)]
        if datasets in ("seen", "unseen"):
            table = table[table["dataset"].str.contains("->") == (datasets == "unseen")]
        elif datasets is not None:
            table = table[table["dataset"].isin(datasets)]
        status = counted_status(table["status"][table["mean"].notna()])
        by_value = {float(at): scores(part, statuses=(status,)) for at, part in table.groupby("value")}
        if any(value not in by_value or "prenet" not in by_value[value] for value in needed):
            missing = f"Values of {parameter} or data sets are missing"
            raise NotTestable(f"{missing}: run {self.command(experiment)}.")
        common = pd.concat([by_value[value]["prenet"] for value in needed], axis=1).dropna().index
        words = data_in_words(len(common), status)
        if len(common) < at_least:
            few = f"Only {words}, but at least {at_least} are needed"
            raise NotTestable(f"{few}: run {self.command(experiment)}.")
        at = {value: part[part.index.isin(common)] for value, part in by_value.items()}
        return Sweep(at, status, words)

    def interpretations(self, names):
        """AUC-PR of these interpretations and of the methods they interpret, on the exact data sets."""
        wanted = {"seen": {METHODS[name].interpretation_of for name in names}, "interpretations": set(names)}
        tables = {experiment: self._table(experiment) for experiment in wanted}
        values = scores(pd.concat(of[of["method"].isin(wanted[name])] for name, of in tables.items()))
        known = [name for name in names if name in values and METHODS[name].interpretation_of in values]
        if not known or values[known].dropna().empty:
            raise NotTestable(f"No results yet: run {self.command('interpretations')}.")
        return Scores(values, None, "exact", "exact data")

    def theorem(self, is_beyond=False):
        """The points of theorem.csv below, or beyond, a share of 2/3, their status, and the data in words."""
        table = self._table("theorem", read=read_frame)
        status = counted_status(table["status"])
        # gap: by how much test anomalies score above test normals
        table = table.assign(gap=table["mean_score_anomalies"] - table["mean_score_normals"])
        chosen = (table["status"] == status) & ((table["share"] >= LIMIT) == is_beyond)
        table = table[chosen].dropna(subset="gap")
        if table.empty and not is_beyond:
            raise NotTestable(f"No scores on real data: run {self.command('theorem')}.")
        shares = f"shares of {table['share'].min():.2f} to {table['share'].max():.2f}"
        return table, status, f"{data_in_words(table['dataset'].nunique(), status)}, {shares}"


def sources_by_name(results_dir):
    """The sources for the results of a folder; the paper's values are those on our data sets."""
    ours = OurTables(results_dir)
    return {AS_PUBLISHED: PublishedTables(ours), RELEASED: ours, INDEPENDENT: OurTables(results_dir, True)}
