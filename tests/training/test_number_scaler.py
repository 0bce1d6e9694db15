"""Scaling by what the training rows teach: each scaling by hand, and the columns that could break it."""

import numpy as np
import pytest

from weakly.training.number_scaler import SCALINGS, NumberScaler


def scaled(scaling, training, values):
    """The values of one column after fitting on another."""
    scaler = NumberScaler(scaling).fit(np.array(training, float)[:, None])
    return scaler.transform(np.array(values, float)[:, None])[:, 0]


def test_by_hand():
    column = np.arange(201.0)  # the 1% and 99% quantiles are 2 and 198, the quartiles 50 and 150
    np.testing.assert_allclose(scaled("min-max", column, [0, 50, 200, 400]), [0, 0.25, 1, 2])
    np.testing.assert_allclose(scaled("fences", [*column, 1e6], [0, 50, 1e9]), [0, 50 / 447, 1], rtol=1e-6)
    np.testing.assert_allclose(scaled("cut", column, [2, 198, 394, 1e9, -1e9]), [0, 1, 2, 2, -1])
    np.testing.assert_allclose(scaled("standard", column, [100, 100 + column.std()]), [0, 1], atol=1e-6)
    np.testing.assert_allclose(scaled("ranks", column, [-5, 0, 50, 200, 900]), [0, 0, 0.25, 1, 1], atol=1e-6)
    cut_off = np.clip([*column, 1e9], -192, 393)  # now the quantiles are 3 and 198
    expected = (np.array([100, 393, 393]) - cut_off.mean()) / cut_off.std()
    np.testing.assert_allclose(scaled("standard-cut", [*column, 1e9], [100, 393, 1e9]), expected, rtol=1e-6)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_two_values_are_0_and_1_and_a_constant_keeps_its_distance(scaling):
    """Binary sets are as they were, to the last bit; what a constant column brings later is finite."""
    np.testing.assert_array_equal(scaled(scaling, [0, 0, 0, 1], [0, 1]), [0, 1])
    np.testing.assert_array_equal(scaled(scaling, [5, 9, 5], [5, 9]), [0, 1])
    np.testing.assert_array_equal(scaled(scaling, [3, 3, 3], [3, 4, 1e300]), [0, 1, np.finfo(np.float32).max])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_missing_values_stay_missing_and_count_for_nothing(scaling):
    column = np.arange(300.0) ** 2
    with_gaps = scaled(scaling, [*column, np.nan, np.nan], [3.0, np.nan, 500.0])
    assert np.isnan(with_gaps[1])
    np.testing.assert_array_equal(with_gaps[[0, 2]], scaled(scaling, column, [3.0, 500.0]))
    assert np.isnan(scaled(scaling, [np.nan, np.nan], [np.nan]))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_one_absurd_cell(scaling):
    """The rule for detect.py's default excludes the two scalings that it squeezes."""
    column = np.random.default_rng(0).normal(size=1_000)
    plain, spoilt = scaled(scaling, column, column), scaled(scaling, [*column, 1e12], column)
    if scaling in ("min-max", "standard"):
        assert np.ptp(spoilt) < 1e-6
    else:
        assert np.ptp(spoilt) > 0.6 * np.ptp(plain)
        assert np.isfinite(scaled(scaling, [*column, 1e300, -1e300], [1e300, -1e300, 0])).all()


def test_a_column_of_nearly_one_value_keeps_the_others_apart():
    assert len(set(scaled("cut", [0.0] * 997 + [1, 2, 3], [0, 1, 2, 3]))) > 2
    with pytest.raises(ValueError, match="unknown scaling 'z'; known: min-max"):
        scaled("z", [0], [0])
