"""Detectors that train one Keras network with the shared loop.

A subclass of PsiDetector has the parameters that the paper gives all deep detectors, and fields of its own.

Keras and TensorFlow train the network. `fit` keeps only weights_, a list of arrays in the order of Keras, and
scores are computed from these in numpy. So a saved or pickled detector scores without importing TensorFlow.
model_ is the network with these weights, built when it is first used.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from weakly.training.batches import Batches, sample_balanced
from weakly.training.detector import Detector, Rows, logger
from weakly.training.input_checks import require_at_least
from weakly.training.network import HiddenUnits, Network, build_instance_scorer, keras, score_instances


class KerasDetector(Detector):
    """A detector with a network. Subclasses have the parameters below, build, loss and often sample_batches.

    One compiled graph serves all seeds, so build takes its seed as an argument.
    """

    learning_rate: float
    epochs: int
    batches_per_epoch: int
    batch_size: int

    keeps_last = False  # the weights of the last epoch, not of the one with the lowest mean loss
    takes_sparse = False
    needs_scaling = True
    slow_on_sparse = True  # every weight of a million columns changes in every step

    def build(self, n_features: int, seed: int | None) -> Network:
        """The network, in its parts psi and eta."""
        raise NotImplementedError

    def loss(self, targets, outputs, *constants):
        """The mean loss of a batch, without the l2 terms."""
        raise NotImplementedError

    def sample_batches(self, X: Rows, unlabeled, anomalies, n_batches: int, rng) -> Batches:
        """All batches of a fit, given the positions of U and A in X; by default one half each."""
        return sample_balanced(unlabeled, len(anomalies), n_batches, self.batch_size, rng)

    def initial_network(self, X: Rows, unlabeled, anomalies, seed: int) -> Network:
        """The network that training starts from."""
        return self.build(X.shape[1], seed)

    def loss_constants(self, X: Rows, unlabeled, anomalies, network: Network, rng) -> tuple:
        """Further arguments of loss, made once per fit."""
        return ()

    def optimizer(self) -> keras.optimizers.Optimizer:
        from weakly.training.loop import rmsprop

        return rmsprop(self.learning_rate)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_at_least(self, epochs=1, batches_per_epoch=1, batch_size=1, hidden_units=1)
        if not getattr(self, "margin", 1) > 0:  # below 0, anomalies would get the low scores
            raise ValueError(f"margin must be above 0, not {getattr(self, 'margin', None)}")
        if sparse.issparse(X) and not self.takes_sparse:
            raise TypeError(f"{self!r} takes dense rows only, not a sparse matrix")
        network = self.initial_network(X, unlabeled, anomalies, seed=int(rng.integers(2**31)))
        batches = self.sample_batches(X, unlabeled, anomalies, self.epochs * self.batches_per_epoch, rng)
        constants = self.loss_constants(X, unlabeled, anomalies, network, rng)
        settings = tuple(sorted(self.learning_parameters().items()))  # all that the compiled graph depends on
        n_features = None if sparse.issparse(X) else X.shape[1]
        trainer = _compiled_trainer(type(self), settings, n_features)  # type: ignore[arg-type]
        kept, losses = trainer.fit(X, anomalies, batches, self.epochs, network.get_state(), constants)
        self.__dict__.pop("model_", None)  # of an earlier fit
        self.weights_, self.losses_ = kept, losses
        message = "%s: %d epochs, mean loss %.4g in the first, lowest %.4g in epoch %d"
        logger.info(message, type(self).__name__, self.epochs, losses[0], min(losses), np.argmin(losses) + 1)

    @functools.cached_property
    def model_(self) -> Network:
        """The network with the weights of the last fit; changing its weights changes no score."""
        network = self.build(self.n_features_in_, seed=0)
        network.set_weights(self.weights_)
        return network

    def __getstate__(self):
        """What a pickle contains: all but the network, which can be rebuilt from weights_."""
        return {name: value for name, value in super().__getstate__().items() if name != "model_"}


@functools.lru_cache(maxsize=8)
def _compiled_trainer(detector_class, settings, n_features):
    """The trainer for this network (n_features None: for sparse rows), compiled once in a process."""
    from weakly.training.loop import Trainer
    from weakly.training.sparse_loop import SparseTrainer

    detector = detector_class(random_state=None, **dict(settings))
    parts = detector.build(n_features or 1, seed=0), detector.loss, detector.optimizer()
    return SparseTrainer(*parts) if n_features is None else Trainer(*parts, detector.keeps_last)


@dataclass(repr=False, eq=False)
class PsiDetector(KerasDetector):
    """A detector with the feature learner psi and the paper's common settings (Sec. 5.2, App. B.2.2)."""

    hidden_units: HiddenUnits = 20  # a number, or a tuple of numbers for a psi of several layers
    l2: float = 0.01
    learning_rate: float = 1e-3
    epochs: int = 50
    batches_per_epoch: int = 20
    batch_size: int = 512


class InstanceDetector(PsiDetector):
    """A detector with a linear score of psi(x); subclasses have the loss."""

    takes_sparse = True

    def build(self, n_features, seed):
        return build_instance_scorer(n_features, self.hidden_units, self.l2, seed)

    def _score(self, X):
        return score_instances(self.weights_, X)
