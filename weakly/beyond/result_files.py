"""The files of an experiment beyond the paper: its tables as CSV, its text, its figures."""

from pathlib import Path

from weakly.judging.tables import write_table
from weakly.reporting.pictures import save
from weakly.reporting.text_tables import as_markdown
from weakly.writing import written_whole


def page_text(parts):
    """A page in Markdown."""
    return "\n\n".join(part if isinstance(part, str) else as_markdown(part) for part in parts) + "\n"


def write_results(results_dir, name, parts, tables, figures=None):
    """Write {name: table}, the page <name>.md and {name: function that draws a figure}; returns the paths.

    The parts of the page are texts (headings and paragraphs) and tables.
    """
    folder = Path(results_dir)
    written = [folder / f"{table}.csv" for table in tables] + [folder / f"{name}.md"]
    for path, table in zip(written, tables.values()):
        write_table(table, path)
    with written_whole(written[-1]) as file:
        file.write(page_text(parts).encode())
    for figure, draw in (figures or {}).items():
        written += save(draw(), folder / "figures" / figure)
    return written
