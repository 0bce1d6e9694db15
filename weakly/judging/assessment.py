"""Everything that we conclude from a folder of results; each part is computed once and shared.

    found = Assessment("results/reference")
    found.claims, found.statistics, found.leads

compare.py prints it, the report page shows it, and the write-up quotes it.
"""

from functools import cached_property
from pathlib import Path

import pandas as pd

from weakly.judging.cells import comparisons
from weakly.judging.claims import judge_claims, main_claims
from weakly.judging.effects import (
    contributions_of_factors,
    runs_by_factor,
    spread_by_factor,
    variance_by_unseen_class,
)
from weakly.judging.leads import MAIN_TABLES, all_scores, gap_table, lead_table, rankings
from weakly.judging.sizes import Size
from weakly.judging.sources import sources_by_name
from weakly.judging.statistics import statistics_tables
from weakly.judging.tables import by_method, comparable, paper_runs


class Assessment:
    """The results in a folder, compared with what the paper prints."""

    def __init__(self, results_dir):
        self.folder = Path(results_dir)

    @cached_property
    def tables(self):
        """{experiment: cells with ours and the published value} of Tables 2 to 4; both kinds of AUC-PR."""
        return comparisons(self.folder)

    @cached_property
    def cells(self):
        """The same with only the comparable AUC-PR, which is weighted where the data is partial."""
        return {name: comparable(table, "reproduced") for name, table in self.tables.items()}

    @cached_property
    def exact_cells(self):
        """The same on exact data only, without averages."""
        return {name: table[table["data_status"] == "exact"] for name, table in self.cells.items()}

    @cached_property
    def sources(self):
        return sources_by_name(self.folder)

    @cached_property
    def claims(self):
        return judge_claims(self.sources)

    @cached_property
    def main_claims(self):
        return main_claims(self.sources, self.claims)

    @cached_property
    def statistics(self):
        return statistics_tables(self.folder)

    @cached_property
    def spreads(self):
        return spread_by_factor(self._runs_by_factor)

    @cached_property
    def contributions(self):
        """What single factors contribute to the variance of AUC-PR."""
        return contributions_of_factors(self._runs_by_factor)

    @cached_property
    def _runs_by_factor(self):
        return runs_by_factor(self.folder)

    @cached_property
    def unseen_shares(self):
        """How far the printed unseen columns depend on the unseen class, and how far ours do."""
        cells = self.cells.get("unseen")
        return variance_by_unseen_class(None if cells is None else by_method(cells, values="reproduced"))

    @cached_property
    def scores(self):
        """{(experiment, metric, source): scores of all methods}, see leads.py."""
        return all_scores(self.sources)

    @cached_property
    def leads(self):
        return lead_table(self.scores)

    @cached_property
    def rankings(self):
        return rankings(self.scores)

    @cached_property
    def gaps(self):
        """{experiment: PReNet's lead under new draws}, where both protocols were run."""
        tables = {name: gap_table(self.scores, name) for name in MAIN_TABLES}
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
            if isinstance(size, Size)
        ]
        columns = ["key", "claim", "quantity", "source", "mean", "low", "high", "rival", "data"]
        return pd.DataFrame(rows, columns=columns)
