"""dataset/croissant.json: the data sets in the Croissant format of MLCommons, version 1.1.

`python -m tools.data_cards` writes it. The record sets `data_sets` and `files` have a row for each data set
and for each of the authors' files. A plain CSV file whose header is known has its own record set.
"""

from weakly.loading.authors_files import AUTHORS_FILES, SHA256
from weakly.loading.cards import CARDS
from weakly.loading.recipes import KNOWN_DIGESTS
from weakly.loading.registry import DATA_SETS

VERSION = "http://mlcommons.org/croissant/1.1"
# git commits have no SHA-256; Croissant's examples use this address instead
NO_CHECKSUM = "https://github.com/mlcommons/croissant/issues/80"
TERMS = """arrayShape citeAs column containedIn equivalentProperty extract field fileObject fileProperty
    fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex
    repeated replace samplingRate separator source subField transform""".split()
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
} | {term: f"cr:{term}" for term in TERMS}
FORMATS = {
    ".csv": "text/csv",
    ".zip": "application/zip",
    ".xz": "application/x-xz",
    ".npz": "application/zip",
}
PAPER = (
    "Pang, Shen, Jin and van den Hengel. Deep Weakly-supervised Anomaly Detection. KDD 2023. "
    "doi:10.1145/3580305.3599302"
)


def croissant(prepared):
    """The whole document; prepared is {data set: (SHA-256, row order) of the reference runs' arrays}."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "prenet-data-sets",
        "description": "The data sets of the PReNet paper (KDD 2023): 12 with seen anomalies, and the matrix "
        "behind the 28 with unseen ones. Each has its own source and licence: see record set data_sets.",
        "conformsTo": VERSION,
        "citeAs": PAPER,
        "url": "https://github.com/mala-lab/PReNet",
        "version": "1.0.0",
        "datePublished": "2023-08-06",
        "creator": {"@type": "sc:Organization", "name": "The authors of the PReNet paper"},
        "license": sorted({card.licence_url for card in CARDS.values()}),
        "distribution": [*repositories(), *authors_files(), *other_files()],
        "recordSet": [
            inline("data_sets", "A row for each data set.", [data_set_row(name, prepared) for name in CARDS]),
            inline("files", "The authors' files and their hashes.", file_rows()),
            *(columns_of(name) for name, card in CARDS.items() if card.columns),
        ],
    }


def repositories():
    for repository in dict.fromkeys(line.repository for line in AUTHORS_FILES):
        yield file_object(repository, f"https://github.com/{repository}", "git+https", sha256=NO_CHECKSUM)


def authors_files():
    """Each of the authors' files: with its address if its SHA-256 is known, else as part of a repository."""
    for line in {line.file: line for line in reversed(AUTHORS_FILES)}.values():
        kind, blob = encoding_format(line.file), f"git blob id {line.git_blob}"
        if line.sha256:
            yield file_object(line.file, line.address, kind, sha256=line.sha256, description=blob)
        else:
            place = f"{line.folder}/{line.file}"
            yield file_object(line.file, place, kind, containedIn={"@id": line.repository}, description=blob)


def other_files():
    """Copies elsewhere whose SHA-256 is known."""
    authors = {line.file for line in AUTHORS_FILES}
    files = {
        file.names[0]: file.addresses[0]
        for entry in DATA_SETS.values()
        for recipe in entry.recipes
        for file in recipe.files
        if file.addresses
    }
    for name, digests in KNOWN_DIGESTS.items():
        if name in files and name not in authors:
            yield file_object(name, files[name], encoding_format(name), sha256=digests[SHA256])


def file_object(name, address, kind, **others):
    names = {"@type": "cr:FileObject", "@id": name, "name": name}
    return names | {"contentUrl": address, "encodingFormat": kind} | others


def encoding_format(name):
    return FORMATS["." + name.rpartition(".")[2]]


def data_set_row(name, prepared):
    entry, card = DATA_SETS[name], CARDS[name]
    sha256, order = prepared.get(name, ("", ""))
    return {
        "name": name,
        "title": card.title,
        "rows": entry.rows,
        "features": entry.features,
        "anomalies": entry.anomalies,
        "a_row_is": card.rows,
        "anomalies_are": card.anomalies,
        "features_are": card.features,
        "source": card.origin,
        "licence": card.licence,
        "licence_url": card.licence_url,
        "citation": card.citation,
        "row_order": card.order,
        "row_order_in_reference_runs": order,
        "sha256_in_reference_runs": sha256,
    }


def file_rows():
    kept = ("repository", "branch", "folder", "file", "git_blob", "sha256")
    return [{key: getattr(line, key) for key in kept} | {"address": line.address} for line in AUTHORS_FILES]


def inline(name, description, rows):
    """A record set that contains its rows."""
    fields = [
        field(name, column, "sc:Integer" if isinstance(value, int) else "sc:Text")
        for column, value in rows[0].items()
    ]
    named = [{f"{name}/{column}": value for column, value in row.items()} for row in rows]
    return record_set(name, description, fields) | {"data": named}


def columns_of(name):
    """The record set of a plain CSV file: its features, then `class`."""
    recipe = DATA_SETS[name].recipes[0]
    file = next(name for name in recipe.files[0].names if name.endswith(".csv"))
    columns = dict.fromkeys(CARDS[name].columns, "sc:Float") | {"class": "sc:Integer"}
    fields = [
        field(name, column, kind) | {"source": {"fileObject": {"@id": file}, "extract": {"column": column}}}
        for column, kind in columns.items()
    ]
    return record_set(name, f"{CARDS[name].title}. Anomalies have class 1.", fields)


def record_set(name, description, fields):
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": description, "field": fields}


def field(record_set_name, column, kind):
    return {
        "@type": "cr:Field",
        "@id": f"{record_set_name}/{column}",
        "name": column,
        "description": column.replace("_", " "),
        "dataType": kind,
    }
