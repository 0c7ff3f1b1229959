from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneclass.core.arrays import to_numpy
from oneclass.core.embedding import Scatter
from oneclass.core.features import NystromMap
from oneclass.core.kernels import RBF, Laplacian
from oneclass.core.moments import Moments
from oneclass.core.primal import solve_primal
from oracle.comparison import assert_agree
from oracle.equations import kernel_matrix, repeat, variance_matrix
from oracle.problems import EMBEDDINGS, problems

SIGMA = 3.0
SCATTERS = {
    "class": Scatter(per_row=True, weight=2.0),
    "own": Scatter(own_mean=True, weight=2.0),
    "global": Scatter(own_mean=False, weight=2.0),
}


@st.composite
def tables(draw):
    """Features, targets and weights of a few rows, and the chunk that each row belongs to."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, p = draw(st.integers(1, 30)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    offset = draw(st.sampled_from([0.0, 10.0]))
    F, T = rng.normal(size=(n, m)) + offset, rng.normal(size=(n, p)) - offset
    return F, T, rng.integers(1, 4, size=n).astype(float), rng.integers(draw(st.integers(1, 6)), size=n)


def of(xp, F, T, w=None):
    """Moments of copies of the arrays: `Moments.of` may overwrite the features."""
    return Moments.of(*(xp.asarray(x, copy=True) for x in (F, T)), None if w is None else xp.asarray(w))


def chunks(xp, table):
    F, T, w, chunk = table
    return [of(xp, F[chunk == c], T[chunk == c], w[chunk == c]) for c in range(6) if np.any(chunk == c)]


def assert_same(actual, expected, tolerance=1e-11):
    for name, value in vars(expected).items():
        # One row has no scatter: rounding is relative to the values then.
        assert_agree(getattr(actual, name) + 1.0, value + 1.0, tolerance)


@given(table=tables())
def test_moments_are_the_means_and_the_scatters_about_them(xp, table):
    F, T, w, _ = (np.asarray(x, dtype=np.longdouble) for x in table)
    f, t = w @ F / w.sum(), w @ T / w.sum()
    expected = Moments(
        w.sum()[None],
        f[None],
        t[None],
        ((F - f).T @ (w[:, None] * (F - f)))[None],
        ((F - f).T @ (w[:, None] * (T - t)))[None],
        np.sum(w[:, None] * (T - t) ** 2)[None],
    )
    assert_same(of(xp, *table[:3]), expected)


@given(table=tables(), weighted=st.booleans())
def test_rows_part_by_part_have_the_moments_of_all(xp, table, weighted):
    F, T, w, chunk = table
    w = w if weighted else None
    members = [np.flatnonzero(chunk == c) for c in np.unique(chunk)]
    parts = ([xp.asarray(of[rows]) if of is not None else None for of in (F, T, w)] for rows in members)
    assert_same(Moments.gathered([parts]), of(xp, F, T, w))


@given(table=tables(), order=st.randoms(use_true_random=False))
def test_chunks_of_any_rows_in_any_order_have_the_moments_of_all(xp, table, order):
    parts = chunks(xp, table)
    order.shuffle(parts)
    assert_same(reduce(add, parts), of(xp, *table[:3]))


@given(table=tables())
def test_merging_associates_and_commutes(xp, table):
    a, b, c = (chunks(xp, table) * 3)[:3]
    assert_same((a + b) + c, a + (b + c))
    assert_same(a + b, b + a)


@given(table=tables())
def test_subtracting_undoes_adding(xp, table):
    a, b = (chunks(xp, table) * 2)[:2]
    assert_same((a + b) - b, a, 1e-10)
    assert_same((a + b) - a, b, 1e-10)


@given(table=tables(), more=tables())
def test_exchanging_rows_is_to_add_some_and_subtract_others(xp, table, more):
    F, T, w, chunk = table
    G, U, v, _ = more
    G, U = np.resize(G, (len(G), F.shape[1])), np.resize(U, (len(U), T.shape[1]))
    stays, nothing = chunk < chunk.max(), Moments.nothing(xp.asarray(F), xp.asarray(T))

    def part(*arrays):
        return [tuple(xp.asarray(x, copy=True) for x in arrays)]

    leaving = part(F[~stays], T[~stays], w[~stays])
    # The second cluster has no rows, and gets those that arrive.
    before = Moments.stack([of(xp, F, T, w), nothing])
    found = before.exchanged([part(G, U, v), part(G, U, v)], [leaving, []])
    rest = of(xp, F[stays], T[stays], w[stays]) if np.any(stays) else nothing
    assert_same(found, Moments.stack([rest + of(xp, G, U, v), of(xp, G, U, v)]), 1e-10)
    assert_same(before, Moments.stack([of(xp, F, T, w), nothing]))


@given(table=tables(), rho=st.floats(0.01, 1.0))
def test_decay_commutes_with_merging_and_scales_the_weights(xp, table, rho):
    a, b = (chunks(xp, table) * 2)[:2]
    assert_same((a + b).decay(rho), a.decay(rho) + b.decay(rho))
    F, T, w, _ = table
    assert_same(of(xp, F, T, w).decay(rho), of(xp, F, T, rho * w))


@given(table=tables())
def test_weights_are_copies(xp, table):
    F, T, w, _ = table
    assert_same(of(xp, F, T, w), of(xp, repeat(F, w), repeat(T, w)))


@given(table=tables())
def test_no_rows_change_nothing(xp, table):
    F, T, w, _ = table
    nothing, all_rows = Moments.nothing(xp.asarray(F), xp.asarray(T)), of(xp, F, T, w)
    assert_same(all_rows + nothing, all_rows)
    assert_same(nothing + all_rows, all_rows)


def test_no_rows_at_all_are_refused():
    with pytest.raises(ValueError, match="moments need at least one row"):
        Moments.gathered([[], []])


@given(table=tables())
def test_clusters_together_are_all_rows(xp, table):
    F, T, w, chunk = table
    empty = Moments.nothing(xp.asarray(F), xp.asarray(T))
    stacked = Moments.stack([*chunks(xp, table), empty])
    assert stacked.weight.shape[0] == len(np.unique(chunk)) + 1
    assert_same(stacked.total(), of(xp, F, T, w))
    # Clusters merge side by side.
    assert_same((stacked + stacked).total(), of(xp, F, T, 2 * w))


@pytest.mark.parametrize("cut", [40, 20, 1])
def test_a_large_mean_costs_no_digits_of_the_scatter(xp, cut):
    rng = np.random.default_rng(0)
    F, T = rng.normal(size=(40, 2)) + 1e8, rng.normal(size=(40, 1)) - 1e8
    exact = [[Fraction(v) for v in row] for row in np.hstack([F, T]).tolist()]
    means = [sum(column) / 40 for column in zip(*exact, strict=True)]
    centred = [[v - mean for v, mean in zip(row, means, strict=True)] for row in exact]
    scatter = np.array([[float(sum(row[i] * row[j] for row in centred)) for j in range(3)] for i in range(3)])
    actual = reduce(add, [of(xp, F[a : a + cut], T[a : a + cut]) for a in range(0, 40, cut)])
    # Means of 1e8 are rounded to 1.5e-8; differences of raw sums would be right to 1e16 * 2e-16 = 2 only.
    tolerance = 1e-13 if cut == 40 else 1e-7
    assert_agree(actual.ff[0, ...], scatter[:2, :2], tolerance)
    assert_agree(actual.ft[0, ...], scatter[:2, 2:], tolerance)
    assert_agree(actual.tt, scatter[2, 2:], tolerance)
    assert_agree(actual.f, np.array([[float(mean) for mean in means[:2]]]), 1e-15)


def test_a_first_part_far_from_the_others_costs_no_digits_of_the_scatter(xp):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(4000, 3))
    F[:10] += 1e6
    parts = [F[a : a + 10] for a in range(0, 4000, 10)]
    actual = Moments.gathered([[(xp.asarray(part, copy=True), xp.asarray(part), None) for part in parts]])
    exact = F.astype(np.longdouble)
    centred = exact - exact.mean(axis=0)
    assert_agree(actual.ff[0, ...], centred.T @ centred, 1e-12)
    assert_agree(actual.f[0, ...], exact.mean(axis=0), 1e-12)


def test_chunks_in_single_precision_add_in_double(xp):
    rng = np.random.default_rng(0)
    F, T = (rng.normal(size=(4000, k)).astype(np.float32) + np.float32(3) for k in (3, 2))
    parts = [of(xp, F[a : a + 10], T[a : a + 10]) for a in range(0, 4000, 10)]
    total = reduce(add, parts)
    assert all(value.dtype == xp.float64 for value in vars(total).values())
    # The rounding of 400 chunks averages out; that of 400 sums in single precision would add up to ten times as much.
    F, T = F.astype(float), T.astype(float)
    FF, FT, tt = total.second_moments()
    assert_agree(FF, F.T @ F, 2e-8)
    assert_agree(FT, F.T @ T, 2e-8)
    assert tt == pytest.approx(np.sum(T * T), rel=2e-8)
    # A row more among 2^25 is lost to single precision.
    many = parts[0].decay(2.0**25 / 10) + parts[1].decay(0.1)
    assert float(many.weight[0]) == 2.0**25 + 1


@pytest.mark.parametrize("name", SCATTERS)
@given(problem=problems())
def test_moments_of_clusters_give_the_variance_matrix_between_features(xp, name, problem):
    F = np.random.default_rng(0).normal(size=(len(problem.X), 3))
    # The variance inside a class is that of one cluster, itself.
    labels = problem.labels * (name != "class")
    parts = [of(xp, F[labels == p], problem.X[labels == p], problem.w[labels == p]) for p in range(labels.max() + 1)]
    scatter = SCATTERS[name]
    repeated = repeat(F, problem.w)
    M = 2.0 * variance_matrix(labels=repeat(labels, problem.w), **EMBEDDINGS[name])
    actual = Moments.stack(parts).variance(scatter.shares, own_mean=scatter.own_mean)
    # Clusters of one row have none.
    assert_agree(actual + xp.eye(3, dtype=xp.float64), repeated.T @ M @ repeated + np.eye(3), 1e-11)


@pytest.mark.parametrize("name", ["none", *SCATTERS])
@pytest.mark.parametrize("whiten", [False, True])
@given(problem=problems(min_rows=6))
def test_primal_weights_are_the_direct_formula_over_all_copies(xp, name, whiten, problem):
    C, lam = problem.C, problem.lam
    landmarks = problem.X[:5] * 1.5
    map = NystromMap.of(RBF(sigma=SIGMA), xp.asarray(landmarks), whiten=whiten)
    labels = problem.labels * (name != "class")
    parts = [
        Moments.of(map(xp.asarray(X)), xp.asarray(X), xp.asarray(problem.w[labels == p]))
        for p, X in ((p, problem.X[labels == p]) for p in range(labels.max() + 1))
    ]
    moments = Moments.stack(parts)
    model, signal = solve_primal(map, moments, SCATTERS.get(name), C=C, ridge=lam / C, dtype=xp.float64)

    T = repeat(problem.X, problem.w)
    F, f = (kernel_matrix("rbf", X, landmarks, SIGMA) for X in (T, problem.fresh))
    M = 2.0 * variance_matrix(labels=repeat(labels, problem.w), **EMBEDDINGS[name])
    P = F.T @ F + F.T @ M @ F / C + lam / C * kernel_matrix("rbf", landmarks, landmarks, SIGMA)
    B = np.linalg.solve(P, F.T @ T)
    fresh = xp.asarray(problem.fresh)
    # Close landmarks leave both solutions with the rounding of their system's condition.
    rounding = 1e-7 + 10 * np.finfo(float).eps * np.linalg.cond(P)
    assert_agree(model.outputs(model.features(fresh)), f @ B, rounding)
    assert_agree(model.leverages(model.features(fresh)), np.sum(f * np.linalg.solve(P, f.T).T, axis=1), rounding)
    assert model.effective == pytest.approx(np.trace(F @ np.linalg.solve(P, F.T)), rel=rounding)
    assert signal == pytest.approx(C * np.sum(T * (T - F @ B)) / T.size, rel=rounding)


@pytest.mark.parametrize("kernel", [Laplacian(sigma=3.0), RBF(sigma=0.5), RBF(sigma=3.0)], ids=str)
@pytest.mark.parametrize("ridge", [1 / 8, 1e-3, 1e3])
def test_uncertainty_by_one_product_is_leverage_and_what_lies_outside(xp, kernel, ridge):
    rng = np.random.default_rng(0)
    landmarks, X, fresh = (xp.asarray(rng.normal(size=(n, 3)) * 2) for n in (30, 90, 200))
    map = NystromMap.of(kernel, landmarks, whiten=False)
    model, _ = solve_primal(map, Moments.of(map(X), X, None), None, C=1 / ridge, ridge=ridge, dtype=xp.float64)
    F = model.features(fresh)
    leverage, outside = (to_numpy(part) for part in (model.leverages(F), model.outside(fresh, F)))
    # 1e-10 of what is known a priori, k(z, z) / ridge.
    assert np.max(np.abs(to_numpy(model.uncertainty(fresh, F)) - leverage - outside)) <= 1e-10 / ridge
    assert model.known is not None or kernel != Laplacian(sigma=3.0) or ridge < 1 / 8
