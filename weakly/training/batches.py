"""The batches of a fit, as a detector's sampler draws them: positions of rows, and their arrangement."""

from typing import NamedTuple

import numpy as np


class DistinctRows(NamedTuple):
    """The distinct rows that each batch has to encode, and where each of them occurs.

    The rows of a batch are numbered: first those drawn for it, then those that all batches share.
    """

    shared: np.ndarray  # (s,) positions in the data
    drawn: np.ndarray  # (n_batches, m) positions in the data
    places: np.ndarray  # (n_batches, k, b): the number of the row at each of b places of each of k inputs


class Batches(NamedTuple):
    """All batches of a fit: which rows each one has, and how its rows are arranged, the same in every batch.

    The drawn rows of a batch are numbered: first its m_u unlabelled ones, then its m_a anomalies. layout says
    which of them is at each of b places of each of the model's k inputs.
    """

    unlabeled: np.ndarray  # (n_batches, m_u) positions in the data
    anomalies: np.ndarray  # (n_batches, m_a) positions in the list of labelled anomalies
    layout: np.ndarray  # (k, b)
    targets: np.ndarray  # (b,), or (n_batches, b) if each batch has its own

    def distinct_rows(self, anomalies: np.ndarray) -> DistinctRows:
        """Which rows have to be encoded, given the positions of A in the data.

        If batches draw more anomalies than there are, each encodes all of A, otherwise those it has drawn.
        """
        n_batches, m_u = self.unlabeled.shape
        m_a = self.anomalies.shape[1]
        if len(anomalies) >= m_a:
            drawn = np.hstack([self.unlabeled, anomalies[self.anomalies]])
            places = np.broadcast_to(self.layout, (n_batches, *self.layout.shape))
            return DistinctRows(anomalies[:0], drawn, places)
        numbers = np.empty((n_batches, m_u + m_a), np.int32)
        numbers[:, :m_u], numbers[:, m_u:] = np.arange(m_u), m_u + self.anomalies
        return DistinctRows(anomalies, self.unlabeled, numbers.take(self.layout, axis=1))


def numbered_groups(*sizes: int) -> list[np.ndarray]:
    """The numbers of a batch's drawn rows (see Batches), from 0, in consecutive groups of these sizes."""
    return np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
