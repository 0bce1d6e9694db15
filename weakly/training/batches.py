"""The batches of a fit, as a detector's sampler draws them: positions of rows, and their arrangement."""

from typing import NamedTuple

import numpy as np


class DistinctRows(NamedTuple):
    """The rows that each batch encodes, numbered: first those drawn for it, then those that all share."""

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


def draw_batches(rows: np.ndarray, n_batches: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Batches (n_batches, size) of rows, without replacement within a batch unless there are too few rows."""
    return np.stack([rng.choice(rows, size, replace=size > len(rows)) for _ in range(n_batches)])


def draw_different_pairs(n: int, size: tuple[int, ...], rng: np.random.Generator):
    """Pairs of different positions below n (equal only if n is 1): two arrays of shape size."""
    first = rng.integers(n, size=size)
    step = rng.integers(1, n, size=size) if n > 1 else 0
    return first, (first + step) % n


def sample_balanced(unlabeled: np.ndarray, n_anomalies: int, n_batches: int, batch_size: int, rng) -> Batches:
    """Batches of half unlabelled rows (0) and half labelled anomalies (1), both drawn with replacement."""
    n_positive = batch_size // 2
    n_negative = batch_size - n_positive
    return Batches(
        unlabeled=rng.choice(unlabeled, (n_batches, n_negative)),
        anomalies=rng.integers(n_anomalies, size=(n_batches, n_positive)),
        layout=np.arange(batch_size)[np.newaxis],
        targets=np.repeat([0, 1], [n_negative, n_positive]),
    )


def sample_unlabeled(unlabeled: np.ndarray, n_batches: int, batch_size: int, rng) -> Batches:
    """Batches of unlabelled rows only, drawn with replacement, for an autoencoder: all targets are 0."""
    return batches_of_rows(rng.choice(unlabeled, (n_batches, batch_size)), np.zeros(batch_size))


def batches_of_rows(rows: np.ndarray, targets: np.ndarray) -> Batches:
    """Batches of the rows at positions (n_batches, b), in which anomalies may be anywhere."""
    none = np.zeros((len(rows), 0), int)
    return Batches(rows, none, np.arange(rows.shape[1])[np.newaxis], targets)
