"""Archives, listings of files and the header of UCI's bank table, as several tests need them."""

import gzip
import io
import tarfile
import zipfile

import numpy as np

BANK_COLUMNS = """age job marital education default housing loan contact month day_of_week duration campaign
    pdays previous poutcome emp.var.rate cons.price.idx cons.conf.idx euribor3m nr.employed y""".split()
CONTENT = b"x0,x1,class\n" + b"".join(b"%d,%d,0\n" % (row, row * row) for row in range(20000))


def all_files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def tar_bytes(entries, compress=gzip.compress):
    """A compressed tar file of (name, content) pairs."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return compress(buffer.getvalue())


def zip_bytes(*entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
