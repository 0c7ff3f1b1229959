"""The generator draws from the distribution of UCI's file."""

import numpy as np
import pytest

from reproduction.datasets import waveform_generator


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    first, second, other = (waveform_generator(50, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize(("wave", "peaks"), [(0, (7, 15)), (1, (7, 11)), (2, (11, 15))])
def test_the_mean_of_a_class_is_the_mean_of_its_two_triangles(wave, peaks):
    X, waves = waveform_generator(60_000, 0)
    features = np.arange(1, 22)
    expected = sum(np.clip(6 - abs(features - peak), 0, None) for peak in peaks) / 2
    # Standard error of a mean of 20 000 rows is below 0.02.
    np.testing.assert_allclose(X[waves == wave].mean(axis=0), expected, atol=0.08)


@pytest.mark.data
@pytest.mark.parametrize("wave", [0, 1, 2])
def test_classes_have_the_mean_and_covariance_of_the_published_file(wave, raw_folder):
    table = np.loadtxt(raw_folder / "waveform/waveform.data", delimiter=",")
    theirs = table[table[:, 21] == wave, :21]
    X, waves = waveform_generator(60_000, 0)
    ours = X[waves == wave]
    np.testing.assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), atol=0.2)
    np.testing.assert_allclose(np.cov(ours.T), np.cov(theirs.T), atol=0.4)
