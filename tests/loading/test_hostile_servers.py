"""A server that sends whatever it likes costs bounded time and memory, is one sentence, changes no file."""

import gzip
import hashlib
import itertools
import re
import socket
import threading
import time
import tracemalloc
from contextlib import suppress

import pytest
from archives import CONTENT, all_files

from weakly.loading import fetching
from weakly.loading.fetching import SourceFinder
from weakly.loading.registry import File

pytestmark = pytest.mark.usefixtures("plain_environment")
FILE = File(("a.csv",))
PINNED = File(("a.csv",), digests={"a.csv": {"SHA-256": hashlib.sha256(CONTENT).hexdigest()}})
OK = b"HTTP/1.1 200 OK\r\n"
REDIRECT = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
NOT_ARRIVED = "a.csv did not arrive from 127.0.0.1."
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT)
PINNED_LENGTH = OK + b"Content-Length: %d\r\n\r\n%s" % (len(CONTENT), CONTENT)


@pytest.fixture
def send():
    """Start a server that answers each request with these parts; returns its URL and the paths asked for."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer(connection, parts, asked):
            with connection, suppress(OSError):
                asked.append(connection.recv(2**16).split()[1].decode())
                for part in parts():
                    connection.sendall(part)

        def serve(parts, asked):
            with suppress(OSError):  # closed at the end of the test
                while True:
                    connection = listening.accept()[0]
                    threading.Thread(target=answer, args=(connection, parts, asked), daemon=True).start()

        def start(parts):
            asked = []
            threading.Thread(target=serve, args=(parts, asked), daemon=True).start()
            return f"http://127.0.0.1:{listening.getsockname()[1]}", asked

        yield start
        listening.shutdown(socket.SHUT_RDWR)


def dripping(start, part):
    """The parts of an answer that starts so and then goes on, a little at a time."""
    yield start
    for _ in range(300):  # not for ever, where nobody hangs up
        time.sleep(0.01)
        yield part


def failure(sources, file=FILE):
    """The one sentence that a failed download ends in."""
    assert sources.remote(file) is None
    (sentence,) = [*sources.refused, *sources.problems()]
    return sentence


@pytest.mark.parametrize("start, part", [
    (OK + b"X-Header: ", b"1"), (PINNED_LENGTH.replace(b": ", b": 9"), b"1"), (CHUNKED, b"0"),
    (CHUNKED + BODY + b"0\r\n", b"X-Trailer: 1\r\n"),
], ids=["header", "body", "size of a chunk", "trailers"])  # fmt: skip
def test_a_server_that_drips_is_given_up(send, tmp_path, monkeypatch, start, part):
    monkeypatch.setattr(fetching, "TIME_LIMIT", 0.2)
    url, asked = send(lambda: dripping(start, part))
    (tmp_path / "a.csv").write_bytes(b"old")
    begin, sources = time.monotonic(), SourceFinder(tmp_path, [url], read_timeout=1.0)
    assert failure(sources, PINNED) == "127.0.0.1 takes longer than 0.2 seconds for a file."
    assert time.monotonic() - begin < 1.5 and asked == ["/a.csv"]
    assert all_files(tmp_path) == ["a.csv"] and (tmp_path / "a.csv").read_bytes() == b"old"


@pytest.mark.parametrize("start, part, said", [
    (OK + b"X-Header: ", b"1" * 2**16, "did not arrive"),
    (CHUNKED, b"10000\r\n" + b"1" * 2**16 + b"\r\n", "is larger than"),
    (OK + b"\r\n", b"1" * 2**16, "is larger than"),
    (b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\n\r\n", b"1" * 2**16, "127.0.0.1 cannot be"),
    (b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Encoding: gzip\r\n\r\n",
     gzip.compress(bytes(2**26)), "did not arrive"),
    (b"HTTP/1.1 500 No\r\n\r\n", b"1" * 2**16, "did not arrive"),
    (OK + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(bytes(2**26)), "SHA-256|larger"),
], ids=["header", "chunks", "body", "redirect", "packed redirect", "error", "bomb"])  # fmt: skip
def test_what_never_ends_takes_little_memory(send, tmp_path, monkeypatch, start, part, said):
    monkeypatch.setattr(fetching, "SIZE_LIMIT", 2**22)
    url, _ = send(lambda: itertools.chain([start], itertools.repeat(part, 2**25 // len(part))))
    (tmp_path / "a.csv").write_bytes(b"old")
    sources = SourceFinder(tmp_path, [url], read_timeout=1.0)
    tracemalloc.start()
    sentence = failure(sources, PINNED)
    assert re.search(said, sentence) and len(sentence) < 250, sentence
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert all_files(tmp_path) == ["a.csv"] and (tmp_path / "a.csv").read_bytes() == b"old"


# other spellings of 127.0.0.1, another host, port and scheme, and what is no address
@pytest.mark.parametrize("target", [
    b"http://2130706433/", b"http://localhost./", b"file:///y", b"//other.test/y", b"http://127.0.0.1:1/y",
    b"http://127.0.0.1:1@[", b"http://\xff\xfe/",
])  # fmt: skip
def test_no_redirect_leads_to_another_address_without_https(send, tmp_path, monkeypatch, target):
    created, create = [], socket.create_connection

    def connect(address, *_, **__):
        created.append(address)
        return create(address)

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    url, asked = send(lambda: [REDIRECT + target + b"\r\n\r\n"])
    sentence = failure(SourceFinder(tmp_path, [url]))
    assert "redirects to another server, without https." in sentence or sentence == NOT_ARRIVED
    assert set(asked) <= {"/a.csv", "/partial/a.csv"}
    assert {port for _, port in created} == {int(url.rpartition(":")[2])}


def test_redirects_in_a_circle_end(send, tmp_path):
    url, asked = send(lambda: [REDIRECT + b"/a.csv\r\n\r\n"])
    assert failure(SourceFinder(tmp_path, [url]), PINNED) == NOT_ARRIVED and len(asked) <= 200


@pytest.mark.parametrize("parts, whole", [([BODY, b"0\r\n\r\n"], True), ([BODY], False)])
def test_chunks_tell_whether_a_file_is_whole(send, tmp_path, parts, whole):
    url, _ = send(lambda: [CHUNKED, *parts])
    assert (SourceFinder(tmp_path, [url]).remote(FILE) is not None) == whole
    assert all_files(tmp_path) == ["a.csv"] * whole
