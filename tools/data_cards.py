"""Write the cards of the data sets: the generated part of docs/data.md, and dataset/croissant.json.

    python -m tools.data_cards      # after a change of a registry; a test checks that both are up to date

The facts come from cards.py and registry.py in weakly/loading/ and published/authors_files.csv. The hashes of
the prepared arrays, and what is known about their row order, come from the provenance of the reference runs.
"""

import argparse
import json
import re
import sys

import pandas as pd

from tools.croissant import croissant
from weakly.command_line import user_errors_end
from weakly.errors import UserError
from weakly.loading.authors_files import AUTHORS_FILES
from weakly.loading.cards import CARDS
from weakly.loading.registry import DATA_SETS, over_the_network, source_of
from weakly.paths import ROOT
from weakly.reporting.text_tables import as_markdown
from weakly.running.provenance import provenance_path, read_sessions
from weakly.writing import written_whole

PAGE, CROISSANT = ROOT / "docs" / "data.md", ROOT / "dataset" / "croissant.json"
NOT_RUN = "none", "none, because it was not run"
MARKED = re.compile(r"(<!-- cards -->\n).*?(<!-- end -->)", re.DOTALL)


def prepared_in_reference_runs():
    """{data set: (SHA-256 of its arrays, how well their row order is known)} in results/reference/."""
    found = {}
    for label in ("unseen", "seen"):
        for entry in read_sessions(provenance_path(ROOT / "results" / "reference", label)):
            for name, sha256 in entry["data"].items():
                found[source_of(name)] = sha256, entry["row_orders"][name]
    return found


def require_cards():
    """UserError if a data set has no card."""
    if missing := [name for name in DATA_SETS if name not in CARDS]:
        raise UserError(f"{', '.join(missing)} has no card: add one to weakly/loading/cards.py.")


def overview(prepared):
    """A row for each data set."""
    rows = {
        f"[{name}](#{name})": {
            "rows": f"{entry.rows:,}",
            "features": f"{entry.features:,}",
            "anomalies": f"{entry.anomalies:,} ({entry.anomaly_rate:g}%)",
            "licence": CARDS[name].licence,
            "row order in our runs": prepared.get(name, NOT_RUN)[1].partition(":")[0],
        }
        for name, entry in DATA_SETS.items()
    }
    return as_markdown(pd.DataFrame(rows).T.rename_axis("data set"))


def paragraph(name, prepared):
    """The card of one data set."""
    card, entry = CARDS[name], DATA_SETS[name]
    sha256, order = prepared.get(name, NOT_RUN)
    files = ", ".join(f"`{recipe}`" + " (a part)" * (not recipe.complete) for recipe in entry.recipes)
    return "\n".join(
        (
            f"### {name}\n",
            f"**{card.title}.** Rows are {card.rows}. Anomalies are {card.anomalies}. "
            f"Features: {card.features}.\n",
            f"- **Source:** <{card.origin}>. {card.citation}.",
            f"- **Licence:** [{card.licence}]({card.licence_url}).",
            f"- **Row order:** {card.order} Recorded for our reference runs: `{order}`.",
            f"- **How to get it:** downloaded by default ({over_the_network(entry)}). "
            f"By hand: one of {files}.",
            f"- **Prepared arrays** of our reference runs, SHA-256: `{sha256}`.",
        )
    )


def hashes():
    """The authors' files as listed in published/authors_files.csv."""
    lines = {line.file: line for line in reversed(AUTHORS_FILES)}
    table = pd.DataFrame(
        {
            f"`{name}`": {
                "git blob id": f"`{line.git_blob}`",
                "SHA-256": f"`{line.sha256}`" * bool(line.sha256),
            }
            for name, line in sorted(lines.items())
        }
    ).T
    return as_markdown(table.rename_axis("file"))


def cards_text():
    prepared = prepared_in_reference_runs()
    cards = "\n\n".join(paragraph(name, prepared) for name in DATA_SETS)
    return f"{overview(prepared)}\n\n{cards}\n\n### Hashes of the authors' files\n\n{hashes()}\n"


def filled_page(text):
    """docs/data.md with the current cards between its marks."""
    if not MARKED.search(text):
        raise UserError(f"{PAGE.name} has no lines <!-- cards --> and <!-- end --> to write between.")
    return MARKED.sub(lambda found: found[1] + cards_text() + found[2], text)


def croissant_text():
    return json.dumps(croissant(prepared_in_reference_runs()), indent=1, ensure_ascii=False) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools.data_cards",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(argv)
    with user_errors_end(parser):
        require_cards()
        for path, text in (PAGE, filled_page(PAGE.read_text())), (CROISSANT, croissant_text()):
            with written_whole(path) as file:
                file.write(text.encode())
            print(f"Wrote {path.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
