"""Tests on ranks: signed ranks of two methods, critical differences and cliques."""

from functools import cache

import numpy as np
from scipy.stats import rankdata, studentized_range, wilcoxon

LEVEL = 0.05


@cache  # the studentized range takes a moment
def nemenyi_critical_difference(n_methods, n_sets):
    """By how much average ranks must differ to be significant: q sqrt(k (k + 1) / (6 N)).

    Demsar, JMLR 2006, Eq. 5 on; q is the studentized range with infinite degrees of freedom, over sqrt(2).
    """
    q = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def cliques(ranks, critical_difference):
    """Maximal groups of two and more methods that do not differ significantly, the best first."""
    ordered, groups, end = ranks.sort_values(kind="stable"), [], 0
    for start, rank in enumerate(ordered):
        stop = int((ordered < rank + critical_difference).sum())
        if stop > end and stop - start > 1:  # not contained in the previous group
            groups.append(list(ordered.index[start:stop]))
        end = max(end, stop)
    return groups


def signed_rank_p(differences):
    """The p-value of scipy's wilcoxon(zero_method="wilcox", method="auto") for differences (n,), two-sided.

    It is exact where scipy's is. With ties or zeros, scipy enumerates all 2^n signs; here they are counted by
    their rank sum, which takes a thousandth of the time.
    """
    differences = np.asarray(differences, float)
    signed = differences[differences != 0]
    if not len(signed):
        return 1.0
    is_plain = len(np.unique(np.abs(signed))) == len(differences)  # neither ties nor zeros
    if len(differences) > (50 if is_plain else 13):  # here scipy uses the normal distribution
        return float(wilcoxon(differences, zero_method="wilcox", method="auto").pvalue)
    ranks = (2 * rankdata(np.abs(signed))).astype(int)  # doubled, because with ties a rank may end in a half
    # how many sign patterns have this sum of positive ranks
    patterns = np.zeros(ranks.sum() + 1, dtype=np.int64)
    patterns[0] = 1
    for rank in ranks:
        patterns[rank:] += patterns[:-rank].copy()
    smaller = min(ranks[signed > 0].sum(), ranks[signed < 0].sum())
    return min(1.0, float(2 * patterns[: smaller + 1].sum() / 2 ** len(signed)))


def holm(p_values):
    """A series of p-values with Holm's correction for their number; missing ones do not count."""
    ordered = p_values.dropna().sort_values(kind="stable")
    corrected = (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p_values.index)
