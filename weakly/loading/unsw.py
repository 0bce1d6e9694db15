"""UNSW-NB15: its attack classes from the authors' files, files of anomalies only, or the two raw halves."""

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading.readers import (
    encode_table,
    read_class_csv,
    read_matrix,
    read_text_table,
    require_columns,
    scale_to_unit,
)

# Levels of the nominal columns in the order of the authors' header; no single half of the data has all.
UNSW_LEVELS = {
    "proto": """udp arp tcp igmp ospf sctp gre ggp ip ipnip st2 argus chaos egp emcon nvp pup xnet mux dcn hmp
        prm trunk-1 trunk-2 xns-idp leaf-1 leaf-2 irtp rdp netblt mfe-nsp merit-inp 3pc idpr ddp idpr-cmtp
        tp++ ipv6 sdrp ipv6-frag ipv6-route idrp mhrp i-nlsp rvd mobile narp skip tlsp ipv6-no any ipv6-opts
        cftp sat-expak ippc kryptolan sat-mon cpnx wsn pvp br-sat-mon sun-nd wb-mon vmtp ttp vines nsfnet-igp
        dgp eigrp tcf sprite-rpc larp mtp ax.25 ipip aes-sp3-d micp encap pri-enc gmtp ifmp pnni qnx scps cbt
        bbn-rcc igp bna swipe visa ipcv cphb iso-tp4 wb-expak sep secure-vmtp xtp il rsvp unas fc iso-ip
        etherip pim aris a/n ipcomp snp compaq-peer ipx-n-ip pgm vrrp l2tp zero ddx iatp stp srp uti sm smp
        isis ptp fire crtp crudp sccopmce iplt pipe sps ib icmp rtp""".split(),
    "service": "- http ftp ftp-data smtp pop3 dns snmp ssl dhcp irc radius ssh".split(),
    "state": "INT FIN REQ ACC CON RST CLO ECO PAR URN no".split(),
}
UNSW_COLUMNS = """dur proto service state spkts dpkts sbytes dbytes rate sttl dttl sload dload sloss dloss
    sinpkt dinpkt sjit djit swin stcpb dtcpb dwin tcprtt synack ackdat smean dmean trans_depth
    response_body_len ct_srv_src ct_state_ttl ct_dst_ltm ct_src_dport_ltm ct_dst_sport_ltm ct_dst_src_ltm
    is_ftp_login ct_ftp_cmd ct_flw_http_mthd ct_src_ltm ct_srv_dst is_sm_ips_ports""".split()
# many copies have the names exchanged, so the halves are distinguished by size
UNSW_HALF_ROWS = (82_332, 175_341)
UNSW_FUZZERS = 3_000  # of 24,246, as in the paper's fuz


def read_unsw_parts(backdoor_path, anomalies_path):
    """The 93,000 normals of the authors' backdoor file, then an anomalies-only file on the same scale."""
    X, y = read_class_csv(backdoor_path, np.float64)
    anomalies = _read_anomalies(anomalies_path, X.shape[1], backdoor_path)
    return _join_classes(X[y == 0], y[y == 0], [anomalies])


def read_unsw_classes(backdoor_path, *anomalies_paths):
    """All four attack classes: the authors' backdoor file, then the anomalies-only files of the other three.

    y is 0 for normal rows, 1, 2, 3 for the anomalies-only files in their order, 4 for backdoors.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X, y, [_read_anomalies(path, X.shape[1], backdoor_path) for path in anomalies_paths])


def read_unsw_files(backdoor_path, *paths):
    """As read_unsw_classes, from the authors' four files.

    Each has its own anomalies, and all have the same normal rows. Each is scaled over its own rows. The
    normal rows determine the affine map to the backdoor file's scale.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    others = []
    for path in paths:
        rows, labels = read_class_csv(path, np.float64)
        map_between = _affine_map(rows[labels == 0], X[y == 0])
        if map_between is None:
            raise DataError(f"{path} does not have the same normal rows as {backdoor_path}.")
        factor, shift = map_between
        others.append(factor * rows[labels == 1] + shift)
    return _join_classes(X, y, others)


def _affine_map(rows, wanted):
    """(factor, shift) per column with factor * rows + shift = wanted, or nearly; None if there is none."""
    if rows.shape != wanted.shape:
        return None
    spread = np.ptp(rows, axis=0)
    factor = np.where(spread > 0, np.ptp(wanted, axis=0) / np.where(spread > 0, spread, 1), 1)
    shift = wanted.min(axis=0) - factor * rows.min(axis=0)
    return (factor, shift) if np.allclose(factor * rows + shift, wanted, atol=1e-3) else None


def _join_classes(X, y, others):
    codes = np.repeat(np.arange(1, len(others) + 1), [len(rows) for rows in others])
    return scale_to_unit(np.concatenate([X, *others])), np.concatenate([y * (len(others) + 1), codes])


def _read_anomalies(path, n_features, other):
    _, rows = read_matrix(path, header=False)
    if rows.shape[1] != n_features:
        raise DataError(f"{path} has {rows.shape[1]} columns, but {other} has {n_features} features.")
    return rows


def read_unsw_halves(attacks, *paths):
    """Normal rows and those of some attacks, of one or both raw halves, the smaller one first."""
    numeric, halves = [name for name in UNSW_COLUMNS if name not in UNSW_LEVELS], []
    for path in paths:
        half = read_text_table(path, keep_default_na=False)
        require_columns(half.columns, [*UNSW_COLUMNS, "attack_cat"], path)
        if len(half) not in UNSW_HALF_ROWS:
            wanted = " or ".join(f"{rows:,}" for rows in UNSW_HALF_ROWS)
            raise DataError(f"{path} has {len(half):,} rows, but a half of UNSW-NB15 has {wanted}.")
        half[numeric] = half[numeric].apply(pd.to_numeric)
        halves.append(half)
    halves.sort(key=len)
    if len(halves) == 2 and len(halves[0]) == len(halves[1]):
        raise DataError(f"{paths[0]} and {paths[1]} are the same half of UNSW-NB15.")
    return encode_unsw(pd.concat(halves, ignore_index=True), attacks, " or ".join(map(str, paths)))


def encode_unsw(table, attacks, path):
    """The raw table as the authors' 196 columns.

    y is 0 for normal rows and 1, 2, ... for the attacks in their order. Other attacks are dropped; Fuzzers
    are sampled to 3,000.
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
