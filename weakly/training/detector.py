"""What all detectors share: scikit-learn's conventions and the checks of their input.

    detector = PReNet(random_state=0).fit(X, y)      # y: 1 labelled anomaly, 0 unlabelled
    scores = detector.decision_function(X_new)       # higher = more anomalous
    is_anomaly = detector.predict(X_new)             # 1 where the score is above offset_, else 0, as in PyOD

X is an array, a DataFrame of numbers (column names are kept and compared later) or, if takes_sparse, a CSR
matrix. `fit` chooses offset_ so that a tenth of the unlabelled rows score above it (the parameter
contamination); set_offset chooses another one. `explain` says which features raise a score. A detector works
in a Pipeline, for example after a MinMaxScaler, in a cross-validation (scoring="average_precision"), in a
CalibratedClassifierCV and in a pickle. familiar_names.py has the names that scikit-learn and PyOD use.
tests/detectors/test_sklearn.py lists the checks of scikit-learn that detectors do not pass, and why.

Nothing is printed. To follow the fits:    logging.basicConfig(); logging.getLogger("prenet").setLevel("INFO")
This gives a line or two per fit. A fit on dense rows is one call of a compiled graph, so only a fit on CSR
rows reports its epochs. By default, the only message is a warning of `fit` if all its rows have the same
score. Unscaled features give an UnscaledFeaturesWarning if the detector needs scaled ones (scaling.py).

A fit whose loss overflows is refused with a ValueError, and so are rows whose scores overflow: no score is
ever NaN or infinite.

A detector is a dataclass. Its fields are its parameters, which scikit-learn reads from the constructor. It
supplies `_fit` and `_score`; a detector with a network derives from keras_detector.PsiDetector instead and
supplies network, loss and batches. The experiments call `fit_rows`, which takes positions instead of a copied
training set.
"""

import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from weakly.training.explaining import first_features, gradient_parts, medians, occluded_parts
from weakly.training.familiar_names import FamiliarNames
from weakly.training.known_normals import known_positions, with_known_normals
from weakly.training.scaling import warn_if_unscaled

# How much is scored at a time: this limits memory, and intermediate results stay in the cache.
CHUNK_ROWS, CHUNK_BYTES = 2_048, 2**26
EQUAL_SCORES = (
    1e-6  # scores that differ by less than this share of their size differ only by float32 rounding
)
CONTAMINATION = 0.1  # share of the unlabelled rows above the offset_ of `fit`: PyOD's default
# parameters that are not part of the method: neither settings of a run nor in a model file
NOT_THE_METHODS = ("random_state", "contamination")
# what `fit` keeps in addition to what it has learned: not in a model file
NOT_SAVED = ("model_", "weights_", "typical_", "decision_scores_")

# how many numbers a detector may keep in addition to its network or trees: REPEN has 8,000, PReNet 30 rows
STATE_LIMIT, STATE_LIMIT_PER_FEATURE = 2**14, 32

Rows = Any  # (n, D): an array, a DataFrame of numbers or a CSR matrix
SomeDetector = TypeVar("SomeDetector", bound="Detector")

logger = logging.getLogger("prenet")


# scikit-learn compares and prints estimators in its own way
@dataclass(repr=False, eq=False)
class Detector(FamiliarNames, BaseEstimator):
    """Base of every detector: input checks around `_fit` and `_score`.

    contamination is the share of the unlabelled training rows that predict calls anomalies; it changes no
    score.
    """

    random_state: int | None = 0
    contamination: float = field(default=CONTAMINATION, kw_only=True)

    takes_sparse = True  # whether a CSR matrix is accepted
    slow_on_sparse = False  # whether that takes minutes, so that it runs on such data only on request
    needs_scaling = False  # whether features far from 0-1 harm what it learns
    balances = (
        True  # whether all anomalies weigh as much as all unlabelled rows; else each row weighs the same
    )
    _known_normal = np.empty(0, int)  # positions of the rows known to be normal, during a fit

    def fit(self: SomeDetector, X: Rows, y: ArrayLike, normal: ArrayLike | None = None) -> SomeDetector:
        """Learn from X (n, D) and y (n,): 1 or True for a labelled anomaly, 0 or False for unlabelled.

        normal: which of the latter a person has checked and found normal, as a mask (n,) or as positions.
        """
        self._is_fitted = False  # until the end: a fit that fails leaves no fitted detector
        check_contamination(self.contamination)
        X = self._checked(X, reset=True, ensure_min_samples=2)
        y = self._checked_labels(y, X.shape[0])
        if self.needs_scaling:
            warn_if_unscaled(X, type(self).__name__)
        known = known_positions(normal, X.shape[0])
        self.fit_rows(X, np.flatnonzero(y == 0), np.flatnonzero(y == 1), known)
        self._is_fitted = False  # again, until it is known that it can score
        scores = self._finite_scores(X)
        self._is_fitted = True
        if np.ptp(scores) <= EQUAL_SCORES * np.abs(scores).max():
            logger.warning(
                "%s: all %d training rows have the same score, so it does not tell rows apart",
                type(self).__name__,
                len(scores),
            )
        self.decision_scores_ = scores
        if not sparse.issparse(X):
            self.typical_ = medians(X)
        return self._set_offset(scores[y == 0], self.contamination)

    def fit_rows(
        self: SomeDetector,
        X: Rows,
        unlabeled: np.ndarray,
        anomalies: np.ndarray,
        normal: np.ndarray | None = None,
    ) -> SomeDetector:
        """Learn from the rows of X (float32, finite) at these two lists of positions: U and A of Sec. 3.1.1.

        normal: positions of rows known to be normal, whether or not they are in U. Sets no offset_.
        """
        self._known_normal = np.unique(np.asarray([] if normal is None else normal, int))
        if len(self._known_normal):
            if np.isin(self._known_normal, anomalies).any():
                raise ValueError("a row cannot be a labelled anomaly and known to be normal")
            unlabeled = with_known_normals(unlabeled, anomalies, self._known_normal, self.balances)
        if len(unlabeled) == 0 or len(anomalies) == 0:
            raise ValueError(
                f"{type(self).__name__} needs unlabelled rows and labelled anomalies, "
                f"got {len(unlabeled)} and {len(anomalies)}"
            )
        self._is_fitted = False
        for name in ("offset_", "decision_scores_", "typical_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        start = time.perf_counter()
        rng = np.random.default_rng(self.random_state)
        # if features are too large, the loss or the scores show it
        with np.errstate(over="ignore", invalid="ignore"):
            self._fit(X, np.asarray(unlabeled), np.asarray(anomalies), rng)
        del self._known_normal  # back to the default of the class: none
        self.n_features_in_ = X.shape[1]
        self._is_fitted = True
        seconds = time.perf_counter() - start
        message = "%s: %d unlabelled rows, %d anomalies, %.1f s"
        logger.info(message, type(self).__name__, len(unlabeled), len(anomalies), seconds)
        return self

    def learned(self) -> dict[str, np.ndarray]:
        """What `fit` has learned, as plain arrays by name: all that a model file has to contain.

        These are the attributes that are numbers and whose names end in `_`; a detector with a network or
        trees adds those.
        """
        arrays = {name: np.asarray(value) for name, value in vars(self).items() if is_learned(name)}
        return {name: array for name, array in arrays.items() if array.dtype.kind in "biuf"}

    def restore(self, arrays: dict[str, np.ndarray], n_features: int) -> None:
        """Put `learned` back into a new detector; ValueError if the arrays do not fit together.

        The arrays may come from anybody's file: any contents end in a working detector or an error.
        """
        most_numbers = STATE_LIMIT + STATE_LIMIT_PER_FEATURE * n_features
        for name, array in arrays.items():
            if not is_learned(name) or array.size > most_numbers:
                raise ValueError(f"there is an unexpected array {name!r}")
            setattr(self, name, array if array.ndim else array.item())
        self._is_fitted = True
        self.decision_function(np.zeros((1, n_features), np.float32))

    def learning_parameters(self) -> dict[str, Any]:
        """The parameters that decide what is learned, by name: all except random_state and contamination."""
        return {name: value for name, value in self.get_params().items() if name not in NOT_THE_METHODS}

    def set_offset(self: SomeDetector, X: Rows, contamination: float) -> SomeDetector:
        """Choose offset_ so that predict calls this share of X anomalies; X should be like future rows."""
        check_contamination(contamination)
        return self._set_offset(self.decision_function(X), contamination)

    def decision_function(self, X: Rows) -> np.ndarray:
        """Anomaly scores (n,) of the rows of X, higher = more anomalous."""
        check_is_fitted(self)
        return self._finite_scores(self._checked(X, reset=False))

    def predict(self, X: Rows) -> np.ndarray:
        """1 for the rows of X with a score above offset_, 0 for the others, (n,)."""
        scores = self.decision_function(X)
        if not hasattr(self, "offset_"):
            raise NotFittedError("fit_rows chooses no offset_: call set_offset before predict")
        return (scores > self.offset_).astype(int)

    def explain(
        self, X: Rows, typical: ArrayLike | None = None, widths: Sequence[int] | None = None
    ) -> np.ndarray:
        """What each feature adds to the scores of X (n, D), compared with a typical row: (n, D).

        typical (D,): the typical row; None: the medians of the training rows. A feature that has its typical
        value adds nothing. widths: how many features each of several groups has, in order, such as the
        features of a one-hot encoding; the result is then (n, groups). See weakly/training/explaining.py.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        if sparse.issparse(X):
            raise TypeError("explain takes dense rows only: no feature of a sparse row is left out")
        if typical is None and not hasattr(self, "typical_"):
            raise NotFittedError("only fit keeps a typical row: pass one as `typical`")
        typical = np.asarray(self.typical_ if typical is None else typical)
        if typical.shape != (X.shape[1],):
            raise ValueError(f"typical must have the shape ({X.shape[1]},), not {typical.shape}")
        widths = [1] * X.shape[1] if widths is None else widths
        starts, gradients = first_features(widths, X.shape[1]), self._gradients(X)
        if gradients is None:
            return occluded_parts(self._finite_scores, X, typical, widths)
        return gradient_parts(X, typical, gradients, starts)

    def _gradients(self, X):
        """The gradients (n, D) of a linear or piecewise linear score; None for any other."""
        return

    def _finite_scores(self, X):
        """Scores (n,) of checked rows, all of them finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._score(X)
        overflowed = np.flatnonzero(~np.isfinite(scores))
        if len(overflowed):
            raise ValueError(
                f"{type(self).__name__} cannot score {len(overflowed)} of {len(scores)} rows, "
                f"the first of them row {overflowed[0]} (counted from 0), whose score overflows: "
                "are the features scaled (to about 0-1)?"
            )
        return scores

    def _set_offset(self, scores, contamination):
        self.offset_ = np.quantile(scores, 1 - contamination)
        return self

    def _checked(self, X, **how):
        """X as float32, dense or CSR.

        The number and names of its features are kept (reset=True) or compared with those of the fit.
        """
        accepted = "csr" if self.takes_sparse else False
        X = with_names(X)
        try:
            # a number too large for float32 is still refused
            with np.errstate(over="ignore", invalid="ignore"):
                return validate_data(self, X, dtype=np.float32, accept_sparse=accepted, **how)
        except (TypeError, ValueError) as error:
            text = list(X.select_dtypes(exclude=["number", "bool"])) if hasattr(X, "select_dtypes") else []
            if text:
                names = ", ".join(map(str, text))
                raise ValueError(f"{error} (columns that are not of a numeric type: {names})") from None
            if "NaN" in str(error):  # scikit-learn adds advice about its own estimators
                raise ValueError(str(error).splitlines()[0]) from None
            raise

    def _checked_labels(self, y, n_rows):
        """y as numbers 0 and 1, (n_rows,)."""
        y = column_or_1d(y)
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(y)} labels")
        try:
            y = y.astype(float)
        except (TypeError, ValueError):  # names of classes, or missing values of pandas
            y = np.full(n_rows, np.nan)
        if not np.isin(y, (0, 1)).all():
            raise ValueError("y must hold only 1 (labelled anomaly) and 0 (unlabelled)")
        return y

    def __sklearn_is_fitted__(self):
        return getattr(self, "_is_fitted", False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # so that scorers such as "average_precision" use its decision_function
        tags.estimator_type = "outlier_detector"
        tags.target_tags.required = True
        # it is not a classifier, but this says that y has only two values
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.sparse = self.takes_sparse
        return tags


def is_learned(name: str) -> bool:
    """Whether an attribute of this name is something learned that a model file contains."""
    return re.fullmatch(r"[a-z]\w*_", name) is not None and name not in NOT_SAVED


def with_names(X: Rows) -> Rows:
    """X, converted to pandas if it is a DataFrame whose names scikit-learn would not find.

    It finds the names of pandas, and of DataFrames with __dataframe__, which some versions of polars have.
    """
    names = getattr(X, "columns", None)
    if not isinstance(names, list) or hasattr(X, "__dataframe__") or not hasattr(X, "__array__"):
        return X
    import pandas as pd  # here, because only such rows need it

    return pd.DataFrame(np.asarray(X), columns=names)


def check_contamination(share: float) -> None:
    """ValueError unless this can be a share of anomalies."""
    if not 0 < share < 1:
        raise ValueError(f"contamination must be a share between 0 and 1, not {share}")


# The default is only in the constructor, not in the class: the detector behind a compiled graph has no seed
# (see keras_detector), and must not find this one.
del Detector.random_state


def apply_in_chunks(function, X: Rows, positions=None, n_rows: int = CHUNK_ROWS) -> np.ndarray:
    """Apply a function, (n, D) to (n, ...), to all rows of X or those at positions, n_rows at a time."""
    total = X.shape[0] if positions is None else len(positions)
    row_bytes = 8 * X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1] * X.itemsize
    size = max(1, min(n_rows, int(CHUNK_BYTES // max(row_bytes, 1))))
    chunks = (slice(i, i + size) for i in range(0, total, size))
    return np.concatenate(
        [np.asarray(function(X[chunk if positions is None else positions[chunk]])) for chunk in chunks]
    )


def draw_batches(rows: np.ndarray, n_batches: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Batches (n_batches, size) of rows, without replacement within a batch unless there are too few rows."""
    return np.stack([rng.choice(rows, size, replace=size > len(rows)) for _ in range(n_batches)])


def draw_different_pairs(n: int, size: tuple[int, ...], rng: np.random.Generator):
    """Pairs of different positions below n (equal only if n is 1): two arrays of shape size."""
    first = rng.integers(n, size=size)
    step = rng.integers(1, n, size=size) if n > 1 else 0
    return first, (first + step) % n
