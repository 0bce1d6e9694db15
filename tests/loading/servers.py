"""A server with faults on 127.0.0.1, and how it stands in for a public address."""

import gzip
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

import requests


class Handler(BaseHTTPRequestHandler):
    """Serves `server.files` {path: content}.

    `server.faults` {path: [fault, ...]} are used up one per request. `server.parts` answer every request.
    """

    def do_GET(self):
        path = unquote(self.path)
        self.server.asked.append(path)
        if self.server.parts:
            with suppress(OSError):
                for part in self.server.parts():
                    self.wfile.write(part)
            return
        faults = self.server.faults.get(path, [])
        fault = faults.pop(0) if faults else None
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
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "short" else body)

    def log_message(self, *_):
        pass


def serve_instead_of(address, server, monkeypatch):
    """Let requests reach the server under a public address, and nothing else."""
    get = requests.get

    def get_from_server(url, **options):
        if not url.startswith(address):
            raise requests.ConnectionError(f"{url} is not served")
        return get(url.replace(address, server.url), **options)

    monkeypatch.setattr(requests, "get", get_from_server)
