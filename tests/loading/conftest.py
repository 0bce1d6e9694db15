"""What the tests of loading share: a server on 127.0.0.1, the only network that they use."""

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from weakly.loading import fetching


class Handler(BaseHTTPRequestHandler):
    """Serves `server.files` {path: content}.

    `server.faults` {path: [fault, ...]} are used up one per request.
    """

    def do_GET(self):
        path = unquote(self.path)
        self.server.asked.append(path)
        faults = self.server.faults.get(path, [])
        fault = faults.pop(0) if faults else None
        if fault == "silent":
            self.server.released.wait(5)
            return
        if str(fault).startswith(("http", "/", "file")):
            self.send_response(302)
            self.send_header("Location", fault)
            self.end_headers()
            return
        if isinstance(fault, int) or path not in self.server.files:
            self.send_error(fault or 404)
            return
        body = self.server.files[path]
        self.send_response(200)
        if fault == "packed":
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        if fault not in ("endless", "drip"):
            self.send_header("Content-Length", str(2**50 if fault == "boasting" else len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "short" else body)
        while fault in ("endless", "drip") and not self.server.released.is_set():
            try:
                self.wfile.write(b"." * (2**16 if fault == "endless" else 1))
            except OSError:  # the other side has had enough
                return
            time.sleep(0.02 if fault == "drip" else 0)

    def log_message(self, *_):
        pass


@pytest.fixture
def plain_environment(monkeypatch):
    """No proxy between the tests and 127.0.0.1, and no long waits."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(fetching, "BACK_OFF", 0.01)


@pytest.fixture
def server(plain_environment):
    """A server on 127.0.0.1 with its own files and faults."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.faults, server.asked, server.released = {}, {}, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
