"""Find anomalies in your own table, in which a few dozen anomalies are labelled and the rest is unlabelled.

    python detect.py fit events.csv --label fraud --model fraud.model
    python detect.py score new.csv --model fraud.model --output scores.csv --contamination 0.01 --explain
    python detect.py next events.csv --label fraud --model fraud.model --output to_check.csv
    python detect.py fit events.csv --label fraud --checked to_check.csv --model fraud.model
    python detect.py evaluate known.csv --label y --anomaly-value yes --methods prenet,catboost --runs 10
    python detect.py info fraud.model
    python detect.py report new.csv --model fraud.model --output report.html      # opens in any browser
    zcat new.gz | python detect.py score - --model fraud.model --output - | head   # - as in other programs

In a clone, python is .venv/bin/python; an installed package has the same command as `weakly-detect`.

A table is a CSV file, JSON lines (both plain, gzipped or zipped) or a Parquet file; docs/own_data.md says how
its columns are read. `score` and `report` read it in chunks, the others hold it in memory (at most 8 GiB).
"""

import argparse
import importlib
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

from weakly.command_line import refuse_unknown, user_errors_end
from weakly.errors import UserError
from weakly.writing import is_standard_output, is_written_through

# each is in weakly/own_data/*_command.py; only the requested one is imported
COMMANDS = {
    "fit": "learn a model from a table with some labelled anomalies, and show the most suspicious rows",
    "score": "score the rows of a table with a model",
    "next": "propose the rows to check next, as a file to fill in",
    "evaluate": "measure how well methods work on a table with labels",
    "info": "show what a model file contains",
    "report": "write an HTML page about a scored table",
}


def make_parser(words):
    """The parser for these words, with the arguments of the command among them."""
    parser = argparse.ArgumentParser(
        prog=Path(sys.argv[0]).name, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    chosen = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name == chosen:
            module = imported(name)
            module.add_arguments(command)
            command.set_defaults(run=module.run, parser=command)
    return parser


def imported(name):
    """The module of a command; ends the program in a sentence if a library is missing."""
    try:
        return importlib.import_module(f"weakly.own_data.{name}_command")
    except ModuleNotFoundError as error:
        sys.exit(
            f"{error.name} is not installed for {sys.executable}. In a clone, run `.venv/bin/python "
            f"detect.py {name} ...`; `bash -c 'source ./setup_env.sh'` installs what it needs."
        )


def main(argv=None):
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words)
    args, unknown = parser.parse_known_args(words)
    refuse_unknown(args.parser, unknown)
    target = args.model if args.command == "fit" else getattr(args, "output", None)  # what it writes
    # a problem with a file ends in one sentence, without the usage
    sentence_only = argparse.ArgumentParser(prog=f"{parser.prog} {args.command}", usage=argparse.SUPPRESS)
    messages = redirect_stdout(sys.stderr) if target and is_standard_output(target) else nullcontext()
    try:
        with user_errors_end(sentence_only), messages:
            if target and not (folder := Path(target).parent).is_dir():
                raise UserError(f"{target} cannot be written: the folder {folder} does not exist.")
            args.run(args)
    except KeyboardInterrupt:
        unwritten = " Nothing was written." if target and not is_written_through(target) else ""
        parser.exit(130, f"Stopped.{unwritten}\n")
    return 0
