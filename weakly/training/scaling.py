"""A warning about features far from 0-1: networks learn little from them, and nothing else shows that."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

# Thresholds from a quick trial that is not part of this repository, with one seed on five small tables.
# Standardised features, whose root mean square is 1, did about as well as those of 0-1 and give no warning.
# At a root mean square of 3, Deep SAD became far worse; at 100, PReNet did. Features of 0-1 divided by 100
# hurt all networks.
LARGEST_SIZE = 2.0
SMALLEST_VALUE = 0.05


class UnscaledFeaturesWarning(UserWarning):
    """Features far from 0-1. To silence it: warnings.simplefilter("ignore", UnscaledFeaturesWarning)."""


def sizes_of_features(X: Any) -> np.ndarray:
    """The root mean square (D,) of each feature of X (n, D), dense or CSR, in float64."""
    if sparse.issparse(X):
        squares = np.bincount(X.indices, np.square(X.data, dtype=np.float64), minlength=X.shape[1])
    else:
        squares = np.einsum("ij,ij->j", X, X, dtype=np.float64, casting="safe")  # without a copy of X
    return np.sqrt(squares / X.shape[0])


def warn_if_unscaled(X: Any, name: str) -> None:
    """Warn if features of X (n, D) are too large, or all of them too small, for the detector of this name."""
    sizes = sizes_of_features(X)
    if sizes.max() > LARGEST_SIZE:
        found = f"feature {sizes.argmax()} (counted from 0) has values of about {sizes.max():.3g}"
    elif 0 < max(X.max(), -X.min()) < SMALLEST_VALUE:
        found = f"no value is above {max(X.max(), -X.min()):.3g}"
    else:
        return
    message = (
        f"{name} expects features of about 0 to 1, but {found}, so its scores may be poor: put a scaler in "
    )
    message += f"front, as in make_pipeline(MinMaxScaler(), {name}())"
    warnings.warn(message, UnscaledFeaturesWarning, stacklevel=3)
