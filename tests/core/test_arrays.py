import numpy as np
import pytest

from oneclass.core import arrays
from oracle.comparison import assert_agree

RNG = np.random.default_rng(0)
G = RNG.normal(size=(9, 9))
B = RNG.normal(size=(9, 2))


def test_adding_to_the_diagonal_leaves_the_rest(xp):
    square, values = xp.asarray(G, copy=True), xp.asarray(B[:, 0])
    arrays.add_to_diagonal(square, values)
    assert_agree(square, G + np.diag(B[:, 0]), 0)
    arrays.add_to_diagonal(square, 2.0)
    assert_agree(square, G + np.diag(B[:, 0] + 2.0), 1e-15)


def test_exponential_in_place_is_the_exponential(xp):
    assert_agree(arrays.exp_inplace(xp.asarray(B, copy=True)), np.exp(B), 1e-15)


def test_copy_shares_no_memory(xp):
    original = xp.asarray(B, copy=True)
    twin = arrays.copy(original)
    twin[0, 0] = 100.0
    assert float(original[0, 0]) == B[0, 0]


def test_only_other_libraries_are_foreign(xp):
    assert arrays.is_foreign(xp.asarray(B)) == (xp is not np)
    assert not arrays.is_foreign([[1.0]])


@pytest.mark.parametrize(("rows", "items"), [(0, 5), (1, 5), (1000, 7), (10, 10**9)])
def test_blocks_cover_the_rows_once_within_the_budget(rows, items):
    ranges = list(arrays.blocks(rows, items, np.ones(1)))
    assert [r for a, b in ranges for r in range(a, b)] == list(range(rows))
    assert all(b - a == 1 or (b - a) * items * 8 <= arrays.HOST_BLOCK for a, b in ranges)


@pytest.mark.parametrize("columns", [3, 512, 513, 1100])
def test_gram_matrix_is_the_product_with_the_transpose(xp, columns):
    F = RNG.normal(size=(4, columns))
    assert_agree(arrays.gram(xp.asarray(F)), F.T @ F, 1e-14)


@pytest.mark.parametrize("columns", [1, 3, 127, 300])
def test_gram_matrices_of_parts_add_up_in_place(xp, columns):
    F = RNG.normal(size=(9, columns))
    G = xp.zeros((columns, columns), dtype=xp.float64)
    for part, scale in ((F[:4], 1.0), (F[4:], 1.0), (F[:2], -1.0)):
        arrays.add_gram(G, xp.asarray(part), scale)
    arrays.mirror(G)
    assert_agree(G, F[2:].T @ F[2:], 1e-14)


def test_bits_tell_values_apart_whatever_their_precision(xp):
    values = np.array([[0.0, 1.0, -1.0, 0.5, np.nextafter(1.0, 2.0), 1e300]])
    words = arrays.to_numpy(arrays.bits(xp.asarray(values)))
    np.testing.assert_array_equal(words, values.view(np.int64))
    single = np.array([[-0.0, 1.0, -1.0, 0.5]], dtype=np.float32)
    np.testing.assert_array_equal(arrays.to_numpy(arrays.bits(xp.asarray(single))), words[:, :4])


def test_rows_go_to_a_device_unless_another_library_holds_them(xp):
    pytest.importorskip("torch")
    X = xp.asarray(B)
    moved = arrays.to_device(X, "cpu")
    assert arrays.is_foreign(moved)
    assert (moved is X) == arrays.is_foreign(X)
    assert_agree(moved, B, 0)


@pytest.mark.parametrize("value", [0.0, 5e-324, 0.1, 1.0, 1e300])
def test_bits_lead_back_to_the_number(xp, value):
    assert arrays.from_bits(int(arrays.bits(xp.asarray([[value]], dtype=xp.float64))[0, 0])) == value


def test_sums_by_bin_are_those_of_a_loop(xp):
    bins, values = RNG.integers(2, 6, size=50), RNG.normal(size=50)
    expected = [sum(v for b, v in zip(bins, values, strict=True) if b == k) for k in range(8)]
    assert_agree(arrays.sum_by_bin(xp.asarray(bins), xp.asarray(values), 8), np.array(expected), 1e-14)
    assert_agree(arrays.sum_by_bin(xp.asarray(bins[:0]), xp.asarray(values[:0]), 3), np.zeros(3), 0)


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_distances_between_rows_of_other_columns_are_refused(xp, columns):
    one, other = xp.ones((4, 3)), xp.ones((6, columns))
    for pair in ((one, other), (other, one)):
        with pytest.raises(ValueError, match="same number of columns"):
            arrays.city_block(*pair)
