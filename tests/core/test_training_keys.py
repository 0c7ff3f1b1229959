import numpy as np

from oneclass.core.training_keys import TrainingKeys, hashes

ROWS = np.random.default_rng(0).normal(size=(60, 3))


def test_keys_are_the_same_in_any_order_library_and_precision(xp):
    keys = TrainingKeys.of(hashes(ROWS))
    np.testing.assert_array_equal(TrainingKeys.of(hashes(xp.asarray(ROWS[::-1].copy()))).keys, keys.keys)
    single = xp.asarray(ROWS, dtype=xp.float32)
    assert TrainingKeys.of(hashes(single)).are_most_of(xp.astype(single, xp.float64))


def test_most_of_a_batch_means_more_than_half_of_ten_different_rows():
    keys = TrainingKeys.of(hashes(ROWS[:40]))
    assert keys.are_most_of(ROWS[29:50])
    assert not keys.are_most_of(ROWS[30:50])
    assert not keys.are_most_of(ROWS[:9])
    assert not keys.are_most_of(np.repeat(ROWS[:9], 9, axis=0))


def test_a_sample_of_the_keys_recognises_many_rows():
    X = np.random.default_rng(1).integers(0, 1000, size=(100_000, 3)).astype(float)
    keys = TrainingKeys.of(hashes(X[:60_000]))
    assert not keys.complete
    assert len(keys.keys) <= 4096
    assert keys.are_most_of(X[:60_000])
    assert keys.are_most_of(X[1000:3000])
    assert keys.are_most_of(X[25_000:95_000])
    assert not keys.are_most_of(X[60_000:])
    assert not keys.are_most_of(X[35_000:100_000])


def test_different_rows_have_different_keys():
    X = np.stack(np.meshgrid(*[np.arange(20.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(np.unique(np.concatenate([TrainingKeys.of(hashes(X[i : i + 4000])).keys for i in (0, 4000)]))) == len(X)


def test_new_rows_that_equal_training_rows_by_chance_are_not_taken_for_them():
    rng = np.random.default_rng(0)
    for size in (50, 300, 3000):
        for levels in (2, 3, 6, 10):
            keys = TrainingKeys.of(hashes(rng.integers(0, levels, size=(size, 3)).astype(float)))
            assert not any(keys.are_most_of(rng.integers(0, levels, size=(n, 3)).astype(float)) for n in (12, 50, 500))
