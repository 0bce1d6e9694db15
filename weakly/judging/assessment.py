"""Everything that we conclude from a folder of results; each part is computed once and shared.

    found = Assessment("results/reference")
    found.claims, found.statistics, found.leads

compare.py prints it, the report page shows it, and the write-up quotes it.
"""

from functools import cached_property
from pathlib import Path

import pandas as pd

from weakly.judging import effects, leads
from weakly.judging.cells import comparisons
from weakly.judging.claims import judge_claims, main_claims
from weakly.judging.sources import sources_by_name
from weakly.judging.statistics import statistics_tables
from weakly.judging.tables import by_method, comparable, paper_runs


class Assessment:
    """The results in a folder, compared with what the paper prints."""

    def __init__(self, results_dir):
        self.folder = Path(results_dir)

    # {experiment: cells with ours and the published value}; both kinds of AUC-PR
    tables = cached_property(lambda self: comparisons(self.folder))
    sources = cached_property(lambda self: sources_by_name(self.folder))
    claims = cached_property(lambda self: judge_claims(self.sources))
    main_claims = cached_property(lambda self: main_claims(self.sources, self.claims))
    statistics = cached_property(lambda self: statistics_tables(self.folder))
    _runs_by_factor = cached_property(lambda self: effects.runs_by_factor(self.folder))
    spreads = cached_property(lambda self: effects.spread_by_factor(self._runs_by_factor))
    contributions = cached_property(lambda self: effects.contributions_of_factors(self._runs_by_factor))
    # {(experiment, metric, source): scores of all methods}, see leads.py
    scores = cached_property(lambda self: leads.all_scores(self.sources))
    leads = cached_property(lambda self: leads.lead_table(self.scores))
    rankings = cached_property(lambda self: leads.rankings(self.scores))

    @cached_property
    def cells(self):
        """The tables with only the comparable AUC-PR, which is weighted where the data is partial."""
        return {name: comparable(table, "reproduced") for name, table in self.tables.items()}

    @cached_property
    def exact_cells(self):
        """The same on exact data only, without averages."""
        return {name: table[table["data_status"] == "exact"] for name, table in self.cells.items()}

    @cached_property
    def unseen_shares(self):
        """How far the printed unseen columns depend on the unseen class, and how far ours do."""
        cells = self.cells.get("unseen")
        ours = None if cells is None else by_method(cells, values="reproduced")
        return effects.variance_by_unseen_class(ours)

    @cached_property
    def gaps(self):
        """{experiment: PReNet's lead with independent draws}, where both protocols were run."""
        tables = {name: leads.gap_table(self.scores, name) for name in leads.MAIN_TABLES}
        return {name: table for name, table in tables.items() if len(table)}

    @cached_property
    def runs(self):
        """{experiment: every run of the paper's set-up with the authors' draws}."""
        return {name: paper_runs(self.folder, name) for name in self.tables}

    def claims_table(self):
        """A row per claim and source, as in claims.csv: verdict, data and figures."""
        rows = [
            (one.claim.key, one.claim.text, one.claim.section, title, found.status, found.verdict)
            + (found.evidence, "yes" if found.is_fragile else "")
            for one in self.claims
            for title, found in one.findings.items()
        ]
        columns = ["key", "claim", "section", "judged_on", "data", "verdict", "evidence", "fragile"]
        return pd.DataFrame(rows, columns=columns)

    def main_claims_table(self):
        """A row per main claim and source: the size of the claimed effect, its interval, and the rival."""
        rows = [
            (one.key, one.judged.claim.text, one.quantity, source, *size.lead, size.rival, size.status)
            for one in self.main_claims
            for source, size in one.sizes.items()
            if not isinstance(size, str)
        ]
        columns = ["key", "claim", "quantity", "source", "mean", "low", "high", "rival", "data"]
        return pd.DataFrame(rows, columns=columns)
