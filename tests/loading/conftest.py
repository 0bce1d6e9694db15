"""What the tests of loading share: a server on 127.0.0.1, the only network that they use."""

import subprocess
import sys
import threading
from http.server import ThreadingHTTPServer

import pytest
from servers import Handler

from weakly.loading import fetching
from weakly.paths import ROOT


@pytest.fixture(scope="session")
def all_prepared(real_data, prepared_dir):
    """Everything prepared once, in a process of its own, whose peak memory in bytes is in the file `peak`."""
    code = (
        "import data_prep, sys, weakly.environment as e; data_prep.main(sys.argv[1:]); print(e.peak_bytes())"
    )
    options = ["--offline", "--source", str(real_data), "--data-dir", str(prepared_dir)]
    command = [sys.executable, "-c", code, *options]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (prepared_dir / "peak").write_text(output.split()[-1])
    return prepared_dir


@pytest.fixture
def plain_environment(monkeypatch):
    """No proxy between the tests and 127.0.0.1, and no long waits."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(fetching, "BACK_OFF", 0.01)


@pytest.fixture
def server(plain_environment):
    """A server on 127.0.0.1 with its own files and faults."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.faults, server.asked, server.parts = {}, {}, [], None
    server.released = threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
