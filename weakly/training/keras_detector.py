"""Detectors that train one Keras network with the shared loop.

A subclass of PsiDetector has the parameters that the paper gives all deep detectors; its own are fields of
its class:

    @dataclass(repr=False, eq=False)
    class MyDetector(PsiDetector):
        margin: float = 4.0

Keras and TensorFlow train the network. `fit` keeps only weights_, a list of arrays in the order of Keras, and
scores are computed from these in numpy. So a saved or pickled detector scores without importing TensorFlow.
model_ is the network with these weights, built when it is first used.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from weakly.training.batches import Batches
from weakly.training.detector import Detector, Rows, logger
from weakly.training.network import HiddenUnits, dense_shapes, keras, layer_sizes, state_of


class KerasDetector(Detector):
    """A detector with a network. Subclasses have the parameters below, and build, loss and sample_batches.

    build, loss and optimizer may read every parameter except random_state: one compiled graph serves all
    seeds. A detector that can be saved also has weight_shapes, and scores without model_.
    """

    learning_rate: float
    epochs: int
    batches_per_epoch: int
    batch_size: int

    keeps = "best"  # one of weakly.training.loop.KEEPS
    takes_sparse = False
    needs_scaling = True
    slow_on_sparse = True  # every weight of a million columns changes in every step

    def build(self, n_features: int, seed: int | None) -> keras.Model:
        """The network, with the parts of network.parts_of."""
        raise NotImplementedError

    def loss(self, targets, outputs, *constants):
        """The mean loss of a batch, without the l2 terms."""
        raise NotImplementedError

    def sample_batches(self, X: Rows, unlabeled, anomalies, n_batches: int, rng) -> Batches:
        """All batches of a fit, given the positions of U and A in X."""
        raise NotImplementedError

    def initial_model(self, X: Rows, unlabeled, anomalies, seed: int) -> keras.Model:
        """The model that training starts from."""
        return self.build(X.shape[1], seed)

    def loss_constants(self, X: Rows, unlabeled, anomalies, model: keras.Model, rng) -> tuple:
        """Further arguments of loss, made once per fit."""
        return ()

    def optimizer(self) -> keras.optimizers.Optimizer:
        from weakly.training.loop import rmsprop

        return rmsprop(self.learning_rate)

    def weight_shapes(self, n_features: int) -> list[tuple[int, ...]]:
        """The shapes of the weights of build(n_features), known without building it."""
        raise NotImplementedError(f"{type(self).__name__} cannot be restored from arrays")

    def chosen_weights(self, kept: list[np.ndarray]) -> list[np.ndarray]:
        """The weights to score with, from those that the trainer kept.

        With keeps = "every", the arrays of `kept` have the epochs as their first axis.
        """
        return kept

    def _fit(self, X, unlabeled, anomalies, rng):
        for name in ("epochs", "batches_per_epoch", "batch_size", "hidden_units"):
            if min(layer_sizes(getattr(self, name, 1)), default=0) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not getattr(self, "margin", 1) > 0:  # below 0, anomalies would get the low scores
            raise ValueError(f"margin must be above 0, not {getattr(self, 'margin', None)}")
        if sparse.issparse(X) and not self.takes_sparse:
            raise TypeError(f"{self!r} takes dense rows only, not a sparse matrix")
        model = self.initial_model(X, unlabeled, anomalies, seed=int(rng.integers(2**31)))
        batches = self.sample_batches(X, unlabeled, anomalies, self.epochs * self.batches_per_epoch, rng)
        constants = self.loss_constants(X, unlabeled, anomalies, model, rng)
        trainer = self._trainer(X)
        kept, losses = trainer.fit(X, anomalies, batches, self.epochs, state_of(model), constants)
        self.__dict__.pop("model_", None)  # of an earlier fit
        self.weights_, self.losses_ = [np.asarray(one) for one in self.chosen_weights(kept)], losses
        message = "%s: %d epochs, mean loss %.4g in the first, lowest %.4g in epoch %d"
        logger.info(message, type(self).__name__, self.epochs, losses[0], min(losses), np.argmin(losses) + 1)

    @functools.cached_property
    def model_(self) -> keras.Model:
        """The network with the weights of the last fit; changing its weights changes no score."""
        model = self.build(self.n_features_in_, seed=0)
        model.set_weights(self.weights_)
        return model

    def learned(self):
        weights = {f"weights_{number}": array for number, array in enumerate(self.weights_)}
        return super().learned() | weights

    def restore(self, arrays, n_features):
        shapes = self.weight_shapes(n_features)
        names = [f"weights_{number}" for number in range(len(shapes))]
        for name, shape in zip(names, shapes):
            # weights of another precision could become infinite
            if arrays[name].shape != shape or arrays[name].dtype != np.float32:
                raise ValueError(f"{name} is not what this network has")
        self.weights_ = [
            np.ascontiguousarray(arrays[name]).reshape(shape) for name, shape in zip(names, shapes)
        ]
        super().restore({name: array for name, array in arrays.items() if name not in names}, n_features)

    def _trainer(self, X):
        """The compiled trainer for rows like X."""
        n_features = None if sparse.issparse(X) else X.shape[1]
        return _compiled_trainer(type(self), self._settings(), n_features)  # type: ignore[arg-type]

    def _settings(self):
        """What decides which compiled graph can be used, as a hashable value."""
        return tuple(sorted(self.learning_parameters().items()))

    def __getstate__(self):
        """What a pickle contains: all but the network, which can be rebuilt from weights_."""
        return {name: value for name, value in super().__getstate__().items() if name != "model_"}

    def __getattr__(self, name):
        """Called for missing attributes: the detector behind a compiled graph has no seed."""
        if name == "random_state":
            user = f"build, loss and optimizer of {type(self).__name__}"
            raise AttributeError(f"{user} must not read random_state: one compiled graph serves all seeds")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@functools.lru_cache(maxsize=8)
def _compiled_trainer(detector_class, settings, n_features):
    """The trainer for this network (n_features None: for sparse rows), compiled once in a process."""
    from weakly.training.loop import Trainer
    from weakly.training.sparse_loop import SparseTrainer

    detector = detector_class(**dict(settings))
    del detector.random_state  # which no fit would have set
    if n_features is None:
        return SparseTrainer(detector.build(1, seed=0), detector.loss, detector.optimizer())
    return Trainer(detector.build(n_features, seed=0), detector.loss, detector.optimizer(), detector.keeps)


@dataclass(repr=False, eq=False)
class PsiDetector(KerasDetector):
    """A detector with the feature learner psi and the paper's common settings (Sec. 5.2, App. B.2.2).

    hidden_units is a number, or a tuple of numbers for a psi of several layers.
    """

    hidden_units: HiddenUnits = 20
    l2: float = 0.01
    learning_rate: float = 1e-3
    epochs: int = 50
    batches_per_epoch: int = 20
    batch_size: int = 512

    def weight_shapes(self, n_features):
        """The shapes for psi alone; a detector with weights after psi adds theirs."""
        return dense_shapes(n_features, *layer_sizes(self.hidden_units))
