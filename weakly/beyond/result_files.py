"""The files of an experiment beyond the paper: its tables as CSV, and its text."""

from pathlib import Path

from weakly.judging.tables import write_table
from weakly.reporting.text_tables import as_markdown
from weakly.writing import written_whole


def page_text(parts):
    """A page in Markdown, of texts (headings and paragraphs) and tables."""
    return "\n\n".join(part if isinstance(part, str) else as_markdown(part) for part in parts) + "\n"


def write_results(results_dir, name, parts, tables):
    """Write the page <name>.md of its parts, and {name: table}; returns the paths."""
    written = [Path(results_dir) / f"{table}.csv" for table in tables]
    for path, table in zip(written, tables.values()):
        write_table(table, path)
    page = Path(results_dir) / f"{name}.md"
    with written_whole(page) as file:
        file.write(page_text(parts).encode())
    return [*written, page]
