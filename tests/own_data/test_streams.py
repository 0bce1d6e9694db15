"""detect.py in a pipeline: tables from standard input and pipes, scores to standard output and FIFOs."""

import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.models import load_model

ROOT = Path(__file__).resolve().parent.parent.parent
CSV = events().to_csv(index=False).encode()
LEARN = ["--label", "fraud", "--method", "logistic-converged"]


@pytest.fixture
def expected(folder, model_path, run):
    """The scores of events.csv as a file has them."""
    assert run(["score", "events.csv", "--model", model_path, "--output", "expected.csv"]) == 0
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
                for part in (content[:2], content[2:]):
                    file.write(part)

        threading.Thread(target=write, daemon=True).start()
        return f"/dev/fd/{reading}"

    yield path_of
    for reading in opened:
        os.close(reading)


def process(*arguments, **options):
    """detect.py in a process of its own."""
    command = [sys.executable, ROOT / "detect.py", *arguments]
    return subprocess.Popen(list(map(str, command)), **options)


@pytest.mark.parametrize("write", ["to_csv", "to_parquet"])
def test_a_pipe_is_read_like_a_file(folder, model_path, expected, pipe, write, run):
    getattr(events(), write)(buffer := io.BytesIO(), index=False)
    assert run(["score", pipe(buffer.getvalue()), "--model", model_path]) == 0
    assert Path("scores.csv").read_bytes() == expected


def test_fit_and_evaluate_read_pipes(folder, model_path, pipe, capsys, run):
    table = pipe(CSV)
    assert run(["fit", table, *LEARN, "--model", "piped.model"]) == 0
    assert f"600 rows of {table}: 30 labelled anomalies" in capsys.readouterr().out
    assert load_model("piped.model").columns.items() >= load_model(model_path).columns.items()
    assert run(["evaluate", pipe(CSV), *LEARN, "--n-labeled", "9"]) == 0


@pytest.mark.parametrize("content", [b"", b"a", b"a,b\n", b"PAR1....PAR1", b"PK\3\4", b"\x1f\x8b", b"PK\5\6"])
def test_a_bad_pipe_gives_one_sentence(folder, model_path, pipe, content, capsys, run):
    table = pipe(content)
    assert run(["score", table, "--model", model_path]) == 2
    error = capsys.readouterr().err
    assert table in error and error.count("\n") == 1 and not Path("scores.csv").exists()


def test_standard_output_has_the_result_alone(folder, model_path, expected, capfdbinary, run):
    assert run(["score", "events.csv", "--model", model_path, "--output", "-", "--contamination", "0.1"]) == 0
    out, err = capfdbinary.readouterr()
    assert list(pd.read_csv(io.BytesIO(out))) == ["row", "score", "flag"]
    assert b"wrote all to standard output.\n87 of the 600 rows are flagged" in err
    assert run(["fit", "events.csv", *LEARN, "--model", "-"]) == 0
    out, err = capfdbinary.readouterr()
    Path("m").write_bytes(out)
    assert load_model("m").about["rows"] == 600 and b"wrote standard output." in err
    assert sorted(os.listdir()) == ["events.csv", "expected.csv", "m"]


def test_a_fifo_and_a_link_stay_what_they_are(folder, model_path, expected, run):
    os.mkfifo("fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("fifo").read_bytes()), daemon=True)
    reader.start()
    assert run(["score", "events.csv", "--model", model_path, "--output", "fifo"]) == 0
    reader.join(timeout=10)
    assert read == [expected] and stat.S_ISFIFO(os.lstat("fifo").st_mode)
    Path("target").write_text("old")
    Path("link").symlink_to("target")
    assert run(["score", "events.csv", "--model", model_path, "--output", "link"]) == 0
    assert Path("link").is_symlink() and Path("target").read_bytes() == expected


@pytest.mark.parametrize("command", ["fit", "score"])
def test_what_is_read_from_is_not_written_to(folder, model_path, command, capsys, run):
    Path("link").symlink_to("events.csv")
    options = ["--model", model_path] if command == "score" else LEARN
    target = "--model" if command == "fit" else "--output"
    assert run([command, "events.csv", *options, target, "link"]) == 2
    assert "link is an input file" in capsys.readouterr().err and Path("events.csv").read_bytes() == CSV


def test_a_pipeline_from_standard_input_to_standard_output(folder, model_path, expected):
    """The progress bar, which is for terminals, stays out of standard output."""
    watching, terminal = os.openpty()
    with open("events.csv", "rb") as table:
        for stdin, given in ((table, None), (subprocess.PIPE, CSV)):
            running = process(
                "score", "-", "--model", model_path, "--output", "-",
                stdin=stdin, stdout=subprocess.PIPE, stderr=terminal,
            )  # fmt: skip
            assert running.communicate(given, timeout=120)[0] == expected and running.returncode == 0
            shown = os.read(watching, 10_000).decode()
            assert "Scored 600 rows of standard input; wrote all to standard output." in shown
            assert ("100%" in shown) == (given is None)  # of a pipe nobody knows how long it is
    os.close(watching)
    os.close(terminal)


def test_it_ends_quietly_when_nobody_reads_on(folder, model_path):
    Path("long.csv").write_bytes(CSV + CSV.split(b"\n", 1)[1] * 50)
    running = process(
        "score", "long.csv", "--model", model_path, "--output", "-",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert running.stdout.readline() == b"row,score\n"  # as head -1 does
    running.stdout.close()
    assert running.stderr.read() == b"" and running.wait(timeout=120) == 141
    running.stderr.close()
