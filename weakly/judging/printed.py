"""Printed values that cannot be: AUC-PR below the lowest average precision that any ranking has.

    from weakly.judging.printed import impossible_cells, reversed_xgbod

With all anomalies ranked last, average precision is still above 0. At a share p of anomalies in a large test
set it tends to 1 - (1 - p) / p * ln(1 / (1 - p)).
"""

import numpy as np

from weakly.judging.cells import PRINTING_ERROR, published_table
from weakly.judging.tables import by_method
from weakly.loading.registry import DATA_SETS

TEST_SHARE = 0.2  # of the normal rows; on unseen classes the test set has every row of the unseen class
# four consecutive cells of XGBOD's seen column, which are very likely printed in reverse order
REVERSED = ["rec", "fuz", "bac", "w7a"]


def lowest_average_precision(share):
    """That of a ranking with all anomalies last, for a share of anomalies above 0 and below 1."""
    return 1 - (1 - share) / share * np.log(1 / (1 - share))


def share_of_anomalies(name):
    """The share of anomalies in the paper's test set, for a set of Table 2 or of Table 3."""
    anomalies = DATA_SETS[name.rpartition("->")[2]].anomalies
    if "->" not in name:
        return anomalies / DATA_SETS[name].rows
    normals = DATA_SETS["unsw"].rows - DATA_SETS["unsw"].anomalies
    return anomalies / (anomalies + TEST_SHARE * normals)


def printed_beside_lowest(experiment):
    """The printed AUC-PR of a table, a column per method, with the lowest possible value of each set."""
    printed = by_method(published_table(experiment))
    lowest = [lowest_average_precision(share_of_anomalies(name)) for name in printed.index]
    printed.insert(0, "lowest", lowest)
    return printed


def impossible_cells(experiment):
    """The printed cells below the lowest possible value, whatever their rounding: a row per cell."""
    table = printed_beside_lowest(experiment)
    cells = table.melt("lowest", var_name="method", value_name="printed", ignore_index=False).reset_index()
    return cells[cells["printed"] + PRINTING_ERROR < cells["lowest"]].reset_index(drop=True)


def reversed_xgbod():
    """XGBOD's printed seen column with four cells reversed, which makes both of its columns agree.

    Also returns, per set, the values of the unseen rows in which only this class is seen.
    """
    seen, unseen = (by_method(published_table(name))["xgbod"] for name in ("seen", "unseen"))
    column = seen.copy()
    column[REVERSED] = seen[REVERSED[::-1]].to_numpy()
    alone = unseen[~unseen.index.str.contains(",")]
    of_class = alone.groupby(alone.index.str.partition("->").get_level_values(0))
    return column, of_class.unique()
