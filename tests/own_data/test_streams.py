"""detect.py in a pipeline: tables from standard input and pipes, scores to standard output and FIFOs."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.models import load_model
from weakly.paths import ROOT

CSV = events().to_csv(index=False).encode()
LEARN = "--label fraud --method logistic-converged"


@pytest.fixture
def expected(folder, model_path, run):
    """The scores of events.csv as a file has them."""
    assert run(f"score events.csv --model {model_path} --output expected.csv") == 0
    return Path("expected.csv").read_bytes()


@pytest.fixture
def pipe():
    """A function that gives the path of a pipe with some content, as <(command) does."""
    opened = []

    def path_of(content):
        reading, writing = os.pipe()
        opened.append(reading)

        def write():
            with open(writing, "wb", buffering=0) as file:  # the first bytes come alone
                file.write(content[:2])
                file.write(content[2:])

        threading.Thread(target=write, daemon=True).start()
        return f"/dev/fd/{reading}"

    yield path_of
    for reading in opened:
        os.close(reading)


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_a_pipe_is_read_like_a_file(folder, model_path, expected, pipe, write, capsys, run):
    getattr(events(), write)(buffer := io.BytesIO(), index=False)
    assert run(f"score {pipe(buffer.getvalue())} --model {model_path}") == 0
    assert Path("scores.csv").read_bytes() == expected
    table = pipe(CSV)
    assert run(f"fit {table} {LEARN} --model m") == 0
    assert f"600 rows of {table}: 30 labelled anomalies" in capsys.readouterr().out
    assert load_model("m").columns.items() >= load_model(model_path).columns.items()


@pytest.mark.parametrize("content", [b"", b"a", b"a,b\n", b"PAR1....PAR1", b"PK\3\4", b"\x1f\x8b", b"PK\5\6"])
def test_a_bad_pipe_gives_one_sentence(folder, model_path, pipe, content, capsys, run):
    table = pipe(content)
    assert run(f"score {table} --model {model_path}") == 2
    error = capsys.readouterr().err
    assert table in error and error.count("\n") == 1 and not Path("scores.csv").exists()


def test_standard_output_has_the_result_alone(folder, model_path, expected, capfdbinary, run):
    assert run(f"score events.csv --model {model_path} --output - --contamination 0.1") == 0
    out, err = capfdbinary.readouterr()
    assert list(pd.read_csv(io.BytesIO(out))) == ["row", "score", "flag"]
    assert b"wrote all to standard output.\n87 of the 600 rows are flagged" in err
    assert run(f"fit events.csv {LEARN} --model -") == 0
    out, err = capfdbinary.readouterr()
    Path("m").write_bytes(out)
    assert load_model("m").about["rows"] == 600 and b"wrote standard output." in err
    assert sorted(os.listdir()) == ["events.csv", "expected.csv", "m"]


def test_a_fifo_and_a_link_stay_what_they_are_and_no_input_is_written_over(
    folder, model_path, expected, capsys, run
):
    os.mkfifo("fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("fifo").read_bytes()), daemon=True)
    reader.start()
    Path("link").symlink_to("target")
    Path("input").symlink_to("events.csv")
    for output in ("fifo", "link"):
        assert run(f"score events.csv --model {model_path} --output {output}") == 0
    reader.join(timeout=10)
    assert read == [expected] and Path("fifo").is_fifo()
    assert Path("link").is_symlink() and Path("target").read_bytes() == expected
    for command in (f"fit events.csv {LEARN} --model", f"score input --model {model_path} --output"):
        assert run(f"{command} input") == 2
        assert "input is an input file" in capsys.readouterr().err and Path("events.csv").read_bytes() == CSV


def scoring(model_path, table, **options):
    """score of standard input to standard output, in a process of its own."""
    command = [sys.executable, ROOT / "detect.py", "score", "-", "--model", model_path, "--output", "-"]
    with open(table, "rb") as stdin:
        return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, **options)


def test_the_bar_on_a_terminal_stays_out_of_standard_output(folder, model_path, expected):
    watching, terminal = os.openpty()
    with scoring(model_path, "events.csv", stderr=terminal) as process:
        assert process.communicate(timeout=120)[0] == expected and process.returncode == 0
    shown = os.read(watching, 10_000).decode()
    assert "100%" in shown and "600 rows of standard input; wrote all to standard output." in shown
    os.close(watching)
    os.close(terminal)


def test_it_ends_quietly_when_nobody_reads_on(folder, model_path):
    Path("long.csv").write_bytes(CSV + CSV.split(b"\n", 1)[1] * 50)
    with scoring(model_path, "long.csv", stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"row,score\n"  # as head -1 does
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
