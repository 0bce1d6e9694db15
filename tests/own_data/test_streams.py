"""detect.py in a pipeline: tables from standard input and pipes, scores to standard output."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

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


def test_standard_input_to_standard_output_which_has_the_result_alone(model_path, expected):
    command = [sys.executable, ROOT / "detect.py", "score", "-", "--model", model_path, "--output", "-"]
    done = subprocess.run(command, input=CSV, capture_output=True)
    assert done.returncode == 0 and done.stdout == expected
    assert b"600 rows of standard input; wrote all to standard output." in done.stderr


def test_no_input_is_written_over_through_a_link(folder, model_path, capsys, run):
    Path("input").symlink_to("events.csv")
    for command in (f"fit events.csv {LEARN} --model", f"score input --model {model_path} --output"):
        assert run(f"{command} input") == 2
        assert "input is an input file" in capsys.readouterr().err and Path("events.csv").read_bytes() == CSV


def test_a_fifo_and_a_link_stay_what_they_are(folder, model_path, expected, run):
    os.mkfifo("fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("fifo").read_bytes()), daemon=True)
    reader.start()
    Path("link").symlink_to("target")
    for output in ("fifo", "link"):
        assert run(f"score events.csv --model {model_path} --output {output}") == 0
    reader.join(timeout=10)
    assert read == [expected] and Path("fifo").is_fifo()
    assert Path("link").is_symlink() and Path("target").read_bytes() == expected


def test_it_ends_quietly_when_nobody_reads_on(folder, model_path):
    Path("long.csv").write_bytes(CSV + CSV.split(b"\n", 1)[1] * 50)
    command = [
        sys.executable,
        ROOT / "detect.py",
        "score",
        "long.csv",
        "--model",
        model_path,
        "--output",
        "-",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"row,score\n"  # as head -1 does
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
