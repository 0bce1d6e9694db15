"""The checks of what a user gives to a detector: rows, labels, parameters, and features far from 0-1."""

import dataclasses
import numbers
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

# From a trial with one seed on five small tables. Standardised features, whose root mean square is 1, did as
# well as those of 0-1. At 3, Deep SAD became far worse, and at 100 PReNet. 0.01 times 0-1 hurt all networks.
LARGEST_SIZE = 2.0
SMALLEST_VALUE = 0.05


def checked_rows(detector: Any, X: Any, **how: Any) -> Any:
    """X as float32, dense or, if the detector takes_sparse, CSR.

    The number and names of its features are kept (reset=True) or compared with those of the fit.
    """
    accepted = "csr" if detector.takes_sparse else False
    try:
        # a number too large for float32 is still refused
        with np.errstate(over="ignore", invalid="ignore"):
            return validate_data(detector, X, dtype=np.float32, accept_sparse=accepted, **how)
    except (TypeError, ValueError) as error:
        text = list(X.select_dtypes(exclude=["number", "bool"])) if hasattr(X, "select_dtypes") else []
        if text:
            names = ", ".join(map(str, text))
            raise ValueError(f"{error} (columns that are not of a numeric type: {names})") from None
        if "NaN" in str(error):  # scikit-learn adds advice about its own estimators
            raise ValueError(str(error).splitlines()[0]) from None
        raise


def checked_labels(y: Any, X: Any) -> np.ndarray:
    """y as numbers 0 and 1, (n,), one for each row of X."""
    y = column_or_1d(y)
    check_consistent_length(X, y)
    try:
        y = y.astype(float)
    except (TypeError, ValueError):  # names of classes, or missing values of pandas
        y = np.full(len(y), np.nan)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("y must hold only 1 (labelled anomaly) and 0 (unlabelled)")
    return y


def require_numbers(detector: Any) -> None:
    """ValueError unless parameters whose defaults are numbers are numbers, or tuples of numbers."""
    for field in dataclasses.fields(detector):
        kind = {int: numbers.Integral, float: numbers.Real}.get(type(field.default))
        value = getattr(detector, field.name)
        given = value if isinstance(value, tuple | list) else [value]
        if kind and field.name != "random_state" and not all(isinstance(one, kind) for one in given):
            whole = "whole " if kind is numbers.Integral else ""
            raise ValueError(f"{field.name} must be a {whole}number, not {value!r}")


def require_at_least(detector: Any, **lowest: float) -> None:
    """ValueError unless these parameters, where it has them, are numbers from these on, or tuples of such."""
    for name, least in lowest.items():
        value = getattr(detector, name, least)
        if not min(value if isinstance(value, tuple | list) else [value], default=-np.inf) >= least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def require_one_of(detector: Any, **choices: Any) -> None:
    """ValueError unless each of these parameters has one of its choices."""
    for name, known in choices.items():
        if getattr(detector, name) not in known:
            listed = ", ".join(map(str, known))
            raise ValueError(f"{name} must be one of {listed}, not {getattr(detector, name)!r}")


def require_same_shape(**tensors: Any) -> None:
    """ValueError unless these arguments of a loss have one shape; others would broadcast unnoticed."""
    if len({tuple(tensor.shape) for tensor in tensors.values()}) > 1:
        listed = " and ".join(f"{name} {tensor.shape}" for name, tensor in tensors.items())
        raise ValueError(f"{listed} must have the same shape")


def check_contamination(share: float) -> None:
    """ValueError unless this can be a share of anomalies."""
    if not (isinstance(share, numbers.Real) and 0 < share < 1):
        raise ValueError(f"contamination must be a share between 0 and 1, not {share!r}")


class UnscaledFeaturesWarning(UserWarning):
    """Features far from 0-1. To silence it: warnings.simplefilter("ignore", UnscaledFeaturesWarning)."""


def warn_if_unscaled(X: Any, name: str) -> None:
    """Warn if features of X (n, D) are too large, or all of them too small, for the detector of this name.

    Networks learn little from such features, and nothing else shows that.
    """
    if sparse.issparse(X):
        squares = np.bincount(X.indices, np.square(X.data, dtype=np.float64), minlength=X.shape[1])
    else:
        squares = np.einsum("ij,ij->j", X, X, dtype=np.float64, casting="safe")  # without a copy of X
    sizes, largest = np.sqrt(squares / X.shape[0]), max(X.max(), -X.min())  # root mean squares (D,)
    if sizes.max() > LARGEST_SIZE:
        found = f"feature {sizes.argmax()} (counted from 0) has values of about {sizes.max():.3g}"
    elif 0 < largest < SMALLEST_VALUE:
        found = f"no value is above {largest:.3g}"
    else:
        return
    warnings.warn(
        f"{name} expects features of about 0 to 1, but {found}, so its scores may be poor: put a scaler in "
        f"front, as in make_pipeline(MinMaxScaler(), {name}())",
        UnscaledFeaturesWarning,
        stacklevel=3,
    )
