"""Find anomalies in your own table, of which a few dozen rows are marked and the rest is unlabelled.

    python detect.py fit events.csv --label fraud --method prenet --model fraud.model
    python detect.py next events.csv --label fraud --model fraud.model --output to_check.csv
    python detect.py fit events.csv --label fraud --checked to_check.csv --model fraud.model
    python detect.py score new.csv --model fraud.model --output scores.csv --contamination 0.01 --explain
    python detect.py report new.csv --model fraud.model --output report.html      # opens in any browser
    python detect.py info fraud.model
    python detect.py evaluate events.csv --label y --anomaly-value yes --n-labeled 60
    zcat new.gz | python detect.py score - --model fraud.model --output - | head   # - as in other programs

A table is a CSV file (separated by , ; tab or |; plain, gzipped or zipped) or a Parquet file. Its kinds of
columns are found out by `fit`: numbers are scaled to 0-1, truth values are 0 and 1, other texts are
categories (rare levels grouped); dates, ids and constant columns are dropped, and a column of free text is
refused. The folder own_data/ does the rest. `score` reads a chunk at a time, so that a file of any size takes
the same memory; `fit` and `evaluate` hold their table in memory. Tables and models are not trusted: a line
has at most 10,000 cells and 16 MiB, a packed table unpacks to at most 2 GiB and a model to 64 MiB, and
reading takes at most 8 GiB of memory (on Linux); what is beyond ends in one sentence and exit code 2.
"""

import argparse
import importlib
import sys
from contextlib import nullcontext, redirect_stdout

from common.command_line import user_errors_end
from common.writing import is_standard_output, is_written_through

# each in its own_data/*_command.py, of which only the one that is asked for is imported
COMMANDS = {
    "fit": "learn from a table with some labelled anomalies",
    "next": "propose the rows that a person should check next",
    "score": "score the rows of a table with a model of fit",
    "info": "what a model of fit was made of",
    "report": "a page on the scored rows of a table",
    "evaluate": "how well it works, for a table whose labels are all known",
}


def make_parser(words):
    """The parser of these words, with the arguments of the command that is among them."""
    parser = argparse.ArgumentParser(
        prog="detect.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    chosen = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name == chosen:
            module = importlib.import_module(f"own_data.{name}_command")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def main(argv=None):
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words)
    args = parser.parse_args(words)
    target = getattr(args, args.target)  # where the command writes to
    # what is wrong with a file ends in its sentence alone, without the usage
    sentence_only = argparse.ArgumentParser(prog=f"{parser.prog} {args.command}", usage=argparse.SUPPRESS)
    messages = redirect_stdout(sys.stderr) if is_standard_output(target) else nullcontext()
    try:
        with user_errors_end(sentence_only), messages:
            args.run(args)
    except KeyboardInterrupt:
        parser.exit(130, f"Stopped.{'' if is_written_through(target) else ' Nothing was written.'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
