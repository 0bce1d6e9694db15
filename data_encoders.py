"""From published files to a matrix: one reader per file format, each returning X (n, D) and y (n,) 0/1.

Rows stand in the order of the file, except for campaign and census, which are brought into the authors' order.

Nominal columns become one column per level, in order of first appearance as in the authors' UNSW files, two-level ones a
single column; numeric columns are scaled to 0-1 over all rows (App. B.1 and the authors' files).
"""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from data_files import MOST_FEATURES, SIZE_LIMIT, DataError, check_held, damage_reported, open_data_file, open_zip, read_array
from data_order import git_blob_id, weka_order, write_as_authors

TEXT_LIMIT = 2**28  # bytes of a table with nominal columns, which takes 10 to 20 times as much memory; census has 104 MB
CHUNK_CELLS = 2**21  # of a table of numbers: pandas holds few of them as text, and ends the process where it gets no memory

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
UNSW_COLUMNS = """dur proto service state spkts dpkts sbytes dbytes rate sttl dttl sload dload sloss dloss sinpkt dinpkt sjit
    djit swin stcpb dtcpb dwin tcprtt synack ackdat smean dmean trans_depth response_body_len ct_srv_src ct_state_ttl ct_dst_ltm
    ct_src_dport_ltm ct_dst_sport_ltm ct_dst_src_ltm is_ftp_login ct_ftp_cmd ct_flw_http_mthd ct_src_ltm ct_srv_dst
    is_sm_ips_ports""".split()
UNSW_HALF_ROWS = (82_332, 175_341)  # the files' names are exchanged in many copies, so they are told apart by size
UNSW_FUZZERS = 3_000  # of 24,246, as in the paper's fuz
BANK_NOMINAL = "job marital education default housing loan contact month day_of_week poutcome".split()
BANK_BLOB = "070eccbd6d90f1bbd3ac82add35412f92cdb389a"  # of the authors' bank-additional-full_normalised.csv
BANK_NUMERIC = "age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m nr.employed".split()
CENSUS_NUMERIC = (0, 5, 16, 17, 18, 30, 39)  # age, wage, gains, losses, dividends, persons worked for, weeks worked
CENSUS_WEIGHT, CENSUS_LABEL = 24, 41


# ---------------------------------------------------------------------------- readers


def read_class_csv(path, dtype=np.float32):
    """The authors' format: numeric columns and `class`."""
    return _read_matrix(path, "class", dtype=dtype)


def read_npz(path):
    """ADBench's format: arrays X and y, never unpickled."""
    with damage_reported(path), open(path, "rb") as file, open_zip(file, path) as archive:
        for name in ("X", "y"):
            if f"{name}.npy" not in archive.namelist():
                raise DataError(f"{path} has no array {name!r}.")
        X, y = (read_array(archive, name, path, SIZE_LIMIT) for name in ("X", "y"))
    if X.ndim != 2 or y.shape != X.shape[:1] or X.dtype.kind not in "fiub":
        raise DataError(f"{path} should hold a numeric matrix X and one label per row in y.")
    return X, _labels(pd.Series(y), path)


def read_svmlight(path):
    """The authors' news20 format; returns a CSR matrix."""
    with open_data_file(path) as stream:
        try:
            X, y = load_svmlight_file(stream, dtype=np.float32)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{path} is not a svmlight file: {error}.") from None
    return X, _labels(pd.Series(y), path)


def read_creditcard(path):
    """The public creditcard.csv: V1..V28 and Amount, without Time; `Class` is the label."""
    X, y = _read_matrix(path, "Class", [f"V{i}" for i in range(1, 29)] + ["Amount"])
    return scale_to_unit(X), y


def read_bank(path):
    """UCI bank-additional-full.csv: 10 nominal columns ("unknown" is a level) and 10 numeric ones give 62; y = yes.

    The authors shuffled UCI's rows with Weka before they wrote their file, numbers with six decimals. If that gives their file byte
    for byte (its git blob id shows it), the rows are returned in their order; those of another version of UCI's file in its own.
    """
    member = "bank-additional-full.csv"
    if path.name == "bank+marketing.zip":  # what UCI's page hands out today has the older archive in it
        member = f"bank-additional.zip/{member}"
    table = _read_csv(path, member, sep=";", keep_default_na=False)
    _require(table, [*BANK_NOMINAL, *BANK_NUMERIC, "y"], path)
    features = table[[name for name in table.columns if name in BANK_NOMINAL or name in BANK_NUMERIC]]
    X, y = encode_table(features, BANK_NOMINAL, path, decimals=6), _labels(table["y"], path, "no", "yes")
    order = weka_order(len(y))
    is_authors = git_blob_id(write_as_authors(bank_names(features), X[order], y[order])) == BANK_BLOB
    return (X[order], y[order]) if is_authors else (X, y)


def bank_names(table):
    """The authors' names for the columns that encode_table makes of the bank table; they call yes and no 1 and 0."""
    names = []
    for name, column in table.items():
        levels = [{"yes": "1", "no": "0"}.get(level, level) for level in pd.unique(column)] if name in BANK_NOMINAL else []
        names += [f"{name}={level}" for level in (levels[1:] if len(levels) == 2 else levels)] or [name]
    return names


def read_census(*paths):
    """UCI Census-Income, its two files: 33 nominal columns (`?` is missing) and 7 numeric ones give 500; the weight is left out.

    The authors' order is UCI's training rows from the second on, the second once more, then the test rows: the first line was lost as
    a header, and a copy stands in for it. It was found in their nominal ARFF file of the same data (ADRepository, "categorical
    data/census-income-full-nominal.tar.xz"), which records that Weka shuffled it with seed 42. With that undone (weka_order) its
    299,285 rows are these, equal in all 33 nominal columns and the label. That the file behind the paper, census-income-full-
    mixed-binarized, has the same base without the shuffle is inferred: the published results fit it, PReNet's and DevNet's alike.
    """
    tables, labels = [], []
    for path in paths:
        # all as text, which takes 1.6 GB at the peak; a numeric column is converted when its turn comes
        table = _read_csv(path, header=None, skipinitialspace=True, keep_default_na=False, dtype=str)
        if table.shape[1] != CENSUS_LABEL + 1:
            raise DataError(f"{path} has {table.shape[1]} columns, Census-Income has {CENSUS_LABEL + 1}.")
        labels.append(_labels(table[CENSUS_LABEL], path, "- 50000.", "50000+."))
        for name in CENSUS_NUMERIC:
            table[name] = _numeric(table[[name]], path)
        tables.append(table.drop(columns=[CENSUS_WEIGHT, CENSUS_LABEL]))
    rows = [*range(1, len(labels[0])), min(1, len(labels[0]) - 1)]
    tables[0], labels[0] = tables[0].iloc[rows], labels[0][rows]
    table = pd.concat(tables, ignore_index=True)
    nominal = [name for name in table.columns if name not in CENSUS_NUMERIC]
    return encode_table(table, nominal, path, missing="?"), np.concatenate(labels)


def read_unsw_parts(backdoor_path, anomalies_path):
    """The 93,000 normals of the authors' backdoor file, then the rows of an anomalies-only file on the same scale."""
    X, y = read_class_csv(backdoor_path, np.float64)
    anomalies = _read_anomalies(anomalies_path, X.shape[1], backdoor_path)
    normals = X[y == 0]
    labels = np.repeat([0, 1], [len(normals), len(anomalies)])
    return scale_to_unit(np.concatenate([normals, anomalies])), labels


def read_unsw_classes(backdoor_path, *anomalies_paths):
    """All four attack classes: the authors' backdoor file, then the anomalies-only files of the other three.

    y is 0 for normal rows, 1, 2, 3 for the anomalies-only files in their order, 4 for backdoors.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X, y, [_read_anomalies(path, X.shape[1], backdoor_path) for path in anomalies_paths])


def read_unsw_files(backdoor_path, *paths):
    """As read_unsw_classes, from the authors' four files, each with its own anomalies and all with the same normal rows.

    Each is scaled over its own rows. The normal rows tell by which affine map a file comes onto the backdoor file's scale.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    normals, others = X[y == 0], []
    for path in paths:
        rows, labels = read_class_csv(path, np.float64)
        same = rows[labels == 0]
        if same.shape == normals.shape:
            spread = np.ptp(same, axis=0)
            factor = np.where(spread > 0, np.ptp(normals, axis=0) / np.where(spread > 0, spread, 1), 1)
            shift = normals.min(axis=0) - factor * same.min(axis=0)
        if same.shape != normals.shape or not np.allclose(factor * same + shift, normals, atol=1e-3):
            raise DataError(f"{path} has other normal rows than {backdoor_path}.")
        others.append(factor * rows[labels == 1] + shift)
    return _join_classes(X, y, others)


def _join_classes(X, y, others):
    codes = np.repeat(np.arange(1, len(others) + 1), [len(rows) for rows in others])
    return scale_to_unit(np.concatenate([X, *others])), np.concatenate([y * (len(others) + 1), codes])


def _read_anomalies(path, n_features, beside):
    rows, _ = _read_matrix(path, header=None)
    if rows.shape[1] != n_features:
        raise DataError(f"{path} has {rows.shape[1]} columns, {beside} has {n_features} features.")
    return rows


def read_unsw_halves(attacks, *paths):
    """Normal rows and those of some attacks, of one or both raw halves; the smaller half comes first, as in the authors' files."""
    numeric = [name for name in UNSW_COLUMNS if name not in UNSW_LEVELS]
    halves = []
    for path in paths:
        half = _read_csv(path, keep_default_na=False)
        _require(half, [*UNSW_COLUMNS, "attack_cat"], path)
        if len(half) not in UNSW_HALF_ROWS:
            wanted = " or ".join(f"{rows:,}" for rows in UNSW_HALF_ROWS)
            raise DataError(f"{path} has {len(half):,} rows, but a half of UNSW-NB15 has {wanted}.")
        half[numeric] = _numeric(half[numeric], path)
        halves.append(half)
    halves.sort(key=len)
    if len(halves) == 2 and len(halves[0]) == len(halves[1]):
        raise DataError(f"{paths[0]} and {paths[1]} are the same half of UNSW-NB15.")
    return encode_unsw(pd.concat(halves, ignore_index=True), attacks, " or ".join(map(str, paths)))


def encode_unsw(table, attacks, path):
    """The raw table as the authors' 196 columns; y is 0 for normal rows and 1, 2, ... for the attacks in their order.

    Other attacks are left out; Fuzzers are sampled to 3,000.
    """
    kind = table["attack_cat"].str.strip()
    y = pd.Index(["Normal", *attacks]).get_indexer(kind)
    if "Fuzzers" in attacks:
        fuzzers = np.flatnonzero(kind == "Fuzzers")
        if len(fuzzers) > UNSW_FUZZERS:
            kept = np.random.RandomState(42).choice(fuzzers, UNSW_FUZZERS, replace=False)
            y[np.setdiff1d(fuzzers, kept)] = -1
    positions = np.flatnonzero(y >= 0)
    X = encode_table(table[UNSW_COLUMNS].iloc[positions], UNSW_LEVELS, path, levels=UNSW_LEVELS)
    return X, y[positions]


# ---------------------------------------------------------------------------- encoding


def encode_table(table, nominal, path, levels=None, missing=None, decimals=None):
    """One-hot and 0-1 scaled matrix (n, D) float32 of a table, its columns in their order.

    levels gives the levels of each nominal column; without it they are taken from the data in order of first appearance,
    and the level `missing` is all zero. decimals: what scaled numbers are rounded to.
    """
    blocks = []
    for name, column in table.items():
        if name in nominal:
            blocks.append(one_hot(column, path, levels and levels[name], missing))
        else:
            scaled = scale_to_unit(_numeric(table[[name]], path))
            blocks.append((scaled if decimals is None else np.round(scaled, decimals)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def one_hot(column, path, levels=None, missing=None):
    """One column per level (n, levels) float32; two levels share one, which is 1 for the second."""
    if levels is None:
        codes, levels = pd.factorize(column.where(column != missing))  # missing: -1
    else:
        codes = pd.Index(levels).get_indexer(column)
        if (codes < 0).any():
            raise DataError(f"{path} holds an unknown value in column {column.name!r}: {_shown(column[codes < 0].iloc[0])}.")
    block = np.zeros((len(column), len(levels)), np.float32)
    present = np.flatnonzero(codes >= 0)
    block[present, codes[present]] = 1
    return block[:, 1:] if len(levels) == 2 else block


def scale_to_unit(X):
    """Each column to 0-1 over all rows; a constant column becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


# ---------------------------------------------------------------------------- checks


def check_data_set(X, y, source):
    """X as float32, dense or CSR; DataError unless it is finite and y has at least two normals and two of each anomaly class."""
    if not 1 <= X.shape[1] <= MOST_FEATURES:
        raise DataError(f"{source} has {X.shape[1]:,} features, where 1 to {MOST_FEATURES:,} are possible.")
    with np.errstate(over="ignore"):
        X = X.astype(np.float32) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise DataError(f"{source} holds missing, infinite or too large values.")
    last = max(1, y.max(initial=0))
    for label in range(last + 1):
        if np.count_nonzero(y == label) < 2:
            kind = "normal rows" if label == 0 else "anomalies" if last == 1 else f"anomalies of class {label}"
            raise DataError(f"{source} has fewer than 2 {kind}.")
    return X


def _read_csv(path, member=None, limit=TEXT_LIMIT, **options):
    with open_data_file(path, member, limit) as stream, _csv_errors(path):
        return _checked_table(pd.read_csv(stream, low_memory=False, **options), path)


def _read_matrix(path, label=None, columns=None, dtype=np.float64, **options):
    """X (n, D) and y (n,) of a CSV file of numbers, read a few rows at a time; without `columns`, all but the label's are X."""
    parts, labels, n_rows, chunk_rows = [], [], 0, 1
    # rectangular: of the first rows of every chunk, pandas would drop the cells that are too many
    with open_data_file(path, rectangular=True) as stream, _csv_errors(path), pd.read_csv(stream, iterator=True, **options) as reader:
        while (table := next_chunk(reader, chunk_rows)) is not None:
            _checked_table(table, path, n_rows)
            chunk_rows, n_rows = max(1, CHUNK_CELLS // table.shape[1]), n_rows + len(table)
            if label:
                _require(table, [*(columns or ()), label], path)
                labels.append(_labels(table.pop(label), path))
            parts.append(_numeric(table[columns] if columns else table, path, dtype, n_rows - len(table)))
            check_held(2 * n_rows * parts[-1][0].nbytes)  # twice: in parts, and joined
    return np.concatenate(parts), np.concatenate(labels) if label else None


def next_chunk(reader, n_rows):
    """The next rows of a table, or None."""
    try:
        return reader.get_chunk(n_rows)
    except StopIteration:
        return None


@contextmanager
def _csv_errors(path):
    try:
        yield
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        if "out of memory" in str(error):
            raise  # for bounded_memory
        raise DataError(f"{path} is not a readable CSV table: {str(error).strip()}.") from None


def _checked_table(table, path, first_row=0):
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes what the header does not name for row names
        raise DataError(f"{path} is not a readable CSV table: its rows have more cells than its first line.")
    if table.empty and first_row == 0:
        raise DataError(f"{path} is a CSV table without rows.")
    return table


def _numeric(table, path, dtype=np.float64, first_row=0):
    """The table as a matrix (n, D); DataError for a cell that is not a finite number."""
    if all(kind.kind in "biuf" for kind in table.dtypes):  # at once: a column after the other takes long in a wide table
        values = table.to_numpy(np.float64)
    else:
        values = np.column_stack([pd.to_numeric(column, errors="coerce").to_numpy(np.float64) for _, column in table.items()])
    bad = np.argwhere(~np.isfinite(values.T))  # the first in the first column that has one
    if len(bad):
        column, row = bad[0]
        shown = _shown(table.iloc[row, column])
        raise DataError(f"{path} holds {shown} in column {list(table)[column]!r}, row {first_row + row + 1}, in place of a number.")
    with np.errstate(over="ignore"):  # too large for float32: infinite, which check_data_set refuses
        return values.astype(dtype)


def _labels(column, path, normal=0, anomaly=1):
    bad = column[~column.isin((normal, anomaly))]
    if len(bad):
        raise DataError(f"{path} has a label other than {normal!r} and {anomaly!r}: {_shown(bad.iloc[0])}.")
    return (column == anomaly).to_numpy(np.int64)


def _require(table, names, path):
    for name in names:
        if name not in table.columns:
            raise DataError(f"{path} has no column named {name!r}.")


def _shown(cell):
    """A cell for a message; pandas turns an empty one into NaN."""
    return "an empty cell" if pd.isna(cell) or cell == "" else repr(str(cell)[:40])


# ---------------------------------------------------------------------------- synthetic


def make_demo(n_normals=9_600, n_per_class=100, seed=2023):
    """Synthetic data for tries and tests: X (n, 30), y (n,) and the anomaly class of each row (0: normal, 1 to 4).

    26 numeric columns, in which normals form 4 correlated clusters, and 4 one-hot columns, mostly the row's cluster.
    """
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.repeat(np.arange(5), [n_normals] + 4 * [n_per_class]))
    cluster, other = rng.integers(4, size=(2, len(kind)))
    centres = rng.normal(size=(4, 26))
    mixing = 0.5 * np.eye(26) + rng.normal(0, 0.12, (4, 26, 26))
    noise = rng.normal(size=(len(kind), 26))
    noise[kind == 1] *= 1.5  # class 1: far from its cluster, in any direction
    numeric = centres[cluster] + np.einsum("nij,nj->ni", mixing[cluster], noise)
    numeric[kind == 2, :5] += 1.8  # class 2: high values in some columns
    numeric[kind == 3, 5:10] -= 1.8  # class 3: low values in others
    between = kind == 4  # class 4: on the way to another cluster
    numeric[between] += 0.6 * (centres[(cluster + 1) % 4] - centres[cluster])[between]
    one_hot = np.eye(4)[np.where(rng.random(len(kind)) < 0.85, cluster, other)]
    return np.hstack([scale_to_unit(numeric), one_hot]).astype(np.float32), (kind > 0).astype(np.int64), kind
