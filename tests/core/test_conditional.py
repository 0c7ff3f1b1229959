import numpy as np
import pytest

from oneclass.core.conditional import conditional, predict_columns
from oneclass.core.groups import Groups, OneGroupError
from oneclass.core.kernels import RBF, Laplacian
from oracle.comparison import assert_agree
from oracle.conditional import predict_without, widths

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(24, 5)) @ RNG.normal(size=(5, 5))
W = RNG.uniform(0.3, 3.0, size=24)
GROUPS = Groups(np.arange(24) % 9 // 2)  # groups of different sizes
SETS = ((0,), (3, 1), (2, 4, 0), (1, 2, 3, 4))
KERNELS = {"laplacian": Laplacian(sigma=4.0), "rbf": RBF(sigma=2.0)}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def refitted(kernel, S, *, C, w, left_out):
    """Residuals and variances of the rows, each predicted from the rows that stay when it is left out."""
    found, width = [], widths(kernel, Z, w, S)
    for i in range(len(Z)):
        weights = left_out(i)
        stay = weights > 0
        m, v = predict_without(kernel, Z[stay], S, Z[i : i + 1], C=C, w=weights[stay], width=width)
        found.append((Z[i, list(S)] - m[0], v[0]))
    return np.array([e for e, _ in found]), np.array([v for _, v in found])


def one_copy(w):
    return lambda i: np.where(np.arange(len(w)) == i, np.maximum(w - 1, 0), w)


@each_kernel
@pytest.mark.parametrize("S", SETS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [16.0, 0.1])
def test_leave_one_out_matches_refitting(xp, kernel, S, weighted, C):
    w = W if weighted else np.ones(len(Z))
    (part,) = conditional(kernel, xp.asarray(Z), [S], C=C, w=xp.asarray(w) if weighted else None)
    residuals, variances = refitted(kernel, S, C=C, w=w, left_out=one_copy(w))
    assert_agree(part.residuals, residuals, 1e-8)
    assert_agree(part.variances, variances, 1e-8)


@each_kernel
@pytest.mark.parametrize("landmarks", [None, Z])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_out_groups_matches_refitting(xp, kernel, landmarks, weighted):
    w = W if weighted else np.ones(len(Z))
    rows = None if landmarks is None else xp.asarray(landmarks)
    (part,) = conditional(kernel, xp.asarray(Z), [(3, 1)], C=8.0, w=xp.asarray(w), groups=GROUPS, landmarks=rows)

    def others(i):
        return np.where(GROUPS.of_rows == GROUPS.of_rows[i], 0, w)

    residuals, variances = refitted(kernel, (3, 1), C=8.0, w=w, left_out=others)
    assert_agree(part.residuals, residuals, 1e-8 if rows is None else 1e-5)
    assert_agree(part.variances, variances, 1e-8 if rows is None else 1e-5)


@each_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_all_rows_as_landmarks_is_exact(xp, kernel, weighted):
    rows, w = xp.asarray(Z), xp.asarray(W) if weighted else None
    new = xp.asarray(RNG.normal(size=(7, 5)))
    exact = conditional(kernel, rows, SETS, C=8.0, w=w, new=new)
    close = conditional(kernel, rows, SETS, C=8.0, w=w, new=new, landmarks=rows)
    for one, other in zip(exact, close, strict=True):
        for name in ("residuals", "variances", "predicted", "predicted_variances"):
            assert_agree(getattr(other, name), np.asarray(getattr(one, name)), 3e-5)


@each_kernel
@pytest.mark.parametrize("S", SETS)
def test_predictions_of_new_rows_are_those_of_the_equations(xp, kernel, S):
    new = np.random.default_rng(1).normal(size=(7, 5))
    (part,) = conditional(kernel, xp.asarray(Z), [S], C=8.0, w=xp.asarray(W), new=xp.asarray(new))
    m, v = predict_without(kernel, Z, S, new, C=8.0, w=W, width=widths(kernel, Z, W, S))
    assert_agree(part.predicted, m, 1e-9)
    assert_agree(part.predicted_variances, v, 1e-9)


@pytest.mark.usefixtures("tiny_blocks")
@each_kernel
@pytest.mark.parametrize("landmarks", [None, Z[:10]])
def test_predict_columns_gives_the_predictions_of_new_rows(xp, kernel, landmarks):
    rows, new = xp.asarray(Z), np.random.default_rng(1).normal(size=(7, 5))
    marks = None if landmarks is None else xp.asarray(landmarks)
    parts = list(conditional(kernel, rows, [(4, 0), (1,), (3, 2)], C=8.0, new=xp.asarray(new), landmarks=marks))
    found = np.asarray(predict_columns(kernel, rows if marks is None else marks, parts, xp.asarray(new)))
    for part in parts:
        assert_agree(found[:, list(part.columns)], np.asarray(part.predicted), 1e-10)


@each_kernel
def test_the_value_of_a_cell_has_no_effect_on_its_own_prediction(kernel):
    parts = list(conditional(kernel, Z, [(0,), (1,), (2, 3), (4,)], C=8.0))
    before = predict_columns(kernel, Z, parts, Z)
    for wrong in (1e3, 1e9, 1e200):
        spoilt = Z.copy()
        spoilt[:, 1] = wrong
        assert_agree(predict_columns(kernel, Z, parts, spoilt)[:, 1], before[:, 1], 1e-9)


@each_kernel
@pytest.mark.parametrize("landmarks", [None, 10])
def test_order_of_rows_and_columns_has_no_effect(kernel, landmarks):
    rows, columns = RNG.permutation(24), RNG.permutation(5)
    marks = None if landmarks is None else Z[:landmarks]
    turned = None if marks is None else marks[::-1][:, columns]
    plain = conditional(kernel, Z, [(1, 4), (2,)], C=8.0, w=W, landmarks=marks)
    back = np.argsort(columns)
    moved = [tuple(int(back[j]) for j in S) for S in ((1, 4), (2,))]
    other = conditional(kernel, Z[rows][:, columns], moved, C=8.0, w=W[rows], landmarks=turned)
    for one, two in zip(plain, other, strict=True):
        assert_agree(two.residuals, one.residuals[rows], 1e-8)
        assert_agree(two.variances, one.variances[rows], 1e-8)


@each_kernel
def test_all_other_columns_masked_is_the_regression_on_one_column(kernel):
    (part,) = conditional(kernel, Z, [(0, 1, 3, 4)], C=8.0)
    width = widths(kernel, Z, np.ones(24), (0, 1, 3, 4))
    alone = Laplacian(width) if isinstance(kernel, Laplacian) else RBF(width**0.5)
    K, one = alone(Z[:, 2:3], Z[:, 2:3]) + np.eye(24) / 8, np.ones(24)
    expected = []
    for i in range(24):
        stay = np.arange(24) != i
        G = np.linalg.inv(K[np.ix_(stay, stay)])
        T = Z[stay][:, [0, 1, 3, 4]]
        b = one[stay] @ G @ T / (one[stay] @ G @ one[stay])
        expected.append(Z[i, [0, 1, 3, 4]] - b - K[i, stay] @ G @ (T - b))
    assert_agree(part.residuals, np.array(expected), 1e-8)


def test_one_column_is_predicted_by_the_mean_of_the_other_rows():
    x = RNG.normal(size=(9, 1))
    (part,) = conditional(Laplacian(1.0), x, [(0,)], C=8.0)
    assert_agree(part.residuals, x - (x.sum() - x) / 8, 1e-10)


@each_kernel
def test_constant_columns_change_nothing(kernel):
    wide = np.concatenate([Z, np.full((24, 2), 3.0)], axis=1)
    plain = conditional(kernel, Z, [(0,), (3, 1)], C=8.0)
    parts = list(conditional(kernel, wide, [(0,), (3, 1), (5,)], C=8.0))
    for one, other in zip(plain, parts, strict=False):
        assert_agree(other.residuals, one.residuals, 1e-8)
    assert np.abs(parts[2].residuals).max() < 1e-12


def test_a_copy_of_a_column_reveals_every_error():
    rows = np.random.default_rng(2).normal(size=(300, 3))
    rows = np.concatenate([rows, rows[:, :1]], axis=1)
    (plain,) = conditional(Laplacian(3.0), rows[:, :3], [(0,)], C=32.0)
    (copied,) = conditional(Laplacian(3.0), rows, [(0,)], C=32.0)
    assert np.std(plain.residuals) > 0.9
    assert np.std(copied.residuals) < 0.4


def test_more_columns_than_rows():
    wide = np.random.default_rng(3).normal(size=(8, 30))
    for part in conditional(Laplacian(30.0), wide, [(j,) for j in range(30)], C=8.0):
        assert np.all(np.isfinite(part.residuals))
        assert np.all(part.variances >= 0)


def test_equal_rows_are_finite_with_landmarks():
    rows = np.repeat(Z[:5], 4, axis=0)
    for part in conditional(RBF(2.0), rows, [(0,), (1, 2)], C=8.0, landmarks=rows):
        assert np.all(np.isfinite(part.residuals))


def test_one_group_is_refused():
    with pytest.raises(OneGroupError, match="at least two"):
        conditional(Laplacian(1.0), Z, [(0,)], C=8.0, groups=Groups(np.zeros(24, dtype=int)))
