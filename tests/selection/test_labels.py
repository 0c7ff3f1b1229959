import numpy as np
import pytest

from oneclass.selection import is_target

EXPECTED = np.array([True, False, True])


@pytest.mark.parametrize(
    "y",
    [[1, -1, 1], [1.0, 0.0, 1.0], [True, False, True], ["target", "outlier", "target"], ["Normal", "odd", "Normal"]],
)
def test_well_known_labels_need_no_target(y):
    np.testing.assert_array_equal(is_target(y), EXPECTED)


@pytest.mark.parametrize(
    ("y", "target"), [([0, 1, 0], 0), (["a", "b", "a"], "a"), ([3, 5, 3], 3), ([False, True, False], False)]
)
def test_any_label_can_be_the_target(y, target):
    np.testing.assert_array_equal(is_target(y, target), EXPECTED)


def test_labels_may_be_of_targets_only():
    assert is_target([1, 1]).all()
    assert is_target([True, True]).all()


@pytest.mark.parametrize("y", [["a", "b"], [2, 3], [0, 1, 2]])
def test_labels_of_which_none_names_the_target_class_are_refused(y):
    with pytest.raises(ValueError, match="is_target: target must be the label of the target class in y"):
        is_target(y)


@pytest.mark.parametrize(("y", "target"), [([-1, -1], None), ([0, 0], None), (["a"], "b")])
def test_labels_without_the_target_class_are_refused(y, target):
    with pytest.raises(ValueError, match="at least one label of the target class"):
        is_target(y, target)


def test_labels_have_one_dimension():
    with pytest.raises(ValueError, match="one dimension, got 2"):
        is_target([[1, -1]])


def test_complex_labels_are_refused():
    with pytest.raises(ValueError, match="is_target: y must hold numbers, booleans or strings"):
        is_target([1 + 1j, 1])
