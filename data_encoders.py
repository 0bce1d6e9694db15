"""From published files to a matrix: one reader per file format, each returning X (n, D) and y (n,) 0/1, rows in file order.

Nominal columns become one column per level, in order of first appearance as in the authors' UNSW files, two-level ones a
single column; numeric columns are scaled to 0-1 over all rows (App. B.1 and the authors' files).
"""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from data_files import DataError, open_data_file

# Levels of the UNSW-NB15 columns in the order of the authors' header; no single half of the data has all of them.
UNSW_LEVELS = {
    "proto": """udp arp tcp igmp ospf sctp gre ggp ip ipnip st2 argus chaos egp emcon nvp pup xnet mux dcn hmp prm trunk-1
        trunk-2 xns-idp leaf-1 leaf-2 irtp rdp netblt mfe-nsp merit-inp 3pc idpr ddp idpr-cmtp tp++ ipv6 sdrp ipv6-frag
        ipv6-route idrp mhrp i-nlsp rvd mobile narp skip tlsp ipv6-no any ipv6-opts cftp sat-expak ippc kryptolan sat-mon
        cpnx wsn pvp br-sat-mon sun-nd wb-mon vmtp ttp vines nsfnet-igp dgp eigrp tcf sprite-rpc larp mtp ax.25 ipip
        aes-sp3-d micp encap pri-enc gmtp ifmp pnni qnx scps cbt bbn-rcc igp bna swipe visa ipcv cphb iso-tp4 wb-expak sep
        secure-vmtp xtp il rsvp unas fc iso-ip etherip pim aris a/n ipcomp snp compaq-peer ipx-n-ip pgm vrrp l2tp zero ddx
        iatp stp srp uti sm smp isis ptp fire crtp crudp sccopmce iplt pipe sps ib icmp rtp""".split(),
    "service": "- http ftp ftp-data smtp pop3 dns snmp ssl dhcp irc radius ssh".split(),
    "state": "INT FIN REQ ACC CON RST CLO ECO PAR URN no".split(),
}
UNSW_HALF_ROWS = (82_332, 175_341)  # the files' names are exchanged in many copies, so they are told apart by size
UNSW_FUZZERS = 3_000  # of 24,246, as in the paper's fuz
CENSUS_NUMERIC = (0, 5, 16, 17, 18, 30, 39)  # age, wage, gains, losses, dividends, persons worked for, weeks worked
CENSUS_WEIGHT, CENSUS_LABEL = 24, 41


# ---------------------------------------------------------------------------- readers


def read_class_csv(path):
    """The authors' format: numeric columns and `class`."""
    table = _read_csv(path)
    if "class" not in table.columns:
        raise DataError(f"{path.name} has no column named 'class'")
    return _numeric(table.drop(columns="class"), path), _labels(table["class"], path)


def read_npz(path):
    """ADBench's format: arrays X and y, never unpickled."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
    except KeyError as error:
        raise DataError(f"{path.name} lacks an array: {error.args[0]}") from None
    except Exception as error:  # a damaged zip can raise almost anything
        raise DataError(f"{path.name} is damaged or not an .npz file of plain arrays ({type(error).__name__})") from None
    if X.ndim != 2 or y.shape != X.shape[:1] or X.dtype.kind not in "fiub":
        raise DataError(f"{path.name} should hold a numeric matrix X and one label per row in y")
    return X, _labels(pd.Series(y), path)


def read_svmlight(path):
    """The authors' news20 format; returns a CSR matrix."""
    with open_data_file(path) as stream:
        try:
            X, y = load_svmlight_file(stream, dtype=np.float32)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{path.name} is not a svmlight file: {error}") from None
    return X, _labels(pd.Series(y), path)


def read_creditcard(path):
    """The public creditcard.csv: V1..V28 and Amount, without Time; `Class` is the label."""
    columns = [f"V{i}" for i in range(1, 29)] + ["Amount"]
    table = _read_csv(path)
    _require(table, [*columns, "Class"], path)
    return scale_to_unit(_numeric(table[columns], path)), _labels(table["Class"], path)


def read_bank(path):
    """UCI bank-additional-full.csv: 10 nominal columns ("unknown" is a level) and 10 numeric ones give 62; y = yes."""
    table = _read_csv(path, member="bank-additional-full.csv", sep=";", keep_default_na=False)
    _require(table, ["age", "job", "contact", "duration", "y"], path)
    nominal = [name for name in table.columns if name != "y" and not pd.api.types.is_numeric_dtype(table[name])]
    return encode_table(table.drop(columns="y"), nominal), _labels(table["y"].map({"no": 0, "yes": 1}), path)


def read_census(train_path, test_path):
    """UCI Census-Income: 33 nominal columns (`?` is missing: all zero) and 7 numeric ones give 500; the weight is left out."""
    parts = [
        _read_csv(path, header=None, skipinitialspace=True, keep_default_na=False, dtype=str, engine="c")
        for path in (train_path, test_path)
    ]
    for part, path in zip(parts, (train_path, test_path)):
        if part.shape[1] != CENSUS_LABEL + 1:
            raise DataError(f"{path.name} has {part.shape[1]} columns, Census-Income has {CENSUS_LABEL + 1}")
    table = pd.concat(parts, ignore_index=True)
    label = table[CENSUS_LABEL].str.strip().map({"- 50000.": 0, "50000+.": 1})
    table = table.drop(columns=[CENSUS_WEIGHT, CENSUS_LABEL])
    nominal = [name for name in table.columns if name not in CENSUS_NUMERIC]
    for name in CENSUS_NUMERIC:
        table[name] = pd.to_numeric(table[name], errors="coerce")
    table[nominal] = table[nominal].apply(lambda column: column.str.strip()).replace("?", None)
    return encode_table(table, nominal), _labels(label, train_path)


def read_unsw_parts(backdoor_path, anomalies_path):
    """The 93,000 normals of the authors' backdoor file, then the rows of an anomalies-only file on the same scale."""
    X, y = read_class_csv(backdoor_path)
    anomalies = _numeric(_read_csv(anomalies_path, header=None), anomalies_path)
    if anomalies.shape[1] != X.shape[1]:
        raise DataError(f"{anomalies_path.name} has {anomalies.shape[1]} columns, {backdoor_path.name} has {X.shape[1]}")
    normals = X[y == 0]
    labels = np.repeat([0, 1], [len(normals), len(anomalies)])
    return scale_to_unit(np.concatenate([normals, anomalies])), labels


def unsw_halves_reader(attack):
    """A reader of one or both raw halves for one attack class; the smaller half comes first, as in the authors' files."""

    def read(*paths):
        halves = sorted((_read_csv(path, encoding="utf-8-sig", keep_default_na=False) for path in paths), key=len)
        for half, path in zip(halves, paths):
            _require(half, ["dur", "proto", "service", "state", "attack_cat", "rate"], path)
            if len(half) not in UNSW_HALF_ROWS:
                raise DataError(f"a UNSW-NB15 half has 82,332 or 175,341 rows, but {len(half):,} were found beside {path.name}")
        if len({len(half) for half in halves}) < len(halves):
            raise DataError(f"{paths[0].name} and {paths[1].name} are the same half of UNSW-NB15")
        return encode_unsw(pd.concat(halves, ignore_index=True), attack)

    return read


def encode_unsw(table, attack):
    """Normal and `attack` rows of the raw table as the authors' 196 columns; Fuzzers are sampled to 3,000."""
    kind = table["attack_cat"].str.strip()
    chosen = np.flatnonzero(kind == attack)
    if attack == "Fuzzers" and len(chosen) > UNSW_FUZZERS:
        chosen = np.random.RandomState(42).choice(chosen, UNSW_FUZZERS, replace=False)
    positions = np.sort(np.concatenate([np.flatnonzero(kind == "Normal"), chosen]))
    features = table.iloc[positions].drop(columns=["id", "attack_cat", "label"])
    return encode_table(features, list(UNSW_LEVELS), UNSW_LEVELS), (kind.iloc[positions] == attack).to_numpy(np.int64)


# ---------------------------------------------------------------------------- encoding


def encode_table(table, nominal, levels=None):
    """One-hot and 0-1 scaled matrix (n, D) float32 of a table, its columns in their order.

    levels gives the levels of nominal columns; without it they are taken from the data in order of first appearance.
    A missing nominal value (None) is all zero.
    """
    blocks = []
    for name in table.columns:
        if name not in nominal:
            blocks.append(scale_to_unit(table[[name]].to_numpy(np.float64)).astype(np.float32))
            continue
        if levels:
            codes, n_levels = pd.Index(levels[name]).get_indexer(table[name]), len(levels[name])
        else:
            codes, found = pd.factorize(table[name])  # missing: -1
            n_levels = len(found)
        block = np.zeros((len(table), n_levels), np.float32)
        present = codes >= 0
        block[present, codes[present]] = 1
        blocks.append(block[:, 1:] if n_levels == 2 else block)
    return np.concatenate(blocks, axis=1)


def scale_to_unit(X):
    """Each column to 0-1 over all rows; a constant column becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


# ---------------------------------------------------------------------------- checks


def check_data_set(X, y, source):
    """Raise DataError unless X is finite and y has at least two anomalies and two normals; return X as float32 or CSR."""
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise DataError(f"{source} holds missing or infinite values")
    for label, kind in ((1, "anomalies"), (0, "normal rows")):
        if np.count_nonzero(y == label) < 2:
            raise DataError(f"{source} has fewer than 2 {kind}")
    return X.astype(np.float32) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float32)


def _read_csv(path, member=None, **options):
    with open_data_file(path, member=member) as stream:
        try:
            return pd.read_csv(stream, low_memory=False, **options) if options.get("engine") is None else pd.read_csv(stream, **options)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise DataError(f"{path.name} is not a readable CSV table: {error}") from None


def _numeric(table, path):
    for name in table.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]]:
        bad = table[name][pd.to_numeric(table[name], errors="coerce").isna()].iloc[0]
        raise DataError(f"{path.name} holds a cell that is not a number in column {name!r}: {str(bad)[:40]!r}")
    return table.to_numpy(np.float64)


def _labels(column, path):
    if not column.isin((0, 1)).all():
        bad = column[~column.isin((0, 1))].iloc[0]
        raise DataError(f"{path.name} has a label other than 0 and 1: {str(bad)[:40]!r}")
    return column.to_numpy(np.int64)


def _require(table, names, path):
    for name in names:
        if name not in table.columns:
            raise DataError(f"{path.name} has no column named {name!r}")


# ---------------------------------------------------------------------------- synthetic


def make_demo(n_normals=9_600, n_per_class=100, seed=2023):
    """Synthetic data for tries and tests: normals in 4 correlated clusters, 4 different anomaly classes; 26 numeric + 4 one-hot columns.

    Returns X (n, 30), y (n,) and the anomaly class of each row (0 for normals, 1 to 4).
    """
    rng = np.random.default_rng(seed)
    n_numeric, n_clusters = 26, 4
    centres = rng.normal(0, 2.0, (n_clusters, n_numeric))
    mixing = rng.normal(0, 0.5, (n_clusters, n_numeric, n_numeric)) / np.sqrt(n_numeric) + 0.6 * np.eye(n_numeric)
    kind = np.repeat(np.arange(5), [n_normals, *[n_per_class] * 4])
    rng.shuffle(kind)
    cluster = rng.integers(n_clusters, size=len(kind))
    noise = rng.normal(size=(len(kind), n_numeric))
    noise[kind == 2] *= 1.9  # class 2: inflated spread around the clusters
    noise[kind == 4] = noise[kind == 4][:, rng.permutation(n_numeric)] * 1.3  # class 4: a little wider, and see below
    numeric = centres[cluster] + np.einsum("nij,nj->ni", mixing[cluster], noise)
    numeric[kind == 1, :5] += 2.2  # class 1: a shift along five columns
    numeric[kind == 3] = 0.55 * numeric[kind == 3] + 0.45 * centres[(cluster[kind == 3] + 1) % n_clusters]  # class 3: between clusters
    numeric[kind == 4, 5:9] -= 1.8  # class 4: a shift along other columns
    one_hot = np.eye(4)[np.where(rng.random(len(kind)) < 0.85, cluster, rng.integers(4, size=len(kind)))]
    return np.hstack([scale_to_unit(numeric), one_hot]).astype(np.float32), (kind > 0).astype(np.int64), kind
