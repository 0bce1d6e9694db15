"""The files of an experiment beyond the paper: its tables as CSV, its text, its figures."""

from pathlib import Path

import matplotlib.style

from weakly.judging.tables import write_table
from weakly.reporting.figures import RC, save
from weakly.writing import written_whole


def write_results(results_dir, name, text, tables, figures=None):
    """Write {name: table}, the text <name>.md and {name: function that draws a figure}; returns the paths."""
    folder = Path(results_dir)
    written = [folder / f"{table}.csv" for table in tables] + [folder / f"{name}.md"]
    for path, table in zip(written, tables.values()):
        write_table(table, path)
    with written_whole(written[-1]) as file:
        file.write(text.encode())
    with matplotlib.style.context(["default", RC]):  # ignores the user's own matplotlibrc
        for figure, draw in (figures or {}).items():
            written += save(draw(), folder / "figures" / figure)
    return written
