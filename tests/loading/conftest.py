"""What the tests of loading share: a server on 127.0.0.1, the only network that they use."""

import threading
from http.server import ThreadingHTTPServer

import pytest
from servers import Handler

from weakly.loading import fetching


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
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
