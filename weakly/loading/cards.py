"""What the rows of each data set are, where they come from, and under which licence: the facts of its card.

    python -m tools.data_cards      # writes them into docs/data.md and dataset/croissant.json

Sizes and files are in weakly/loading/registry.py, and the authors' files with their hashes in
published/authors_files.csv.
"""

from dataclasses import dataclass

CC_BY = ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/")
OWN_FILE = "The rows are those of the authors' own file, which its git blob id identifies."


@dataclass(frozen=True)
class Card:
    """The facts about a data set, apart from its size and its files."""

    title: str
    rows: str  # what a row is
    anomalies: str  # which rows are the anomalies
    features: str  # what the columns are
    origin: str  # the page of its first publisher
    licence: str
    licence_url: str  # where its terms are
    citation: str
    order: str  # how well it is known that the rows are in the order of the authors' file
    columns: tuple = ()  # of the authors' CSV file before `class`, if it is plain and its header known


def unsw_card(title, anomalies, order):
    """A card of UNSW-NB15: the same flows and terms, other attacks as anomalies."""
    page = "https://research.unsw.edu.au/projects/unsw-nb15-dataset"
    return Card(
        title,
        "network connections, recorded in a laboratory with generated traffic",
        anomalies,
        "numbers and one-hot levels (protocol, service, state), scaled to 0-1",
        page,
        "free for academic research; commercial use needs the authors' consent",
        page,
        "Moustafa and Slay, UNSW-NB15: a comprehensive data set for network intrusion detection systems, "
        "MilCIS 2015, doi:10.1109/MilCIS.2015.7348942",
        order,
    )


ONE_CLASS = (
    "The authors' file of this class gives their order. Without it, the rows are assembled from other "
    "files, in the order of these files. This was the case in our reference runs, which had a part or "
    "another sample of the attacks (`partial`)."
)
CARDS = {
    "donors": Card(
        "DonorsChoose projects (KDD Cup 2014)",
        "school projects that ask for donations",
        "projects that the site rated exceptionally exciting",
        "properties of the project, scaled to 0-1; rows with missing values were removed by the authors",
        "https://www.kaggle.com/c/kdd-cup-2014-predicting-excitement-at-donors-choose",
        "rules of the Kaggle competition",
        "https://www.kaggle.com/c/kdd-cup-2014-predicting-excitement-at-donors-choose/rules",
        "KDD Cup 2014, Predicting Excitement at DonorsChoose.org",
        "With ADBench's copy the order is inferred: its copies of celeba and campaign are the authors' "
        "files, byte for byte.",
    ),
    "census": Card(
        "Census-Income (KDD)",
        "persons in the Current Population Surveys of 1994 and 1995 of the US Census Bureau",
        "persons with an income above 50,000 dollars",
        "7 numbers scaled to 0-1 and 33 nominal columns as 493 one-hot levels; a missing value has no level; "
        "the survey weight is not used",
        "https://archive.ics.uci.edu/dataset/117",
        *CC_BY,
        "Census-Income (KDD), UCI Machine Learning Repository 2000, doi:10.24432/C5N30T",
        "From UCI's files the order is inferred: the authors' nominal ARFF file of the same data shows the "
        "rows that it was made from.",
    ),
    "fraud": Card(
        "Credit card fraud",
        "card payments of European customers on two days in September 2013",
        "fraudulent payments",
        "28 principal components and the amount, scaled to 0-1; the time is not used",
        "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud",
        "DbCL 1.0",
        "https://opendatacommons.org/licenses/dbcl/1-0/",
        "Dal Pozzolo, Caelen, Johnson and Bontempi, Calibrating probability with undersampling for "
        "unbalanced classification, IEEE SSCI 2015, doi:10.1109/SSCI.2015.33",
        "From the public file the order is inferred: the published results of four methods fit that file's "
        "order, and not the shuffled one.",
    ),
    "celeba": Card(
        "CelebA attributes",
        "photographs of celebrities, described by 40 yes/no attributes",
        "photographs of bald persons",
        "the other 39 attributes; no image is used",
        "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
        "non-commercial research only",
        "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
        "Liu, Luo, Wang and Tang, Deep learning face attributes in the wild, ICCV 2015, "
        "doi:10.1109/ICCV.2015.425",
        "ADBench's copy, written as the authors write a table, has the git blob id of their file. So has the "
        "public table of attributes, shuffled as Weka does it with seed 42, except for three cells: images "
        "105151, 149981 and 193101 are `Male` in the authors' file only, and our reader changes these cells.",
        tuple(f"A{number}" for number in range(39)),
    ),
    "dos": unsw_card("UNSW-NB15, denial of service", "denial-of-service attacks", ONE_CLASS),
    "rec": unsw_card("UNSW-NB15, reconnaissance", "reconnaissance attacks", ONE_CLASS),
    "fuz": unsw_card("UNSW-NB15, fuzzers", "attacks with random input (fuzzers)", ONE_CLASS),
    "bac": unsw_card("UNSW-NB15, backdoor", "backdoor attacks", OWN_FILE),
    "w7a": Card(
        "w7a web pages",
        "web pages",
        "pages of the rare category",
        "300 keywords, present or absent",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#w7a",
        "none stated",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/",
        "Platt, Fast training of support vector machines using sequential minimal optimization, in Advances "
        "in Kernel Methods, MIT Press 1999; by way of LIBSVM",
        OWN_FILE,
    ),
    "campaign": Card(
        "Bank marketing calls",
        "phone calls in the marketing campaigns of a Portuguese bank, 2008 to 2010",
        "calls after which the client subscribed to a term deposit",
        "10 numbers scaled to 0-1 and 10 nominal columns as 52 one-hot levels; `unknown` is a level",
        "https://archive.ics.uci.edu/dataset/222",
        *CC_BY,
        "Moro, Rita and Cortez, Bank Marketing, UCI Machine Learning Repository 2014, doi:10.24432/C5K306",
        "UCI's rows, shuffled as Weka does it with seed 42 and written as the authors write a table, have "
        "the git blob id of their file.",
    ),
    "news20": Card(
        "20 Newsgroups, two classes",
        "posts to news groups",
        "posts of the smaller class, of which the authors kept a random part",
        "words and pairs of words, as a sparse matrix with rows of unit length",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#news20.binary",
        "none stated",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/",
        "Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, "
        "JMLR 6, 2005; by way of LIBSVM (news20.binary)",
        "The authors' file gives their order. The file behind our reference runs is a reconstruction from "
        "the public posts with other features; its results are not compared with the paper's.",
    ),
    "thyroid": Card(
        "Thyroid disease (ann-thyroid)",
        "patients who were examined for thyroid disease",
        "patients with an abnormal thyroid; the paper calls them hypothyroid",
        "age, five blood values (TSH, T3, TT4, T4U, FTI) and 15 yes/no answers, scaled to 0-1",
        "https://archive.ics.uci.edu/dataset/102",
        *CC_BY,
        "Quinlan, Thyroid Disease, UCI Machine Learning Repository 1986, doi:10.24432/C5D010",
        OWN_FILE,
        tuple(f"Dim_{number}" + "=0" * (1 <= number <= 15) for number in range(21)),
    ),
    "unsw": unsw_card(
        "UNSW-NB15, four attack classes",
        "denial-of-service, reconnaissance, fuzzers and backdoor attacks, each a class of its own",
        "The normal and backdoor rows are in the order of the authors' file. The other attacks follow, each "
        "class in the order of its file. The authors' own combined files are not in their repositories. Our "
        "reference runs had a part or another sample of the first three (`partial`).",
    ),
}
